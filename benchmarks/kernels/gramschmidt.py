"""QR by modified Gram-Schmidt; A is overwritten by what is left of its columns."""

import numpy as np

SIZES = {"tiny": (8, 5), "S": (110, 100), "M": (300, 260), "L": (650, 600)}


def initialise(size):
    m, n = size
    rng = np.random.default_rng(25)
    return (rng.random((m, n)) + np.eye(m, n) * n,)


def numpy_form(a):
    n = a.shape[1]
    q = np.zeros_like(a)
    r = np.zeros((n, n))
    for k in range(n):
        r[k, k] = np.sqrt(np.dot(a[:, k], a[:, k]))
        q[:, k] = a[:, k] / r[k, k]
        for j in range(k + 1, n):
            r[k, j] = np.dot(q[:, k], a[:, j])
            a[:, j] -= q[:, k] * r[k, j]
    return q, r


def loop_form(a):
    m, n = a.shape
    q = np.zeros((m, n))
    r = np.zeros((n, n))
    for k in range(n):
        norm = 0.0
        for i in range(m):
            norm += a[i, k] * a[i, k]
        r[k, k] = np.sqrt(norm)
        for i in range(m):
            q[i, k] = a[i, k] / r[k, k]
        for j in range(k + 1, n):
            for i in range(m):
                r[k, j] += q[i, k] * a[i, j]
            for i in range(m):
                a[i, j] -= q[i, k] * r[k, j]
    return q, r
