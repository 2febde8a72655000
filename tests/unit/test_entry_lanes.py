"""Sums over the entries of rows in partly full vectors: against NumPy, for all lengths of rows and kinds of terms."""

import numpy as np
import pytest

from weft.api import jit


def dots(ptr, idx, v, x):
    out = np.zeros(len(ptr) - 1)
    for i in range(len(ptr) - 1):
        s = 0.0
        for p in range(ptr[i], ptr[i + 1]):
            s += v[p] * x[idx[p]]
        out[i] = s
    return out


def mixed(ptr, idx, v, x, w):
    """Terms that are not zero where there is no entry."""
    out = np.zeros(len(ptr) - 1)
    for i in range(len(ptr) - 1):
        s = 0.5
        for p in range(ptr[i], ptr[i + 1]):
            s += (w[i] - v[p]) / (2.0 * x[idx[p]]) + w[i] * v[p]
        out[i] = s
    return out


def totals(ptr, v):
    out = np.zeros(len(ptr) - 1)
    for i in range(len(ptr) - 1):
        for p in range(ptr[i], ptr[i + 1]):
            out[i] += v[p]
    return out


def extremes(ptr, v):
    most = np.zeros(len(ptr) - 1)
    least = np.zeros(len(ptr) - 1)
    for i in range(len(ptr) - 1):
        if ptr[i] < ptr[i + 1]:
            high = v[ptr[i]]
            low = v[ptr[i]]
            for p in range(ptr[i] + 1, ptr[i + 1]):
                high = np.maximum(high, v[p])
            for p in range(ptr[i] + 1, ptr[i + 1]):
                low = np.minimum(low, v[p])
            most[i] = high
            least[i] = low
    return most, least


def _rows(index, seed=3):
    random = np.random.default_rng(seed)
    lengths = np.array([0, 1, 7, 8, 9, 15, 16, 17, 0, 64, 3, 100, 5, 0])
    ptr = np.concatenate(([0], np.cumsum(lengths))).astype(index)
    return ptr, random.integers(0, 11, ptr[-1]).astype(index), random.random(ptr[-1]) + 0.1, random.random(11) + 0.1


@pytest.fixture(scope="module")
def compiled():
    return {function: jit(fallback="error")(function) for function in (dots, mixed, totals)}


@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_sums_of_rows_of_every_length(compiled, index):
    ptr, idx, v, x = _rows(index)
    w = np.linspace(1.0, 2.0, len(ptr) - 1)
    np.testing.assert_allclose(compiled[dots](ptr, idx, v, x), dots(ptr, idx, v, x), rtol=1e-13)
    np.testing.assert_allclose(compiled[mixed](ptr, idx, v, x, w), mixed(ptr, idx, v, x, w), rtol=1e-13)
    np.testing.assert_allclose(compiled[totals](ptr, v), totals(ptr, v), rtol=1e-13)
    for function, lanes, fours in ((dots, 0, 1), (mixed, 0, 1), (totals, 1, 0)):
        text = compiled[function].inspect("c")
        assert text.count("= k_added(") == lanes and text.count("k_sum + k_sum_2 + (k_sum_3 + k_sum_4)") == fours


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_rows_do_not_see_their_neighbours(compiled):
    """What stands behind a row, or at element 0 of the vector, is nothing to it."""
    ptr, idx, v, x = _rows(np.int32)
    x[0], idx[idx == 0] = np.nan, 1
    for row in range(0, len(ptr) - 1, 2):
        v[ptr[row] : ptr[row + 1]] = np.inf
    w = np.full(len(ptr) - 1, np.inf)
    np.testing.assert_allclose(compiled[dots](ptr, idx, v, x), dots(ptr, idx, v, x), rtol=1e-13)
    np.testing.assert_allclose(compiled[totals](ptr, v), totals(ptr, v), rtol=1e-13)
    np.testing.assert_array_equal(compiled[mixed](ptr, idx, v, x, w), mixed(ptr, idx, v, x, w))


def test_extremes_of_rows_with_nan_infinities_and_zeros():
    ptr, _, v, _ = _rows(np.int64)
    v -= 0.5
    v[ptr[3] : ptr[4]], v[ptr[9] + 40], v[ptr[12] + 1] = -np.inf, np.nan, np.inf
    made = jit(fallback="error")(extremes)
    for values in (v, -v, np.zeros_like(v)):
        np.testing.assert_array_equal(made(ptr, values), extremes(ptr, values))
    assert "k_greatest(k_lanes" in made.inspect("c") and "k_least(k_lanes" in made.inspect("c")


def test_strict_sums_keep_their_order():
    ptr, idx, v, x = _rows(np.int32)
    strict = jit(fallback="error", fp="strict")(dots)
    np.testing.assert_array_equal(strict(ptr, idx, v, x), dots(ptr, idx, v, x))
    assert "K_LANES" not in strict.inspect("c")


def rounded(ptr, v):
    out = np.zeros(len(ptr) - 1)
    for i in range(len(ptr) - 1):
        for p in range(ptr[i], ptr[i + 1]):
            out[i] += np.floor(v[p])
    return out


def apart(ptr, v):
    out = np.zeros(len(ptr) - 1)
    for i in range(len(ptr) - 1):
        for p in range(ptr[i], ptr[i + 1]):
            out[i] += v[2 * p]
    return out


def columns(ptr, v):
    """Every row has the length of all: not read from memory."""
    out = np.zeros(v.shape[0])
    for i in range(v.shape[0]):
        for p in range(v.shape[1]):
            out[i] += v[i, p]
    return out


def padded(idx, v, x):
    """Every row has the same few entries, looked up."""
    out = np.zeros(idx.shape[0])
    for i in range(idx.shape[0]):
        for p in range(idx.shape[1]):
            out[i] += v[i, p] * x[idx[i, p]]
    return out


@pytest.mark.parametrize("entries", [1, 3, 4, 7, 8])
def test_few_entries_that_are_looked_up_are_no_vector(entries):
    random = np.random.default_rng(5)
    idx, v, x = random.integers(0, 11, (900, entries)), random.random((900, entries)), random.random(11)
    made = jit(fallback="error", cache=False)(padded)
    np.testing.assert_allclose(made(idx, v, x), padded(idx, v, x), rtol=1e-13)
    assert "reduction(+:" not in made.inspect("c")


@pytest.mark.parametrize("function", [rounded, apart, columns])
def test_other_sums_stay_plain_loops(function):
    ptr, _, v, _ = _rows(np.int32)
    given = (ptr, v.reshape(5, -1)) if function is columns else (ptr, np.repeat(v, 2) if function is apart else v)
    made = jit(fallback="error")(function)
    np.testing.assert_allclose(made(*given), function(*given), rtol=1e-13)
    assert "k_added(" not in made.inspect("c")


def test_single_precision_stays_a_plain_loop():
    ptr, idx, v, x = _rows(np.int32)
    made = jit(fallback="error")(totals)
    np.testing.assert_allclose(made(ptr, v.astype(np.float32)), totals(ptr, v.astype(np.float32)), rtol=1e-5)
