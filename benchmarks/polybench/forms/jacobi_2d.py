"""Jacobi sweeps over a square, two buffers in turn."""

from benchmarks.kernels.jacobi_2d import initialise as initialise
from benchmarks.kernels.jacobi_2d import loop_form, numpy_form

SIZES = {"S": (3, 9), "M": (10, 500), "L": (50, 2000)}
KIND = "stencil"

lists = loop_form
operators = numpy_form


def operations(steps, n):
    return 2 * 5.0 * steps * (n - 2) ** 2


def traffic(steps, n):
    return 2 * 16.0 * steps * n * n


def loops(steps, a, b):
    n = a.shape[0]
    for _ in range(steps):
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                b[i, j] = 0.2 * (a[i, j] + a[i, j - 1] + a[i, j + 1] + a[i + 1, j] + a[i - 1, j])
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                a[i, j] = 0.2 * (b[i, j] + b[i, j - 1] + b[i, j + 1] + b[i + 1, j] + b[i - 1, j])
