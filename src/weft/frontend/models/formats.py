"""The formats of sparse matrices, with their loops: CSR, CSC, COO, and the diagonal ones among DIA."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from weft.frontend.models.primitives import (
    covered,
    entry_row_sums,
    entry_sums,
    entry_values,
    equal_sizes,
    holds,
    is_dense,
    is_number,
    ordered_or_python,
    stretches,
)
from weft.frontend.models.sparse import Sparse


@dataclass(frozen=True)
class CSR(Sparse):
    """Row i holds the entries indptr[i] to indptr[i + 1]: values `data`, columns `indices`."""

    indptr: Any
    indices: Any
    data: Any
    rows: Any
    columns: Any
    is_array: bool
    in_order: bool = True
    format = "csr"

    @property
    def nnz(self) -> Any:
        return int(self.indptr[self.rows])

    def with_data(self, data: Any) -> Any:
        return CSR(self.indptr, self.indices, data, self.rows, self.columns, self.is_array, self.in_order)

    def transpose(self) -> Any:
        return CSC(self.indptr, self.indices, self.data, self.columns, self.rows, self.is_array, self.in_order)

    def tocsr(self) -> Any:
        return self

    def tocsc(self) -> Any:
        return self.turned()

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
        return CSC(indptr, indices, data, self.rows, self.columns, self.is_array, self.in_order)

    def tocoo(self) -> Any:
        return COO(self.row_of(), self.indices, self.data.copy(), self.rows, self.columns, self.is_array)

    def hold_order(self) -> None:
        ordered_or_python(self.indptr, self.indices)

    def row_of(self) -> Any:
        """The row of each entry."""
        return entry_values(self.indptr, self.indices, self.columns, lambda i, j, p: i, self.indices.dtype)

    def toarray(self) -> Any:
        return entry_sums(
            (self.rows, self.columns),
            self.indptr,
            self.indices,
            self.columns,
            lambda i, j: (i, j),
            lambda i, j, p: self.data[p],
            self.data.dtype,
        )

    def diagonal(self) -> Any:
        result = np.zeros(min(self.rows, self.columns), self.data.dtype)
        for i in range(min(self.rows, self.columns)):
            for p in range(self.indptr[i], self.indptr[i + 1]):
                if self.indices[p] == i:
                    result[i] += self.data[p]
        return result

    def sum_rows(self) -> Any:
        dtype = np.sum(self.data[:0]).dtype
        return entry_sums(
            (self.rows,),
            self.indptr,
            self.indices,
            self.columns,
            lambda i, j: (i,),
            lambda i, j, p: self.data[p],
            dtype,
        )

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
        if other.format == "dia":
            return self.with_data(
                entry_values(
                    self.indptr,
                    self.indices,
                    self.columns,
                    lambda i, j, p: self.data[p] * other.data[j],
                    np.result_type(self.data, other.data),
                )
            )
        return self.times_sparse(other.tocsr())

    def times_vector(self, vector: Any) -> Any:
        return entry_sums(
            (self.rows,),
            self.indptr,
            self.indices,
            self.columns,
            lambda i, j: (i,),
            lambda i, j, p: self.data[p] * vector[j],
            np.result_type(self.data, vector),
        )

    def times_dense(self, dense: Any) -> Any:
        return entry_row_sums(
            (self.rows, dense.shape[1]),
            self.indptr,
            self.indices,
            self.columns,
            lambda i, j: i,
            lambda i, j, p, k: self.data[p] * dense[j, k],
            np.result_type(self.data, dense),
        )

    def times_sparse(self, other: Any) -> Any:
        """Gustavson's product: the entries of each row are counted first, then summed into a row of their own."""
        index = np.result_type(self.indices, other.indices)
        seen = np.full(other.columns, -1, np.int64)
        indptr = np.zeros(self.rows + 1, index)
        total = 0
        for i in range(self.rows):
            for p in range(self.indptr[i], self.indptr[i + 1]):
                for q in range(other.indptr[self.indices[p]], other.indptr[self.indices[p] + 1]):
                    if seen[other.indices[q]] != i:
                        seen[other.indices[q]] = i
                        total += 1
            indptr[i + 1] = holds(total, index)
        dtype = np.result_type(self.data, other.data)
        sums = np.zeros(other.columns, dtype)
        following = np.full(other.columns, -1, np.int64)
        indices = np.empty(total, index)
        data = np.empty(total, dtype)
        place = 0
        for i in range(self.rows):
            head = -2
            length = 0
            for p in range(self.indptr[i], self.indptr[i + 1]):
                value = self.data[p]
                for q in range(other.indptr[self.indices[p]], other.indptr[self.indices[p] + 1]):
                    sums[other.indices[q]] += value * other.data[q]
                    if following[other.indices[q]] == -1:
                        following[other.indices[q]] = head
                        head = int(other.indices[q])
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
        equal_sizes(self.rows, other.rows)
        equal_sizes(self.columns, other.columns)
        if self.in_order and other.in_order:
            return self.intersected(other)
        return self.general(other, 0)

    def times_elements(self, dense: Any) -> Any:
        """Only the stored entries meet an element of the dense operand, of which extents of 1 are broadcast."""
        dtype = np.result_type(self.data, dense)
        if dense.ndim == 1:
            equal_sizes(self.columns, dense.shape[0])
            data = entry_values(self.indptr, self.indices, self.columns, lambda i, j, p: self.data[p] * dense[j], dtype)
        elif stretches(dense.shape[1]):
            equal_sizes(self.rows, dense.shape[0])
            data = entry_values(
                self.indptr, self.indices, self.columns, lambda i, j, p: self.data[p] * dense[i, 0], dtype
            )
        elif stretches(dense.shape[0]):
            equal_sizes(self.columns, dense.shape[1])
            data = entry_values(
                self.indptr, self.indices, self.columns, lambda i, j, p: self.data[p] * dense[0, j], dtype
            )
        else:
            equal_sizes(self.rows, dense.shape[0])
            equal_sizes(self.columns, dense.shape[1])
            data = entry_values(
                self.indptr, self.indices, self.columns, lambda i, j, p: self.data[p] * dense[i, j], dtype
            )
        return COO(self.row_of(), self.indices, data, self.rows, self.columns, self.is_array)

    def intersected(self, other: Any) -> Any:
        """The products that are not zero, of entries that both have; rows are in order, so one walk over each does."""
        index = np.result_type(self.indices, other.indices)
        indptr = np.zeros(self.rows + 1, index)
        room = min(len(self.indices), len(other.indices))
        indices = np.empty(room, index)
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
            indptr[i + 1] = holds(count, index)
        return CSR(indptr, indices[:count].copy(), data[:count].copy(), self.rows, self.columns, self.is_array)

    def combined(self, other: Any, sign: int) -> Any:
        """self + sign * other: entries of either, zeros dropped."""
        covered(not is_number(other), "a number added to a sparse operand")
        covered(other.format == "csr", "operands of two formats")
        equal_sizes(self.rows, other.rows)
        equal_sizes(self.columns, other.columns)
        if self.in_order and other.in_order:
            return self.united(other, sign)
        return self.general(other, sign)

    def united(self, other: Any, sign: int) -> Any:
        """The sum, row by row in one walk over each, which are in order."""
        index = np.result_type(self.indices, other.indices)
        indptr = np.zeros(self.rows + 1, index)
        room = len(self.indices) + len(other.indices)
        indices = np.empty(room, index)
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
            indptr[i + 1] = holds(count, index)
        return CSR(indptr, indices[:count].copy(), data[:count].copy(), self.rows, self.columns, self.is_array)

    def general(self, other: Any, sign: int) -> Any:
        """The sum (or, for sign 0, the product element by element) of rows in any order, entries of one place added."""
        index = np.result_type(self.indices, other.indices)
        dtype = np.result_type(self.data, other.data)
        room = len(self.indices) + len(other.indices)
        indptr = np.zeros(self.rows + 1, index)
        indices = np.empty(room, index)
        data = np.empty(room, dtype)
        left = np.zeros(self.columns, dtype)
        right = np.zeros(self.columns, dtype)
        following = np.full(self.columns, -1, np.int64)
        count = 0
        for i in range(self.rows):
            head = -2
            length = 0
            for p in range(self.indptr[i], self.indptr[i + 1]):
                j = int(self.indices[p])
                left[j] += self.data[p]
                if following[j] == -1:
                    following[j] = head
                    head = j
                    length += 1
            for p in range(other.indptr[i], other.indptr[i + 1]):
                j = int(other.indices[p])
                right[j] += other.data[p]
                if following[j] == -1:
                    following[j] = head
                    head = j
                    length += 1
            for _ in range(length):
                value = left[head] * right[head] if sign == 0 else left[head] + sign * right[head]
                if value != 0:
                    indices[count] = head
                    data[count] = value
                    count += 1
                last = head
                head = int(following[last])
                following[last] = -1
                left[last] = 0
                right[last] = 0
            indptr[i + 1] = holds(count, index)
        return CSR(indptr, indices[:count].copy(), data[:count].copy(), self.rows, self.columns, self.is_array, False)

    def element(self, row: int, column: int) -> Any:
        """Entries of one place are added."""
        total = self.data.dtype.type(0)
        for p in range(self.indptr[row], self.indptr[row + 1]):
            if self.indices[p] == column:
                total += self.data[p]
        return total

    def some_rows(self, low: int, high: int) -> Any:
        first, last = int(self.indptr[low]), int(self.indptr[high])
        return CSR(
            self.indptr[low : high + 1] - self.indptr[low],
            self.indices[first:last].copy(),
            self.data[first:last].copy(),
            high - low,
            self.columns,
            self.is_array,
            self.in_order,
        )

    def some_columns(self, low: int, high: int) -> Any:
        indptr = np.zeros(self.rows + 1, self.indptr.dtype)
        indices = np.empty(len(self.indices), self.indices.dtype)
        data = np.empty(len(self.indices), self.data.dtype)
        count = 0
        for i in range(self.rows):
            for p in range(self.indptr[i], self.indptr[i + 1]):
                if low <= self.indices[p] < high:
                    indices[count] = self.indices[p] - low
                    data[count] = self.data[p]
                    count += 1
            indptr[i + 1] = count
        return CSR(
            indptr, indices[:count].copy(), data[:count].copy(), self.rows, high - low, self.is_array,
            self.in_order,
        )  # fmt: skip

    def without_duplicates(self) -> Any:
        """Rows in order of columns, with the entries of one place added."""
        ordered = self.turned().transpose().turned().transpose()
        indptr = np.zeros(self.rows + 1, self.indptr.dtype)
        indices = np.empty(len(self.indices), self.indices.dtype)
        data = np.empty(len(self.indices), self.data.dtype)
        count = 0
        for i in range(self.rows):
            begin = count
            for p in range(ordered.indptr[i], ordered.indptr[i + 1]):
                if count > begin and indices[count - 1] == ordered.indices[p]:
                    data[count - 1] += ordered.data[p]
                else:
                    indices[count] = ordered.indices[p]
                    data[count] = ordered.data[p]
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
    in_order: bool = True
    format = "csc"

    @property
    def nnz(self) -> Any:
        return int(self.indptr[self.columns])

    def with_data(self, data: Any) -> Any:
        return self.transpose().with_data(data).transpose()

    def hold_order(self) -> None:
        ordered_or_python(self.indptr, self.indices)

    def transpose(self) -> Any:
        return CSR(self.indptr, self.indices, self.data, self.columns, self.rows, self.is_array, self.in_order)

    def tocsc(self) -> Any:
        return self

    def tocsr(self) -> Any:
        return self.transpose().turned().transpose()

    def tocoo(self) -> Any:
        return self.transpose().tocoo().transpose()

    def toarray(self) -> Any:
        return entry_sums(
            (self.rows, self.columns),
            self.indptr,
            self.indices,
            self.rows,
            lambda j, i: (i, j),
            lambda j, i, p: self.data[p],
            self.data.dtype,
        )

    def diagonal(self) -> Any:
        return self.transpose().diagonal()

    def element(self, row: int, column: int) -> Any:
        return self.transpose().element(column, row)

    def some_rows(self, low: int, high: int) -> Any:
        return self.transpose().some_columns(low, high).transpose()

    def some_columns(self, low: int, high: int) -> Any:
        return self.transpose().some_rows(low, high).transpose()

    def sum_rows(self) -> Any:
        dtype = np.sum(self.data[:0]).dtype
        return entry_sums(
            (self.rows,), self.indptr, self.indices, self.rows, lambda j, i: (i,), lambda j, i, p: self.data[p], dtype
        )

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
        return entry_sums(
            (self.rows,),
            self.indptr,
            self.indices,
            self.rows,
            lambda j, i: (i,),
            lambda j, i, p: self.data[p] * vector[j],
            np.result_type(self.data, vector),
        )

    def times_dense(self, dense: Any) -> Any:
        return entry_row_sums(
            (self.rows, dense.shape[1]),
            self.indptr,
            self.indices,
            self.rows,
            lambda j, i: i,
            lambda j, i, p, k: self.data[p] * dense[j, k],
            np.result_type(self.data, dense),
        )

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
    in_order: bool = True
    format = "coo"

    @property
    def nnz(self) -> Any:
        return len(self.data)

    def with_data(self, data: Any) -> Any:
        return COO(self.row, self.col, data, self.rows, self.columns, self.is_array, self.in_order)

    def hold_order(self) -> None:
        covered(False, "entries that may be out of order, or stored twice")

    def transpose(self) -> Any:
        return COO(self.col, self.row, self.data, self.columns, self.rows, self.is_array, self.in_order)

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
        if not is_dense(other):
            covered(not is_number(other), "a product with a number")
            return self.tocsr() @ other
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
        if not is_dense(other):
            return self.tocsr().multiply(other.tocsr())
        return self.tocsr().multiply(other)

    def tocoo(self) -> Any:
        return self

    def tocsr(self) -> Any:
        """Entries counted by row, put in their places, those of one place added, in order of columns."""
        count = len(self.data)
        indptr = np.zeros(self.rows + 1, self.row.dtype)
        for p in range(count):
            indptr[self.row[p] + 1] += 1
        for i in range(self.rows):
            indptr[i + 1] += indptr[i]
        place = indptr.copy()
        indices = np.empty(count, self.row.dtype)
        data = np.empty(count, self.data.dtype)
        for p in range(count):
            q = place[self.row[p]]
            indices[q] = self.col[p]
            data[q] = self.data[p]
            place[self.row[p]] = q + 1
        return CSR(indptr, indices, data, self.rows, self.columns, self.is_array).without_duplicates()

    def tocsc(self) -> Any:
        return self.transpose().tocsr().transpose()

    def combined(self, other: Any, sign: int) -> Any:
        covered(not is_number(other), "a number added to a sparse operand")
        return self.tocsr().combined(other.tocsr(), sign)


@dataclass(frozen=True)
class Diagonal(Sparse):
    """A square matrix with entries on its main diagonal alone (SciPy's DIA format with one diagonal)."""

    data: Any
    is_array: bool
    format = "dia"

    @property
    def rows(self) -> Any:
        return len(self.data)

    @property
    def columns(self) -> Any:
        return len(self.data)

    def stored(self) -> Any:
        return self.data

    def with_data(self, data: Any) -> Any:
        return Diagonal(data, self.is_array)

    def transpose(self) -> Any:
        return self

    def diagonal(self) -> Any:
        return self.data.copy()

    def sum_rows(self) -> Any:
        return self.data.copy()

    def toarray(self) -> Any:
        return np.diag(self.data)

    def tocsr(self) -> Any:
        """SciPy leaves out the zeros."""
        indptr = np.zeros(len(self.data) + 1, np.int32)
        indices = np.empty(len(self.data), np.int32)
        data = np.empty(len(self.data), self.data.dtype)
        count = 0
        for i in range(len(self.data)):
            if self.data[i] != 0:
                indices[count] = i
                data[count] = self.data[i]
                count += 1
            indptr[i + 1] = count
        return CSR(indptr, indices[:count].copy(), data[:count].copy(), len(self.data), len(self.data), self.is_array)

    def tocsc(self) -> Any:
        return self.tocsr().transpose()

    def tocoo(self) -> Any:
        return self.tocsr().tocoo()

    def multiply(self, other: Any) -> Any:
        covered(is_number(other), "a product of a diagonal matrix element by element")
        return self.with_data(self.data * other)

    def combined(self, other: Any, sign: int) -> Any:
        covered(not is_number(other), "a number added to a sparse operand")
        return self.tocsr().combined(other.tocsr(), sign)

    def __matmul__(self, other: Any) -> Any:
        if is_dense(other):
            equal_sizes(len(self.data), other.shape[0])
            return self.data * other if other.ndim == 1 else self.data[:, None] * other
        covered(not is_number(other), "a product with a number")
        equal_sizes(len(self.data), other.rows)
        right = other.tocsr()
        return right.with_data(
            entry_values(
                right.indptr,
                right.indices,
                right.columns,
                lambda i, j, p: self.data[i] * right.data[p],
                np.result_type(self.data, right.data),
            )
        )


def from_dense(dense: Any, is_array: bool) -> Any:
    """The elements that are not zero, row by row."""
    count = 0
    for i in range(dense.shape[0]):
        for j in range(dense.shape[1]):
            if dense[i, j] != 0:
                count += 1
    row = np.empty(count, np.int32)
    col = np.empty(count, np.int32)
    data = np.empty(count, dense.dtype)
    place = 0
    for i in range(dense.shape[0]):
        for j in range(dense.shape[1]):
            if dense[i, j] != 0:
                row[place] = i
                col[place] = j
                data[place] = dense[i, j]
                place += 1
    return COO(row, col, data, dense.shape[0], dense.shape[1], is_array)
