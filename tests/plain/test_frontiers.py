"""Searches over arrays whose lists hold Python's numbers first and NumPy's later: one compiler takes all of it."""

from __future__ import annotations

import numpy as np
import pytest

import weft
from tests.support import same_as_plain


def levels(starts, ends, first):
    distance = np.full(len(starts) - 1, -1)
    distance[first] = 0
    frontier = [first]
    level = 0
    while frontier:
        level += 1
        found = []
        for u in frontier:
            for k in range(starts[u], starts[u + 1]):
                v = ends[k]
                if distance[v] < 0:
                    distance[v] = level
                    found.append(v)
        frontier = found
    return distance


def peeled(starts, ends, least):
    n = len(starts) - 1
    degree = np.diff(starts).copy()
    order = []
    stack = [i for i in range(n) if degree[i] < least]
    while stack:
        u = stack.pop()
        order.append(u)
        for v in ends[starts[u] : starts[u + 1]]:
            degree[v] -= 1
            if degree[v] == least - 1:
                stack.append(v)
    return order, degree


def graph(n, seed=0):
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, 4, n)
    return np.append(0, np.cumsum(counts)), rng.integers(0, n, counts.sum())


@pytest.mark.parametrize("function", [levels, peeled])
def test_frontiers_of_mixed_numbers(function):
    compiled = weft.jit(fallback="silent")(function)
    for n in (1, 2, 9, 40, 300):
        for dtype in (np.int64, np.int32):
            starts, ends = graph(n, n)
            same_as_plain(compiled, function, lambda s=starts, e=ends, d=dtype: (s.astype(d), e.astype(d), 0), calls=3)
    starts, ends = graph(9)
    for bad in ((starts, ends - 20, 0), (starts, ends, 99), (starts, ends.astype(float), 0)):
        same_as_plain(compiled, function, lambda given=bad: given)


def test_a_search_has_no_loop_of_arrays_beside():
    compiled = weft.jit(fallback="silent")(levels)
    starts, ends = graph(40)
    for _ in range(4):
        compiled(starts, ends, 0)
    assert not compiled.stats["fallbacks"]
    assert "native" in compiled.explain().short()
