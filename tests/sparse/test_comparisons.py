"""Comparisons, extremes, functions that change an object in place, chosen rows, stacks and triangular systems."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import weft.errors
from tests.sparse.sparse_support import agree, compiled_source, operator, random_sparse, sp
from tests.sparse.test_operators import _shuffled

ROWS, COLUMNS = 30, 20
OTHER = random_sparse("csr_array", (ROWS, COLUMNS), seed=3)
DENSE = np.random.default_rng(1).random((ROWS, COLUMNS)) - 0.5

COMPARISONS = [
    "S > 0.5", "S != 0", "0.25 < -S", "S < -1", "S >= 1", "S <= -0.5", "S == 2.0", "S > T", "S != T", "T < S",
    "S.maximum(T)", "S.minimum(T)", "S.maximum(-1)", "S.minimum(0)", "S > D", "S.maximum(D)",
    "(S @ T.T) > 1", "(S > T).sum()", "(S != 0).multiply(T)", "(S > 0.5).astype(np.float64)", "np.abs(S)",
]  # fmt: skip


def _operands(expression: str) -> dict[str, Any]:
    words = "".join(c if c.isalnum() else " " for c in expression).split()
    return {name: value for name, value in (("T", OTHER), ("D", DENSE)) if name in words}


@pytest.mark.parametrize("expression", COMPARISONS)
def test_comparisons(expression: str) -> None:
    others = _operands(expression)
    plain, compiled = compiled_source(operator(", ".join(["S", *others]), expression))
    kinds = ["csr_array", "csc_array", "coo_array"] if expression in ("S > 0.5", "S.maximum(T)") else ["csr_array"]
    for kind in kinds:
        agree(plain, compiled, random_sparse(kind, (ROWS, COLUMNS)), *others.values())


@pytest.mark.parametrize("expression", ["S.max(axis=0)", "S.min(axis=1)", "S.max(axis=-1).toarray()", "S.nonzero()"])
def test_along_axes(expression: str) -> None:
    plain, compiled = compiled_source(operator("S", expression))
    matrix = random_sparse("csr_array", (ROWS, COLUMNS))
    matrix.data[::5] = -1.0
    matrix.data[1] = np.nan
    for kind in ("csr_array", "csc_matrix"):
        agree(plain, compiled, getattr(sp, kind)(matrix))
        agree(plain, compiled, random_sparse(kind, (ROWS, COLUMNS), density=2.0, dtype=np.int64))


@pytest.mark.parametrize("bound", [-1.0, 0.0, np.nan])
@pytest.mark.parametrize("expression", ["S > bound", "S.minimum(bound)", "S.power(bound)"])
def test_what_holds_for_zeros_is_left_to_scipy(expression: str, bound: float) -> None:
    plain, compiled = compiled_source(operator("S, bound", expression), fallback="silent")
    matrix = random_sparse("csr_array", (ROWS, COLUMNS))
    agree(plain, compiled, matrix, 1.0)
    if expression == "S.power(bound)" and bound == 0:
        with pytest.raises(NotImplementedError):
            compiled(matrix, bound)
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        agree(plain, compiled, matrix, bound)


@pytest.mark.parametrize("doubled", [False, True])
@pytest.mark.parametrize("expression", ["S > T", "S.maximum(T)", "S - T"])
def test_entries_out_of_order(expression: str, doubled: bool) -> None:
    plain, compiled = compiled_source(operator("S, T", expression))
    agree(plain, compiled, _shuffled(doubled), OTHER)
    agree(plain, compiled, OTHER, _shuffled(doubled))


def test_shapes_that_differ() -> None:
    plain, compiled = compiled_source(operator("S, T", "S != T"), fallback="silent")
    assert compiled(OTHER, OTHER[1:]) is plain(OTHER, OTHER[1:]) is True
    agree(plain, compiled, OTHER, 2 * OTHER)


#: Statements that change an object of the function's own.
IN_PLACE = {
    "zeros": "    M = S.copy()\n    M.data = np.maximum(M.data, 0.0)\n    M.eliminate_zeros()\n    return M, M.nnz\n",
    "duplicates": "    M = S.copy()\n    M.sum_duplicates()\n    return M, M.indices.sum(), M.data.copy()\n",
}


@pytest.mark.parametrize("name", IN_PLACE)
def test_changes_in_place(name: str) -> None:
    plain, compiled = compiled_source(f"def f(S):\n{IN_PLACE[name]}")
    for matrix in (random_sparse("csr_array", (ROWS, COLUMNS)), _shuffled(True)):
        agree(plain, compiled, matrix)


def test_an_argument_changes_in_python_alone() -> None:
    source = "def f(S):\n    S.eliminate_zeros()\n    return S.nnz\n"
    _, compiled = compiled_source(source, fallback="silent")
    matrix = random_sparse("csr_array", (ROWS, COLUMNS))
    count = matrix.nnz
    matrix.data[:4] = 0
    assert compiled(matrix) == count - 4 == matrix.nnz
    _, strict = compiled_source(source)
    with pytest.raises(weft.errors.Unsupported):
        strict(matrix)


def test_the_order_that_scipy_changes_is_not_shown() -> None:
    """A comparison puts the entries of a product in order, in place."""
    source = "def f(S):\n    M = S @ S.T\n    N = M > 1\n    return N.sum(), M.indices\n"
    plain, compiled = compiled_source(source, fallback="silent")
    agree(plain, compiled, OTHER)
    _, strict = compiled_source(source)
    with pytest.raises(weft.errors.Unsupported):
        strict(OTHER)


def test_chosen_rows() -> None:
    plain, compiled = compiled_source(operator("S, which", "S[which]"), fallback="silent")
    for which in (np.array([3, -1, 3]), np.arange(ROWS) % 3 == 0, np.zeros(0, np.int64)):
        agree(plain, compiled, OTHER, which)
    for wrong in (np.array([0, ROWS]), np.ones(ROWS + 1, bool)):
        with pytest.raises(IndexError):
            compiled(OTHER, wrong)


def test_chosen_columns() -> None:
    plain, compiled = compiled_source(operator("S, which", "S[:, which]"), fallback="silent")
    for which in (np.array([3, -1, 3]), np.arange(COLUMNS) % 3 == 0):
        agree(plain, compiled, OTHER.tocsc(), which)
        agree(plain, compiled, OTHER, which)


def test_rows_and_columns_of_the_matrix_interface() -> None:
    plain, compiled = compiled_source(operator("S, i", "S.getrow(i), S.getcol(i)"), fallback="silent")
    for kind in ("csr_matrix", "csc_matrix"):
        agree(plain, compiled, getattr(sp, kind)(OTHER), -2)
    with pytest.raises(IndexError, match="out of range"):
        compiled(sp.csr_matrix(OTHER), ROWS)


def test_a_row_of_the_matrix_interface() -> None:
    plain, compiled = compiled_source(operator("S, i", "S[i]"))
    for kind in ("csr_matrix", "csc_matrix"):
        agree(plain, compiled, getattr(sp, kind)(OTHER), -2)
    with pytest.raises(IndexError, match=r"index \(30\) out of range"):
        compiled(sp.csr_matrix(OTHER), ROWS)


MATRIX_INTERFACE = [
    "S / S.sum(axis=1)", "S.multiply(1 / S.sum(axis=1))", "S.sum(axis=1)", "S.mean(axis=0)", "S.sum(axis=0) / 2",
    "S.todense()",
]  # fmt: skip


@pytest.mark.parametrize("expression", MATRIX_INTERFACE)
def test_dense_results_of_the_matrix_interface(expression: str) -> None:
    plain, compiled = compiled_source(operator("S", expression))
    agree(plain, compiled, sp.csr_matrix(abs(OTHER[:COLUMNS]) + sp.eye_array(COLUMNS)))


def test_stacks() -> None:
    plain, compiled = compiled_source(operator("S, T", "sp.vstack([S, T, S])"))
    agree(plain, compiled, OTHER, OTHER[2:4])
    plain, compiled = compiled_source(operator("S, T", "sp.hstack([S, T])"))
    agree(plain, compiled, OTHER.tocsc(), OTHER[:, 3:5].tocsc())


@pytest.mark.parametrize("lower", [True, False])
def test_triangular_systems(lower: bool) -> None:
    import scipy.sparse.linalg  # the namespace of the compiled source knows it as sp.linalg

    plain, compiled = compiled_source(
        operator("L, b", f"sp.linalg.spsolve_triangular(L, b, lower={lower})"), fallback="silent"
    )
    square = sp.csr_array(sp.tril(OTHER[:COLUMNS]) + sp.eye_array(COLUMNS) * 3)
    triangle = square if lower else square.T.tocsr()
    for matrix in (triangle, triangle.tocsc()):
        agree(plain, compiled, matrix, DENSE[:COLUMNS, 0], tolerance=1e-10)
        agree(plain, compiled, matrix, DENSE[:COLUMNS, :3], tolerance=1e-10)
    with pytest.raises(np.linalg.LinAlgError):
        compiled(triangle * 0.0, DENSE[:COLUMNS, 0])
    assert scipy.sparse.linalg is sp.linalg


FURTHER = [
    sp.bsr_array(OTHER[:20].tobsr((2, 4))), sp.bsr_matrix(OTHER[:20].tobsr((5, 2))),
    sp.dia_array((DENSE[:3], np.array([-2, 0, 5])), shape=(20, 20)),
    sp.dia_matrix((DENSE[:2, :9], np.array([3, -1])), shape=(12, 10)),
]  # fmt: skip


@pytest.mark.parametrize("expression", ["S @ x", "S @ X", "S.T @ y", "S.toarray()", "S.tocsr()", "S.nnz", "S > 0.25"])
def test_blocks_and_diagonals(expression: str) -> None:
    rng = np.random.default_rng(2)
    for matrix in FURTHER if expression != "S > 0.25" else FURTHER[2:]:
        rows, columns = matrix.shape
        others = {"x": rng.random(columns), "X": rng.random((columns, 3)), "y": rng.random(rows)}
        used = {name: value for name, value in others.items() if name in expression}
        plain, compiled = compiled_source(operator(", ".join(["S", *used]), expression))
        agree(plain, compiled, matrix, *used.values())


def test_malformed_blocks_are_an_error() -> None:
    plain, compiled = compiled_source(operator("S, x", "S @ x"))
    matrix = FURTHER[0].copy()
    agree(plain, compiled, matrix, np.ones(20))
    for name, value in (("indices", 77), ("indices", -1), ("indptr", 10**6)):
        broken = matrix.copy()
        getattr(broken, name)[1] = value
        with pytest.raises(ValueError, match=r"index (values|pointer)"):
            compiled(broken, np.ones(20))
