"""np.array of lists of tuples that grew in a loop, and np.roll by shifts that stand in an array."""

from __future__ import annotations

from collections import deque

import numpy as np
import pytest

import weft


def rows(n):
    out = []
    for i in range(n):
        out.append((i, i * 0.5))
    return np.array(out)


def integers(n):
    out = []
    for i in range(n):
        out.append((i, i + 1, i * i))
    return np.asarray(out)


def of_a_deque(n):
    out = deque()
    for i in range(n):
        out.appendleft((i, 2.5))
    return np.array(out, dtype=np.float32)


@pytest.mark.parametrize("function", [rows, integers, of_a_deque])
@pytest.mark.parametrize("n", [40, 1, 0])
def test_a_row_for_each_tuple(function, n):
    expected, found = function(n), weft.jit(fallback="error")(function)(n)
    assert found.dtype == expected.dtype and found.shape == expected.shape
    np.testing.assert_array_equal(found, expected)


def writes_too(n, seen):
    seen[0] += 1
    out = []
    for i in range(n):
        out.append((i, i * 0.5))
    return np.array(out)


@pytest.mark.parametrize("n", [3, 0])
def test_a_function_that_writes_is_not_repeated(n):
    seen = np.zeros(1)
    found = weft.jit(fallback="error")(writes_too)(n, seen)
    assert seen[0] == 1 and found.shape == writes_too(n, np.zeros(1)).shape


def streamed(f):
    moves = np.array([[0, 0], [1, -2], [-1, 1]])
    out = np.zeros_like(f)
    for k in range(3):
        out[k] = np.roll(f[k], moves[k], axis=(0, 1))
    return out


@pytest.mark.parametrize("shape", [(3, 4, 5), (3, 1, 2), (3, 0, 4)])
def test_roll_by_an_array_of_shifts(shape):
    f = np.arange(float(np.prod(shape))).reshape(shape)
    np.testing.assert_array_equal(weft.jit(fallback="error")(streamed)(f), streamed(f))
