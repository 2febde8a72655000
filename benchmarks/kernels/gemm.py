"""C = alpha A B + beta C."""

import numpy as np

SIZES = {"tiny": (5, 6, 7), "S": (750, 800, 850), "M": (1800, 1900, 2000), "L": (4000, 4100, 4200)}


def initialise(size):
    n, m, inner = size
    rng = np.random.default_rng(21)
    return 1.5, 1.2, rng.random((n, m)), rng.random((n, inner)), rng.random((inner, m))


def numpy_form(alpha, beta, c, a, b):
    c[:] = alpha * (a @ b) + beta * c


def loop_form(alpha, beta, c, a, b):
    n, m = c.shape
    for i in range(n):
        for j in range(m):
            c[i, j] *= beta
        for k in range(a.shape[1]):
            for j in range(m):
                c[i, j] += alpha * a[i, k] * b[k, j]
