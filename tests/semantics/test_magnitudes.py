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


def sides(z, out):
    """Whole arrays: in vectors, by squares."""
    out[0] = np.abs(z) < 2.0
    out[1] = np.abs(z) <= 2.0
    out[2] = 2.0 < np.abs(z)
    out[3] = np.abs(z) >= 2.0
    return np.abs(z) > 0.5


def test_magnitudes_of_arrays() -> None:
    """Exact wherever squares are, at infinity, of NaN and of numbers whose squares overflow or vanish."""
    parts = [0.0, -0.0, 1.0, 2.0, -2.0, 1.2, 1.6, 0.3, 0.4, math.inf, -math.inf, math.nan, 1e30, 1e-30, 1e200, 1e-200]
    compiled = weft.jit(fallback="error")(sides)
    for dtype in (np.complex128, np.complex64):
        with np.errstate(all="ignore"):
            z = np.array([complex(a, b) for a in parts for b in parts]).astype(dtype)
            got, expected = np.zeros((2, 4, z.size), dtype=bool)
            np.testing.assert_array_equal(compiled(z, got), sides(z, expected))
        np.testing.assert_array_equal(got, expected)
    assert "nearer_c128(" in compiled.inspect("c") or "nearer_c64(" in compiled.inspect("c")
