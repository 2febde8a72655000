"""Lambdas from outside the compiled function, and compiled themselves: several on one line are told apart."""

from __future__ import annotations

import pytest

import weft

add, double = (lambda x: x + 1, lambda x: x * 2)
by_name = {"plus": lambda x, y: x + y, "minus": lambda x, y: x - y, "twice": lambda x, y: (lambda z: z + x)(y)}
plus, minus, twice = by_name["plus"], by_name["minus"], by_name["twice"]
longer = lambda x, y=3: (  # noqa: E731
    x * y
)


def scaled(factor):
    return lambda x, y: x * factor + y


def both(n):
    return add(n), double(n), plus(n, 2), minus(n, 2), twice(n, 5), longer(n)


def given(n):
    def total(function):
        result = 0
        for i in range(n):
            result += function(i)
        return result

    return total(lambda x: x + 1), total(lambda x: x * 2)


def test_inlined():
    assert weft.jit(both, fallback="error")(5) == both(5)
    assert weft.jit(given, fallback="error")(5) == given(5)


@pytest.mark.parametrize("function", [plus, minus, twice, longer, scaled(4)])
def test_compiled(function):
    native = weft.jit(function, fallback="error")
    assert native(5, 2) == function(5, 2)
    assert native(1.5, 2.0) == function(1.5, 2.0)
