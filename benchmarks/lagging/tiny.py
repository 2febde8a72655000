"""A microsecond of work: what a call itself costs."""

from __future__ import annotations

import numpy as np

from benchmarks.lagging import Kernel


def tiny_axpy(a, x, y):
    return a * x + y


def tiny_norm(x):
    return np.sqrt((x * x).sum())


def tiny_cross(a, b):
    return np.array([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])


def tiny_product(a, b):
    return a @ b


def tiny_solve(a, b):
    return np.linalg.solve(a, b)


def tiny_clip(x):
    return np.clip(x, 0, 5)


def tiny_mean(x):
    return x.mean(axis=0)


KERNELS = [
    Kernel("tiny", tiny_axpy, lambda rng: (2.0, rng.random(20), rng.random(20))),
    Kernel("tiny", tiny_norm, lambda rng: (rng.random(20),)),
    Kernel("tiny", tiny_cross, lambda rng: (rng.random(3), rng.random(3))),
    Kernel("tiny", tiny_product, lambda rng: (rng.random((4, 4)), rng.random((4, 4)))),
    Kernel("tiny", tiny_solve, lambda rng: (rng.random((4, 4)) + 4 * np.eye(4), rng.random(4))),
    Kernel("tiny", tiny_clip, lambda rng: (rng.integers(-5, 10, 20).astype(np.int32),)),
    Kernel("tiny", tiny_mean, lambda rng: (rng.random((5, 4)).astype(np.complex128),)),
]
