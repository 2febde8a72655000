"""The two products of the bi-conjugate gradient method: r A and A p."""

import numpy as np

SIZES = {"tiny": (7, 5), "S": (2500, 3000), "M": (8000, 9000), "L": (16_000, 16_000)}


def initialise(size):
    n, m = size
    rng = np.random.default_rng(6)
    return rng.random((n, m)), rng.random(m), rng.random(n)


def numpy_form(a, p, r):
    return r @ a, a @ p


def loop_form(a, p, r):
    n, m = a.shape
    s = np.zeros(m)
    q = np.zeros(n)
    for i in range(n):
        for j in range(m):
            s[j] += r[i] * a[i, j]
            q[i] += a[i, j] * p[j]
    return s, q
