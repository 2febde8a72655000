"""The matrix of correlations between the columns of a table of observations."""

import math

import numpy as np

from benchmarks.kernels.correlation import initialise as initialise

SIZES = {"S": (9, 6), "M": (320, 260), "L": (1200, 1000)}
KIND = "product"


def results(n, m):
    return ((m, m),)


def operations(n, m):
    return 1.0 * n * m * m + 8.0 * n * m


def loops(data):
    n, m = data.shape
    mean = np.zeros(m)
    deviation = np.zeros(m)
    for j in range(m):
        for i in range(n):
            mean[j] += data[i, j]
        mean[j] /= n
    for j in range(m):
        for i in range(n):
            deviation[j] += (data[i, j] - mean[j]) * (data[i, j] - mean[j])
        deviation[j] = np.sqrt(deviation[j] / n)
        if deviation[j] <= 0.1:
            deviation[j] = 1.0
    for i in range(n):
        for j in range(m):
            data[i, j] -= mean[j]
            data[i, j] /= np.sqrt(n) * deviation[j]
    result = np.zeros((m, m))
    for i in range(m - 1):
        result[i, i] = 1.0
        for j in range(i + 1, m):
            for k in range(n):
                result[i, j] += data[k, i] * data[k, j]
            result[j, i] = result[i, j]
    result[m - 1, m - 1] = 1.0
    return result


def lists(data):
    n = len(data)
    m = len(data[0])
    mean = [0.0 for j in range(m)]
    deviation = [0.0 for j in range(m)]
    for j in range(m):
        for i in range(n):
            mean[j] += data[i][j]
        mean[j] /= n
    for j in range(m):
        for i in range(n):
            deviation[j] += (data[i][j] - mean[j]) * (data[i][j] - mean[j])
        deviation[j] = math.sqrt(deviation[j] / n)
        if deviation[j] <= 0.1:
            deviation[j] = 1.0
    for i in range(n):
        for j in range(m):
            data[i][j] -= mean[j]
            data[i][j] /= math.sqrt(n) * deviation[j]
    result = [[0.0 for j in range(m)] for i in range(m)]
    for i in range(m - 1):
        result[i][i] = 1.0
        for j in range(i + 1, m):
            for k in range(n):
                result[i][j] += data[k][i] * data[k][j]
            result[j][i] = result[i][j]
    result[m - 1][m - 1] = 1.0
    return result


def operators(data):
    n, m = data.shape
    mean = np.mean(data, axis=0)
    deviation = np.std(data, axis=0)
    deviation[deviation <= 0.1] = 1.0
    data -= mean
    data /= np.sqrt(n) * deviation
    result = np.zeros((m, m))
    for i in range(m - 1):
        result[i, i] = 1.0
        result[i, i + 1 : m] = data[:, i] @ data[:, i + 1 : m]
        result[i + 1 : m, i] = result[i, i + 1 : m]
    result[m - 1, m - 1] = 1.0
    return result
