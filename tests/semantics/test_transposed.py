"""`zip(*rows)`: the columns of lists of lists, and of tuples."""

from __future__ import annotations

import numpy as np
import pytest

import weft
from tests.semantics.agreement import agree


def columns(m):
    total = 0
    for column in zip(*m):
        for x in column:
            total = total * 2 + x
    sums, most = [sum(c) for c in zip(*m)], [max(c) for c in zip(*m)]
    return total, sums, most, list(map(list, zip(*m))), [list(c) for c in zip(*m)]


def parts(rows):
    names, values = zip(*rows)
    least = min(values)
    return list(names), sum(values), least, [n + "!" for n in names], dict(zip(names, values))


def parts_and_array(rows):
    return *parts(rows), np.array([value for _, value in rows])


def snapshot(rows):
    a, b = zip(*rows)
    rows.append((5, 6))
    return list(a), sum(x * y for x, y in zip(a, b))


def made_here(n):
    rows = []
    for k in range(n):
        rows.append((k, k * 0.5))
    a, b = zip(*rows)
    return list(a), list(b)


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (columns, ([[1, 2, 3], [4, 5, 6]],)),
        (columns, ([[1, 2], [3], [4, 5, 6]],)),
        (columns, ([[1, 2], []],)),
        (parts, ([("a", 1.5), ("b", 2.5)],)),
        (parts_and_array, ([("a", 1.5), ("b", 2.5)],)),
        (snapshot, ([(1, 2), (3, 4)],)),
        (made_here, (4,)),
    ],
)
def test_native(function, args):
    agree(function, *args)


def test_no_rows():
    agree(made_here, 0, native=False)


def test_columns_are_tuples():
    def f(m):
        return list(zip(*m))

    assert weft.jit(fallback="silent")(f)([[1, 2], [3, 4]]) == [(1, 3), (2, 4)]
