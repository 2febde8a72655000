"""BigCLAM: overlapping communities by a non-negative factorisation of a graph (Yang and Leskovec, 2013). Two nodes are
linked with probability 1 - exp(-F[u] . F[v]); gradient ascent of the likelihood, one node after the other.
"""

from __future__ import annotations

import numpy as np

from benchmarks.apps.programs.graphs import communities

INTREPYDD = 12.36 / 1.09
SIZES = {"S": (4, 40, 8, 8, 2), "M": (10, 100, 12, 16, 2), "L": (40, 200, 16, 32, 3)}


def log_likelihood(indptr, indices, memberships):
    total = memberships.sum(axis=0)
    value = 0.0
    for node in range(len(indptr) - 1):
        row = memberships[node]
        for neighbour in indices[indptr[node] : indptr[node + 1]]:
            together = np.dot(row, memberships[neighbour])
            value += np.log(1.0 - np.exp(-together)) + together
        value -= np.dot(row, total - row)
    return value


def bigclam(indptr, indices, memberships, step, sweeps):
    nodes, size = memberships.shape
    for _ in range(sweeps):
        total = memberships.sum(axis=0)
        for node in range(nodes):
            row = memberships[node]
            attraction = np.zeros(size)
            nearby = np.zeros(size)
            for neighbour in indices[indptr[node] : indptr[node + 1]]:
                other = memberships[neighbour]
                apart = np.exp(-np.dot(row, other))
                attraction += other * (apart / (1.0 - apart))
                nearby += other
            gradient = attraction - (total - row - nearby)
            updated = np.clip(row + step * gradient, 0.001, 10.0)
            total += updated - row
            memberships[node] = updated
    return log_likelihood(indptr, indices, memberships)


def initialise(size):
    groups, members, degree, number, sweeps = size
    random = np.random.default_rng(11)
    indptr, indices = communities(random, groups, members, degree, 0.1)
    nodes = groups * members
    # Small steps: longer ones overshoot, and then every rounding error grows.
    return indptr, indices, random.uniform(0.1, 1.0, (nodes, number)), 0.2 / nodes, sweeps
