"""Sorting, searching, counting and middle values, over dtypes, axes, NaN, ties and empty arrays."""

from __future__ import annotations

import numpy as np
import pytest

import weft
from tests.semantics.batches import check_batch, check_statements
from tests.semantics.samples import BOOLEAN, FLOATS, INTEGERS, LAYOUTS, REAL, awkward, ordinary
from tests.support import made


@pytest.mark.parametrize("dtype", BOOLEAN + REAL)
def test_sort(dtype: str) -> None:
    expressions = ["np.sort(a)", "np.sort(a, axis=0)", "np.sort(a, axis=None)", "np.sort(a, 1, kind='stable')"]
    stable = [f"np.argsort(a, {axis}, kind='stable')" for axis in (-1, 0, None)]
    check_batch([*expressions, *stable, "a.argsort(axis=1, stable=True)"], made(awkward(dtype, (3, 4, 37))))


@pytest.mark.parametrize("size", [0, 1, 2, 15, 16, 17, 31, 32, 33, 64, 65, 100, 1000])
def test_sizes_around_the_runs(size: int) -> None:
    values = np.random.default_rng(size).integers(0, max(size // 3, 2), size)
    check_batch(["np.sort(a)", "np.argsort(a, kind='stable')", "np.unique(a)"], made(values), calls=1)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_sort_in_place(layout: str) -> None:
    def make() -> tuple[np.ndarray, ...]:
        return (LAYOUTS[layout](awkward("float64", (5, 40))),)

    check_statements("a", "a.sort()", "a[:, 3:9].sort(axis=0)", make=make, zero_signs=False)


@pytest.mark.parametrize("dtype", BOOLEAN + REAL)
def test_searches(dtype: str) -> None:
    expressions = [
        "np.searchsorted(s, v)", "s.searchsorted(v, side='right')", "np.searchsorted(s, v[0, 0])",
        "np.searchsorted(s, 1, 'right')", "np.searchsorted(s, v + 0.5)", "np.isin(v, s[:4])", "np.isin(v, [1, 2])",
        "np.isin(v, s[2:5], invert=True)", "np.isin(v, s[:0])",
    ]  # fmt: skip
    make = made(np.sort(awkward(dtype, 30)), awkward(dtype, (4, 9), 1))
    check_batch(expressions, make, header="s, v")


@pytest.mark.parametrize("dtype", REAL)
def test_digitize(dtype: str) -> None:
    expressions = ["np.digitize(x, b)", "np.digitize(x, b, right=True)", "np.digitize(x, b[::-1])", "np.digitize(1, b)"]
    check_batch(expressions, made(np.unique(ordinary(dtype, 9)), ordinary(dtype, (4, 9), 1)), header="b, x")


def test_bins_in_no_order() -> None:
    check_statements("x, b", "return np.digitize(x, b)", make=made(np.ones(2), np.array([1.0, 3.0, 2.0])))


@pytest.mark.parametrize("dtype", BOOLEAN + REAL)
def test_unique(dtype: str) -> None:
    names = ("return_index", "return_inverse", "return_counts")
    expressions = ["np.unique(a)", *(f"np.unique(a, {name}=True)" for name in names)]
    check_batch([*expressions, "np.unique(a, True, True, True)", "np.unique(a[:0])"], made(awkward(dtype, (6, 7))))


@pytest.mark.parametrize("dtype", FLOATS)
def test_the_zero_that_stands_for_both_signs_among_unique_values_is_the_one_that_numpy_takes(dtype: str) -> None:
    values = np.where(np.arange(500) % 3 == 0, -0.0, np.arange(500) % 5).astype(dtype)
    names = ("return_index", "return_inverse", "return_counts", "return_inverse=True, return_counts")
    check_batch([f"np.signbit(np.unique(a, {name}=True)[0])" for name in names], made(values))


@pytest.mark.parametrize("dtype", REAL)
def test_middle_values(dtype: str) -> None:
    expressions = [
        "np.median(a)", "np.median(a, axis=0)", "np.median(a, axis=2, keepdims=True)", "np.median(a[0, 0, :4])",
        "np.percentile(a, 30)", "np.percentile(a, [10, 50.5, 100], axis=1)", "np.quantile(a, 0.3, axis=0)",
        "np.quantile(a, q, axis=2, keepdims=True)", "np.percentile(a[0, 0], 75.0)", "np.quantile(a[1], 1.0)",
    ]  # fmt: skip
    make = made(ordinary(dtype, (3, 4, 21)), np.array([0.0, 0.25, 1.0]))
    check_batch(expressions, make, 1e-14, "a, q")


@pytest.mark.parametrize("dtype", FLOATS)
def test_middle_values_with_nan(dtype: str) -> None:
    values = ordinary(dtype, (4, 9))
    values[1, 3] = np.nan
    values[2, 1:4] = np.inf
    check_batch(["np.median(a)", "np.median(a, axis=1)", "np.percentile(a, 40, axis=1)"], made(values), 1e-14)


@pytest.mark.parametrize(
    "text", ["np.median(a)", "np.percentile(a, 50)", "np.percentile(a, 101)", "np.quantile(a, -0.1)"]
)
def test_middle_values_of_nothing_or_out_of_range(text: str) -> None:
    check_statements("a", f"return {text}", make=made(np.ones(0)))


@pytest.mark.parametrize("dtype", tuple(d for d in BOOLEAN + INTEGERS if d != "uint64"))
def test_bincount(dtype: str) -> None:
    values = np.abs(ordinary(dtype, 30)) if dtype != "bool" else ordinary(dtype, 30)
    weights = ordinary("float64", 30)
    expressions = ["np.bincount(a)", "np.bincount(a, minlength=20)", "np.bincount(a, w)", "np.bincount(a[:0])"]
    check_batch([*expressions, "np.bincount(a[:0], minlength=3)"], made(values, weights), 1e-12, "a, w")


@pytest.mark.parametrize(
    "text", ["np.bincount(a)", "np.bincount(np.abs(a), w)", "np.bincount(np.abs(a), minlength=-1)"]
)
def test_bincount_refuses(text: str) -> None:
    check_statements("a, w", f"return {text}", make=made(np.array([1, -1, 3]), np.ones(2)))


@pytest.mark.parametrize("dtype", REAL)
def test_histogram(dtype: str) -> None:
    expressions = [
        "np.histogram(a)", "np.histogram(a, 5)", "np.histogram(a, bins=7, range=(0, 5))",
        "np.histogram(a, [0, 1, 2.5])",
        "np.histogram(a, 6, (-2.0, 3.0))", "np.histogram(a, 4, density=True)", "np.histogram(a, e)",
        "np.histogram(a[0, :1])", "np.histogram(a[:0])", "np.histogram(a, n)",
    ]  # fmt: skip
    make = made(ordinary(dtype, (9, 30)), np.array([0, 2, 2, 5]), 11)
    check_batch(expressions, make, 1e-14, "a, e, n")


def test_histogram_with_weights_and_edges_on_values() -> None:
    values = np.round(np.random.default_rng(3).uniform(0, 1, 500), 1)
    make = made(values, ordinary("float64", 500))
    expressions = ["np.histogram(a, 10, weights=w)", "np.histogram(a, 10, (0.0, 1.0))", "np.histogram(a, 30)"]
    check_batch([*expressions, "np.histogram(a, [0.1, 0.2, 0.7], weights=w)"], make, 1e-12, "a, w")


@pytest.mark.parametrize("text", ["np.histogram(a, [3, 1])", "np.histogram(a, 0)", "np.histogram(a, 3, (2, 1))"])
def test_histogram_refuses(text: str) -> None:
    differs = text.endswith("0)")
    check_statements("a", f"return {text}", make=made(np.arange(4.0)), native=not differs)


def sorts(a):
    return np.sort(a), np.argsort(a), np.sort(a, axis=0), np.argsort(a, 0, kind="mergesort")


@pytest.mark.parametrize("dtype", ["?", "i1", "u2", "i4", "u8", "i8", "f4", "f8", "c8", "c16"])
def test_the_order_of_equal_elements_is_that_of_numpy(dtype: str) -> None:
    """Lines of all lengths, adjacent and with gaps, many equal elements: NumPy's own sorts, bit for bit."""
    native = weft.jit(fallback="error")(sorts)
    rng = np.random.default_rng(1)
    for shape in ((3, 1), (40, 17), (5, 3000), (0, 4), (4, 0)):
        values = rng.integers(0, 50, shape).astype(dtype)
        if values.dtype.kind == "f":
            values[rng.random(shape) < 0.02] = np.nan
            values[rng.random(shape) < 0.02] = -0.0
        for given in (values, values[::-1, ::2], np.asfortranarray(values)):
            for mine, theirs in zip(native(given), sorts(given)):
                assert mine.dtype == theirs.dtype
                np.testing.assert_array_equal(mine, theirs)


def test_a_sort_in_a_loop_works_in_the_memory_of_its_line() -> None:
    def rows(a):
        for i in range(a.shape[0]):
            a[i].sort()
        for j in range(a.shape[1]):
            a[:, j] = np.sort(a[:, j])[::-1]
        return a

    values = np.random.default_rng(0).random((30, 45))
    np.testing.assert_array_equal(weft.jit(fallback="error")(rows)(values.copy()), rows(values.copy()))
