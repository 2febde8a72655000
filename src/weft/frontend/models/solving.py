"""Functions over sparse matrices that are no methods: triangular systems, stacks, diagonals."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.frontend.models import kernels
from weft.frontend.models.formats import COO, CSC, CSR
from weft.frontend.models.primitives import covered, equal_sizes, holds, is_number, or_python


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
    """A matrix above another one: in their format if both are compressed alike, else entries with coordinates."""
    covered(upper.is_array == lower.is_array, "a stack of both interfaces")
    equal_sizes(upper.columns, lower.columns)
    rows = upper.rows + lower.rows
    if upper.format == "csr" and lower.format == "csr":
        indptr, indices, data = kernels.stacked(upper, lower)
        return CSR(indptr, indices, data, rows, upper.columns, upper.is_array, False)
    if upper.format == "csc" and lower.format == "csc":
        indptr, indices, data = kernels.beside(upper, lower)
        return CSC(indptr, indices, data, rows, upper.columns, upper.is_array, False)
    first, second = upper.tocoo(), lower.tocoo()
    index = np.result_type(first.row, second.row)
    offset = holds(upper.rows, index) if rows > 0 else 0
    row = np.concatenate((first.row.astype(index), second.row.astype(index) + index.type(offset)))
    col = np.concatenate((first.col.astype(index), second.col.astype(index)))
    return COO(row, col, np.concatenate((first.data, second.data)), rows, upper.columns, upper.is_array, False)


def side_by_side(left: Any, right: Any) -> Any:
    covered(left.is_array == right.is_array, "a stack of both interfaces")
    equal_sizes(left.rows, right.rows)
    if left.format == "csc" and right.format == "csc":
        indptr, indices, data = kernels.stacked(left, right)
        return CSC(indptr, indices, data, left.rows, left.columns + right.columns, left.is_array, False)
    if left.format == "csr" and right.format == "csr":
        indptr, indices, data = kernels.beside(left, right)
        return CSR(indptr, indices, data, left.rows, left.columns + right.columns, left.is_array, False)
    return on_top(left.tocoo().transpose(), right.tocoo().transpose()).transpose()


def triangle(matrix: Any, k: int, lower: bool) -> Any:
    """The entries on and below (above) a diagonal."""
    entries = matrix.tocoo()
    shifted = entries.row + k
    keep = shifted >= entries.col if lower else shifted <= entries.col
    row, col, data = entries.row[keep], entries.col[keep], entries.data[keep]
    return COO(row, col, data, matrix.rows, matrix.columns, matrix.is_array, entries.in_order)


def kronecker(left: Any, right: Any) -> Any:
    """Every entry of one matrix times every entry of another; of a right one that is mostly zero."""
    covered(left.is_array == right.is_array, "a product of both interfaces")
    first, second = left.tocoo(), right.tocoo()
    one, other = len(first.data), len(second.data)
    or_python(one > 0 and other > 0, "a product without entries")
    or_python(2 * other < right.rows * right.columns, "a product with a matrix that is hardly sparse")
    rows, columns = left.rows * right.rows, left.columns * right.columns
    row = np.empty(one * other, first.row.dtype)
    col = np.empty(one * other, first.row.dtype)
    holds(max(rows, columns), first.row.dtype)
    data = np.empty(one * other, np.result_type(first.data, second.data))
    for p in range(one):
        for q in range(other):
            row[p * other + q] = int(first.row[p]) * right.rows + int(second.row[q])
            col[p * other + q] = int(first.col[p]) * right.columns + int(second.col[q])
            data[p * other + q] = first.data[p] * second.data[q]
    return COO(row, col, data, rows, columns, left.is_array, False)


def found(matrix: Any) -> Any:
    """Rows, columns and values of the elements that are not zero, row by row."""
    entries = matrix.tocsr().without_duplicates().tocoo()
    keep = entries.data != 0
    return entries.row[keep], entries.col[keep], entries.data[keep]


def norm(matrix: Any) -> Any:
    kept = matrix.compressed().stored_once()
    return np.linalg.norm(kept.data)


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
