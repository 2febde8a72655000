"""Maxwell's equations in two dimensions by finite differences in the time domain, on Yee's staggered grid."""

import numpy as np

SIZES = {"tiny": (3, 7, 8), "S": (8, 300, 350), "M": (15, 800, 900), "L": (60, 1500, 1500)}


def initialise(size):
    steps, nx, ny = size
    rng = np.random.default_rng(19)
    return rng.random((nx, ny)), rng.random((nx, ny)), rng.random((nx, ny)), rng.random(steps)


def numpy_form(ex, ey, hz, source):
    for pulse in source:
        ey[0, :] = pulse
        ey[1:, :] -= 0.5 * (hz[1:, :] - hz[:-1, :])
        ex[:, 1:] -= 0.5 * (hz[:, 1:] - hz[:, :-1])
        hz[:-1, :-1] -= 0.7 * (ex[:-1, 1:] - ex[:-1, :-1] + ey[1:, :-1] - ey[:-1, :-1])


def loop_form(ex, ey, hz, source):
    nx, ny = hz.shape
    for t in range(len(source)):
        for j in range(ny):
            ey[0, j] = source[t]
        for i in range(1, nx):
            for j in range(ny):
                ey[i, j] -= 0.5 * (hz[i, j] - hz[i - 1, j])
        for i in range(nx):
            for j in range(1, ny):
                ex[i, j] -= 0.5 * (hz[i, j] - hz[i, j - 1])
        for i in range(nx - 1):
            for j in range(ny - 1):
                hz[i, j] -= 0.7 * (ex[i, j + 1] - ex[i, j] + ey[i + 1, j] - ey[i, j])
