"""Running totals, differences, sliding products, interpolation and the methods of ufuncs, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from tests.semantics.batches import check_batch, check_statements
from tests.semantics.samples import ALL, LAYOUTS, REAL, awkward, ordinary
from tests.support import made


def _tolerance(dtype: str) -> float:
    return 1e-12 if np.dtype(dtype).kind in "fc" else 0.0


@pytest.mark.parametrize("dtype", ALL)
def test_running_totals(dtype: str) -> None:
    expressions = [
        "np.cumsum(a)", "np.cumsum(a, axis=0)", "a.cumsum(axis=1)", "a.cumprod(-1)", "np.cumprod(a, axis=0)",
        "np.cumsum(a, dtype=np.float64)", "np.cumsum(a[0, 0])", "np.add.accumulate(a)", "np.subtract.accumulate(a)",
        "np.multiply.accumulate(a, axis=1)", "np.minimum.accumulate(a)", "np.maximum.accumulate(a, axis=2)",
        "np.logical_or.accumulate(a, 1)", "np.bitwise_xor.accumulate(a)",
    ]  # fmt: skip
    if dtype == "bool":
        expressions = [text for text in expressions if "imum" not in text]
    if np.dtype(dtype).kind == "c":
        expressions = [text for text in expressions if "imum" not in text and "float64" not in text]
    check_batch(expressions, made(ordinary(dtype, (3, 4, 5))), _tolerance(dtype))


@pytest.mark.parametrize("dtype", ALL)
def test_ufunc_reduce(dtype: str) -> None:
    expressions = [
        "np.add.reduce(a)", "np.add.reduce(a, axis=None)", "np.multiply.reduce(a, axis=1)", "np.add.reduce(a, (0, 2))",
        "np.maximum.reduce(a)", "np.minimum.reduce(a, axis=-1, keepdims=True)", "np.logical_and.reduce(a, axis=0)",
        "np.logical_or.reduce(a, axis=None)", "np.bitwise_or.reduce(a)", "np.bitwise_and.reduce(a, 1)",
    ]  # fmt: skip
    if np.dtype(dtype).kind in "bc":
        expressions = [text for text in expressions if "imum" not in text]
    check_batch(expressions, made(ordinary(dtype, (3, 4, 5))), _tolerance(dtype))


def test_running_totals_keep_signed_zeros_and_nan() -> None:
    check_batch(["np.cumsum(a)", "np.cumprod(a)"], made(np.array([-0.0, -0.0, 0.0])), zero_signs=True)
    check_batch(["np.minimum.accumulate(a)", "np.maximum.accumulate(a)"], made(awkward("float64", 20)))


@pytest.mark.parametrize("dtype", ALL)
def test_differences(dtype: str) -> None:
    expressions = [
        "np.diff(a)", "np.diff(a, axis=0)", "np.diff(a, 2)", "np.diff(a, n=3, axis=1)", "np.diff(a[0, 0], n=9)",
        "np.diff(a[0], prepend=a[1, :, :1])", "np.diff(a[0, 0], append=a[1, 1])", "np.diff(a[0, 0], prepend=0)",
    ]  # fmt: skip
    check_batch(expressions, made(ordinary(dtype, (3, 4, 5))), _tolerance(dtype))


@pytest.mark.parametrize("dtype", REAL)
def test_gradient_and_trapezoid(dtype: str) -> None:
    expressions = [
        "np.gradient(a[0, 0])", "np.gradient(a)", "np.gradient(a, 0.5, axis=1)", "np.gradient(a[0], 2, 0.25)",
        "np.gradient(a[0, 0], 3, edge_order=2)", "np.gradient(a, axis=(0, 2), edge_order=2)",
        "np.trapezoid(a)", "np.trapezoid(a, dx=0.5, axis=0)", "np.trapezoid(a[0], a[1, 0])", "np.trapezoid(a, a * a)",
    ]  # fmt: skip
    check_batch(expressions, made(ordinary(dtype, (3, 4, 5))), 1e-12)


def test_gradient_of_too_few_points() -> None:
    check_statements("a", "return np.gradient(a)", make=made(np.ones(1)))


@pytest.mark.parametrize("dtype", ALL)
@pytest.mark.parametrize("sizes", [(9, 4), (4, 9), (5, 5), (6, 1)])
def test_sliding_products(dtype: str, sizes: tuple[int, int]) -> None:
    if sizes != (9, 4) and dtype not in ("int16", "float64", "complex64"):
        pytest.skip("one size for every dtype, every size for three of them")
    expressions = [
        f"np.{name}(a, b, {mode!r})" for name in ("convolve", "correlate") for mode in ("full", "same", "valid")
    ]
    make = made(ordinary(dtype, sizes[0]), ordinary(dtype, sizes[1], 1))
    check_batch([*expressions, "np.convolve(a, b)", "np.correlate(a, b)"], make, _tolerance(dtype), "a, b")


def test_sliding_product_of_nothing() -> None:
    check_statements("a, b", "return np.convolve(a, b)", make=made(np.ones(3), np.ones(0)))


@pytest.mark.parametrize("dtype", REAL)
def test_interpolation(dtype: str) -> None:
    points = np.unique(ordinary(dtype, 12))
    x = np.array([[-20.0, np.nan, 0.5, 1.0, 2.25], [np.inf, -np.inf, 1.5, points[0], points[-1]]])
    expressions = ["np.interp(x, p, p * p)", "np.interp(x, p, p, left=-7.0, right=9)", "np.interp(0.75, p, p)"]
    check_batch([*expressions, "np.interp(p, p, p)"], made(points, x), 1e-12, "p, x")


def test_interpolation_at_infinite_values_and_repeated_points() -> None:
    points = np.array([0.0, 1.0, 1.0, 2.0, 3.0])
    values = np.array([1.0, np.inf, 5.0, np.inf, np.inf])
    check_batch(["np.interp(x, p, v)"], made(points, values, np.linspace(-1, 4, 21)), 1e-12, "p, v, x")
    check_statements("p, v", "return np.interp(0.5, p, v)", make=made(np.ones(0), np.ones(0)))


@pytest.mark.parametrize("dtype", REAL)
def test_updates_at_repeated_indices(dtype: str) -> None:
    index = np.array([0, 1, 1, -1, 0, 2])
    make = made(ordinary(dtype, 6), index, ordinary(dtype, 6, 2))
    # A Python int is an int64 here: with uint64 that makes float64, and the cast back is left to NumPy.
    one, two, none = ("v[0]", "v[1]", "v[2]") if dtype == "uint64" else ("1", "2", "0")
    updates = ["np.add.at(a, i, v)", f"np.subtract.at(a, (i,), {one})", "np.maximum.at(a, i[:2], v[:2])"]
    more = [f"np.multiply.at(a, 2, {two})", f"np.minimum.at(a, v > 1, {none})"]
    check_statements("a, i, v", *updates, *more, make=make)


def test_updates_of_a_matrix_and_bad_indices() -> None:
    rows, columns = np.array([0, 2, 0, -1]), np.array([1, 1, 1, 0])
    make = made(ordinary("float64", (3, 4)), rows, columns)
    check_statements("a, i, j", "np.add.at(a, (i, j), 1.5)", "np.add.at(a, i, 2)", make=make)
    check_statements("a, i", "np.add.at(a, i, 1.0)", make=made(np.ones(3), np.array([0, 5])))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts(layout: str) -> None:
    def make() -> tuple[np.ndarray, ...]:
        return (LAYOUTS[layout](ordinary("float64", (5, 6))),)

    check_batch(["np.cumsum(a, axis=0)", "np.cumsum(a)", "np.diff(a)", "np.gradient(a, axis=0)", "np.diff(a.T)"], make)


@pytest.mark.parametrize("shape", [(0,), (1,), (0, 3), (3, 0)])
def test_empty(shape: tuple[int, ...]) -> None:
    check_batch(["np.cumsum(a)", "np.cumsum(a, axis=0)", "np.diff(a)", "np.add.reduce(a)"], made(np.ones(shape)))
