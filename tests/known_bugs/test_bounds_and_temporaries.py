"""Zeros keep their sign between bounds; what tests look at a second time is still there."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft


def between(a: Any, low: Any, high: Any) -> Any:
    return np.clip(a, low, high), a.clip(low, high)


def each(a: Any, low: Any, high: Any) -> Any:
    found = np.zeros_like(a)
    for i in range(len(a)):
        found[i] = np.clip(a[i], low, high)
    return found


def above(a: Any, low: Any, high: Any) -> Any:
    return np.clip(a, low, None), np.clip(a, None, high)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("function", [between, each, above], ids=lambda form: form.__name__)
def test_signs_of_zeros_between_bounds(function: Any, dtype: Any) -> None:
    run = weft.jit(function, backend="python", fallback="silent")
    a = np.array([-0.0, 0.0, 1, -1, np.nan, 2, np.inf, 0.0, -0.0], dtype)
    bounds = [(0.0, 1.0), (-1.0, -0.0), (-0.0, 0.0), (2.0, 1.0), (np.nan, 1.0)]
    if function is not each:
        bounds += [(a[::-1].copy(), 1.0), (0.0, np.roll(a, 1)), (-a, a)]  # type: ignore[list-item]
    for low, high in bounds:
        got, expected = run(a.copy(), low, high), function(a.copy(), low, high)
        assert np.asarray(got).tobytes() == np.asarray(expected).tobytes(), (low, high)


def chosen_in_vain(a: Any, b: Any) -> Any:
    kept = np.choose(np.abs(b).astype(int) % 3, [b, 0])  # noqa: F841
    a[:-1] = a[1:]
    return a


def chosen(a: Any, b: Any) -> Any:
    at = b.astype(int) * 2 % 3
    return a + np.choose(at, [b, a])


@pytest.mark.parametrize("function", [chosen_in_vain, chosen], ids=lambda form: form.__name__)
def test_checks_of_temporaries(function: Any) -> None:
    run = weft.jit(function)
    for b in (np.array([0.0, 1, 3, 4]), np.array([0.0, 3, 2, 0]), np.array([0.0, 1, 1, 3])):
        got, expected = [], []
        for call, told in ((run, got), (function, expected)):
            a = np.arange(4.0)
            try:
                told.append(call(a, b).tolist())
            except ValueError as error:
                told.append(str(error))
            told.append(a.tolist())
        assert got == expected
    assert not run.stats["fallbacks"]
