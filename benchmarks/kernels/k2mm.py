"""D = alpha A B C + beta D: two matrix products."""

import numpy as np

SIZES = {"tiny": (4, 5, 6, 7), "S": (550, 600, 650, 700), "M": (1400, 1500, 1600, 1700), "L": (3000, 3100, 3200, 3300)}


def initialise(size):
    i, j, k, l = size
    rng = np.random.default_rng(30)
    return 1.5, 1.2, rng.random((i, k)), rng.random((k, j)), rng.random((j, l)), rng.random((i, l))


def numpy_form(alpha, beta, a, b, c, d):
    d[:] = alpha * a @ b @ c + beta * d


def loop_form(alpha, beta, a, b, c, d):
    ni, nk = a.shape
    nj, nl = c.shape
    product = np.zeros((ni, nj))
    for i in range(ni):
        for j in range(nj):
            for k in range(nk):
                product[i, j] += alpha * a[i, k] * b[k, j]
    for i in range(ni):
        for j in range(nl):
            d[i, j] *= beta
            for k in range(nj):
                d[i, j] += product[i, k] * c[k, j]
