"""What native code finds out only after it has written an argument: the argument is put back, and Python repeats the
call, so that its own value or exception comes out."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weft


def from_list(a: np.ndarray, xs: list[float]) -> None:
    a[0] = 7
    a[1 : 1 + len(xs)] = xs


def roots(x: np.ndarray, out: np.ndarray) -> np.ndarray:
    for i in range(len(x)):
        out[i] = float(x[i]) ** 0.5
    return out


def means(a: np.ndarray, out: np.ndarray) -> None:
    for i in range(len(out)):
        total, count = 0.0, 0
        for v in a:
            if i <= v < i + 1:
                total += v
                count += 1
        out[i] = total / count


def rounded(a: np.ndarray, b: np.ndarray, digits: int) -> tuple[np.ndarray, np.ndarray]:
    a += 1
    for i in range(len(b)):
        b[i, 0] = a[i] ** 2
        a[i] = round(float(b[i, 0]), digits)
    return a, b


def shifted(a: np.ndarray, b: np.ndarray) -> None:
    for i in range(len(b)):
        a[i] += 1.0
        b[i] = float(a[i]) ** 0.5


_WHOLE = np.arange(12.0)
CALLS: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (from_list, (np.zeros(5, np.int64), [1.0, 2.0])),
    (from_list, (np.zeros(5, np.int64), [1.0, 1e30])),
    (from_list, (np.zeros(5, np.int8), [1.0, float("nan")])),
    (from_list, (np.zeros(5, np.int8), [1.0, 300.0])),
    (roots, (np.array([4.0, 9.0]), np.zeros(2))),
    (roots, (np.array([4.0, -9.0]), np.ones(2))),
    (roots, (np.array([4.0, np.nan, 1.0]), np.ones((3, 2))[::-1, 1])),
    (roots, (np.array([4.0, -4.0]), np.ones(2, np.complex128))),
    (roots, (np.array([4.0, -4.0]), np.ones(2, np.int64))),
    (means, (np.array([0.5, 1.5]), np.ones(2))),
    (means, (np.array([0.5]), np.ones(2))),
    (rounded, (np.arange(3.0), np.zeros((4, 3), order="F")[:3], 2)),
    (rounded, (np.arange(3.0), np.zeros((4, 3), order="F")[:3], 310)),
    (rounded, (np.arange(0.0), np.zeros((0, 3)), -400)),
    (shifted, (_WHOLE[:4] - 3, np.zeros(4))),
]


def outcome(function: Callable[..., Any], arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    try:
        with np.errstate(all="ignore"):
            found = ("gave", repr(function(*arguments)))
    except Exception as problem:
        found = (type(problem).__name__, str(problem))
    return (*found, repr(arguments))


@pytest.mark.parametrize("backend", ["c", "python"])
@pytest.mark.parametrize("number", range(len(CALLS)))
def test_python_goes_on_from_where_the_call_began(number: int, backend: str) -> None:
    function, arguments = CALLS[number]
    compiled = weft.jit(function, backend=backend, fallback="silent")
    for _ in range(2):
        assert outcome(compiled, copy.deepcopy(arguments)) == outcome(function, copy.deepcopy(arguments))


@pytest.mark.parametrize("backend", ["c", "python"])
def test_overlapping_arguments_are_put_back(backend: str) -> None:
    compiled = weft.jit(shifted, backend=backend, fallback="silent")
    for low, high in ((0, 3), (3, 0), (0, 0)):
        memory, other = np.arange(9.0) - 4.0, np.arange(9.0) - 4.0
        wanted = outcome(shifted, (other[low : low + 5], other[high : high + 5]))
        assert outcome(compiled, (memory[low : low + 5], memory[high : high + 5])) == wanted
        np.testing.assert_array_equal(memory, other)
