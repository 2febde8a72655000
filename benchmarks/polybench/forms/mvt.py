"""x1 = x1 + A y1 and x2 = x2 + Aᵀ y2."""

from benchmarks.kernels.mvt import initialise as initialise
from benchmarks.kernels.mvt import loop_form, numpy_form

SIZES = {"S": (7,), "M": (2500,), "L": (8000,)}
KIND = "streaming"

loops = loop_form
operators = numpy_form


def operations(n):
    return 4.0 * n * n


def traffic(n):
    return 8.0 * n * n


def lists(x1, x2, y1, y2, a):
    n = len(x1)
    for i in range(n):
        for j in range(n):
            x1[i] += a[i][j] * y1[j]
    for i in range(n):
        for j in range(n):
            x2[i] += a[j][i] * y2[j]
