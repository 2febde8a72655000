"""k-means by Lloyd's iteration: every point belongs to the nearest centre, every centre is the mean of its points."""

from __future__ import annotations

import numpy as np

SIZES = {"S": (200, 3, 4, 3), "M": (5000, 8, 16, 8), "L": (40000, 16, 32, 10)}


def kmeans(points, centres, iterations):
    centres = centres.copy()
    labels = np.zeros(len(points), dtype=np.int64)
    for _ in range(iterations):
        distances = ((points[:, None, :] - centres[None, :, :]) ** 2).sum(axis=2)
        labels = distances.argmin(axis=1)
        for k in range(len(centres)):
            mine = points[labels == k]
            if len(mine) > 0:
                centres[k] = mine.mean(axis=0)
    return labels, centres


def numba_form(points, centres, iterations):
    """Numba has no mean along an axis."""
    centres = centres.copy()
    labels = np.zeros(len(points), dtype=np.int64)
    for _ in range(iterations):
        distances = ((np.expand_dims(points, 1) - np.expand_dims(centres, 0)) ** 2).sum(axis=2)
        for i in range(len(points)):
            labels[i] = distances[i].argmin()
        for k in range(len(centres)):
            mine = points[labels == k]
            if len(mine) > 0:
                centres[k] = mine.sum(axis=0) / len(mine)
    return labels, centres


def initialise(size):
    number, dimension, groups, iterations = size
    random = np.random.default_rng(17)
    middles = random.uniform(-5.0, 5.0, (groups, dimension))
    points = middles[random.integers(0, groups, number)] + random.normal(size=(number, dimension))
    return points, points[random.choice(number, groups, replace=False)], iterations
