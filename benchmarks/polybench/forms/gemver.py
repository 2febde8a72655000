"""A rank-two update of a matrix followed by two products with it."""

from benchmarks.kernels.gemver import initialise as initialise
from benchmarks.kernels.gemver import numpy_form

SIZES = {"S": (7,), "M": (1500,), "L": (7000,)}
KIND = "streaming"

operators = numpy_form


def operations(n):
    return 8.0 * n * n


def traffic(n):
    """The matrix is read, written, and read again once all of x is known."""
    return 3 * 8.0 * n * n


def lists(alpha, beta, a, u1, v1, u2, v2, w, x, y, z):
    n = len(a)
    for i in range(n):
        for j in range(n):
            a[i][j] += u1[i] * v1[j] + u2[i] * v2[j]
    for i in range(n):
        for j in range(n):
            x[i] += beta * y[j] * a[j][i]
    for i in range(n):
        x[i] += z[i]
    for i in range(n):
        for j in range(n):
            w[i] += alpha * a[i][j] * x[j]


def loops(alpha, beta, a, u1, v1, u2, v2, w, x, y, z):
    n = len(a)
    for i in range(n):
        for j in range(n):
            a[i, j] += u1[i] * v1[j] + u2[i] * v2[j]
    for i in range(n):
        for j in range(n):
            x[i] += beta * y[j] * a[j, i]
    for i in range(n):
        x[i] += z[i]
    for i in range(n):
        for j in range(n):
            w[i] += alpha * a[i, j] * x[j]
