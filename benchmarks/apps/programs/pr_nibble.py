"""Parallel PR-Nibble (Shun, Roosta-Khorasani, Fountoulakis and Mahoney, 2016): personalised PageRank by pushing the
residuals of all nodes of a frontier at once, without visiting the whole graph.
"""

from __future__ import annotations

import numpy as np

from benchmarks.apps.programs.graphs import communities

INTREPYDD = 52.84 / 0.006
SIZES = {"S": (4, 50, 8, 3, 1e-4), "M": (40, 50, 12, 4, 1e-6), "L": (100, 100, 16, 6, 1e-6)}


def pr_nibble(indptr, indices, seeds, alpha, epsilon):
    nodes = len(indptr) - 1
    degrees = np.diff(indptr)
    scores = np.zeros((len(seeds), nodes))
    for number, seed in enumerate(seeds):
        p = np.zeros(nodes)
        r = np.zeros(nodes)
        r[seed] = 1.0
        frontier = np.array([seed])
        while len(frontier) > 0:
            following = r.copy()
            for i in frontier:
                p[i] += ((2.0 * alpha) / (1.0 + alpha)) * r[i]
                following[i] = 0.0
            for i in frontier:
                for j in range(indptr[i], indptr[i + 1]):
                    update = ((1.0 - alpha) / (1.0 + alpha)) * r[i] / degrees[i]
                    following[indices[j]] += update
            r = following
            frontier = np.where((r >= degrees * epsilon) & (degrees > 0))[0]
        scores[number] = p
    return scores


def initialise(size):
    groups, members, degree, seeds, epsilon = size
    random = np.random.default_rng(15)
    indptr, indices = communities(random, groups, members, degree, 0.1)
    chosen = random.choice(groups * members, seeds, replace=False)
    return indptr, indices, chosen, 0.15, epsilon
