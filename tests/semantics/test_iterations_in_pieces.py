"""Loops with `continue`, and loops that take a value along for the next iteration: parallel, and as in Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.support import differential, made, same_as_plain

LONG = 30_000


def skipping(x, y):
    for i in range(x.shape[0]):
        if x[i] < 0:
            continue
        if x[i] > 5:
            y[i] = -1
            continue
        y[i] = x[i] * 2


def eliminated(x, y):
    k = len(x) // 2
    for i in range(x.shape[0]):
        if i == k:
            continue
        y[i] -= x[i] * y[k]


def differences(x, y):
    last = x[-1]
    before = 0
    for i in range(x.shape[0]):
        y[i] = x[i] - last + before
        before = last
        last = x[i]
    return last, before


def crossings(x, y):
    count = 0
    sign = False
    for i in range(x.shape[0]):
        now = x[i] > 0
        if now != sign:
            count += 1
        sign = now
    y[0] = count
    return count


@pytest.mark.parametrize("function", [skipping, eliminated, differences, crossings], ids=lambda f: f.__name__)
@pytest.mark.parametrize("dtype", ["int64", "float32"])
def test_pieces(function: Callable[..., Any], dtype: str) -> None:
    rng = np.random.default_rng(0)
    x, y = (rng.integers(-9, 10, (2, LONG))).astype(dtype)
    compiled = differential(function, made(x, y), calls=1)
    assert "parallel" in str(compiled.explain())
    for n in (1, 2, 3, 4, 0):
        same_as_plain(compiled, function, made(x[:n], y[:n]), calls=1)
    same_as_plain(compiled, function, lambda: (x.copy()[::-2], y.copy()[::2]), calls=1)
    same_as_plain(compiled, function, lambda: (x.copy(),) * 2, calls=1)


def refused(x, y):
    for i in range(x.shape[0]):
        if x[i] == 0:
            continue
        y[i + x[i]] = i


def test_an_exception_behind_continue() -> None:
    x = np.array([0, 1, 0, 2, 99, 1])
    differential(refused, made(x, np.zeros(6, np.int64)))
