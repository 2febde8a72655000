"""The heat equation on a cube by explicit steps, two buffers in turn."""

from benchmarks.kernels.heat_3d import initialise as initialise
from benchmarks.kernels.heat_3d import loop_form, numpy_form

SIZES = {"S": (2, 6), "M": (5, 60), "L": (20, 200)}
KIND = "stencil"

loops = loop_form
operators = numpy_form


def operations(steps, n):
    return 2 * 15.0 * steps * (n - 2) ** 3


def traffic(steps, n):
    return 2 * 16.0 * steps * n**3


def lists(steps, a, b):
    n = len(a)
    for _ in range(steps):
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                for k in range(1, n - 1):
                    b[i][j][k] = (
                        0.125 * (a[i + 1][j][k] - 2.0 * a[i][j][k] + a[i - 1][j][k])
                        + 0.125 * (a[i][j + 1][k] - 2.0 * a[i][j][k] + a[i][j - 1][k])
                        + 0.125 * (a[i][j][k + 1] - 2.0 * a[i][j][k] + a[i][j][k - 1])
                        + a[i][j][k]
                    )
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                for k in range(1, n - 1):
                    a[i][j][k] = (
                        0.125 * (b[i + 1][j][k] - 2.0 * b[i][j][k] + b[i - 1][j][k])
                        + 0.125 * (b[i][j + 1][k] - 2.0 * b[i][j][k] + b[i][j - 1][k])
                        + 0.125 * (b[i][j][k + 1] - 2.0 * b[i][j][k] + b[i][j][k - 1])
                        + b[i][j][k]
                    )
