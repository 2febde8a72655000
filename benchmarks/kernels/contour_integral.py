"""Moments of a resolvent along a contour in the complex plane: at each point a polynomial matrix is assembled and
solved for a block of right-hand sides.
"""

import numpy as np

SIZES = {"tiny": (5, 3, 4, 3), "S": (80, 30, 24, 3), "M": (140, 40, 24, 3), "L": (400, 100, 32, 3)}


def initialise(size):
    n, columns, points, degree = size
    rng = np.random.default_rng(10)
    angles = 2 * np.pi * (np.arange(points) + 0.5) / points
    blocks = rng.random((degree, n, n)) + 1j * rng.random((degree, n, n))
    return blocks, rng.random((n, columns)) + 0j, np.exp(1j * angles)


def numpy_form(blocks, y, points):
    first = np.zeros(y.shape, dtype=np.complex128)
    second = np.zeros(y.shape, dtype=np.complex128)
    for z in points:
        system = np.zeros(blocks.shape[1:], dtype=np.complex128)
        for k in range(blocks.shape[0]):
            system += z ** (blocks.shape[0] // 2 - k) * blocks[k]
        x = np.linalg.solve(system, y)
        weighted = x if abs(z) < 1.0 else -x
        first += weighted
        second += z * weighted
    return first, second


def operations(blocks, y, points):
    degree, n, columns = len(blocks), len(y), y.shape[1]
    # A complex product and sum are eight real operations.
    return len(points) * 8 * (degree * n**2 + n**3 / 3 + n**2 * columns + n * columns)
