"""Products with triangular and symmetric matrices and statistics in JAX: whole products, the triangle put in place."""

import jax
import jax.numpy as np


def _lower(new, old):
    """The lower triangle of one matrix, the rest of the other."""
    return np.where(np.tril(np.ones(old.shape, dtype=bool)), new, old)


def syrk(alpha, beta, c, a):
    return None, (_lower(alpha * (a @ a.T) + beta * c, c),)


def syr2k(alpha, beta, c, a, b):
    return None, (_lower(alpha * (a @ b.T + b @ a.T) + beta * c, c),)


def symm(alpha, beta, c, a, b):
    full = np.tril(a) + np.tril(a, -1).T
    return None, (alpha * (full @ b) + beta * c,)


def trmm(alpha, a, b):
    return None, (alpha * (b + np.tril(a, -1).T @ b),)


def correlation(data):
    n, m = data.shape
    deviation = np.std(data, axis=0)
    deviation = np.where(deviation <= 0.1, 1.0, deviation)
    data = (data - np.mean(data, axis=0)) / (np.sqrt(n) * deviation)
    result = data.T @ data
    return np.where(np.eye(m, dtype=bool), 1.0, result), (data,)


def covariance(data):
    data = data - np.mean(data, axis=0)
    return data.T @ data / (data.shape[0] - 1.0), (data,)


def spmv(starts, columns, values, x):
    # Each stored element belongs to the row whose start is the last one not after it.
    rows = np.repeat(np.arange(len(starts) - 1), np.diff(starts), total_repeat_length=len(values))
    return jax.ops.segment_sum(values * x[columns], rows, len(starts) - 1, indices_are_sorted=True), ()


def azimint_naive(data, radius, rings):
    outer = radius.max()

    def ring(i):
        inside = (radius >= outer * i / rings) & (radius < outer * (i + 1) / rings)
        return np.sum(np.where(inside, data, 0.0)) / np.sum(inside)

    return jax.lax.map(ring, np.arange(rings)), ()
