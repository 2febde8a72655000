"""What SciPy's sparse matrices and arrays of two dimensions have in common: operators, by way of what each format has.

The fields have SciPy's names. `is_array`: the object is of the array interface, where `*` goes element by element. New
objects share the arrays that tell where entries are: these never change, and a result gets its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from weft.frontend.models.primitives import covered, is_dense, is_number


class Sparse:
    """What all formats have in common, by way of `with_data`, `multiply` and `__matmul__`."""

    data: Any
    rows: Any
    columns: Any
    is_array: bool
    # What each format has.
    in_order: Any
    nnz: Any
    with_data: Any
    transpose: Any
    multiply: Any
    combined: Any
    toarray: Any
    diagonal: Any
    sum_rows: Any
    hold_order: Any
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
            covered(self.is_array, "a result of class numpy.matrix")
            return self.toarray() - other
        return self.combined(other, -1)

    def __rsub__(self, other: Any) -> Any:
        covered(is_dense(other) and self.is_array, "a dense operand minus this")
        return other - self.toarray()

    def __add__(self, other: Any) -> Any:
        if is_dense(other):
            covered(self.is_array, "a result of class numpy.matrix")
            return self.toarray() + other
        return self.combined(other, 1)

    def __radd__(self, other: Any) -> Any:
        covered(is_dense(other) and self.is_array, "a dense operand plus this")
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
        """The values, if each place has one: else the library adds those of equal places first, in place."""
        if not self.in_order:
            self.hold_order()
        return self.data

    def sum(self, axis: Any = None) -> Any:
        if axis is None:
            return np.sum(self.data)
        if self.is_array:
            return self.sum_rows() if axis == 1 or axis == -1 else self.transpose().sum_rows()
        if axis == 1 or axis == -1:
            return Matrix(self.sum_rows().reshape(self.rows, 1))
        return Matrix(self.transpose().sum_rows().reshape(1, self.columns))

    def mean(self, axis: Any = None) -> Any:
        covered(self.data.dtype == np.float64, "the mean of this type")
        if axis is None:
            return np.sum(self.data) * (1.0 / (self.rows * self.columns))
        covered(self.is_array, "a result of class numpy.matrix")
        return self.sum(axis) * (1.0 / (self.columns if axis == 1 or axis == -1 else self.rows))

    def trace(self) -> Any:
        return self.diagonal().sum()

    def max(self) -> Any:
        """Of all elements: a place without an entry holds zero."""
        stored = self.stored()
        covered(stored.dtype != np.bool_, "the greatest of truth values")
        if len(stored) == self.rows * self.columns:
            return stored.max()
        return stored.max(initial=stored.dtype.type(0))

    def min(self) -> Any:
        stored = self.stored()
        covered(stored.dtype != np.bool_, "the least of truth values")
        if len(stored) == self.rows * self.columns:
            return stored.min()
        return stored.min(initial=stored.dtype.type(0))


@dataclass(frozen=True)
class Matrix:
    """An object of class numpy.matrix that the operators of the matrix interface give: what becomes an array of it."""

    A: Any

    @property
    def A1(self) -> Any:
        return self.A.ravel()

    @property
    def shape(self) -> Any:
        return self.A.shape

    def __array__(self) -> Any:
        return self.A
