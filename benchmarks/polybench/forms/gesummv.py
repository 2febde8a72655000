"""y = alpha A x + beta B x."""

from benchmarks.kernels.gesummv import initialise as initialise
from benchmarks.kernels.gesummv import loop_form

SIZES = {"S": (7,), "M": (2000,), "L": (6000,)}
KIND = "streaming"

loops = loop_form


def results(n):
    return ((n,),)


def operations(n):
    return 4.0 * n * n


def traffic(n):
    return 2 * 8.0 * n * n


def operators(alpha, beta, a, b, x):
    return alpha * (a @ x) + beta * (b @ x)


def lists(alpha, beta, a, b, x):
    n = len(x)
    y = [0.0 for i in range(n)]
    for i in range(n):
        first = 0.0
        second = 0.0
        for j in range(n):
            first += a[i][j] * x[j]
            second += b[i][j] * x[j]
        y[i] = alpha * first + beta * second
    return y
