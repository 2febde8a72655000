"""Change-point detection by a similarity graph (Chen and Zhang, 2015). If the distribution of a sequence changes at t,
few edges of the graph join what comes before t with what comes after: the statistic is their number, standardised by
its mean and variance under permutations of time. Random orders tell how large it is by chance.
"""

from __future__ import annotations

import numpy as np

INTREPYDD = 16.37 / 1.47
SIZES = {"S": (60, 3, 8), "M": (400, 5, 40), "L": (2000, 8, 60)}


def largest_statistic(sources, targets, position, squares):
    edges, nodes = len(sources), len(position)
    crossing = np.zeros(nodes)
    for edge in range(edges):
        one, other = position[sources[edge]], position[targets[edge]]
        crossing[min(one, other)] += 1.0
        crossing[max(one, other)] -= 1.0
    across = 0.0
    best = -np.inf
    for t in range(1, nodes):
        across += crossing[t - 1]
        if nodes // 20 <= t <= nodes - nodes // 20:
            p1 = 2.0 * t * (nodes - t) / (nodes * (nodes - 1.0))
            p2 = (
                4.0 * t * (t - 1.0) * (nodes - t) * (nodes - t - 1.0)
                / (nodes * (nodes - 1.0) * (nodes - 2.0) * (nodes - 3.0))
            )  # fmt: skip
            mean = p1 * edges
            variance = p2 * edges + (0.5 * p1 - p2) * squares + (p2 - p1 * p1) * edges * edges
            statistic = (mean - across) / np.sqrt(variance)
            if statistic > best:
                best = statistic
    return best


def changepoint(sources, targets, orders):
    degrees = np.bincount(sources, minlength=orders.shape[1]) + np.bincount(targets, minlength=orders.shape[1])
    squares = (degrees * degrees).sum()
    maxima = np.zeros(len(orders))
    for trial in range(len(orders)):
        maxima[trial] = largest_statistic(sources, targets, orders[trial], squares)
    chance = np.mean(maxima[1:] >= maxima[0])
    return maxima[0], chance


def initialise(size):
    """Observations whose mean shifts at two thirds of the time, their nearest neighbours as a graph; the first order
    is time itself.
    """
    nodes, neighbours, trials = size
    random = np.random.default_rng(12)
    points = random.normal(size=(nodes, 10))
    points[2 * nodes // 3 :] += 0.3
    squared = (points * points).sum(axis=1)
    distances = squared[:, None] + squared[None, :] - 2.0 * points @ points.T
    np.fill_diagonal(distances, np.inf)
    nearest = np.argsort(distances, axis=1)[:, :neighbours]
    low = np.minimum(nearest, np.arange(nodes)[:, None]).ravel()
    high = np.maximum(nearest, np.arange(nodes)[:, None]).ravel()
    keys = np.unique(low * nodes + high)
    orders = np.stack([np.arange(nodes)] + [random.permutation(nodes) for _ in range(trials - 1)])
    return keys // nodes, keys % nodes, orders
