"""Functions over sparse matrices that are no methods: triangular systems, stacks, chosen rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.frontend.models import kernels
from weft.frontend.models.formats import CSC, CSR
from weft.frontend.models.primitives import covered, equal_sizes, is_number, or_python


def solved(matrix: Any, right: Any, lower: bool) -> Any:
    """The solution x of matrix @ x == right, of a triangular matrix with a whole diagonal; else the library looks."""
    covered(matrix.format == "csr" or matrix.format == "csc", "a triangular matrix of another format")
    covered(right.ndim == 1 or right.ndim == 2, "a right side of more than two dimensions")
    equal_sizes(matrix.rows, matrix.columns)
    equal_sizes(matrix.rows, right.shape[0])
    dtype = np.promote_types(np.promote_types(matrix.data.dtype, np.float32), right.dtype)
    size = matrix.rows
    diagonal = matrix.diagonal().astype(dtype)
    or_python((diagonal != 0).all(), "a triangular matrix with a zero on its diagonal")
    columns = right if right.ndim == 2 else right[:, None]
    result = columns.astype(dtype)
    by_row = matrix.format == "csr"
    below = lower if by_row else not lower
    for step in range(size):
        i = step if lower else size - 1 - step
        if not by_row:
            for k in range(columns.shape[1]):
                result[i, k] /= diagonal[i]
        for p in range(matrix.indptr[i], matrix.indptr[i + 1]):
            j = int(matrix.indices[p])
            or_python(j <= i if below else j >= i, "a matrix that is not triangular")
            if j != i:
                for k in range(columns.shape[1]):
                    if by_row:
                        result[i, k] -= matrix.data[p] * result[j, k]
                    else:
                        result[j, k] -= matrix.data[p] * result[i, k]
        if by_row:
            for k in range(columns.shape[1]):
                result[i, k] /= diagonal[i]
    return result if right.ndim == 2 else result[:, 0].copy()


def on_top(upper: Any, lower: Any) -> Any:
    covered(upper.format == "csr" and lower.format == "csr", "a stack of other formats than CSR")
    covered(upper.is_array == lower.is_array, "a stack of both interfaces")
    equal_sizes(upper.columns, lower.columns)
    indptr, indices, data = kernels.stacked(upper, lower)
    return CSR(indptr, indices, data, upper.rows + lower.rows, upper.columns, upper.is_array, False)


def side_by_side(left: Any, right: Any) -> Any:
    covered(left.format == "csc" and right.format == "csc", "matrices side by side of other formats than CSC")
    covered(left.is_array == right.is_array, "a stack of both interfaces")
    equal_sizes(left.rows, right.rows)
    indptr, indices, data = kernels.stacked(left, right)
    return CSC(indptr, indices, data, left.rows, left.columns + right.columns, left.is_array, False)


def chosen_rows(matrix: Any, which: Any) -> Any:
    """matrix[which] of an array of integers, which may count from the end."""
    covered(matrix.format == "csr", "rows of a matrix that is not CSR, or columns of one that is not CSC")
    or_python(((which >= -matrix.rows) & (which < matrix.rows)).all(), "an index out of range")
    return matrix.chosen_rows(np.where(which < 0, which + matrix.rows, which))


def masked_rows(matrix: Any, mask: Any) -> Any:
    """matrix[mask] of an array of truth values."""
    covered(matrix.format == "csr", "rows of a matrix that is not CSR, or columns of one that is not CSC")
    equal_sizes(matrix.rows, mask.shape[0])
    return matrix.chosen_rows(np.flatnonzero(mask))


def extent(places: Any) -> Any:
    """The size that coordinates ask for."""
    or_python(len(places) > 0, "a sparse matrix without entries, of no shape")
    return int(places.max()) + 1


def put(data: Any, number: int, diagonal: Any, offset: int, rows: int, columns: int) -> None:
    """A diagonal into its row of the array of diagonals, from the column on where it begins."""
    length = min(rows + offset, columns - offset, rows, columns)
    first = max(0, offset)
    or_python(length >= 0, "a diagonal outside of the matrix")
    if is_number(diagonal):
        for i in range(length):
            data[number, first + i] = diagonal
    else:
        or_python(len(diagonal) >= length, "a diagonal that is too short")
        for i in range(length):
            data[number, first + i] = diagonal[i]
