"""(A B) (C D): three matrix products."""

import numpy as np

SIZES = {
    "tiny": (4, 5, 6, 7, 3),
    "S": (500, 520, 540, 560, 580),
    "M": (1200, 1250, 1300, 1350, 1400),
    "L": (2600, 2700, 2800, 2900, 3000),
}


def initialise(size):
    i, j, k, l, m = size
    rng = np.random.default_rng(31)
    return rng.random((i, k)), rng.random((k, j)), rng.random((j, m)), rng.random((m, l))


def numpy_form(a, b, c, d):
    return a @ b @ c @ d


def loop_form(a, b, c, d):
    ni, nk = a.shape
    nj, nm = c.shape
    nl = d.shape[1]
    e = np.zeros((ni, nj))
    f = np.zeros((nj, nl))
    g = np.zeros((ni, nl))
    for i in range(ni):
        for j in range(nj):
            for k in range(nk):
                e[i, j] += a[i, k] * b[k, j]
    for i in range(nj):
        for j in range(nl):
            for k in range(nm):
                f[i, j] += c[i, k] * d[k, j]
    for i in range(ni):
        for j in range(nl):
            for k in range(nj):
                g[i, j] += e[i, k] * f[k, j]
    return g
