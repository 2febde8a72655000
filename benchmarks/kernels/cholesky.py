"""The Cholesky factor of a symmetric positive definite matrix, row by row, in place in its lower triangle."""

import math

import numpy as np

SIZES = {"tiny": (9,), "S": (90,), "M": (280,), "L": (850,)}
LISTS = True


def initialise(size):
    (n,) = size
    a = np.random.default_rng(7).random((n, n))
    return (a @ a.T + n * np.eye(n),)


def numpy_form(a):
    n = a.shape[0]
    a[0, 0] = np.sqrt(a[0, 0])
    for i in range(1, n):
        for j in range(i):
            a[i, j] -= np.dot(a[i, :j], a[j, :j])
            a[i, j] /= a[j, j]
        a[i, i] -= np.dot(a[i, :i], a[i, :i])
        a[i, i] = np.sqrt(a[i, i])


def loop_form(a):
    n = len(a)
    for i in range(n):
        for j in range(i):
            for k in range(j):
                a[i][j] -= a[i][k] * a[j][k]
            a[i][j] /= a[j][j]
        for k in range(i):
            a[i][i] -= a[i][k] * a[i][k]
        a[i][i] = math.sqrt(a[i][i])
