"""Shortest paths between all pairs of nodes of a weighted graph, by Floyd and Warshall."""

import numpy as np

SIZES = {"tiny": (9,), "S": (200,), "M": (360,), "L": (800,)}
LISTS = True


def initialise(size):
    (n,) = size
    return (np.random.default_rng(20).integers(1, 1000, (n, n)),)


def numpy_form(path):
    for k in range(len(path)):
        path[:] = np.minimum(path, path[:, k, np.newaxis] + path[k])


def loop_form(path):
    n = len(path)
    for k in range(n):
        for i in range(n):
            for j in range(n):
                if path[i][k] + path[k][j] < path[i][j]:
                    path[i][j] = path[i][k] + path[k][j]
