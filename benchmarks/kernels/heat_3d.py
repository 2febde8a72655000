"""The heat equation on a cube by explicit steps, two buffers in turn."""

import numpy as np

SIZES = {"tiny": (2, 6), "S": (6, 45), "M": (10, 80), "L": (20, 150)}


def initialise(size):
    steps, n = size
    rng = np.random.default_rng(27)
    return steps, rng.random((n, n, n)), rng.random((n, n, n))


def step(a, b):
    b[1:-1, 1:-1, 1:-1] = (
        0.125 * (a[2:, 1:-1, 1:-1] - 2.0 * a[1:-1, 1:-1, 1:-1] + a[:-2, 1:-1, 1:-1])
        + 0.125 * (a[1:-1, 2:, 1:-1] - 2.0 * a[1:-1, 1:-1, 1:-1] + a[1:-1, :-2, 1:-1])
        + 0.125 * (a[1:-1, 1:-1, 2:] - 2.0 * a[1:-1, 1:-1, 1:-1] + a[1:-1, 1:-1, :-2])
        + a[1:-1, 1:-1, 1:-1]
    )


def numpy_form(steps, a, b):
    for _ in range(steps):
        step(a, b)
        step(b, a)


def loop_form(steps, a, b):
    n = a.shape[0]
    for _ in range(steps):
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                for k in range(1, n - 1):
                    b[i, j, k] = (
                        0.125 * (a[i + 1, j, k] - 2.0 * a[i, j, k] + a[i - 1, j, k])
                        + 0.125 * (a[i, j + 1, k] - 2.0 * a[i, j, k] + a[i, j - 1, k])
                        + 0.125 * (a[i, j, k + 1] - 2.0 * a[i, j, k] + a[i, j, k - 1])
                        + a[i, j, k]
                    )
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                for k in range(1, n - 1):
                    a[i, j, k] = (
                        0.125 * (b[i + 1, j, k] - 2.0 * b[i, j, k] + b[i - 1, j, k])
                        + 0.125 * (b[i, j + 1, k] - 2.0 * b[i, j, k] + b[i, j - 1, k])
                        + 0.125 * (b[i, j, k + 1] - 2.0 * b[i, j, k] + b[i, j, k - 1])
                        + b[i, j, k]
                    )
