"""Recursive functions that give Python's number on some paths and NumPy's on others: each call gives the one it has."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft


def total_of(a: Any, lo: int, hi: int) -> Any:
    if hi - lo <= 4:
        total = 0.0
        for k in range(lo, hi):
            total += a[k]
        return total
    middle = (lo + hi) // 2
    return total_of(a, lo, middle) + total_of(a, middle, hi)


def largest_of(a: Any, lo: int, hi: int) -> Any:
    if lo >= hi:
        return -1.0
    if hi - lo == 1:
        return a[lo]
    middle = (lo + hi) // 2
    left, right = largest_of(a, lo, middle), largest_of(a, middle + 1, hi)
    if a[middle] > left:
        left = a[middle]
    return left if left > right else right


def two_of(a: Any, lo: int, hi: int) -> Any:
    if lo >= hi:
        return 0.0, 0
    first, count = two_of(a, lo + 1, hi)
    return (a[lo] - first, count + 1) if a[lo] > 0 else (first, count)


def perhaps(a: Any, lo: int, hi: int) -> Any:
    if lo >= hi:
        return None
    if a[lo] < 0:
        return 0.5
    if a[lo] > 1:
        return a[lo]
    return perhaps(a, lo + 1, hi)


def with_tasks(a: Any, lo: int, hi: int) -> Any:
    if hi - lo <= 4:
        total = 0.0
        for k in range(lo, hi):
            total += a[k]
        return total
    middle = (lo + hi) // 2
    with weft.task():
        left = with_tasks(a, lo, middle)
    right = with_tasks(a, middle, hi)
    return left + right


FUNCTIONS = (total_of, largest_of, two_of, perhaps, with_tasks)
CASES = [(function, dtype) for function in FUNCTIONS for dtype in (np.float64, np.float32)]
CASES += [(total_of, np.complex128), (with_tasks, np.complex128)]


@pytest.mark.parametrize("backend", ("auto", "python"))
@pytest.mark.parametrize("function, dtype", CASES, ids=lambda value: value.__name__)
def test_the_type_of_each_call(function: Any, backend: str, dtype: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEFT_PLAIN", "0")

    def outer(a: Any, lo: int, hi: int) -> Any:
        return function(a, lo, hi)

    compiled = weft.jit(outer, backend=backend, fallback="silent")
    a = (np.arange(40) % 7 - 3.0).astype(dtype)
    for lo, hi in ((0, 0), (0, 1), (3, 4), (0, 3), (0, 40), (5, 39), (6, 8)):
        found, expected = compiled(a, lo, hi), function(a, lo, hi)
        assert repr(found) == repr(expected)
        for one, other in zip(np.atleast_1d(found), np.atleast_1d(expected)):
            assert type(one) is type(other)


@pytest.mark.parametrize("function", (total_of, with_tasks), ids=lambda function: function.__name__)
def test_totals_are_native(function: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEFT_PLAIN", "0")

    def outer(a: Any) -> Any:
        return function(a, 0, len(a))

    compiled = weft.jit(outer, fallback="error")
    for size in (0, 3, 100):
        assert repr(compiled(np.arange(float(size)))) == repr(outer(np.arange(float(size))))
