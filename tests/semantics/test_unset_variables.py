"""Variables that are set in an earlier iteration or on some paths: native where set, Python's error where not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft


def from_the_iteration_before(x):
    s = 0.0
    for i in range(x.size):
        if i == 0:
            y = x[0]
        else:
            y = 0.5 * y + x[i]
        s += y
    return s


def from_some_iteration(x, k):
    z = 0.0
    for i in range(x.size):
        if i == k:
            y = x[i]
        if i > 2:
            z = z + y
    return z


def after_a_while(n):
    while n > 0:
        if n % 2:
            z = n
        n -= 1
    return z


def augmented(n):
    for i in range(n):
        if i == 1:
            y = 1
        if i > 1:
            y += i
    return y


def in_an_expression(x, k):
    s = 0.0
    for i in range(x.size):
        if i >= k:
            y = float(i)
        if i > 2 and y > 0:
            s += max(y, 2.0)
    return s, [y * j for j in range(3)]


def given_back(n):
    for i in range(n):
        if i == 3:
            y = i
    return y


def returned_in_a_tuple(n, k):
    for i in range(n):
        if i == k:
            y = i
        if i > k:
            w = y
    return w, y is None


def with_a_real_none(n):
    for i in range(n):
        if i == 1:
            y = None
        if i == 2:
            y = 5
        if i > 2:
            n += y
    return n


def an_array(x, k):
    for i in range(x.shape[0]):
        if i == k:
            y = x[i] * 2.0
        if i > 2:
            s = y.sum()
    return s


X = np.arange(10.0) + 0.5
M = np.arange(20.0).reshape(5, 4)
def set_on_some_paths(n, c):
    for i in range(n):
        if i > 3:
            x = i
    if c:
        x = 1
    return x


def found_or_told_behind_the_loop(x, wanted):
    low, high = 0, len(x)
    while low < high:
        middle = (low + high) // 2
        if x[middle] == wanted:
            place = middle
            break
        if x[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    else:
        place = -low - 1
    return place


def set_where_a_loop_is_left(x, limit):
    for i in range(len(x)):
        if x[i] > limit:
            first = x[i]
            break
    if len(x) == 0 or x[-1] <= limit:
        first = -1.0
    return first


CASES = [
    (found_or_told_behind_the_loop, [(X, 2.5), (X, 3.0), (X[:0], 1.0)]),
    (set_where_a_loop_is_left, [(X, 3.0), (X, 30.0), (X[:0], 1.0)]),
    (from_the_iteration_before, [(X,), (X[:1],), (X[:0],)]),
    (from_some_iteration, [(X, 1), (X, 5), (X, 99)]),
    (after_a_while, [(5,), (0,), (1,)]),
    (augmented, [(6,), (1,), (2,), (0,)]),
    (in_an_expression, [(X, 1), (X, 5), (X, 50)]),
    (given_back, [(9,), (2,)]),
    (returned_in_a_tuple, [(5, 2), (5, 4), (2, 9)]),
    (with_a_real_none, [(2,), (3,), (4,), (0,)]),
    (set_on_some_paths, [(6, True), (2, False), (2, True), (6, False)]),
    (an_array, [(M, 1), (M, 4), (M[:2], 0)]),
]


def _outcome(function: Any, args: tuple[Any, ...]) -> str:
    try:
        return repr(function(*args))
    except Exception as error:
        return f"{type(error).__name__}: {error}"


@pytest.mark.parametrize("backend", ["c", "python"])
@pytest.mark.parametrize(("function", "calls"), CASES, ids=lambda value: getattr(value, "__name__", ""))
def test_as_in_python(function: Any, calls: list[tuple[Any, ...]], backend: str) -> None:
    for given in (calls, calls[::-1]):
        run = weft.jit(function, fallback="silent", backend=backend)
        for args in given:
            assert _outcome(run, args) == _outcome(function, args)


@pytest.mark.parametrize("function", [from_the_iteration_before, from_some_iteration, after_a_while])
def test_native_where_it_is_set(function: Any) -> None:
    run = weft.jit(function, fallback="error")
    args = dict(CASES)[function][0]
    assert run(*args) == function(*args) and run.stats["python_calls"] == 0
