"""Forward substitution with a lower triangular matrix."""

import numpy as np

SIZES = {"tiny": (8,), "S": (3000,), "M": (10_000,), "L": (16_000,)}


def initialise(size):
    (n,) = size
    rng = np.random.default_rng(48)
    matrix = rng.random((n, n)) / n
    matrix[np.arange(n), np.arange(n)] += 1.0
    return matrix, rng.random(n), np.zeros(n)


def numpy_form(lower, b, x):
    for i in range(len(x)):
        x[i] = (b[i] - lower[i, :i] @ x[:i]) / lower[i, i]


def loop_form(lower, b, x):
    n = len(x)
    for i in range(n):
        x[i] = b[i]
        for j in range(i):
            x[i] -= lower[i, j] * x[j]
        x[i] = x[i] / lower[i, i]
