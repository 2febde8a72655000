"""B = alpha Aᵀ B with A unit lower triangular, in place."""

import numpy as np

SIZES = {"tiny": (7, 5), "S": (90, 80), "M": (280, 220), "L": (700, 600)}


def initialise(size):
    m, n = size
    rng = np.random.default_rng(49)
    return 1.5, rng.random((m, m)), rng.random((m, n))


def numpy_form(alpha, a, b):
    for i in range(b.shape[0]):
        for j in range(b.shape[1]):
            b[i, j] += a[i + 1 :, i] @ b[i + 1 :, j]
    b *= alpha


def loop_form(alpha, a, b):
    m, n = b.shape
    for i in range(m):
        for j in range(n):
            for k in range(i + 1, m):
                b[i, j] += a[k, i] * b[k, j]
            b[i, j] = alpha * b[i, j]
