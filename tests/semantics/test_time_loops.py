"""Loops in time around sweeps over arrays: several steps at a time give the bits of one step after the other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weft


def jacobi(steps: int, a: Any, b: Any) -> None:
    for _ in range(steps):
        b[1:-1, 1:-1] = 0.2 * (a[1:-1, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:] + a[2:, 1:-1] + a[:-2, 1:-1])
        a[1:-1, 1:-1] = 0.2 * (b[1:-1, 1:-1] + b[1:-1, :-2] + b[1:-1, 2:] + b[2:, 1:-1] + b[:-2, 1:-1])


def walls(steps: int, a: Any, b: Any) -> None:
    """Rows and columns at the border set in each step, one of them from time."""
    for t in range(steps):
        old = a.copy()
        a[1:-1] = (old[:-2] + old[2:]) * b[1:-1]
        a[0, :] = a[1, :]
        a[-1, :] = t
        a[:, 0] = a[:, 1]


def staggered(steps: int, a: Any, b: Any) -> None:
    for _ in range(steps):
        a[1:] = a[1:] - (b[1:] - b[:-1]) // 2
        b[:-1] = b[:-1] - (a[1:] - a[:-1]) // 3


def wide(steps: int, a: Any, b: Any) -> None:
    """Reaches of different length up and down."""
    for _ in range(steps):
        b[3:-1] = a[:-4] - a[4:]
        a[1:-2] = b[3:] + a[1:-2] - b[1:-2]


def by_elements(steps: int, a: Any, b: Any) -> None:
    n, m = a.shape
    for _ in range(steps):
        for i in range(1, n - 1):
            for j in range(m):
                slope = a[i + 1, j] - a[i - 1, j]
                b[i, j] = slope * slope + a[i, j]
        for i in range(1, n - 1):
            for j in range(m):
                a[i, j] = b[i, j] - b[i - 1, j]


def nothing_shared(steps: int, a: Any, b: Any) -> None:
    for _ in range(steps):
        a[:] = a * b + 1
        b[:] = b - a


def periodic(steps: int, a: Any, b: Any) -> None:
    """The first row needs the last one: no blocks."""
    for _ in range(steps):
        b[1:] = a[:-1] + a[1:]
        b[0] = a[-1] + a[0]
        a[:] = b - a


def backwards(steps: int, a: Any, b: Any) -> None:
    for _ in range(steps, 0, -1):
        b[1:-1] = a[:-2] - a[2:]
        a[1:-1] = b[:-2] + b[2:]


FUNCTIONS = [jacobi, walls, staggered, wide, by_elements, nothing_shared, periodic, backwards]


def arrays(rows: int, columns: int, dtype: Any) -> tuple[Any, Any]:
    rng = np.random.default_rng(rows + columns)
    return tuple((rng.random((rows, columns)) * 50).astype(dtype) for _ in range(2))  # type: ignore[return-value]


def check(function: Callable[..., Any], compiled: Callable[..., Any], steps: int, a: Any, b: Any) -> None:
    expected = a.copy(), b.copy()
    with np.errstate(all="ignore"):
        function(steps, *expected)
    for threads in (1, 2, 3):
        actual = a.copy(), b.copy()
        weft.set_num_threads(threads)
        compiled(steps, *actual)
        for one, other in zip(actual, expected):
            np.testing.assert_array_equal(one, other)


@pytest.fixture(autouse=True)
def _threads() -> Any:
    before = weft.get_num_threads()
    yield
    weft.set_num_threads(before)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_same_bits_for_any_number_of_threads(function: Callable[..., Any]) -> None:
    compiled = weft.jit(fallback="error")(function)
    for rows, columns, steps in [(5, 4, 3), (40, 6, 9), (97, 130, 40), (600, 700, 5), (64, 33, 0), (200, 20, 1)]:
        check(function, compiled, steps, *arrays(rows, columns, np.float64))


@pytest.mark.parametrize("dtype", [np.float32, np.int64, np.int32])
def test_other_elements(dtype: Any) -> None:
    for function in (staggered, wide):
        check(function, weft.jit(fallback="error")(function), 7, *arrays(83, 9, dtype))


@pytest.mark.parametrize("layout", ["F", "sliced", "reversed"])
def test_other_layouts(layout: str) -> None:
    a, b = arrays(90, 50, np.float64)
    for function in (jacobi, walls):
        compiled = weft.jit(fallback="error")(function)
        expected = a.copy(), b.copy()
        if layout == "F":
            actual = np.asfortranarray(a), np.asfortranarray(b)
        elif layout == "sliced":
            spread = [np.zeros((180, 100)) for _ in range(2)]
            actual = tuple(array[::2, ::2] for array in spread)  # type: ignore[assignment]
            actual[0][:], actual[1][:] = a, b
        else:
            actual = tuple(x[::-1].copy()[::-1] for x in (a, b))  # type: ignore[assignment]
        function(9, *expected)
        compiled(9, *actual)
        np.testing.assert_array_equal(actual[0], expected[0])
        np.testing.assert_array_equal(actual[1], expected[1])


def test_arguments_that_overlap() -> None:
    compiled = weft.jit(fallback="silent")(wide)
    compiled(3, *arrays(80, 8, np.float64))
    memory = np.random.default_rng(5).random((90, 8))
    expected = memory.copy()
    wide(6, expected[:80], expected[10:])
    compiled(6, memory[:80], memory[10:])
    np.testing.assert_array_equal(memory, expected)


def history(u: Any, c: float) -> None:
    for t in range(1, u.shape[0] - 1):
        u[t + 1, 1:-1] = 2.0 * u[t, 1:-1] - u[t - 1, 1:-1] + c * (u[t, 2:] - 2.0 * u[t, 1:-1] + u[t, :-2])


def test_all_steps_kept() -> None:
    u = np.random.default_rng(3).random((40, 2000))
    expected = u.copy()
    history(expected, 0.3)
    weft.jit(fallback="error")(history)(u, 0.3)
    np.testing.assert_array_equal(u, expected)


def both_ways(a: Any, x: Any) -> Any:
    return (a @ x) @ a


def apart(a: Any, x: Any, y: Any) -> Any:
    return a @ x, 3.0 * (y @ a)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("rows", [2500, 2503])
def test_two_products_of_a_large_matrix(dtype: Any, rows: int) -> None:
    rng = np.random.default_rng(rows)
    a, x, y = (rng.random(size).astype(dtype) for size in ((rows, 2001), 2001, rows))
    tolerance = 1e-12 if dtype is np.float64 else 2e-5
    np.testing.assert_allclose(weft.jit(fallback="error")(both_ways)(a, x), both_ways(a, x), rtol=tolerance)
    compiled = weft.jit(fallback="error")(apart)
    for one, other in zip(compiled(a, x, y), apart(a, x, y)):
        assert one.dtype == dtype
        np.testing.assert_allclose(one, other, rtol=tolerance)
    results = []
    for threads in (1, 2, 3):
        weft.set_num_threads(threads)
        results.append(compiled(a, x, y)[1])
    assert all(np.array_equal(results[0], other) for other in results)
