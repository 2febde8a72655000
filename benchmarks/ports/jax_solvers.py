"""Factorisations and triangular systems in JAX: rows and columns are masked, since slices of varying length are not."""

import jax.numpy as np
from jax import lax


def cholesky(a):
    n = a.shape[0]
    index = np.arange(n)

    def column(j, a):
        # Below the diagonal, column j minus what the columns before it explain.
        earlier = np.where(index < j, a[j], 0.0)
        left = a[:, j] - a @ earlier
        pivot = np.sqrt(left[j])
        return a.at[:, j].set(np.where(index > j, left / pivot, np.where(index == j, pivot, a[:, j])))

    return None, (lax.fori_loop(0, n, column, a),)


def _lu(a):
    n = a.shape[0]
    index = np.arange(n)

    def eliminate(k, a):
        factor = np.where(index > k, a[:, k] / a[k, k], 0.0)
        a = a.at[:, k].set(np.where(index > k, factor, a[:, k]))
        return a - np.outer(factor, np.where(index > k, a[k], 0.0))

    return lax.fori_loop(0, n, eliminate, a)


def lu(a):
    return None, (_lu(a),)


def ludcmp(a, b):
    a = _lu(a)
    n = a.shape[0]
    index = np.arange(n)

    def forward(i, y):
        return y.at[i].set(b[i] - np.where(index < i, a[i], 0.0) @ y)

    def backward(k, x):
        i = n - 1 - k
        return x.at[i].set((y[i] - np.where(index > i, a[i], 0.0) @ x) / a[i, i])

    y = lax.fori_loop(0, n, forward, np.zeros_like(b))
    x = lax.fori_loop(0, n, backward, np.zeros_like(b))
    return (x, y), (a,)


def trisolv(lower, b, x):
    index = np.arange(len(x))

    def row(i, x):
        return x.at[i].set((b[i] - np.where(index < i, lower[i], 0.0) @ x) / lower[i, i])

    return None, (lax.fori_loop(0, len(x), row, x),)


def durbin(r):
    n = len(r)
    index = np.arange(n)

    def step(k, state):
        y, alpha, beta = state
        beta = beta * (1.0 - alpha * alpha)
        before = index < k
        backwards = (k - 1 - index) % n
        alpha = -(r[k] + np.sum(np.where(before, r[backwards] * y, 0.0))) / beta
        y = np.where(before, y + alpha * y[backwards], y).at[k].set(alpha)
        return y, alpha, beta

    y = np.zeros_like(r).at[0].set(-r[0])
    return lax.fori_loop(1, n, step, (y, -r[0], np.ones((), r.dtype)))[0], ()


def gramschmidt(a):
    n = a.shape[1]
    index = np.arange(n)

    def column(k, state):
        a, q, r = state
        norm = np.sqrt(a[:, k] @ a[:, k])
        direction = a[:, k] / norm
        row = np.where(index > k, direction @ a, 0.0)
        return a - np.outer(direction, row), q.at[:, k].set(direction), r.at[k].set(row.at[k].set(norm))

    a, q, r = lax.fori_loop(0, n, column, (a, np.zeros_like(a), np.zeros((n, n))))
    return (q, r), (a,)


def contour_integral(blocks, y, points):
    def point(sums, z):
        system = np.zeros(blocks.shape[1:], dtype=np.complex128)
        for k in range(blocks.shape[0]):
            system += z ** (blocks.shape[0] // 2 - k) * blocks[k]
        x = np.linalg.solve(system, y)
        weighted = np.where(np.abs(z) < 1.0, x, -x)
        return (sums[0] + weighted, sums[1] + z * weighted), None

    zero = np.zeros(y.shape, dtype=np.complex128)
    return lax.scan(point, (zero, zero), points)[0], ()
