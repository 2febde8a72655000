"""The matrix of correlations between the columns of a table of observations."""

import numpy as np

SIZES = {"tiny": (9, 6), "S": (500, 400), "M": (1000, 600), "L": (1500, 1200)}


def initialise(size):
    return (np.random.default_rng(12).random(size),)


def numpy_form(data):
    n, m = data.shape
    mean = np.mean(data, axis=0)
    deviation = np.std(data, axis=0)
    deviation[deviation <= 0.1] = 1.0
    data -= mean
    data /= np.sqrt(n) * deviation
    result = np.eye(m)
    for i in range(m - 1):
        result[i + 1 : m, i] = result[i, i + 1 : m] = data[:, i] @ data[:, i + 1 : m]
    return result


def loop_form(data):
    n, m = data.shape
    mean = np.zeros(m)
    deviation = np.zeros(m)
    for j in range(m):
        for i in range(n):
            mean[j] += data[i, j]
        mean[j] /= n
        for i in range(n):
            deviation[j] += (data[i, j] - mean[j]) ** 2
        deviation[j] = np.sqrt(deviation[j] / n)
        if deviation[j] <= 0.1:
            deviation[j] = 1.0
    for i in range(n):
        for j in range(m):
            data[i, j] = (data[i, j] - mean[j]) / (np.sqrt(n) * deviation[j])
    result = np.zeros((m, m))
    for i in range(m):
        result[i, i] = 1.0
        for j in range(i + 1, m):
            total = 0.0
            for k in range(n):
                total += data[k, i] * data[k, j]
            result[i, j] = total
            result[j, i] = total
    return result
