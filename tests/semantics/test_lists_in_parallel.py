"""Loops whose iterations make lists, heaps and sets of their own: in parallel, as CPython, exceptions included."""

from __future__ import annotations

import heapq

import numpy as np
import pytest

import weft


def smallest_sums(a, count):
    out = np.zeros(len(a))
    for i in range(len(a)):
        heap = []
        for j in range(a.shape[1]):
            heapq.heappush(heap, (a[i, j], int(a[i, j] * 50.0)))
        taken = 0
        total = 0.0
        while heap and taken < count:
            value, key = heapq.heappop(heap)
            total += value * key
            taken += 1
        out[i] = total
    return out


def distinct_counts(a):
    out = np.zeros(len(a))
    for i in range(len(a)):
        seen = set()
        for j in range(a.shape[1]):
            seen.add(int(a[i, j] * 50.0))
        out[i] = len(seen)
    return out


def collatz_ends(starts, place):
    out = np.zeros(len(starts), dtype=np.int64)
    for i in range(len(starts)):
        path = []
        n = int(starts[i])
        while n > 1:
            path.append(n)
            n = n // 2 if n % 2 == 0 else 3 * n + 1
        out[i] = path[-place]
    return out


@pytest.fixture(params=[1, 2, 3])
def threads(request):
    before = weft.get_num_threads()
    weft.set_num_threads(request.param)
    yield request.param
    weft.set_num_threads(before)


SUMS = weft.jit(fallback="error")(smallest_sums)
ENDS = weft.jit(fallback="error")(collatz_ends)


def test_heaps(threads: int) -> None:
    a = np.random.default_rng(5).random((60, 40))
    for given in (a, a[:0], a[::-2]):
        assert np.array_equal(SUMS(given, 7), smallest_sums(given, 7))
    assert "parallel" in str(SUMS.explain()).split("for i in range")[0].splitlines()[-1]


def test_sets_are_for_the_compiler_of_plain_python(threads: int) -> None:
    a = np.random.default_rng(5).random((60, 40))
    counted = weft.jit(distinct_counts)
    for given in (a, a[:0], a[::-2]):
        assert np.array_equal(counted(given), distinct_counts(given))


def test_lists_and_their_exceptions(threads: int) -> None:
    starts = np.random.default_rng(6).integers(3, 10**6, 300)
    assert np.array_equal(ENDS(starts, 1), collatz_ends(starts, 1))
    for place in (1, 4):
        starts[170] = 1 if place == 1 else 4
        with pytest.raises(IndexError, match="list index out of range"):
            ENDS(starts, place)
