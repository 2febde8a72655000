"""Azimuthal integration: the mean intensity in rings of equal width, from two histograms of the radius."""

import numpy as np

SIZES = {"tiny": (50, 4), "S": (150_000, 1000), "M": (2_000_000, 1000), "L": (20_000_000, 1000)}


def initialise(size):
    points, bins = size
    rng = np.random.default_rng(4)
    return rng.random(points), rng.random(points), bins


def numpy_form(data, radius, bins):
    counts = np.histogram(radius, bins)[0]
    weighted = np.histogram(radius, bins, weights=data)[0]
    return weighted / counts


def loop_form(data, radius, bins):
    low = radius.min()
    high = radius.max()
    width = (high - low) / bins
    edges = np.linspace(low, high, bins + 1)
    counts = np.zeros(bins, dtype=np.int64)
    weighted = np.zeros(bins)
    for i in range(len(radius)):
        ring = min(int((radius[i] - low) / width), bins - 1)
        if radius[i] < edges[ring]:
            ring -= 1
        elif ring < bins - 1 and radius[i] >= edges[ring + 1]:
            ring += 1
        counts[ring] += 1
        weighted[ring] += data[i]
    return weighted / counts
