"""Jacobi sweeps over a line, two buffers in turn."""

from benchmarks.kernels.jacobi_1d import initialise as initialise

SIZES = {"S": (3, 12), "M": (30, 100_000), "L": (200, 2_000_000)}
KIND = "stencil"


def operations(steps, n):
    return 2 * 3.0 * steps * (n - 2)


def traffic(steps, n):
    return 2 * 16.0 * steps * n


def operators(steps, a, b):
    for _ in range(steps):
        b[1:-1] = 0.33333 * (a[:-2] + a[1:-1] + a[2:])
        a[1:-1] = 0.33333 * (b[:-2] + b[1:-1] + b[2:])


def loops(steps, a, b):
    n = a.shape[0]
    for _ in range(steps):
        for i in range(1, n - 1):
            b[i] = 0.33333 * (a[i - 1] + a[i] + a[i + 1])
        for i in range(1, n - 1):
            a[i] = 0.33333 * (b[i - 1] + b[i] + b[i + 1])


def lists(steps, a, b):
    n = len(a)
    for _ in range(steps):
        for i in range(1, n - 1):
            b[i] = 0.33333 * (a[i - 1] + a[i] + a[i + 1])
        for i in range(1, n - 1):
            a[i] = 0.33333 * (b[i - 1] + b[i] + b[i + 1])
