"""Factorisations, solvers and iterations to a tolerance."""

from __future__ import annotations

import numpy as np

from tests.apps.kernels.registry import Kernel


def _positive_definite(n, rng):
    a = rng.random((n, n))
    return a @ a.T + n * np.eye(n)


def _dominant(n, rng):
    return rng.random((n, n)) + n * np.eye(n)


def cholesky_loops(a):
    n = a.shape[0]
    for i in range(n):
        for j in range(i):
            for k in range(j):
                a[i, j] -= a[i, k] * a[j, k]
            a[i, j] /= a[j, j]
        for k in range(i):
            a[i, i] -= a[i, k] * a[i, k]
        a[i, i] = np.sqrt(a[i, i])


def cholesky_numpy(a):
    n = a.shape[0]
    a[0, 0] = np.sqrt(a[0, 0])
    for i in range(1, n):
        for j in range(i):
            a[i, j] -= np.dot(a[i, :j], a[j, :j])
            a[i, j] /= a[j, j]
        a[i, i] -= np.dot(a[i, :i], a[i, :i])
        a[i, i] = np.sqrt(a[i, i])


def cholesky_lists(a):
    n = len(a)
    for i in range(n):
        for j in range(i + 1):
            total = a[i][j]
            for k in range(j):
                total -= a[i][k] * a[j][k]
            if i == j:
                a[i][j] = total**0.5
            else:
                a[i][j] = total / a[j][j]


def lu_loops(a):
    n = a.shape[0]
    for i in range(n):
        for j in range(i):
            for k in range(j):
                a[i, j] -= a[i, k] * a[k, j]
            a[i, j] /= a[j, j]
        for j in range(i, n):
            for k in range(i):
                a[i, j] -= a[i, k] * a[k, j]


def lu_numpy(a):
    n = a.shape[0]
    for k in range(n - 1):
        a[k + 1 :, k] /= a[k, k]
        a[k + 1 :, k + 1 :] -= a[k + 1 :, k, None] * a[k, k + 1 :]


def trisolve_loops(l, x, b):
    n = l.shape[0]
    for i in range(n):
        x[i] = b[i]
        for j in range(i):
            x[i] -= l[i, j] * x[j]
        x[i] = x[i] / l[i, i]


def trisolve_numpy(l, x, b):
    for i in range(l.shape[0]):
        x[i] = (b[i] - np.dot(l[i, :i], x[:i])) / l[i, i]


def thomas_loops(lower, diagonal, upper, right):
    n = len(diagonal)
    c = np.empty(n)
    d = np.empty(n)
    c[0] = upper[0] / diagonal[0]
    d[0] = right[0] / diagonal[0]
    for i in range(1, n):
        pivot = diagonal[i] - lower[i] * c[i - 1]
        c[i] = upper[i] / pivot
        d[i] = (right[i] - lower[i] * d[i - 1]) / pivot
    for i in range(n - 2, -1, -1):
        d[i] -= c[i] * d[i + 1]
    return d


def thomas_lists(lower, diagonal, upper, right):
    n = len(diagonal)
    c = [0.0] * n
    d = [0.0] * n
    c[0] = upper[0] / diagonal[0]
    d[0] = right[0] / diagonal[0]
    for i in range(1, n):
        pivot = diagonal[i] - lower[i] * c[i - 1]
        c[i] = upper[i] / pivot
        d[i] = (right[i] - lower[i] * d[i - 1]) / pivot
    for i in reversed(range(n - 1)):
        d[i] -= c[i] * d[i + 1]
    return d


def gram_schmidt_numpy(a):
    n = a.shape[1]
    q = np.zeros_like(a)
    r = np.zeros((n, n))
    for k in range(n):
        r[k, k] = np.sqrt(np.dot(a[:, k], a[:, k]))
        q[:, k] = a[:, k] / r[k, k]
        for j in range(k + 1, n):
            r[k, j] = np.dot(q[:, k], a[:, j])
            a[:, j] -= q[:, k] * r[k, j]
    return q, r


def gram_schmidt_loops(a):
    m, n = a.shape
    q = np.zeros((m, n))
    r = np.zeros((n, n))
    for k in range(n):
        norm = 0.0
        for i in range(m):
            norm += a[i, k] * a[i, k]
        r[k, k] = np.sqrt(norm)
        for i in range(m):
            q[i, k] = a[i, k] / r[k, k]
        for j in range(k + 1, n):
            for i in range(m):
                r[k, j] += q[i, k] * a[i, j]
            for i in range(m):
                a[i, j] -= q[i, k] * r[k, j]
    return q, r


def least_squares_numpy(x, y):
    """Normal equations by elimination without pivoting (the matrix is positive definite)."""
    a = x.T @ x
    b = x.T @ y
    n = a.shape[0]
    for k in range(n):
        for i in range(k + 1, n):
            factor = a[i, k] / a[k, k]
            a[i, k:] -= factor * a[k, k:]
            b[i] -= factor * b[k]
    for i in range(n - 1, -1, -1):
        b[i] = (b[i] - np.sum(a[i, i + 1 :] * b[i + 1 :])) / a[i, i]
    return b


def least_squares_loops(x, y):
    m, n = x.shape
    a = np.zeros((n, n))
    b = np.zeros(n)
    for i in range(n):
        for j in range(n):
            for k in range(m):
                a[i, j] += x[k, i] * x[k, j]
        for k in range(m):
            b[i] += x[k, i] * y[k]
    for k in range(n):
        for i in range(k + 1, n):
            factor = a[i, k] / a[k, k]
            for j in range(k, n):
                a[i, j] -= factor * a[k, j]
            b[i] -= factor * b[k]
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, n):
            b[i] -= a[i, j] * b[j]
        b[i] /= a[i, i]
    return b


def gauss_seidel_loops(a, b, x, sweeps):
    n = len(b)
    for _ in range(sweeps):
        for i in range(n):
            total = b[i]
            for j in range(n):
                if j != i:
                    total -= a[i, j] * x[j]
            x[i] = total / a[i, i]


def gauss_seidel_numpy(a, b, x, sweeps):
    n = len(b)
    for _ in range(sweeps):
        for i in range(n):
            x[i] = (b[i] - np.dot(a[i, :i], x[:i]) - np.dot(a[i, i + 1 :], x[i + 1 :])) / a[i, i]


def power_iteration_numpy(a, tolerance):
    x = np.ones(a.shape[0])
    value = 0.0
    change = 1.0
    count = 0
    while change > tolerance and count < 100:
        y = a @ x
        new = np.sqrt(np.sum(y * y))
        x = y / new
        change = abs(new - value)
        value = new
        count += 1
    return value, x


def power_iteration_loops(a, tolerance):
    n = a.shape[0]
    x = np.ones(n)
    y = np.zeros(n)
    value = 0.0
    count = 0
    while True:
        norm = 0.0
        for i in range(n):
            total = 0.0
            for j in range(n):
                total += a[i, j] * x[j]
            y[i] = total
            norm += total * total
        new = norm**0.5
        for i in range(n):
            x[i] = y[i] / new
        count += 1
        if abs(new - value) <= tolerance or count >= 100:
            return new, x
        value = new


def newton_loops(values, tolerance):
    """Cube roots by Newton's iteration, each to its own tolerance."""
    out = np.empty(len(values))
    for i in range(len(values)):
        x = 1.0
        for _ in range(60):
            new = x - (x * x * x - values[i]) / (3.0 * x * x)
            if abs(new - x) < tolerance:
                break
            x = new
        out[i] = x
    return out


def newton_numpy(values, tolerance):
    x = np.ones_like(values)
    for _ in range(60):
        new = x - (x * x * x - values) / (3.0 * x * x)
        if np.max(np.abs(new - x)) < tolerance:
            return new
        x = new
    return x


KERNELS = (
    Kernel(
        "cholesky",
        {"numpy": cholesky_numpy, "loops": cholesky_loops, "lists": cholesky_lists},
        lambda n, rng: (_positive_definite(n, rng),),
        medium=40,
        tolerance=1e-11,
    ),
    Kernel(
        "lu",
        {"numpy": lu_numpy, "loops": lu_loops},
        lambda n, rng: (_dominant(n, rng),),
        small=(1, 2, 7, 16),
        medium=40,
        tolerance=1e-11,
    ),
    Kernel(
        "trisolve",
        {"numpy": trisolve_numpy, "loops": trisolve_loops},
        lambda n, rng: (_dominant(n, rng), rng.random(n), rng.random(n)),
        small=(0, 1, 2, 9),
        medium=80,
        tolerance=1e-11,
    ),
    Kernel(
        "thomas",
        {"loops": thomas_loops, "lists": thomas_lists},
        lambda n, rng: (rng.random(n), 4.0 + rng.random(n), rng.random(n), rng.random(n)),
        small=(1, 2, 9),
        medium=200,
    ),
    Kernel(
        "gram_schmidt",
        {"numpy": gram_schmidt_numpy, "loops": gram_schmidt_loops},
        lambda n, rng: (rng.random((n + 2, n)),),
        small=(1, 2, 7),
        medium=20,
        tolerance=1e-9,
    ),
    Kernel(
        "least_squares",
        {"numpy": least_squares_numpy, "loops": least_squares_loops},
        lambda n, rng: (rng.random((3 * n + 5, n)), rng.random(3 * n + 5)),
        small=(1, 2, 7),
        medium=12,
        tolerance=1e-8,
    ),
    Kernel(
        "gauss_seidel",
        {"numpy": gauss_seidel_numpy, "loops": gauss_seidel_loops},
        lambda n, rng: (_dominant(n, rng), rng.random(n), np.zeros(n), 3),
        small=(0, 1, 2, 9),
        medium=40,
        tolerance=1e-11,
    ),
    Kernel(
        "power_iteration",
        {"numpy": power_iteration_numpy, "loops": power_iteration_loops},
        lambda n, rng: (rng.random((n, n)) + 1.0, 1e-6),
        small=(1, 2, 9),
        medium=40,
        tolerance=1e-7,
    ),
    Kernel(
        "newton",
        {"numpy": newton_numpy, "loops": newton_loops},
        lambda n, rng: (1.0 + rng.random(n), 1e-10),
        small=(1, 2, 9),
        medium=200,
    ),
)
