"""C = alpha A B + beta C with A symmetric and only its lower triangle stored."""

from benchmarks.kernels.symm import initialise as initialise
from benchmarks.kernels.symm import loop_form, numpy_form

SIZES = {"S": (6, 5), "M": (200, 220), "L": (700, 800)}
KIND = "product"

loops = loop_form
operators = numpy_form


def operations(m, n):
    return 2.0 * m * m * n


def lists(alpha, beta, c, a, b):
    m = len(c)
    n = len(c[0])
    for i in range(m):
        for j in range(n):
            total = 0.0
            for k in range(i):
                c[k][j] += alpha * b[i][j] * a[i][k]
                total += b[k][j] * a[i][k]
            c[i][j] = beta * c[i][j] + alpha * b[i][j] * a[i][i] + alpha * total
