"""How traces of powers of random matrices vary. One of Julia's microbenchmarks (randmatstat), the random numbers made
beforehand.
"""

from __future__ import annotations

import numpy as np

SIZES = {"S": (20, 5), "M": (1000, 5), "L": (10000, 5)}
JULIA = True


def matrix_statistics(samples):
    number = len(samples)
    v = np.zeros(number)
    w = np.zeros(number)
    for i in range(number):
        a, b, c, d = samples[i, 0], samples[i, 1], samples[i, 2], samples[i, 3]
        P = np.concatenate((a, b, c, d), axis=1)
        Q = np.concatenate((np.concatenate((a, b), axis=1), np.concatenate((c, d), axis=1)), axis=0)
        v[i] = np.trace(np.linalg.matrix_power(P.T @ P, 4))
        w[i] = np.trace(np.linalg.matrix_power(Q.T @ Q, 4))
    return np.std(v) / np.mean(v), np.std(w) / np.mean(w)


def initialise(size):
    number, n = size
    return (np.random.default_rng(20).normal(size=(number, 4, n, n)),)
