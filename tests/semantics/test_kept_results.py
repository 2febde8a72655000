"""Functions of the module whose results functools.cache keeps, called from compiled functions."""

from __future__ import annotations

from functools import cache, lru_cache

import pytest

import weft

LIMIT = 1_000_007
shift = 5


@lru_cache(maxsize=None)
def fibonacci(n):
    if n < 2:
        return n
    return (fibonacci(n - 1) + fibonacci(n - 2)) % LIMIT


@cache
def ways(i, j):
    if i == 0 or j == 0:
        return 1
    return ways(i - 1, j) + ways(i, j - 1)


def _half(n):
    return n * 0.5


@cache
def plain(n):
    return n * n + _half(n)


@cache
def shifted(n):
    return n + shift


@lru_cache(maxsize=10)
def bounded(n):
    return n + 1


def of_one(n):
    return fibonacci(n) + fibonacci(n - 1)


def of_several(n):
    total = 0.0
    for i in range(n):
        total += plain(i % 5)
    return total, ways(n, n), fibonacci(n)


def of_what_may_change(n):
    return shifted(n)


def of_a_few(n):
    return bounded(n)


def with_a_name_of_its_own(LIMIT):  # noqa: N803
    return fibonacci(LIMIT)


@pytest.mark.parametrize("function", [of_one, of_several])
def test_natively(function):
    native = weft.jit(function, fallback="error")
    for n in (2, 12, 60):
        if n < 30 or function is of_one:
            assert repr(native(n)) == repr(function(n))


@pytest.mark.parametrize("function", [of_what_may_change, of_a_few, with_a_name_of_its_own])
def test_in_python(function):
    native = weft.jit(function, fallback="silent")
    assert native(9) == function(9)
    with pytest.raises(weft.Unsupported, match="keeps its results"):
        weft.jit(function, fallback="error")(9)
