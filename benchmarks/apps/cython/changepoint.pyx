# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
import numpy as np
from libc.math cimport sqrt, INFINITY


cdef double largest_statistic(long[::1] sources, long[::1] targets, long[:] position, double squares):
    cdef long edges = sources.shape[0], nodes = position.shape[0], edge, t, one, other
    cdef double[::1] crossing = np.zeros(nodes)
    cdef double across = 0.0, best = -INFINITY, p1, p2, variance, statistic, n = nodes
    for edge in range(edges):
        one = position[sources[edge]]
        other = position[targets[edge]]
        crossing[min(one, other)] += 1.0
        crossing[max(one, other)] -= 1.0
    for t in range(1, nodes):
        across += crossing[t - 1]
        if nodes // 20 <= t <= nodes - nodes // 20:
            p1 = 2.0 * t * (nodes - t) / (n * (n - 1.0))
            p2 = 4.0 * t * (t - 1.0) * (nodes - t) * (nodes - t - 1.0) / (n * (n - 1.0) * (n - 2.0) * (n - 3.0))
            variance = p2 * edges + (0.5 * p1 - p2) * squares + (p2 - p1 * p1) * edges * edges
            statistic = (p1 * edges - across) / sqrt(variance)
            if statistic > best:
                best = statistic
    return best


def changepoint(long[::1] sources, long[::1] targets, long[:, ::1] orders):
    cdef long nodes = orders.shape[1], trial
    degrees = np.bincount(sources, minlength=nodes) + np.bincount(targets, minlength=nodes)
    cdef double squares = (degrees * degrees).sum()
    maxima = np.zeros(orders.shape[0])
    cdef double[::1] view = maxima
    for trial in range(orders.shape[0]):
        view[trial] = largest_statistic(sources, targets, orders[trial], squares)
    return maxima[0], np.mean(maxima[1:] >= maxima[0])
