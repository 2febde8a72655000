"""The Mandelbrot set: all points advance together, and those that have escaped are masked out."""

import numpy as np

SIZES = {"tiny": (6, 7, 9), "S": (160, 160, 50), "M": (500, 500, 80), "L": (1200, 1200, 150)}
TOLERANCE = 1e-5  # points near the edge of the set multiply rounding errors many times


def initialise(size):
    nx, ny, iterations = size
    return -2.0, 0.6, nx, -1.2, 1.2, ny, iterations


def numpy_form(x_min, x_max, nx, y_min, y_max, ny, iterations):
    x = np.linspace(x_min, x_max, nx)
    y = np.linspace(y_min, y_max, ny)
    c = x + y[:, None] * 1j
    escaped = np.zeros(c.shape, dtype=np.int64)
    z = np.zeros(c.shape, dtype=np.complex128)
    for n in range(iterations):
        inside = np.abs(z) < 2.0
        escaped[inside] = n
        z[inside] = z[inside] ** 2 + c[inside]
    escaped[escaped == iterations - 1] = 0
    return z, escaped


def loop_form(x_min, x_max, nx, y_min, y_max, ny, iterations):
    x = np.linspace(x_min, x_max, nx)
    y = np.linspace(y_min, y_max, ny)
    escaped = np.zeros((ny, nx), dtype=np.int64)
    z = np.zeros((ny, nx), dtype=np.complex128)
    for i in range(ny):
        for j in range(nx):
            c = x[j] + y[i] * 1j
            w = 0j
            last = 0
            for n in range(iterations):
                if abs(w) >= 2.0:
                    break
                last = n
                w = w**2 + c
            z[i, j] = w
            escaped[i, j] = 0 if last == iterations - 1 else last
    return z, escaped
