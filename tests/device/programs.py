"""Functions that run on a device in the tests, each with a maker of arguments: every way for a loop to become work."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Program = tuple[Callable[..., Any], Callable[[], tuple[Any, ...]]]


def _random(*shape: int) -> Any:
    return np.random.default_rng(sum(shape)).random(shape)


def elementwise(a, b):
    return a * 2 + b * b - 1


def strided(a, b):
    b[::2] = a[::-1] * 3
    return b


def jacobi(a, b, n):
    for t in range(n):
        b[1:-1, 1:-1] = 0.2 * (a[1:-1, 1:-1] + a[:-2, 1:-1] + a[2:, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:])
        a[1:-1, 1:-1] = 0.2 * (b[1:-1, 1:-1] + b[:-2, 1:-1] + b[2:, 1:-1] + b[1:-1, :-2] + b[1:-1, 2:])


def softmax(x):
    t = np.exp(x - x.max(axis=1, keepdims=True))
    return t / t.sum(axis=1, keepdims=True)


def normalised(x):
    return x / np.sqrt((x * x).sum())


def product(a, b):
    return a @ b


def place_of_largest(x):
    return x.argmax(), x.argmin(), x.min(), x.max()


def running_sum(x):
    return np.cumsum(x)


def histogram(x, n):
    h = np.zeros(n, dtype=np.int64)
    for i in range(x.size):
        h[int(x[i] * n)] += 1
    return h


def escape_times(c, n):
    out = np.zeros(c.shape, dtype=np.int64)
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            z = 0.0
            k = 0
            while k < n and z < 2.0:
                z = z * z + c[i, j]
                k += 1
            out[i, j] = k
    return out


def until_small(x, limit):
    n = 0
    while x.max() > limit:
        x = x * 0.5
        n += 1
    return x, n


def by_size(x, n):
    total = 0.0
    for i in range(n):
        if i % 2 == 0:
            total += x[i]
        else:
            total -= x[i] * x[i]
    return total


def gathered(x, index):
    out = np.empty(index.size)
    for i in range(index.size):
        out[i] = x[index[i]]
    return out


def single_precision(a):
    return np.sqrt(a) + np.float32(2) * np.sin(a)


def integers(a):
    return (a // 3) % 7 + (a << 2) - (a & 5)


def triangle(a):
    n = a.shape[0]
    for i in range(n):
        a[i, i:] = a[i, i:] + i
    return a


def window(a):
    out = np.zeros(a.size - 2)
    for i in range(a.size - 2):
        w = np.empty(3)
        for k in range(3):
            w[k] = a[i + k]
        w.sort()
        out[i] = w[1]
    return out


def row_medians(a):
    b = a[::2, 1:]
    return b.mean(axis=0), b.T[1:3]


def own_pairs(n):
    """Every lane has the two numbers of its own element."""
    rows, columns = np.mgrid[0:n, 0:n]
    return np.sqrt(rows * 1.0) * columns / n


def kept(x, limit):
    """An array whose size only the device knows."""
    y = x[x > limit]
    return (y * y + 1)[::-1], y.size


def wide_histogram(index, weight, n):
    """Too many bins for a private copy each: integers are added by atomic operations."""
    h = np.zeros(n, dtype=np.int64)
    for i in range(index.size):
        h[index[i]] += weight[i]
    return h


def narrow_counts(index, n):
    h = np.zeros(n, dtype=np.int32)
    for i in range(index.size):
        h[index[i]] += 1
    return h


def scattered_floats(index, weight, n):
    h = np.zeros(n)
    for i in range(index.size):
        h[index[i]] += weight[i]
    return h


def wide_stencil(a):
    """Neighbours up to two rows and columns away, and some beside the array of which a tile is fetched."""
    b = np.zeros_like(a)
    b[2:-2, 2:-2] = a[:-4, 2:-2] + a[4:, 2:-2] - 4 * a[2:-2, 2:-2] + a[2:-2, :-4] * a[2:-2, 4:]
    return b


def planes(a):
    b = a.copy()
    inner = a[1:-1, :-2, 1:-1] + a[1:-1, 2:, 1:-1] + a[:-2, 1:-1, 1:-1] - a[1:-1, 1:-1, 2:] * a[2:, 1:-1, 1:-1]
    b[1:-1, 1:-1, 1:-1] = inner
    return b


def class_means(x, label, means):
    """The array of what is chosen has a size that each iteration computes."""
    for k in range(means.shape[0]):
        if (label == k).any():
            means[k] = x[label == k].mean(axis=0)
    return means


def prefix_products(x):
    """A temporary that grows with the loop."""
    out = np.zeros(len(x))
    for i in range(len(x)):
        t = np.cumsum(x[:i] * 2)
        out[i] = (t * t[::-1]).sum()
    return out


def ragged(a, sizes):
    """The size of a temporary is read from an array."""
    out = np.zeros(a.shape[0])
    for i in range(a.shape[0]):
        t = np.zeros(sizes[i])
        for j in range(sizes[i]):
            t[j] = a[i, j] * 2
        for j in range(sizes[i] - 1):
            t[j + 1] += t[j]
        if sizes[i]:
            out[i] = t[-1]
    return out


def collatz(a):
    """A choice that must not become a jump."""
    out = np.zeros_like(a)
    for k in range(a.size):
        n = int(a[k])
        while n != 1:
            n = n // 2 if n % 2 == 0 else 3 * n + 1
            out[k] += 1
    return out


def powers_of_two(n):
    """Exact integers of Python's: each step is tested."""
    s = 1
    for i in range(n):
        s = s * 2
    return s - 1


def quotients(a, b):
    """Quotients of integers beyond 53 bits, each rounded once."""
    out = np.zeros(a.size)
    for i in range(a.size):
        out[i] = int(a[i]) / int(b[i])
    return out


def narrow_rows(a):
    """Rows shorter than a group is wide."""
    b = np.empty((a.shape[0], a.shape[1], 3))
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            for k in range(3):
                b[i, j, k] = a[i, j] * k
    return b, a[:, :1] * 2


def until_steady(a, tolerance):
    """What the host decides about in a loop around kernels is computed by one of them."""
    last = 0.0
    skipped = 0
    for step in range(40):
        length = np.sqrt((a * a).sum())
        if step == 3 and length > last:
            skipped += 1
            continue
        if abs(length - last) < tolerance:
            break
        last = length
        a = np.tanh(a) / length + 0.5
    return a, last, skipped


PROGRAMS: tuple[Program, ...] = (
    (elementwise, lambda: (_random(37, 130), _random(37, 130))),
    (elementwise, lambda: (_random(0, 5), _random(0, 5))),
    (elementwise, lambda: (_random(60, 50)[::2].T, _random(30, 50).T)),
    (strided, lambda: (_random(50), _random(100))),
    (jacobi, lambda: (_random(40, 70), _random(40, 70), 6)),
    (jacobi, lambda: (_random(40, 70), _random(40, 70), 0)),
    (softmax, lambda: (_random(50, 300),)),
    (softmax, lambda: (_random(3, 1),)),
    (normalised, lambda: (_random(200, 300),)),
    (product, lambda: (_random(70, 50), _random(50, 90))),
    (place_of_largest, lambda: (_random(100_000),)),
    (running_sum, lambda: (_random(1000),)),
    (histogram, lambda: (_random(20_000), 50)),
    (escape_times, lambda: (_random(20, 30) * 0.5, 30)),
    (until_steady, lambda: (_random(6000), 1e-3)),
    (until_small, lambda: (_random(5000) * 100, 0.7)),
    (by_size, lambda: (_random(1000), 900)),
    (gathered, lambda: (_random(100), np.arange(5000) % 100 - 50)),
    (single_precision, lambda: (_random(4000).astype(np.float32),)),
    (integers, lambda: (np.arange(-3000, 3000),)),
    (triangle, lambda: (_random(60, 60),)),
    (window, lambda: (_random(500),)),
    (wide_histogram, lambda: (np.arange(3000) * 7 % 4000, np.arange(3000) - 1500, 4000)),
    (narrow_counts, lambda: (np.arange(3000) * 7 % 4000, 4000)),
    (scattered_floats, lambda: (np.arange(3000) * 7 % 4000, _random(3000), 4000)),
    (scattered_floats, lambda: (np.arange(30000) * 7 % 40, _random(30000), 40)),
    (wide_stencil, lambda: (_random(37, 150),)),
    (wide_stencil, lambda: (_random(4, 4),)),
    (planes, lambda: (_random(5, 11, 70),)),
    (own_pairs, lambda: (90,)),
    (kept, lambda: (_random(400), 0.3)),
    (row_medians, lambda: (_random(40, 9),)),
    (class_means, lambda: (_random(40, 3), np.arange(40) * 7 % 4, _random(5, 3))),
    (prefix_products, lambda: (_random(70),)),
    (ragged, lambda: (_random(10, 12), np.arange(10))),
    (collatz, lambda: (np.arange(1, 90),)),
    (powers_of_two, lambda: (62,)),
    (quotients, lambda: (np.arange(2**62 - 40, 2**62), np.arange(2**60, 2**60 - 40, -1) // 3 ** np.arange(40) + 1)),
    (narrow_rows, lambda: (_random(150, 70),)),
)
