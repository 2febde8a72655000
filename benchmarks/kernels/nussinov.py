"""Nussinov's dynamic programme: the largest number of nested base pairs of a strand of RNA."""

import numpy as np

SIZES = {"tiny": (11,), "S": (60,), "M": (200,), "L": (600,)}


def initialise(size):
    return (np.random.default_rng(38).integers(0, 4, size[0]),)


def numpy_form(strand):
    n = len(strand)
    table = np.zeros((n, n), dtype=np.int64)
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, n):
            best = max(table[i, j - 1], table[i + 1, j])
            if i < j - 1:
                best = max(best, table[i + 1, j - 1] + (1 if strand[i] + strand[j] == 3 else 0))
                best = max(best, np.max(table[i, i + 1 : j] + table[i + 2 : j + 1, j]))
            else:
                best = max(best, table[i + 1, j - 1])
            table[i, j] = best
    return table


def loop_form(strand):
    n = len(strand)
    table = np.zeros((n, n), dtype=np.int64)
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, n):
            if table[i, j - 1] > table[i, j]:
                table[i, j] = table[i, j - 1]
            if table[i + 1, j] > table[i, j]:
                table[i, j] = table[i + 1, j]
            pair = table[i + 1, j - 1]
            if i < j - 1 and strand[i] + strand[j] == 3:
                pair += 1
            if pair > table[i, j]:
                table[i, j] = pair
            for k in range(i + 1, j):
                split = table[i, k] + table[k + 1, j]
                if split > table[i, j]:
                    table[i, j] = split
    return table
