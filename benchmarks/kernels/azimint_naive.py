"""Azimuthal integration: the mean intensity in rings of equal width, one boolean mask a ring."""

import numpy as np

SIZES = {"tiny": (60, 4), "S": (20_000, 400), "M": (60_000, 1200), "L": (200_000, 4000)}


def initialise(size):
    points, rings = size
    rng = np.random.default_rng(5)
    return rng.random(points), rng.random(points), rings


def numpy_form(data, radius, rings):
    outer = radius.max()
    result = np.zeros(rings)
    for i in range(rings):
        inside = (radius >= outer * i / rings) & (radius < outer * (i + 1) / rings)
        result[i] = data[inside].mean()
    return result


def loop_form(data, radius, rings):
    outer = radius.max()
    result = np.zeros(rings)
    for i in range(rings):
        total = 0.0
        count = 0
        for k in range(len(radius)):
            if outer * i / rings <= radius[k] < outer * (i + 1) / rings:
                total += data[k]
                count += 1
        result[i] = total / count
    return result
