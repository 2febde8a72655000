"""A two-dimensional convolution over a batch of images (channels last), with a bias for each output channel."""

import numpy as np

SIZES = {
    "tiny": (2, 6, 7, 3, 2, 4),
    "S": (4, 24, 24, 3, 3, 8),
    "M": (8, 56, 56, 5, 3, 16),
    "L": (16, 112, 112, 6, 5, 16),
}


def initialise(size):
    batch, height, width, inputs, kernel, outputs = size
    rng = np.random.default_rng(11)
    images = rng.random((batch, height, width, inputs), dtype=np.float32)
    weights = rng.random((kernel, kernel, inputs, outputs), dtype=np.float32)
    return images, weights, rng.random(outputs, dtype=np.float32)


def convolve(images, weights):
    kernel = weights.shape[0]
    batch, height, width, _ = images.shape
    rows = height - kernel + 1
    columns = width - kernel + 1
    output = np.empty((batch, rows, columns, weights.shape[3]), dtype=np.float32)
    for i in range(rows):
        for j in range(columns):
            output[:, i, j, :] = np.sum(
                images[:, i : i + kernel, j : j + kernel, :, np.newaxis] * weights[np.newaxis, :, :, :],
                axis=(1, 2, 3),
            )
    return output


def numpy_form(images, weights, bias):
    return convolve(images, weights) + bias


def loop_form(images, weights, bias):
    batch, height, width, inputs = images.shape
    kernel = weights.shape[0]
    outputs = weights.shape[3]
    result = np.empty((batch, height - kernel + 1, width - kernel + 1, outputs), dtype=np.float32)
    for n in range(batch):
        for i in range(height - kernel + 1):
            for j in range(width - kernel + 1):
                for f in range(outputs):
                    total = np.float32(0.0)
                    for di in range(kernel):
                        for dj in range(kernel):
                            for c in range(inputs):
                                total += images[n, i + di, j + dj, c] * weights[di, dj, c, f]
                    result[n, i, j, f] = total + bias[f]
    return result
