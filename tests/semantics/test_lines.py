"""Loops along an array by a step known only at run time, and small nests of loops: results and errors are Python's."""

from __future__ import annotations

import numpy as np
import pytest

import weft
from tests.support import differential, made


def sieve(limit, flags):
    i = 2
    while i * i <= limit:
        if flags[i]:
            for j in range(i * i, limit + 1, i):
                flags[j] = False
        i += 1
    return flags


def multiples(n, out):
    for d in range(1, n + 1):
        for m in range(d, n + 1, d):
            out[m] += d
    return out


def along(a, begin, step, count):
    for q in range(count):
        a[begin + step * q] += 1.0
    return a


def places(a):
    at = np.zeros(a.shape[0], dtype=np.int64)
    last = np.full(a.shape[0], -1)
    for i in range(a.shape[0]):
        best = a[i, 0]
        least = a[i, 0]
        for j in range(1, a.shape[1]):
            if a[i, j] > best:
                best = a[i, j]
                at[i] = j
        for j in range(a.shape[1]):
            if a[i, j] <= least:
                least = a[i, j]
                last[i] = j
    return at, last


def steps(a, out):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            if a[i, j] > 0.5:
                out[i] = j
            if a[i, j] > 0.9:
                out[i] += 1
    return out


def nearest(p, q):
    at = np.zeros((p.shape[0], 2), dtype=np.int32)
    for i in range(p.shape[0]):
        best = np.inf
        for j in range(q.shape[0]):
            d = 0.0
            for k in range(3):
                d += (p[i, k] - q[j, k]) ** 2
            if d < best:
                best = d
                at[i, 1] = j
    return at


def eliminate(a, b):
    for t in range(a.shape[0]):
        for k in range(3):
            for i in range(k + 1, 3):
                f = a[t, i, k] / a[t, k, k]
                for j in range(k, 3):
                    a[t, i, j] -= f * a[t, k, j]
                b[t, i] -= f * b[t, k]
    return b


def pooled(x):
    out = np.empty((x.shape[0] // 2, x.shape[1] // 2), dtype=x.dtype)
    for i in range(x.shape[0] // 2):
        for j in range(x.shape[1] // 2):
            most = x[2 * i, 2 * j]
            for a in range(2):
                for b in range(2):
                    if x[2 * i + a, 2 * j + b] > most:
                        most = x[2 * i + a, 2 * j + b]
            out[i, j] = most
    return out


@pytest.mark.parametrize(("limit", "size"), [(100, 101), (0, 1), (100, 140), (100, 90), (3, 2)])
def test_sieves(limit: int, size: int) -> None:
    differential(sieve, made(limit, np.ones(size, dtype=bool)))
    differential(multiples, made(limit, np.zeros(size, dtype=np.int64)))


@pytest.mark.parametrize(
    ("begin", "step", "count"),
    [(0, 3, 5), (14, -3, 5), (-15, 3, 5), (2, 0, 4), (0, 3, 6), (-16, 1, 3), (0, 2**62, 2), (1, 2**40, 1), (5, 1, 0)],
)
def test_lines(begin: int, step: int, count: int) -> None:
    differential(along, made(np.arange(15.0), begin, step, count))


@pytest.mark.parametrize("shape", [(5, 9), (3, 1), (0, 4), (4, 70)])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int32])
def test_places_of_extremes(shape: tuple[int, int], dtype: type) -> None:
    a = (np.random.default_rng(3).random(shape) * 6).astype(dtype)
    differential(places, made(a))
    differential(places, made(np.asfortranarray(a)))
    differential(steps, made(a, np.zeros(shape[0], dtype=np.int64)))
    differential(nearest, made(np.resize(a, (4, 3)), np.resize(a[::-1], (5, 3))))
    if dtype is not np.int32 and a.size > 8:
        a[0, 0] = a[2, 0] = a[1, -1] = np.nan
        differential(places, made(a))


def test_rows_without_elements() -> None:
    differential(places, made(np.zeros((2, 0))), native=False)


@pytest.mark.parametrize("shape", [(4, 3, 3), (0, 3, 3), (4, 5, 4), (2, 2, 3)])
def test_small_systems(shape: tuple[int, ...]) -> None:
    rng = np.random.default_rng(3)
    differential(eliminate, made(rng.random(shape) + 1.0, rng.random(shape[:2])))

    def shared() -> tuple[np.ndarray, np.ndarray]:
        both = np.arange(float(np.prod(shape))).reshape(shape) % 7 + 1.0
        return both, both[:, :, 0]

    differential(eliminate, shared)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int32, np.uint8])
def test_windows(dtype: type) -> None:
    x = (np.random.default_rng(3).random((7, 9)) * 100).astype(dtype)
    differential(pooled, made(x))
    differential(pooled, made(np.asfortranarray(x)))
    differential(pooled, made(x[::-1, 1:]))
    if x.dtype.kind == "f":
        for place in ((0, 0), (2, 3), (3, 1), (5, 5)):
            x[place] = np.nan
        differential(pooled, made(x))


def test_loops_are_native() -> None:
    flags = np.ones(101, dtype=bool)
    assert weft.jit(fallback="error")(sieve)(100, flags).sum() == 27


def test_a_test_that_an_inner_loop_does_not_change_is_made_once() -> None:
    def by_row(k, x, out):
        for i in range(k.shape[0]):
            for q in range(x.shape[1]):
                out[k[i], q] += x[i, q]
        return out

    given = np.array([1, 0, 1, 3]), np.arange(40.0).reshape(4, 10), np.zeros((4, 10))
    made_of = differential(by_row, made(*given))
    (tested,) = (line for line in made_of.inspect("ir").splitlines() if "if all[" in line)
    assert tested.count("all[") == 1
