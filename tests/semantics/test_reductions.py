"""Reductions with every axis and keepdims, over dtypes, layouts and empty arrays; products of matrices and vectors."""

from __future__ import annotations

import numpy as np
import pytest

from tests.semantics.samples import ALL, COMPLEX, FLOATS, INTEGERS, LAYOUTS, REAL, ordinary, positive
from tests.support import differential_source, function_from_source, lines, made, outcome

SUMS = ("sum", "prod", "mean", "std", "var")
EXTREMES = ("min", "max", "argmin", "argmax")
TRUTHS = ("any", "all")


def _tolerance(dtype: str) -> float:
    return 1e-12 if dtype in FLOATS + COMPLEX else 0.0


def _check(expressions: list[str], make, tolerance: float, header: str = "a") -> None:
    usable = [
        text
        for text in expressions
        if outcome(function_from_source(lines(header, f"return {text}")), make()).error is None
    ]
    assert usable, "NumPy accepts none of the expressions: the test tests nothing"
    differential_source(lines(header, "return " + ", ".join(usable) + ","), make, tolerance=tolerance, zero_signs=False)


@pytest.mark.parametrize("dtype", ALL)
def test_whole_array(dtype: str) -> None:
    names = SUMS + EXTREMES + TRUTHS if dtype not in COMPLEX else ("sum", "prod", "mean") + TRUTHS
    expressions = [f"a.{name}()" for name in names] + [f"np.{name}(a)" for name in names]
    # Means and deviations of integers are sums of floats.
    _check(expressions, made(positive(dtype, (5, 7))), 1e-12)


@pytest.mark.parametrize("dtype", INTEGERS + ("bool",))
def test_integer_sums_are_exact_and_wide(dtype: str) -> None:
    _check(["a.sum()", "a.prod()", "a.max()", "a.min()", "np.sum(a, axis=0)"], made(positive(dtype, (5, 7))), 0.0)


@pytest.mark.parametrize("axis", ["0", "1", "-1", "2", "None", "(0, 1)", "(0, -1)", "(0, 1, 2)"])
@pytest.mark.parametrize("name", SUMS + ("min", "max") + TRUTHS)
def test_axis(name: str, axis: str) -> None:
    _check(
        [f"a.{name}(axis={axis})", f"np.{name}(a, axis={axis}, keepdims=True)"],
        made(ordinary("float64", (3, 4, 5))),
        1e-12,
    )


@pytest.mark.parametrize("axis", ["0", "1", "-1", "None"])
@pytest.mark.parametrize("name", ["argmin", "argmax"])
def test_axis_of_positions(name: str, axis: str) -> None:
    _check([f"a.{name}({axis})", f"np.{name}(a, axis={axis})"], made(ordinary("int32", (6, 7)) % 4), 0.0)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts(layout: str) -> None:
    make = lambda: (LAYOUTS[layout](ordinary("float64", (6, 5))),)
    _check(["a.sum()", "a.sum(axis=0)", "a.max(axis=1)", "a.mean(axis=-1, keepdims=True)", "a.argmin()"], make, 1e-12)


@pytest.mark.parametrize("dtype", REAL)
def test_empty(dtype: str) -> None:
    expressions = ["a.sum()", "a.prod()", "a.sum(axis=0)", "a.any()", "a.all()", "a.sum(axis=1)"]
    _check(expressions, made(np.zeros((0, 3), dtype=dtype)), 0.0)


@pytest.mark.parametrize("name", ["min", "max", "argmin", "argmax"])
def test_empty_extreme_is_numpys_error(name: str) -> None:
    differential_source(lines("a", f"return a.{name}()"), made(np.zeros(0)), native=False)


def test_nan_wins_extremes() -> None:
    values = np.array([1.0, np.nan, 3.0, -np.inf, np.nan])
    _check(["a.min()", "a.max()", "a.argmin()", "a.argmax()", "a.sum()"], made(values), 0.0)


def test_first_position_wins() -> None:
    _check(["a.argmax()", "a.argmin()"], made(np.array([1, 3, 3, 1, 3])), 0.0)


@pytest.mark.parametrize("n", [0, 1, 2, 3, 100, 1000, 100_003])
def test_sum_at_many_sizes(n: int) -> None:
    differential_source(lines("a", "return a.sum(), np.dot(a, a)"), made(ordinary("float64", n)), tolerance=1e-12)


def test_deviation_with_ddof() -> None:
    _check(
        ["a.std(ddof=1)", "a.var(axis=0, ddof=1)", "np.std(a, axis=1, ddof=1)"],
        made(ordinary("float64", (5, 6))),
        1e-12,
    )


def test_sum_with_dtype() -> None:
    make = made(ordinary("float32", 100))
    differential_source(
        lines("a", "return a.sum(dtype=np.float64), np.mean(a, dtype=np.float64)"), make, tolerance=1e-10
    )


def test_reduction_of_an_expression() -> None:
    make = made(ordinary("float64", (7, 8)), ordinary("float64", 8))
    expressions = [
        "np.sum(a * b, axis=1)",
        "(a > 0).sum()",
        "np.max(np.abs(a - b))",
        "(a @ b).sum()",
        "np.mean((a - b) ** 2)",
    ]
    _check(expressions, make, 1e-12, "a, b")


@pytest.mark.parametrize("name", ["cumsum", "cumprod"])
def test_scans(name: str) -> None:
    differential_source(lines("a", f"return np.{name}(a), a.{name}()"), made(ordinary("int64", 12)), native=False)


# --- products -----------------------------------------------------------------------------------------------------

PRODUCT_SHAPES = (
    ((4, 5), (5, 3)), ((5,), (5, 3)), ((4, 5), (5,)), ((5,), (5,)), ((1, 1), (1, 1)), ((0, 3), (3, 2)), ((2, 0),
    (0, 3)),
)  # fmt: skip


@pytest.mark.parametrize("dtype", ["float64", "float32", "int32", "int64", "complex128", "complex64", "uint8", "bool"])
@pytest.mark.parametrize("shapes", PRODUCT_SHAPES, ids=str)
def test_matmul(shapes: tuple[tuple[int, ...], tuple[int, ...]], dtype: str) -> None:
    one, other = shapes
    make = made(ordinary(dtype, one), ordinary(dtype, other, 1))
    differential_source(lines("a, b", "return a @ b, np.dot(a, b)"), make, tolerance=1e-12, zero_signs=False)


def test_matmul_of_mixed_types() -> None:
    make = made(ordinary("int32", (3, 4)), ordinary("float64", (4, 5)))
    differential_source(lines("a, b", "return a @ b, np.matmul(a, b), a.dot(b)"), make, tolerance=1e-12)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_matmul_of_layouts(layout: str) -> None:
    place = LAYOUTS[layout]
    make = lambda: (place(ordinary("float64", (6, 5))), place(ordinary("float64", (5, 7), 1)))
    differential_source(lines("a, b", "return a @ b, (b.T @ a.T).T.copy()"), make, tolerance=1e-12)


@pytest.mark.parametrize("shapes", [((2, 3, 4), (4, 5)), ((2, 3, 4), (2, 4, 5)), ((3, 4), (2, 4, 5))], ids=str)
def test_batched_matmul(shapes: tuple[tuple[int, ...], tuple[int, ...]]) -> None:
    one, other = shapes
    make = made(ordinary("float64", one), ordinary("float64", other, 1))
    differential_source(lines("a, b", "return a @ b"), make, tolerance=1e-12, native=False)


@pytest.mark.parametrize(
    "call", ["np.outer(a, b)", "np.inner(a, b)", "np.vdot(a, b)", "np.dot(a, b)", "np.trace(np.outer(a, b))"]
)
def test_vector_products(call: str) -> None:
    make = made(ordinary("float64", 6), ordinary("float64", 6, 1))
    differential_source(
        lines("a, b", f"return {call}"), make, tolerance=1e-12, native=call.startswith(("np.outer", "np.dot"))
    )


def test_mismatched_product_is_numpys_error() -> None:
    differential_source(lines("a, b", "return a @ b"), made(np.zeros((2, 3)), np.zeros((4, 5))), native=False)


def test_axes_kept_around_one_number() -> None:
    """The whole reduced, with axes of extent 1: an array, not a number, also beside others."""
    source = """
def f(a):
    return a.min(keepdims=True), np.argmax(a, keepdims=True), np.sum(a, keepdims=True), np.positive(a.max())
"""
    for sample in (np.arange(5, dtype=np.int16), np.ones((2, 3))):
        differential_source(source, made(sample), {"np": np})
