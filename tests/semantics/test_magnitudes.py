"""Branches on the magnitude of complex numbers: which side of a limit a number lies on is exact, at the limit too."""

from __future__ import annotations

import cmath
import math

import numpy as np

import weft


def first_beyond(values, start):
    for place in range(start, len(values)):
        if abs(values[place]) > 2:
            return place
    return -1


def first_within(values, start):
    for place in range(start, len(values)):
        if 0.75 >= abs(values[place]):
            return place
    return -1


def steps_until(z, c):
    steps = 0
    while not (abs(z) >= 4.0) and steps < 50:
        z = z * z + c
        steps += 1
    return steps


def _around(limit: float) -> list[complex]:
    """Numbers at and next to a circle, and such that tell nothing about their squares."""
    found = []
    for angle in range(40):
        z = cmath.rect(limit, 0.37 * angle)
        for real in (math.nextafter(z.real, -9.0), z.real, math.nextafter(z.real, 9.0)):
            found.append(complex(real, z.imag))
    return [*found, complex(limit, 0.0), complex(0.0, -limit), 0j]


def _compared(function, values: list[complex]) -> None:
    compiled = weft.jit(fallback="error")(function)
    array = np.array(values)
    for start in range(len(values)):
        assert compiled(array, start) == function(array, start)
    assert compiled.stats["python_calls"] == 0


ODD = [1e200 + 0j, 1e-200j, complex(math.inf, math.nan), complex(math.nan, 1.0), complex(-math.inf, 0.0), 1e-310 + 0j]


def test_beyond_a_limit() -> None:
    _compared(first_beyond, _around(2.0) + ODD)


def test_within_a_limit() -> None:
    _compared(first_within, _around(0.75) + ODD)


def test_conditions_of_loops() -> None:
    compiled = weft.jit(fallback="error")(steps_until)
    for z in [*_around(4.0)[::7], 0.1 + 0.2j, 3.9 + 0j]:
        assert compiled(z, 0.3 + 0.1j) == steps_until(z, 0.3 + 0.1j)
