"""SciPy's sparse matrices and arrays of two dimensions: CSR, CSC and COO, with the meaning of their operators.

The fields have SciPy's names. `is_array`: whether the object is of the array interface, where `*` is element by element.
The arrays of a new object are always its own, but for transposes, which share them as SciPy's do.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from weft.frontend.models.primitives import covered, equal_sizes, is_dense, is_number


class Sparse:
    """What all formats have in common, by way of `with_data`, `multiply` and `__matmul__`."""

    data: Any
    rows: Any
    columns: Any
    is_array: bool
    ndim = 2

    @property
    def shape(self) -> Any:
        return (self.rows, self.columns)

    @property
    def dtype(self) -> Any:
        return self.data.dtype

    @property
    def T(self) -> Any:
        return self.transpose()

    def __mul__(self, other: Any) -> Any:
        if self.is_array or is_number(other):
            return self.multiply(other)
        return self @ other

    def __rmul__(self, other: Any) -> Any:
        if self.is_array or is_number(other):
            return self.multiply(other)
        return other @ self

    def __truediv__(self, other: Any) -> Any:
        if is_number(other):
            covered(np.can_cast(self.data.dtype, np.float64), "a division of complex numbers")
            return self.with_data(self.data.astype(np.float64) * (1 / other))
        covered(is_dense(other), "a division of two sparse operands")
        return self.multiply(np.divide(1, other))

    def __rmatmul__(self, other: Any) -> Any:
        return (self.transpose() @ other.T).T

    def __neg__(self) -> Any:
        covered(self.data.dtype != np.bool_, "the negative of truth values")
        return self.with_data(-self.data)

    def __abs__(self) -> Any:
        return self.with_data(abs(self.data))

    def __sub__(self, other: Any) -> Any:
        if is_dense(other):
            return self.toarray() - other
        return self.combined(other, -1)

    def __rsub__(self, other: Any) -> Any:
        covered(is_dense(other), "a number minus a sparse operand")
        return other - self.toarray()

    def __add__(self, other: Any) -> Any:
        if is_dense(other):
            return self.toarray() + other
        return self.combined(other, 1)

    def __radd__(self, other: Any) -> Any:
        covered(is_dense(other), "a number plus a sparse operand")
        return other + self.toarray()

    def __pow__(self, exponent: Any) -> Any:
        covered(self.is_array, "a power of a matrix")
        return self.power(exponent)

    def dot(self, other: Any) -> Any:
        if is_number(other):
            return self.multiply(other)
        return self @ other

    def copy(self) -> Any:
        return self.with_data(self.data.copy())

    def conj(self) -> Any:
        return self.with_data(np.conj(self.data))

    def astype(self, dtype: Any) -> Any:
        return self.with_data(self.data.astype(dtype))

    def todense(self) -> Any:
        covered(self.is_array, "a result of class numpy.matrix")
        return self.toarray()

    def getnnz(self) -> Any:
        return self.nnz

    def power(self, n: Any) -> Any:
        return self.with_data(self.stored() ** n)

    def stored(self) -> Any:
        """The values, where those of equal places have been added: the library does that in place."""
        covered(self.has_canonical_format, "entries that are not in order, or stored twice")
        return self.data

    def sum(self, axis: Any = None) -> Any:
        if axis is None:
            return np.sum(self.data)
        covered(self.is_array, "a result of class numpy.matrix")
        return self.sum_rows() if axis == 1 or axis == -1 else self.transpose().sum_rows()

    def mean(self, axis: Any = None) -> Any:
        covered(self.data.dtype == np.float64, "the mean of this type")
        if axis is None:
            return np.sum(self.data) * (1.0 / (self.rows * self.columns))
        covered(self.is_array, "a result of class numpy.matrix")
        return self.sum(axis) * (1.0 / (self.columns if axis == 1 or axis == -1 else self.rows))

    def trace(self) -> Any:
        return self.diagonal().sum()


@dataclass(frozen=True)
class CSR(Sparse):
    """Row i holds the entries indptr[i] to indptr[i + 1]: values `data`, columns `indices`."""

    indptr: Any
    indices: Any
    data: Any
    rows: Any
    columns: Any
    is_array: bool
    has_canonical_format: bool = True
    format = "csr"

    @property
    def nnz(self) -> Any:
        return int(self.indptr[self.rows])

    def with_data(self, data: Any) -> Any:
        return CSR(
            self.indptr.copy(), self.indices.copy(), data, self.rows, self.columns, self.is_array,
            self.has_canonical_format,
        )  # fmt: skip

    def transpose(self) -> Any:
        return CSC(
            self.indptr, self.indices, self.data, self.columns, self.rows, self.is_array, self.has_canonical_format
        )

    def tocsr(self) -> Any:
        return self

    def tocsc(self) -> Any:
        return self.transpose().turned().transpose()

    def turned(self) -> Any:
        """The same matrix of the transpose's format: entries counted by column, then put in their places."""
        count = len(self.indices)
        indptr = np.zeros(self.columns + 1, self.indptr.dtype)
        for p in range(count):
            indptr[self.indices[p] + 1] += 1
        for j in range(self.columns):
            indptr[j + 1] += indptr[j]
        place = indptr.copy()
        indices = np.empty(count, self.indices.dtype)
        data = np.empty(count, self.data.dtype)
        for i in range(self.rows):
            for p in range(self.indptr[i], self.indptr[i + 1]):
                q = place[self.indices[p]]
                indices[q] = i
                data[q] = self.data[p]
                place[self.indices[p]] = q + 1
        return CSC(indptr, indices, data, self.rows, self.columns, self.is_array, self.has_canonical_format)

    def tocoo(self) -> Any:
        return COO(self.row_of(), self.indices.copy(), self.data.copy(), self.rows, self.columns, self.is_array)

    def row_of(self) -> Any:
        """The row of each entry."""
        row = np.empty(len(self.indices), self.indices.dtype)
        for i in range(self.rows):
            for p in range(self.indptr[i], self.indptr[i + 1]):
                row[p] = i
        return row

    def toarray(self) -> Any:
        result = np.zeros((self.rows, self.columns), self.data.dtype)
        for i in range(self.rows):
            for p in range(self.indptr[i], self.indptr[i + 1]):
                result[i, self.indices[p]] += self.data[p]
        return result

    def diagonal(self) -> Any:
        result = np.zeros(min(self.rows, self.columns), self.data.dtype)
        for i in range(min(self.rows, self.columns)):
            for p in range(self.indptr[i], self.indptr[i + 1]):
                if self.indices[p] == i:
                    result[i] += self.data[p]
        return result

    def sum_rows(self) -> Any:
        result = np.zeros(self.rows, np.sum(self.data[:0]).dtype)
        for i in range(self.rows):
            for p in range(self.indptr[i], self.indptr[i + 1]):
                result[i] += self.data[p]
        return result

    def __matmul__(self, other: Any) -> Any:
        covered(self.data.dtype != np.bool_, "a product of truth values")
        if is_dense(other):
            equal_sizes(self.columns, other.shape[0])
            if other.ndim == 1:
                return self.times_vector(other)
            covered(other.ndim == 2, "a product with more than two dimensions")
            return self.times_dense(other)
        covered(not is_number(other), "a product with a number")
        equal_sizes(self.columns, other.rows)
        return self.times_sparse(other.tocsr())

    def times_vector(self, vector: Any) -> Any:
        result = np.zeros(self.rows, np.result_type(self.data, vector))
        for i in range(self.rows):
            for p in range(self.indptr[i], self.indptr[i + 1]):
                result[i] += self.data[p] * vector[self.indices[p]]
        return result

    def times_dense(self, dense: Any) -> Any:
        result = np.zeros((self.rows, dense.shape[1]), np.result_type(self.data, dense))
        for i in range(self.rows):
            for p in range(self.indptr[i], self.indptr[i + 1]):
                for k in range(dense.shape[1]):
                    result[i, k] += self.data[p] * dense[self.indices[p], k]
        return result

    def times_sparse(self, other: Any) -> Any:
        """Gustavson's product: the entries of each row are counted first, then summed into a row of their own."""
        seen = np.full(other.columns, -1, np.int64)
        indptr = np.zeros(self.rows + 1, np.int64)
        for i in range(self.rows):
            count = 0
            for p in range(self.indptr[i], self.indptr[i + 1]):
                k = self.indices[p]
                for q in range(other.indptr[k], other.indptr[k + 1]):
                    j = other.indices[q]
                    if seen[j] != i:
                        seen[j] = i
                        count += 1
            indptr[i + 1] = indptr[i] + count
        total = int(indptr[self.rows])
        dtype = np.result_type(self.data, other.data)
        sums = np.zeros(other.columns, dtype)
        following = np.full(other.columns, -1, np.int64)
        indices = np.empty(total, np.int64)
        data = np.empty(total, dtype)
        place = 0
        for i in range(self.rows):
            head = -2
            length = 0
            for p in range(self.indptr[i], self.indptr[i + 1]):
                k = self.indices[p]
                value = self.data[p]
                for q in range(other.indptr[k], other.indptr[k + 1]):
                    j = int(other.indices[q])
                    sums[j] += value * other.data[q]
                    if following[j] == -1:
                        following[j] = head
                        head = j
                        length += 1
            for _ in range(length):
                indices[place] = head
                data[place] = sums[head]
                place += 1
                last = head
                head = int(following[last])
                following[last] = -1
                sums[last] = 0
        return CSR(indptr, indices, data, self.rows, other.columns, self.is_array, False)

    def multiply(self, other: Any) -> Any:
        if is_number(other):
            return self.with_data(self.data * other)
        if is_dense(other):
            return self.times_elements(other)
        covered(other.format == "csr", "operands of two formats")
        covered(self.has_canonical_format and other.has_canonical_format, "entries out of order or stored twice")
        equal_sizes(self.rows, other.rows)
        equal_sizes(self.columns, other.columns)
        return self.intersected(other)

    def times_elements(self, dense: Any) -> Any:
        """Only the stored entries meet an element of the dense operand, of which extents of 1 are broadcast."""
        data = np.empty(len(self.indices), np.result_type(self.data, dense))
        if dense.ndim == 1:
            equal_sizes(self.columns, dense.shape[0])
            for p in range(len(self.indices)):
                data[p] = self.data[p] * dense[self.indices[p]]
        elif dense.shape[1] == 1:
            equal_sizes(self.rows, dense.shape[0])
            for i in range(self.rows):
                for p in range(self.indptr[i], self.indptr[i + 1]):
                    data[p] = self.data[p] * dense[i, 0]
        elif dense.shape[0] == 1:
            equal_sizes(self.columns, dense.shape[1])
            for p in range(len(self.indices)):
                data[p] = self.data[p] * dense[0, self.indices[p]]
        else:
            equal_sizes(self.rows, dense.shape[0])
            equal_sizes(self.columns, dense.shape[1])
            for i in range(self.rows):
                for p in range(self.indptr[i], self.indptr[i + 1]):
                    data[p] = self.data[p] * dense[i, self.indices[p]]
        return COO(self.row_of(), self.indices.copy(), data, self.rows, self.columns, self.is_array)

    def intersected(self, other: Any) -> Any:
        """The products that are not zero, of entries that both have; rows are in order, so one walk over each does."""
        indptr = np.zeros(self.rows + 1, self.indptr.dtype)
        room = min(len(self.indices), len(other.indices))
        indices = np.empty(room, self.indices.dtype)
        data = np.empty(room, np.result_type(self.data, other.data))
        count = 0
        for i in range(self.rows):
            p, end = int(self.indptr[i]), int(self.indptr[i + 1])
            q, other_end = int(other.indptr[i]), int(other.indptr[i + 1])
            while p < end and q < other_end:
                left, right = self.indices[p], other.indices[q]
                if left == right:
                    value = self.data[p] * other.data[q]
                    if value != 0:
                        indices[count] = left
                        data[count] = value
                        count += 1
                    p += 1
                    q += 1
                elif left < right:
                    p += 1
                else:
                    q += 1
            indptr[i + 1] = count
        return CSR(indptr, indices[:count].copy(), data[:count].copy(), self.rows, self.columns, self.is_array)

    def combined(self, other: Any, sign: int) -> Any:
        """self + sign * other: entries of either, zeros dropped."""
        covered(not is_number(other), "a number added to a sparse operand")
        covered(other.format == "csr", "operands of two formats")
        covered(self.has_canonical_format and other.has_canonical_format, "entries out of order or stored twice")
        equal_sizes(self.rows, other.rows)
        equal_sizes(self.columns, other.columns)
        indptr = np.zeros(self.rows + 1, self.indptr.dtype)
        room = len(self.indices) + len(other.indices)
        indices = np.empty(room, self.indices.dtype)
        data = np.empty(room, np.result_type(self.data, other.data))
        zero = data.dtype.type(0)
        count = 0
        for i in range(self.rows):
            p, end = int(self.indptr[i]), int(self.indptr[i + 1])
            q, other_end = int(other.indptr[i]), int(other.indptr[i + 1])
            while p < end or q < other_end:
                left = int(self.indices[p]) if p < end else self.columns
                right = int(other.indices[q]) if q < other_end else self.columns
                value = zero
                if left <= right:
                    value += self.data[p]
                    p += 1
                if right <= left:
                    value += sign * other.data[q]
                    q += 1
                if value != 0:
                    indices[count] = min(left, right)
                    data[count] = value
                    count += 1
            indptr[i + 1] = count
        return CSR(indptr, indices[:count].copy(), data[:count].copy(), self.rows, self.columns, self.is_array)


@dataclass(frozen=True)
class CSC(Sparse):
    """Column j holds the entries indptr[j] to indptr[j + 1]: values `data`, rows `indices`."""

    indptr: Any
    indices: Any
    data: Any
    rows: Any
    columns: Any
    is_array: bool
    has_canonical_format: bool = True
    format = "csc"

    @property
    def nnz(self) -> Any:
        return int(self.indptr[self.columns])

    def with_data(self, data: Any) -> Any:
        return self.transpose().with_data(data).transpose()

    def transpose(self) -> Any:
        return CSR(
            self.indptr, self.indices, self.data, self.columns, self.rows, self.is_array, self.has_canonical_format
        )

    def tocsc(self) -> Any:
        return self

    def tocsr(self) -> Any:
        return self.transpose().turned().transpose()

    def tocoo(self) -> Any:
        return self.transpose().tocoo().transpose()

    def toarray(self) -> Any:
        result = np.zeros((self.rows, self.columns), self.data.dtype)
        for j in range(self.columns):
            for p in range(self.indptr[j], self.indptr[j + 1]):
                result[self.indices[p], j] += self.data[p]
        return result

    def diagonal(self) -> Any:
        return self.transpose().diagonal()

    def sum_rows(self) -> Any:
        result = np.zeros(self.rows, np.sum(self.data[:0]).dtype)
        for j in range(self.columns):
            for p in range(self.indptr[j], self.indptr[j + 1]):
                result[self.indices[p]] += self.data[p]
        return result

    def __matmul__(self, other: Any) -> Any:
        covered(self.data.dtype != np.bool_, "a product of truth values")
        if is_dense(other):
            equal_sizes(self.columns, other.shape[0])
            if other.ndim == 1:
                return self.times_vector(other)
            covered(other.ndim == 2, "a product with more than two dimensions")
            return self.times_dense(other)
        covered(not is_number(other), "a product with a number")
        equal_sizes(self.columns, other.rows)
        return (other.transpose().tocsr() @ self.transpose()).transpose()

    def times_vector(self, vector: Any) -> Any:
        result = np.zeros(self.rows, np.result_type(self.data, vector))
        for j in range(self.columns):
            for p in range(self.indptr[j], self.indptr[j + 1]):
                result[self.indices[p]] += self.data[p] * vector[j]
        return result

    def times_dense(self, dense: Any) -> Any:
        result = np.zeros((self.rows, dense.shape[1]), np.result_type(self.data, dense))
        for j in range(self.columns):
            for p in range(self.indptr[j], self.indptr[j + 1]):
                for k in range(dense.shape[1]):
                    result[self.indices[p], k] += self.data[p] * dense[j, k]
        return result

    def multiply(self, other: Any) -> Any:
        if is_number(other):
            return self.with_data(self.data * other)
        if is_dense(other):
            return self.tocoo().multiply(other)
        covered(other.format == "csc", "operands of two formats")
        return self.transpose().multiply(other.transpose()).transpose()

    def combined(self, other: Any, sign: int) -> Any:
        covered(not is_number(other), "a number added to a sparse operand")
        covered(other.format == "csc", "operands of two formats")
        return self.transpose().combined(other.transpose(), sign).transpose()


@dataclass(frozen=True)
class COO(Sparse):
    """Entry p has the value data[p] in row row[p] and column col[p]."""

    row: Any
    col: Any
    data: Any
    rows: Any
    columns: Any
    is_array: bool
    has_canonical_format: bool = True
    format = "coo"

    @property
    def nnz(self) -> Any:
        return len(self.data)

    def with_data(self, data: Any) -> Any:
        return COO(
            self.row.copy(), self.col.copy(), data, self.rows, self.columns, self.is_array, self.has_canonical_format
        )

    def transpose(self) -> Any:
        return COO(self.col, self.row, self.data, self.columns, self.rows, self.is_array, self.has_canonical_format)

    def toarray(self) -> Any:
        result = np.zeros((self.rows, self.columns), self.data.dtype)
        for p in range(len(self.data)):
            result[self.row[p], self.col[p]] += self.data[p]
        return result

    def diagonal(self) -> Any:
        result = np.zeros(min(self.rows, self.columns), self.data.dtype)
        for p in range(len(self.data)):
            if self.row[p] == self.col[p]:
                result[self.row[p]] += self.data[p]
        return result

    def sum_rows(self) -> Any:
        result = np.zeros(self.rows, np.sum(self.data[:0]).dtype)
        for p in range(len(self.data)):
            result[self.row[p]] += self.data[p]
        return result

    def __matmul__(self, other: Any) -> Any:
        covered(self.data.dtype != np.bool_, "a product of truth values")
        covered(is_dense(other), "a product of two sparse operands in COO format")
        equal_sizes(self.columns, other.shape[0])
        if other.ndim == 1:
            result = np.zeros(self.rows, np.result_type(self.data, other))
            for p in range(len(self.data)):
                result[self.row[p]] += self.data[p] * other[self.col[p]]
            return result
        covered(other.ndim == 2, "a product with more than two dimensions")
        result = np.zeros((self.rows, other.shape[1]), np.result_type(self.data, other))
        for p in range(len(self.data)):
            for k in range(other.shape[1]):
                result[self.row[p], k] += self.data[p] * other[self.col[p], k]
        return result

    def multiply(self, other: Any) -> Any:
        if is_number(other):
            return self.with_data(self.data * other)
        covered(is_dense(other), "a product of two sparse operands in COO format")
        covered(self.has_canonical_format, "entries out of order, or stored twice")
        data = np.empty(len(self.data), np.result_type(self.data, other))
        if other.ndim == 1:
            equal_sizes(self.columns, other.shape[0])
            for p in range(len(self.data)):
                data[p] = self.data[p] * other[self.col[p]]
        elif other.shape[1] == 1:
            equal_sizes(self.rows, other.shape[0])
            for p in range(len(self.data)):
                data[p] = self.data[p] * other[self.row[p], 0]
        elif other.shape[0] == 1:
            equal_sizes(self.columns, other.shape[1])
            for p in range(len(self.data)):
                data[p] = self.data[p] * other[0, self.col[p]]
        else:
            equal_sizes(self.rows, other.shape[0])
            equal_sizes(self.columns, other.shape[1])
            for p in range(len(self.data)):
                data[p] = self.data[p] * other[self.row[p], self.col[p]]
        return COO(self.row.copy(), self.col.copy(), data, self.rows, self.columns, self.is_array)

    def tocoo(self) -> Any:
        return self

    def tocsr(self) -> Any:
        """Entries counted by row, put in their places, those of one place added, in order of columns."""
        covered(False, "the conversion of COO to CSR")
        return self

    def tocsc(self) -> Any:
        return self.transpose().tocsr().transpose()

    def combined(self, other: Any, sign: int) -> Any:
        covered(False, "the sum of sparse operands in COO format")
        return self
