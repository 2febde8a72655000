"""Jacobi sweeps over a square, two buffers in turn."""

import numpy as np

SIZES = {"tiny": (3, 9), "S": (15, 250), "M": (15, 800), "L": (40, 1600)}
LISTS = True


def initialise(size):
    steps, n = size
    rng = np.random.default_rng(29)
    return steps, rng.random((n, n)), rng.random((n, n))


def numpy_form(steps, a, b):
    for _ in range(steps):
        b[1:-1, 1:-1] = 0.2 * (a[1:-1, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:] + a[2:, 1:-1] + a[:-2, 1:-1])
        a[1:-1, 1:-1] = 0.2 * (b[1:-1, 1:-1] + b[1:-1, :-2] + b[1:-1, 2:] + b[2:, 1:-1] + b[:-2, 1:-1])


def loop_form(steps, a, b):
    n = len(a)
    for _ in range(steps):
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                b[i][j] = 0.2 * (a[i][j] + a[i][j - 1] + a[i][j + 1] + a[i + 1][j] + a[i - 1][j])
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                a[i][j] = 0.2 * (b[i][j] + b[i][j - 1] + b[i][j + 1] + b[i + 1][j] + b[i - 1][j])
