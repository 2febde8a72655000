"""A linear system by LU decomposition, then forward and backward substitution."""

import numpy as np

SIZES = {"tiny": (8,), "S": (70,), "M": (220,), "L": (650,)}


def initialise(size):
    (n,) = size
    rng = np.random.default_rng(34)
    a = rng.random((n, n))
    return a @ a.T + n * np.eye(n), rng.random(n)


def numpy_form(a, b):
    n = a.shape[0]
    for i in range(n):
        for j in range(i):
            a[i, j] -= a[i, :j] @ a[:j, j]
            a[i, j] /= a[j, j]
        for j in range(i, n):
            a[i, j] -= a[i, :i] @ a[:i, j]
    y = np.zeros_like(b)
    x = np.zeros_like(b)
    for i in range(n):
        y[i] = b[i] - a[i, :i] @ y[:i]
    for i in range(n - 1, -1, -1):
        x[i] = (y[i] - a[i, i + 1 :] @ x[i + 1 :]) / a[i, i]
    return x, y


def loop_form(a, b):
    n = len(b)
    for i in range(n):
        for j in range(i):
            w = a[i, j]
            for k in range(j):
                w -= a[i, k] * a[k, j]
            a[i, j] = w / a[j, j]
        for j in range(i, n):
            w = a[i, j]
            for k in range(i):
                w -= a[i, k] * a[k, j]
            a[i, j] = w
    y = np.zeros(n)
    x = np.zeros(n)
    for i in range(n):
        w = b[i]
        for j in range(i):
            w -= a[i, j] * y[j]
        y[i] = w
    for i in range(n - 1, -1, -1):
        w = y[i]
        for j in range(i + 1, n):
            w -= a[i, j] * x[j]
        x[i] = w / a[i, i]
    return x, y
