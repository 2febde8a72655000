"""Iterations over a shrinking set of complex points, by masks and index arrays; loops that keep what passes a test."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.lagging import Kernel


def escape_by_mask(c, limit):
    z = np.zeros_like(c)
    count = np.zeros(c.shape, dtype=np.int64)
    alive = np.ones(c.shape, dtype=np.bool_)
    for _ in range(limit):
        z[alive] = z[alive] ** 2 + c[alive]
        alive = np.abs(z) < 2.0
        count[alive] += 1
    return count


def escape_mask_kept(c, limit):
    """The mask only loses points: they are overwritten, never counted again."""
    z = np.zeros_like(c)
    count = np.full(c.shape, limit)
    inside = np.full(c.shape, True)
    for k in range(limit):
        z[inside] = z[inside] * z[inside] + c[inside]
        left = inside & (np.abs(z) > 2.0)
        count[left] = k
        inside[left] = False
    return z, count


def escape_shrinking(c, limit):
    """The points themselves are thrown out."""
    count = np.zeros(c.size, dtype=np.int64)
    where = np.arange(c.size)
    points = c.ravel()
    z = points.copy()
    for k in range(limit):
        keep = z.real * z.real + z.imag * z.imag <= 4.0
        count[where[~keep]] = k
        where = where[keep]
        points = points[keep]
        z = z[keep]
        z = z * z + points
    return count


def newton_basins(z, steps):
    """Newton's method for z**3 = 1 on the points that have not converged."""
    z = z.copy()
    taken = np.zeros(z.shape, dtype=np.int64)
    active = np.ones(z.shape, dtype=bool)
    for _ in range(steps):
        w = z[active]
        step = (w**3 - 1) / (3 * w**2)
        z[active] = w - step
        taken[active] += 1
        active[active] = np.abs(step) > 1e-8
        if not active.any():
            break
    return z, taken


def keep_positive(x):
    out = np.empty_like(x)
    k = 0
    for i in range(x.shape[0]):
        if x[i] > 0.0:
            out[k] = x[i]
            k += 1
    return out[:k]


def keep_local_peaks(x):
    places = np.empty(x.shape[0], dtype=np.int64)
    k = 0
    for i in range(1, x.shape[0] - 1):
        if x[i] > x[i - 1] and x[i] >= x[i + 1]:
            places[k] = i
            k += 1
    return places[:k]


def _plane(height: int, width: int) -> np.ndarray[Any, Any]:
    return np.linspace(-2.0, 0.5, width)[None, :] + 1j * np.linspace(-1.25, 1.25, height)[:, None]


KERNELS = [
    Kernel("masks", escape_by_mask, lambda rng: (_plane(150, 200), 40)),
    Kernel("masks", escape_mask_kept, lambda rng: (_plane(150, 200), 40)),
    Kernel("masks", escape_shrinking, lambda rng: (_plane(150, 200), 40)),
    Kernel("masks", newton_basins, lambda rng: (_plane(120, 150) + 0.71, 25)),
    Kernel("compaction", keep_positive, lambda rng: (rng.standard_normal(1_000_000),)),
    Kernel("compaction", keep_local_peaks, lambda rng: (rng.standard_normal(1_000_000),)),
]
