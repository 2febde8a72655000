"""The matrix of covariances between the columns of a table of observations."""

from benchmarks.kernels.covariance import initialise as initialise
from benchmarks.kernels.covariance import loop_form, numpy_form

SIZES = {"S": (9, 6), "M": (320, 260), "L": (1200, 1000)}
KIND = "product"

loops = loop_form
operators = numpy_form


def results(n, m):
    return ((m, m),)


def operations(n, m):
    return 1.0 * n * m * m + 2.0 * n * m


def lists(data):
    n = len(data)
    m = len(data[0])
    mean = [0.0 for j in range(m)]
    for j in range(m):
        for i in range(n):
            mean[j] += data[i][j]
        mean[j] /= n
    for i in range(n):
        for j in range(m):
            data[i][j] -= mean[j]
    result = [[0.0 for j in range(m)] for i in range(m)]
    for i in range(m):
        for j in range(i, m):
            for k in range(n):
                result[i][j] += data[k][i] * data[k][j]
            result[i][j] /= n - 1.0
            result[j][i] = result[i][j]
    return result
