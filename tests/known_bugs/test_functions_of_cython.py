"""Functions that Cython has compiled, as arguments and globals: their class has no module of its own."""

from __future__ import annotations

import numpy as np
import pytest

import weft

MADE = np.random.default_rng


def apply(function, n):
    found = []
    for seed in range(n):
        found.append(function(seed))
    return [str(type(each).__name__) for each in found]


def as_global(n):
    names = {}
    for seed in range(n):
        names[str(seed)] = MADE(seed).integers(100)
    return names


def beside_arrays(function, a):
    return function is not None, a * 2.0


@pytest.mark.parametrize("function", [MADE, np.random.seed])
def test_compiled_functions_as_arguments(function):
    compiled = weft.jit(apply, fallback="silent")
    for _ in range(3):
        assert compiled(function, 3) == apply(function, 3)
    compiled = weft.jit(beside_arrays, fallback="silent")
    for _ in range(2):
        assert compiled(function, np.ones(3))[1].tolist() == [2.0, 2.0, 2.0]


def test_compiled_functions_as_globals():
    compiled = weft.jit(as_global, fallback="silent")
    for _ in range(3):
        assert repr(compiled(4)) == repr(as_global(4))
