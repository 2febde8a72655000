"""The matrix of covariances between the columns of a table of observations, by the library."""

import numpy as np

SIZES = {"tiny": (9, 6), "S": (700, 400), "M": (2400, 1300), "L": (6000, 3200)}


def initialise(size):
    return (np.random.default_rng(14).random(size),)


def numpy_form(data):
    return np.cov(data.T)


def loop_form(data):
    n, m = data.shape
    centred = np.empty((n, m))
    for j in range(m):
        mean = 0.0
        for i in range(n):
            mean += data[i, j]
        mean /= n
        for i in range(n):
            centred[i, j] = data[i, j] - mean
    result = np.zeros((m, m))
    for i in range(m):
        for j in range(m):
            for k in range(n):
                result[i, j] += centred[k, i] * centred[k, j]
            result[i, j] /= n - 1
    return result
