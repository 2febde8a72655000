"""Variables that hold a Python number on one path and a NumPy number on another: results have CPython's type."""

from __future__ import annotations

import numpy as np
import pytest

import weft


def best(a):
    value, place = 0, -1
    for i in range(len(a)):
        if a[i] > value:
            value = a[i]
            place = i
    return value, place


def conditional_sum(a):
    total = 0
    for v in a:
        if v > 0:
            total += v
    return total


def copied(a):
    first = 0
    for v in a:
        if v > 0:
            first += v
    second = first
    for v in a:
        if v > 5:
            second = v
    return first, second


def reset(a):
    m = 0
    for v in a:
        m += v
        if m < 0:
            m = 0
    return m


def largest(a):
    m = 0
    for v in a:
        m = max(m, v)
    return m


def chosen(a):
    m = 0
    for v in a:
        m = v if v > m and v < a[0] * 2 else m
    k = max(m, 1)
    return k, m


def choices_of_choices(a):
    m = 0
    for v in a:
        if v > 2:
            m = v
    k = m or 5
    j = min(m, k, 3)
    return k, j, (k if k > 3 else j), m and k


def range_of(a):
    low, high = 10, -10
    for v in a:
        low, high = min(low, v), max(high, v)
    return low, high


def computed_from_it(a):
    m = 0
    for v in a:
        if v > 4:
            m = v
    n = m
    for v in a:
        n = min(m, n)
    return m + 1, -m, (m * 2 - m) * n, m / 2, m // 2, abs(m - 1)


def left_early(a):
    m = 0
    i = 0
    while i < len(a):
        if a[i] > m:
            m = a[i]
            if m > 6:
                break
        i += 1
    return m, i


def nested(a):
    m = 0
    for k in range(2):
        for v in a:
            if v > k:
                m = v + k
    return m


def halved(a):
    m = 0
    for v in a:
        if v > 4:
            m = float(v) / 2
    return m


ARRAYS = [
    np.array([3, 1, 5, -2, 7, 7]),
    np.array([-3, -1]),
    np.zeros(0, dtype=np.int64),
    np.array([0.5, -1.0, 8.0]),
    np.array([-0.5]),
    np.array([1, 9], dtype=np.int32),
    np.array([1, 9], dtype=np.float32),
]


FUNCTIONS = [best, conditional_sum, copied, reset, left_early, nested, halved]
FUNCTIONS += [largest, chosen, choices_of_choices, range_of, computed_from_it]


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("array", ARRAYS, ids=lambda a: f"{a.dtype}-{len(a)}")
def test_type_is_that_of_the_path_taken(function, array):
    expected = function(array.copy())
    found = weft.jit(fallback="error")(function)(array.copy())
    flat = expected if isinstance(expected, tuple) else (expected,)
    for want, have in zip(flat, found if isinstance(found, tuple) else (found,)):
        assert have == want
        # NumPy's float64 is a Python float, and the two may stand for each other; no other two types may.
        assert type(have) is type(want) or {type(have), type(want)} == {float, np.float64}


def three_types(a):
    m = 0
    for v in a:
        if v > 6:
            m = v
        elif v > 4:
            m = v / 2
    return m


@pytest.mark.parametrize("array", ARRAYS[:3], ids=len)
def test_more_than_two_types_are_native_as_plain_python(array):
    result = weft.jit(fallback="error")(three_types)(array)
    assert result == three_types(array) and type(result) is type(three_types(array))
