"""Generators that are run through where they are made, and the functions that consume and make them."""

# ruff: noqa: E722, B018, B904, SIM105, PLW0603
from __future__ import annotations

import collections
import itertools
from collections.abc import Callable
from copy import deepcopy
from typing import Any

import numpy as np
import pytest

import weft
from tests.support import compare, differential, outcome


def ramp(count: int = 10) -> Any:
    return np.arange(float(count))


def gen(n):
    i = 0
    while i < n:
        yield i
        i += 1


def gen_pairs(a):
    for i in range(len(a)):
        for j in range(i + 1, len(a)):
            yield i, j


def inf():
    a, b = 0, 1
    while True:
        yield a
        a, b = b, a + b


def squares(n):
    s = 0
    for x in gen(n):
        s += x * x
    return s


def pairs_with_break(a):
    s = 0.0
    for i, j in gen_pairs(a):
        if j == 3:
            continue
        s += a[i] * a[j]
        if s > 10:
            break
    return s


def endless_with_else(lim):
    t = 0
    for x in inf():
        if x > lim:
            break
        if x % 2:
            continue
        t += x
    else:
        t = -1
    return t


def consumers(n):
    return (sum(gen(n)), max(gen(n + 1)), list(gen(n)), any((x > 3 for x in gen(n))), sorted((-x for x in gen(n))))


def local_with_default(n):

    def evens(m, start=0):
        for k in range(start, m):
            if k % 2 == 0:
                yield k
            if k > 7:
                return

    s = 0
    for i, v in enumerate(evens(n, start=2)):
        s += i * v
    return s


def yield_from(a, b):

    def both(a, b):
        yield from a
        yield from b

    return [x * 2 for x in both(a, b)]


def while_it_holds(a):
    return (list(itertools.takewhile(lambda v: v < 10, a)), list(itertools.dropwhile(lambda v: v < 10, a)))


def counting(n):
    t = 0
    for i in itertools.count(1):
        t += i
        if t > n:
            break
    return t


def first_that_fits(a, b):
    return (next((x for x in a if x > 4), -1), next((i for i, x in enumerate(b) if x > 5)))


def zipped_with_count(a):
    s = 0
    for i, x in zip(itertools.count(10), a):
        s += i * x
    return s


def differences(a):
    return [y - x for x, y in itertools.pairwise(a)]


def sliced(n):
    return (list(itertools.islice(inf(), n)), sum(itertools.islice(itertools.cycle([1, 2, 3]), n)))


def named_expression(a):
    sq = (x * x for x in a)
    t = 0.0
    for v in sq:
        t += v
    return t


def starmapped(p):
    return list(itertools.starmap(lambda a, b: a * b, p))


def grouped(a):
    out = []
    for k, g in itertools.groupby(a):
        out.append((k, len(list(g))))
    return out


def generator_of_generators(n):

    def outer(n):
        for a in gen(n):
            for b in gen(a):
                yield (a * b)

    return (sum(outer(n)), [x for x in outer(n) if x % 2 == 0])


def windows_of_an_array(a):

    def windows(a, k):
        for i in range(len(a) - k + 1):
            yield a[i : i + k]

    return [float(w.sum()) for w in windows(a, 3)]


def return_from_the_loop(n):
    for x in gen(n):
        if x * x > 7:
            return x
    return -1


def several_yields(n):

    def g(n):
        yield (-1)
        for i in range(n):
            yield i
            if i % 2:
                yield (i * 10)
        yield 99

    out = []
    for v in g(n):
        if v == 2:
            continue
        if v == 99:
            break
        out.append(v)
    return out


def nested_breaks(n):

    def g(n):
        for i in range(n):
            for j in range(n):
                yield (i * j)

    c = 0
    for v in g(n):
        for w in g(v):
            if w > 3:
                break
            c += w
        if c > 20:
            break
    return c


def made_in_a_loop(n):
    t = 0
    for k in range(n):
        for v in (x * k for x in range(k)):
            t += v
    return t


def variables_seen_late(n):
    k = 1
    g = (i * k for i in range(n))
    k = 10
    return sum(g)


def loop_else_in_a_generator(n):

    def primes(n):
        for c in range(2, n):
            for d in range(2, c):
                if c % d == 0:
                    break
            else:
                yield c

    return list(primes(n * 5))


def sets_and_dicts(a):
    return (len(set((x % 2 for x in a))), dict(((x, x * x) for x in a))[3], tuple((x for x in (1, 2, 3))))


def raises_in_the_middle(n):

    def g(n):
        for i in range(n):
            if i == 2:
                raise ValueError("two")
            yield i

    t = 0
    try:
        for v in g(n):
            t += v + 1
    except ValueError:
        t += 100
    return t


def extremes(a):
    return (min((x * x for x in a)), max((x for x in a), key=lambda v: -v), min((x for x in a if x > 5), default=-1.0))


def zipped(a, b):
    return sum((x * y for x, y in zip((t * 2 for t in a), b)))


def accumulated_and_chained(n):

    def g(n):
        for i in range(n):
            yield (i + 1)

    return (list(itertools.accumulate(g(n))), list(itertools.chain(g(2), g(3))), [list(p) for p in zip(g(3), [7, 8])])


def continue_past_finally(n):

    def g(n):
        for i in range(n):
            yield i

    log = []
    for v in g(n):
        try:
            if v == 1:
                continue
            log.append(v)
        finally:
            log.append(-v)
    return log


def slices_of_a_list(n):

    def chunks(xs, k):
        for i in range(0, len(xs), k):
            yield xs[i : i + k]

    return [sum(c) for c in chunks(list(range(n)), 2)]


def rows_of_an_array(a):

    def rows(a):
        for r in a:
            yield r

    return [float(r.max()) for r in rows(a)]


def both_sides_write(a):

    def cells(a):
        for i in range(len(a)):
            yield i
            a[i] += 100

    for i in cells(a):
        a[i] *= 2
        if i == 3:
            break
    return a.sum()


def expression_of_an_expression(n):
    evens = (x for x in range(n) if x % 2 == 0)
    sq = (x * x for x in evens)
    return sum(sq)


def mapped_and_filtered(n):
    g = (x for x in range(n))
    return sum(map(lambda v: v * 3, filter(lambda v: v % 2, g)))


def numbered_and_zipped(n):

    def g(n):
        for i in range(n):
            yield (i * i)

    s = 0
    for i, (a, b) in enumerate(zip(g(n), range(n)), 1):
        s += i * a * b
    return s


def counted_by_halves(n):
    out = []
    for x in itertools.takewhile(lambda v: v < n, itertools.count(0.5, 0.5)):
        out.append(x)
    return out


def repeated(n):
    return (sum(itertools.repeat(2, n)), [a * b for a, b in zip(itertools.repeat(3), [1, 2])])


def consumer_raises_into_try(n):

    def g(n):
        try:
            for i in range(n):
                yield i
        except ValueError:
            yield 1000
        finally:
            pass

    t = 0
    try:
        for v in g(n):
            t += v
            if v == 2:
                raise ValueError("x")
    except ValueError:
        t += 100
    return t


CASES: list[tuple[Callable[..., Any], list[tuple[Any, ...]]]] = [
    (squares, [(5,), (0,)]),
    (pairs_with_break, [(ramp(5),)]),
    (endless_with_else, [(100,)]),
    (consumers, [(5,)]),
    (local_with_default, [(5,)]),
    (yield_from, [([1, 2, 3], [4, 5, 6])]),
    (while_it_holds, [([1, 2, 30, 4],)]),
    (counting, [(10,)]),
    (first_that_fits, [([3, 4, 5], [1, 2, 9]), ([3, 4], [1, 2])]),
    (zipped_with_count, [([3, 4, 5],)]),
    (differences, [([3, 4, 5, 9],)]),
    (sliced, [(7,)]),
    (named_expression, [([1.0, 2.0, 3.0],)]),
    (starmapped, [([(1, 2), (3, 4)],)]),
    (grouped, [([1, 1, 2, 2, 2, 3],)]),
    (generator_of_generators, [(4,)]),
    (windows_of_an_array, [(ramp(6),)]),
    (return_from_the_loop, [(5,)]),
    (several_yields, [(5,)]),
    (nested_breaks, [(5,)]),
    (made_in_a_loop, [(5,)]),
    (variables_seen_late, [(4,)]),
    (loop_else_in_a_generator, [(6,)]),
    (sets_and_dicts, [([3, 1, 2],)]),
    (raises_in_the_middle, [(4,)]),
    (extremes, [(np.array([3.0, 1.0, 2.0]),)]),
    (zipped, [(ramp(5), ramp(5))]),
    (accumulated_and_chained, [(4,)]),
    (continue_past_finally, [(3,)]),
    (slices_of_a_list, [(5,)]),
    (rows_of_an_array, [(np.arange(6.0).reshape(2, 3),)]),
    (both_sides_write, [(ramp(5),)]),
    (expression_of_an_expression, [(10,)]),
    (mapped_and_filtered, [(10,)]),
    (numbered_and_zipped, [(4,)]),
    (counted_by_halves, [(3,)]),
    (repeated, [(3,)]),
    (consumer_raises_into_try, [(4,), (2,)]),
]


@pytest.mark.parametrize(("function", "calls"), CASES, ids=[case[0].__name__ for case in CASES])
def test_as_python(function: Callable[..., Any], calls: list[tuple[Any, ...]]) -> None:
    compiled = weft.jit(fallback="error")(function)
    for arguments in calls:
        expected = outcome(function, deepcopy(arguments))
        assert compare(outcome(compiled, deepcopy(arguments)), expected, 1e-12) is None


def used_twice(n):
    g = (i for i in range(n))
    a = sum(g)
    b = sum(g)
    return (a, b)


def made_before_the_loop(n):
    g = (i for i in range(n))
    t = 0
    for k in range(3):
        t += sum(g)
    return t


def sent_to(n):

    def g():
        x = 0
        while True:
            y = yield x
            x += 1 if y is None else y

    it = g()
    next(it)
    return it.send(3)


def stepped_by_hand(n):
    g = iter([1, 2, 3])
    return next(g) + next(g)


def condition_of_a_while(n):
    g = (i for i in range(n))
    k = 0
    while any(v > 1 for v in g) and k < 5:
        k += 1
    return k


LEFT: list[tuple[Callable[..., Any], list[tuple[Any, ...]]]] = [
    (used_twice, [(4,)]),
    (made_before_the_loop, [(4,)]),
    (sent_to, [(3,)]),
    (stepped_by_hand, [(4,)]),
    (condition_of_a_while, [(9,)]),
]


@pytest.mark.parametrize(("function", "calls"), LEFT, ids=[case[0].__name__ for case in LEFT])
@pytest.mark.usefixtures("array_compiler_only")
def test_left_to_python(function: Callable[..., Any], calls: list[tuple[Any, ...]]) -> None:
    compiled = weft.jit(fallback="silent")(function)
    for arguments in calls:
        expected = outcome(function, deepcopy(arguments))
        assert compare(outcome(compiled, deepcopy(arguments)), expected) is None
    with pytest.raises(weft.Unsupported):
        weft.jit(fallback="error")(function)(*deepcopy(calls[-1]))


def test_items_are_taken_one_at_a_time() -> None:
    def logged(n, log):
        def noted(n):
            for i in range(n):
                log[i] += 1.0
                yield i

        total = 0
        for i, _ in zip(noted(n), range(2)):
            total += i
        for _, i in zip(range(2), noted(n)):
            total += i
        return total + next(noted(n))

    differential(logged, lambda: (6, np.zeros(6)))


def counted_parts(text, k):
    parts = collections.Counter(text[i : i + k] for i in range(len(text) - k + 1))
    return parts, collections.Counter(x % 3 for x in range(k))


def test_counters_of_generators() -> None:
    native = weft.jit(fallback="error")(counted_parts)
    for text, k in (("abracadabra", 2), ("aaaa", 1), ("ab", 3)):
        mine, theirs = native(text, k), counted_parts(text, k)
        assert mine == theirs
        assert [list(one.items()) for one in mine] == [list(one.items()) for one in theirs]
