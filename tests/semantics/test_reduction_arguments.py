"""Reductions with initial=, where=, out=, dtype=, several axes and ddof=; of complex numbers; without NaN."""

from __future__ import annotations

import numpy as np
import pytest

from tests.semantics.batches import check_batch, check_statements
from tests.semantics.samples import ALL, FLOATS, LAYOUTS, ordinary
from tests.support import made


def _tolerance(dtype: str) -> float:
    kind = np.dtype(dtype)
    return 0.0 if kind.kind in "biu" else 1e-5 if kind in (np.float32, np.complex64) else 1e-12


MASK = np.array([[True, False, True, False], [False, False, True, True], [True, True, True, False]])


@pytest.mark.parametrize("dtype", ALL)
def test_where_and_initial(dtype: str) -> None:
    one = "True" if dtype == "bool" else "2"
    expressions = [
        "np.sum(a, where=m)", "a.sum(axis=0, where=m)", "np.prod(a, axis=1, where=m, keepdims=True)",
        "np.any(a, where=m)", "np.all(a, axis=0, where=m)", "np.sum(a, where=m[0])",
        f"np.max(a, initial={one})", f"np.min(a, axis=1, initial={one}, where=m)", f"a.max(axis=0, initial={one})",
        "np.mean(a, where=m)", "np.mean(a, axis=1, where=m)", "np.var(a, where=m)", "np.std(a, axis=1, where=m)",
    ]  # fmt: skip
    if dtype != "bool":
        expressions += ["np.sum(a, initial=3)", "np.sum(a, axis=1, initial=3)", "np.prod(a, axis=0, initial=2)"]
    check_batch(expressions, made(ordinary(dtype, (3, 4)), MASK), max(_tolerance(dtype), 1e-12), "a, m")


@pytest.mark.parametrize("dtype", ["int16", "uint8", "float32", "float64", "complex128"])
def test_out(dtype: str) -> None:
    a = ordinary(dtype, (3, 4))
    wide = np.sum(a).dtype
    for name, of in (("sum", wide), ("prod", wide), ("max", dtype), ("cumsum", wide)):
        shape = (3, 4) if name == "cumsum" else 4
        make = made(a, np.zeros(shape, of))
        check_statements("a, o", f"r = np.{name}(a, axis=0, out=o)", "return r", make=make, tolerance=_tolerance(dtype))


def test_out_decides_the_type_of_a_sum() -> None:
    check_statements("a, o", "return np.sum(a, axis=0, out=o)", make=made(np.ones((3, 4), np.int32), np.zeros(4)))
    check_statements("a, o", "return np.sum(a, axis=0, out=o)", make=made(np.ones((3, 4)), np.zeros(4, np.float32)))
    mismatched = made(np.ones((3, 4)), np.zeros(4, np.int64))
    check_statements("a, o", "return np.sum(a, axis=0, out=o)", make=mismatched, native=False)
    wrong = made(np.ones((3, 4)), np.ones((2, 4)))
    check_statements("a, o", "return np.sum(a, axis=0, out=o)", make=wrong, native=False)
    check_statements("a, o", "return np.mean(a, axis=1, out=o)", make=made(np.ones((3, 4)), np.zeros(3)))
    check_statements("a, o", "return np.argmax(a, axis=1, out=o)", make=made(np.ones((3, 4)), np.zeros(3, np.int64)))
    check_statements("a, o", "return np.any(a, axis=1, out=o)", make=made(np.ones((3, 4)), np.zeros(3, bool)))


@pytest.mark.parametrize("dtype", ALL)
def test_several_axes(dtype: str) -> None:
    expressions = [
        f"np.{name}(a, axis={axis}, keepdims={keepdims})"
        for name in ("sum", "max", "mean", "std", "any", "count_nonzero")
        for axis, keepdims in (("(0, 2)", False), ("(-1, 0)", True), ("(0, 1, 2)", True), ("1", False))
    ]
    check_batch(expressions, made(ordinary(dtype, (2, 3, 4))), max(_tolerance(dtype), 1e-12))


def test_degrees_of_freedom() -> None:
    expressions = [
        "np.var(a, ddof=1)", "np.var(a, axis=0, ddof=1.5)", "np.std(a, correction=1)", "a.std(axis=1, ddof=2)",
        "np.var(a, axis=0, mean=np.mean(a, axis=0, keepdims=True))", "np.var(a, dtype=np.float32)",
        "np.std(a, axis=(0, 1), ddof=1, keepdims=True)", "np.var(a[:1], axis=0, ddof=1)",
    ]  # fmt: skip
    check_batch(expressions, made(ordinary("float64", (4, 5))), 1e-6)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_complex_extremes_are_lexicographic(dtype: str) -> None:
    values = np.array([[1 + 2j, 1 + 1j, 3 - 1j], [1 + 1j, 0 + 9j, 3 + 4j], [-1 - 1j, -1 - 2j, 3 + 4j]], dtype=dtype)
    expressions = [f"np.{name}(a{rest})" for name in ("min", "max", "argmin", "argmax") for rest in ("", ", axis=0")]
    expressions += ["np.sort(a)", "np.argsort(a, axis=0)", "np.sort(a, axis=None)", "np.ptp(a)"]
    check_batch(expressions, made(values))
    missing = values.copy()
    missing[1, 1] = complex(np.nan, 1)
    missing[2, 0] = complex(1, np.nan)
    check_batch(["np.sort(a, axis=None)", "np.argmax(a)", "np.argmin(a, axis=1)", "np.isnan(np.max(a))"], made(missing))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts(layout: str) -> None:
    place = LAYOUTS[layout]
    make = lambda: (place(ordinary("float64", (4, 6))),)
    expressions = ["np.sum(a, axis=0, initial=1.0)", "np.var(a, axis=1)", "np.average(a, axis=0)"]
    check_batch([*expressions, "np.median(a, axis=1)"], make, 1e-12)


@pytest.mark.parametrize(
    "call", ["np.max(a)", "np.min(a, axis=0)", "np.argmax(a)", "np.ptp(a)", "np.nanmax(a)", "np.nanargmin(a)"]
)
def test_extremes_of_nothing_raise(call: str) -> None:
    check_statements("a", f"return {call}", make=made(np.zeros((0, 3))))


def test_empty_reductions() -> None:
    expressions = ["np.max(a, axis=1)", "np.max(a, initial=-1.0)", "np.sum(a)", "np.prod(a, axis=0)", "np.all(a)"]
    expressions += ["np.max(a.T, axis=0)", "np.mean(a, axis=1)", "np.nansum(a)", "np.median(a, axis=1)"]
    check_batch(expressions, made(np.zeros((0, 3))))


# --- without NaN ----------------------------------------------------------------------------------------------------


def _with_missing(dtype: str, shape: tuple[int, ...]) -> np.ndarray:
    values = ordinary(dtype, shape)
    if values.dtype.kind in "fc":
        values[np.random.default_rng(5).random(shape) < 0.3] = np.nan
        values[0] = np.nan
    return values


NAN = ["nansum", "nanprod", "nanmean", "nanvar", "nanstd", "nanmax", "nanmin", "nanmedian"]


@pytest.mark.parametrize("dtype", ["bool", "int32", "uint8", "float32", "float64", "complex128"])
def test_without_nan(dtype: str) -> None:
    names = [name for name in NAN if dtype != "complex128" or name not in ("nanmax", "nanmin", "nanmedian")]
    if dtype == "bool":
        names = ["nansum", "nanprod", "nanmax", "nanmin", "nanmean"]
    arguments = ("", ", axis=0", ", axis=1, keepdims=True", ", axis=-1")
    expressions = [f"np.{name}(a{rest})" for name in names for rest in arguments]
    expressions += ["np.nancumsum(a)", "np.nancumsum(a, axis=0)", "np.nancumprod(a, axis=1)"]
    expressions += [] if dtype == "bool" else ["np.nanvar(a, ddof=1)", "np.nanstd(a, axis=0, ddof=2)"]
    check_batch(expressions, made(_with_missing(dtype, (5, 4))), max(_tolerance(dtype), 1e-12))


@pytest.mark.parametrize("dtype", ["int32", *FLOATS])
def test_positions_without_nan(dtype: str) -> None:
    values = _with_missing(dtype, (5, 4))[1:]
    values[:, 1] = 1
    check_batch(["np.nanargmax(a)", "np.nanargmin(a, axis=0)", "np.nanargmax(a, axis=1, keepdims=True)"], made(values))


def test_all_nan_slice_raises() -> None:
    values = np.array([[1.0, np.nan], [2.0, np.nan]])
    check_statements("a", "return np.nanargmax(a, axis=0)", make=made(values))
    check_statements("a", "return np.nanmax(a, axis=0), np.nanmean(a, axis=0)", make=made(values))


# --- quantiles and averages -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["int32", "uint8", "float32", "float64"])
def test_quantiles(dtype: str) -> None:
    arguments = ("", ", axis=0", ", axis=-1, keepdims=True", ", axis=(0, 2)", ", axis=(1, 2), keepdims=True")
    expressions = [f"np.median(a{rest})" for rest in (*arguments, ", keepdims=True")]
    expressions += [f"np.percentile(a, 30{rest})" for rest in arguments]
    expressions += [f"np.quantile(a, [0.1, 0.5, 1.0]{rest})" for rest in arguments]
    if np.dtype(dtype).kind == "f":
        expressions += ["np.nanpercentile(a, 40.0, axis=0)", "np.nanquantile(a, [0.25, 0.75], axis=2)"]
    check_batch(expressions, made(ordinary(dtype, (3, 4, 5))), 1e-6)


@pytest.mark.parametrize("q", [0.0, 0.1, 1 / 3, 0.5, 0.9, 1.0])
@pytest.mark.parametrize("dtype", FLOATS)
def test_quantile_of_many(q: float, dtype: str) -> None:
    a = np.random.default_rng(3).normal(size=1001).astype(dtype)
    check_batch([f"np.quantile(a, {q})", f"np.percentile(a, {100 * q})"], made(a), 1e-7)


def test_quantiles_out_of_range() -> None:
    check_statements("a", "return np.percentile(a, 101.0)", make=made(np.arange(4.0)))
    check_statements("a, q", "return np.quantile(a, q)", make=made(np.arange(4.0), np.array([0.5, -0.1])))
    check_statements("a", "return np.median(a)", make=made(np.zeros(0)))
    check_batch(["np.quantile(a, 0)", "np.quantile(a, 1)"], made(np.arange(5.0)))


@pytest.mark.parametrize("dtype", ["int32", "float32", "float64", "complex128"])
def test_average(dtype: str) -> None:
    w = np.array([0.5, 1.5, 2.0])
    expressions = [
        "np.average(a)", "np.average(a, axis=1)", "np.average(a, axis=0, weights=w)", "np.average(a, returned=True)",
        "np.average(a, axis=0, weights=w, returned=True)", "np.average(a.T, axis=1, weights=w)",
        "np.average(a, weights=np.abs(a) + 1)", "np.average(a[:, 0], weights=w, returned=True)",
        "np.average(a, axis=0, weights=[1, 2, 3])", "np.average(a, axis=1, keepdims=True)",
    ]  # fmt: skip
    check_batch(expressions, made(ordinary(dtype, (3, 4)), w), 1e-6, "a, w")


def test_average_refuses_bad_weights() -> None:
    check_statements("a, w", "return np.average(a, weights=w)", make=made(np.ones(2), np.array([1.0, -1.0])))
    check_statements("a, w", "return np.average(a, weights=w)", make=made(np.ones((2, 2)), np.ones(2)), native=False)
    unfit = made(np.ones((2, 2)), np.ones(3))
    check_statements("a, w", "return np.average(a, axis=0, weights=w)", make=unfit, native=False)


@pytest.mark.parametrize("dtype", ["int64", "float32", "float64", "complex128"])
def test_covariance(dtype: str) -> None:
    make = made(ordinary(dtype, (3, 8)), ordinary(dtype, 8, 1))
    expressions = [
        "np.cov(a)", "np.cov(a, rowvar=False)", "np.cov(a, bias=True)", "np.cov(a, ddof=0)", "np.cov(a, b)",
        "np.cov(a[0], b)", "np.corrcoef(a)", "np.corrcoef(a[0], b)", "np.corrcoef(a.T, rowvar=False)",
    ]  # fmt: skip
    check_batch(expressions, make, 1e-6, "a, b")
