# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
import numpy as np


def pr_nibble(long[::1] indptr, long[::1] indices, long[::1] seeds, double alpha, double epsilon):
    cdef long nodes = indptr.shape[0] - 1, number, k, i, j
    degrees = np.diff(indptr)
    scores = np.zeros((seeds.shape[0], nodes))
    cdef double[:, ::1] p = scores
    cdef double[::1] r, following
    cdef long[::1] frontier, degree = degrees
    for number in range(seeds.shape[0]):
        r = np.zeros(nodes)
        r[seeds[number]] = 1.0
        frontier = np.array([seeds[number]])
        while frontier.shape[0] > 0:
            following = r.copy()
            for k in range(frontier.shape[0]):
                i = frontier[k]
                p[number, i] += ((2.0 * alpha) / (1.0 + alpha)) * r[i]
                following[i] = 0.0
            for k in range(frontier.shape[0]):
                i = frontier[k]
                for j in range(indptr[i], indptr[i + 1]):
                    following[indices[j]] += ((1.0 - alpha) / (1.0 + alpha)) * r[i] / degree[i]
            r = following
            frontier = np.where((np.asarray(r) >= degrees * epsilon) & (degrees > 0))[0]
    return scores
