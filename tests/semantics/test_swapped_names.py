"""Steps in which names change places, copies between sweeps, and steps counted by a while loop: several steps at a time
give the bits, and the objects, of one after the other.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weft
from weft import pipeline
from weft.ir.program import Loop, While
from weft.ir.walk import walk


def swapped(steps: int, a: Any, b: Any) -> Any:
    for _ in range(steps):
        b[1:-1, 1:-1] = 0.2 * (a[1:-1, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:] + a[2:, 1:-1] + a[:-2, 1:-1])
        a, b = b, a
    return a


def swapped_own(steps: int, a: Any, b: Any) -> Any:
    x = a.copy()
    y = b.copy()
    for t in range(1, steps):
        y[1:-1] = x[:-2] - x[2:] * 0.5 + t
        x, y = y, x
    return x, y


def three_in_turn(steps: int, a: Any, b: Any) -> Any:
    c = a + b
    for _ in range(steps):
        c[1:-1] = 2.0 * b[1:-1] - a[1:-1] + 0.1 * (b[:-2] - b[2:])
        a, b, c = b, c, a
    return b.copy()


def by_elements(steps: int, a: Any, b: Any) -> Any:
    n, m = a.shape
    for _ in range(steps):
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                slope = a[i + 1, j] - a[i - 1, j]
                b[i, j] = slope * slope * 0.125 + a[i, j - 1]
        a, b = b, a
    return b


def copied(steps: int, a: Any, b: Any) -> None:
    for _ in range(steps):
        b[:] = a
        a[1:-1, 1:-1] = 0.25 * (b[:-2, 1:-1] + b[2:, 1:-1] + b[1:-1, :-2] + b[1:-1, 2:])


def counted(steps: int, a: Any, b: Any) -> int:
    t = 0
    while t < steps:
        b[1:-1] = 0.5 * (a[:-2] + a[2:])
        a[1:-1] = b[1:-1] + t
        t += 1
    return t


FORMS = [swapped, swapped_own, three_in_turn, by_elements, copied, counted]


@pytest.mark.parametrize("function", FORMS, ids=lambda f: f.__name__)
def test_bits_and_objects(function: Callable[..., Any]) -> None:
    compiled = weft.jit(fallback="error")(function)
    for rows, columns, steps in ((3, 3, 2), (12, 9, 5), (90, 40, 0), (90, 40, 7), (90, 40, 8), (61, 30, 1)):
        rng = np.random.default_rng(rows + steps)
        arrays = [rng.random((rows, columns)), rng.random((rows, columns))]
        mine = [array.copy() for array in arrays]
        expected, found = function(steps, *arrays), compiled(steps, *mine)
        for one, other in zip(arrays, mine):
            np.testing.assert_array_equal(one, other)
        np.testing.assert_equal(expected, found)
        if isinstance(expected, np.ndarray):
            assert [expected is array for array in arrays] == [found is array for array in mine]


@pytest.mark.parametrize(
    "function", [swapped, swapped_own, three_in_turn, by_elements, copied, counted], ids=lambda f: f.__name__
)
def test_several_steps_at_a_time(function: Callable[..., Any]) -> None:
    lowered = pipeline.stages(function, (5, np.ones((9, 9)), np.ones((9, 9))))[-1][1]
    assert any(isinstance(node, Loop) and "phase" in node.dim.var for node in walk(lowered.body))


@pytest.mark.parametrize("function", [swapped, three_in_turn], ids=lambda f: f.__name__)
def test_arrays_that_share_memory(function: Callable[..., Any]) -> None:
    compiled = weft.jit(fallback="silent")(function)
    one = np.random.default_rng(1).random((40, 12))
    other = one.copy()
    expected = function(6, one[:-1], one[1:])
    np.testing.assert_array_equal(expected, compiled(6, other[:-1], other[1:]))
    np.testing.assert_array_equal(one, other)


def up(n: int, a: Any) -> Any:
    k = 2
    while n > k:
        k += 3
        if k < n:
            a[k] = k
    return k


def down(n: int, a: Any) -> Any:
    k = n - 1
    total = 0.0
    while k >= 0:
        total = total * 0.5 + a[k]
        k -= 2
    return total, k


def left_early(n: int, a: Any) -> Any:
    k = 0
    while k < n:
        k += 1
        if a[k - 1] > 0.75:
            break
    return k


def moving_end(n: int, a: Any) -> Any:
    k, m = 0, n
    while k < m:
        k += 1
        m -= 1
    return k, m


def never(n: int, a: Any) -> Any:
    k = 5
    while k <= n:
        k += 1
    return k


@pytest.mark.parametrize("function", [up, down, left_early, moving_end, never], ids=lambda f: f.__name__)
def test_loops_that_count(function: Callable[..., Any]) -> None:
    compiled = weft.jit(fallback="error")(function)
    for n in (0, 1, 2, 7, 10):
        one = np.random.default_rng(n).random(10)
        other = one.copy()
        assert function(n, one) == compiled(n, other)
        np.testing.assert_array_equal(one, other)


def test_which_loops_count() -> None:
    def whiles(function: Callable[..., Any]) -> int:
        lowered = pipeline.stages(function, (5, np.ones(9)))[-1][1]
        return sum(isinstance(node, While) for node in walk(lowered.body))

    assert [whiles(function) for function in (up, down, never, left_early, moving_end)] == [0, 0, 0, 1, 1]
