"""Alternating-direction implicit steps (Peaceman and Rachford) for the heat equation on a square: each half step solves
tridiagonal systems along one axis and is explicit along the other.
"""

import numpy as np

SIZES = {"tiny": (3, 9), "S": (8, 80), "M": (20, 200), "L": (60, 400)}


def initialise(size):
    steps, n = size
    return steps, np.random.default_rng(1).random((n, n))


def numpy_form(steps, u):
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
        v[0, 1 : n - 1] = 1.0
        p[1 : n - 1, 0] = 0.0
        q[1 : n - 1, 0] = v[0, 1 : n - 1]
        for j in range(1, n - 1):
            p[1 : n - 1, j] = -c / (a * p[1 : n - 1, j - 1] + b)
            q[1 : n - 1, j] = (
                -d * u[j, 0 : n - 2] + (1.0 + 2.0 * d) * u[j, 1 : n - 1] - f * u[j, 2:n] - a * q[1 : n - 1, j - 1]
            ) / (a * p[1 : n - 1, j - 1] + b)
        v[n - 1, 1 : n - 1] = 1.0
        for j in range(n - 2, 0, -1):
            v[j, 1 : n - 1] = p[1 : n - 1, j] * v[j + 1, 1 : n - 1] + q[1 : n - 1, j]

        u[1 : n - 1, 0] = 1.0
        p[1 : n - 1, 0] = 0.0
        q[1 : n - 1, 0] = u[1 : n - 1, 0]
        for j in range(1, n - 1):
            p[1 : n - 1, j] = -f / (d * p[1 : n - 1, j - 1] + e)
            q[1 : n - 1, j] = (
                -a * v[0 : n - 2, j] + (1.0 + 2.0 * a) * v[1 : n - 1, j] - c * v[2:n, j] - d * q[1 : n - 1, j - 1]
            ) / (d * p[1 : n - 1, j - 1] + e)
        u[1 : n - 1, n - 1] = 1.0
        for j in range(n - 2, 0, -1):
            u[1 : n - 1, j] = p[1 : n - 1, j] * u[1 : n - 1, j + 1] + q[1 : n - 1, j]


def loop_form(steps, u):
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
        for i in range(1, n - 1):
            v[0, i] = 1.0
            p[i, 0] = 0.0
            q[i, 0] = v[0, i]
            for j in range(1, n - 1):
                pivot = a * p[i, j - 1] + b
                p[i, j] = -c / pivot
                q[i, j] = (-d * u[j, i - 1] + (1.0 + 2.0 * d) * u[j, i] - f * u[j, i + 1] - a * q[i, j - 1]) / pivot
            v[n - 1, i] = 1.0
            for j in range(n - 2, 0, -1):
                v[j, i] = p[i, j] * v[j + 1, i] + q[i, j]
        for i in range(1, n - 1):
            u[i, 0] = 1.0
            p[i, 0] = 0.0
            q[i, 0] = u[i, 0]
            for j in range(1, n - 1):
                pivot = d * p[i, j - 1] + e
                p[i, j] = -f / pivot
                q[i, j] = (-a * v[i - 1, j] + (1.0 + 2.0 * a) * v[i, j] - c * v[i + 1, j] - d * q[i, j - 1]) / pivot
            u[i, n - 1] = 1.0
            for j in range(n - 2, 0, -1):
                u[i, j] = p[i, j] * u[i, j + 1] + q[i, j]
