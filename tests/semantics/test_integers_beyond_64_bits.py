"""A Python integer leaves 64 bits after an argument has been written: the arguments are put back, and Python's answer
comes out."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weft


def powers(a: np.ndarray, n: int) -> int:
    a[0] = 1.0
    s = 1
    for _ in range(n):
        s *= 3
    a[1] = 2.0
    return s


def digits(a: np.ndarray, k: int) -> int:
    s = 0
    for i in range(len(a)):
        s = s * k + int(a[i])
        a[i] = 0
    return s


def table(a: np.ndarray, k: int) -> np.ndarray:
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            a[i, j] = (i * k + j) % 7
    return a


def two(a: np.ndarray, b: np.ndarray, k: int) -> int:
    a += 1
    b[::2] = a[: len(b[::2])]
    s = k
    for v in b:
        s = s * 3 + int(v)
    b[0] = 9
    return s


def caught(a: np.ndarray, k: int) -> int:
    a[0] = 5
    s = 1
    for i in range(k):
        s = s * 7 + i
    if s > 10**30:
        raise ValueError(str(s))
    return s


def of_a_function(a: np.ndarray, k: int) -> int:
    def step(s: int, v: int) -> int:
        a[1] = v
        return s * 5 + v

    s = 1
    for v in range(k):
        s = step(s, v)
    return s


_GRID = np.zeros((4, 5))
CALLS: list[tuple[Callable[..., Any], list[tuple[Any, ...]]]] = [
    (powers, [(np.zeros(5), n) for n in (3, 60, 5)]),
    (powers, [(np.zeros(12)[::-2], n) for n in (3, 60, 5)]),
    (digits, [(np.arange(100), 12345), (np.arange(3), 10), (np.arange(60)[::-3], 999)]),
    (table, [(_GRID, 3), (_GRID, 2**62), (np.asfortranarray(_GRID), 2**62), (_GRID, 3)]),
    (two, [(np.arange(6), np.arange(6), 3), (np.arange(40), np.arange(80)[::-2], 2**60)]),
    (caught, [(np.zeros(3), 4), (np.zeros(3), 30), (np.zeros(3), 50)]),
    (of_a_function, [(np.zeros(3), 4), (np.zeros(3), 40), (np.zeros(3), 5)]),
]


@pytest.mark.parametrize("backend", ["c", "python"])
@pytest.mark.parametrize(("function", "calls"), CALLS, ids=lambda each: getattr(each, "__name__", ""))
def test_python_answers(function: Callable[..., Any], calls: list[tuple[Any, ...]], backend: str) -> None:
    compiled = weft.jit(function, backend=backend, fallback="silent")
    for arguments in calls:
        mine, others = copy.deepcopy(arguments), copy.deepcopy(arguments)
        outcomes = []
        for call, given in ((compiled, mine), (function, others)):
            try:
                outcomes.append(repr(call(*given)))
            except ValueError as problem:
                outcomes.append(str(problem))
        assert outcomes[0] == outcomes[1]
        assert all(np.array_equal(one, other) for one, other in zip(mine, others))


def test_overlapping_arguments() -> None:
    def f(a: np.ndarray, b: np.ndarray, k: int) -> int:
        for i in range(len(a)):
            a[i] += 1
            b[i] *= 2
            k = k * 3
        return k

    compiled = weft.jit(f, fallback="silent")
    for k in (1, 2**61):
        mine, others = np.arange(11), np.arange(11)
        assert compiled(mine[:-1], mine[1:], k) == f(others[:-1], others[1:], k)
        assert np.array_equal(mine, others)


def test_a_large_array_of_which_little_is_written_is_not_copied() -> None:
    """It raises OverflowError then, as the manual says: a copy would take much longer than the function."""
    compiled = weft.jit(powers, fallback="silent")
    large = np.zeros(10_000)
    assert compiled(large, 3) == 27
    with pytest.raises(OverflowError, match="64 bits"):
        compiled(large, 60)
