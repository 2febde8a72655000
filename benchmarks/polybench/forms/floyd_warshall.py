"""Shortest paths between all pairs of nodes of a weighted graph."""

from benchmarks.kernels.floyd_warshall import initialise as initialise
from benchmarks.kernels.floyd_warshall import loop_form, numpy_form

SIZES = {"S": (9,), "M": (220,), "L": (1000,)}
KIND = "other"

lists = loop_form
operators = numpy_form


def operations(n):
    return 2.0 * n**3


def loops(path):
    n = path.shape[0]
    for k in range(n):
        for i in range(n):
            for j in range(n):
                if path[i, k] + path[k, j] < path[i, j]:
                    path[i, j] = path[i, k] + path[k, j]
