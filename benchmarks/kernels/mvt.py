"""x1 = x1 + A y1 and x2 = x2 + Aᵀ y2."""

import numpy as np

SIZES = {"tiny": (7,), "S": (3500,), "M": (9000,), "L": (16_000,)}


def initialise(size):
    (n,) = size
    rng = np.random.default_rng(36)
    return rng.random(n), rng.random(n), rng.random(n), rng.random(n), rng.random((n, n))


def numpy_form(x1, x2, y1, y2, a):
    x1 += a @ y1
    x2 += y2 @ a


def loop_form(x1, x2, y1, y2, a):
    n = len(x1)
    for i in range(n):
        for j in range(n):
            x1[i] += a[i, j] * y1[j]
    for i in range(n):
        for j in range(n):
            x2[i] += a[j, i] * y2[j]
