"""The formats of sparse matrices, with their loops: CSR, CSC, COO, and the diagonal ones among DIA."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from weft.frontend.models import kernels, products
from weft.frontend.models.primitives import (
    covered,
    entry_row_sums,
    entry_sums,
    entry_values,
    equal_sizes,
    is_dense,
    is_number,
    larger,
    or_python,
    ordered_or_python,
    stretches,
)
from weft.frontend.models.sparse import Matrix, Sparse
from weft.frontend.models.tensors import Line


class Turned(Sparse):
    """What each of the two compressed formats has."""

    major: Any  # the number of rows (columns)
    minor: Any  # the number of places in one
    made: Any  # an object of the same format with other arrays
    alike: Any  # another matrix in the same format
    element: Any
    times_vector: Any
    times_dense: Any
    times_sparse: Any


@dataclass(frozen=True)
class Compressed(Turned):
    """Row i of CSR, or column i of CSC, holds the entries indptr[i] to indptr[i + 1]: values `data`, places `indices`.

    `in_order`: the places of each row rise.  None: they do not, the matrix was made like that.
    """

    indptr: Any
    indices: Any
    data: Any
    rows: Any
    columns: Any
    is_array: bool
    in_order: Any = True

    @property
    def nnz(self) -> Any:
        return int(self.indptr[self.major])

    def values(self, value: Any, dtype: Any) -> Any:
        """value(i, j, p) for every entry p of row i at place j."""
        return entry_values(self.indptr, self.indices, self.minor, value, dtype)

    def sums(self, shape: Any, place: Any, value: Any, dtype: Any) -> Any:
        return entry_sums(shape, self.indptr, self.indices, self.minor, place, value, dtype)

    def with_data(self, data: Any) -> Any:
        return self.made(self.indptr, self.indices, data, self.rows, self.columns, self.in_order)

    def canonical(self) -> Any:
        """Rows in order, each place once; the library brings the object itself into that form."""
        if self.in_order:
            return self
        if self.in_order is None:
            return self.without_duplicates()
        ordered_or_python(self.indptr, self.indices)
        return self

    def without_duplicates(self) -> Any:
        indptr, indices, data = kernels.turned(self.indptr, self.indices, self.data, self.major, self.minor)
        indptr, indices, data = kernels.turned(indptr, indices, data, self.minor, self.major)
        indptr, indices, data = kernels.merged(indptr, indices, data, self.major)
        return self.made(indptr, indices, data, self.rows, self.columns, True)

    def without_zeros(self) -> Any:
        indptr, indices, data = kernels.nonzero(self.indptr, self.indices, self.data, self.major)
        return self.made(indptr, indices, data, self.rows, self.columns, self.in_order)

    def major_of(self) -> Any:
        """The row (column) of each entry."""
        return self.values(lambda i, j, p: i, self.indices.dtype)

    def elements_beside(self, k: int) -> Any:
        """The elements at (i, i + k), in rows as they are stored."""
        first = max(-k, 0)
        length = max(min(self.major - first, self.minor - max(k, 0)), 0)
        result = np.zeros(length, self.data.dtype)
        for i in range(length):
            for p in range(self.indptr[first + i], self.indptr[first + i + 1]):
                if self.indices[p] == first + i + k:
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
        return self.times_sparse(other)

    def elementwise(self, other: Any, combine: Any, dtype: Any) -> Any:
        """combine(a, b) of the elements of two matrices, with combine(0, 0) == 0."""
        equal_sizes(self.rows, other.rows)
        equal_sizes(self.columns, other.columns)
        if self.in_order and other.in_order:
            indptr, indices, data = kernels.elementwise(self, other, combine, dtype, True)
            return self.made(indptr, indices, data, self.rows, self.columns, True)
        indptr, indices, data = kernels.elementwise(self, other, combine, dtype, False)
        return self.made(indptr, indices, data, self.rows, self.columns, False)

    def some_major(self, low: int, high: int) -> Any:
        first, last = int(self.indptr[low]), int(self.indptr[high])
        return (
            self.indptr[low : high + 1] - self.indptr[low],
            self.indices[first:last].copy(),
            self.data[first:last].copy(),
        )

    def some_minor(self, low: int, high: int) -> Any:
        return kernels.between(self.indptr, self.indices, self.data, self.major, low, high)

    def chosen_major(self, which: Any) -> Any:
        self.chosen_some(which)
        return kernels.chosen(self.indptr, self.indices, self.data, which)

    def chosen_minor(self, which: Any) -> Any:
        self.chosen_some(which)
        return kernels.picked(self.indptr, self.indices, self.data, self.major, self.minor, which)

    def chosen_some(self, which: Any) -> None:
        """Of no places at all the library makes a new matrix, which may have narrower indices."""
        if self.indices.dtype != np.int32:
            or_python(len(which) > 0, "no places of a sparse matrix with wide indices")

    def elements(self, rows: Any, columns: Any) -> Any:
        """The element at each of some places."""
        equal_sizes(len(rows), len(columns))
        or_python(len(rows) > 0, "no elements of a sparse matrix")
        result = np.empty(len(rows), self.data.dtype)
        for k in range(len(rows)):
            result[k] = self.element(int(rows[k]), int(columns[k]))
        if self.is_array:
            return result
        return Matrix(result.reshape(1, len(rows)))

    def line(self, places: Any, values: Any, by_row: bool) -> Any:
        """Elements of a row (or, `by_row`, of a column) as the interface gives it."""
        if self.is_array:
            return Line(places, values, self.major)
        zeros = np.zeros(len(places), np.int32)
        if by_row:
            return COO(places, zeros, values, self.rows, 1, False)
        return COO(zeros, places, values, 1, self.columns, False)

    def total(self, major: int, minor: int) -> Any:
        """The element at a place: entries of one place are added."""
        result = self.data.dtype.type(0)
        for p in range(self.indptr[major], self.indptr[major + 1]):
            if self.indices[p] == minor:
                result += self.data[p]
        return result


@dataclass(frozen=True)
class CSR(Compressed):
    format = "csr"

    @property
    def major(self) -> Any:
        return self.rows

    @property
    def minor(self) -> Any:
        return self.columns

    def made(self, indptr: Any, indices: Any, data: Any, rows: Any, columns: Any, in_order: Any) -> Any:
        return CSR(indptr, indices, data, rows, columns, self.is_array, in_order)

    def transpose(self) -> Any:
        return CSC(self.indptr, self.indices, self.data, self.columns, self.rows, self.is_array, self.in_order)

    def tocsr(self) -> Any:
        return self

    def tocsc(self) -> Any:
        indptr, indices, data = kernels.turned(self.indptr, self.indices, self.data, self.rows, self.columns)
        # Columns are filled row by row: each place once, if rows are in order, too.
        return CSC(indptr, indices, data, self.rows, self.columns, self.is_array, bool(self.in_order))

    def tocoo(self) -> Any:
        return COO(
            self.major_of(),
            self.indices,
            self.data.copy(),
            self.rows,
            self.columns,
            self.is_array,
            self.in_order,
            self.indptr,
        )

    def compressed(self) -> Any:
        return self

    def alike(self, other: Any) -> Any:
        return other.tocsr()

    def toarray(self) -> Any:
        return self.sums(
            (self.rows, self.columns), lambda i, j: (i, j), lambda i, j, p: self.data[p], self.data.dtype
        )

    def sum_rows(self) -> Any:
        dtype = np.sum(self.data[:0]).dtype
        return self.sums((self.rows,), lambda i, j: (i,), lambda i, j, p: self.data[p], dtype)

    def times_vector(self, vector: Any) -> Any:
        return self.sums(
            (self.rows,),
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
        if other.is_diagonal:
            if (other.data == 0).any():
                or_python(
                    (other.data[self.indices] != 0).all(), "entries that a zero on the diagonal would leave out"
                )
            dtype = np.result_type(self.data, other.data)
            return self.with_data(self.values(lambda i, j, p: self.data[p] * other.data[j], dtype))
        indptr, indices, data = products.row_products(self, other.tocsr())
        return CSR(indptr, indices, data, self.rows, other.columns, self.is_array, None)

    def times_elements(self, dense: Any) -> Any:
        """Only the stored entries meet an element of the dense operand, of which extents of 1 are broadcast."""
        dtype = np.result_type(self.data, dense)
        if dense.ndim == 1:
            larger(self.columns, 1)
            equal_sizes(self.columns, dense.shape[0])
            data = self.values(lambda i, j, p: self.data[p] * dense[j], dtype)
        elif stretches(dense.shape[1]):
            larger(self.rows, 1)
            equal_sizes(self.rows, dense.shape[0])
            data = self.values(lambda i, j, p: self.data[p] * dense[i, 0], dtype)
        elif stretches(dense.shape[0]):
            larger(self.columns, 1)
            equal_sizes(self.columns, dense.shape[1])
            data = self.values(lambda i, j, p: self.data[p] * dense[0, j], dtype)
        else:
            larger(self.rows + self.columns, 2)
            equal_sizes(self.rows, dense.shape[0])
            equal_sizes(self.columns, dense.shape[1])
            data = self.values(lambda i, j, p: self.data[p] * dense[i, j], dtype)
        return COO(
            self.major_of(), self.indices, data, self.rows, self.columns, self.is_array, self.in_order, self.indptr
        )

    def diagonal(self, k: int = 0) -> Any:
        return self.elements_beside(k)

    def element(self, row: int, column: int) -> Any:
        return self.total(row, column)

    def some_rows(self, low: int, high: int) -> Any:
        indptr, indices, data = self.some_major(low, high)
        return CSR(indptr, indices, data, high - low, self.columns, self.is_array, self.in_order)

    def some_columns(self, low: int, high: int) -> Any:
        indptr, indices, data = self.some_minor(low, high)
        return CSR(indptr, indices, data, self.rows, high - low, self.is_array, self.in_order)

    def chosen_rows(self, which: Any, rises: bool, is_slice: bool) -> Any:
        indptr, indices, data = self.chosen_major(which)
        return CSR(indptr, indices, data, len(which), self.columns, self.is_array, self.in_order)

    def chosen_columns(self, which: Any, rises: bool, is_slice: bool) -> Any:
        indptr, indices, data = self.chosen_minor(which)
        return CSR(indptr, indices, data, self.rows, len(which), self.is_array, self.in_order if rises else None)


@dataclass(frozen=True)
class CSC(Compressed):
    format = "csc"

    @property
    def major(self) -> Any:
        return self.columns

    @property
    def minor(self) -> Any:
        return self.rows

    def made(self, indptr: Any, indices: Any, data: Any, rows: Any, columns: Any, in_order: Any) -> Any:
        return CSC(indptr, indices, data, rows, columns, self.is_array, in_order)

    def transpose(self) -> Any:
        return CSR(self.indptr, self.indices, self.data, self.columns, self.rows, self.is_array, self.in_order)

    def tocsc(self) -> Any:
        return self

    def tocsr(self) -> Any:
        return self.transpose().tocsc().transpose()

    def tocoo(self) -> Any:
        return self.transpose().tocoo().transpose()

    def compressed(self) -> Any:
        return self

    def alike(self, other: Any) -> Any:
        return other.tocsc()

    def toarray(self) -> Any:
        return self.sums(
            (self.rows, self.columns), lambda j, i: (i, j), lambda j, i, p: self.data[p], self.data.dtype
        )

    def sum_rows(self) -> Any:
        dtype = np.sum(self.data[:0]).dtype
        return self.sums((self.rows,), lambda j, i: (i,), lambda j, i, p: self.data[p], dtype)

    def times_vector(self, vector: Any) -> Any:
        return self.sums(
            (self.rows,),
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

    def times_sparse(self, other: Any) -> Any:
        if other.is_diagonal:
            return (other @ self.transpose()).transpose()
        return other.transpose().tocsr().times_sparse(self.transpose()).transpose()

    def times_elements(self, dense: Any) -> Any:
        if dense.ndim == 1:
            return self.transpose().times_elements(dense[:, None]).transpose()
        return self.transpose().times_elements(dense.T).transpose()

    def nonzero(self) -> Any:
        return self.tocsr().nonzero()

    def diagonal(self, k: int = 0) -> Any:
        return self.elements_beside(-k)

    def element(self, row: int, column: int) -> Any:
        return self.total(column, row)

    def some_rows(self, low: int, high: int) -> Any:
        indptr, indices, data = self.some_minor(low, high)
        return CSC(indptr, indices, data, high - low, self.columns, self.is_array, self.in_order)

    def some_columns(self, low: int, high: int) -> Any:
        indptr, indices, data = self.some_major(low, high)
        return CSC(indptr, indices, data, self.rows, high - low, self.is_array, self.in_order)

    def chosen_rows(self, which: Any, rises: bool, is_slice: bool) -> Any:
        indptr, indices, data = self.chosen_minor(which)
        return CSC(indptr, indices, data, len(which), self.columns, self.is_array, self.in_order if rises else None)

    def chosen_columns(self, which: Any, rises: bool, is_slice: bool) -> Any:
        indptr, indices, data = self.chosen_major(which)
        return CSC(indptr, indices, data, self.rows, len(which), self.is_array, self.in_order)


@dataclass(frozen=True)
class COO(Sparse):
    """Entry p has the value data[p] in row row[p] and column col[p].

    `begin`: of entries that were those of compressed rows, where each row begins.
    """

    row: Any
    col: Any
    data: Any
    rows: Any
    columns: Any
    is_array: bool
    in_order: Any = True
    begin: Any = None
    format = "coo"

    @property
    def nnz(self) -> Any:
        return len(self.data)

    def with_data(self, data: Any) -> Any:
        return COO(self.row, self.col, data, self.rows, self.columns, self.is_array, self.in_order, self.begin)

    def by_rows(self) -> Any:
        """The same entries as compressed rows, where that is what they were."""
        return CSR(self.begin, self.col, self.data, self.rows, self.columns, self.is_array, self.in_order)

    def canonical(self) -> Any:
        """The library puts entries in order of rows, and adds up those of one place."""
        if self.in_order:
            return self
        or_python(kernels.by_row(self.row, self.col), "entries that are out of order, or stored twice")
        return self

    def transpose(self) -> Any:
        return COO(self.col, self.row, self.data, self.columns, self.rows, self.is_array, self.in_order)

    def toarray(self) -> Any:
        return kernels.summed(self.row, self.col, self.data, self.rows, self.columns, self.data.dtype)

    def diagonal(self, k: int = 0) -> Any:
        first = max(-k, 0)
        result = np.zeros(max(min(self.rows - first, self.columns - max(k, 0)), 0), self.data.dtype)
        for p in range(len(self.data)):
            if int(self.row[p]) + k == self.col[p]:
                result[self.row[p] - first] += self.data[p]
        return result

    def sum_rows(self) -> Any:
        if self.begin is not None:
            return self.by_rows().sum_rows()
        result = np.zeros(self.rows, np.sum(self.data[:0]).dtype)
        for p in range(len(self.data)):
            result[self.row[p]] += self.data[p]
        return result

    def __matmul__(self, other: Any) -> Any:
        covered(self.data.dtype != np.bool_, "a product of truth values")
        if not is_dense(other):
            covered(not is_number(other), "a product with a number")
            return self.tocsr() @ other
        if self.begin is not None:
            return self.by_rows() @ other
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

    def times_elements(self, dense: Any) -> Any:
        return self.tocsr().times_elements(dense)

    def tocoo(self) -> Any:
        return self

    def tocsr(self) -> Any:
        """Entries in their rows, those of one place added, in order of columns."""
        if self.begin is not None and self.in_order is not None:
            return self.by_rows().canonical().copy()
        indptr, indices, data = kernels.gathered(self.row, self.col, self.data, self.rows)
        return CSR(indptr, indices, data, self.rows, self.columns, self.is_array, None).without_duplicates()

    def tocsc(self) -> Any:
        if self.begin is None or self.in_order is None:
            return self.transpose().tocsr().transpose()
        # Row by row, so that entries of one place follow one another in their column.
        indptr, indices, data = kernels.turned(self.begin, self.col, self.data, self.rows, self.columns)
        if not self.in_order:
            indptr, indices, data = kernels.merged(indptr, indices, data, self.columns)
        return CSC(indptr, indices, data, self.rows, self.columns, self.is_array, True)

    def compressed(self) -> Any:
        return self.tocsr()

    def element(self, row: int, column: int) -> Any:
        result = self.data.dtype.type(0)
        for p in range(len(self.data)):
            if self.row[p] == row and self.col[p] == column:
                result += self.data[p]
        return result

    def elements(self, rows: Any, columns: Any) -> Any:
        equal_sizes(len(rows), len(columns))
        places, values = kernels.met(self.row, self.col, self.data, rows, columns)
        return Line(places, values, len(rows))

    def some_rows(self, low: int, high: int) -> Any:
        row, col, data = kernels.within(self.row, self.col, self.data, low, high)
        return COO(row, col, data, high - low, self.columns, self.is_array, self.in_order)

    def some_columns(self, low: int, high: int) -> Any:
        col, row, data = kernels.within(self.col, self.row, self.data, low, high)
        return COO(row, col, data, self.rows, high - low, self.is_array, self.in_order)

    def chosen_rows(self, which: Any, rises: bool, is_slice: bool) -> Any:
        of = self.row.dtype if is_slice else np.int64
        row, col, data = kernels.named(self.row, self.col, self.data, self.rows, which, of)
        return COO(row, col, data, len(which), self.columns, self.is_array, False)

    def chosen_columns(self, which: Any, rises: bool, is_slice: bool) -> Any:
        of = self.row.dtype if is_slice else np.int64
        col, row, data = kernels.named(self.col, self.row, self.data, self.columns, which, of)
        return COO(row, col, data, self.rows, len(which), self.is_array, False)


@dataclass(frozen=True)
class Diagonal(Sparse):
    """A square matrix with entries on its main diagonal alone (SciPy's DIA format with one diagonal)."""

    data: Any
    is_array: bool
    in_order = True
    is_diagonal = True
    format = "dia"

    @property
    def rows(self) -> Any:
        return len(self.data)

    @property
    def columns(self) -> Any:
        return len(self.data)

    def canonical(self) -> Any:
        return self

    def with_data(self, data: Any) -> Any:
        return Diagonal(data, self.is_array)

    def transpose(self) -> Any:
        return self

    def diagonal(self, k: int = 0) -> Any:
        or_python(k == 0, "another diagonal of a diagonal matrix")
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

    def compressed(self) -> Any:
        return self.tocsr()

    def times_elements(self, dense: Any) -> Any:
        covered(False, "a product of a diagonal matrix element by element")

    def __matmul__(self, other: Any) -> Any:
        if is_dense(other):
            equal_sizes(len(self.data), other.shape[0])
            return self.data * other if other.ndim == 1 else self.data[:, None] * other
        covered(not is_number(other), "a product with a number")
        equal_sizes(len(self.data), other.rows)
        if other.is_diagonal:
            return Diagonal(self.data * other.data, self.is_array)
        right = other.tocsr()
        empty = right.indptr[1:] == right.indptr[:-1]
        or_python(((self.data != 0) | empty).all(), "entries that a zero on the diagonal would leave out")
        dtype = np.result_type(self.data, right.data)
        return right.with_data(right.values(lambda i, j, p: self.data[i] * right.data[p], dtype))


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
