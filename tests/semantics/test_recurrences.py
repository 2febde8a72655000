"""Recurrences over the rows and columns of arrays: side by side, with the bits of one after the other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weft


def filter_rows(x: Any, a: float) -> Any:
    n, m = x.shape
    y = np.empty_like(x)
    for i in range(n):
        last = 0.0
        before = 0.0
        for j in range(m):
            y[i, j] = a * x[i, j] + 0.5 * last - 0.25 * before
            before = last
            last = y[i, j]
    return y


def filter_columns(x: Any, a: float) -> Any:
    n, m = x.shape
    y = np.empty_like(x)
    for j in range(m):
        last = 0.0
        for i in range(n):
            last = a * x[i, j] + 0.5 * last
            y[i, j] = last
    return y


def tridiagonal(x: Any, a: float) -> Any:
    """Thomas's algorithm along the rows, column after column of all of them."""
    n, m = x.shape
    c = np.empty((n, m))
    d = np.empty((n, m))
    c[:, 0] = a / 3.0
    d[:, 0] = x[:, 0] / 3.0
    for j in range(1, m):
        pivot = 3.0 - a * c[:, j - 1]
        c[:, j] = a / pivot
        d[:, j] = (x[:, j] - a * d[:, j - 1]) / pivot
    y = np.empty((n, m))
    y[:, m - 1] = d[:, m - 1]
    for j in range(m - 2, -1, -1):
        y[:, j] = d[:, j] - c[:, j] * y[:, j + 1]
    return y


def running_products(x: Any, a: float) -> Any:
    n, m = x.shape
    for i in range(n):
        for j in range(1, m):
            x[i, j] = x[i, j] * x[i, j - 1] + a
    return x


def ordered_sums(x: Any, a: float) -> Any:
    n, m = x.shape
    out = np.zeros(n)
    for i in range(n):
        total = a
        for j in range(m):
            total = total * 0.5 + x[i, j]
        out[i] = total
    return out


FORMS = [filter_rows, filter_columns, tridiagonal, running_products, ordered_sums]
SHAPES = [(1, 2), (5, 40), (31, 3), (32, 9), (67, 12), (130, 45)]


@pytest.mark.parametrize("function", FORMS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("fp", ["numpy", "strict"])
def test_bits(function: Callable[..., Any], fp: Any) -> None:
    compiled = weft.jit(fallback="error", fp=fp)(function)
    for shape in SHAPES:
        data = np.random.default_rng(shape[0]).random(shape)
        expected, found = function(data.copy(), 0.75), compiled(data.copy(), 0.75)
        np.testing.assert_array_equal(expected, found)


@pytest.mark.parametrize("function", FORMS, ids=lambda f: f.__name__)
def test_layouts(function: Callable[..., Any]) -> None:
    compiled = weft.jit(fallback="error")(function)
    data = np.random.default_rng(5).random((90, 80))
    for view in (np.asfortranarray(data), data[::2, 1:], data[::-1, ::-1], data.T):
        expected, found = function(view.copy(order="K"), 0.75), compiled(view.copy(order="K"), 0.75)
        np.testing.assert_array_equal(expected, found)
        if function is not running_products:
            np.testing.assert_array_equal(function(view, 0.75), compiled(view, 0.75))


def test_single_precision() -> None:
    compiled = weft.jit(fallback="error")(running_products)
    data = np.random.default_rng(7).random((70, 30)).astype(np.float32)
    factor = np.float32(0.75)
    np.testing.assert_array_equal(running_products(data.copy(), factor), compiled(data.copy(), factor))


def test_input_and_output_may_share_memory() -> None:
    def shifted(x: Any, y: Any) -> None:
        n, m = x.shape
        for i in range(n):
            for j in range(1, m):
                y[i, j] = y[i, j - 1] * 0.5 + x[i, j]

    compiled = weft.jit(fallback="error")(shifted)
    for offset in (0, 1, 7):
        one = np.random.default_rng(3).random((60, 50))
        other = one.copy()
        shifted(one[: 60 - offset], one[offset:])
        compiled(other[: 60 - offset], other[offset:])
        np.testing.assert_array_equal(one, other)
