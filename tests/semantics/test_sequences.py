"""Python's functions of sequences, and lists of tuples from comprehensions: as CPython."""

from __future__ import annotations

import functools
import itertools

import pytest

import weft


def srt(l):
    return sorted(l), sorted(l, reverse=True), sorted(l, key=lambda x: -x), sorted(l, key=lambda x: x % 2, reverse=True)


def lrange(n):
    return list(range(n)), [x for x in reversed(range(n))], list(range(n, 0, -2))


def sort_in_place(n):
    a = [i * 7 % 5 for i in range(n)]
    a.sort()
    b = a.copy()
    b.sort(key=lambda x: -x)
    a.reverse()
    b.append(9)
    b.sort(reverse=True)
    return a, b, a[::-1], a.index(3), a.count(0)


def mp(n):
    return (
        list(map(lambda x: x * x, range(n))),
        [x for x in filter(lambda x: x % 2, range(n))],
        sum(map(lambda x: x + 1, range(n))),
    )


def mk(l):
    return min(l, key=lambda x: -x), max(l), max(l, key=lambda x: (x - 2) ** 2)


def red(n):
    return functools.reduce(lambda a, b: a * b, range(1, n + 1)), functools.reduce(lambda a, b: a + b, [1, 2, 3], 10)


def prod(n):
    s = 0
    for i, j in itertools.product(range(n), range(n + 1)):
        s += i * j + j
    for i, j in itertools.combinations(range(n), 2):
        s += i - j
    for i, j, k in itertools.combinations(range(n), 3):
        s += i * j - k
    return s, list(itertools.accumulate([1, 2, 3])), list(itertools.chain([1, 2], [3]))


def dcomp(n):
    return {i: i * i for i in range(n)}, {i % 3 for i in range(n)}


def tcomp(n):
    return [(i, i * 0.5) for i in range(n)], [(i, j) for i in range(n) for j in range(i) if i != j + 1]


def setsort(n):
    s = {i * 7 % 11 for i in range(n)}
    return sorted(s), min(s), max(s), len(s)


def dsort(n):
    d = {i * 7 % 11: i for i in range(n)}
    return sorted(d), list(d), list(d.values()), max(d, key=lambda k: d[k]), sorted(d.values())


def lcopy(n):
    a = [1, 2, 3]
    b = a[:]
    b[0] = n
    c = list(a)
    c.append(4)
    d = a.copy()
    return a, b, c, d


def lexical(n):
    k = 10

    def ap(f, k):
        return f(k)

    return ap(lambda x: x + k, n)


def late(n):
    k = 1
    f = lambda x: x + k
    k = 100
    return f(n)


@pytest.mark.parametrize(
    ("function", "argument"),
    [
        (srt, [3, 1, 2, 1]),
        (lrange, 5),
        (sort_in_place, 6),
        (mp, 10),
        (mk, [3, 1, 2]),
        (red, 5),
        (prod, 4),
        (dcomp, 5),
        (tcomp, 5),
        (setsort, 20),
        (dsort, 20),
        (lcopy, 5),
        (lexical, 7),
        (late, 7),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_the_same_as_cpython(function, argument):
    got, expected = weft.jit(fallback="error")(function)(argument), function(argument)
    assert got == expected and type(got) is type(expected)


def test_a_list_with_nan_is_sorted_by_python():
    def ordered(items):
        return sorted(items)

    items = [3.0, 1.0, float("nan"), 1.0]
    assert repr(weft.jit(ordered)(items)) == repr(ordered(items))


def test_the_least_of_nothing_raises():
    def least(n):
        return min([x for x in range(n) if x > 10], key=lambda x: x)

    with pytest.raises(ValueError) as expected:
        least(3)
    with pytest.raises(ValueError) as got:
        weft.jit(fallback="error")(least)(3)
    assert str(got.value) == str(expected.value)
