"""LU decomposition without pivoting, in place."""

import numpy as np

SIZES = {"tiny": (8,), "S": (70,), "M": (220,), "L": (650,)}
LISTS = True


def initialise(size):
    (n,) = size
    a = np.random.default_rng(33).random((n, n))
    return (a @ a.T + n * np.eye(n),)


def numpy_form(a):
    n = a.shape[0]
    for i in range(n):
        for j in range(i):
            a[i, j] -= a[i, :j] @ a[:j, j]
            a[i, j] /= a[j, j]
        for j in range(i, n):
            a[i, j] -= a[i, :i] @ a[:i, j]


def loop_form(a):
    n = len(a)
    for i in range(n):
        for j in range(i):
            for k in range(j):
                a[i][j] -= a[i][k] * a[k][j]
            a[i][j] /= a[j][j]
        for j in range(i, n):
            for k in range(i):
                a[i][j] -= a[i][k] * a[k][j]
