"""Python numbers beside NumPy's narrower ones in one variable: what the narrow type cannot hold is never cut."""

from __future__ import annotations

import numpy as np
import pytest

import weft


def unless_chosen(a, c, i):
    m = 5000000000
    if c:
        m = a[i]
    return m


def kept_by_a_loop(a, c, i, k):
    m = k
    for q in range(3):
        if c > q:
            m = a[i]
    return m, m + 1


def sum_from_a_tenth(a):
    s = 0.1
    for x in a:
        s += x
    return s


def sum_from(a, t):
    s = t
    for x in a:
        s += x
    return s


def last_above_zero(a, t):
    s = t
    for x in a:
        if x > 0:
            s = x
    return s * 3


def greatest(a, t):
    m = t
    for i in range(len(a)):
        m = max(m, a[i])
    return m


def either_kept(a, t, c):
    x = t if c else a[0]
    return x * 2, x


def either_used(a, t, c):
    return (t if c else a[0]) * 2 + 1


def and_or(a, t, c):
    x = c and t or a[0]
    y = x + 1
    return y


def greater_of(a, t, n):
    best = t
    for i in range(n):
        best = best if best > a[i] else a[i]
    return best


def into_a_new_array(a, t, n):
    out = np.zeros(3)
    m = t
    for i in range(n):
        if a[i] > m:
            m = a[i]
    out[0] = m
    return out


def into_an_argument(a, t, out):
    m = t
    for i in range(len(a)):
        if a[i] > m:
            m = a[i]
    out[0] = m
    return m


def from_minus_infinity(a, out):
    m = -np.inf
    n = 0
    for i in range(len(a)):
        if a[i] > m:
            m = a[i]
            n = i
    out[0] = m
    return m, n


WHOLE, REAL = np.arange(5, dtype=np.int32), np.arange(3, dtype=np.float32)
LARGE = 2**40


CASES = [
    (unless_chosen, [(WHOLE, True, 2), (WHOLE, False, 2)]),
    (kept_by_a_loop, [(WHOLE, 0, 1, LARGE), (WHOLE, 2, 1, LARGE), (WHOLE, 0, 1, 7)]),
    (sum_from_a_tenth, [(REAL,), (REAL[:0],)]),
    (sum_from, [(REAL, 0.1), (REAL[:0], 0.1), (REAL, 0.5), (WHOLE, LARGE), (WHOLE[:0], LARGE), (WHOLE, 3)]),
    (last_above_zero, [(REAL, 0.1), (REAL[:0], 0.1), (WHOLE, LARGE), (WHOLE[:0], LARGE)]),
    (greatest, [(REAL, 0.1), (REAL, 5.1), (REAL[:0], 0.1), (WHOLE, 1), (WHOLE, LARGE), (WHOLE[:0], LARGE)]),
    (either_kept, [(REAL, 0.1, 1), (REAL, 0.1, 0), (WHOLE, LARGE, 1), (WHOLE, LARGE, 0)]),
    (either_used, [(REAL, 0.1, 1), (REAL, 0.1, 0), (WHOLE, LARGE, 1), (WHOLE, LARGE, 0)]),
    (and_or, [(REAL, 0.1, 1), (REAL, 0.1, 0), (WHOLE, LARGE, 1)]),
    (greater_of, [(REAL, 0.1, 0), (REAL, 0.1, 3), (REAL, 9.1, 3), (WHOLE, LARGE, 3)]),
    (into_a_new_array, [(REAL, 0.1, 3), (REAL, 9.1, 3), (WHOLE, 1, 3)]),
    (into_an_argument, [(REAL, 0.1, np.zeros(1)), (REAL, 9.1, np.zeros(1)), (WHOLE, 1, np.zeros(1))]),
]


def _outcome(function, arguments):
    arguments = tuple(value.copy() if isinstance(value, np.ndarray) else value for value in arguments)
    try:
        return repr(function(*arguments)), repr(arguments)
    except Exception as error:
        return repr(error), repr(arguments)


@pytest.mark.parametrize(("function", "samples"), CASES, ids=[function.__name__ for function, _ in CASES])
def test_no_number_is_cut(function, samples):
    compiled = weft.jit(fallback="silent")(function)
    for sample in samples:
        assert _outcome(compiled, sample) == _outcome(function, sample)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_usual_beginnings_stay_native(dtype):
    compiled = weft.jit(fallback="error")(from_minus_infinity)
    arguments = np.arange(4, dtype=dtype), np.zeros(1)
    assert _outcome(compiled, arguments) == _outcome(from_minus_infinity, arguments)
