"""Durbin's recursion for the Yule-Walker equations."""

from benchmarks.kernels.durbin import initialise as initialise
from benchmarks.kernels.durbin import loop_form, numpy_form

SIZES = {"S": (8,), "M": (3000,), "L": (20_000,)}
KIND = "solver"

loops = loop_form
operators = numpy_form


def results(n):
    return ((n,),)


def operations(n):
    return 2.0 * n * n


def lists(r):
    n = len(r)
    y = [0.0 for i in range(n)]
    z = [0.0 for i in range(n)]
    y[0] = -r[0]
    beta = 1.0
    alpha = -r[0]
    for k in range(1, n):
        beta = (1.0 - alpha * alpha) * beta
        total = 0.0
        for i in range(k):
            total += r[k - i - 1] * y[i]
        alpha = -(r[k] + total) / beta
        for i in range(k):
            z[i] = y[i] + alpha * y[k - i - 1]
        for i in range(k):
            y[i] = z[i]
        y[k] = alpha
    return y
