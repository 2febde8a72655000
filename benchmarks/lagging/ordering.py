"""Distances of distributions and ranks: sorts, searches and differences."""

from __future__ import annotations

import numpy as np

from benchmarks.lagging import Kernel


def wasserstein(a, b):
    """The distance of two samples: the area between their distribution functions."""
    both = np.sort(np.concatenate((a, b)))
    widths = np.diff(both)
    fa = np.searchsorted(np.sort(a), both[:-1], side="right") / a.size
    fb = np.searchsorted(np.sort(b), both[:-1], side="right") / b.size
    return np.sum(np.abs(fa - fb) * widths)


def wasserstein_equal(a, b):
    return np.abs(np.sort(a) - np.sort(b)).mean()


def wasserstein_weighted(x, y, wx, wy):
    order_x = np.argsort(x)
    order_y = np.argsort(y)
    both = np.concatenate((x, y))
    both.sort()
    gaps = np.diff(both)
    cx = np.concatenate((np.zeros(1), np.cumsum(wx[order_x])))
    cy = np.concatenate((np.zeros(1), np.cumsum(wy[order_y])))
    ux = cx[np.searchsorted(x[order_x], both[:-1], side="right")] / cx[-1]
    uy = cy[np.searchsorted(y[order_y], both[:-1], side="right")] / cy[-1]
    return np.sum(np.abs(ux - uy) * gaps)


def kolmogorov_smirnov(a, b):
    a = np.sort(a)
    b = np.sort(b)
    both = np.concatenate((a, b))
    fa = np.searchsorted(a, both, side="right") / a.size
    fb = np.searchsorted(b, both, side="right") / b.size
    return np.max(np.abs(fa - fb))


def ranks(x):
    order = np.argsort(x)
    out = np.empty(x.size)
    out[order] = np.arange(x.size)
    return out


def distinct(labels):
    return np.unique(labels)


def interpolated(x, points, values):
    return np.interp(x, points, values)


def places(x, limits):
    return np.searchsorted(limits, x)


def classes(x, limits):
    return np.digitize(x, limits)


def members(x, some):
    return np.isin(x, some)


def _curve(x):
    points = np.linspace(0.0, 1.0, 2000)
    return x, points, np.sqrt(points)


def _limits(rng: np.random.Generator) -> np.ndarray:
    return np.sort(rng.random(5000))


def row_peaks(a):
    at = np.zeros(a.shape[0], dtype=np.int64)
    for i in range(a.shape[0]):
        best = a[i, 0]
        for j in range(1, a.shape[1]):
            if a[i, j] > best:
                best = a[i, j]
                at[i] = j
    return at


KERNELS = [
    Kernel("extremes", row_peaks, lambda rng: (rng.random((400, 400)),)),
    Kernel("wasserstein", wasserstein, lambda rng: (rng.standard_normal(50_000), rng.standard_normal(50_000) + 0.3)),
    Kernel("wasserstein", wasserstein_equal, lambda rng: (rng.standard_normal(100_000), rng.standard_normal(100_000))),
    Kernel(
        "wasserstein",
        wasserstein_weighted,
        lambda rng: (rng.standard_normal(40_000), rng.standard_normal(40_000), rng.random(40_000), rng.random(40_000)),
    ),
    Kernel("wasserstein", kolmogorov_smirnov, lambda rng: (rng.standard_normal(50_000), rng.standard_normal(50_000))),
    Kernel("wasserstein", ranks, lambda rng: (rng.standard_normal(100_000),)),
    Kernel("wasserstein", distinct, lambda rng: (rng.integers(0, 50_000, 200_000),)),
    Kernel("searches", interpolated, lambda rng: _curve(rng.random(100_000))),
    Kernel("searches", interpolated, lambda rng: _curve(np.sort(rng.random(100_000)))),
    Kernel("searches", places, lambda rng: (rng.random(50_000), _limits(rng))),
    Kernel("searches", classes, lambda rng: (rng.random(50_000), _limits(rng))),
    Kernel("searches", members, lambda rng: (rng.integers(0, 1000, 100_000), rng.integers(0, 1000, 100))),
]
