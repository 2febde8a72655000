"""Sweeps and tables whose loops all carry dependences: tiles on diagonals give the bits of the loops as written."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weft
from weft import pipeline

SIZES = (0, 1, 2, 24, 67, 150)


def seidel(a: Any, b: Any) -> None:
    n, m = a.shape
    for _ in range(2):
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                a[i, j] = a[i - 1, j - 1] - a[i - 1, j + 1] + a[i, j - 1] * 2 - a[i, j] + a[i + 1, j - 1] - b[i, j]


def backwards(a: Any, b: Any) -> None:
    n, m = a.shape
    for i in range(n - 2, -1, -1):
        for j in range(m - 2, -1, -1):
            a[i, j] = a[i + 1, j + 1] - a[i, j + 1] + b[i, j] - a[i + 1, j]


def sometimes(a: Any, b: Any) -> None:
    """Elements that are written in some iterations only, one of them never."""
    n, m = a.shape
    for i in range(1, n):
        for j in range(m - 1):
            if b[i, j] > a[i, j]:
                a[i, j + 1] = a[i - 1, j] + a[i, j]


def two_arrays(a: Any, b: Any) -> None:
    n, m = a.shape
    for i in range(1, n):
        for j in range(1, m):
            a[i, j] = b[i - 1, j] - a[i, j - 1]
            b[i, j] = a[i - 1, j - 1] + b[i, j - 1] - a[i, j]


def triangle(a: Any, b: Any) -> None:
    n = a.shape[0]
    for i in range(1, n):
        for j in range(1, i):
            a[i, j] = a[i - 1, j] - a[i, j - 1] + b[i, j]


def one_dimension(a: Any, b: Any) -> None:
    """The steps of a sweep over a single row."""
    n, m = a.shape
    for _ in range(n):
        for j in range(1, m - 1):
            a[0, j] = a[0, j - 1] - a[0, j] + a[0, j + 1]


SWEEPS = [seidel, backwards, sometimes, two_arrays, triangle, one_dimension]


def edit_distance(x: Any, y: Any) -> Any:
    n, m = len(x), len(y)
    table = np.zeros((n + 1, m + 1), dtype=np.int64)
    for i in range(n + 1):
        table[i, 0] = i
    for j in range(m + 1):
        table[0, j] = j
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            change = 0 if x[i - 1] == y[j - 1] else 1
            table[i, j] = min(table[i - 1, j] + 1, table[i, j - 1] + 1, table[i - 1, j - 1] + change)
    return table[n, m]


def common_sequence(x: Any, y: Any) -> Any:
    n, m = len(x), len(y)
    table = np.zeros((n + 1, m + 1), dtype=np.int32)
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            if x[i - 1] == y[j - 1]:
                table[i, j] = table[i - 1, j - 1] + 1
            else:
                table[i, j] = max(table[i - 1, j], table[i, j - 1])
    return table


def local_alignment(x: Any, y: Any) -> Any:
    n, m = len(x), len(y)
    table = np.zeros((n + 1, m + 1))
    best = 0.0
    count = 0
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            score = 2.0 if x[i - 1] == y[j - 1] else -1.0
            h = max(0.0, table[i - 1, j - 1] + score, table[i - 1, j] - 1.0, table[i, j - 1] - 1.0)
            table[i, j] = h
            if h > best:
                best = h
            if h == 3.0:
                count += 1
    return best, count, table


def global_alignment(x: Any, y: Any) -> Any:
    n, m = len(x), len(y)
    table = np.empty((n + 1, m + 1), dtype=np.int64)
    arrows = np.zeros((n + 1, m + 1), dtype=np.int8)
    for i in range(n + 1):
        table[i, 0] = -2 * i
    for j in range(m + 1):
        table[0, j] = -2 * j
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            best = table[i - 1, j - 1] + (3 if x[i - 1] == y[j - 1] else -1)
            arrow = 0
            if table[i - 1, j] - 2 > best:
                best = table[i - 1, j] - 2
                arrow = 1
            if table[i, j - 1] - 2 > best:
                best = table[i, j - 1] - 2
                arrow = 2
            table[i, j] = best
            arrows[i, j] = arrow
    return table, arrows


def folding(x: Any, y: Any) -> Any:
    n = len(x)
    table = np.zeros((n, n), dtype=np.int32)
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, n):
            table[i, j] = max(table[i, j - 1], table[i + 1, j])
            if i < j - 1:
                table[i, j] = max(table[i, j], table[i + 1, j - 1] + (1 if x[i] + x[j] == 3 else 0))
            for k in range(i + 1, j):
                table[i, j] = max(table[i, j], table[i, k] + table[k + 1, j])
    return table


def last_row(x: Any, y: Any) -> Any:
    """Only the last row of the table is read, and it starts with other values than zeros."""
    n, m = len(x), len(y)
    table = np.ones((n + 2, m + 3)) * 0.5
    for i in range(1, n + 1):
        for j in range(2, m + 1):
            table[i, j] = table[i - 1, j - 2] - table[i, j - 1] + x[i - 1] * y[j - 1]
    return table[n].max(), table[n, 0]


def rest_of_the_fill(x: Any, y: Any) -> Any:
    """What the nest leaves out of a filled table is still filled, and counted after it."""
    n, m = len(x), len(y)
    table = np.full((n + 3, m + 4), 7.0)
    for i in range(2, n):
        for j in range(1, m - 1):
            table[i, j] = table[i - 1, j] - table[i, j - 1] * 0.5
    return table


def band(x: Any, y: Any) -> Any:
    """Columns near the diagonal alone."""
    n, m = len(x), len(y)
    table = np.full((n + 1, m + 1), 1000)
    table[0, 0] = 0
    for i in range(1, n + 1):
        for j in range(max(1, i - 30), min(m, i + 9) + 1):
            change = 0 if x[i - 1] == y[j - 1] else 1
            table[i, j] = min(table[i - 1, j] + 1, table[i, j - 1] + 1, table[i - 1, j - 1] + change)
    return table


def few_rows_have_columns(x: Any, y: Any) -> Any:
    """Rows without columns: what they would read does not exist."""
    n, m = len(x), len(y)
    table = np.ones((n + 1, m + 1))
    for i in range(3, n + 1):
        for j in range(i, min(m + 1, 2 * i - 20)):
            table[i, j] = table[i - 1, j] - table[i, j - 1] * 0.5 + y[j - 21]
    return table


TABLES = [edit_distance, common_sequence, local_alignment, global_alignment, folding, last_row, rest_of_the_fill]
TABLES += [band]


def same(one: Any, other: Any) -> None:
    if isinstance(other, tuple):
        for left, right in zip(one, other):
            same(left, right)
        return
    np.testing.assert_array_equal(one, other)
    assert np.asarray(one).dtype == np.asarray(other).dtype
    assert type(one) is type(other) or isinstance(one, float)


@pytest.fixture(autouse=True)
def _threads() -> Any:
    before = weft.get_num_threads()
    yield
    weft.set_num_threads(before)


def check(function: Callable[..., Any], compiled: Callable[..., Any], *arguments: Any) -> None:
    expected = copy.deepcopy(arguments)
    with np.errstate(all="ignore"):
        result = function(*expected)
    for threads in (1, 2, 3):
        weft.set_num_threads(threads)
        actual = copy.deepcopy(arguments)
        same(compiled(*actual), result)
        same(actual, expected)


def arrays(rows: int, columns: int, dtype: Any) -> tuple[Any, Any]:
    rng = np.random.default_rng(rows + columns)
    return tuple((rng.random((rows, columns)) * 9).astype(dtype) for _ in range(2))  # type: ignore[return-value]


@pytest.mark.parametrize("function", SWEEPS)
def test_sweeps(function: Callable[..., Any]) -> None:
    compiled = weft.jit(fallback="error")(function)
    others = [] if function is triangle else [(30, 500), (300, 26), (3, 100)]
    for rows, columns in [*((size, size) for size in SIZES), *others]:
        check(function, compiled, *arrays(rows, columns, np.float64))


@pytest.mark.parametrize("dtype", [np.float32, np.int64, np.int16, np.complex128])
def test_elements(dtype: Any) -> None:
    for function in (seidel, backwards, two_arrays):
        check(function, weft.jit(fallback="error")(function), *arrays(70, 90, dtype))


def test_strict_mode_has_the_same_bits() -> None:
    for function in (seidel, sometimes):
        check(function, weft.jit(fallback="error", fp="strict")(function), *arrays(70, 90, np.float64))


@pytest.mark.parametrize("layout", ["F", "sliced", "reversed"])
@pytest.mark.parametrize("function", [seidel, backwards, sometimes])
def test_layouts(function: Callable[..., Any], layout: str) -> None:
    a, b = arrays(80, 90, np.float64)
    expected = a.copy(), b.copy()
    function(*expected)
    if layout == "F":
        actual = np.asfortranarray(a), np.asfortranarray(b)
    elif layout == "sliced":
        actual = tuple(np.repeat(np.repeat(x, 2, 0), 3, 1)[::2, ::3] for x in (a, b))  # type: ignore[assignment]
    else:
        actual = tuple(x[::-1, ::-1].copy()[::-1, ::-1] for x in (a, b))  # type: ignore[assignment]
    weft.jit(fallback="error")(function)(*actual)
    same(actual, expected)


def test_arguments_that_overlap() -> None:
    memory = np.random.default_rng(3).random((120, 90))
    expected = memory.copy()
    two_arrays(expected[:100], expected[20:])
    compiled = weft.jit(fallback="silent")(two_arrays)
    compiled(*arrays(100, 90, np.float64))
    compiled(memory[:100], memory[20:])
    np.testing.assert_array_equal(memory, expected)


@pytest.mark.parametrize("function", [*TABLES, few_rows_have_columns])
def test_tables(function: Callable[..., Any]) -> None:
    compiled = weft.jit(fallback="error")(function)
    rng = np.random.default_rng(1)
    for size in SIZES:
        check(function, compiled, rng.integers(0, 4, size), rng.integers(0, 4, size))
    if function is not folding:
        check(function, compiled, rng.integers(0, 4, 40), rng.integers(0, 4, 400))


def test_not_a_number_in_a_table() -> None:
    a, b = arrays(60, 60, np.float64)
    a[7, 3] = np.nan
    b[30:, 9] = np.inf
    for function in SWEEPS:
        check(function, weft.jit(fallback="error")(function), a, b)


def first_bad(a: Any, b: Any) -> Any:
    n, m = a.shape
    table = np.zeros((n, m))
    for i in range(1, n):
        for j in range(1, m):
            table[i, j] = table[i - 1, j] + table[i, j - 1] + b[i, int(a[i, j])]
    return table


def test_the_exception_of_the_first_bad_iteration() -> None:
    """An index that only the data tell: Python's own exception, and the same result without one."""
    a, b = arrays(60, 70, np.float64)
    compiled = weft.jit(fallback="error")(first_bad)
    check(first_bad, compiled, a, b)
    a[40, 30], a[20, 50] = 1000, 2000
    with pytest.raises(IndexError, match="2000"):
        first_bad(a, b)
    with pytest.raises(IndexError, match="2000"):
        compiled(a, b)


@pytest.mark.parametrize("function", [seidel, backwards, sometimes, two_arrays, triangle])
def test_sweeps_are_tiled(function: Callable[..., Any]) -> None:
    lowered = pipeline.stages(function, arrays(50, 50, np.float64))[-1][1]
    assert any("window" in buffer.name for buffer in lowered.buffers)


@pytest.mark.parametrize("function", TABLES)
def test_tables_are_tiled(function: Callable[..., Any]) -> None:
    samples = np.arange(30), np.arange(31)
    lowered = pipeline.stages(function, samples)[-1][1]
    assert any("window" in buffer.name or "early" in buffer.name for buffer in lowered.buffers)
