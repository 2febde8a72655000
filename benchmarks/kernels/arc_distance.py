"""Great-circle angles between pairs of points by the haversine formula."""

import math

import numpy as np

SIZES = {"tiny": (13,), "S": (80_000,), "M": (800_000,), "L": (8_000_000,)}


def initialise(size):
    (n,) = size
    rng = np.random.default_rng(2)
    return tuple(rng.uniform(-1.5, 1.5, n) for _ in range(4))


def numpy_form(theta_1, phi_1, theta_2, phi_2):
    half = np.sin((theta_2 - theta_1) / 2) ** 2 + np.cos(theta_1) * np.cos(theta_2) * np.sin((phi_2 - phi_1) / 2) ** 2
    return 2 * np.arctan2(np.sqrt(half), np.sqrt(1 - half))


def loop_form(theta_1, phi_1, theta_2, phi_2):
    n = len(theta_1)
    angle = np.empty(n)
    for i in range(n):
        half = (
            math.sin((theta_2[i] - theta_1[i]) / 2) ** 2
            + math.cos(theta_1[i]) * math.cos(theta_2[i]) * math.sin((phi_2[i] - phi_1[i]) / 2) ** 2
        )
        angle[i] = 2 * math.atan2(math.sqrt(half), math.sqrt(1 - half))
    return angle
