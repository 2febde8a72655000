"""Operators over the formats BSR, DIA and COO, sparse arrays of one and of three dimensions, and functions of scipy.sparse
over matrices, against SciPy: classes, dtypes and entries of the results."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.sparse.sparse_support import agree, compiled_source, operator, random_sparse, sp

ROWS, COLUMNS = 24, 18
RNG = np.random.default_rng(8)
DENSE, ROW, COLUMN = RNG.random((ROWS, COLUMNS)) + 0.5, RNG.random(COLUMNS) + 0.5, RNG.random((ROWS, 1)) + 0.5


def _matrix(kind: str) -> Any:
    form = kind.split("_")[0]
    if form == "bsr":
        return getattr(sp, kind)(random_sparse("csr_array", (ROWS, COLUMNS)), blocksize=(2, 3))
    if form == "dia":
        bands = np.arange(1.0, 1 + 3 * COLUMNS).reshape(3, COLUMNS)
        return getattr(sp, kind)((bands, [0, 2, -3]), shape=(ROWS, COLUMNS))
    return random_sparse(kind, (ROWS, COLUMNS))


#: Several results of one function: a function each would take long to compile.
OPERATORS = {
    "numbers": "(S * 2, S / 3, -S, S.copy(), S.conj(), S.astype(np.float32), S.power(2), abs(S), np.sin(S))",
    "dense": "(S.multiply(D), S.multiply(r), S.multiply(c), S / D, S @ r, S.T @ D, D - S, S + D, S < D)",
    "sparse": "(S + S, S - 2 * S, S.multiply(S), S @ S.T, S.T @ S, S / S, S.maximum(-S), S > S * 2)",
    "conversions": "(S.tocsr() * 1, S.tocsc() * 1, S.tocoo() * 1, S.T.copy(), S.asformat('csr') * 1, S.nonzero())",
    "reductions": "(S.sum(axis=0), S.sum(axis=1), S.mean(axis=1), S.diagonal(), S.diagonal(k=-2), S.trace(offset=1))",
}


@pytest.mark.parametrize("kind", ["bsr_array", "bsr_matrix", "dia_array", "dia_matrix", "coo_array"])
@pytest.mark.parametrize("expression", OPERATORS.values(), ids=OPERATORS)
def test_operators(expression: str, kind: str) -> None:
    plain, compiled = compiled_source(operator("S, D, r, c", expression))
    agree(plain, compiled, _matrix(kind), DENSE, ROW, COLUMN)


FUNCTIONS = (
    "(sp.tril(S), sp.triu(S, 1, format='csr'), sp.vstack([S, S * 2]), sp.hstack([S, S], format='csr'), sp.kron(S, S), "
    "sp.csr_array(S) * 2, sp.csc_matrix(S) * 1.5, sp.issparse(S), S.size, sp.hstack([S, S, S]), S.count_nonzero())"
)


@pytest.mark.parametrize("kind", ["csr_array", "csc_matrix", "coo_array", "dia_array"])
def test_functions_over_matrices(kind: str) -> None:
    plain, compiled = compiled_source(operator("S", FUNCTIONS))
    agree(plain, compiled, _matrix(kind))


@pytest.mark.parametrize("kind", ["csr_matrix", "csc_array"])
def test_elements_that_are_not_zero(kind: str) -> None:
    plain, compiled = compiled_source(operator("S", "(sp.find(S), sp.linalg.norm(S))"))
    matrix = _matrix(kind)
    matrix.data[3] = 0.0
    agree(plain, compiled, matrix)


def test_different_diagonals_are_scipys() -> None:
    plain, compiled = compiled_source(operator("S, T", "(S + T, S.multiply(T))"), fallback="silent")
    other = sp.dia_array((np.ones((2, COLUMNS)), [1, 4]), shape=(ROWS, COLUMNS))
    agree(plain, compiled, _matrix("dia_array"), other)


def test_quotients_of_zeros() -> None:
    plain, compiled = compiled_source(operator("S, T", "S / T"))
    one, other = random_sparse("csr_array", (9, 7), density=0.6), random_sparse("csr_matrix", (9, 7), density=0.6, seed=2)
    other.data[0] = 0.0
    one.data[1] = 0.0
    agree(plain, compiled, one, other)


@pytest.mark.parametrize("density", [0.02, 0.6])
@pytest.mark.parametrize("bad", [None, np.inf, np.nan])
def test_products_of_matrices_that_are_hardly_sparse(density: float, bad: float | None) -> None:
    """By the library where that is faster, unless a zero would meet an infinity."""
    plain, compiled = compiled_source(operator("S, T", "S @ T"))
    one = random_sparse("csr_array", (40, 50), density=density)
    other = random_sparse("csr_array", (50, 45), density=density, seed=4)
    if bad is not None and one.nnz:
        one.data[0] = bad
    agree(plain, compiled, one, other)


def test_the_choice_of_a_dense_product_is_explained() -> None:
    _, compiled = compiled_source(operator("S, T", "S @ T"))
    for density in (0.02, 0.6):
        one, other = (random_sparse("csr_array", (40, 40), density=density, seed=seed) for seed in (1, 2))
        compiled(one, other)
    line = next(line for line in str(compiled.explain()).splitlines() if "64 * indices" in line)
    assert "* indices_2.shape[0] > " in line
    _, strict = compiled_source(operator("S, T", "S @ T"), fp="strict")
    strict(one, other)
    assert "64 * indices" not in str(strict.explain())


def _tensor() -> Any:
    places = tuple(RNG.integers(0, extent, 30).astype(np.int32) for extent in (6, 5, 4))
    return sp.coo_array((RNG.random(30), places), shape=(6, 5, 4))


def test_tensors() -> None:
    plain, compiled = compiled_source(
        operator("T", "(T * 2, T.toarray(), -T, T.copy(), T.nnz, T.size, T.shape, T.ndim, T.data.sum(), T.coords[1] * 2)")
    )
    agree(plain, compiled, _tensor())


PRODUCTS = {
    "scattered": "np.add.at(out, i, v[:, None] * B[j] * C[k])",
    "by entries": "for p in range(len(v)):\n        out[i[p]] += v[p] * B[j[p]] * C[k[p]]",
    "by elements": "for p in range(len(v)):\n        for r in range(B.shape[1]):\n"
    "            out[i[p], r] += v[p] * B[j[p], r] * C[k[p], r]",
}


@pytest.mark.parametrize("body", PRODUCTS.values(), ids=PRODUCTS)
def test_products_of_a_tensor_with_matrices(body: str) -> None:
    source = f"""
def f(T, B, C):
    i, j, k = T.coords
    v = T.data
    out = np.zeros((T.shape[0], B.shape[1]))
    {body}
    return out
"""
    plain, compiled = compiled_source(source)
    agree(plain, compiled, _tensor(), RNG.random((5, 7)), RNG.random((4, 7)))


def test_tensors_with_coordinates_outside_are_refused() -> None:
    _, compiled = compiled_source(operator("T", "T.toarray()"))
    tensor = _tensor()
    compiled(tensor)
    tensor.coords[1][3] = 5
    with pytest.raises(ValueError, match="index values"):
        compiled(tensor)


def test_sparse_arrays_of_one_dimension() -> None:
    plain, compiled = compiled_source(
        operator("L, x", "(L * 2, L @ x, L[4], L[1:5], L[[4, 0]], L[::2], L.toarray(), L.dot(x), L.copy(), -L, L.shape)")
    )
    line = sp.coo_array((np.array([1.0, 2, 3]), (np.array([0, 4, 3]),)), shape=(6,))
    agree(plain, compiled, line, np.arange(6.0))


def test_sums_of_tensors_are_scipys() -> None:
    plain, compiled = compiled_source(operator("T", "(T.sum(), T.sum(axis=0))"), fallback="silent")
    agree(plain, compiled, _tensor())
