"""QR by modified Gram-Schmidt; A is overwritten by what is left of its columns."""

import math

import numpy as np

from benchmarks.kernels.gramschmidt import initialise as initialise
from benchmarks.kernels.gramschmidt import numpy_form

SIZES = {"S": (8, 5), "M": (220, 200), "L": (900, 800)}
KIND = "factorisation"

operators = numpy_form


def results(m, n):
    return (m, n), (n, n)


def operations(m, n):
    return 2.0 * m * n * n


def lists(a):
    m = len(a)
    n = len(a[0])
    q = [[0.0 for j in range(n)] for i in range(m)]
    r = [[0.0 for j in range(n)] for i in range(n)]
    for k in range(n):
        norm = 0.0
        for i in range(m):
            norm += a[i][k] * a[i][k]
        r[k][k] = math.sqrt(norm)
        for i in range(m):
            q[i][k] = a[i][k] / r[k][k]
        for j in range(k + 1, n):
            r[k][j] = 0.0
            for i in range(m):
                r[k][j] += q[i][k] * a[i][j]
            for i in range(m):
                a[i][j] -= q[i][k] * r[k][j]
    return q, r


def loops(a):
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
            r[k, j] = 0.0
            for i in range(m):
                r[k, j] += q[i, k] * a[i, j]
            for i in range(m):
                a[i, j] -= q[i, k] * r[k, j]
    return q, r
