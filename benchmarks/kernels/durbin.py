"""Durbin's recursion for the Yule-Walker equations: a symmetric Toeplitz system in quadratic time."""

import numpy as np

SIZES = {"tiny": (8,), "S": (2500,), "M": (10_000,), "L": (35_000,)}


def initialise(size):
    (n,) = size
    return (np.random.default_rng(18).random(n) / n,)


def numpy_form(r):
    n = len(r)
    y = np.empty_like(r)
    alpha = -r[0]
    beta = 1.0
    y[0] = -r[0]
    for k in range(1, n):
        beta *= 1.0 - alpha * alpha
        alpha = -(r[k] + np.dot(r[k - 1 :: -1], y[:k])) / beta
        y[:k] += alpha * y[k - 1 :: -1]
        y[k] = alpha
    return y


def loop_form(r):
    n = len(r)
    y = np.zeros(n)
    z = np.zeros(n)
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
