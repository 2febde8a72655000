"""Sums over small windows and a few coordinates, look-ups between grid points, sparse rows times a dense matrix."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.lagging import Kernel


def window_filter(image, window):
    """Each pixel from its neighbourhood, in loops."""
    height, width = window.shape
    out = np.zeros((image.shape[0] - height + 1, image.shape[1] - width + 1))
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            total = 0.0
            for a in range(height):
                for b in range(width):
                    total += image[i + a, j + b] * window[a, b]
            out[i, j] = total
    return out


def distance_loops(a, b):
    out = np.empty((a.shape[0], b.shape[0]))
    for i in range(a.shape[0]):
        for j in range(b.shape[0]):
            total = 0.0
            for k in range(a.shape[1]):
                d = a[i, k] - b[j, k]
                total += d * d
            out[i, j] = np.sqrt(total)
    return out


def distance_broadcast(a, b):
    return np.sqrt(((a[:, None] - b[None]) ** 2).sum(-1))


def nearest_centre(points, centres):
    out = np.empty(points.shape[0], np.int64)
    for i in range(points.shape[0]):
        best = np.inf
        for j in range(centres.shape[0]):
            total = 0.0
            for k in range(3):
                total += (points[i, k] - centres[j, k]) ** 2
            if total < best:
                best = total
                out[i] = j
    return out


def between_entries(table, x):
    """A table of values at whole numbers, straight lines between them."""
    out = np.empty_like(x)
    for i in range(x.size):
        k = int(x[i])
        f = x[i] - k
        out[i] = table[k] * (1 - f) + table[k + 1] * f
    return out


def cubic_between_entries(table, x):
    out = np.empty_like(x)
    for i in range(x.size):
        k = int(x[i])
        f = x[i] - k
        a = table[k + 2] - table[k + 1] - table[k - 1] + table[k]
        b = table[k - 1] - table[k] - a
        c = table[k + 1] - table[k - 1]
        out[i] = ((a * f + b) * f + c) * f + table[k]
    return out


def pixels_between(image, x, y):
    out = np.empty(x.size)
    for p in range(x.size):
        i = int(y[p])
        j = int(x[p])
        u = y[p] - i
        v = x[p] - j
        above = image[i, j] * (1 - u) * (1 - v) + image[i + 1, j] * u * (1 - v)
        out[p] = above + image[i, j + 1] * (1 - u) * v + image[i + 1, j + 1] * u * v
    return out


def nearest_pixels(image, rows, columns):
    """A picture at another size: places are computed, each from one variable."""
    out = np.empty((rows, columns))
    for i in range(rows):
        for j in range(columns):
            out[i, j] = image[int(i * image.shape[0] / rows), int(j * image.shape[1] / columns)]
    return out


def grid_points(x, y):
    """All pairs, coordinate by coordinate."""
    out = np.zeros((x.size, y.size, 2))
    for i in range(x.size):
        for j in range(y.size):
            out[i, j, 0] = x[i]
            out[i, j, 1] = y[j]
    return out


def counts_in_range(x):
    return np.histogram(x, bins=100, range=(-3.0, 3.0))[0]


def rows_times_dense(start, index, value, x):
    out = np.zeros((start.size - 1, x.shape[1]))
    for i in range(out.shape[0]):
        for p in range(start[i], start[i + 1]):
            for k in range(x.shape[1]):
                out[i, k] += value[p] * x[index[p], k]
    return out


def sieve(limit):
    prime = np.ones(limit + 1, np.bool_)
    prime[:2] = False
    i = 2
    while i * i <= limit:
        if prime[i]:
            for j in range(i * i, limit + 1, i):
                prime[j] = False
        i += 1
    return np.count_nonzero(prime)


def divisor_sums(limit):
    total = np.zeros(limit + 1, dtype=np.int64)
    for d in range(1, limit + 1):
        for m in range(d, limit + 1, d):
            total[m] += d
    return total


def greatest_of_four(x):
    batch, channels, height, width = x.shape
    out = np.empty((batch, channels, height // 2, width // 2), dtype=x.dtype)
    for n in range(batch):
        for c in range(channels):
            for i in range(height // 2):
                for j in range(width // 2):
                    most = x[n, c, 2 * i, 2 * j]
                    for a in range(2):
                        for b in range(2):
                            if x[n, c, 2 * i + a, 2 * j + b] > most:
                                most = x[n, c, 2 * i + a, 2 * j + b]
                    out[n, c, i, j] = most
    return out


def _sparse(rng: np.random.Generator) -> tuple[Any, ...]:
    start = np.arange(0, 50_001, 5)
    return start, rng.integers(0, 5000, 50_000), rng.random(50_000), rng.random((5000, 16))


KERNELS = [
    Kernel("windows", window_filter, lambda rng: (rng.random((300, 400)), rng.random((5, 5)))),
    Kernel("distances", distance_loops, lambda rng: (rng.random((300, 10)), rng.random((400, 10)))),
    Kernel("distances", distance_broadcast, lambda rng: (rng.random((300, 10)), rng.random((400, 10)))),
    Kernel("distances", nearest_centre, lambda rng: (rng.random((2000, 3)), rng.random((100, 3)))),
    Kernel("look-ups", between_entries, lambda rng: (rng.random(256), rng.random(300_000) * 254)),
    Kernel("look-ups", cubic_between_entries, lambda rng: (rng.random(256), rng.random(300_000) * 250 + 2)),
    Kernel("look-ups", pixels_between, lambda rng: (rng.random((256, 256)), *(rng.random((2, 200_000)) * 254))),
    Kernel("look-ups", nearest_pixels, lambda rng: (rng.random((200, 200)), 300, 320)),
    Kernel("windows", grid_points, lambda rng: (rng.random(200), rng.random(300))),
    Kernel("histogram", counts_in_range, lambda rng: (rng.standard_normal(400_000),)),
    Kernel("sparse", rows_times_dense, _sparse),
    Kernel("integers", sieve, lambda rng: (1_000_000,)),
    Kernel("integers", divisor_sums, lambda rng: (100_000,)),
    Kernel("windows", greatest_of_four, lambda rng: (rng.random((32, 4, 32, 32)),)),
]
