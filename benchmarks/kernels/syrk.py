"""C = alpha A Aᵀ + beta C on the lower triangle of a symmetric C."""

import numpy as np

SIZES = {"tiny": (7, 5), "S": (60, 50), "M": (200, 160), "L": (620, 520)}


def initialise(size):
    n, m = size
    rng = np.random.default_rng(47)
    return 1.5, 1.2, rng.random((n, n)), rng.random((n, m))


def numpy_form(alpha, beta, c, a):
    for i in range(a.shape[0]):
        c[i, : i + 1] *= beta
        for k in range(a.shape[1]):
            c[i, : i + 1] += alpha * a[i, k] * a[: i + 1, k]


def loop_form(alpha, beta, c, a):
    n, m = a.shape
    for i in range(n):
        for j in range(i + 1):
            c[i, j] *= beta
            for k in range(m):
                c[i, j] += alpha * a[i, k] * a[j, k]
