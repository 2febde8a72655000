"""Formats that arguments may have besides: BSR and DIA.  Products with dense operands are theirs, all else goes by way
of CSR."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from weft.frontend.models.formats import CSR
from weft.frontend.models.primitives import covered, equal_sizes, holds, is_dense, is_number
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

    def multiply(self, other: Any) -> Any:
        covered(is_number(other), "a product of this format element by element")
        return self.with_data(self.data * other)

    def times_elements(self, dense: Any) -> Any:
        covered(False, "a product of this format element by element")

    def joined(self, other: Any, combine: Any) -> Any:
        covered(False, "an operator of this format and another sparse operand")


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
        covered(False, "blocks that may be stored twice")
        return self

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
        covered(is_dense(other), "a product of blocks with a sparse operand")
        return self.dense_product(other)

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
        covered(False, "blocks as coordinates")

    def sum(self, axis: Any = None) -> Any:
        covered(self.is_array or axis is not None, "the sum of all blocks of the matrix interface")
        return self.tocsr().sum(axis)

    def diagonal(self) -> Any:
        return self.tocsr().diagonal()


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

    def diagonal(self) -> Any:
        return self.tocsr().diagonal()

    def sum(self, axis: Any = None) -> Any:
        return self.tocsr().sum(axis)

    def __matmul__(self, other: Any) -> Any:
        if is_dense(other):
            return self.dense_product(other)
        covered(not is_number(other) and other.format != "dia", "a product of diagonals")
        return self.tocsr() @ other
