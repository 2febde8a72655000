"""Operators over the formats BSR, DIA and COO, sparse arrays of one and of three dimensions, and functions of
scipy.sparse over matrices, against SciPy: classes, dtypes and entries of the results."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from tests.sparse.sparse_support import agree, compiled_source, operator, random_sparse, sp

ROWS, COLUMNS = 24, 18
RNG = np.random.default_rng(8)
DENSE, COLUMN = RNG.random((ROWS, COLUMNS)) + 0.5, RNG.random((ROWS, 1)) + 0.5


def _matrix(kind: str) -> Any:
    form = kind.split("_")[0]
    if form == "bsr":
        return getattr(sp, kind)(random_sparse("csr_array", (ROWS, COLUMNS)), blocksize=(2, 3))
    if form == "dia":
        bands = np.arange(1.0, 1 + 3 * COLUMNS).reshape(3, COLUMNS)
        return getattr(sp, kind)((bands, [0, 2, -3]), shape=(ROWS, COLUMNS))
    return random_sparse(kind, (ROWS, COLUMNS))


#: A few results of one function each, in the formats of which they say something.
OPERATORS = {
    "(S * 2, -S, S / 3)": ["bsr_array", "dia_matrix"],
    "(S.astype(np.float32), S.power(2), abs(S))": ["bsr_matrix", "dia_array", "coo_array"],
    "(S.multiply(D), S / c)": ["bsr_array", "dia_matrix"],
    "(D - S, S < D)": ["bsr_matrix", "coo_matrix"],
    "(S + S, S.multiply(S))": ["bsr_array", "dia_array"],
    "S @ S.T": ["bsr_array", "dia_matrix"],
    "S.maximum(-S)": ["bsr_matrix", "dia_array"],
    "(S.tocoo() * 1, S.T.copy(), S.nonzero())": ["bsr_array", "dia_array"],
    "(S.sum(axis=0), S.diagonal(k=-2), S.trace(offset=1))": ["csc_array", "coo_matrix", "dia_array"],
}


@pytest.mark.parametrize(("expression", "kind"), [(text, kind) for text, kinds in OPERATORS.items() for kind in kinds])
def test_operators(expression: str, kind: str) -> None:
    plain, compiled = compiled_source(operator("S, D, c", expression))
    agree(plain, compiled, _matrix(kind), DENSE, COLUMN)


FUNCTIONS = {
    "(sp.tril(S), sp.triu(S, 1, format='csr'))": ["csr_array", "coo_matrix"],
    "(sp.vstack([S, S * 2]), sp.hstack([S, S]))": ["csr_array", "csc_matrix", "coo_array"],
    "sp.kron(S, S)": ["csr_matrix"],
    "(sp.csr_array(S) * 2, sp.csc_matrix(S) * 1.5, sp.issparse(S), S.count_nonzero())": ["csr_array", "coo_array"],
}


@pytest.mark.parametrize(("expression", "kind"), [(text, kind) for text, kinds in FUNCTIONS.items() for kind in kinds])
def test_functions_over_matrices(expression: str, kind: str) -> None:
    plain, compiled = compiled_source(operator("S", expression))
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
    one, other = (random_sparse(kind, (9, 7), density=0.6, seed=len(kind)) for kind in ("csr_array", "csr_matrix"))
    other.data[0] = 0.0
    one.data[1] = 0.0
    agree(plain, compiled, one, other)


def test_products_of_matrices_that_are_hardly_sparse() -> None:
    """By the library where that is faster, unless a zero would meet an infinity; `explain` shows the choice."""
    plain, compiled = compiled_source(operator("S, T", "S @ T"))
    for density in (0.02, 0.6):
        one = random_sparse("csr_array", (40, 50), density=density)
        other = random_sparse("csr_array", (50, 45), density=density, seed=4)
        agree(plain, compiled, one, other)
        for bad in (np.inf, np.nan):
            one.data[0] = bad
            agree(plain, compiled, one, other)
    choice = re.compile(r"\d \* indices\.shape\[0\] \* indices_2\.shape\[0\] > ")
    assert choice.search(str(compiled.explain()))
    _, strict = compiled_source(operator("S, T", "S @ T"), fp="strict")
    strict(one, other)
    assert not choice.search(str(strict.explain()))


def _tensor() -> Any:
    places = tuple(RNG.integers(0, extent, 30).astype(np.int32) for extent in (6, 5, 4))
    return sp.coo_array((RNG.random(30), places), shape=(6, 5, 4))


def test_tensors() -> None:
    plain, compiled = compiled_source(
        operator("T", "(T * 2, T.toarray(), -T, T.copy(), T.nnz, T.size, T.shape, T.data.sum(), T.coords[1] + 2)")
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
        operator("L, x", "(L * 2, L @ x, L[4], L[1:5], L[[4, 0]], L[::2], L.toarray(), L.dot(x), -L, L.shape)")
    )
    line = sp.coo_array((np.array([1.0, 2, 3]), (np.array([0, 4, 3]),)), shape=(6,))
    agree(plain, compiled, line, np.arange(6.0))


def test_sums_of_tensors_are_scipys() -> None:
    plain, compiled = compiled_source(operator("T", "(T.sum(), T.sum(axis=0))"), fallback="silent")
    agree(plain, compiled, _tensor())
