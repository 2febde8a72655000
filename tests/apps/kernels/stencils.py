"""Stencil kernels: neighbourhood updates on regular grids, as array slices and as loops."""

from __future__ import annotations

import numpy as np

from tests.apps.kernels.registry import Kernel

# --- Jacobi sweeps in one and two dimensions ----------------------------------------------------------------------


def jacobi_1d_numpy(steps, a, b):
    for _ in range(steps):
        b[1:-1] = (a[:-2] + a[1:-1] + a[2:]) / 3.0
        a[1:-1] = (b[:-2] + b[1:-1] + b[2:]) / 3.0


def jacobi_1d_loops(steps, a, b):
    n = a.shape[0]
    for _ in range(steps):
        for i in range(1, n - 1):
            b[i] = (a[i - 1] + a[i] + a[i + 1]) / 3.0
        for i in range(1, n - 1):
            a[i] = (b[i - 1] + b[i] + b[i + 1]) / 3.0


def jacobi_1d_lists(steps, a, b):
    n = len(a)
    for _ in range(steps):
        for i in range(1, n - 1):
            b[i] = (a[i - 1] + a[i] + a[i + 1]) / 3.0
        for i in range(1, n - 1):
            a[i] = (b[i - 1] + b[i] + b[i + 1]) / 3.0


def jacobi_2d_numpy(steps, a, b):
    for _ in range(steps):
        b[1:-1, 1:-1] = 0.2 * (a[1:-1, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:] + a[2:, 1:-1] + a[:-2, 1:-1])
        a[1:-1, 1:-1] = 0.2 * (b[1:-1, 1:-1] + b[1:-1, :-2] + b[1:-1, 2:] + b[2:, 1:-1] + b[:-2, 1:-1])


def jacobi_2d_loops(steps, a, b):
    rows, columns = a.shape
    for _ in range(steps):
        for i in range(1, rows - 1):
            for j in range(1, columns - 1):
                b[i, j] = 0.2 * (a[i, j] + a[i, j - 1] + a[i, j + 1] + a[i + 1, j] + a[i - 1, j])
        for i in range(1, rows - 1):
            for j in range(1, columns - 1):
                a[i, j] = 0.2 * (b[i, j] + b[i, j - 1] + b[i, j + 1] + b[i + 1, j] + b[i - 1, j])


def jacobi_2d_lists(steps, a, b):
    rows = len(a)
    columns = len(a[0])
    for _ in range(steps):
        for i in range(1, rows - 1):
            for j in range(1, columns - 1):
                b[i][j] = 0.2 * (a[i][j] + a[i][j - 1] + a[i][j + 1] + a[i + 1][j] + a[i - 1][j])
        for i in range(1, rows - 1):
            for j in range(1, columns - 1):
                a[i][j] = 0.2 * (b[i][j] + b[i][j - 1] + b[i][j + 1] + b[i + 1][j] + b[i - 1][j])


def jacobi_2d_swap_numpy(steps, a):
    """Two grids that trade places, the result returned."""
    b = a.copy()
    for _ in range(steps):
        b[1:-1, 1:-1] = 0.25 * (a[1:-1, :-2] + a[1:-1, 2:] + a[2:, 1:-1] + a[:-2, 1:-1])
        a, b = b, a
    return a


# --- heat in three dimensions -------------------------------------------------------------------------------------


def heat_3d_numpy(steps, a, b):
    for _ in range(steps):
        b[1:-1, 1:-1, 1:-1] = (
            0.125 * (a[2:, 1:-1, 1:-1] - 2.0 * a[1:-1, 1:-1, 1:-1] + a[:-2, 1:-1, 1:-1])
            + 0.125 * (a[1:-1, 2:, 1:-1] - 2.0 * a[1:-1, 1:-1, 1:-1] + a[1:-1, :-2, 1:-1])
            + 0.125 * (a[1:-1, 1:-1, 2:] - 2.0 * a[1:-1, 1:-1, 1:-1] + a[1:-1, 1:-1, :-2])
            + a[1:-1, 1:-1, 1:-1]
        )
        a[1:-1, 1:-1, 1:-1] = b[1:-1, 1:-1, 1:-1]


def heat_3d_loops(steps, a, b):
    n, m, l = a.shape
    for _ in range(steps):
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                for k in range(1, l - 1):
                    b[i, j, k] = (
                        0.125 * (a[i + 1, j, k] - 2.0 * a[i, j, k] + a[i - 1, j, k])
                        + 0.125 * (a[i, j + 1, k] - 2.0 * a[i, j, k] + a[i, j - 1, k])
                        + 0.125 * (a[i, j, k + 1] - 2.0 * a[i, j, k] + a[i, j, k - 1])
                        + a[i, j, k]
                    )
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                for k in range(1, l - 1):
                    a[i, j, k] = b[i, j, k]


# --- finite differences in the time domain ------------------------------------------------------------------------


def fdtd_2d_numpy(steps, ex, ey, hz, source):
    for t in range(steps):
        ey[0, :] = source[t]
        ey[1:, :] -= 0.5 * (hz[1:, :] - hz[:-1, :])
        ex[:, 1:] -= 0.5 * (hz[:, 1:] - hz[:, :-1])
        hz[:-1, :-1] -= 0.7 * (ex[:-1, 1:] - ex[:-1, :-1] + ey[1:, :-1] - ey[:-1, :-1])


def fdtd_2d_loops(steps, ex, ey, hz, source):
    nx, ny = hz.shape
    for t in range(steps):
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


# --- horizontal diffusion with flux limiter -----------------------------------------------------------------------


def hdiff_numpy(field, out, coeff):
    ni = out.shape[0]
    nj = out.shape[1]
    lap = 4.0 * field[1 : ni + 3, 1 : nj + 3, :] - (
        field[2 : ni + 4, 1 : nj + 3, :]
        + field[0 : ni + 2, 1 : nj + 3, :]
        + field[1 : ni + 3, 2 : nj + 4, :]
        + field[1 : ni + 3, 0 : nj + 2, :]
    )
    res = lap[1:, 1:-1, :] - lap[:-1, 1:-1, :]
    flx = np.where(res * (field[2 : ni + 3, 2 : nj + 2, :] - field[1 : ni + 2, 2 : nj + 2, :]) > 0, 0, res)
    res = lap[1:-1, 1:, :] - lap[1:-1, :-1, :]
    fly = np.where(res * (field[2 : ni + 2, 2 : nj + 3, :] - field[2 : ni + 2, 1 : nj + 2, :]) > 0, 0, res)
    out[:, :, :] = field[2 : ni + 2, 2 : nj + 2, :] - coeff * (
        flx[1:, :, :] - flx[:-1, :, :] + fly[:, 1:, :] - fly[:, :-1, :]
    )


def hdiff_loops(field, out, coeff):
    ni, nj, nk = out.shape
    for i in range(2, ni + 2):
        for j in range(2, nj + 2):
            for k in range(nk):
                centre = 4.0 * field[i, j, k] - (
                    field[i + 1, j, k] + field[i - 1, j, k] + field[i, j + 1, k] + field[i, j - 1, k]
                )
                east = 4.0 * field[i + 1, j, k] - (
                    field[i + 2, j, k] + field[i, j, k] + field[i + 1, j + 1, k] + field[i + 1, j - 1, k]
                )
                west = 4.0 * field[i - 1, j, k] - (
                    field[i, j, k] + field[i - 2, j, k] + field[i - 1, j + 1, k] + field[i - 1, j - 1, k]
                )
                north = 4.0 * field[i, j + 1, k] - (
                    field[i + 1, j + 1, k] + field[i - 1, j + 1, k] + field[i, j + 2, k] + field[i, j, k]
                )
                south = 4.0 * field[i, j - 1, k] - (
                    field[i + 1, j - 1, k] + field[i - 1, j - 1, k] + field[i, j, k] + field[i, j - 2, k]
                )
                fx1 = east - centre
                if fx1 * (field[i + 1, j, k] - field[i, j, k]) > 0:
                    fx1 = 0.0
                fx0 = centre - west
                if fx0 * (field[i, j, k] - field[i - 1, j, k]) > 0:
                    fx0 = 0.0
                fy1 = north - centre
                if fy1 * (field[i, j + 1, k] - field[i, j, k]) > 0:
                    fy1 = 0.0
                fy0 = centre - south
                if fy0 * (field[i, j, k] - field[i, j - 1, k]) > 0:
                    fy0 = 0.0
                out[i - 2, j - 2, k] = field[i, j, k] - coeff[i - 2, j - 2, k] * (fx1 - fx0 + fy1 - fy0)


# --- sweeps that read what they have just written -------------------------------------------------------------------


def seidel_2d_loops(steps, a):
    n = a.shape[0]
    for _ in range(steps):
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                a[i, j] = (
                    a[i - 1, j - 1]
                    + a[i - 1, j]
                    + a[i - 1, j + 1]
                    + a[i, j - 1]
                    + a[i, j]
                    + a[i, j + 1]
                    + a[i + 1, j - 1]
                    + a[i + 1, j]
                    + a[i + 1, j + 1]
                ) / 9.0


def seidel_2d_numpy(steps, a):
    """The rows above and below at once, the row itself from left to right."""
    n = a.shape[0]
    for _ in range(steps):
        for i in range(1, n - 1):
            a[i, 1:-1] += (
                a[i - 1, :-2] + a[i - 1, 1:-1] + a[i - 1, 2:] + a[i, 2:] + a[i + 1, :-2] + a[i + 1, 1:-1] + a[i + 1, 2:]
            )
            for j in range(1, n - 1):
                a[i, j] += a[i, j - 1]
                a[i, j] /= 9.0


def seidel_2d_lists(steps, a):
    n = len(a)
    for _ in range(steps):
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                total = 0.0
                for k in range(-1, 2):
                    for l in range(-1, 2):
                        total += a[i + k][j + l]
                a[i][j] = total / 9.0


# --- Laplace's equation until it no longer changes ------------------------------------------------------------------


def laplace_numpy(u, limit, tolerance):
    for step in range(limit):
        new = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])
        change = np.max(np.abs(new - u[1:-1, 1:-1]))
        u[1:-1, 1:-1] = new
        if change < tolerance:
            return step
    return -1


def laplace_loops(u, limit, tolerance):
    rows, columns = u.shape
    new = np.zeros((rows, columns))
    for step in range(limit):
        change = 0.0
        for i in range(1, rows - 1):
            for j in range(1, columns - 1):
                new[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])
                change = max(change, abs(new[i, j] - u[i, j]))
        for i in range(1, rows - 1):
            for j in range(1, columns - 1):
                u[i, j] = new[i, j]
        if change < tolerance:
            return step
    return -1


# --- Conway's game ------------------------------------------------------------------------------------------------


def life_numpy(board, steps):
    for _ in range(steps):
        count = np.zeros_like(board)
        count[1:-1, 1:-1] = (
            board[:-2, :-2]
            + board[:-2, 1:-1]
            + board[:-2, 2:]
            + board[1:-1, :-2]
            + board[1:-1, 2:]
            + board[2:, :-2]
            + board[2:, 1:-1]
            + board[2:, 2:]
        )
        board = ((count == 3) | ((board == 1) & (count == 2))).astype(np.int64)
    return board


def life_loops(board, steps):
    rows, columns = board.shape
    new = np.zeros_like(board)
    for _ in range(steps):
        for i in range(rows):
            for j in range(columns):
                count = 0
                if i > 0 and i < rows - 1 and j > 0 and j < columns - 1:
                    for di in range(-1, 2):
                        for dj in range(-1, 2):
                            if di != 0 or dj != 0:
                                count += board[i + di, j + dj]
                alive = count == 3 or (board[i, j] == 1 and count == 2)
                new[i, j] = 1 if alive else 0
        board[:, :] = new
    return board.copy()


# --- convolution and gradient of an image -----------------------------------------------------------------------------


def convolve_2d_loops(image, weights):
    rows, columns = image.shape
    height, width = weights.shape
    out = np.zeros((rows - height + 1, columns - width + 1))
    for i in range(rows - height + 1):
        for j in range(columns - width + 1):
            total = 0.0
            for k in range(height):
                for l in range(width):
                    total += image[i + k, j + l] * weights[k, l]
            out[i, j] = total
    return out


def convolve_2d_numpy(image, weights):
    rows, columns = image.shape
    height, width = weights.shape
    out = np.zeros((rows - height + 1, columns - width + 1))
    for k in range(height):
        for l in range(width):
            out += image[k : rows - height + 1 + k, l : columns - width + 1 + l] * weights[k, l]
    return out


def sobel_numpy(image):
    gx = image[:-2, 2:] - image[:-2, :-2] + 2.0 * (image[1:-1, 2:] - image[1:-1, :-2]) + image[2:, 2:] - image[2:, :-2]
    gy = image[2:, :-2] - image[:-2, :-2] + 2.0 * (image[2:, 1:-1] - image[:-2, 1:-1]) + image[2:, 2:] - image[:-2, 2:]
    return np.sqrt(gx * gx + gy * gy)


def sobel_loops(image):
    rows, columns = image.shape
    out = np.empty((rows - 2, columns - 2))
    for i in range(1, rows - 1):
        for j in range(1, columns - 1):
            gx = (
                image[i - 1, j + 1]
                - image[i - 1, j - 1]
                + 2.0 * (image[i, j + 1] - image[i, j - 1])
                + image[i + 1, j + 1]
                - image[i + 1, j - 1]
            )
            gy = (
                image[i + 1, j - 1]
                - image[i - 1, j - 1]
                + 2.0 * (image[i + 1, j] - image[i - 1, j])
                + image[i + 1, j + 1]
                - image[i - 1, j + 1]
            )
            out[i - 1, j - 1] = np.sqrt(gx * gx + gy * gy)
    return out


KERNELS = (
    Kernel(
        "jacobi_1d",
        {"numpy": jacobi_1d_numpy, "loops": jacobi_1d_loops, "lists": jacobi_1d_lists},
        lambda n, rng: (3, rng.random(n), rng.random(n)),
        small=(2, 3, 9, 30),
        medium=1000,
    ),
    Kernel(
        "jacobi_2d",
        {"numpy": jacobi_2d_numpy, "loops": jacobi_2d_loops, "lists": jacobi_2d_lists},
        lambda n, rng: (3, rng.random((n, n + 1)), rng.random((n, n + 1))),
        small=(2, 3, 9, 30),
    ),
    Kernel(
        "jacobi_2d_swap",
        {"numpy": jacobi_2d_swap_numpy},
        lambda n, rng: (3, rng.random((n, n))),
        small=(2, 3, 9, 30),
        partial=("numpy",),
    ),
    Kernel(
        "heat_3d",
        {"numpy": heat_3d_numpy, "loops": heat_3d_loops},
        lambda n, rng: (2, rng.random((n, n + 1, n + 2)), rng.random((n, n + 1, n + 2))),
        small=(2, 3, 7),
        medium=20,
    ),
    Kernel(
        "fdtd_2d",
        {"numpy": fdtd_2d_numpy, "loops": fdtd_2d_loops},
        lambda n, rng: (3, rng.random((n, n + 2)), rng.random((n, n + 2)), rng.random((n, n + 2)), rng.random(3)),
    ),
    Kernel(
        "hdiff",
        {"numpy": hdiff_numpy, "loops": hdiff_loops},
        lambda n, rng: (rng.random((n + 4, n + 5, 5)), rng.random((n, n + 1, 5)), rng.random((n, n + 1, 5))),
        small=(1, 2, 7),
        medium=20,
    ),
    Kernel(
        "seidel_2d",
        {"numpy": seidel_2d_numpy, "loops": seidel_2d_loops, "lists": seidel_2d_lists},
        lambda n, rng: (2, rng.random((n, n))),
        small=(2, 3, 9),
        tolerance=1e-12,
    ),
    Kernel(
        "laplace",
        {"numpy": laplace_numpy, "loops": laplace_loops},
        lambda n, rng: (rng.random((n, n)), 40, 0.01),
        small=(3, 4, 9),
        medium=16,
    ),
    Kernel(
        "life",
        {"numpy": life_numpy, "loops": life_loops},
        lambda n, rng: (rng.integers(0, 2, (n, n + 1)), 3),
        small=(2, 3, 9),
        medium=24,
    ),
    Kernel(
        "convolve_2d",
        {"numpy": convolve_2d_numpy, "loops": convolve_2d_loops},
        lambda n, rng: (rng.random((n + 2, n + 3)), rng.random((3, 3))),
        tolerance=1e-12,
    ),
    Kernel(
        "sobel",
        {"numpy": sobel_numpy, "loops": sobel_loops},
        lambda n, rng: (rng.random((n + 2, n + 3)),),
    ),
)
