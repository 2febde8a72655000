"""Library calls of moderate size, alone and between loops of our own; products of symmetric and triangular matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.lagging import Kernel


def covariance_call(data):
    return np.cov(data, rowvar=False)


def covariance_product(data):
    centred = data - data.mean(axis=0)
    return centred.T @ centred / (data.shape[0] - 1)


def correlation_call(data):
    return np.corrcoef(data.T)


def contour_moments(a, b, c, right, nodes, weights):
    """Moments of the resolvent of a quadratic pencil over nodes on a circle."""
    n = a.shape[0]
    first = np.zeros((n, right.shape[1]), dtype=np.complex128)
    second = np.zeros((n, right.shape[1]), dtype=np.complex128)
    for k in range(nodes.shape[0]):
        z = nodes[k]
        solved = np.linalg.solve(a + z * b + z * z * c, right)
        first += weights[k] * solved
        second += weights[k] * z * solved
    return first, second


def spectral_projector(h, nodes, weights):
    n = h.shape[0]
    total = np.zeros((n, n), dtype=np.complex128)
    identity = np.eye(n)
    for z, w in zip(nodes, weights):
        total += w * np.linalg.inv(z * identity - h)
    return total


def product_chain(a, b, c, d):
    return a @ b @ c @ d


def product_scaled(alpha, beta, a, b, c, d):
    return alpha * a @ b @ c + beta * d


def solve_then_loop(a, b, steps):
    """A factorisation of size 150 beside a loop that runs in parallel."""
    total = np.zeros_like(b)
    shifted = a.copy()
    for k in range(steps):
        shifted += 0.001 * np.abs(np.sin(a + k))
        total += np.linalg.solve(shifted, b)
    return total


def eigenvalues_in_loop(a, steps):
    total = np.zeros(a.shape[0])
    for k in range(steps):
        m = np.tanh(a * (1.0 + 0.1 * k))
        total += np.linalg.eigvalsh(m + m.T)
    return total


def inverse_iteration(a, x, steps):
    for _ in range(steps):
        inverse = np.linalg.inv(a + np.outer(x, x))
        x = inverse @ x
        x = x / np.sqrt((x * x).sum())
    return x


def symmetric_product(alpha, beta, a, b, c):
    """Only the lower triangle of a holds numbers."""
    n = a.shape[0]
    half = np.zeros(b.shape[1])
    for i in range(n):
        for j in range(b.shape[1]):
            c[:i, j] += alpha * b[i, j] * a[i, :i]
            half[j] = b[:i, j] @ a[i, :i]
        c[i, :] = beta * c[i, :] + alpha * b[i, :] * a[i, i] + alpha * half
    return c


def triangular_product(alpha, a, b):
    """b := alpha * a.T @ b with a unit lower triangle."""
    n = a.shape[0]
    for i in range(n):
        for j in range(b.shape[1]):
            b[i, j] += np.dot(a[i + 1 :, i], b[i + 1 :, j])
    b *= alpha
    return b


def rank_update_lower(alpha, a, c):
    for i in range(a.shape[0]):
        c[i, : i + 1] += alpha * (a[: i + 1] @ a[i])
    return c


def _pencil(rng: np.random.Generator) -> tuple[Any, ...]:
    n = 60
    angles = 2 * np.pi * (np.arange(24) + 0.5) / 24
    nodes = 3.0 * np.exp(1j * angles)
    matrices = [rng.standard_normal((n, n)) + 1j * rng.standard_normal((n, n)) for _ in range(3)]
    return (*matrices, rng.standard_normal((n, 10)) + 0j, nodes, nodes / 24)


def _projector(rng: np.random.Generator) -> tuple[Any, ...]:
    h = rng.standard_normal((40, 40))
    angles = 2 * np.pi * (np.arange(32) + 0.5) / 32
    nodes = 2.0 * np.exp(1j * angles)
    return h + h.T, nodes, nodes / 32


def small_systems(a, b):
    for t in range(a.shape[0]):
        for k in range(4):
            for i in range(k + 1, 4):
                f = a[t, i, k] / a[t, k, k]
                for j in range(k, 4):
                    a[t, i, j] -= f * a[t, k, j]
                b[t, i] -= f * b[t, k]
        for i in range(3, -1, -1):
            for j in range(i + 1, 4):
                b[t, i] -= a[t, i, j] * b[t, j]
            b[t, i] /= a[t, i, i]
    return b


def small_cholesky(a):
    lower = np.zeros_like(a)
    for t in range(a.shape[0]):
        for j in range(6):
            s = a[t, j, j]
            for k in range(j):
                s -= lower[t, j, k] * lower[t, j, k]
            lower[t, j, j] = np.sqrt(s)
            for i in range(j + 1, 6):
                s = a[t, i, j]
                for k in range(j):
                    s -= lower[t, i, k] * lower[t, j, k]
                lower[t, i, j] = s / lower[t, j, j]
    return lower


def _definite(rng: np.random.Generator, n: int) -> np.ndarray[Any, Any]:
    a = rng.random((n, n))
    return a + n * np.eye(n)


KERNELS = [
    Kernel("covariance", covariance_call, lambda rng: (rng.random((4000, 200)),)),
    Kernel("covariance", covariance_product, lambda rng: (rng.random((4000, 200)),)),
    Kernel("covariance", correlation_call, lambda rng: (rng.random((4000, 200)),)),
    Kernel("contour", contour_moments, _pencil),
    Kernel("contour", spectral_projector, _projector),
    Kernel("products", product_chain, lambda rng: tuple(rng.random((500, 500)) for _ in range(4))),
    Kernel("products", product_scaled, lambda rng: (1.5, 0.5, *(rng.random((400, 400)) for _ in range(4)))),
    Kernel("lapack", solve_then_loop, lambda rng: (_definite(rng, 150), rng.random(150), 20)),
    Kernel("lapack", eigenvalues_in_loop, lambda rng: (rng.random((150, 150)), 4)),
    Kernel("lapack", inverse_iteration, lambda rng: (_definite(rng, 150), rng.random(150), 20)),
    Kernel("triangles", symmetric_product, lambda rng: (1.5, 1.2, *(rng.random((150, 150)) for _ in range(3)))),
    Kernel("triangles", triangular_product, lambda rng: (1.5, *(rng.random((200, 200)) for _ in range(2)))),
    Kernel("batches", small_systems, lambda rng: (rng.random((3000, 4, 4)) + 4 * np.eye(4), rng.random((3000, 4)))),
    Kernel("batches", small_cholesky, lambda rng: (rng.random((3000, 6, 6)) + 9 * np.eye(6),)),
    Kernel("triangles", rank_update_lower, lambda rng: (1.5, rng.random((300, 200)), rng.random((300, 300)))),
]
