"""A rank-two update of a matrix followed by two products with it."""

import numpy as np

SIZES = {"tiny": (7,), "S": (1000,), "M": (3000,), "L": (9000,)}


def initialise(size):
    (n,) = size
    rng = np.random.default_rng(22)
    vectors = [rng.random(n) for _ in range(8)]
    return 1.5, 1.2, rng.random((n, n)), *vectors


def numpy_form(alpha, beta, a, u1, v1, u2, v2, w, x, y, z):
    a += np.outer(u1, v1) + np.outer(u2, v2)
    x += beta * y @ a + z
    w += alpha * a @ x


def loop_form(alpha, beta, a, u1, v1, u2, v2, w, x, y, z):
    n = len(a)
    for i in range(n):
        for j in range(n):
            a[i, j] += u1[i] * v1[j] + u2[i] * v2[j]
    for i in range(n):
        for j in range(n):
            x[i] += beta * a[j, i] * y[j]
    for i in range(n):
        x[i] += z[i]
    for i in range(n):
        for j in range(n):
            w[i] += alpha * a[i, j] * x[j]
