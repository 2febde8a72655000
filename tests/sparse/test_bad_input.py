"""Operands that do not fit and arrays that describe no matrix: SciPy's exception, or an error before anything is read
outside of an array."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.sparse.sparse_support import agree, compiled_source, operator, random_sparse, sp

ROWS, COLUMNS = 12, 9


@pytest.mark.parametrize("expression", ["S @ T", "S + T", "S.multiply(T)", "S / T", "sp.vstack([S, T])"])
def test_shapes_that_do_not_fit_are_scipys_error(expression: str) -> None:
    plain, compiled = compiled_source(operator("S, T", expression), fallback="silent")
    one, other = random_sparse("csr_array", (ROWS, COLUMNS)), random_sparse("csr_array", (ROWS + 2, COLUMNS - 1))
    with pytest.raises(ValueError) as expected:
        plain(one, other)
    with pytest.raises(ValueError) as actual:
        compiled(one, other)
    assert str(actual.value) == str(expected.value)


def _broken(kind: str, part: str, value: int) -> Any:
    matrix = random_sparse(kind, (ROWS, COLUMNS))
    array = matrix.coords[("row", "col").index(part)] if part in ("row", "col") else getattr(matrix, part)
    array[2] = value
    return matrix


@pytest.mark.parametrize("kind", ["csc_array", "coo_array", "bsr_matrix"])
def test_arrays_that_describe_no_matrix(kind: str) -> None:
    plain, compiled = compiled_source(operator("S, x", "S @ x"))
    agree(plain, compiled, random_sparse(kind, (ROWS, COLUMNS)), np.ones(COLUMNS))
    parts = ("row", "col") if kind.startswith("coo") else ("indices", "indptr")
    for part in parts:
        for value in (10**6, -4):
            with pytest.raises(ValueError, match=r"index (values|pointer)"):
                compiled(_broken(kind, part, value), np.ones(COLUMNS))


MADE = {
    "an index outside": ([0, 9, 1], [0, 1, 2, 3]),
    "a negative index": ([0, -1, 1], [0, 1, 2, 3]),
    "a pointer that goes down": ([0, 1, 2], [0, 2, 1, 3]),
    "a pointer beyond the entries": ([0, 1, 2], [0, 1, 2, 7]),
}


@pytest.mark.parametrize("case", MADE)
def test_a_matrix_made_of_bad_arrays_is_an_error(case: str) -> None:
    source = operator("d, j, p", "sp.csr_array((d * 1.0, j + 0, p + 0), shape=(3, 4)).toarray()")
    plain, compiled = compiled_source(source, fallback="silent")
    values, good = np.arange(3.0), (np.array([0, 1, 2]), np.array([0, 1, 2, 3]))
    agree(plain, compiled, values, *good)
    with pytest.raises(ValueError, match=r"index|Last value"):
        compiled(values, *map(np.array, MADE[case]))


def test_lengths_that_do_not_fit_are_scipys_error() -> None:
    source = operator("d, i, j", "sp.coo_array((d * 1.0, (i + 0, j + 0)), shape=(4, 5)).tocsr()")
    plain, compiled = compiled_source(source, fallback="silent")
    agree(plain, compiled, np.arange(3.0), np.array([0, 1, 1]), np.array([4, 2, 2]))
    with pytest.raises(ValueError) as expected:
        plain(np.arange(2.0), np.array([0, 1, 1]), np.array([4, 2, 2]))
    with pytest.raises(ValueError) as actual:
        compiled(np.arange(2.0), np.array([0, 1, 1]), np.array([4, 2, 2]))
    assert str(actual.value) == str(expected.value)
    assert sp.issparse(compiled(np.arange(3.0), np.array([3, 1, 1]), np.array([0, 0, 0])))
