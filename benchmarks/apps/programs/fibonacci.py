"""Fibonacci numbers by recursion: what a call costs. One of Julia's microbenchmarks."""

from __future__ import annotations

SIZES = {"S": (15,), "M": (24,), "L": (30,)}
JULIA = True


def fibonacci(n):
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


def initialise(size):
    return size
