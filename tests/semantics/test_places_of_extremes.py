"""argmin and argmax of computed values: the place is found by comparing with the best, so both are computed once."""

from __future__ import annotations

import numpy as np
import pytest

import weft


def nearest(z, roots):
    return np.argmin(np.abs(z[:, None] - roots), axis=-1)


def highest(x):
    return np.argmax(np.exp(np.sin(x) * 3.0), axis=1)


def through_a_name(x, y):
    distance = np.hypot(x[:, None] - y[None, :], 0.3)
    return distance.argmin(axis=1), np.argmax(np.log(x + 1.0))


def in_loops(x):
    out = np.zeros(len(x), dtype=np.int64)
    for i in range(len(x)):
        out[i] = np.argmin(np.cos(x - x[i]) ** 3)
    return out


@pytest.mark.parametrize("size", [1, 5, 37, 400])
def test_the_place_is_numpys(size):
    random = np.random.default_rng(size)
    z = random.normal(size=size) + 1j * random.normal(size=size)
    roots = random.normal(size=7) + 1j * random.normal(size=7)
    x = random.random(size)
    cases = [(nearest, (z, roots)), (highest, (random.random((size, 19)),)), (through_a_name, (x, random.random(23)))]
    for function, arguments in [*cases, (in_loops, (x,))]:
        got, expected = weft.jit(fallback="error")(function)(*arguments), function(*arguments)
        for mine, other in zip(got, expected) if isinstance(expected, tuple) else [(got, expected)]:
            np.testing.assert_array_equal(mine, other)
