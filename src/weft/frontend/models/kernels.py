"""Loops over the arrays of compressed matrices, which the formats share.  In: index pointers, coordinates and values;
out: those of a new matrix.

`indptr` tells where the entries of each row begin: a row is a column where the format is CSC.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from weft.frontend.models.primitives import holds, ordered


def counted(places: Any, size: int, dtype: Any) -> Any:
    """Where the entries of each place begin, if they are put in order of places."""
    starts = np.zeros(size + 1, dtype)
    for p in range(len(places)):
        starts[places[p] + 1] += 1
    for j in range(size):
        starts[j + 1] += starts[j]
    return starts


def turned(indptr: Any, indices: Any, data: Any, rows: int, columns: int) -> Any:
    """The entries counted by column, then put in their places: within a column in order of rows."""
    count = len(indices)
    starts = counted(indices, columns, indptr.dtype)
    place = starts.copy()
    places = np.empty(count, indices.dtype)
    values = np.empty(count, data.dtype)
    for i in range(rows):
        for p in range(indptr[i], indptr[i + 1]):
            q = place[indices[p]]
            places[q] = i
            values[q] = data[p]
            place[indices[p]] = q + 1
    return starts, places, values


def gathered(row: Any, col: Any, data: Any, rows: int) -> Any:
    """Entries with coordinates in any order, put into their rows."""
    count = len(data)
    indptr = counted(row, rows, row.dtype)
    place = indptr.copy()
    indices = np.empty(count, row.dtype)
    values = np.empty(count, data.dtype)
    for p in range(count):
        q = place[row[p]]
        indices[q] = col[p]
        values[q] = data[p]
        place[row[p]] = q + 1
    return indptr, indices, values


def merged(indptr: Any, indices: Any, data: Any, rows: int) -> Any:
    """Entries of one place, which are neighbours, added."""
    starts = np.zeros(rows + 1, indptr.dtype)
    places = np.empty(len(indices), indices.dtype)
    values = np.empty(len(indices), data.dtype)
    count = 0
    for i in range(rows):
        begin = count
        for p in range(indptr[i], indptr[i + 1]):
            if count > begin and places[count - 1] == indices[p]:
                values[count - 1] += data[p]
            else:
                places[count] = indices[p]
                values[count] = data[p]
                count += 1
        starts[i + 1] = count
    return starts, places[:count].copy(), values[:count].copy()


def nonzero(indptr: Any, indices: Any, data: Any, rows: int) -> Any:
    """The entries whose values are not zero."""
    starts = np.zeros(rows + 1, indptr.dtype)
    places = np.empty(len(indices), indices.dtype)
    values = np.empty(len(indices), data.dtype)
    count = 0
    for i in range(rows):
        for p in range(indptr[i], indptr[i + 1]):
            if data[p] != 0:
                places[count] = indices[p]
                values[count] = data[p]
                count += 1
        starts[i + 1] = count
    return starts, places[:count].copy(), values[:count].copy()


def between(indptr: Any, indices: Any, data: Any, rows: int, low: int, high: int) -> Any:
    """The entries in the columns from `low` to `high`."""
    starts = np.zeros(rows + 1, indptr.dtype)
    places = np.empty(len(indices), indices.dtype)
    values = np.empty(len(indices), data.dtype)
    count = 0
    for i in range(rows):
        for p in range(indptr[i], indptr[i + 1]):
            if low <= indices[p] < high:
                places[count] = indices[p] - low
                values[count] = data[p]
                count += 1
        starts[i + 1] = count
    return starts, places[:count].copy(), values[:count].copy()


def chosen(indptr: Any, indices: Any, data: Any, which: Any) -> Any:
    """The rows that an array of integers names, in its order."""
    starts = np.zeros(len(which) + 1, indptr.dtype)
    total = 0
    for i in range(len(which)):
        total += int(indptr[which[i] + 1]) - int(indptr[which[i]])
        starts[i + 1] = holds(total, indptr.dtype)
    places = np.empty(total, indices.dtype)
    values = np.empty(total, data.dtype)
    count = 0
    for i in range(len(which)):
        for p in range(indptr[which[i]], indptr[which[i] + 1]):
            places[count] = indices[p]
            values[count] = data[p]
            count += 1
    return starts, places, values


def repeated(places: Any, which: Any, size: int) -> Any:
    """Which elements of `which` name each place: where they begin, and those elements, in order of places."""
    begin = counted(which, size, np.int64)
    free = begin.copy()
    order = np.empty(len(which), np.int64)
    for k in range(len(which)):
        order[free[which[k]]] = k
        free[which[k]] += 1
    total = 0
    for p in range(len(places)):
        total += begin[places[p] + 1] - begin[places[p]]
    return begin, order, total


def picked(indptr: Any, indices: Any, data: Any, rows: int, columns: int, which: Any) -> Any:
    """The entries in the columns that an array of integers names, which are the columns of the result."""
    begin, order, total = repeated(indices, which, columns)
    starts = np.zeros(rows + 1, indptr.dtype)
    places = np.empty(holds(total, indices.dtype), indices.dtype)
    values = np.empty(total, data.dtype)
    count = 0
    for i in range(rows):
        for p in range(indptr[i], indptr[i + 1]):
            for k in range(begin[indices[p]], begin[indices[p] + 1]):
                places[count] = order[k]
                values[count] = data[p]
                count += 1
        starts[i + 1] = count
    return starts, places, values


def within(along: Any, across: Any, data: Any, low: int, high: int) -> Any:
    """Entries with coordinates, those from `low` to `high` along an axis."""
    first = np.empty(len(data), along.dtype)
    second = np.empty(len(data), across.dtype)
    values = np.empty(len(data), data.dtype)
    count = 0
    for p in range(len(data)):
        if low <= along[p] < high:
            first[count] = along[p] - low
            second[count] = across[p]
            values[count] = data[p]
            count += 1
    return first[:count].copy(), second[:count].copy(), values[:count].copy()


def named(along: Any, across: Any, data: Any, size: int, which: Any, dtype: Any) -> Any:
    """Entries with coordinates, those at the places along an axis that an array names; of coordinates of a type."""
    begin, order, total = repeated(along, which, size)
    first = np.empty(total, dtype)
    second = np.empty(total, dtype)
    values = np.empty(total, data.dtype)
    count = 0
    for p in range(len(data)):
        for k in range(begin[along[p]], begin[along[p] + 1]):
            first[count] = order[k]
            second[count] = across[p]
            values[count] = data[p]
            count += 1
    return first, second, values


def met(row: Any, col: Any, data: Any, rows: Any, columns: Any) -> Any:
    """Entries with coordinates that are at places (rows[k], columns[k]): each such k, and the value there."""
    total = 0
    for p in range(len(data)):
        for k in range(len(rows)):
            if row[p] == rows[k] and col[p] == columns[k]:
                total += 1
    places = np.empty(total, np.int64)
    values = np.empty(total, data.dtype)
    count = 0
    for p in range(len(data)):
        for k in range(len(rows)):
            if row[p] == rows[k] and col[p] == columns[k]:
                places[count] = k
                values[count] = data[p]
                count += 1
    return places, values


def summed(row: Any, col: Any, data: Any, rows: int, columns: int, dtype: Any) -> Any:
    """Entries with coordinates as a dense matrix, those of one place added."""
    result = np.zeros((rows, columns), dtype)
    for p in range(len(data)):
        result[row[p], col[p]] += data[p]
    return result


def by_row(row: Any, col: Any) -> bool:
    """Whether coordinates go row by row, each place once."""
    return all(row[p - 1] < row[p] or (row[p - 1] == row[p] and col[p - 1] < col[p]) for p in range(1, len(row)))


def elementwise(left: Any, right: Any, combine: Callable[[Any, Any], Any], dtype: Any, is_ordered: bool) -> Any:
    """combine(a, b) at every place where one of two matrices has an entry, if it is not zero.

    `is_ordered`: it is known that rows are in order, each place once; else that is found out first.
    """
    if is_ordered:
        return walked(left, right, combine, dtype)
    index = np.result_type(left.indices, right.indices)
    indptr = np.zeros(left.major + 1, index)
    room = len(left.indices) + len(right.indices)
    indices = np.empty(room, index)
    data = np.empty(room, dtype)
    if ordered(left.indptr, left.indices) and ordered(right.indptr, right.indices):
        count = walk(left, right, combine, indptr, indices, data)
    else:
        count = scatter(left, right, combine, indptr, indices, data)
    return indptr, indices[:count].copy(), data[:count].copy()


def walked(left: Any, right: Any, combine: Callable[[Any, Any], Any], dtype: Any) -> Any:
    index = np.result_type(left.indices, right.indices)
    indptr = np.zeros(left.major + 1, index)
    room = len(left.indices) + len(right.indices)
    indices = np.empty(room, index)
    data = np.empty(room, dtype)
    count = walk(left, right, combine, indptr, indices, data)
    return indptr, indices[:count].copy(), data[:count].copy()


def walk(left: Any, right: Any, combine: Callable[[Any, Any], Any], indptr: Any, indices: Any, data: Any) -> int:
    """Rows in order: one walk over both."""
    zero = np.result_type(left.data, right.data).type(0)
    count = 0
    for i in range(left.major):
        p, end = int(left.indptr[i]), int(left.indptr[i + 1])
        q, other_end = int(right.indptr[i]), int(right.indptr[i + 1])
        while p < end or q < other_end:
            one = int(left.indices[p]) if p < end else left.minor
            other = int(right.indices[q]) if q < other_end else left.minor
            a = zero
            b = zero
            if one <= other:
                a += left.data[p]
                p += 1
            if other <= one:
                b += right.data[q]
                q += 1
            value = combine(a, b)
            if value != 0:
                indices[count] = min(one, other)
                data[count] = value
                count += 1
        indptr[i + 1] = holds(count, indices.dtype)
    return count


def scatter(left: Any, right: Any, combine: Callable[[Any, Any], Any], indptr: Any, indices: Any, data: Any) -> int:
    """Rows in any order: entries of one place are added, in a row of all columns."""
    dtype = np.result_type(left.data, right.data)
    one = np.zeros(left.minor, dtype)
    other = np.zeros(left.minor, dtype)
    following = np.full(left.minor, -1, np.int64)
    count = 0
    for i in range(left.major):
        head = -2
        length = 0
        for p in range(left.indptr[i], left.indptr[i + 1]):
            j = int(left.indices[p])
            one[j] += left.data[p]
            if following[j] == -1:
                following[j] = head
                head = j
                length += 1
        for p in range(right.indptr[i], right.indptr[i + 1]):
            j = int(right.indices[p])
            other[j] += right.data[p]
            if following[j] == -1:
                following[j] = head
                head = j
                length += 1
        for _ in range(length):
            value = combine(one[head], other[head])
            if value != 0:
                indices[count] = head
                data[count] = value
                count += 1
            last = head
            head = int(following[last])
            following[last] = -1
            one[last] = 0
            other[last] = 0
        indptr[i + 1] = holds(count, indices.dtype)
    return count


def extremes(found: Any, indptr: Any, columns: int, choose: Callable[[Any, Any], Any]) -> Any:
    """The greatest or least element of each row, zeros among them, where it is not zero itself.

    `found`: the extreme of the entries of each row.
    """
    places = np.empty(holds(len(found), np.int32), np.int32)
    values = np.empty(len(found), found.dtype)
    count = 0
    for i in range(len(found)):
        if indptr[i] < indptr[i + 1]:
            value = found[i]
            if indptr[i + 1] - indptr[i] < columns:
                value = choose(value, found.dtype.type(0))
            if value != 0:
                places[count] = i
                values[count] = value
                count += 1
    return places[:count].copy(), values[:count].copy()


def stacked(upper: Any, lower: Any) -> Any:
    """The rows of one matrix, then those of another."""
    index = np.result_type(upper.indices, lower.indices)
    indptr = np.zeros(upper.major + lower.major + 1, index)
    first = len(upper.indices)
    count = holds(first + len(lower.indices), index)
    indices = np.empty(count, index)
    data = np.empty(count, np.result_type(upper.data, lower.data))
    indptr[: upper.major + 1] = upper.indptr
    for i in range(lower.major):
        indptr[upper.major + i + 1] = first + int(lower.indptr[i + 1])
    indices[:first] = upper.indices
    indices[first:] = lower.indices
    data[:first] = upper.data
    data[first:] = lower.data
    return indptr, indices, data


def beside(left: Any, right: Any) -> Any:
    """Each row of one matrix, then the same row of another."""
    index = np.result_type(left.indices, right.indices)
    indptr = np.zeros(left.major + 1, index)
    holds(left.minor + right.minor, index)
    count = holds(len(left.indices) + len(right.indices), index)
    indices = np.empty(count, index)
    data = np.empty(count, np.result_type(left.data, right.data))
    place = 0
    for i in range(left.major):
        for p in range(left.indptr[i], left.indptr[i + 1]):
            indices[place] = left.indices[p]
            data[place] = left.data[p]
            place += 1
        for p in range(right.indptr[i], right.indptr[i + 1]):
            indices[place] = int(right.indices[p]) + left.minor
            data[place] = right.data[p]
            place += 1
        indptr[i + 1] = place
    return indptr, indices, data
