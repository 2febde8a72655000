"""C = alpha A B + beta C with A symmetric and only its lower triangle stored."""

import numpy as np

SIZES = {"tiny": (6, 5), "S": (45, 40), "M": (160, 140), "L": (500, 450)}


def initialise(size):
    m, n = size
    rng = np.random.default_rng(45)
    return 1.5, 1.2, rng.random((m, n)), np.tril(rng.random((m, m))), rng.random((m, n))


def numpy_form(alpha, beta, c, a, b):
    temporary = np.empty(c.shape[1])
    c *= beta
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            c[:i, j] += alpha * b[i, j] * a[i, :i]
            temporary[j] = b[:i, j] @ a[i, :i]
        c[i, :] += alpha * b[i, :] * a[i, i] + alpha * temporary


def loop_form(alpha, beta, c, a, b):
    m, n = c.shape
    for i in range(m):
        for j in range(n):
            total = 0.0
            for k in range(i):
                c[k, j] += alpha * b[i, j] * a[i, k]
                total += b[k, j] * a[i, k]
            c[i, j] = beta * c[i, j] + alpha * b[i, j] * a[i, i] + alpha * total
