"""Sparse arrays in the COO format that are no matrices: of one dimension, and of three.  In: coordinates and values;
out: what their operators give."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from weft.frontend.models import kernels
from weft.frontend.models.primitives import covered, equal_sizes, is_dense, is_number


class Coordinates:
    """What both have in common."""

    data: Any
    with_data: Any  # the same places with other values
    format = "coo"
    is_array = True

    @property
    def nnz(self) -> Any:
        return len(self.data)

    @property
    def size(self) -> Any:
        return len(self.data)

    @property
    def dtype(self) -> Any:
        return self.data.dtype

    def copy(self) -> Any:
        return self.with_data(self.data.copy())

    def __mul__(self, other: Any) -> Any:
        covered(is_number(other), "a product of this element by element")
        return self.with_data(self.data * other)

    def __rmul__(self, other: Any) -> Any:
        covered(is_number(other), "a product of this element by element")
        return self.with_data(self.data * other)

    def __neg__(self) -> Any:
        covered(self.data.dtype != np.bool_, "the negative of truth values")
        return self.with_data(-self.data)


@dataclass(frozen=True)
class Line(Coordinates):
    """A sparse array of one dimension: entry p has the value data[p] at col[p]."""

    col: Any
    data: Any
    extent: Any
    ndim = 1

    @property
    def shape(self) -> Any:
        return (self.extent,)

    @property
    def coords(self) -> Any:
        return (self.col,)

    def with_data(self, data: Any) -> Any:
        return Line(self.col, data, self.extent)

    def toarray(self) -> Any:
        result = np.zeros(self.extent, self.data.dtype)
        for p in range(len(self.data)):
            result[self.col[p]] += self.data[p]
        return result

    def todense(self) -> Any:
        return self.toarray()

    def __matmul__(self, other: Any) -> Any:
        covered(is_dense(other) and other.ndim == 1, "a product of one dimension with this")
        covered(self.data.dtype != np.bool_, "a product of truth values")
        equal_sizes(self.extent, other.shape[0])
        return np.sum(self.data * other[self.col])

    def dot(self, other: Any) -> Any:
        return self @ other

    def sum(self) -> Any:
        return np.sum(self.data)

    def element(self, place: int) -> Any:
        result = self.data.dtype.type(0)
        for p in range(len(self.data)):
            if self.col[p] == place:
                result += self.data[p]
        return result

    def some(self, low: int, high: int) -> Any:
        places, _, values = kernels.within(self.col, self.col, self.data, low, high)
        return Line(places, values, high - low)

    def chosen(self, which: Any, rises: bool, is_slice: bool) -> Any:
        of = self.col.dtype if is_slice else np.int64
        places, _, values = kernels.named(self.col, self.col, self.data, self.extent, which, of)
        return Line(places, values, len(which))


@dataclass(frozen=True)
class Tensor(Coordinates):
    """A sparse array of three dimensions: entry p has the value data[p] at (first[p], second[p], third[p]).

    Its sums are not here: SciPy adds up doubled entries of the object itself for them.
    """

    first: Any
    second: Any
    third: Any
    data: Any
    extents: Any
    ndim = 3

    @property
    def shape(self) -> Any:
        return self.extents

    @property
    def coords(self) -> Any:
        return (self.first, self.second, self.third)

    def with_data(self, data: Any) -> Any:
        return Tensor(self.first, self.second, self.third, data, self.extents)

    def toarray(self) -> Any:
        result = np.zeros(self.extents, self.data.dtype)
        for p in range(len(self.data)):
            result[self.first[p], self.second[p], self.third[p]] += self.data[p]
        return result

    def todense(self) -> Any:
        return self.toarray()
