"""C = alpha A Aᵀ + beta C on the lower triangle of a symmetric C."""

from benchmarks.kernels.syrk import initialise as initialise
from benchmarks.kernels.syrk import numpy_form

SIZES = {"S": (7, 5), "M": (300, 250), "L": (1200, 1000)}
KIND = "product"

operators = numpy_form


def operations(n, m):
    return 1.0 * n * n * m


def loops(alpha, beta, c, a):
    n, m = a.shape
    for i in range(n):
        for j in range(i + 1):
            c[i, j] *= beta
        for k in range(m):
            for j in range(i + 1):
                c[i, j] += alpha * a[i, k] * a[j, k]


def lists(alpha, beta, c, a):
    n = len(a)
    m = len(a[0])
    for i in range(n):
        for j in range(i + 1):
            c[i][j] *= beta
        for k in range(m):
            for j in range(i + 1):
                c[i][j] += alpha * a[i][k] * a[j][k]
