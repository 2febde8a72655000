"""Accumulation at computed places under a condition: the place may be anything where the condition does not hold."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft
from tests.support import same_as_plain


def counted(k, x, h):
    for i in range(len(k)):
        if x[i] > 0:
            h[k[i]] += x[i]
    return h


def subtracted(k, x, h):
    for i in range(len(k)):
        if x[i] > 0 and k[i] < len(h):
            h[k[i]] -= x[i]
    return h


def multiplied(k, x, h):
    for i in range(len(k)):
        if k[i] >= 0:
            if k[i] < len(h):
                h[k[i]] = h[k[i]] * x[i]
    return h


def largest(k, x, h):
    for i in range(len(k)):
        if 0 <= k[i] < len(h):
            h[k[i]] = max(h[k[i]], x[i])
    return h


def binned(k, x, h):
    low, high = -1.0, 1.0
    for i in range(len(x)):
        if x[i] >= low and x[i] < high:
            b = int((x[i] - low) / (high - low) * len(h))
            h[b] += 1
    return h


def overwritten(k, x, h):
    for i in range(len(k)):
        if 0 <= k[i] < len(h):
            h[k[i]] = x[i]
    return h


def both_ways(k, x, h):
    for i in range(len(k)):
        if 0 <= k[i] < len(h):
            h[k[i]] += x[i]
        else:
            h[0] += 1
    return h


FUNCTIONS = [counted, subtracted, multiplied, largest, binned, overwritten, both_ways]


def make(seed: int, size: int, bins: int, wild: int, dtype: str = "float64") -> tuple[Any, ...]:
    rng = np.random.default_rng(seed)
    x = (rng.integers(-8, 9, size) / 4).astype(dtype)
    k = rng.integers(0, max(bins, 1), size)
    if wild == 1:  # out of place only where x is not positive
        k[x <= 0] = 10**6
    elif wild == 2:
        k[rng.random(size) < 0.3] = bins
    elif wild == 3:
        k[rng.random(size) < 0.3] = -1
    return k, x, (rng.integers(-4, 5, bins) / 2).astype(dtype)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("wild", [0, 1, 2, 3])
def test_updates(function, wild: int) -> None:
    compiled = weft.jit(fallback="silent")(function)
    for size, bins in ((0, 3), (1, 1), (7, 3), (7, 0), (5000, 10), (5000, 3000)):
        same_as_plain(compiled, function, lambda s=size, b=bins: make(s + b, s, b, wild), calls=1, tolerance=1e-12)


@pytest.mark.parametrize("dtype", ["float32", "int64", "int32"])
def test_types(dtype: str) -> None:
    for function in (counted, largest):
        compiled = weft.jit(fallback="silent")(function)
        same_as_plain(compiled, function, lambda: make(3, 400, 9, 1, dtype), calls=2, tolerance=1e-5)


@pytest.mark.parametrize("function", [counted, subtracted], ids=lambda f: f.__name__)
def test_a_zero_keeps_its_sign_where_nothing_is_added(function) -> None:
    def negative_zeros() -> tuple[Any, ...]:
        return np.array([0, 99, 99]), np.array([0.0, -1.0, -2.0]), np.array([-0.0, -0.0])

    same_as_plain(weft.jit(fallback="silent")(function), function, negative_zeros, calls=2)
    assert np.signbit(weft.jit(fallback="silent")(function)(*negative_zeros())[0])


def test_the_result_does_not_depend_on_threads() -> None:
    k, x, h = make(1, 50_000, 40, 0)
    x = x + 1e-3 * np.sin(np.arange(x.size))
    compiled = weft.jit(counted)
    results = [compiled(k, x, h.copy()) for _ in range(3)]
    assert all(np.array_equal(results[0], other) for other in results[1:])


def test_a_guarded_update_is_a_statement() -> None:
    from weft.ir import text
    from weft.pipeline import stages

    shown = text.show(dict(stages(counted, make(1, 9, 8, 0)))["tidy"])
    assert "] += select(x[" in shown


def last_row(a, b):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            b[j] = a[i, j] * 2.0 + i
    return b


def last_of_each(a, b):
    for j in range(a.shape[1]):
        for i in range(j, a.shape[0]):
            b[j] = a[i, j] - j
    return b


def every_second_downwards(a, b):
    for i in range(a.shape[0] - 1, -1, -2):
        for j in range(i % 2, a.shape[1]):
            b[0] = a[i, j]
    return b


def same_again(a, b):
    for i in range(a.shape[0]):
        for j in range(i + 1):
            for _ in range(a.shape[0]):
                b[j] = a[0, 0]
    return b


@pytest.mark.parametrize("function", [last_row, last_of_each, every_second_downwards, same_again])
@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (1, 1), (4, 6), (6, 4), (40, 40)])
def test_only_the_last_write_counts(function, shape: tuple[int, int]) -> None:
    def arguments() -> tuple[Any, ...]:
        return np.arange(float(shape[0] * shape[1])).reshape(shape), np.full(max(shape), -1.0)

    same_as_plain(weft.jit(fallback="silent")(function), function, arguments, calls=2)
