"""C = alpha (A Bᵀ + B Aᵀ) + beta C on the lower triangle of a symmetric C."""

from benchmarks.kernels.syr2k import initialise as initialise
from benchmarks.kernels.syr2k import loop_form, numpy_form

SIZES = {"S": (7, 5), "M": (240, 200), "L": (900, 800)}
KIND = "product"

loops = loop_form
operators = numpy_form


def operations(n, m):
    return 2.0 * n * n * m


def lists(alpha, beta, c, a, b):
    n = len(a)
    m = len(a[0])
    for i in range(n):
        for j in range(i + 1):
            c[i][j] *= beta
        for k in range(m):
            for j in range(i + 1):
                c[i][j] += a[j][k] * alpha * b[i][k] + b[j][k] * alpha * a[i][k]
