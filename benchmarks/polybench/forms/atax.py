"""y = Aᵀ (A x)."""

from benchmarks.kernels.atax import initialise as initialise
from benchmarks.kernels.atax import loop_form, numpy_form

SIZES = {"S": (7, 5), "M": (2500, 2600), "L": (8000, 8000)}
KIND = "streaming"

loops = loop_form
operators = numpy_form


def results(m, n):
    return ((n,),)


def operations(m, n):
    return 4.0 * m * n


def traffic(m, n):
    return 8.0 * m * n


def lists(a, x):
    m = len(a)
    n = len(x)
    y = [0.0 for j in range(n)]
    for i in range(m):
        product = 0.0
        for j in range(n):
            product += a[i][j] * x[j]
        for j in range(n):
            y[j] += a[i][j] * product
    return y
