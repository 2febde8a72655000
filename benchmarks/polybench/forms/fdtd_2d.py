"""Maxwell's equations in two dimensions by finite differences in the time domain."""

from benchmarks.kernels.fdtd_2d import initialise as initialise
from benchmarks.kernels.fdtd_2d import loop_form, numpy_form

SIZES = {"S": (3, 7, 8), "M": (10, 500, 550), "L": (40, 2000, 2000)}
KIND = "stencil"

loops = loop_form
operators = numpy_form


def operations(steps, nx, ny):
    return 11.0 * steps * nx * ny


def traffic(steps, nx, ny):
    """Each of the three sweeps reads its neighbours and reads and writes its own field."""
    return 8.0 * steps * nx * ny * (3 + 3 + 4)


def lists(ex, ey, hz, source):
    nx = len(hz)
    ny = len(hz[0])
    for t in range(len(source)):
        for j in range(ny):
            ey[0][j] = source[t]
        for i in range(1, nx):
            for j in range(ny):
                ey[i][j] -= 0.5 * (hz[i][j] - hz[i - 1][j])
        for i in range(nx):
            for j in range(1, ny):
                ex[i][j] -= 0.5 * (hz[i][j] - hz[i][j - 1])
        for i in range(nx - 1):
            for j in range(ny - 1):
                hz[i][j] -= 0.7 * (ex[i][j + 1] - ex[i][j] + ey[i + 1][j] - ey[i][j])
