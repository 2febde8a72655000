"""LU decomposition without pivoting, in place."""

from benchmarks.kernels.lu import initialise as initialise
from benchmarks.kernels.lu import loop_form, numpy_form

SIZES = {"S": (8,), "M": (350,), "L": (1200,)}
KIND = "factorisation"

lists = loop_form
operators = numpy_form


def operations(n):
    return 2.0 * n**3 / 3.0


def loops(a):
    n = a.shape[0]
    for i in range(n):
        for j in range(i):
            for k in range(j):
                a[i, j] -= a[i, k] * a[k, j]
            a[i, j] /= a[j, j]
        for j in range(i, n):
            for k in range(i):
                a[i, j] -= a[i, k] * a[k, j]
