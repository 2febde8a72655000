"""Transforms and filters: a radix-2 transform by reshapes, polyphase resampling, convolutions over channels."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.lagging import Kernel


def radix_two(x):
    """A transform of 2**k numbers: halves are combined with roots of unity, the columns of a matrix at a time."""
    n = x.shape[0]
    rows = x.reshape(1, n).copy()
    while rows.shape[0] < n:
        half = rows.shape[1] // 2
        even = rows[:, :half]
        odd = rows[:, half:]
        roots = np.exp(-1j * np.pi * np.arange(rows.shape[0]) / rows.shape[0])[:, None]
        rows = np.vstack((even + roots * odd, even - roots * odd))
    return rows.ravel()


def radix_two_steps(x, steps):
    """The same with the number of steps known, and the matrix of each made by reshape and broadcast."""
    n = x.shape[0]
    y = x.copy()
    for s in range(steps):
        blocks = 2**s
        width = n // (2 * blocks)
        pairs = y.reshape(blocks, 2, width)
        roots = np.exp(-1j * np.pi * np.arange(blocks) / blocks).reshape(blocks, 1)
        turned = roots * pairs[:, 1, :]
        z = np.empty((2, blocks, width), dtype=np.complex128)
        z[0] = pairs[:, 0, :] + turned
        z[1] = pairs[:, 0, :] - turned
        y = z.reshape(n)
    return y


def radix_two_frequency(x, steps):
    """Sums and differences of halves first, side by side."""
    n = x.shape[0]
    y = x.copy()
    for s in range(steps):
        width = 2**s
        rows = n // (2 * width)
        halves = y.reshape(2, rows, width)
        roots = np.exp(-1j * np.pi * np.arange(rows) / rows)[:, None]
        y = np.concatenate((halves[0] + halves[1], (halves[0] - halves[1]) * roots), axis=1).reshape(n)
    return y


def polyphase(x, taps, up, down):
    """Resample by up/down: an output is a sum over the taps of one phase."""
    count = (x.shape[0] * up + down - 1) // down
    y = np.zeros(count)
    length = taps.shape[0]
    for k in range(count):
        position = k * down
        phase = position % up
        first = position // up
        total = 0.0
        j = 0
        for t in range(phase, length, up):
            if 0 <= first - j < x.shape[0]:
                total += taps[t] * x[first - j]
            j += 1
        y[k] = total
    return y


def polyphase_slices(x, taps, up, down):
    """The same, a phase at a time."""
    padded = np.concatenate((np.zeros(taps.shape[0] // up), x))
    count = x.shape[0] * up // down
    y = np.empty(count)
    length = taps.shape[0] // up
    for k in range(count):
        phase = (k * down) % up
        start = (k * down) // up + 1
        y[k] = np.dot(taps[phase::up][::-1], padded[start : start + length])
    return y


def convolve_channels(image, weights, bias):
    """A layer of 3x3 filters: loops over the filter's points, all channels at once."""
    batch, height, width, _ = image.shape
    side = weights.shape[0]
    out = np.zeros((batch, height - side + 1, width - side + 1, weights.shape[3]), dtype=image.dtype)
    for i in range(side):
        for j in range(side):
            out += image[:, i : height - side + 1 + i, j : width - side + 1 + j, :] @ weights[i, j]
    return np.maximum(out + bias, 0)


def convolve_loops(image, weights):
    """Six loops."""
    height, width, channels = image.shape
    side = weights.shape[0]
    filters = weights.shape[3]
    out = np.zeros((height - side + 1, width - side + 1, filters), dtype=image.dtype)
    for y in range(height - side + 1):
        for x in range(width - side + 1):
            for i in range(side):
                for j in range(side):
                    for c in range(channels):
                        for f in range(filters):
                            out[y, x, f] += image[y + i, x + j, c] * weights[i, j, c, f]
    return out


def _complex(rng: np.random.Generator, n: int) -> np.ndarray[Any, Any]:
    return rng.standard_normal(n) + 1j * rng.standard_normal(n)


def _resampling(rng: np.random.Generator) -> tuple[Any, ...]:
    return rng.standard_normal(40_000), rng.standard_normal(120), 5, 3


def _layer(rng: np.random.Generator) -> tuple[Any, ...]:
    return tuple(rng.random(shape, dtype=np.float32) for shape in ((4, 34, 34, 16), (3, 3, 16, 32), (32,)))


KERNELS = [
    Kernel("fft", radix_two, lambda rng: (_complex(rng, 2**16),)),
    Kernel("fft", radix_two_steps, lambda rng: (_complex(rng, 2**16), 16)),
    Kernel("fft", radix_two_frequency, lambda rng: (_complex(rng, 2**16), 16)),
    Kernel("polyphase", polyphase, _resampling),
    Kernel("polyphase", polyphase_slices, _resampling),
    Kernel("convolution", convolve_channels, _layer),
    Kernel("convolution", convolve_loops, lambda rng: (rng.random((40, 40, 16)), rng.random((3, 3, 16, 32)))),
]
