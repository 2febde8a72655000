"""A sparse matrix in compressed rows times a vector."""

import numpy as np

SIZES = {"tiny": (9, 3), "S": (4_000, 12), "M": (40_000, 12), "L": (400_000, 12)}


def initialise(size):
    n, each = size
    rng = np.random.default_rng(43)
    columns = np.sort(rng.integers(0, n, (n, each)), axis=1).reshape(-1)
    return np.arange(0, n * each + 1, each), columns, rng.random(n * each), rng.random(n)


def numpy_form(starts, columns, values, x):
    y = np.empty(len(starts) - 1)
    for i in range(len(y)):
        row = slice(starts[i], starts[i + 1])
        y[i] = values[row] @ x[columns[row]]
    return y


def loop_form(starts, columns, values, x):
    n = len(starts) - 1
    y = np.zeros(n)
    for i in range(n):
        for k in range(starts[i], starts[i + 1]):
            y[i] += values[k] * x[columns[k]]
    return y
