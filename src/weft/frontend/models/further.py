"""Formats besides: BSR and DIA.  Products with dense operands, and operators that keep the format, are theirs; all else
goes by way of CSR."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from weft.frontend.models import products
from weft.frontend.models.formats import COO, CSR
from weft.frontend.models.primitives import (
    covered,
    equal_sizes,
    holds,
    is_dense,
    is_number,
    larger,
    or_python,
    ordered_or_python,
    stretches,
)
from weft.frontend.models.sparse import Sparse


class Converted(Sparse):
    """A format whose operators are mostly those of CSR."""

    times: Any  # the product with a dense operand

    def tocsc(self) -> Any:
        return self.tocsr().tocsc()

    def compressed(self) -> Any:
        return self.tocsr()

    def sum_rows(self) -> Any:
        return self.tocsr().sum_rows()

    def dense_product(self, other: Any) -> Any:
        covered(self.data.dtype != np.bool_, "a product of truth values")
        equal_sizes(self.columns, other.shape[0])
        if other.ndim == 1:
            return self.times(other[:, None])[:, 0]
        covered(other.ndim == 2, "a product with more than two dimensions")
        return self.times(other)

    def with_csr(self, other: Any, combine: Any) -> Any:
        """combine(a, b) of the elements of two operands, as CSR."""
        left = self.tocsr()
        right = other.tocsr()
        return left.elementwise(right, combine, np.result_type(self.data, other.data))

    def related(self, other: Any, test: Any) -> Any:
        return self.tocsr().related(other, test)

    def maximum(self, other: Any) -> Any:
        return self.tocsr().maximum(other)

    def minimum(self, other: Any) -> Any:
        return self.tocsr().minimum(other)


@dataclass(frozen=True)
class BSR(Converted):
    """Row i of blocks holds the blocks indptr[i] to indptr[i + 1]: values `data`, columns of blocks `indices`."""

    indptr: Any
    indices: Any
    data: Any
    rows: Any
    columns: Any
    is_array: bool
    in_order: Any = False
    format = "bsr"

    @property
    def nnz(self) -> Any:
        return int(self.indptr[len(self.indptr) - 1]) * self.data.shape[1] * self.data.shape[2]

    def with_data(self, data: Any) -> Any:
        return BSR(self.indptr, self.indices, data, self.rows, self.columns, self.is_array, self.in_order)

    def canonical(self) -> Any:
        ordered_or_python(self.indptr, self.indices)
        return self

    def times_elements(self, dense: Any) -> Any:
        return self.tocsr().times_elements(dense)

    def joined(self, other: Any, combine: Any) -> Any:
        """combine(a, b) of the elements of two operands, in blocks of this one's size."""
        return self.in_blocks(self.with_csr(other, combine))

    def in_blocks(self, matrix: Any) -> Any:
        """A matrix in compressed rows as blocks of this one's size: those with an entry, in order."""
        height, width = self.data.shape[1], self.data.shape[2]
        across = self.columns // width
        seen = np.full(across, -1, np.int64)
        indptr = np.zeros(len(self.indptr), matrix.indptr.dtype)
        count = 0
        for i in range(len(indptr) - 1):
            for p in range(matrix.indptr[i * height], matrix.indptr[i * height + height]):
                if seen[matrix.indices[p] // width] != i:
                    seen[matrix.indices[p] // width] = i
                    count += 1
            indptr[i + 1] = count
        indices = np.empty(count, matrix.indices.dtype)
        data = np.zeros((count, height, width), matrix.data.dtype)
        place = np.full(across, -1, np.int64)
        free = 0
        for i in range(len(indptr) - 1):
            begin = free
            for r in range(height):
                for p in range(matrix.indptr[i * height + r], matrix.indptr[i * height + r + 1]):
                    at = int(matrix.indices[p]) // width
                    if place[at] < begin:
                        place[at] = free
                        indices[free] = at
                        free += 1
                    data[place[at], r, int(matrix.indices[p]) % width] += matrix.data[p]
        return BSR(indptr, indices, data, self.rows, self.columns, self.is_array, False)

    def transpose(self) -> Any:
        """Where each block goes, then each block by itself."""
        turned = self.block_numbers().tocsc()
        data = self.data[turned.data].transpose(0, 2, 1).copy()
        return BSR(turned.indptr, turned.indices, data, self.columns, self.rows, self.is_array, False)

    def block_numbers(self) -> Any:
        """A matrix with one entry for each block: which block it is."""
        numbers = np.arange(len(self.indices))
        height, width = self.data.shape[1], self.data.shape[2]
        return CSR(
            self.indptr, self.indices, numbers, self.rows // height, self.columns // width, self.is_array, False
        )

    def times(self, dense: Any) -> Any:
        height, width = self.data.shape[1], self.data.shape[2]
        result = np.zeros((self.rows, dense.shape[1]), np.result_type(self.data, dense))
        for i in range(len(self.indptr) - 1):
            for p in range(self.indptr[i], self.indptr[i + 1]):
                j = int(self.indices[p])
                for r in range(height):
                    for c in range(width):
                        for k in range(dense.shape[1]):
                            result[i * height + r, k] += self.data[p, r, c] * dense[j * width + c, k]
        return result

    def __matmul__(self, other: Any) -> Any:
        if is_dense(other):
            return self.dense_product(other)
        covered(not is_number(other) and other.format == "bsr", "a product of blocks with another format")
        equal_sizes(self.columns, other.rows)
        or_python(self.data.shape[2] == other.data.shape[1], "a product of blocks that do not fit")
        return self.times_blocks(other)

    def times_blocks(self, other: Any) -> Any:
        """Where blocks are, then their sums of products."""
        height, inner, width = self.data.shape[1], self.data.shape[2], other.data.shape[2]
        indptr, indices, _ = products.row_products(self.block_numbers(), other.block_numbers())
        data = np.zeros((len(indices), height, width), np.result_type(self.data, other.data))
        place = np.zeros(other.columns // width, np.int64)
        for i in range(len(self.indptr) - 1):
            for p in range(indptr[i], indptr[i + 1]):
                place[indices[p]] = p
            for p in range(self.indptr[i], self.indptr[i + 1]):
                j = int(self.indices[p])
                for q in range(other.indptr[j], other.indptr[j + 1]):
                    at = int(place[other.indices[q]])
                    for r in range(height):
                        for k in range(inner):
                            for c in range(width):
                                data[at, r, c] += self.data[p, r, k] * other.data[q, k, c]
        return BSR(indptr, indices, data, self.rows, other.columns, self.is_array, False)

    def toarray(self) -> Any:
        height, width = self.data.shape[1], self.data.shape[2]
        result = np.zeros((self.rows, self.columns), self.data.dtype)
        for i in range(len(self.indptr) - 1):
            for p in range(self.indptr[i], self.indptr[i + 1]):
                j = int(self.indices[p])
                for r in range(height):
                    for c in range(width):
                        result[i * height + r, j * width + c] += self.data[p, r, c]
        return result

    def tocsr(self) -> Any:
        height, width = self.data.shape[1], self.data.shape[2]
        count = int(self.indptr[len(self.indptr) - 1]) * height * width
        indptr = np.zeros(self.rows + 1, self.indptr.dtype)
        indices = np.empty(holds(count, self.indices.dtype), self.indices.dtype)
        data = np.empty(count, self.data.dtype)
        place = 0
        for i in range(len(self.indptr) - 1):
            for r in range(height):
                for p in range(self.indptr[i], self.indptr[i + 1]):
                    for c in range(width):
                        indices[place] = self.indices[p] * width + c
                        data[place] = self.data[p, r, c]
                        place += 1
                indptr[i * height + r + 1] = place
        return CSR(indptr, indices, data, self.rows, self.columns, self.is_array, self.in_order)

    def tocoo(self) -> Any:
        """Block by block, as the library has them."""
        height, width = self.data.shape[1], self.data.shape[2]
        count = int(self.indptr[len(self.indptr) - 1]) * height * width
        row = np.empty(count, self.indices.dtype)
        col = np.empty(count, self.indices.dtype)
        data = np.empty(count, self.data.dtype)
        place = 0
        for i in range(len(self.indptr) - 1):
            for p in range(self.indptr[i], self.indptr[i + 1]):
                for r in range(height):
                    for c in range(width):
                        row[place] = i * height + r
                        col[place] = self.indices[p] * width + c
                        data[place] = self.data[p, r, c]
                        place += 1
        return COO(row, col, data, self.rows, self.columns, self.is_array, False)

    def sum(self, axis: Any = None) -> Any:
        covered(self.is_array or axis is not None, "the sum of all blocks of the matrix interface")
        return self.tocsr().sum(axis)

    def diagonal(self, k: int = 0) -> Any:
        return self.tocsr().diagonal(k)


@dataclass(frozen=True)
class DIA(Converted):
    """data[d, j] stands in column j, on the diagonal offsets[d]: in row j - offsets[d]."""

    offsets: Any
    data: Any
    rows: Any
    columns: Any
    is_array: bool
    in_order: Any = True
    format = "dia"

    @property
    def nnz(self) -> Any:
        width = min(self.data.shape[1], self.columns)
        count = 0
        for d in range(len(self.offsets)):
            k = int(self.offsets[d])
            count += max(min(self.rows + k, width) - max(k, 0), 0)
        return count

    def with_data(self, data: Any) -> Any:
        return DIA(self.offsets, data, self.rows, self.columns, self.is_array)

    def canonical(self) -> Any:
        return self

    def transpose(self) -> Any:
        width = min(self.data.shape[1], self.columns)
        data = np.zeros((len(self.offsets), self.rows), self.data.dtype)
        for d in range(len(self.offsets)):
            k = int(self.offsets[d])
            for j in range(max(k, 0), min(self.rows + k, width)):
                data[d, j - k] = self.data[d, j]
        return DIA(-self.offsets, data, self.columns, self.rows, self.is_array)

    def times(self, dense: Any) -> Any:
        width = min(self.data.shape[1], self.columns)
        result = np.zeros((self.rows, dense.shape[1]), np.result_type(self.data, dense))
        for d in range(len(self.offsets)):
            k = int(self.offsets[d])
            for j in range(max(k, 0), min(self.rows + k, width)):
                for c in range(dense.shape[1]):
                    result[j - k, c] += self.data[d, j] * dense[j, c]
        return result

    def toarray(self) -> Any:
        width = min(self.data.shape[1], self.columns)
        result = np.zeros((self.rows, self.columns), self.data.dtype)
        for d in range(len(self.offsets)):
            k = int(self.offsets[d])
            for j in range(max(k, 0), min(self.rows + k, width)):
                result[j - k, j] += self.data[d, j]
        return result

    def tocsr(self) -> Any:
        """SciPy leaves out the zeros."""
        width = min(self.data.shape[1], self.columns)
        order = np.argsort(self.offsets)
        room = self.nnz
        indptr = np.zeros(holds(self.rows, np.int32) + 1, np.int32)
        indices = np.empty(holds(room, np.int32), np.int32)
        data = np.empty(room, self.data.dtype)
        count = 0
        for i in range(self.rows):
            for d in range(len(order)):
                j = i + int(self.offsets[order[d]])
                if 0 <= j < width and self.data[order[d], j] != 0:
                    indices[count] = j
                    data[count] = self.data[order[d], j]
                    count += 1
            indptr[i + 1] = count
        return CSR(indptr, indices[:count].copy(), data[:count].copy(), self.rows, self.columns, self.is_array)

    def tocoo(self) -> Any:
        return self.tocsr().tocoo()

    def diagonal(self, k: int = 0) -> Any:
        return self.tocsr().diagonal(k)

    def sum(self, axis: Any = None) -> Any:
        or_python(self.data.shape[1] <= self.columns, "diagonals that are longer than the matrix")
        return self.tocsr().sum(axis)

    def alike(self, other: Any) -> bool:
        """Whether another matrix of diagonals has the same ones."""
        if len(self.offsets) != len(other.offsets) or self.data.shape[1] != other.data.shape[1]:
            return False
        return bool((self.offsets == other.offsets).all())

    def joined(self, other: Any, combine: Any) -> Any:
        """combine(a, b) of the elements of two operands: diagonal by diagonal, if both have the same ones."""
        equal_sizes(self.rows, other.rows)
        equal_sizes(self.columns, other.columns)
        if other.format == "dia" and not other.is_diagonal:
            or_python(self.alike(other), "an operator of different diagonals")
            return self.with_data(combine(self.data, other.data))
        return self.with_csr(other, combine)

    def times_elements(self, dense: Any) -> Any:
        """The stored elements times those of the dense operand, of which extents of 1 are broadcast."""
        larger(self.rows, 1)
        larger(self.columns, 1)
        width = min(self.data.shape[1], self.columns)
        data = np.zeros((len(self.offsets), width), np.result_type(self.data, dense))
        other = dense if dense.ndim == 2 else dense[None, :]
        if not stretches(other.shape[0]):
            equal_sizes(self.rows, other.shape[0])
        if not stretches(other.shape[1]):
            equal_sizes(self.columns, other.shape[1])
        for d in range(len(self.offsets)):
            k = int(self.offsets[d])
            for j in range(max(k, 0), min(self.rows + k, width)):
                i = 0 if stretches(other.shape[0]) else j - k
                c = 0 if stretches(other.shape[1]) else j
                data[d, j] = self.data[d, j] * other[i, c]
        return DIA(self.offsets, data, self.rows, self.columns, self.is_array)

    def __matmul__(self, other: Any) -> Any:
        if is_dense(other):
            return self.dense_product(other)
        covered(not is_number(other), "a product with a number")
        if other.format == "dia" and not other.is_diagonal:
            equal_sizes(self.columns, other.rows)
            return self.times_diagonals(other)
        return self.tocsr() @ other

    def times_diagonals(self, other: Any) -> Any:
        """Each diagonal by each: the sum of their offsets is where the products go."""
        or_python(
            self.data.shape[1] == self.columns and other.data.shape[1] == other.columns, "diagonals of other lengths"
        )
        rows, columns = self.rows, other.columns
        place = np.zeros(rows + columns, np.int64)
        for d in range(len(self.offsets)):
            for e in range(len(other.offsets)):
                k = int(self.offsets[d]) + int(other.offsets[e])
                if -rows < k < columns:
                    place[k + rows] = 1
        offsets = (np.flatnonzero(place) - rows).astype(np.int32)
        or_python(len(offsets) > 0, "a product without diagonals")
        for d in range(len(offsets)):
            place[offsets[d] + rows] = d
        data = np.zeros((len(offsets), columns), np.result_type(self.data, other.data))
        for d in range(len(self.offsets)):
            for e in range(len(other.offsets)):
                step = int(other.offsets[e])
                k = int(self.offsets[d]) + step
                if -rows < k < columns:
                    at = int(place[k + rows])
                    for j in range(max(0, k, step), min(columns, rows + k, self.columns + step)):
                        data[at, j] += self.data[d, j - step] * other.data[e, j]
        return DIA(offsets, data, rows, columns, self.is_array)
