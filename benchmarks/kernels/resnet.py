"""A bottleneck block of a residual network: three convolutions, each normalised over the batch, around a shortcut."""

import numpy as np

from benchmarks.kernels.conv2d_bias import convolve

SIZES = {"tiny": (2, 6, 7, 8, 4), "S": (8, 12, 12, 32, 8), "M": (8, 28, 28, 64, 16), "L": (8, 56, 56, 128, 32)}
TOLERANCE = 5e-4  # dividing by small deviations multiplies the rounding errors of single precision


def initialise(size):
    batch, height, width, outer, inner = size
    rng = np.random.default_rng(39)
    images = rng.random((batch, height, width, outer), dtype=np.float32)
    first = rng.random((1, 1, outer, inner), dtype=np.float32)
    second = rng.random((3, 3, inner, inner), dtype=np.float32)
    third = rng.random((1, 1, inner, outer), dtype=np.float32)
    return images, first, second, third


def rectify(x):
    return np.maximum(x, 0)


def normalise(x):
    return (x - np.mean(x, axis=0, keepdims=True)) / np.sqrt(np.var(x, axis=0, keepdims=True) + 1e-5)


def numpy_form(images, first, second, third):
    inner = first.shape[3]
    padded = np.zeros((images.shape[0], images.shape[1] + 2, images.shape[2] + 2, inner), dtype=np.float32)
    padded[:, 1:-1, 1:-1, :] = convolve(images, first)
    x = rectify(normalise(padded))
    x = rectify(normalise(convolve(x, second)))
    x = normalise(convolve(x, third))
    return rectify(x + images)
