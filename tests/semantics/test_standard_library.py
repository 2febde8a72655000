"""Functions of the standard library over containers: what CPython gives, and where its items stay NumPy's scalars."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"
from __future__ import annotations

import copy
import heapq
import itertools
import math
import operator

import numpy as np
import pytest

import weft


def types_in(value):
    return [types_in(item) for item in value] if isinstance(value, (list, tuple)) else type(value)


def heaps(items, new):
    heap = list(items)
    heapq.heapify(heap)
    taken = [heapq.heappushpop(heap, item) for item in new]
    nothing: list[int] = []
    nothing.append(7)
    nothing.pop()
    return heap, taken, heapq.heappushpop(nothing, 3), len(nothing)


def chosen_ones(items, n):
    return (
        heapq.nlargest(n, items),
        heapq.nsmallest(2, items),
        heapq.nlargest(2, items, key=lambda v: -v),
        heapq.nsmallest(n, items, key=abs),
    )


def distances(n):
    """A default of another type than the values keeps its type."""
    far = {0: 0}
    for u in range(n):
        for v in (2 * u + 1, 3 * u + 2):
            if far.get(u, math.inf) + 1 < far.get(v, math.inf) and v < n:
                far[v] = far[u] + 1
    return far, far.get(1, math.inf), far.get(-1, math.inf), far.get(-1, 2.5) > 2


def large_or_default(n, k):
    held = {1: n}
    found = held.get(k, 0.5)
    return found, found == 9007199254740993, found > 9007199254740992.0


def empty_branches(n):
    out = []
    i = 0
    while i < n:
        i += 1
        if i == 3:
            continue
    else:
        out.append(i)
    return out


def running(items):
    return (
        list(itertools.accumulate(items, max)),
        list(itertools.accumulate(items, operator.mul)),
        list(itertools.accumulate(items, initial=10)),
        list(itertools.accumulate(items, lambda a, b: 2 * a - b, initial=1)),
    )


def sets_of_several(a, b, c):
    return (
        list(a.union(b, c)),
        list(a.union()),
        list(a.intersection(b, c)),
        sorted(set().union(b, c)),
        len(a.union(c, [1, 2, 30])),
    )


def lists_of_rows(m):
    """Lists of lists of what NumPy holds, not of rows."""
    return (
        [list(row) for row in m],
        [sorted(row) for row in m],
        [[x for x in row] for row in m],
        [row.tolist() for row in m],
    )


def rows_by_one_name(m):
    """A comprehension's variable is another one than the loop's."""
    r = m.copy()
    for row in r:
        row *= 2
    return r, [row.sum() for row in r], max(row[0] for row in m)


@pytest.mark.parametrize(
    "function, calls",
    [
        (heaps, [([5, 3, 8], [4, 1, 9, 9]), ([2], [2, 1, 3])]),
        (chosen_ones, [([3, -1, 2, -5], 3), ([4], 9), ([2, 1, 1], -1)]),
        (distances, [(1,), (9,), (30,)]),
        (large_or_default, [(3, 1), (2**53 + 1, 1), (-(2**62) - 1, 1), (3, 2)]),
        (empty_branches, [(2,), (7,), (0,)]),
        (running, [([3, 1, 2, 5],), ([4],), ([],)]),
        (sets_of_several, [({1, 2, 3}, {2, 3, 9}, {3, 40}), (set(), {5}, {5, 6}), ({1, 8, 16}, set(), {8})]),
        (lists_of_rows, [(np.arange(12.0).reshape(3, 4),), (np.ones((2, 0)),), (np.zeros((0, 3)),)]),
        (rows_by_one_name, [(np.arange(12.0).reshape(3, 4),)]),
    ],
)
def test_as_python(function, calls) -> None:
    native = weft.jit(fallback="error")(function)
    plain = weft.jit(fallback="error", backend="python")(function)
    for arguments in calls:
        expected = function(*copy.deepcopy(arguments))
        for mine in (native(*copy.deepcopy(arguments)), plain(*copy.deepcopy(arguments))):
            np.testing.assert_equal(mine, expected)
            assert types_in(mine) == types_in(expected)


def literals(n):
    """Literal lists run through beside their places and each other, also beside what only the run time knows."""
    weights = [0.5, 0.25, 2.0]
    total = 0.0
    for k in range(n):
        for place, weight in enumerate(weights, 1):
            if place > k:
                break
            total += place * weight
        for a, b in zip((1, 2), weights):
            total -= a * b
        for a, b in zip(range(n), weights):
            total += a * b
    return total, [place * weight for place, weight in enumerate(weights)]


def long_literal():
    total = 0
    for v in [
        3,
        1,
        4,
        1,
        5,
        9,
        2,
        6,
        5,
        3,
        5,
        8,
        9,
        7,
        9,
        3,
        2,
        3,
        8,
        4,
        6,
        2,
        6,
        4,
        3,
        3,
        8,
        3,
        2,
        7,
        9,
        5,
        0,
        2,
        8,
        8,
        4,
        1,
        9,
        7,
        1,
        6,
        9,
        3,
        9,
        9,
        3,
        7,
        5,
        1,
        0,
        5,
        8,
        2,
        0,
        9,
        7,
        4,
        9,
        4,
        4,
        5,
        9,
        2,
        3,
        0,
        7,
        8,
        1,
        6,
    ]:
        if v == 0:
            continue
        total = total * 3 % 1009 + v
    return total


def ranges(n, k):
    """Ranges whose step only the run time knows."""
    held = range(1, n, k)
    return (
        len(range(2, n, k)),
        list(range(n, 0, -k)),
        sum(held),
        [0] * len(held),
        7 in held,
        [i for i in (2, 5) if i in held],
    )


def parts(a, l, k):
    """Slices whose step only the run time knows, and changes its sign."""
    out = []
    copied = list(l)
    for s in (k, -k, 2 * k):
        out.append(a[::s].sum() + a[1:-1:s].sum() + a[-2:1:s].sum() + len(a[5:2:s]))
        copied[::s] = [9 + s] * len(copied[::s])
    del copied[:: 2 * k]
    return out, copied


def stretched(a, m):
    """Arrays whose lengths only the run time knows: one of a single element is stretched."""
    return a[m] * a[a > 2]


def stretched_after_writing(a, m):
    """The same where Python cannot begin again, since the caller sees what was written."""
    a += 1
    b = a[m] + a[a > 2]
    a[a > 2] = a[m]
    b[:] = a[m] * 2
    return b, (a[m] * a[a > 2]).sum()


def primes(n):
    prime = [True] * (n + 1)
    prime[0] = prime[1] = False
    for i in range(2, int(n**0.5) + 1):
        if prime[i]:
            prime[i * i :: i] = [False] * len(range(i * i, n + 1, i))
    return [i for i, p in enumerate(prime) if p]


@pytest.mark.parametrize(
    "function, calls",
    [
        (literals, [(5,), (0,), (1,)]),
        (long_literal, [()]),
        (ranges, [(50, 3), (50, -3), (1, 1), (8, 2)]),
        (primes, [(100,), (1,), (4,)]),
        (
            parts,
            [(np.arange(11.0), list(range(11)), 2), (np.arange(1.0), [1], 3), (np.arange(9.0), list(range(9)), -1)],
        ),
        (stretched_after_writing, [(np.arange(5.0), np.arange(5) > 1), (np.arange(5.0), np.arange(5) == 3)]),
        (stretched, [(np.arange(5.0), np.arange(5) > 2), (np.arange(5.0), np.arange(5) == 3)]),
    ],
)
def test_loops_over_literals_and_ranges(function, calls) -> None:
    test_as_python(function, calls)


def unused_range(n, k):
    held = range(1, n, k)  # noqa: F841
    return n


def merged(first, second):
    return list(heapq.merge(first, second))


def test_merging_what_is_not_sorted() -> None:
    """heapq.merge trusts its arguments: it is not sorting."""
    for arguments in (([3, 1], [2]), ([1, 4], [2, 3])):
        assert weft.jit(fallback="silent")(merged)(*arguments) == merged(*arguments)


def test_a_step_of_zero() -> None:
    with pytest.raises(ValueError, match="must not be zero"):
        weft.jit(fallback="error")(unused_range)(3, 0)
    with pytest.raises(ValueError, match="must not be zero"):
        weft.jit(fallback="error")(ranges)(3, 0)
    with pytest.raises(ValueError, match="slice step cannot be zero"):
        weft.jit(fallback="error")(parts)(np.arange(3.0), [1, 2, 3], 0)


def compared(a, b, n):
    """Lists of strings, of lists, of tuples with strings."""
    x = [[i, i + 1] for i in range(n)]
    y = [[i, i + 1] for i in range(3)]
    z, w = [[1], [2, 3]], [[1], [2]]
    w[1] = [2, 3]
    return sorted(a) == sorted(b), a.split() < b.split(), x == y, x < y, x != y, z == w, [(1, "a")] == [(1, "b")]


def literal_rows(n):
    """Lists in a literal list get and lose items."""
    w, v = [[1, 2], [3, 4]], [[], []]
    w[0].extend(w[1])
    w[1].sort(reverse=True)
    w[0].pop(1)
    v[1].append(n)
    w[0].insert(1, 70)
    w[1].remove(3)
    del w[0][0]
    if n > 1:
        v[0].pop()
    return w, v


@pytest.mark.parametrize(
    "function, calls",
    [
        (compared, [("abc", "bca", 3), ("a b", "a c", 2), ("a", "ab", 4), ("", "", 0)]),
        (literal_rows, [(1,)]),
    ],
)
def test_lists_in_lists(function, calls) -> None:
    test_as_python(function, calls)


def test_an_empty_list_in_a_list() -> None:
    with pytest.raises(IndexError, match="pop from empty list"):
        weft.jit(fallback="error")(literal_rows)(2)
