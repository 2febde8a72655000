"""Arguments that lie between each other in memory and share none of it are taken as they are; those that do share some
give what Python gives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weft


def moved(a: Any, b: Any) -> None:
    for i in range(len(a)):
        a[i] = 0.5 * b[i] + a[i]


def moved_rows(a: Any, b: Any) -> None:
    n, m = a.shape
    for i in range(n):
        for j in range(m):
            a[i, j] = 0.5 * b[i, j] + a[i, j]


def made() -> np.ndarray:
    return np.arange(60.0).reshape(10, 6)


def numbers() -> np.ndarray:
    return np.arange(20.0) + 1j * np.arange(20.0, 40.0)


APART: dict[str, Callable[[], tuple[np.ndarray, np.ndarray]]] = {
    "columns": lambda: (m := made(), (m[:, 1], m[:, 4]))[1],
    "columns upside down": lambda: (m := made(), (m[:, 1], m[::-1, 4]))[1],
    "every other": lambda: (m := made().ravel(), (m[::2], m[1::2]))[1],
    "backwards": lambda: (m := made().ravel(), (m[::-2], m[::2]))[1],
    "parts of numbers": lambda: (z := numbers(), (z.real, z.imag))[1],
    "rows of another step": lambda: (m := made(), (m[::2, 0], m[1:6, 3]))[1],
    "blocks of columns": lambda: (m := made(), (m[:, :2], m[:, 3:5]))[1],
    "columns of the transposed": lambda: (m := made().T, (m[4:6], m[:2]))[1],
    "alternating rows": lambda: (m := made(), (m[::2], m[1::2]))[1],
    "one element": lambda: (m := made(), (m[:1, 2], m[:1, 3]))[1],
}
SHARED: dict[str, Callable[[], tuple[np.ndarray, np.ndarray]]] = {
    "one behind the other": lambda: (m := made().ravel(), (m[1:], m[:-1]))[1],
    "one before the other": lambda: (m := made().ravel(), (m[:-1], m[1:]))[1],
    "a column twice": lambda: (m := made(), (m[1:, 2], m[:-1, 2]))[1],
    "blocks that meet": lambda: (m := made(), (m[:, :3], m[:, 2:5]))[1],
    "steps of two and three": lambda: (m := made().ravel(), (m[::2][:20], m[::3][:20]))[1],
    "backwards over itself": lambda: (m := made().ravel(), (m[::-1], m))[1],
}


@pytest.fixture(scope="module")
def compiled() -> dict[int, Any]:
    return {1: weft.jit(moved), 2: weft.jit(moved_rows)}


@pytest.mark.parametrize("name", [*APART, *SHARED])
def test_results(name: str, compiled: dict[int, Any]) -> None:
    make = {**APART, **SHARED}[name]
    ours, theirs = make(), make()
    assert bool(np.shares_memory(*ours)) is (name in SHARED)
    function = compiled[ours[0].ndim]
    before = function.stats["python_calls"]
    function(*ours)
    function.py_func(*theirs)
    for one, other in zip(ours, theirs):
        np.testing.assert_array_equal(one, other)
    if name in APART:
        assert function.stats["python_calls"] == before
