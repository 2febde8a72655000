"""A linear system by LU decomposition, then forward and backward substitution."""

from benchmarks.kernels.ludcmp import initialise as initialise
from benchmarks.kernels.ludcmp import loop_form, numpy_form

SIZES = {"S": (8,), "M": (350,), "L": (1200,)}
KIND = "factorisation"

loops = loop_form
operators = numpy_form


def results(n):
    return (n,), (n,)


def operations(n):
    return 2.0 * n**3 / 3.0


def lists(a, b):
    n = len(b)
    for i in range(n):
        for j in range(i):
            w = a[i][j]
            for k in range(j):
                w -= a[i][k] * a[k][j]
            a[i][j] = w / a[j][j]
        for j in range(i, n):
            w = a[i][j]
            for k in range(i):
                w -= a[i][k] * a[k][j]
            a[i][j] = w
    y = [0.0 for i in range(n)]
    x = [0.0 for i in range(n)]
    for i in range(n):
        w = b[i]
        for j in range(i):
            w -= a[i][j] * y[j]
        y[i] = w
    for i in range(n - 1, -1, -1):
        w = y[i]
        for j in range(i + 1, n):
            w -= a[i][j] * x[j]
        x[i] = w / a[i][i]
    return x, y
