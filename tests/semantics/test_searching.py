"""Many values looked for in one sorted sequence: places as NumPy finds them, whatever the order of the values."""

from __future__ import annotations

import numpy as np
import pytest

import weft

COUNTS = [0, 1, 2, 15, 17, 511, 512, 513, 1300]
LENGTHS = [1, 2, 3, 63, 64, 65, 1000]


def left(a, v):
    return np.searchsorted(a, v)


def right(a, v):
    return np.searchsorted(a, v, side="right")


def bins(a, v):
    return np.digitize(v, a)


def interpolated(a, v):
    return np.interp(v, a, np.sqrt(a + 1))


def counted(a, v):
    return np.histogram(v, a)[0]


def held(a, v):
    return np.isin(v, a)


def values(count: int, order: str, dtype: type) -> np.ndarray:
    rng = np.random.default_rng(count)
    found = (rng.random(count) * 60).astype(dtype)
    if order == "rising":
        found.sort()
    if order == "falling":
        found = np.sort(found)[::-1].copy()
    if order == "missing":
        found[::3] = np.nan
        found[1::7] = np.inf
        found[2::7] = -np.inf
    return found


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, np.int32])
@pytest.mark.parametrize("function", [left, right, bins, interpolated, counted, held])
def test_places_in_a_sorted_sequence(function, dtype):
    compiled = weft.jit(fallback="error")(function)
    rng = np.random.default_rng(1)
    for length in LENGTHS[function is counted :]:
        sequence = np.sort((rng.random(length) * 50).astype(dtype))
        for count in COUNTS:
            for order in ("random", "rising", "falling", "missing"):
                if order == "missing" and np.dtype(dtype).kind != "f":
                    continue
                given = values(count, order, dtype)
                with np.errstate(all="ignore"):
                    expected, found = function(sequence, given), compiled(sequence, given)
                assert found.dtype == expected.dtype
                np.testing.assert_array_equal(found, expected, f"{length} {count} {order}")


@pytest.mark.parametrize("function", [left, right])
def test_a_sequence_that_ends_with_nan(function):
    sequence = np.array([0.5, 1.5, 1.5, 2.5, np.nan, np.nan])
    compiled = weft.jit(fallback="error")(function)
    for count in COUNTS:
        given = values(count, "missing", np.float64) / 20
        np.testing.assert_array_equal(compiled(sequence, given), function(sequence, given))


@pytest.mark.parametrize("threads", [1, 2])
def test_blocks_are_shared_among_threads(threads):
    before = weft.get_num_threads()
    sequence, given = np.linspace(0.0, 50.0, 5000), values(60_000, "random", np.float64)
    try:
        weft.set_num_threads(threads)
        for function in (left, interpolated, counted):
            compiled = weft.jit(fallback="error")(function)
            np.testing.assert_array_equal(compiled(sequence, given), function(sequence, given))
    finally:
        weft.set_num_threads(before)


def test_single_values_and_matrices():
    sequence = np.sort(np.random.default_rng(2).random(100))
    for function in (left, right, bins, interpolated, held):
        compiled = weft.jit(fallback="error")(function)
        matrix = np.random.default_rng(3).random((7, 90))
        np.testing.assert_array_equal(compiled(sequence, matrix), function(sequence, matrix))
        if function is not held:
            assert compiled(sequence, 0.25) == function(sequence, 0.25)


def test_a_single_value_in_a_sequence_that_is_not_sorted():
    """NumPy halves, and so it finds what halving finds."""
    sequence = np.random.default_rng(4).random(101)
    compiled = weft.jit(fallback="error")(left)
    for value in np.linspace(-0.1, 1.1, 40):
        assert compiled(sequence, float(value)) == left(sequence, float(value))
