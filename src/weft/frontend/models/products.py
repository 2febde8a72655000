"""Products of two sparse matrices in compressed rows: entries counted, then computed, rows at once.

In: the arrays of both; out: those of the product.  Rows are cut into blocks of about equal work, each with memory of
its own as long as a row: no more blocks than that memory is worth.  No row depends on how they are cut.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.frontend.models.primitives import (
    covered,
    dense_pays,
    equal_sizes,
    holds,
    is_dense,
    or_python,
    ordered_or_python,
)
from weft.parallel import prange

#: Blocks of rows at most, and multiplications for each column from which on another block pays for its memory.
BLOCKS = 64
WORTH = 4


def work_before(indptr: Any, indices: Any, other: Any) -> Any:
    """How many multiplications come before each row of a product."""
    rows = len(indptr) - 1
    before = np.zeros(rows + 1, np.int64)
    for i in range(rows):
        count = 0
        for p in range(indptr[i], indptr[i + 1]):
            j = int(indices[p])
            count += int(other[j + 1]) - int(other[j])
        before[i + 1] = count
    return np.cumsum(before)


def cut(before: Any, columns: int) -> Any:
    """Where blocks of rows of about equal work begin, and the end of the last one."""
    rows = len(before) - 1
    total = int(before[rows])
    blocks = max(1, min(BLOCKS, total // (WORTH * (columns + 1))))
    bounds = np.zeros(blocks + 1, np.int64)
    for b in range(1, blocks):
        low, high = int(bounds[b - 1]), rows
        while low < high:
            middle = (low + high) // 2
            if before[middle] < total // blocks * b:
                low = middle + 1
            else:
                high = middle
        bounds[b] = low
    bounds[blocks] = rows
    return bounds


def row_pattern(left: Any, right: Any, bounds: Any) -> Any:
    """Where the rows of a product begin, how many entries it has, and how many the longest row."""
    index = np.result_type(left.indices, right.indices)
    rows, columns = left.rows, right.columns
    counts = np.zeros(rows, np.int64)
    for b in prange(len(bounds) - 1):
        seen = np.full(columns, -1, index)
        for i in range(max(int(bounds[b]), 0), min(int(bounds[b + 1]), rows)):
            count = 0
            for p in range(left.indptr[i], left.indptr[i + 1]):
                if count == columns:
                    break
                j = int(left.indices[p])
                for q in range(right.indptr[j], right.indptr[j + 1]):
                    if seen[right.indices[q]] != i:
                        seen[right.indices[q]] = i
                        count += 1
            counts[i] = count
    indptr = np.zeros(rows + 1, index)
    total = 0
    longest = 0
    for i in range(rows):
        total += int(counts[i])
        longest = max(longest, int(counts[i]))
        indptr[i + 1] = holds(total, index)
    return indptr, total, longest


def row_products(left: Any, right: Any) -> Any:
    """The product of two matrices in compressed rows: by its entries, or as a dense one if hardly any are missing."""
    bounds = cut(work_before(left.indptr, left.indices, right.indptr), right.columns)
    indptr, total, longest = row_pattern(left, right, bounds)
    indices = np.empty(total, indptr.dtype)
    data = np.empty(total, np.result_type(left.data, right.data))
    if not (np.issubdtype(left.data.dtype, np.floating) and np.issubdtype(right.data.dtype, np.floating)):
        fill_by_entries(left, right, bounds, indptr, indices, data, longest)
        return indptr, indices, data
    # As many multiplications as there would be if each row had equally many entries.
    work = float(len(left.data)) * float(len(right.data))
    is_dense_product = False
    if dense_pays(work, float(left.rows) * float(left.columns) * float(left.columns) * float(right.columns)):
        # Zero times infinity is not zero.
        is_dense_product = bool(np.isfinite(left.data).all()) and bool(np.isfinite(right.data).all())
    if is_dense_product:
        fill_from_dense(left, right, bounds, indptr, indices, data)
    else:
        fill_by_entries(left, right, bounds, indptr, indices, data, longest)
    return indptr, indices, data


def fill_from_dense(left: Any, right: Any, bounds: Any, indptr: Any, indices: Any, data: Any) -> None:
    """All elements of the product by the library, of which those are kept that have an entry, in the same order."""
    product = left.toarray() @ right.toarray()
    rows, columns = left.rows, right.columns
    for b in prange(len(bounds) - 1):
        seen = np.full(columns, -1, indices.dtype)
        for i in range(max(int(bounds[b]), 0), min(int(bounds[b + 1]), rows)):
            begin, free = int(indptr[i]), int(indptr[i + 1])
            for p in range(left.indptr[i], left.indptr[i + 1]):
                if free == begin:
                    break
                j = int(left.indices[p])
                for q in range(right.indptr[j], right.indptr[j + 1]):
                    if seen[right.indices[q]] != i:
                        seen[right.indices[q]] = i
                        free -= 1
                        indices[free] = right.indices[q]
                        data[free] = product[i, right.indices[q]]


def fill_by_entries(
    left: Any, right: Any, bounds: Any, indptr: Any, indices: Any, data: Any, longest: int
) -> None:
    """Gustavson's product, entries in SciPy's order: those of a row that are met first come last."""
    rows, columns = left.rows, right.columns
    for b in prange(len(bounds) - 1):
        place = np.full(columns, -1, indices.dtype)
        sums = np.empty(longest, data.dtype)
        for i in range(max(int(bounds[b]), 0), min(int(bounds[b + 1]), rows)):
            begin, free = int(indptr[i]), int(indptr[i + 1])
            for p in range(left.indptr[i], left.indptr[i + 1]):
                j = int(left.indices[p])
                value = left.data[p]
                for q in range(right.indptr[j], right.indptr[j + 1]):
                    at = int(place[right.indices[q]])
                    if at < begin:  # a place of an earlier row, or none
                        free -= 1
                        at = free
                        place[right.indices[q]] = at
                        indices[at] = right.indices[q]
                        sums[at - begin] = 0
                    sums[at - begin] += value * right.data[q]
            for at in range(begin, int(indptr[i + 1])):
                data[at] = sums[at - begin]


def masked_products(left: Any, right: Any, mask: Any) -> Any:
    """The product's elements where a mask has entries, times the mask's: the product itself is never formed."""
    ordered_or_python(mask.indptr, mask.indices)
    if len(left.data) > 0 and len(right.data) > 0:
        most = float(abs(left.data).max()) * float(abs(right.data).max()) * len(left.data)
        # Where an element outside of the mask is infinite, SciPy finds it times zero.
        or_python(most < 1e300, "a product that may not be finite")
    bounds = cut(work_before(left.indptr, left.indices, right.indptr), right.columns)
    dtype = np.result_type(left.data, right.data)
    sums = np.empty(len(mask.indices), dtype)
    longest = 0
    for i in range(left.rows):
        longest = max(longest, int(mask.indptr[i + 1]) - int(mask.indptr[i]))
    for b in prange(len(bounds) - 1):
        place = np.full(right.columns, -1, np.int64)
        total = np.empty(longest, dtype)
        for i in range(max(int(bounds[b]), 0), min(int(bounds[b + 1]), left.rows)):
            begin = int(mask.indptr[i])
            for r in range(begin, int(mask.indptr[i + 1])):
                place[mask.indices[r]] = r
                total[r - begin] = 0
            for p in range(left.indptr[i], left.indptr[i + 1]):
                j = int(left.indices[p])
                value = left.data[p]
                for q in range(right.indptr[j], right.indptr[j + 1]):
                    at = int(place[right.indices[q]])
                    if at >= begin:
                        total[at - begin] += value * right.data[q]
            for r in range(begin, int(mask.indptr[i + 1])):
                sums[r] = total[r - begin]
    return sums * mask.data


def masked(left: Any, right: Any, mask: Any) -> Any:
    """(left @ right).multiply(mask), where nobody asks which of its entries are zero, or in what order they are."""
    covered(left.data.dtype != np.bool_ and right.data.dtype != np.bool_, "a product of truth values")
    covered(mask.data.dtype != np.bool_, "a product with truth values")
    equal_sizes(left.columns, right.rows)
    equal_sizes(left.rows, mask.rows)
    equal_sizes(right.columns, mask.columns)
    return mask.with_data(masked_products(left, right, mask))


def in_cheaper_order(first: Any, second: Any, third: Any) -> Any:
    """first @ second @ third, of which the first or the second is sparse: what has fewer multiplications goes first."""
    rows, inner, outer, columns = first.shape[0], first.shape[1], second.shape[1], third.shape[1]
    equal_sizes(inner, second.shape[0])
    equal_sizes(outer, third.shape[0])
    if is_dense(second):
        forward = int(first.nnz) * outer + rows * outer * columns
        backward = inner * outer * columns + int(first.nnz) * columns
    else:
        forward = rows * int(second.nnz) + rows * outer * columns
        backward = int(second.nnz) * columns + rows * inner * columns
    if forward <= backward:
        product = first @ second
        return product @ third
    product = second @ third
    return first @ product
