"""The Cholesky factor of a symmetric positive definite matrix, in place in its lower triangle."""

import numpy as np

from benchmarks.kernels.cholesky import initialise as initialise
from benchmarks.kernels.cholesky import loop_form

SIZES = {"S": (9,), "M": (450,), "L": (1500,)}
KIND = "factorisation"

lists = loop_form


def operations(n):
    return n**3 / 3.0


def loops(a):
    n = a.shape[0]
    for i in range(n):
        for j in range(i):
            for k in range(j):
                a[i, j] -= a[i, k] * a[j, k]
            a[i, j] /= a[j, j]
        for k in range(i):
            a[i, i] -= a[i, k] * a[i, k]
        a[i, i] = np.sqrt(a[i, i])


def operators(a):
    for i in range(a.shape[0]):
        for j in range(i):
            a[i, j] -= np.dot(a[i, :j], a[j, :j])
            a[i, j] /= a[j, j]
        a[i, i] -= np.dot(a[i, :i], a[i, :i])
        a[i, i] = np.sqrt(a[i, i])
