"""y = alpha A x + beta B x."""

import numpy as np

SIZES = {"tiny": (7,), "S": (2000,), "M": (5500,), "L": (11_000,)}


def initialise(size):
    (n,) = size
    rng = np.random.default_rng(23)
    return 1.5, 1.2, rng.random((n, n)), rng.random((n, n)), rng.random(n)


def numpy_form(alpha, beta, a, b, x):
    return alpha * a @ x + beta * b @ x


def loop_form(alpha, beta, a, b, x):
    n = len(x)
    y = np.zeros(n)
    for i in range(n):
        first = 0.0
        second = 0.0
        for j in range(n):
            first += a[i, j] * x[j]
            second += b[i, j] * x[j]
        y[i] = alpha * first + beta * second
    return y
