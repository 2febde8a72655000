"""Jacobi sweeps over a line, two buffers in turn."""

import numpy as np

SIZES = {"tiny": (3, 12), "S": (100, 40_000), "M": (60, 400_000), "L": (200, 1_000_000)}
LISTS = True


def initialise(size):
    steps, n = size
    rng = np.random.default_rng(28)
    return steps, rng.random(n), rng.random(n)


def numpy_form(steps, a, b):
    for _ in range(steps):
        b[1:-1] = (a[:-2] + a[1:-1] + a[2:]) / 3.0
        a[1:-1] = (b[:-2] + b[1:-1] + b[2:]) / 3.0


def loop_form(steps, a, b):
    n = len(a)
    for _ in range(steps):
        for i in range(1, n - 1):
            b[i] = (a[i - 1] + a[i] + a[i + 1]) / 3.0
        for i in range(1, n - 1):
            a[i] = (b[i - 1] + b[i] + b[i + 1]) / 3.0
