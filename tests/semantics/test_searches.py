"""searchsorted: each value is looked for next to where the one before was found, in blocks that run in parallel."""

from __future__ import annotations

import numpy as np
import pytest

import weft


def places(a, v):
    return np.searchsorted(a, v), np.searchsorted(a, v, side="right")


COMPILED = weft.jit(fallback="error")(places)


@pytest.mark.parametrize("dtype", [np.float64, np.int32])
def test_values_in_any_order(dtype):
    rng = np.random.default_rng(3)
    for n, m in ((0, 5), (1, 3), (7, 2), (40, 1500), (3000, 513), (3000, 512), (5, 0)):
        a = np.sort(rng.integers(0, 50 + n // 2, n)).astype(dtype)
        v = rng.integers(-5, 60 + n // 2, m).astype(dtype)
        for values in (v, np.sort(v), np.sort(v)[::-1].copy(), np.repeat(v[:3], m)[:m], v[::2]):
            for got, expected in zip(COMPILED(a, values), places(a, values)):
                np.testing.assert_array_equal(got, expected)
                assert got.dtype == expected.dtype
    assert "->parallel(" in COMPILED.inspect("c")


def test_nan_and_infinities():
    a = np.sort(np.array([np.nan, 1.0, -np.inf, 2.0, 2.0, np.inf, np.nan, -0.0, 0.0] * 3))
    v = np.array([np.nan, 2.0, np.inf, -np.inf, 0.0, -0.0, np.nan, 1.5, 3.0] * 4)
    for values in (v, np.sort(v), np.sort(v)[::-1].copy()):
        for got, expected in zip(COMPILED(a, values), places(a, values)):
            np.testing.assert_array_equal(got, expected)


def rows(a, width):
    """Positions that two loops count together, with a while loop that keeps them loops."""
    out = np.zeros(a.shape[0] * 8, dtype=np.int64)
    for i in range(a.shape[0]):
        for k in range(8):
            n = 0
            while n * n < a[i] + k:
                n += 1
            out[width * i + k] = n
    return out


def overlapping(a):
    """Steps of four with eight positions each: the last writer counts."""
    out = np.zeros(a.shape[0] * 4 + 8, dtype=np.int64)
    for i in range(a.shape[0]):
        for k in range(8):
            n = 0
            while n * n < a[i] + k:
                n += 1
            out[4 * i + k] = n
    return out


def test_positions_of_two_loops():
    a = np.random.default_rng(1).integers(0, 400, 3000)
    weft_rows, weft_overlapping = weft.jit(fallback="error")(rows), weft.jit(fallback="error")(overlapping)
    np.testing.assert_array_equal(weft_rows(a[:50], 8), rows(a[:50], 8))
    np.testing.assert_array_equal(weft_overlapping(a[:200]), overlapping(a[:200]))
