"""Loops over rows that lie one after the other in memory: their tests are made beforehand, as one range."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft
from tests.support import same_as_plain


def product(rows, columns, values, x):
    y = np.zeros(rows.size - 1)
    for i in range(rows.size - 1):
        for j in range(rows[i], rows[i + 1]):
            y[i] += values[j] * x[columns[j]]
    return y


def product_in_place(rows, columns, values, x, y):
    for i in range(len(y)):
        total = 0.0
        for j in range(rows[i], rows[i + 1]):
            total += values[j] * x[columns[j]]
        y[i] = total


def transposed(rows, columns, values, x, y):
    for i in range(rows.size - 1):
        for j in range(rows[i], rows[i + 1]):
            y[columns[j]] += values[j] * x[i]
    return y


def matrix(seed: int, count: int = 6, width: int = 5, long: int = 4) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(seed)
    lengths = rng.integers(0, long, count)
    rows = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    size = int(rows[-1])
    return rows, rng.integers(0, width, size), rng.integers(-4, 5, size) / 4, rng.integers(-4, 5, width) / 4


def cases() -> list[tuple[str, tuple[np.ndarray, ...]]]:
    """Matrices in order, and every way in which one can be out of order."""
    rows, columns, values, x = matrix(1)
    outside, negative, beyond = columns.copy(), columns.copy(), columns.copy()
    outside[2], negative[1], beyond[-1] = x.size, -1, -x.size - 1
    crossed, long, wild = rows.copy(), rows.copy(), rows.copy()
    crossed[2], long[-1], wild[3] = rows[-1], rows[-1] + 1, 2**62
    below = rows.copy()
    below[0] = -2
    none = np.zeros(0)
    return [
        ("plain", (rows, columns, values, x)),
        ("large", matrix(2, 3000, 500, 9)),
        ("no rows", (rows[:1], columns, values, x)),
        ("rows without a beginning", (rows[:0], columns, values, x)),
        ("empty rows", (np.zeros(5, np.int64), columns, values, x)),
        ("nothing at all", (np.zeros(4, np.int64), columns[:0], none, none)),
        ("no x", (rows, columns, values, none)),
        ("a column outside", (rows, outside, values, x)),
        ("a column from the end", (rows, negative, values, x)),
        ("a column before the beginning", (rows, beyond, values, x)),
        ("rows out of order", (crossed, columns, values, x)),
        ("a row beyond the end", (long, columns, values, x)),
        ("a row before the beginning", (below, columns, values, x)),
        ("fewer values than columns", (rows, columns, values[:-1], x)),
        ("a row that never ends", (wild, columns, values, x)),
    ]


@pytest.mark.parametrize("name", [name for name, _ in cases()])
@pytest.mark.parametrize("function", [product, product_in_place, transposed], ids=lambda f: f.__name__)
def test_rows(function, name: str) -> None:
    rows, columns, values, x = dict(cases())[name]

    def make() -> tuple[Any, ...]:
        kept = rows.copy(), columns.copy(), values.copy(), x.copy()
        if function is product:
            return kept
        size = max(rows.size - 1, 0) if function is product_in_place else x.size
        other = np.resize(kept[3], max(rows.size - 1, 0)) if function is transposed and x.size else kept[3]
        return (*kept[:3], other, np.ones(size))

    compiled = weft.jit(fallback="silent")(function)
    compiled(*matrix(3, 5), *([np.ones(5)] if function is not product else []))
    same_as_plain(compiled, function, make, calls=2)


def test_the_test_is_one_range() -> None:
    from weft.ir import text
    from weft.pipeline import stages

    shown = text.show(dict(stages(product, matrix(1)))["tidy"])
    assert "all[" in shown and "first <= " in shown
    assert shown.count("all[") == 1
