"""G = (A B) (C D): three matrix products."""

from benchmarks.kernels.k3mm import initialise as initialise
from benchmarks.kernels.k3mm import loop_form

SIZES = {"S": (5, 6, 7, 8, 9), "M": (150, 160, 170, 180, 190), "L": (700, 750, 800, 850, 900)}
KIND = "product"

loops = loop_form


def results(ni, nj, nk, nl, nm):
    return ((ni, nl),)


def operations(ni, nj, nk, nl, nm):
    return 2.0 * (ni * nj * nk + nj * nl * nm + ni * nl * nj)


def operators(a, b, c, d):
    return (a @ b) @ (c @ d)


def lists(a, b, c, d):
    ni = len(a)
    nk = len(b)
    nj = len(c)
    nm = len(d)
    nl = len(d[0])
    e = [[0.0 for j in range(nj)] for i in range(ni)]
    f = [[0.0 for j in range(nl)] for i in range(nj)]
    g = [[0.0 for j in range(nl)] for i in range(ni)]
    for i in range(ni):
        for j in range(nj):
            for k in range(nk):
                e[i][j] += a[i][k] * b[k][j]
    for i in range(nj):
        for j in range(nl):
            for k in range(nm):
                f[i][j] += c[i][k] * d[k][j]
    for i in range(ni):
        for j in range(nl):
            for k in range(nj):
                g[i][j] += e[i][k] * f[k][j]
    return g
