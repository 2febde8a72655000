# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
import numpy as np


def sinkhorn_wmd(r, c, M, double penalty, long iterations):
    cdef long it = 0
    K = np.exp(-M * penalty)
    x = np.ones((len(r), c.shape[1])) / len(r)
    while it < iterations:
        u = 1.0 / x
        v = c * (1.0 / (K.T @ u))
        x = ((1.0 / r)[:, None] * K) @ v
        it += 1
    u = 1.0 / x
    v = c * (1.0 / (K.T @ u))
    return (u * ((K * M) @ v)).sum(axis=0)
