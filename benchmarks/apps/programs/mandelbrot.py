"""How soon points leave the Mandelbrot set, in complex arithmetic. One of Julia's microbenchmarks."""

from __future__ import annotations

SIZES = {"S": (11, 9, 40), "M": (104, 84, 80), "L": (390, 315, 80)}
JULIA = True


def steps(z, limit):
    c = z
    for n in range(limit):
        if abs(z) > 2:
            return n
        z = z * z + c
    return limit


def mandelbrot(width, height, limit):
    total = 0
    for i in range(width):
        for j in range(height):
            total += steps(complex(-2.0 + 2.5 * i / (width - 1), -1.0 + 2.0 * j / (height - 1)), limit)
    return total


def initialise(size):
    return size
