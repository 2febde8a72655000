"""Functions made of others: sets, polynomials, gradients, histograms of two variables, orders by several keys."""

from __future__ import annotations

import numpy as np
import pytest

from tests.semantics.batches import check_batch, check_statements
from tests.semantics.samples import ordinary
from tests.support import made


@pytest.mark.parametrize("dtype", ["int64", "uint8", "float64"])
def test_sets(dtype: str) -> None:
    expressions = [
        "np.union1d(a, b)", "np.intersect1d(a, b)", "np.setdiff1d(a, b)", "np.setxor1d(a, b)", "np.isin(a, b)",
        "np.intersect1d(a, b, return_indices=True)", "np.setdiff1d(b, a)", "np.union1d(a, [1, 2, 99])",
    ]  # fmt: skip
    check_batch(expressions, made(ordinary(dtype, 12), ordinary(dtype, (3, 3), 1)), 0.0, "a, b")
    check_batch(["np.union1d(a, b)", "np.setxor1d(a, b)"], made(np.zeros(0, dtype), np.zeros(0, dtype)), 0.0, "a, b")


@pytest.mark.parametrize("dtype", ["int32", "float64", "float32", "complex128"])
def test_polynomials(dtype: str) -> None:
    expressions = [
        "np.polyval(p, x)", "np.polyval(p, 2)", "np.polyval([1, 2, 3], x)", "np.polyval(p, x[0])", "np.polyder(p)",
        "np.polyder(p, 2)", "np.polyint(p)", "np.polyint(p, 2)", "np.polyadd(p, x[0])", "np.polysub(x[0], p)",
    ]  # fmt: skip
    check_batch(expressions, made(ordinary(dtype, 5), ordinary(dtype, (3, 4), 1)), 1e-6, "p, x")


@pytest.mark.parametrize("dtype", ["int64", "float32", "float64", "complex128"])
def test_differences(dtype: str) -> None:
    expressions = [
        "np.ediff1d(a)", "np.ediff1d(a, to_begin=1)", "np.ediff1d(a, to_end=[2, 3], to_begin=0)", "np.diff(a, n=2)",
        "np.cumulative_sum(a[0])", "np.cumulative_sum(a, axis=1, include_initial=True)",
        "np.cumulative_prod(a, axis=0, include_initial=True)", "np.cumulative_prod(a[:, 1])",
    ]  # fmt: skip
    check_batch(expressions, made(ordinary(dtype, (3, 4))), 1e-5)


@pytest.mark.parametrize("edge_order", [1, 2])
def test_gradient_between_points(edge_order: int) -> None:
    uneven, even = np.array([0.0, 1.0, 3.0, 4.5, 4.75]), np.array([0.0, 0.5, 1.0, 1.5])
    make = made(ordinary("float64", (5, 4)), uneven, even)
    expressions = [
        f"np.gradient(a, x, y, edge_order={edge_order})", f"np.gradient(a, x, axis=0, edge_order={edge_order})",
        f"np.gradient(a[:, 0], x, edge_order={edge_order})", f"np.gradient(a, y, axis=1, edge_order={edge_order})",
        f"np.gradient(a, x, 0.5, edge_order={edge_order})", f"np.gradient(a[0], [0, 1, 4, 9], edge_order={edge_order})",
    ]  # fmt: skip
    check_batch(expressions, make, 1e-12, "a, x, y")


def test_gradient_refuses_what_numpy_refuses() -> None:
    make = made(np.ones((5, 4)), np.arange(4.0))
    check_statements("a, x", "return np.gradient(a, x, axis=0)", make=make, native=False)


def test_periodic_interpolation() -> None:
    places = np.array([0.2, 1.9, 0.9, 2.6])
    make = made(ordinary("float64", 9) * 2, places, np.array([1.0, 3.0, -1.0, 2.0]))
    check_batch(["np.interp(x, xp, fp, period=3.0)", "np.interp(0.1, xp, fp, period=2.7)"], make, 1e-12, "x, xp, fp")
    check_statements("x, xp, fp", "return np.interp(x, xp, fp, period=0)", make=make, native=False)


@pytest.mark.parametrize(
    "arguments",
    ["", ", bins=4", ", bins=(3, 4)", ", bins=[e, 3]", ", bins=4, range=[[-2, 2], [-1, 3]]", ", bins=3, density=True",
     ", bins=3, weights=w", ", bins=(e, e), weights=w, density=True"],
)  # fmt: skip
def test_histogram_of_two_variables(arguments: str) -> None:
    edges = np.array([-4.0, -1.0, 0.0, 2.5])
    make = made(ordinary("float64", 40), ordinary("float64", 40, 1), edges, np.abs(ordinary("float64", 40, 2)))
    check_batch([f"np.histogram2d(x, y{arguments})"], make, 1e-12, "x, y, e, w")


def test_bin_edges() -> None:
    expressions = ["np.histogram_bin_edges(a, 5)", "np.histogram_bin_edges(a, 3, (0, 1))"]
    check_batch(expressions, made(ordinary("float64", 9)), 1e-12)


@pytest.mark.parametrize("dtype", ["int32", "float64", "complex128"])
def test_orders(dtype: str) -> None:
    make = made(ordinary(dtype, 30), ordinary("int64", 30, 1), ordinary("float64", 8, 2))
    expressions = ["np.lexsort((a, k))", "np.lexsort([k, a])", "np.lexsort((k,))", "np.sort(a)"]
    expressions.append("np.argsort(a, kind='stable')")
    if dtype != "complex128":
        expressions.append("np.searchsorted(a, v, sorter=np.argsort(a))")
    check_batch(expressions, make, 0.0, "a, k, v")


def test_composed_functions_fuse_with_what_is_around_them() -> None:
    source = ("m = np.nanmean(a, axis=0)", "b = np.where(np.isnan(a), m, a)", "return np.average(b, weights=b * b + 1)")
    values = ordinary("float64", (6, 5))
    values[2, 3] = np.nan
    check_statements("a", *source, make=made(values), tolerance=1e-12)


def test_composed_functions_in_loops() -> None:
    body = (
        "t = 0.0", "for i in range(len(a)):", "    t += np.average(a[i], weights=w) + np.polyval(w, a[i, 0])",
        "    a[i] = np.unwrap(a[i])", "return t",
    )  # fmt: skip
    make = made(ordinary("float64", (4, 5)), np.abs(ordinary("float64", 5, 1)) + 0.5)
    check_statements("a, w", *body, make=make, tolerance=1e-12)
