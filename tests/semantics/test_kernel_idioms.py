"""Idioms that kernels share: arrays updated in place under one name inside loops and branches, slices that have a name,
periodic indices, roots of computed numbers, zeros overwritten at once, covariances.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weft
from tests.support import differential, same_as_plain
from weft.errors import Unsupported


def update_argument(a, n):
    for i in range(n):
        a += i
    return a


def update_view_and_whole(a, b, n):
    part = a[1:]
    for i in range(n):
        part *= 2.0
        if b[i] > 0.5:
            part += b[i]
            a -= 1.0
        same = a
        same += 1
    return part


def update_in_while(a, b):
    while b[0] > 0:
        b -= 1
        a += b
    return a


def named_slices(x, n):
    odd = slice(1, None, 2)
    head = slice(n)
    n = 0
    return x[odd].sum() + x[head].sum() + x[slice(None)].sum() + x[slice(-3, -1)].sum() + n


def slice_keeps_its_numbers(x, bounds):
    part = slice(bounds[0], bounds[1])
    bounds[0] = 3
    return x[part].sum()


def slice_in_two_axes(x, n):
    inner = slice(1, n)
    x[inner, inner] = x[inner, slice(0, n - 1)] + 1.0


def periodic(a, out):
    n = len(a)
    for j in range(n):
        out[j] = a[(j + 1) % n] + a[(j - 1) % n]


def wrapped(a, out, m):
    for j in range(-5, 20):
        k = (j * j - 3) % m
        out[k] += a[k]


def neighbours(grid):
    n, m = grid.shape
    new = np.zeros((n, m), dtype=np.int64)
    for i in range(n):
        for j in range(m):
            total = 0
            for di in range(-1, 2):
                for dj in range(-1, 2):
                    total += grid[(i + di) % n, (j + dj) % m]
            new[i, j] = total
    return new


def power_of_a_parameter(a, out, dx):
    for j in range(1, len(a)):
        out[j] = a[j] * dx**2


def root_of_a_computed_number(x, y):
    out = np.empty(len(x))
    for i in range(len(x)):
        t = x[i] / 3.0 - y[i]
        s = t * t - 1.0
        out[i] = math.sqrt(s) + t
    return out


def root_in_place(x, y):
    for i in range(len(x)):
        t = x[i] + y[i]
        x[i] = math.sqrt(t)


def root_of_what_was_stored(x, y):
    last = 0.0
    for i in range(len(x)):
        r = last - x[i]
        y[i] = math.sqrt(-r)
        last = y[i] * 0.0
    return last


def overwritten(x, y):
    whole = np.zeros(len(x))
    part = np.zeros(len(x))
    for i in range(len(x)):
        whole[i] = x[i] + y[i]
    for i in range(1, len(x)):
        part[i] = whole[i] - whole[i - 1]
    return whole, part


def overwritten_on_one_path(x, y):
    out = np.zeros(len(x))
    if x.sum() > y.sum():
        return out
    for i in range(len(x)):
        out[i] = x[i] - y[i]
    return out


NUMBERS = (
    (np.linspace(9.0, 20.0, 7), np.linspace(0.0, 1.0, 7)),
    (np.linspace(0.0, 1.0, 7), np.linspace(0.5, 2.0, 7)),
    (np.linspace(-1.0, 0.0, 7), np.linspace(0.0, 1.0, 7)),
    (np.array([9.0, 9.0, -9.0, 9.0]), np.zeros(4)),
    (np.array([9.0, np.nan, np.inf, 9.0]), np.zeros(4)),
    (np.zeros(0), np.zeros(0)),
)
OF_NUMBERS = (
    root_of_a_computed_number,
    root_in_place,
    root_of_what_was_stored,
    overwritten,
    overwritten_on_one_path,
)


@pytest.mark.parametrize("function", OF_NUMBERS)
def test_numbers_good_and_bad(function: Callable[..., Any]) -> None:
    compiled = weft.jit(fallback="error")(function)
    for x, y in NUMBERS:
        same_as_plain(compiled, function, lambda x=x, y=y: (x.copy(), y.copy()), 1e-15, zero_signs=False)


def test_zeros_that_are_wholly_overwritten_are_not_written() -> None:
    compiled = weft.jit(fallback="error")(overwritten)
    compiled(*(array.copy() for array in NUMBERS[0]))
    assert compiled.inspect("ir").count(" = 0.0") == 1  # those of `part`, whose first element keeps its zero


def reshaped_row(x, i):
    flat = x[i].reshape(-1)
    flat[0] = 100.0
    return flat


def reshaped_run(x, i):
    rows = x[1:3].reshape((-1, x.shape[2]))
    rows[1] += 5.0
    return rows.sum() + i


def masked_places(x, i):
    row, column = np.mgrid[0:4, 0:5]
    row = row.reshape(20)
    column = column.reshape(-1)
    chosen = (row + column) % 3 == i
    x[row[chosen], column[chosen]] = -1.0


CASES: list[tuple[Callable[..., Any], Callable[[], tuple[Any, ...]]]] = [
    (update_argument, lambda: (np.arange(5.0), 3)),
    (update_argument, lambda: (np.arange(5), 0)),
    (update_view_and_whole, lambda: (np.arange(6.0), np.array([0.1, 0.7, 0.3]), 3)),
    (update_in_while, lambda: (np.arange(3.0), np.array([3.0, 4.0, 5.0]))),
    (named_slices, lambda: (np.arange(9.0), 4)),
    (slice_keeps_its_numbers, lambda: (np.arange(9.0), np.array([1, 4]))),
    (slice_in_two_axes, lambda: (np.arange(25.0).reshape(5, 5), 4)),
    *((periodic, lambda n=n, m=m: (np.arange(float(n)), np.zeros(m))) for n, m in ((5, 5), (5, 7), (1, 1), (0, 0))),
    (periodic, lambda: (np.arange(5.0), np.zeros(4))),
    *((wrapped, lambda n=n, m=m: (np.arange(float(n)), np.zeros(9), m)) for n, m in ((9, 9), (9, 7), (5, 7))),
    *((wrapped, lambda m=m: (np.arange(5.0), np.zeros(9), m)) for m in (-4, 0)),
    *((neighbours, lambda n=n: (np.arange(5 * n).reshape(n, 5) % 3,)) for n in (1, 2, 4)),
    *((reshaped_row, lambda i=i: (np.arange(60.0).reshape(4, 5, 3), i)) for i in (0, 2, -1)),
    (reshaped_run, lambda: (np.arange(60.0).reshape(4, 5, 3), 1)),
    (masked_places, lambda: (np.arange(60.0).reshape(4, 5, 3), 1)),
    *((power_of_a_parameter, lambda x=x: (np.arange(4.0), np.zeros(4), x)) for x in (0.1, 1e200, float("inf"))),
]


@pytest.mark.parametrize(("function", "make"), CASES, ids=[f"{case[0].__name__}-{k}" for k, case in enumerate(CASES)])
def test_idiom(function: Callable[..., Any], make: Callable[[], tuple[Any, ...]]) -> None:
    differential(function, make)


def tuple_out_of_loop(x, n):
    for i in range(n):
        pair = (i, i + 1)
        x[i] = 0.0
    return pair


def slice_out_of_loop(x, n):
    for i in range(n):
        part = slice(i, i + 2)
        x[part] = i
    return x[part]


def test_what_a_loop_leaves_in_a_tuple_stays() -> None:
    differential(tuple_out_of_loop, lambda: (np.arange(6.0), 3))


def test_what_a_loop_leaves_in_a_slice_is_refused_not_wrong() -> None:
    with pytest.raises(Unsupported, match="used after it"):
        weft.jit(fallback="error")(slice_out_of_loop)(np.arange(6.0), 3)
    differential(slice_out_of_loop, lambda: (np.arange(6.0), 3), native=False)


def covariance(x):
    return np.cov(x)


def covariance_of_columns(x):
    return np.cov(x, rowvar=False, ddof=0)


def covariance_biased(x):
    return np.cov(x.T, bias=True)


SAMPLES = {
    "f64": lambda r: r.random((4, 6)),
    "f32": lambda r: r.random((4, 6)).astype(np.float32),
    "i64": lambda r: r.integers(0, 9, (3, 5)),
    "c128": lambda r: r.random((4, 6)) + 1j * r.random((4, 6)),
    "strided": lambda r: r.random((8, 12))[::2, ::-3],
}


@pytest.mark.parametrize("kind", SAMPLES)
@pytest.mark.parametrize("function", [covariance, covariance_of_columns, covariance_biased])
def test_covariance(function: Callable[..., Any], kind: str) -> None:
    differential(function, lambda: (SAMPLES[kind](np.random.default_rng(6)),), tolerance=1e-12, zero_signs=False)


def test_covariance_of_one_observation_or_variable() -> None:
    differential(covariance, lambda: (np.ones((3, 1)),))
    differential(covariance, lambda: (np.arange(4.0).reshape(1, 4),), native=False)
