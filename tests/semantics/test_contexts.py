"""`with np.errstate(...)` around compiled code changes nothing but warnings."""

from __future__ import annotations

import contextlib

import numpy as np
import pytest

import weft


def quiet(a):
    total = 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        b = a / 0.0
        for v in b:
            if v > 0:
                total += 1.0
    return b, total


def returns_inside(a):
    def inner(x):
        with np.errstate(all="ignore"):
            return np.log(x)

    with contextlib.nullcontext():
        return inner(a) + 1


def strict(a):
    with np.errstate(divide="raise"):
        return a / 0.0


@pytest.mark.parametrize("function", [quiet, returns_inside])
def test_quiet_contexts_are_native(function):
    a = np.array([-1.0, 0.0, 2.0])
    with np.errstate(all="ignore"):
        expected = function(a)
    got = weft.jit(fallback="error")(function)(a)
    for mine, other in zip(got, expected) if isinstance(expected, tuple) else [(got, expected)]:
        np.testing.assert_array_equal(mine, other)


def test_a_context_that_raises_still_does():
    with pytest.raises(FloatingPointError):
        weft.jit(fallback="silent")(strict)(np.ones(2))
