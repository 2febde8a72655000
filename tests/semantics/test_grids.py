"""Grids, joins, padding, triangles, block products and norms, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import weft
from tests.semantics.batches import check_batch, check_statements
from tests.semantics.samples import ALL, LAYOUTS, ordinary
from tests.support import made

SOME = ("bool", "int8", "int64", "float32", "float64", "complex64")


def _tolerance(dtype: str) -> float:
    return 1e-12 if np.dtype(dtype).kind in "fc" else 0.0


@pytest.mark.parametrize("dtype", SOME)
def test_meshgrid(dtype: str) -> None:
    calls = ("a, b", "a, b, indexing='ij'", "a, b, a, sparse=True", "a, b, b, indexing='ij', sparse=True", "a", "a, 3")
    check_batch([f"np.meshgrid({c})" for c in calls], made(ordinary(dtype, 4), ordinary("int32", 3)), header="a, b")


def test_slices_as_grids() -> None:
    slices = ("0:n, 0:m", "0:n", "1:n:2, 0:m:3", "0:1:5j", "0:1:0.25, -1:1:3j", "0:n:0.3, 0:2", "n:0:-1, 0:2", "0:x:4j")
    expressions = [f"np.{grid}[{text}]" for grid in ("mgrid", "ogrid") for text in slices]
    check_batch(expressions, made(4, 7, 0.5), header="n, m, x")


def test_indices_and_functions_of_them() -> None:
    expressions = [
        "np.indices((n, m))", "np.indices((n, m), sparse=True)", "np.indices((n, m, 2), dtype=np.int32)",
        "np.fromfunction(lambda i, j: i * m + j, (n, m))", "np.fromfunction(lambda i: i % 2, (n,), dtype=int)",
        "np.tri(n)", "np.tri(n, m, 1, dtype=int)", "np.tri(n, m, -1)", "np.diag_indices(n)", "np.diag_indices(n, 3)",
        "np.triu_indices(n)", "np.triu_indices(n, 1, m)", "np.tril_indices(n, -1)", "np.tril_indices(n, m=m)",
    ]  # fmt: skip
    check_batch(expressions, made(3, 5), header="n, m")


def test_grids_as_indices() -> None:
    make = made(ordinary("float64", (4, 4)), np.array([0, 2, 1]), np.array([True, False, True, True]))
    reads = ["a[np.ix_(i, i)]", "a[np.ix_(m, i)]", "a[np.triu_indices(4, 1)]", "a[np.tril_indices_from(a)]"]
    check_batch([*reads, "a[np.diag_indices(3)]", "a[np.triu_indices_from(a, 1)]"], make, header="a, i, m")
    writes = ["a[np.ix_(i, i)] += 1", "a[np.ix_(i, m)] = 0", "u = np.triu_indices(4, 1)", "a[u] = (a.T @ a)[u]"]
    check_statements("a, i, m", *writes, make=make, tolerance=1e-12)


@pytest.mark.parametrize("dtype", ALL)
def test_repeat_and_tile(dtype: str) -> None:
    repeats = ["np.repeat(a, 2)", "np.repeat(a, 3, axis=0)", "a.repeat([1, 0, 2], axis=0)", "np.repeat(a, n, axis=1)"]
    tiles = ["np.tile(a, 2)", "np.tile(a, (2, 3))", "np.tile(a[0], (2, 1, 2))", "np.tile(a, (n, 1))", "np.repeat(a, 0)"]
    check_batch(
        [*repeats, *tiles, "np.repeat(a[0], np.array([1, 2, 0, 3]))"], made(ordinary(dtype, (3, 4)), 2), 0.0, "a, n"
    )


def test_negative_repeats() -> None:
    check_statements("a, n", "return np.repeat(a, n)", make=made(np.ones(3), -1))
    check_statements("a, n", "return np.repeat(a, n)", make=made(np.ones(3), np.array([1, -1, 2])))


@pytest.mark.parametrize("mode", ["constant", "edge", "wrap", "reflect", "symmetric"])
@pytest.mark.parametrize("dtype", ("bool", "int16", "float64", "complex64"))
def test_pad(mode: str, dtype: str) -> None:
    widths = ("1", "(2, 1)", "((1, 2), (0, 3))", "[(5, 9)]", "n", "((0, 0), (n, 0))", "0")
    expressions = [f"np.pad(a, {width}, mode={mode!r})" for width in widths] + [f"np.pad(a[0], 7, {mode!r})"]
    if mode == "constant":
        expressions += ["np.pad(a, 2)", "np.pad(a, 1, constant_values=1)", "np.pad(a[:0], 1)"]
    else:
        expressions += [f"np.pad(a[:1], 3, mode={mode!r})"]
    check_batch(expressions, made(ordinary(dtype, (3, 4)), 2), header="a, n")


def test_pad_of_nothing() -> None:
    check_statements("a", "return np.pad(a, 1, mode='edge')", make=made(np.ones(0)))


@pytest.mark.parametrize("dtype", ALL)
def test_joins(dtype: str) -> None:
    expressions = [
        "np.append(a, 5)", "np.append(a, a, axis=0)", "np.append(a[0], a[1])", "np.append(a, [1.5, 2])",
        "np.column_stack((a[:, 0], a))", "np.column_stack([a[0], a[1]])", "np.dstack((a, a))",
        "np.dstack([a[0], a[1]])",
        "np.atleast_1d(a[0, 0])", "np.atleast_1d(3.0)", "np.atleast_2d(a[0])", "np.atleast_3d(a)", "np.atleast_2d(a)",
        "np.diagonal(a) + 0", "np.diagonal(a, 1) | True" if dtype == "bool" else "np.diagonal(a, 1) + 1",
        "a.diagonal(-1).sum()", "np.diagonal(np.dstack((a, a)), 0, 1, 2) * 1",
    ]  # fmt: skip
    check_batch(expressions, made(ordinary(dtype, (3, 4))))


@pytest.mark.parametrize("shape", [(3, 3), (2, 5), (5, 2)])
def test_diagonals_written(shape: tuple[int, int]) -> None:
    make = made(ordinary("float64", shape), np.array([7.0, 8.0]))
    check_statements("a, v", "np.fill_diagonal(a, 1)", "a[0] += 1", "np.fill_diagonal(a, v)", make=make)


@pytest.mark.parametrize("dtype", ALL)
def test_block_products(dtype: str) -> None:
    expressions = [
        "np.kron(a, a)", "np.kron(a, a[0])", "np.kron(a[0], a[1])", "np.kron(a, 2)", "np.cross(a[:, :3], a[:, 1:])",
        "np.cross(a[0, :3], a[:, 1:])", "np.vander(a[0])", "np.vander(a[0], 3)", "np.vander(a[0], increasing=True)",
        "np.vander(a[0], 1)", "np.vander(a[0], 0)",
    ]  # fmt: skip
    if dtype == "bool":
        expressions = [text for text in expressions if "cross" not in text]
    check_batch(expressions, made(ordinary(dtype, (3, 4))), _tolerance(dtype))


@pytest.mark.parametrize("dtype", ALL)
def test_norms(dtype: str) -> None:
    whole = ["np.linalg.norm(a)", "np.linalg.norm(a[0])", "np.linalg.norm(a, 'fro')", "np.linalg.norm(a[:0])"]
    orders = [f"np.linalg.norm(a[0], {order})" for order in ("1", "2", "3", "0", "np.inf", "-np.inf", "0.5")]
    matrix = [f"np.linalg.norm(a, {order})" for order in ("1", "-1", "np.inf", "-np.inf")]
    axes = [f"np.linalg.norm(a, axis={axis}, keepdims={keep})" for axis in (0, 1, (0, 1)) for keep in (True, False)]
    check_batch(whole + orders + matrix + axes, made(ordinary(dtype, (3, 4))), 1e-12)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts(layout: str) -> None:
    def make() -> tuple[np.ndarray, ...]:
        return (LAYOUTS[layout](ordinary("float64", (4, 5))),)

    expressions = ["np.pad(a, 2, mode='reflect')", "np.tile(a, 2)", "np.repeat(a, 2, axis=1)", "np.kron(a, a)"]
    check_batch([*expressions, "np.append(a, a)", "np.linalg.norm(a)", "np.meshgrid(a, a)"], make, 1e-12)


def test_a_step_of_points_beside_a_store() -> None:
    """The step is a number of NumPy's but where there is none: also where an argument is written, before or after."""

    def placed(a, n):
        points, step = np.linspace(0.0, 1.0, n, retstep=True)
        a[:] = step
        return points, step

    def counted(a, n):
        a[0] = 5.0
        points, step = np.linspace(0.0, 1.0, n + int(a[1]), retstep=True)
        a[2] = step
        return points, step

    for function in (placed, counted):
        run = weft.jit(fallback="error")(function)
        for count in (5, 2, 1, 0):
            one, two = np.zeros(4), np.zeros(4)
            assert repr(run(one, count)) == repr(function(two, count))
            assert np.array_equal(one, two, equal_nan=True)
