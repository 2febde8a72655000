"""What the bodies of models may say beyond Python: conditions under which they are the library's own answer.

In: sizes and types while a model is compiled in; out: a guard of the compiled version, or a refusal, after which the
library itself is called.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from weft.limits import LIMIT


def equal_sizes(first: int, second: int) -> None:
    """The model covers calls with equal sizes; the library has the right error, or another meaning, for the rest."""
    assert first == second


def covered(condition: bool, what: str) -> None:
    """The model covers calls for which the condition is known to hold while compiling."""
    assert condition, what


def is_number(value: Any) -> bool:
    """Whether a value is one number."""
    return not hasattr(value, "shape") or value.shape == ()


def is_dense(value: Any) -> bool:
    """Whether a value is an array of NumPy's."""
    return hasattr(value, "strides")


def most_entries(dtype: Any) -> int:
    """How many entries an index type can count."""
    return int(np.iinfo(dtype).max)


def holds(count: int, dtype: Any) -> int:
    """A count that an index type can hold; the library itself takes a wider type for more."""
    assert count <= most_entries(dtype)
    return count


def larger(size: int, bound: int) -> None:
    """The model covers sizes above a bound; the library treats smaller ones in another way."""
    assert size > bound


def axis_of(axis: Any) -> int:
    """Which of two axes is meant: 0 or 1, known while compiling; the library has the error for others."""
    assert -2 <= axis < 2
    return int(axis % 2)


def or_python(condition: bool, what: str) -> None:
    """The model covers calls for which the condition holds at run time; the library itself does the rest."""
    assert condition, what


def is_matrix(value: Any) -> bool:
    """Whether a value is of class numpy.matrix."""
    return isinstance(value, np.matrix)


def reordered(matrix: Any) -> None:
    """The library now changes the order of a matrix's own entries: nobody may look at it from here on."""


def ordered(indptr: Any, indices: Any) -> bool:
    """Whether the entries of each row are in order, each place once."""
    return all(
        indices[p - 1] < indices[p] for i in range(len(indptr) - 1) for p in range(indptr[i] + 1, indptr[i + 1])
    )


def ordered_or_python(indptr: Any, indices: Any) -> None:
    """The model covers rows whose entries are in order, each place once; the library itself does the rest."""
    for i in range(len(indptr) - 1):
        for p in range(indptr[i] + 1, indptr[i + 1]):
            assert indices[p - 1] < indices[p]


def stretches(size: int) -> bool:
    """Whether an extent fits any other: known to be 1 while compiling (else it has to be equal to the other)."""
    return size == 1


def dense_pays(work: float, dense_work: float) -> bool:
    """Whether a product of so many multiplications with zeros is done sooner than one of so many without them.

    It adds in another order: never where the order of the source is asked for.
    """
    return work * LIMIT["sparse"].default > dense_work


def entry_values(indptr: Any, indices: Any, minor: int, value: Callable[[Any, Any, Any], Any], dtype: Any) -> Any:
    """value(i, j, p) for every entry p, which stands in row i and column j < minor."""
    result = np.empty(len(indices), dtype)
    for i in range(len(indptr) - 1):
        for p in range(indptr[i], indptr[i + 1]):
            result[p] = value(i, indices[p], p)
    return result


def entry_sums(
    shape: tuple[int, ...],
    indptr: Any,
    indices: Any,
    minor: int,
    place: Callable[[Any, Any], tuple[Any, ...]],
    value: Callable[[Any, Any, Any], Any],
    dtype: Any,
) -> Any:
    """An array of sums: value(i, j, p) of every entry is added at place(i, j)."""
    result = np.zeros(shape, dtype)
    for i in range(len(indptr) - 1):
        for p in range(indptr[i], indptr[i + 1]):
            result[place(i, indices[p])] += value(i, indices[p], p)
    return result


def entry_greatest(indptr: Any, indices: Any, minor: int, value: Callable[[Any, Any, Any], Any], dtype: Any) -> Any:
    """The greatest value(i, j, p) of the entries of each row, NaN if one is; anything for a row without entries."""
    return _extremes(indptr, indices, value, dtype, np.maximum)


def entry_least(indptr: Any, indices: Any, minor: int, value: Callable[[Any, Any, Any], Any], dtype: Any) -> Any:
    """The least value(i, j, p) of the entries of each row, NaN if one is; anything for a row without entries."""
    return _extremes(indptr, indices, value, dtype, np.minimum)


def _extremes(indptr: Any, indices: Any, value: Callable[[Any, Any, Any], Any], dtype: Any, better: Any) -> Any:
    result = np.empty(len(indptr) - 1, dtype)
    for i in range(len(indptr) - 1):
        for p in range(indptr[i], indptr[i + 1]):
            here = value(i, indices[p], p)
            result[i] = here if p == indptr[i] else better(result[i], here)
    return result


def entry_row_sums(
    shape: tuple[int, int],
    indptr: Any,
    indices: Any,
    minor: int,
    place: Callable[[Any, Any], Any],
    value: Callable[[Any, Any, Any, Any], Any],
    dtype: Any,
) -> Any:
    """Rows of sums: value(i, j, p, k) of every entry is added at k of row place(i, j), for all k."""
    result = np.zeros(shape, dtype)
    for i in range(len(indptr) - 1):
        for p in range(indptr[i], indptr[i + 1]):
            for k in range(shape[1]):
                result[place(i, indices[p]), k] += value(i, indices[p], p, k)
    return result
