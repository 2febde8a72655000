"""The Cholesky factor by the library, written below the untouched upper triangle."""

import numpy as np

SIZES = {"tiny": (8,), "S": (500,), "M": (1500,), "L": (3800,)}


def initialise(size):
    (n,) = size
    a = np.random.default_rng(8).random((n, n))
    return (a @ a.T + n * np.eye(n),)


def numpy_form(a):
    a[:] = np.linalg.cholesky(a) + np.triu(a, k=1)


def operations(a):
    return a.shape[0] ** 3 / 3
