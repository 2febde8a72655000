"""Forward substitution with a lower triangular matrix."""

from benchmarks.kernels.trisolv import initialise as initialise
from benchmarks.kernels.trisolv import loop_form, numpy_form

SIZES = {"S": (8,), "M": (4000,), "L": (8000,)}
KIND = "streaming"

loops = loop_form
operators = numpy_form


def operations(n):
    return 1.0 * n * n


def traffic(n):
    return 4.0 * n * n


def lists(lower, b, x):
    n = len(x)
    for i in range(n):
        x[i] = b[i]
        for j in range(i):
            x[i] -= lower[i][j] * x[j]
        x[i] = x[i] / lower[i][i]
