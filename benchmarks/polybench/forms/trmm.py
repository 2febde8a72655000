"""B = alpha Aᵀ B with A unit lower triangular, in place."""

from benchmarks.kernels.trmm import initialise as initialise
from benchmarks.kernels.trmm import loop_form, numpy_form

SIZES = {"S": (7, 5), "M": (280, 260), "L": (1000, 1200)}
KIND = "product"

loops = loop_form
operators = numpy_form


def operations(m, n):
    return 1.0 * m * m * n


def lists(alpha, a, b):
    m = len(b)
    n = len(b[0])
    for i in range(m):
        for j in range(n):
            for k in range(i + 1, m):
                b[i][j] += a[k][i] * b[k][j]
            b[i][j] = alpha * b[i][j]
