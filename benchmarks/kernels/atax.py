"""y = Aᵀ (A x)."""

import numpy as np

SIZES = {"tiny": (7, 5), "S": (2500, 3000), "M": (8000, 9000), "L": (16_000, 16_000)}


def initialise(size):
    rng = np.random.default_rng(3)
    return rng.random(size), rng.random(size[1])


def numpy_form(a, x):
    return (a @ x) @ a


def loop_form(a, x):
    m, n = a.shape
    y = np.zeros(n)
    for i in range(m):
        product = 0.0
        for j in range(n):
            product += a[i, j] * x[j]
        for j in range(n):
            y[j] += a[i, j] * product
    return y
