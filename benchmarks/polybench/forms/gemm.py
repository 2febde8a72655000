"""C = alpha A B + beta C."""

from benchmarks.kernels.gemm import initialise as initialise
from benchmarks.kernels.gemm import loop_form

SIZES = {"S": (5, 6, 7), "M": (220, 240, 260), "L": (1200, 1300, 1400)}
KIND = "product"

loops = loop_form


def operators(alpha, beta, c, a, b):
    c[:] = alpha * a @ b + beta * c


def operations(n, m, inner):
    return 2.0 * n * m * inner


def lists(alpha, beta, c, a, b):
    n = len(c)
    m = len(c[0])
    inner = len(b)
    for i in range(n):
        for j in range(m):
            c[i][j] *= beta
        for k in range(inner):
            for j in range(m):
                c[i][j] += alpha * a[i][k] * b[k][j]
