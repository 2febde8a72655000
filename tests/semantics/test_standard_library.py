"""Functions of the standard library over containers: what CPython gives, and where its items stay NumPy's scalars."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"
from __future__ import annotations

import heapq
import itertools
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


def merged(first, second):
    return list(heapq.merge(first, second)), list(heapq.merge(first, second, key=lambda v: v // 2))


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
        (merged, [([1, 4, 7], [2, 3, 4]), ([], [1]), ([], [])]),
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
        expected = function(*arguments)
        for mine in (native(*arguments), plain(*arguments)):
            np.testing.assert_equal(mine, expected)
            assert types_in(mine) == types_in(expected)
