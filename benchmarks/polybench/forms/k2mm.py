"""D = alpha A B C + beta D: two matrix products."""

from benchmarks.kernels.k2mm import initialise as initialise
from benchmarks.kernels.k2mm import loop_form, numpy_form

SIZES = {"S": (5, 6, 7, 8), "M": (180, 190, 210, 220), "L": (800, 900, 1000, 1100)}
KIND = "product"

loops = loop_form
operators = numpy_form


def operations(ni, nj, nk, nl):
    return 2.0 * ni * nj * nk + 2.0 * ni * nl * nj


def lists(alpha, beta, a, b, c, d):
    ni = len(a)
    nk = len(b)
    nj = len(c)
    nl = len(c[0])
    product = [[0.0 for j in range(nj)] for i in range(ni)]
    for i in range(ni):
        for j in range(nj):
            for k in range(nk):
                product[i][j] += alpha * a[i][k] * b[k][j]
    for i in range(ni):
        for j in range(nl):
            d[i][j] *= beta
            for k in range(nj):
                d[i][j] += product[i][k] * c[k][j]
