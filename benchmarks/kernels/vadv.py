"""Vertical advection of a weather model: an implicit step, a tridiagonal system in every column of the atmosphere."""

import numpy as np

SIZES = {"tiny": (4, 5, 6), "S": (60, 60, 50), "M": (120, 120, 80), "L": (300, 300, 120)}


def initialise(size):
    ni, nj, nk = size
    rng = np.random.default_rng(50)
    shape = (ni, nj, nk)
    tendency, field, wind = rng.random(shape), rng.random(shape), rng.random((ni + 1, nj, nk))
    return tendency, field, wind, rng.random(shape), rng.random(shape), 0.15


def numpy_form(tendency, field, wind, position, stage, dt):
    ni, nj, nk = field.shape
    upper = np.empty((ni, nj, nk))
    right = np.empty((ni, nj, nk))
    for k in range(nk):
        below = np.zeros((ni, nj))
        above = np.zeros((ni, nj))
        correction = np.zeros((ni, nj))
        if k > 0:
            speed = -0.25 * (wind[1:, :, k] + wind[:-1, :, k])
            below = 0.5 * speed
            correction -= below * (stage[:, :, k - 1] - stage[:, :, k])
        if k < nk - 1:
            speed = 0.25 * (wind[1:, :, k + 1] + wind[:-1, :, k + 1])
            above = 0.5 * speed
            correction -= above * (stage[:, :, k + 1] - stage[:, :, k])
        centre = 1.0 / dt - below - above
        forcing = position[:, :, k] / dt + tendency[:, :, k] + correction
        if k == 0:
            upper[:, :, k] = above / centre
            right[:, :, k] = forcing / centre
        else:
            divided = 1.0 / (centre - upper[:, :, k - 1] * below)
            upper[:, :, k] = above * divided
            right[:, :, k] = (forcing - right[:, :, k - 1] * below) * divided
    value = np.zeros((ni, nj))
    for k in range(nk - 1, -1, -1):
        if k == nk - 1:
            value = right[:, :, k]
        else:
            value = right[:, :, k] - upper[:, :, k] * value
        tendency[:, :, k] = (value - position[:, :, k]) / dt


def loop_form(tendency, field, wind, position, stage, dt):
    ni, nj, nk = field.shape
    upper = np.empty(nk)
    right = np.empty(nk)
    for i in range(ni):
        for j in range(nj):
            for k in range(nk):
                below = 0.0
                above = 0.0
                correction = 0.0
                if k > 0:
                    below = 0.5 * (-0.25 * (wind[i + 1, j, k] + wind[i, j, k]))
                    correction -= below * (stage[i, j, k - 1] - stage[i, j, k])
                if k < nk - 1:
                    above = 0.5 * (0.25 * (wind[i + 1, j, k + 1] + wind[i, j, k + 1]))
                    correction -= above * (stage[i, j, k + 1] - stage[i, j, k])
                centre = 1.0 / dt - below - above
                forcing = position[i, j, k] / dt + tendency[i, j, k] + correction
                if k == 0:
                    upper[k] = above / centre
                    right[k] = forcing / centre
                else:
                    divided = 1.0 / (centre - upper[k - 1] * below)
                    upper[k] = above * divided
                    right[k] = (forcing - right[k - 1] * below) * divided
            value = right[nk - 1]
            tendency[i, j, nk - 1] = (value - position[i, j, nk - 1]) / dt
            for k in range(nk - 2, -1, -1):
                value = right[k] - upper[k] * value
                tendency[i, j, k] = (value - position[i, j, k]) / dt
