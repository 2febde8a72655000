"""Gauss-Seidel sweeps of the nine-point mean over a square, in place."""

from benchmarks.kernels.seidel_2d import initialise as initialise
from benchmarks.kernels.seidel_2d import loop_form, numpy_form

SIZES = {"S": (2, 8), "M": (5, 500), "L": (40, 2000)}
KIND = "stencil"

loops = loop_form
operators = numpy_form


def operations(steps, n):
    return 9.0 * steps * (n - 2) ** 2


def traffic(steps, n):
    return 16.0 * steps * n * n


def lists(steps, a):
    n = len(a)
    for _ in range(steps):
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                a[i][j] = (
                    a[i - 1][j - 1]
                    + a[i - 1][j]
                    + a[i - 1][j + 1]
                    + a[i][j - 1]
                    + a[i][j]
                    + a[i][j + 1]
                    + a[i + 1][j - 1]
                    + a[i + 1][j]
                    + a[i + 1][j + 1]
                ) / 9.0
