"""C = alpha (A Bᵀ + B Aᵀ) + beta C on the lower triangle of a symmetric C."""

import numpy as np

SIZES = {"tiny": (7, 5), "S": (45, 40), "M": (130, 100), "L": (400, 330)}


def initialise(size):
    n, m = size
    rng = np.random.default_rng(46)
    return 1.5, 1.2, rng.random((n, n)), rng.random((n, m)), rng.random((n, m))


def numpy_form(alpha, beta, c, a, b):
    for i in range(a.shape[0]):
        c[i, : i + 1] *= beta
        for k in range(a.shape[1]):
            c[i, : i + 1] += alpha * a[: i + 1, k] * b[i, k] + alpha * b[: i + 1, k] * a[i, k]


def loop_form(alpha, beta, c, a, b):
    n, m = a.shape
    for i in range(n):
        for j in range(i + 1):
            c[i, j] *= beta
        for k in range(m):
            for j in range(i + 1):
                c[i, j] += a[j, k] * alpha * b[i, k] + b[j, k] * alpha * a[i, k]
