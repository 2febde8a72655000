"""ISTA for local graph clustering (Fountoulakis, Roosta-Khorasani, Shun, Cheng and Mahoney, 2017): PageRank around a
seed with a penalty that keeps it sparse, by steps along the gradient followed by shrinking towards zero.
"""

from __future__ import annotations

import numpy as np

from benchmarks.apps.programs.graphs import communities

INTREPYDD = 27.37 / 18.51
SIZES = {"S": (4, 50, 8, 3, 10), "M": (40, 100, 12, 8, 50), "L": (100, 400, 16, 6, 40)}


def ista(indptr, indices, seeds, alpha, rho, iterations):
    nodes = len(indptr) - 1
    degrees = np.diff(indptr).astype(np.float64)
    scores = np.zeros((len(seeds), nodes))
    for number, seed in enumerate(seeds):
        start = np.zeros(nodes)
        start[seed] = -alpha / np.sqrt(degrees[seed])
        gradient = start.copy()
        solution = np.zeros(nodes)
        for _ in range(iterations):
            solution = np.maximum(solution - gradient - rho * alpha * np.sqrt(degrees), 0.0)
            spread = np.add.reduceat((solution / np.sqrt(degrees))[indices], indptr[:-1]) / np.sqrt(degrees)
            gradient = start + 0.5 * (1.0 + alpha) * solution - 0.5 * (1.0 - alpha) * spread
        scores[number] = solution * np.sqrt(degrees)
    return scores


def numba_form(indptr, indices, seeds, alpha, rho, iterations):
    """Numba has no `reduceat`: the sums over neighbours are a loop."""
    nodes = len(indptr) - 1
    degrees = np.diff(indptr).astype(np.float64)
    scores = np.zeros((len(seeds), nodes))
    for number, seed in enumerate(seeds):
        start = np.zeros(nodes)
        start[seed] = -alpha / np.sqrt(degrees[seed])
        gradient = start.copy()
        solution = np.zeros(nodes)
        spread = np.zeros(nodes)
        for _ in range(iterations):
            solution = np.maximum(solution - gradient - rho * alpha * np.sqrt(degrees), 0.0)
            scaled = solution / np.sqrt(degrees)
            for node in range(nodes):
                spread[node] = 0.0
                for place in range(indptr[node], indptr[node + 1]):
                    spread[node] += scaled[indices[place]]
            gradient = start + 0.5 * (1.0 + alpha) * solution - 0.5 * (1.0 - alpha) * (spread / np.sqrt(degrees))
        scores[number] = solution * np.sqrt(degrees)
    return scores


def initialise(size):
    groups, members, degree, seeds, iterations = size
    random = np.random.default_rng(14)
    indptr, indices = communities(random, groups, members, degree, 0.1)
    chosen = random.choice(groups * members, seeds, replace=False)
    return indptr, indices, chosen, 0.15, 1e-5, iterations
