"""The Mandelbrot set: points that have escaped leave the working arrays, which shrink."""

import numpy as np

SIZES = {"tiny": (6, 7, 9), "S": (250, 250, 40), "M": (700, 700, 70), "L": (1600, 1600, 150)}


def initialise(size):
    nx, ny, iterations = size
    return -2.0, 0.6, nx, -1.2, 1.2, ny, iterations


def numpy_form(x_min, x_max, nx, y_min, y_max, ny, iterations):
    row, column = np.mgrid[0:ny, 0:nx]
    x = np.linspace(x_min, x_max, nx)[column]
    y = np.linspace(y_min, y_max, ny)[row]
    c = x + 1j * y
    steps = np.zeros((ny, nx), dtype=np.int64)
    row = row.reshape(ny * nx)
    column = column.reshape(ny * nx)
    c = c.reshape(ny * nx)
    z = np.copy(c)
    for n in range(iterations):
        if len(z) == 0:
            break
        z = z * z + c
        outside = abs(z) > 2.0
        steps[row[outside], column[outside]] = n + 1
        stays = ~outside
        row = row[stays]
        column = column[stays]
        z = z[stays]
        c = c[stays]
    return steps


def loop_form(x_min, x_max, nx, y_min, y_max, ny, iterations):
    x = np.linspace(x_min, x_max, nx)
    y = np.linspace(y_min, y_max, ny)
    steps = np.zeros((ny, nx), dtype=np.int64)
    for i in range(ny):
        for j in range(nx):
            c = x[j] + 1j * y[i]
            z = c
            for n in range(iterations):
                z = z * z + c
                if abs(z) > 2.0:
                    steps[i, j] = n + 1
                    break
    return steps
