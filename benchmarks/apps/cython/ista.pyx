# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
import numpy as np
from libc.math cimport sqrt


def ista(long[::1] indptr, long[::1] indices, long[::1] seeds, double alpha, double rho, long iterations):
    cdef long nodes = indptr.shape[0] - 1, number, node, place, step
    scores = np.zeros((seeds.shape[0], nodes))
    cdef double[:, ::1] view = scores
    cdef double[::1] degrees = np.diff(indptr).astype(np.float64)
    cdef double[::1] start, gradient, solution
    cdef double spread
    for number in range(seeds.shape[0]):
        start = np.zeros(nodes)
        start[seeds[number]] = -alpha / sqrt(degrees[seeds[number]])
        gradient = start.copy()
        solution = np.zeros(nodes)
        for step in range(iterations):
            for node in range(nodes):
                solution[node] = max(solution[node] - gradient[node] - rho * alpha * sqrt(degrees[node]), 0.0)
            for node in range(nodes):
                spread = 0.0
                for place in range(indptr[node], indptr[node + 1]):
                    spread += solution[indices[place]] / sqrt(degrees[indices[place]])
                spread /= sqrt(degrees[node])
                gradient[node] = start[node] + 0.5 * (1.0 + alpha) * solution[node] - 0.5 * (1.0 - alpha) * spread
        for node in range(nodes):
            view[number, node] = solution[node] * sqrt(degrees[node])
    return scores
