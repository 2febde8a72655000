"""Products in index notation, traces, diagonals, batched products and cross products, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from tests.semantics.batches import check_batch, check_statements
from tests.semantics.samples import LAYOUTS, ordinary
from tests.support import made

PAIRS = [
    "np.einsum('ij,jk->ik', a, b)", "np.einsum('ij,jk', a, b)", "np.einsum('ij,kj->ki', a, b.T)",
    "np.einsum('ij,jk->', a, b)", "np.einsum('ij->j', a)", "np.einsum('ij->', a)", "np.einsum('i...->...', a)",
    "np.einsum('...j,jk->...k', a, b)", "np.einsum('ij,jk,kl->il', a, b, a)",
    "np.einsum(a, [0, 1], b, [1, 2], [2, 0])",
    "np.einsum(a, [0, 1], b, [1, 2])", "np.einsum('ij,ij,ij->i', a, a, a)", "np.einsum('ij,j->i', a, b[:, 0])",
    "np.einsum('i,j->ij', a[0], b[0])", "np.einsum('ij,jk->ik', a, b, optimize=True)",
    "np.einsum('ij,j', a, [1, 2, 3])",
]  # fmt: skip


@pytest.mark.parametrize("dtype", ["int32", "float64", "complex64", "bool"])
def test_einsum(dtype: str) -> None:
    tolerance = 1e-5 if dtype == "complex64" else 1e-12
    check_batch(PAIRS, made(ordinary(dtype, (2, 3)), ordinary(dtype, (3, 2), 1)), tolerance, "a, b")


def test_einsum_of_one_operand_is_a_view() -> None:
    for text in ("ii->i", "ij->ji", "ij", "ji", "...", "i...->...i"):
        check_statements("a", f"return np.einsum({text!r}, a)", make=made(ordinary("float64", (3, 3))))
    check_statements("a", "np.einsum('ii->i', a)[:] = 7.0", "return a", make=made(np.zeros((3, 3))))


def test_einsum_over_broadcast_axes() -> None:
    expressions = [
        "np.einsum('...ij,...jk->...ik', a, b)", "np.einsum('...ij,...ij->...', a, a[0])", "np.einsum('...ii->...', c)",
        "np.einsum('bij,bjk->bik', a, b)", "np.einsum('...i->...', a)", "np.einsum('b...,...->b', a, a[0])",
        "np.einsum('ii', c[0])",
    ]  # fmt: skip
    make = made(ordinary("float64", (2, 3, 4)), ordinary("float64", (2, 4, 5), 1), ordinary("float64", (2, 3, 3), 2))
    check_batch(expressions, make, 1e-12, "a, b, c")


def test_einsum_into_out() -> None:
    make = made(ordinary("float64", (3, 4)), ordinary("float64", (3, 4), 1), np.zeros(3))
    check_statements("a, b, o", "return np.einsum('ij,ij->i', a, b, out=o)", make=make, tolerance=1e-12)


def test_einsum_refuses_what_numpy_refuses() -> None:
    for text in ("ij,jk->iik", "ij,jk->im", "i,jk->ik", "...ij,jk->ik"):
        make = made(ordinary("float64", (2, 3)), ordinary("float64", (3, 2), 1))
        check_statements("a, b", f"return np.einsum({text!r}, a, b)", make=make, native=False, tolerance=1e-12)
    make = made(np.ones((2, 3)), np.ones((4, 2)))
    check_statements("a, b", "return np.einsum('ij,jk', a, b)", make=make, native=False)


@pytest.mark.parametrize("dtype", ["int64", "float32", "complex128"])
def test_tensordot(dtype: str) -> None:
    expressions = [
        "np.tensordot(a, b, axes=1)", "np.tensordot(a, b, axes=([1, 2], [0, 1]))", "np.tensordot(a, b, axes=2)",
        "np.tensordot(a, b, axes=(-1, 1))", "np.tensordot(a, b, axes=((2,), (-2,)))",
        "np.tensordot(b[0], b[1], axes=0)",
    ]  # fmt: skip
    check_batch(expressions, made(ordinary(dtype, (2, 3, 4)), ordinary(dtype, (3, 4, 5), 1)), 1e-5, "a, b")


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint32", "float32", "complex128"])
def test_trace(dtype: str) -> None:
    expressions = [
        "np.trace(a)", "a.trace(1)", "np.trace(a, offset=-1)", "np.trace(a, offset=9)", "np.trace(b)",
        "np.trace(b, axis1=1, axis2=2)", "np.trace(b, 1, 2, 0)", "np.trace(a, dtype=np.complex128)",
    ]  # fmt: skip
    check_batch(expressions, made(ordinary(dtype, (3, 4)), ordinary(dtype, (3, 4, 5), 1)), 1e-5, "a, b")


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", ["int32", "float64", "complex128"])
def test_products_of_any_rank(dtype: str, layout: str) -> None:
    place = LAYOUTS[layout]
    make = lambda: (place(ordinary(dtype, (2, 3))), place(ordinary(dtype, (2, 3), 1)))
    expressions = [
        "np.vdot(a, b)", "np.outer(a, b)", "np.inner(a, b)", "np.inner(a, 2)", "np.vdot(a[0], b[1])", "np.kron(a, b)",
        "np.vecdot(a, b)", "np.matvec(a, b[0])", "np.vecmat(b[:, 0], a)", "np.cross(a, b)",
        "np.cross(a.T, b.T, axis=0)",
        "np.cross(a, b.T, axisb=0, axisc=0)", "np.vdot(a, b.ravel())",
    ]  # fmt: skip
    check_batch(expressions, make, 1e-12, "a, b")


def test_batched_matrix_products() -> None:
    make = made(ordinary("float64", (2, 3, 4)), ordinary("float64", (2, 4, 5), 1), ordinary("float64", 4, 2))
    expressions = ["a @ b", "np.matmul(a, b[0])", "np.matvec(a, c)", "np.vecmat(c, b)", "np.vecdot(a, c)", "a @ c"]
    check_batch(expressions, make, 1e-12, "a, b, c")


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (1, 1)], ids=str)
def test_products_of_small_and_empty_arrays(shape: tuple[int, int]) -> None:
    expressions = ["np.einsum('ij,kj->ik', a, a)", "np.trace(a)", "np.vdot(a, a)", "np.outer(a, a)", "np.inner(a, a)"]
    check_batch(expressions, made(ordinary("float64", shape)), 1e-12)


@pytest.mark.parametrize("call", ["np.tensordot(a, a)", "np.where(a[0, 0] > 0, 1.0, 2.0)"])
def test_what_numpy_gives_as_an_array_of_rank_0(call: str) -> None:
    make = made(ordinary("float64", (2, 3)))
    check_statements("a", f"return {call}", make=make, native=False, tolerance=1e-12)
    check_statements("a", f"x = {call}", "return x * 2.0", make=make, tolerance=1e-12)
