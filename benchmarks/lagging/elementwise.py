"""Chains of clip, minimum and maximum in several types and orders; extremes and their places."""

from __future__ import annotations

import numpy as np

from benchmarks.lagging import Kernel


def clip_scale(x, low, high):
    return np.clip(x, low, high) * 2 + 1


def clamp_sum(a, b):
    return np.minimum(np.maximum(a, b * 2), a + b) + np.minimum(a, 0)


def clip_integers(a, b):
    return np.clip(a, 2, 10) * 3 + b


def soft_threshold(x, t):
    return np.sign(x) * np.maximum(np.abs(x) - t, 0.0)


def clip_whole_outer(a, b):
    """Outer products of clipped vectors, as in a table of distances."""
    return np.minimum.outer(np.clip(a, -1.0, 1.0), np.clip(b, -1.0, 1.0))


def place_of_least(x):
    return np.argmin(x)


def places_by_row(x):
    return np.argmax(x, axis=1)


def places_by_column(x):
    return np.argmin(x, axis=0)


def nearest_centre(points, centres):
    best = np.empty(points.shape[0], dtype=np.int64)
    for i in range(points.shape[0]):
        best[i] = np.argmin(((centres - points[i]) ** 2).sum(axis=1))
    return best


def extremes(x):
    return x.min(), x.max(), x.argmin(), x.argmax()


def fortran_sweep(a, b):
    return a * 2.0 + b * a - np.sqrt(b)


def fortran_chain(a, b):
    c = a * b + 1.0
    d = np.sqrt(np.abs(c)) - a
    return d * c


def fortran_loops(a, b):
    """The loop nest that suits arrays in Fortran order."""
    out = np.empty_like(a)
    for j in range(a.shape[1]):
        for i in range(a.shape[0]):
            out[i, j] = a[i, j] * 2.0 + b[i, j]
    return out


def softmax_rows(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def _fortran(rng: np.random.Generator) -> tuple[np.ndarray, ...]:
    return tuple(np.asfortranarray(rng.random((1000, 1000))) for _ in range(2))


def _single(rng: np.random.Generator, *shape: int) -> np.ndarray:
    return rng.standard_normal(shape).astype(np.float32)


KERNELS = [
    Kernel("clip", clip_scale, lambda rng: (rng.standard_normal(1_000_000), -0.5, 0.5)),
    Kernel("clip", clamp_sum, lambda rng: (rng.standard_normal((1000, 1000)), rng.standard_normal((1000, 1000)))),
    Kernel("clip", clip_integers, lambda rng: (rng.integers(0, 20, (1000, 1000)), rng.integers(0, 20, (1000, 1000)))),
    Kernel("clip", soft_threshold, lambda rng: (rng.standard_normal(1_000_000), 0.3)),
    Kernel("clip", clip_whole_outer, lambda rng: (rng.standard_normal(1000), rng.standard_normal(1000))),
    Kernel("extremes", place_of_least, lambda rng: (rng.standard_normal(1_000_000),)),
    Kernel("extremes", places_by_row, lambda rng: (rng.standard_normal((1000, 1000)),)),
    Kernel("extremes", places_by_column, lambda rng: (rng.standard_normal((1000, 1000)),)),
    Kernel("extremes", nearest_centre, lambda rng: (rng.random((5000, 4)), rng.random((50, 4)))),
    Kernel("extremes", extremes, lambda rng: (rng.standard_normal(1_000_000),)),
    Kernel("types", fortran_sweep, _fortran),
    Kernel("types", fortran_chain, _fortran),
    Kernel("types", fortran_loops, _fortran),
    Kernel("types", softmax_rows, lambda rng: (_single(rng, 64, 16, 16, 64),)),
]
