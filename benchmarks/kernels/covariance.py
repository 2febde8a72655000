"""The matrix of covariances between the columns of a table of observations, a row of it at a time."""

import numpy as np

SIZES = {"tiny": (9, 6), "S": (500, 400), "M": (1000, 600), "L": (1500, 1200)}


def initialise(size):
    return (np.random.default_rng(13).random(size),)


def numpy_form(data):
    n, m = data.shape
    data -= np.mean(data, axis=0)
    result = np.zeros((m, m))
    for i in range(m):
        result[i, i:m] = data[:, i] @ data[:, i:m] / (n - 1.0)
        result[i:m, i] = result[i, i:m]
    return result


def loop_form(data):
    n, m = data.shape
    for j in range(m):
        mean = 0.0
        for i in range(n):
            mean += data[i, j]
        mean /= n
        for i in range(n):
            data[i, j] -= mean
    result = np.zeros((m, m))
    for i in range(m):
        for j in range(i, m):
            total = 0.0
            for k in range(n):
                total += data[k, i] * data[k, j]
            result[i, j] = total / (n - 1.0)
            result[j, i] = result[i, j]
    return result
