"""What SciPy's sparse matrices and arrays of two dimensions have in common: operators, by way of what each format has.

The fields have SciPy's names. `is_array`: the object is of the array interface, where `*` goes element by element. New
objects share the arrays that tell where entries are: these never change, and a result gets its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from weft.frontend.models import kernels
from weft.frontend.models.primitives import (
    axis_of,
    covered,
    entry_greatest,
    entry_least,
    equal_sizes,
    is_dense,
    is_matrix,
    is_number,
    larger,
    or_python,
    reordered,
)


class Sparse:
    """What all formats have in common, by way of what each has."""

    data: Any
    rows: Any
    columns: Any
    is_array: bool
    # What each format has.
    format: str
    in_order: Any
    nnz: Any
    with_data: Any  # the same places with other values
    transpose: Any
    compressed: Any  # the same matrix as CSR or CSC
    canonical: Any  # the same matrix, each place stored once
    times_elements: Any
    toarray: Any
    tocsr: Any
    tocsc: Any
    tocoo: Any
    diagonal: Any
    sum_rows: Any
    some_rows: Any
    some_columns: Any
    ndim = 2
    is_diagonal = False  # one diagonal, the main one, is all there is

    @property
    def shape(self) -> Any:
        return (self.rows, self.columns)

    @property
    def dtype(self) -> Any:
        return self.data.dtype

    @property
    def T(self) -> Any:
        return self.transpose()

    # --- operators ----------------------------------------------------------------------------------------------------

    def __mul__(self, other: Any) -> Any:
        if self.is_array or is_number(other):
            return self.multiply(other)
        return self @ other

    def __rmul__(self, other: Any) -> Any:
        if self.is_array or is_number(other):
            return self.multiply(other)
        return other @ self

    def multiply(self, other: Any) -> Any:
        if is_number(other):
            return self.with_data(self.data * other)
        if is_matrix(other):
            return self.times_elements(other.A)
        if is_dense(other):
            return self.times_elements(other)
        return self.joined(other, lambda a, b: a * b)

    def __truediv__(self, other: Any) -> Any:
        if is_number(other):
            covered(np.can_cast(self.data.dtype, np.float64), "a division of complex numbers")
            wide = self.astype(np.float64)
            return wide.with_data(wide.data * (1 / other))
        if is_matrix(other):
            return self.times_elements(np.divide(1, other.A))
        if is_dense(other):
            return self.times_elements(np.divide(1, other))
        return self.as_dense(self.quotients(other))

    def quotients(self, other: Any) -> Any:
        """Element by element, zero by zero among them: there is nothing sparse about that."""
        wide = np.can_cast(self.data.dtype, np.float64) and np.can_cast(other.data.dtype, np.float64)
        covered(wide and self.data.dtype != np.bool_, "a quotient of these types")
        equal_sizes(self.rows, other.rows)
        equal_sizes(self.columns, other.columns)
        return self.toarray().astype(np.float64) / other.toarray().astype(np.float64)

    def as_dense(self, values: Any) -> Any:
        """An array as this interface gives it."""
        if self.is_array:
            return values
        return Matrix(values)

    def __rmatmul__(self, other: Any) -> Any:
        return (self.transpose() @ other.T).T

    def __neg__(self) -> Any:
        covered(self.data.dtype != np.bool_, "the negative of truth values")
        return self.with_data(-self.data)

    def __abs__(self) -> Any:
        kept = self.stored_once()
        return kept.with_data(abs(kept.data))

    def __sub__(self, other: Any) -> Any:
        covered(self.data.dtype != np.bool_, "the difference of truth values")
        if is_dense(other):
            return self.as_dense(self.toarray() - other)
        covered(not is_number(other), "a number subtracted from a sparse operand")
        if self.is_diagonal and other.is_diagonal:
            return self.with_data(self.data - other.data)
        return self.joined(other, lambda a, b: a - b)

    def __rsub__(self, other: Any) -> Any:
        covered(is_dense(other), "a dense operand minus this")
        return self.as_dense(other - self.toarray())

    def __add__(self, other: Any) -> Any:
        if is_dense(other):
            return self.as_dense(self.toarray() + other)
        covered(not is_number(other), "a number added to a sparse operand")
        if not self.is_diagonal:
            return self.joined(other, lambda a, b: a + b)
        if other.is_diagonal:
            return self.with_data(self.data + other.data)
        return other.joined(self, lambda a, b: a + b)

    def __radd__(self, other: Any) -> Any:
        covered(is_dense(other), "a dense operand plus this")
        return self.as_dense(other + self.toarray())

    def joined(self, other: Any, combine: Any) -> Any:
        """combine(a, b) of the elements of two sparse operands, in the first one's format."""
        left = self.compressed()
        return left.elementwise(left.alike(other), combine, np.result_type(self.data, other.data))

    def __pow__(self, exponent: Any) -> Any:
        covered(self.is_array, "a power of a matrix")
        return self.power(exponent)

    def power(self, n: Any) -> Any:
        covered(is_number(n), "an exponent that is no number")
        or_python(n != 0, "a power of zero, which would be dense")
        kept = self.stored_once()
        return kept.with_data(kept.data**n)

    def dot(self, other: Any) -> Any:
        if is_number(other):
            return self.multiply(other)
        return self @ other

    # --- comparisons --------------------------------------------------------------------------------------------------

    def compared(self, other: Any, name: str) -> Any:
        """self NAME other, element by element."""
        if name == "ne":
            return self.related(other, lambda a, b: a != b)
        if name == "lt":
            return self.related(other, lambda a, b: a < b)
        if name == "gt":
            return self.related(other, lambda a, b: a > b)
        if name == "le":
            return self.related(other, lambda a, b: a <= b)
        if name == "ge":
            return self.related(other, lambda a, b: a >= b)
        return self.related(other, lambda a, b: a == b)

    def related(self, other: Any, test: Any) -> Any:
        if is_number(other):
            # The library warns of a result that is nearly dense, and nothing is related to NaN.
            or_python(not test(0, other), "a comparison that holds for zeros")
            or_python(other == other, "a comparison with NaN")
            kept = self.compressed().stored_once()
            return kept.with_data(test(kept.data, other)).without_zeros()
        if is_dense(other):
            return self.as_dense(test(self.toarray(), other))
        covered(not test(0, 0), "a comparison that holds for zeros")
        left = self.compressed()
        return left.elementwise(left.alike(other), test, np.bool_)

    def maximum(self, other: Any) -> Any:
        covered(np.can_cast(self.data.dtype, np.float64) and self.data.dtype != np.bool_, "the greater of these types")
        if is_number(other):
            or_python(other <= 0, "the greater of a sparse operand and a positive number")
            kept = self.compressed().stored_once()
            return kept.with_data(np.maximum(kept.data, other)).without_zeros()
        if is_dense(other):
            return self.as_dense(np.maximum(self.toarray(), other))
        return self.joined(other, lambda a, b: b if a < b else a)

    def minimum(self, other: Any) -> Any:
        covered(np.can_cast(self.data.dtype, np.float64) and self.data.dtype != np.bool_, "the lesser of these types")
        if is_number(other):
            or_python(other >= 0, "the lesser of a sparse operand and a negative number")
            kept = self.compressed().stored_once()
            return kept.with_data(np.minimum(kept.data, other)).without_zeros()
        if is_dense(other):
            return self.as_dense(np.minimum(self.toarray(), other))
        return self.joined(other, lambda a, b: b if b < a else a)

    # --- copies -------------------------------------------------------------------------------------------------------

    def copy(self) -> Any:
        return self.with_data(self.data.copy())

    def conj(self) -> Any:
        return self.with_data(np.conj(self.data))

    def astype(self, dtype: Any) -> Any:
        if self.data.dtype == dtype:
            return self.copy()
        kept = self.canonical()
        return kept.with_data(kept.data.astype(dtype))

    def todense(self) -> Any:
        if self.is_array:
            return self.toarray()
        return Matrix(self.toarray())

    def getnnz(self) -> Any:
        return self.nnz

    @property
    def size(self) -> Any:
        return self.nnz

    def asformat(self, format: str) -> Any:
        covered(format == "csr" or format == "csc" or format == "coo", "a conversion to this format")
        if format == "csr":
            return self.tocsr()
        if format == "csc":
            return self.tocsc()
        return self.tocoo()

    def nonzero(self) -> Any:
        entries = self.tocoo()
        return (entries.row[entries.data != 0], entries.col[entries.data != 0])

    def getrow(self, i: int) -> Any:
        covered(not self.is_array and self.format != "bsr", "getrow() of the array interface, or of blocks")
        or_python(i >= -self.rows and i < self.rows, "an index out of range")
        low = i + self.rows if i < 0 else i
        return self.compressed().some_rows(low, low + 1).tocsr()

    def getcol(self, j: int) -> Any:
        covered(not self.is_array and self.format != "bsr", "getcol() of the array interface, or of blocks")
        or_python(j >= -self.columns and j < self.columns, "an index out of range")
        low = j + self.columns if j < 0 else j
        return self.compressed().some_columns(low, low + 1)

    def stored_once(self) -> Any:
        """The same matrix with each place stored once: the library adds up those of equal places first, in place."""
        if self.in_order is None:
            reordered(self)
        return self.canonical()

    # --- reductions ---------------------------------------------------------------------------------------------------

    def sum(self, axis: Any = None) -> Any:
        if axis is None:
            return np.sum(self.data)
        by_row = axis_of(axis) == 1
        if self.is_array:
            return self.sum_rows() if by_row else self.transpose().sum_rows()
        if by_row:
            return Matrix(self.sum_rows().reshape(self.rows, 1))
        return Matrix(self.transpose().sum_rows().reshape(1, self.columns))

    def mean(self, axis: Any = None) -> Any:
        if axis is None:
            return self.scaled(1.0 / (self.rows * self.columns)).sum()
        return self.scaled(1.0 / (self.columns if axis_of(axis) == 1 else self.rows)).sum(axis)

    def scaled(self, factor: float) -> Any:
        if np.issubdtype(self.data.dtype, np.inexact):
            return self.with_data(self.data * factor)
        return self.with_data(self.data.astype(np.float64) * factor)

    def trace(self, offset: int = 0) -> Any:
        return self.diagonal(offset).sum()

    def count_nonzero(self) -> Any:
        kept = self.stored_once()
        return np.count_nonzero(kept.data)

    def max(self, axis: Any = None) -> Any:
        """Of all elements: a place without an entry holds zero."""
        if axis is not None:
            return self.extreme(axis, lambda a, b: np.maximum(a, b), entry_greatest)
        covered(self.format != "dia", "the extremes of a matrix of diagonals")
        kept = self.stored_once()
        covered(kept.data.dtype != np.bool_, "the greatest of truth values")
        larger(self.rows, 0)
        larger(self.columns, 0)
        if len(kept.data) == self.rows * self.columns:
            return kept.data.max()
        return kept.data.max(initial=kept.data.dtype.type(0))

    def min(self, axis: Any = None) -> Any:
        if axis is not None:
            return self.extreme(axis, lambda a, b: np.minimum(a, b), entry_least)
        covered(self.format != "dia", "the extremes of a matrix of diagonals")
        kept = self.stored_once()
        covered(kept.data.dtype != np.bool_, "the least of truth values")
        larger(self.rows, 0)
        larger(self.columns, 0)
        if len(kept.data) == self.rows * self.columns:
            return kept.data.min()
        return kept.data.min(initial=kept.data.dtype.type(0))

    def extreme(self, axis: int, choose: Any, of_entries: Any) -> Any:
        covered(self.data.dtype != np.bool_ and self.format != "dia", "the extremes of this")
        by_row = axis_of(axis) == 1
        kept = self.tocsr().stored_once() if by_row else self.tocsc().stored_once()
        larger(kept.minor, 0)
        found = of_entries(kept.indptr, kept.indices, kept.minor, lambda i, j, p: kept.data[p], kept.data.dtype)
        places, values = kernels.extremes(found, kept.indptr, kept.minor, choose)
        return kept.line(places, values, by_row)


@dataclass(frozen=True)
class Matrix:
    """An object of class numpy.matrix that the operators of the matrix interface give."""

    A: Any

    @property
    def A1(self) -> Any:
        return self.A.ravel()

    @property
    def shape(self) -> Any:
        return self.A.shape

    @property
    def T(self) -> Any:
        return Matrix(self.A.T)

    def __truediv__(self, other: Any) -> Any:
        covered(is_number(other), "a matrix divided by this")
        return Matrix(self.A / other)

    def __rtruediv__(self, other: Any) -> Any:
        covered(is_number(other), "this divided by a matrix")
        return Matrix(other / self.A)

    def __mul__(self, other: Any) -> Any:
        covered(is_number(other), "a product of matrices")
        return Matrix(self.A * other)

    def __rmul__(self, other: Any) -> Any:
        covered(is_number(other), "a product of matrices")
        return Matrix(other * self.A)
