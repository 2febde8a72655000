"""Backtracking that copies lists on its way, and recursive functions that collect or return arrays."""

from __future__ import annotations

import numpy as np
import pytest

from tests.semantics.wide import needs_compiler, same_by_python, same_natively

pytestmark = needs_compiler


def _permuted(acc, n, found):
    if len(acc) == n:
        found.append(acc.copy())
        return
    for i in range(n):
        if i not in acc:
            _permuted(acc + [i], n, found)


def permutations(n):
    found = []
    _permuted([], n, found)
    return found


def _combined(n, k, start, path, found):
    if len(path) == k:
        found.append(path[:])
        return
    for i in range(start, n):
        path.append(i)
        _combined(n, k, i + 1, path, found)
        path.pop()


def combinations(n, k):
    found = []
    _combined(n, k, 0, [], found)
    return found


def coins(values, total):
    found = []

    def go(i, left, acc):
        if left == 0:
            found.append(list(acc))
            return
        if i == len(values) or left < 0:
            return
        go(i, left - values[i], acc + [values[i]])
        go(i + 1, left, acc)

    go(0, total, [])
    return found


def _bits(k, acc):
    if k == 0:
        return [list(acc)]
    out = []
    for b in range(2):
        out += _bits(k - 1, acc + [b])
    return out


def all_bits(n):
    return _bits(n, [])


def _rearranged(xs):
    if len(xs) <= 1:
        return [xs[:]]
    out = []
    for i in range(len(xs)):
        for rest in _rearranged(xs[:i] + xs[i + 1 :]):
            out.append([xs[i]] + rest)
    return out


def rearrangements(xs):
    return _rearranged(xs)


def queens(n):
    solutions = []

    def place(row, columns):
        if row == n:
            solutions.append(list(columns))
            return
        for c in range(n):
            if all(columns[r] != c and abs(columns[r] - c) != row - r for r in range(row)):
                columns.append(c)
                place(row + 1, columns)
                columns.pop()

    place(0, [])
    return solutions


def walks(grid):
    n = grid.shape[0]
    paths = []
    seen = np.zeros((n, n), dtype=np.int64)

    def walk(i, j, path):
        if i < 0 or j < 0 or i >= n or j >= n or grid[i, j] == 1 or seen[i, j] == 1:
            return
        path.append((i, j))
        if i == n - 1 and j == n - 1:
            paths.append(path[:])
        else:
            seen[i, j] = 1
            walk(i + 1, j, path)
            walk(i, j + 1, path)
            seen[i, j] = 0
        path.pop()

    walk(0, 0, [])
    return paths


def _transformed(x):
    n = x.shape[0]
    if n == 1:
        return x.copy()
    even, odd = _transformed(x[0::2]), _transformed(x[1::2])
    turned = np.array([1, -1j, -1, 1j])[: n // 2] * odd
    return np.concatenate((even + turned, even - turned))


def transform(x):
    return _transformed(x)


def _sorted(a):
    if a.shape[0] <= 1:
        return a.copy()
    rest = a[1:]
    return np.concatenate((_sorted(rest[rest < a[0]]), a[:1], _sorted(rest[rest >= a[0]])))


def quick_sort(a):
    return _sorted(a)


def _halved(k, u, frames):
    frames.append(u.copy())
    if k > 0:
        _halved(k - 1, u * 0.5, frames)


def collected(u, k):
    frames = []
    _halved(k, u, frames)
    return np.array(frames), frames


@pytest.mark.parametrize(
    ("function", "calls"),
    [
        (permutations, [(3,), (0,)]),
        (combinations, [(5, 3), (4, 0), (2, 3)]),
        (coins, [([3, 5, 7], 12), ([2], 1)]),
        (all_bits, [(3,), (0,)]),
        (rearrangements, [([1, 2, 3],), ([4],)]),
        (queens, [(5,), (3,)]),
        (walks, [(np.array([[0, 1, 0], [0, 0, 0], [1, 0, 0]]),), (np.zeros((2, 2), dtype=np.int64),)]),
        (transform, [(np.arange(4) + 1j,), (np.arange(1) + 0j,)]),
        (quick_sort, [(np.array([3.0, 1.0, 2.0, 5.0, 1.0, 4.0]),), (np.zeros(0),)]),
        (collected, [(np.arange(4.0), 3), (np.arange(4.0), 0)]),
    ],
)
def test_programs(function, calls):
    same_natively(function, *calls)


def _kept(k, u, frames):
    frames.append(u)
    if k > 0:
        _kept(k - 1, u * 0.5, frames)


def kept_as_they_are(u, k):
    frames = []
    _kept(k, u, frames)
    return len(frames), frames[-1]


def test_an_array_that_a_recursive_function_was_given_is_left_to_python():
    same_by_python(kept_as_they_are, (np.arange(4.0), 2))
