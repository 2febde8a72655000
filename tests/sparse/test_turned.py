"""Entries of rows brought into columns: in order, out of order and stored twice, against SciPy."""

import numpy as np
import pytest
import scipy.sparse as sp

from weft.api import jit


def turned(S, w):
    return S.multiply(w).tocsc()


def _rows(kind, case, random):
    counts = random.integers(0, 6, 13)
    rows = [random.integers(0, 9, n) if case == "twice" else random.permutation(9)[:n] for n in counts]
    if case == "in order":
        rows = [np.sort(row) for row in rows]
    places = np.concatenate(rows)
    return kind((random.random(len(places)), places, np.concatenate(([0], np.cumsum(counts)))), shape=(13, 9))


@pytest.mark.parametrize("kind", [sp.csr_array, sp.csr_matrix])
def test_columns_of_scaled_rows(kind):
    random = np.random.default_rng(5)
    compiled = jit(fallback="error")(turned)
    weights = random.random((13, 1))
    for case in ("in order", "out of order", "twice"):
        matrix = _rows(kind, case, random)
        expected, result = turned(matrix.copy(), weights), compiled(matrix.copy(), weights)
        assert type(result) is type(expected) and result.shape == expected.shape
        for name in ("indptr", "indices"):
            np.testing.assert_array_equal(getattr(result, name), getattr(expected, name))
        np.testing.assert_allclose(result.data, expected.data, rtol=1e-14)
    assert compiled(kind((13, 9)), weights).nnz == 0


def ordered(S):
    return S.max(axis=1).toarray().ravel()


@pytest.mark.parametrize("case", ["in order", "first row out of order", "last row out of order", "equal neighbours"])
def test_order_is_seen_across_empty_rows(case):
    """What decides is each row alone: the last place of a row says nothing about the first of the next."""
    none = np.array([], int)
    places = [np.array([2, 5]), none, np.array([0, 1, 7]), np.array([7]), none, np.array([3, 8])]
    if case == "first row out of order":
        places[0] = np.array([5, 2])
    if case == "last row out of order":
        places[-1] = np.array([8, 3])
    if case == "equal neighbours":
        places[2] = np.array([0, 7, 7])
    pointer = np.concatenate(([0], np.cumsum([len(row) for row in places])))
    values = np.random.default_rng(2).random(pointer[-1]) - 0.5
    matrix = sp.csr_array((values, np.concatenate(places), pointer), shape=(6, 9))
    compiled = jit(ordered)
    np.testing.assert_allclose(compiled(matrix.copy()), ordered(matrix.copy()), rtol=1e-15)
