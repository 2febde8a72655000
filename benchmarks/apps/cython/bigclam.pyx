# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
import numpy as np
from libc.math cimport exp, log


cdef double dot(double[:, ::1] a, long i, long j):
    cdef double total = 0.0
    cdef long k
    for k in range(a.shape[1]):
        total += a[i, k] * a[j, k]
    return total


cdef double log_likelihood(long[::1] indptr, long[::1] indices, double[:, ::1] memberships):
    cdef double[::1] total = np.asarray(memberships).sum(axis=0)
    cdef double value = 0.0, together
    cdef long node, place, k
    for node in range(indptr.shape[0] - 1):
        for place in range(indptr[node], indptr[node + 1]):
            together = dot(memberships, node, indices[place])
            value += log(1.0 - exp(-together)) + together
        for k in range(memberships.shape[1]):
            value -= memberships[node, k] * (total[k] - memberships[node, k])
    return value


def bigclam(long[::1] indptr, long[::1] indices, double[:, ::1] memberships, double step, long sweeps):
    cdef long nodes = memberships.shape[0], size = memberships.shape[1], node, place, other, k, sweep
    cdef double apart, factor, gradient, updated
    cdef double[::1] total, attraction, nearby
    for sweep in range(sweeps):
        total = np.asarray(memberships).sum(axis=0)
        for node in range(nodes):
            attraction = np.zeros(size)
            nearby = np.zeros(size)
            for place in range(indptr[node], indptr[node + 1]):
                other = indices[place]
                apart = exp(-dot(memberships, node, other))
                factor = apart / (1.0 - apart)
                for k in range(size):
                    attraction[k] += memberships[other, k] * factor
                    nearby[k] += memberships[other, k]
            for k in range(size):
                gradient = attraction[k] - (total[k] - memberships[node, k] - nearby[k])
                updated = min(max(memberships[node, k] + step * gradient, 0.001), 10.0)
                total[k] += updated - memberships[node, k]
                memberships[node, k] = updated
    return log_likelihood(indptr, indices, memberships)
