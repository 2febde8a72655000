# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
import numpy as np


def matrix_statistics(double[:, :, :, ::1] samples):
    cdef long number = samples.shape[0], i
    v, w = np.zeros(number), np.zeros(number)
    cdef double[::1] first = v, second = w
    for i in range(number):
        a, b, c, d = samples[i, 0], samples[i, 1], samples[i, 2], samples[i, 3]
        P = np.concatenate((a, b, c, d), axis=1)
        Q = np.concatenate((np.concatenate((a, b), axis=1), np.concatenate((c, d), axis=1)), axis=0)
        first[i] = np.trace(np.linalg.matrix_power(P.T @ P, 4))
        second[i] = np.trace(np.linalg.matrix_power(Q.T @ Q, 4))
    return np.std(v) / np.mean(v), np.std(w) / np.mean(w)
