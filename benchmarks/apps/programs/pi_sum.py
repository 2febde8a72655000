"""The sum of inverse squares, over and over. One of Julia's microbenchmarks."""

from __future__ import annotations

SIZES = {"S": (5, 200), "M": (50, 10000), "L": (500, 10000)}
JULIA = True


def pi_sum(times, terms):
    total = 0.0
    for _ in range(times):
        total = 0.0
        for k in range(1, terms + 1):
            total += 1.0 / (k * k)
    return total


def initialise(size):
    return size
