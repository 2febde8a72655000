"""Alternating-direction implicit steps for the heat equation on a square."""

import numpy as np

from benchmarks.kernels.adi import initialise as initialise
from benchmarks.kernels.adi import loop_form

SIZES = {"S": (3, 9), "M": (5, 300), "L": (20, 1000)}
KIND = "solver"

loops = loop_form


def operations(steps, n):
    return 32.0 * steps * (n - 2) ** 2


def lists(steps, u):
    n = len(u)
    along = n * n / steps
    across = 2.0 * along
    a = c = -across / 2.0
    b = 1.0 + across
    d = f = -along / 2.0
    e = 1.0 + along
    v = [[0.0 for j in range(n)] for i in range(n)]
    p = [[0.0 for j in range(n)] for i in range(n)]
    q = [[0.0 for j in range(n)] for i in range(n)]
    for _ in range(steps):
        for i in range(1, n - 1):
            v[0][i] = 1.0
            p[i][0] = 0.0
            q[i][0] = v[0][i]
            for j in range(1, n - 1):
                pivot = a * p[i][j - 1] + b
                p[i][j] = -c / pivot
                q[i][j] = (-d * u[j][i - 1] + (1.0 + 2.0 * d) * u[j][i] - f * u[j][i + 1] - a * q[i][j - 1]) / pivot
            v[n - 1][i] = 1.0
            for j in range(n - 2, 0, -1):
                v[j][i] = p[i][j] * v[j + 1][i] + q[i][j]
        for i in range(1, n - 1):
            u[i][0] = 1.0
            p[i][0] = 0.0
            q[i][0] = u[i][0]
            for j in range(1, n - 1):
                pivot = d * p[i][j - 1] + e
                p[i][j] = -f / pivot
                q[i][j] = (-a * v[i - 1][j] + (1.0 + 2.0 * a) * v[i][j] - c * v[i + 1][j] - d * q[i][j - 1]) / pivot
            u[i][n - 1] = 1.0
            for j in range(n - 2, 0, -1):
                u[i][j] = p[i][j] * u[i][j + 1] + q[i][j]


def operators(steps, u):
    n = u.shape[0]
    along = n * n / steps
    across = 2.0 * along
    a = c = -across / 2.0
    b = 1.0 + across
    d = f = -along / 2.0
    e = 1.0 + along
    v = np.empty_like(u)
    p = np.empty_like(u)
    q = np.empty_like(u)
    for _ in range(steps):
        v[0, 1:-1] = 1.0
        p[1:-1, 0] = 0.0
        q[1:-1, 0] = v[0, 1:-1]
        for j in range(1, n - 1):
            pivot = a * p[1:-1, j - 1] + b
            p[1:-1, j] = -c / pivot
            q[1:-1, j] = (-d * u[j, :-2] + (1.0 + 2.0 * d) * u[j, 1:-1] - f * u[j, 2:] - a * q[1:-1, j - 1]) / pivot
        v[n - 1, 1:-1] = 1.0
        for j in range(n - 2, 0, -1):
            v[j, 1:-1] = p[1:-1, j] * v[j + 1, 1:-1] + q[1:-1, j]
        u[1:-1, 0] = 1.0
        p[1:-1, 0] = 0.0
        q[1:-1, 0] = u[1:-1, 0]
        for j in range(1, n - 1):
            pivot = d * p[1:-1, j - 1] + e
            p[1:-1, j] = -f / pivot
            q[1:-1, j] = (-a * v[:-2, j] + (1.0 + 2.0 * a) * v[1:-1, j] - c * v[2:, j] - d * q[1:-1, j - 1]) / pivot
        u[1:-1, n - 1] = 1.0
        for j in range(n - 2, 0, -1):
            u[1:-1, j] = p[1:-1, j] * u[1:-1, j + 1] + q[1:-1, j]
