"""Nussinov's dynamic programme: the largest number of nested base pairs of a strand of RNA."""

import numpy as np

from benchmarks.kernels.nussinov import initialise as initialise
from benchmarks.kernels.nussinov import loop_form

SIZES = {"S": (11,), "M": (350,), "L": (1500,)}
KIND = "other"

loops = loop_form


def results(n):
    return ((n, n),)


def operations(n):
    return 2.0 * n**3 / 6.0


def lists(strand):
    n = len(strand)
    table = [[0 for j in range(n)] for i in range(n)]
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, n):
            if table[i][j - 1] > table[i][j]:
                table[i][j] = table[i][j - 1]
            if table[i + 1][j] > table[i][j]:
                table[i][j] = table[i + 1][j]
            pair = table[i + 1][j - 1]
            if i < j - 1 and strand[i] + strand[j] == 3:
                pair += 1
            if pair > table[i][j]:
                table[i][j] = pair
            for k in range(i + 1, j):
                split = table[i][k] + table[k + 1][j]
                if split > table[i][j]:
                    table[i][j] = split
    return table


def operators(strand):
    n = len(strand)
    table = np.zeros((n, n), dtype=np.int64)
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, n):
            pair = table[i + 1, j - 1]
            if i < j - 1 and strand[i] + strand[j] == 3:
                pair += 1
            best = max(table[i, j], table[i, j - 1], table[i + 1, j], pair)
            table[i, j] = np.max(table[i, i + 1 : j] + table[i + 2 : j + 1, j], initial=best)
    return table
