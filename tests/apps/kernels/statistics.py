"""Statistics and machine learning: normalisations, moments, scans, histograms, nearest centres."""

from __future__ import annotations

import numpy as np

from tests.apps.kernels.registry import Kernel


def softmax_numpy(x):
    shifted = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return shifted / np.sum(shifted, axis=-1, keepdims=True)


def softmax_loops(x):
    n, m = x.shape
    out = np.empty((n, m))
    for i in range(n):
        peak = x[i, 0]
        for j in range(1, m):
            if x[i, j] > peak:
                peak = x[i, j]
        total = 0.0
        for j in range(m):
            out[i, j] = np.exp(x[i, j] - peak)
            total += out[i, j]
        for j in range(m):
            out[i, j] /= total
    return out


def covariance_numpy(data):
    centred = data - data.mean(axis=0)
    return centred.T @ centred / (data.shape[0] - 1.0)


def covariance_loops(data):
    n, m = data.shape
    mean = np.zeros(m)
    for j in range(m):
        for i in range(n):
            mean[j] += data[i, j]
        mean[j] /= n
    out = np.zeros((m, m))
    for i in range(m):
        for j in range(i, m):
            total = 0.0
            for k in range(n):
                total += (data[k, i] - mean[i]) * (data[k, j] - mean[j])
            out[i, j] = total / (n - 1.0)
            out[j, i] = out[i, j]
    return out


def correlation_numpy(data):
    n = data.shape[0]
    mean = np.mean(data, axis=0)
    deviation = np.std(data, axis=0)
    deviation[deviation <= 0.1] = 1.0
    scaled = (data - mean) / (np.sqrt(n) * deviation)
    out = np.eye(data.shape[1])
    for i in range(data.shape[1] - 1):
        out[i + 1 :, i] = out[i, i + 1 :] = scaled[:, i] @ scaled[:, i + 1 :]
    return out


def correlation_loops(data):
    n, m = data.shape
    mean = np.zeros(m)
    deviation = np.zeros(m)
    scaled = np.zeros((n, m))
    out = np.zeros((m, m))
    for j in range(m):
        for i in range(n):
            mean[j] += data[i, j]
        mean[j] /= n
        for i in range(n):
            deviation[j] += (data[i, j] - mean[j]) ** 2
        deviation[j] = np.sqrt(deviation[j] / n)
        if deviation[j] <= 0.1:
            deviation[j] = 1.0
    for i in range(n):
        for j in range(m):
            scaled[i, j] = (data[i, j] - mean[j]) / (np.sqrt(n) * deviation[j])
    for i in range(m):
        out[i, i] = 1.0
        for j in range(i + 1, m):
            for k in range(n):
                out[i, j] += scaled[k, i] * scaled[k, j]
            out[j, i] = out[i, j]
    return out


def histogram_loops(values, bins, low, high):
    counts = np.zeros(bins, dtype=np.int64)
    width = (high - low) / bins
    for value in values:
        if value >= low and value < high:
            counts[int((value - low) / width)] += 1
    return counts


def histogram_lists(values, bins, low, high):
    counts = [0] * bins
    for value in values:
        if low <= value < high:
            counts[int((value - low) / (high - low) * bins)] += 1
    return counts


def prefix_sum_loops(values):
    out = np.empty(len(values), dtype=np.int64)
    total = 0
    for i in range(len(values)):
        total += values[i]
        out[i] = total
    return out


def prefix_sum_numpy(values):
    out = values.copy()
    for i in range(1, len(values)):
        out[i] += out[i - 1]
    return out


def prefix_sum_lists(values):
    out = [0] * len(values)
    total = 0
    for position, value in enumerate(values):
        total += value
        out[position] = total
    return out


def moving_average_loops(values, width):
    n = len(values) - width + 1
    out = np.zeros(n)
    for i in range(n):
        for k in range(width):
            out[i] += values[i + k]
        out[i] /= width
    return out


def moving_average_numpy(values, width):
    n = len(values) - width + 1
    total = np.zeros(n)
    for k in range(width):
        total += values[k : k + n]
    return total / width


def nearest_centre_numpy(points, centres):
    squares = ((points[:, None, :] - centres[None, :, :]) ** 2).sum(axis=2)
    return np.argmin(squares, axis=1)


def nearest_centre_loops(points, centres):
    n, d = points.shape
    k = centres.shape[0]
    out = np.empty(n, dtype=np.int64)
    for i in range(n):
        best = -1
        smallest = np.inf
        for c in range(k):
            square = 0.0
            for a in range(d):
                square += (points[i, a] - centres[c, a]) ** 2
            if square < smallest:
                smallest = square
                best = c
        out[i] = best
    return out


def running_maximum_loops(values):
    out = np.empty_like(values)
    where = np.zeros(len(values), dtype=np.int64)
    best = values[0]
    position = 0
    for i in range(len(values)):
        if values[i] > best:
            best = values[i]
            position = i
        out[i] = best
        where[i] = position
    return out, where


def running_maximum_numpy(values):
    """The largest value so far by doubling shifts."""
    out = values.copy()
    shift = 1
    while shift < len(values):
        out[shift:] = np.maximum(out[shift:], out[:-shift])
        shift *= 2
    return out, np.argmax(values), values.max()


def clip_blend_numpy(a, b, weight):
    w = np.clip(weight, 0.0, 1.0)
    return np.where(a > b, w * a + (1.0 - w) * b, (a + b) / 2.0)


def clip_blend_loops(a, b, weight):
    out = np.empty_like(a)
    for i in range(len(a)):
        w = min(max(weight[i], 0.0), 1.0)
        out[i] = w * a[i] + (1.0 - w) * b[i] if a[i] > b[i] else (a[i] + b[i]) / 2.0
    return out


def layer_norm_numpy(x, gain, bias):
    mean = x.mean(axis=1, keepdims=True)
    deviation = x.std(axis=1, keepdims=True)
    return gain * (x - mean) / (deviation + 1e-5) + bias


def layer_norm_loops(x, gain, bias):
    n, m = x.shape
    out = np.empty((n, m))
    for i in range(n):
        mean = 0.0
        for j in range(m):
            mean += x[i, j]
        mean /= m
        square = 0.0
        for j in range(m):
            square += (x[i, j] - mean) ** 2
        deviation = np.sqrt(square / m)
        for j in range(m):
            out[i, j] = gain[j] * (x[i, j] - mean) / (deviation + 1e-5) + bias[j]
    return out


KERNELS = (
    Kernel(
        "softmax",
        {"numpy": softmax_numpy, "loops": softmax_loops},
        lambda n, rng: (rng.normal(size=(n, n + 3)),),
        tolerance=1e-13,
    ),
    Kernel(
        "covariance",
        {"numpy": covariance_numpy, "loops": covariance_loops},
        lambda n, rng: (rng.random((n + 2, n)),),
        small=(1, 2, 9),
        medium=30,
        tolerance=1e-11,
    ),
    Kernel(
        "correlation",
        {"numpy": correlation_numpy, "loops": correlation_loops},
        lambda n, rng: (rng.random((n + 20, n)),),
        small=(1, 2, 9),
        medium=30,
        tolerance=1e-11,
    ),
    Kernel(
        "histogram",
        {"loops": histogram_loops, "lists": histogram_lists},
        lambda n, rng: (rng.random(n) * 1.2 - 0.1, 8, 0.0, 1.0),
        small=(1, 2, 33),
        medium=500,
    ),
    Kernel(
        "prefix_sum",
        {"numpy": prefix_sum_numpy, "loops": prefix_sum_loops, "lists": prefix_sum_lists},
        lambda n, rng: (rng.integers(-50, 50, n),),
        small=(1, 2, 33),
        medium=500,
    ),
    Kernel(
        "moving_average",
        {"numpy": moving_average_numpy, "loops": moving_average_loops},
        lambda n, rng: (rng.random(n + 4), 5),
        small=(0, 1, 2, 33),
        medium=500,
        tolerance=1e-13,
    ),
    Kernel(
        "nearest_centre",
        {"numpy": nearest_centre_numpy, "loops": nearest_centre_loops},
        lambda n, rng: (rng.random((n, 3)), rng.random((5, 3))),
        small=(0, 1, 2, 33),
        medium=200,
    ),
    Kernel(
        "running_maximum",
        {"numpy": running_maximum_numpy, "loops": running_maximum_loops},
        lambda n, rng: (rng.normal(size=n),),
        small=(1, 2, 33),
        medium=300,
    ),
    Kernel(
        "clip_blend",
        {"numpy": clip_blend_numpy, "loops": clip_blend_loops},
        lambda n, rng: (rng.random(n), rng.random(n), 2.0 * rng.random(n) - 0.5),
        small=(0, 1, 2, 33),
        medium=500,
    ),
    Kernel(
        "layer_norm",
        {"numpy": layer_norm_numpy, "loops": layer_norm_loops},
        lambda n, rng: (rng.random((n, n + 3)), rng.random(n + 3), rng.random(n + 3)),
        tolerance=1e-11,
    ),
)
