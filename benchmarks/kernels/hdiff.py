"""Horizontal diffusion of a weather model: a Laplacian, flux-limited differences of it, and an update."""

import numpy as np

SIZES = {"tiny": (6, 7, 5), "S": (80, 80, 80), "M": (160, 160, 120), "L": (400, 400, 160)}


def initialise(size):
    ni, nj, nk = size
    rng = np.random.default_rng(26)
    return rng.random((ni + 4, nj + 4, nk)), rng.random((ni, nj, nk)), rng.random((ni, nj, nk))


def numpy_form(field, out, coefficient):
    laplacian = 4.0 * field[1:-1, 1:-1] - (field[2:, 1:-1] + field[:-2, 1:-1] + field[1:-1, 2:] + field[1:-1, :-2])
    flux = laplacian[1:, 1:-1] - laplacian[:-1, 1:-1]
    flux_x = np.where(flux * (field[2:-1, 2:-2] - field[1:-2, 2:-2]) > 0, 0, flux)
    flux = laplacian[1:-1, 1:] - laplacian[1:-1, :-1]
    flux_y = np.where(flux * (field[2:-2, 2:-1] - field[2:-2, 1:-2]) > 0, 0, flux)
    out[:] = field[2:-2, 2:-2] - coefficient * (flux_x[1:] - flux_x[:-1] + flux_y[:, 1:] - flux_y[:, :-1])


def loop_form(field, out, coefficient):
    ni, nj, nk = out.shape
    laplacian = np.zeros((ni + 2, nj + 2, nk))
    flux_x = np.zeros((ni + 1, nj, nk))
    flux_y = np.zeros((ni, nj + 1, nk))
    for i in range(ni + 2):
        for j in range(nj + 2):
            for k in range(nk):
                laplacian[i, j, k] = 4.0 * field[i + 1, j + 1, k] - (
                    field[i + 2, j + 1, k] + field[i, j + 1, k] + field[i + 1, j + 2, k] + field[i + 1, j, k]
                )
    for i in range(ni + 1):
        for j in range(nj):
            for k in range(nk):
                flux = laplacian[i + 1, j + 1, k] - laplacian[i, j + 1, k]
                if flux * (field[i + 2, j + 2, k] - field[i + 1, j + 2, k]) > 0:
                    flux = 0.0
                flux_x[i, j, k] = flux
    for i in range(ni):
        for j in range(nj + 1):
            for k in range(nk):
                flux = laplacian[i + 1, j + 1, k] - laplacian[i + 1, j, k]
                if flux * (field[i + 2, j + 2, k] - field[i + 2, j + 1, k]) > 0:
                    flux = 0.0
                flux_y[i, j, k] = flux
    for i in range(ni):
        for j in range(nj):
            for k in range(nk):
                out[i, j, k] = field[i + 2, j + 2, k] - coefficient[i, j, k] * (
                    flux_x[i + 1, j, k] - flux_x[i, j, k] + flux_y[i, j + 1, k] - flux_y[i, j, k]
                )
