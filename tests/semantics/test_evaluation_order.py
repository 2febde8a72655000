"""What is evaluated first: `xs.pop()` and functions that write a log tell in which order Python looks at operands."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.semantics.everyday import same


def dict_display(xs):
    return {xs.pop(): xs.pop(), xs.pop(): xs.pop()}


def dict_display_log(xs):
    log = []

    def t(x):
        log.append(x)
        return x

    d = {t(1): t(2), t(3): t(4)}
    return log, len(d)


def dict_display_spread(xs):
    d = {1: 2, 3: 4}
    return {0: d.pop(1), **d, 5: d.pop(3), **d}, d


def dict_comprehension(xs):
    return {xs.pop(): xs.pop() for _ in range(2)}


def list_display(xs):
    return [xs.pop(), [xs.pop(), xs.pop()], (xs.pop(), xs.pop())]


def list_display_spread(xs):
    return [*xs, xs.pop(), *xs, len(xs)]


def tuple_display_spread(xs):
    return (*xs, xs.pop(), *xs, len(xs))


def set_display(xs):
    return sorted({xs.pop(), xs.pop(), len(xs)})


def keywords(xs):
    def g(a, b, c):
        return a * 100 + b * 10 + c

    return g(xs.pop(), c=xs.pop(), b=xs.pop())


def defaults(xs):
    def g(a=xs.pop(), b=xs.pop()):
        return a, b

    return g(), g(xs.pop())


def store_in_dict(xs):
    d = {}
    d[xs.pop()] = xs.pop()
    d[len(d)] = len(xs)
    return d


def store_of_what_is_taken_out(xs):
    d = {1: 10, 2: 20}
    d[len(d)] = d.pop(1)
    return d


def store_in_list(xs):
    a = [0, 0, 0, 0, 0, 0, 0, 0]
    a[xs.pop()] = xs.pop()
    a[xs.pop()], a[xs.pop()] = xs.pop(), xs.pop()
    return a


def store_of_length(xs):
    a = [0, 0, 0, 0, 0, 0, 0, 0]
    a[xs.pop()] = len(xs)
    return a


def augmented_item(xs):
    a = [0, 1, 2, 3, 4, 5, 6, 7]
    a[xs.pop()] += xs.pop()
    return a


def augmented_item_of_itself(xs):
    xs[xs.pop() - 5] += xs.pop()
    return xs


def augmented_length(xs):
    n = len(xs)
    n += xs.pop() + len(xs)
    xs[0] += len(xs) + xs.pop()
    return n


def augmented_nonlocal(xs):
    total = 1

    def bump():
        nonlocal total
        total += 10
        return 1

    total += bump()
    total = total + bump()
    total = bump() + total
    return total


def comparison(xs):
    return xs.pop() > xs.pop() > xs.pop(), xs.pop() < xs.pop() < xs.pop()


def short_circuit(xs):
    return xs.pop() and xs.pop() and xs.pop(), (xs.pop() > 100 or xs.pop() > 100), len(xs)


def conditional(xs):
    return xs.pop() if xs.pop() > 2 else xs.pop() + 100


def subtraction(xs):
    return xs.pop() - xs.pop() * xs.pop() - len(xs)


def lengths(xs):
    return len(xs), xs.pop(), len(xs), xs.pop(), len(xs)


def list_and_length(xs):
    return xs[:], xs.pop(), xs[:], len(xs)


def item_then_change(xs):
    return xs[-1], xs.pop(), xs[-1] + xs.pop() + xs[-1]


def slice_bounds(xs):
    a = list(range(10))
    return a[xs.pop() - 4 : xs.pop()], a[-xs.pop() : -1]


def append_of_pop(xs):
    xs.append(xs.pop(0))
    xs.insert(xs.pop() - 1, xs.pop())
    return xs.pop(xs.pop(0))


def chained_targets(xs):
    a = [0, 0, 0, 0]
    i = 0
    i = a[i] = 2
    a[i] = i = 1
    i, a[i] = 3, 5
    return a, i


def swapped_items(xs):
    i = 1
    xs[i], xs[xs[i] % 3] = xs[xs[i] % 3], xs[i]
    i, xs[i] = xs[i] % 4, i
    return i


def comprehension_scopes(xs):
    x = 100
    a = [x for x in xs if x > 2]
    b = [(x, y) for x in xs[:2] for y in range(x)]
    c = {x: x + 1 for x in a}
    d = sum(x for x in xs)
    return x, a, b, c, d


def comprehension_reads_outer_first(xs):
    x = [3, 1]
    x = [x * 2 for x in x]
    return x


def closures_in_a_loop(xs):
    made = [lambda v: v * k for k in range(3)]
    return [g(2) for g in made]


def loop_over_changed_name(xs):
    ys = xs
    out = []
    for x in ys:
        ys = [x]
        out.append(len(ys) + x)
    return out, ys


def range_bound_changes(n_list):
    n = 3
    out = []
    for i in range(n):
        n += 2
        out.append(n)
    return out, n


def target_is_an_item(xs):
    a = [0, 0]
    for a[0] in xs:
        a[1] += a[0]
    return a


def formatted(xs):
    return f"{xs.pop()}-{xs.pop()}:{len(xs)}"


def printed(xs):
    print(xs.pop(), xs.pop(), sep=str(xs.pop()))
    return len(xs)


def nested_calls(xs):
    def f(a, b):
        xs.append(a)
        return a - b

    return f(f(xs.pop(), xs.pop()), f(xs.pop(), xs.pop())), xs


_FUNCTIONS: list[Callable[..., Any]] = [
    value for value in list(globals().values()) if getattr(value, "__module__", "") == __name__
]


@pytest.mark.parametrize("function", _FUNCTIONS, ids=lambda f: f.__name__)
def test_order(function: Callable[..., Any]) -> None:
    same(function, ([1, 2, 3, 4, 5, 6, 7],), ([7, 6, 5, 4, 3, 2, 1],), ([1],), ([],))
