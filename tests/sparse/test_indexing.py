"""Parts of sparse matrices and arrays against SciPy: elements, rows, columns, slices, arrays and masks as indices, in
every format that has indices, both interfaces."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.sparse.sparse_support import agree, compiled_source, operator, random_sparse, same

ROWS, COLUMNS = 24, 18
ROW_PLACES, COLUMN_PLACES = np.array([3, 0, -1, 3]), np.array([2, -3, 5, 2, 7])
ROW_MASK, COLUMN_MASK = np.arange(ROWS) % 3 == 1, np.arange(COLUMNS) % 4 > 1
ARGUMENTS = (4, 5, ROW_PLACES, COLUMN_PLACES, ROW_MASK, COLUMN_MASK)
PARAMETERS = "S, i, j, r, c, m, n"

#: A few parts at once, in the formats of which they say something: a function each would take long to compile.
PARTS = {
    "(S[i], S[2:7], S[5:2], S[::-1])": ["csr_array", "csr_matrix", "csc_array", "coo_array"],
    "(S[i, :], S[-2], S[-5:], S[:0], S[2:20:3])": ["csc_matrix", "coo_array"],
    "(S[:, j], S[:, 2:9], S[:, ::-1])": ["csr_array", "csr_matrix", "coo_array"],
    "(S[:, -1], S[:, ::2])": ["csc_array", "csc_matrix"],
    "(S[i, j], S[2:9:2, 3:7:2], S[i, 2:9], S[2:9, j])": ["csr_matrix", "csc_array"],
    "(S[-i, -j], S[2:9, 3:7], S[:], S[...])": ["csr_array", "coo_array"],
    "(S[r], S[:, c], S[[1, 2]])": ["csr_array", "csc_matrix", "coo_array"],
    "(S[r][:, c], S[np.ix_(r, c)])": ["csr_matrix", "csc_array"],
    "(S[m], S[:, n], S[r, c[:4]])": ["csr_array", "csr_matrix", "csc_array", "coo_array"],
    "(S[i, c], S[r, j], S[r, 1:5], S[2:9:2, c])": ["csr_array", "csc_matrix", "coo_array"],
}


@pytest.mark.parametrize(("parts", "kind"), [(parts, kind) for parts, kinds in PARTS.items() for kind in kinds])
def test_parts(parts: str, kind: str) -> None:
    plain, compiled = compiled_source(operator(PARAMETERS, parts))
    agree(plain, compiled, random_sparse(kind, (ROWS, COLUMNS)), *ARGUMENTS)


@pytest.mark.parametrize("kind", ["csr_array", "csc_array"])
def test_parts_of_matrices_with_wide_indices_or_without_entries(kind: str) -> None:
    plain, compiled = compiled_source(operator(PARAMETERS, "(S[i], S[2:9, 1:5], S[r], S[:, c], S[m], S[i, j])"))
    wide = random_sparse(kind, (ROWS, COLUMNS))
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    agree(plain, compiled, wide, *ARGUMENTS)
    agree(plain, compiled, random_sparse(kind, (ROWS, COLUMNS), density=0.0), *ARGUMENTS)
    none = np.zeros(0, np.int64)
    agree(plain, compiled, wide, 4, 5, none, none, ROW_MASK, COLUMN_MASK)


def test_entries_out_of_order_and_stored_twice() -> None:
    plain, compiled = compiled_source(operator(PARAMETERS, "(S[i, j], S[r], S[:, c], S[::2, ::2], S[r, c[:4]])"))
    matrix = random_sparse("csr_array", (ROWS, COLUMNS))
    for row in range(ROWS):
        begin, end = matrix.indptr[row : row + 2]
        matrix.indices[begin:end] = matrix.indices[begin:end][::-1]
        matrix.indices[begin:end] -= matrix.indices[begin:end] % 2
    matrix.has_sorted_indices = matrix.has_canonical_format = False
    agree(plain, compiled, matrix, *ARGUMENTS)


@pytest.mark.parametrize(
    ("expression", "key"), [("S[i]", 24), ("S[i, 0]", -25), ("S[:, i]", 18), ("S[i]", np.array([1, 24]))]
)
def test_places_outside_are_scipys_error(expression: str, key: Any) -> None:
    plain, compiled = compiled_source(operator("S, i", expression), fallback="silent")
    matrix = random_sparse("csr_array", (ROWS, COLUMNS))
    with pytest.raises(IndexError) as expected:
        plain(matrix, key)
    with pytest.raises(IndexError) as actual:
        compiled(matrix, key)
    assert str(actual.value) == str(expected.value)


@pytest.mark.parametrize("kind", ["coo_matrix", "bsr_array", "dia_matrix"])
def test_formats_without_indices_are_scipys_error(kind: str) -> None:
    plain, compiled = compiled_source(operator("S", "S[1:3]"), fallback="silent")
    matrix = random_sparse(kind, (ROWS, COLUMNS))
    with pytest.raises((TypeError, NotImplementedError)) as expected:
        plain(matrix)
    with pytest.raises(expected.type) as actual:
        compiled(matrix)
    assert str(actual.value) == str(expected.value)


@pytest.mark.parametrize(
    ("expression", "key"),
    [("S[k, ::2]", np.array([1, 2, 3])), ("S[k]", np.zeros(ROWS - 1, bool)), ("S[:, None]", 0), ("S[k]", 1.5)],
)
def test_indices_without_a_native_form_are_scipys(expression: str, key: Any) -> None:
    plain, compiled = compiled_source(operator("S, k", expression), fallback="silent")
    matrix = random_sparse("csr_array", (ROWS, COLUMNS))
    try:
        expected = plain(matrix, key)
    except Exception as error:
        with pytest.raises(type(error)):
            compiled(matrix, key)
    else:
        same(compiled(matrix, key), expected)
