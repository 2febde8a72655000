"""Nested functions, what they share with the function around them, how they are called, and the statements that go with
them: `nonlocal`, defaults, stars, `match`, imports, loops with `else`.
"""

# ruff: noqa: E722, B018, B904, SIM105, PLW0603
from __future__ import annotations

import functools
import math
from collections.abc import Callable
from copy import deepcopy
from typing import Any

import numpy as np
import pytest

import weft
from tests.support import compare, differential, outcome


def ramp(count: int = 10) -> Any:
    return np.arange(float(count))


POWER_OF_TWO = functools.partial(math.pow, 2.0)


def counted(n):
    count = 0

    def inc(k):
        nonlocal count
        count += k
        return count

    for i in range(n):
        inc(i)
        if i % 2:
            inc(1)
    return count


def keyword_only(x):

    def f(a, *, b=2.0, c):
        return a * b + c

    return f(x, c=1.0) + f(x, b=3.0, c=x)


def any_number(a, b):

    def f(*xs):
        s = 0
        for x in xs:
            s += x
        return s + len(xs)

    t = (a, b, a)
    return f() + f(a) + f(*t) + f(1, *t, b)


def passed_on(a, b):

    def f(x, y=1.0, z=0.0):
        return x * y + z

    def g(*args, **kw):
        return f(*args, **kw)

    return g(a, y=b) + g(a, b, z=1.0)


def functions_as_arguments(x):

    def app(f, n, v):
        for _ in range(n):
            v = f(v)
        return v

    return (app(lambda t: t * t + 1, 3, x), app(math.sin, 2, x))


def functions_in_a_list(x):
    ops = [lambda t: t + 1, lambda t: t * 2, math.sqrt]
    for op in ops:
        x = op(x)
    return (x, ops[1](3))


def partial(x):

    def f(a, b, c=0.0):
        return a * b + c

    g = functools.partial(f, 3.0, c=1.0)
    return g(x)


def named_in_an_expression(a):
    s = 0
    i = 0
    while (v := a[i]) < 8:
        s += v
        i += 1
    if (n := len(a)) > 3:
        s += n
    return s


def matched_numbers(n):
    match n:
        case 0:
            return 1
        case 1 | 2 | 3:
            return 10
        case x if x > 10:
            return x
        case _:
            return -1


def matched_tuples(a, b):
    match (a, b):
        case [0, 0]:
            r = 0
        case [0, y]:
            r = y
        case [x, 0]:
            r = -x
        case [x, y]:
            r = x * y
    return r


def chained_comparisons(a, b):
    return (0 < a < b < 10, 1 if a <= b != 50 else 2)


def imported_inside(x):
    import math as m
    from math import sqrt

    return m.exp(x) + sqrt(x)


def loops_with_else(n):
    for d in range(2, n):
        if n % d == 0:
            break
    else:
        d = n
    k = 0
    while k < n:
        k += 7
        if k == 14:
            break
    else:
        k = -1
    return (d, k)


def deleted(x):
    y = x * 2
    z = y + 1
    del y
    return z


def starred(a, b):
    t = (a, b)
    u = [*t, 5, *t]
    first, *rest = u
    x, *m, y = t + (7,)
    return (u, first, sum(rest), x + y, len(m))


def counter_made_by_a_function(n):

    def make():
        c = 0

        def step(k=1):
            nonlocal c
            c += k
            return c

        return step

    f = make()
    s = 0
    for i in range(n):
        s += f() + f(2)
    return s


def type_that_widens(n):
    total = 0

    def add(v):
        nonlocal total
        if v > 1:
            total += v
        else:
            total -= v

    for i in range(n):
        add(i * 0.5)
    return total


def two_variables_at_once(n):
    a = b = 0

    def f(k):
        nonlocal a, b
        a, b = (b + k, a)

    for i in range(n):
        f(i)
    if n > 2:
        f(100)
    return (a, b)


def two_levels_up(n):
    c = 0

    def a(k):

        def b():
            nonlocal c
            c += k

        b()
        b()

    for i in range(n):
        a(i)
    return c


def default_of_the_definition(x):
    k = 2.0

    def f(v, m=k):
        return v * m + k

    k = 3.0
    return f(x)


def tuple_loop_with_break(n):
    r = 0
    for v in (1, 2, 3, 4):
        if v == 3:
            break
        if v == 1:
            continue
        r += v * n
    else:
        r = -1
    return r


def keywords_by_name(n):

    def f(**kw):
        return kw.get("a", 1) * 10 + kw["b"]

    return f(a=n, b=2) + f(b=n)


def matched_with_guards(n):
    match n:
        case k if k % 3 == 0 and k > 5:
            return k
        case 2 | 3 as k:
            return -k
        case _:
            pass
    return 0


def matched_argument(t):
    match t:
        case [0, y]:
            return y
        case [x, y]:
            return x * 10 + y


def kinds_of_parameters(a, b):

    def f(x, /, y, *, z=1):
        return x + 10 * y + 100 * z

    return f(a, b) + f(a, y=b, z=a)


def partial_from_outside(x):
    return POWER_OF_TWO(x)


def functions_in_a_tuple(a):
    ops = (lambda v: v + 1, lambda v: v * 2)
    return [f(x) for x in a for f in ops]


def nonlocal_in_a_handler(n):
    errs = 0

    def attempt(k):
        nonlocal errs
        try:
            return 12 // k
        except ZeroDivisionError:
            errs += 1
            return 0

    s = 0
    for i in range(-2, n):
        s += attempt(i)
    return (s, errs)


def return_in_loop_else(n):

    def find(n):
        for i in range(n):
            if i * i > 3:
                break
        else:
            return -1
        return i

    return find(n) + find(n + 5)


def array_of_the_enclosing_function(n):
    v = np.zeros(3)

    def step(k):
        nonlocal v
        v = v + k

    for i in range(n):
        step(i)
    return v


def list_and_number_shared(n):
    seen = []
    best = 0

    def visit(k):
        nonlocal best
        seen.append(k)
        if k * k % 7 > best:
            best = k * k % 7

    for i in range(n):
        visit(i)
    return (best, len(seen))


def walrus_in_a_try(n):
    xs = [5, 3, 1]
    c = 0
    while xs:
        try:
            if (v := xs.pop()) == n:
                break
            c += v
        except IndexError:
            return -1
    else:
        c = -c
    return c


def function_defined_in_a_loop(n):
    r = 0
    for k in range(3):

        def f(v):
            return v + k

        r += f(n)
    return r


CASES: list[tuple[Callable[..., Any], list[tuple[Any, ...]]]] = [
    (counted, [(5,)]),
    (keyword_only, [(5.0,)]),
    (any_number, [(2, 3)]),
    (passed_on, [(2.0, 3.0)]),
    (functions_as_arguments, [(2.0,)]),
    (functions_in_a_list, [(2.0,)]),
    (partial, [(2.0,)]),
    (named_in_an_expression, [([1, 5, 2, 8],)]),
    (matched_numbers, [(0,), (3,), (7,), (12,)]),
    (matched_tuples, [(1, 2), (0, 5), (3, 0), (0, 0)]),
    (chained_comparisons, [(1, 5), (1, 50)]),
    (imported_inside, [(4.0,)]),
    (loops_with_else, [(10,), (15,)]),
    (deleted, [(4.0,)]),
    (starred, [(3, 4)]),
    (counter_made_by_a_function, [(3,)]),
    (type_that_widens, [(3,)]),
    (two_variables_at_once, [(3,)]),
    (two_levels_up, [(5,)]),
    (default_of_the_definition, [(5.0,)]),
    (tuple_loop_with_break, [(5,)]),
    (keywords_by_name, [(5,)]),
    (matched_with_guards, [(2,), (3,), (9,)]),
    (matched_argument, [((1, 2),), ((0, 3),)]),
    (kinds_of_parameters, [(3, 4)]),
    (partial_from_outside, [(3.0,)]),
    (functions_in_a_tuple, [([1, 2, 3],)]),
    (nonlocal_in_a_handler, [(4,)]),
    (return_in_loop_else, [(3,), (0,)]),
    (array_of_the_enclosing_function, [(5,)]),
    (list_and_number_shared, [(5,)]),
    (walrus_in_a_try, [(5,), (3,)]),
    (function_defined_in_a_loop, [(2,)]),
]


@pytest.mark.parametrize(("function", "calls"), CASES, ids=[case[0].__name__ for case in CASES])
def test_as_python(function: Callable[..., Any], calls: list[tuple[Any, ...]]) -> None:
    compiled = weft.jit(fallback="error")(function)
    for arguments in calls:
        expected = outcome(function, deepcopy(arguments))
        assert compare(outcome(compiled, deepcopy(arguments)), expected, 0.0) is None


SCALE = 3.0


def test_global_that_is_read() -> None:
    def scaled(x):
        global SCALE
        return x * SCALE

    differential(scaled, lambda: (4.0,))


def test_captured_name_stays_bound_though_the_guard_fails() -> None:
    def bound(n):
        k = 0
        match n:
            case k if k > 5:
                k += 100
            case 3:
                pass
        return k

    compiled = weft.jit(fallback="error")(bound)
    assert [compiled(n) for n in (7, 3, 1)] == [bound(n) for n in (7, 3, 1)] == [107, 3, 1]


k = 1000  # not what the functions below mean by their k


def test_variable_of_a_comprehension_that_is_over() -> None:
    def late(n):
        functions = [lambda v: v + k for k in (1, 2, 3)]
        return [f(n) for f in functions]

    def early(n):
        functions = [lambda v, k=k: v + k for k in (1, 2, 3)]
        return [f(n) for f in functions]

    differential(late, lambda: (4,), native=False)
    differential(early, lambda: (4,))


def test_variables_that_a_loop_or_a_comprehension_sets() -> None:
    """A nested function looks up a variable when it is called; that of a comprehension is another one."""

    def after_a_loop(n):
        k = 1

        def plus(x):
            return x + k

        first = plus(1)
        for k in range(n):
            pass
        return first, plus(1)

    def inside_a_loop(n):
        k = 1
        plus = lambda x: x + k  # noqa: E731
        same = plus
        total = 0
        for k in range(n):
            total += same(1)
        return total, same(1)

    def beside_a_comprehension(n, k):
        plus = lambda x: x + k  # noqa: E731
        return [plus(k) for k in range(n)], sum(plus(0) for k in range(n)), {k: plus(1) for k in range(n)}

    differential(after_a_loop, lambda: (5,))
    differential(inside_a_loop, lambda: (5,))
    differential(beside_a_comprehension, lambda: (3, 50))
