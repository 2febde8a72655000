"""The two products of the bi-conjugate gradient method: s = r A and q = A p."""

from benchmarks.kernels.bicg import initialise as initialise
from benchmarks.kernels.bicg import loop_form, numpy_form

SIZES = {"S": (7, 5), "M": (2500, 2600), "L": (8000, 8000)}
KIND = "streaming"

loops = loop_form
operators = numpy_form


def results(n, m):
    return (m,), (n,)


def operations(n, m):
    return 4.0 * n * m


def traffic(n, m):
    return 8.0 * n * m


def lists(a, p, r):
    n = len(r)
    m = len(p)
    s = [0.0 for j in range(m)]
    q = [0.0 for i in range(n)]
    for i in range(n):
        for j in range(m):
            s[j] += r[i] * a[i][j]
            q[i] += a[i][j] * p[j]
    return s, q
