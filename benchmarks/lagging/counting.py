"""Histograms and sums by group; integers that follow from each other."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.lagging import Kernel


def weighted_histogram(x, weights, bins):
    counts, _ = np.histogram(x, bins, weights=weights)
    return counts


def mean_by_radius(radius, data, bins):
    """The mean of the data in rings of equal width."""
    total = np.histogram(radius, bins, weights=data)[0]
    number = np.histogram(radius, bins)[0]
    return total / number


def sums_by_label(labels, weights):
    return np.bincount(labels, weights=weights)


def mean_by_label(labels, values, groups):
    total = np.bincount(labels, weights=values, minlength=groups)
    number = np.bincount(labels, minlength=groups)
    return total / np.maximum(number, 1)


def scatter_add(labels, values, groups):
    out = np.zeros(groups)
    np.add.at(out, labels, values)
    return out


def histogram_loop(x, weights, low, high, bins):
    out = np.zeros(bins)
    scale = bins / (high - low)
    for i in range(x.shape[0]):
        k = int((x[i] - low) * scale)
        if 0 <= k < bins:
            out[k] += weights[i]
    return out


def scatter_loop(labels, values, groups):
    out = np.zeros(groups)
    for i in range(len(labels)):
        out[labels[i]] += values[i]
    return out


def joint_histogram(x, y, bins):
    out = np.zeros((bins, bins), dtype=np.int64)
    for a, b in zip(x, y):
        out[int(a * bins), int(b * bins)] += 1
    return out


def deposit(x, y, charge, cells):
    """Each particle's charge goes to the four corners of its cell."""
    grid = np.zeros((cells + 1, cells + 1))
    for p in range(x.shape[0]):
        i = int(x[p])
        j = int(y[p])
        fx = x[p] - i
        fy = y[p] - j
        grid[i, j] += charge[p] * (1 - fx) * (1 - fy)
        grid[i + 1, j] += charge[p] * fx * (1 - fy)
        grid[i, j + 1] += charge[p] * (1 - fx) * fy
        grid[i + 1, j + 1] += charge[p] * fx * fy
    return grid


def equalise(image):
    """Brightness by rank: the histogram of an image, its sums, and a table that every pixel is looked up in."""
    below = np.bincount(image.ravel(), minlength=256).cumsum()
    least = below[below > 0].min()
    table = np.round((below - least) * 255.0 / (image.size - least)).astype(np.uint8)
    return table[image]


def hash_stream(seed, count):
    """Numbers of a congruential generator: a product, a sum and a remainder, each from the one before."""
    out = np.empty(count, dtype=np.int64)
    state = seed
    for i in range(count):
        state = (state * 1103515245 + 12345) % 2147483648
        out[i] = state >> 8
    return out


def byte_histogram(image):
    out = np.zeros(256, dtype=np.int64)
    for i in range(image.shape[0]):
        for j in range(image.shape[1]):
            out[image[i, j]] += 1
    return out


def radix_sort(keys):
    """Four passes over eight bits each, from the lowest."""
    keys = keys.copy()
    other = np.empty_like(keys)
    for shift in range(0, 32, 8):
        start = np.zeros(257, dtype=np.int64)
        for i in range(keys.size):
            start[((keys[i] >> shift) & 255) + 1] += 1
        for digit in range(256):
            start[digit + 1] += start[digit]
        for i in range(keys.size):
            digit = (keys[i] >> shift) & 255
            other[start[digit]] = keys[i]
            start[digit] += 1
        keys, other = other, keys
    return keys


def longest_run(flags):
    best = 0
    run = 0
    for i in range(flags.shape[0]):
        if flags[i]:
            run += 1
            if run > best:
                best = run
        else:
            run = 0
    return best


def collatz_steps(limit):
    most = 0
    for start in range(1, limit):
        number = start
        steps = 0
        while number != 1:
            if number % 2 == 0:
                number = number // 2
            else:
                number = 3 * number + 1
            steps += 1
        most = max(most, steps)
    return most


def words(letters):
    count = 0
    inside = False
    for letter in letters:
        if letter == 32:
            inside = False
        elif not inside:
            inside = True
            count += 1
    return count


def _particles(rng: np.random.Generator) -> tuple[Any, ...]:
    return rng.random(200_000) * 64, rng.random(200_000) * 64, rng.random(200_000), 64


def _grouped(rng: np.random.Generator) -> tuple[Any, ...]:
    return rng.integers(0, 1000, 1_000_000), rng.random(1_000_000), 1000


KERNELS = [
    Kernel("histogram", weighted_histogram, lambda rng: (rng.random(400_000), rng.random(400_000), 1000)),
    Kernel("histogram", mean_by_radius, lambda rng: (rng.random(400_000), rng.random(400_000), 1000)),
    Kernel("histogram", sums_by_label, lambda rng: (rng.integers(0, 1000, 1_000_000), rng.random(1_000_000))),
    Kernel("histogram", mean_by_label, _grouped),
    Kernel("histogram", scatter_add, _grouped, scatter_loop),
    Kernel("histogram", histogram_loop, lambda rng: (rng.random(1_000_000), rng.random(1_000_000), 0.0, 1.0, 1000)),
    Kernel("histogram", scatter_loop, _grouped),
    Kernel("histogram", joint_histogram, lambda rng: (rng.random(1_000_000), rng.random(1_000_000), 64)),
    Kernel("histogram", deposit, _particles),
    Kernel("histogram", byte_histogram, lambda rng: (rng.integers(0, 256, (500, 600)).astype(np.uint8),)),
    Kernel("integers", radix_sort, lambda rng: (rng.integers(0, 2**31, 100_000),)),
    Kernel("integers", hash_stream, lambda rng: (42, 200_000)),
    Kernel("histogram", equalise, lambda rng: (rng.integers(0, 256, (600, 800)).astype(np.uint8),)),
    Kernel("branches", longest_run, lambda rng: (rng.random(1_000_000) < 0.7,)),
    Kernel("branches", collatz_steps, lambda rng: (20_000,)),
    Kernel("branches", words, lambda rng: (np.where(rng.random(500_000) < 0.2, 32, rng.integers(97, 123, 500_000)),)),
]
