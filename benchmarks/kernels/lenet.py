"""LeCun's LeNet-5 over a batch of images: two convolutions with rectification and pooling, three dense layers."""

import numpy as np

from benchmarks.kernels.conv2d_bias import convolve

SIZES = {"tiny": (2, 16, 16), "S": (4, 28, 28), "M": (64, 32, 32), "L": (128, 64, 64)}


def initialise(size):
    batch, height, width = size
    rng = np.random.default_rng(32)
    rows, columns = ((n - 4) // 2 for n in (height, width))
    rows, columns = ((n - 4) // 2 for n in (rows, columns))
    flat = 16 * rows * columns
    shapes = [(5, 5, 1, 6), (6,), (5, 5, 6, 16), (16,), (flat, 120), (120,), (120, 84), (84,), (84, 10), (10,)]
    parameters = [(rng.random(shape, dtype=np.float32) - np.float32(0.5)) / 4 for shape in shapes]
    return rng.random((batch, height, width, 1), dtype=np.float32), *parameters


def rectify(x):
    return np.maximum(x, 0)


def pool(x):
    rows, columns = x.shape[1] // 2, x.shape[2] // 2
    output = np.empty((x.shape[0], rows, columns, x.shape[3]), dtype=x.dtype)
    for i in range(rows):
        for j in range(columns):
            output[:, i, j, :] = np.max(x[:, 2 * i : 2 * i + 2, 2 * j : 2 * j + 2, :], axis=(1, 2))
    return output


def numpy_form(images, conv_1, bias_1, conv_2, bias_2, dense_1, bias_3, dense_2, bias_4, dense_3, bias_5):
    x = pool(rectify(convolve(images, conv_1) + bias_1))
    x = pool(rectify(convolve(x, conv_2) + bias_2))
    x = np.reshape(x, (x.shape[0], dense_1.shape[0]))
    x = rectify(x @ dense_1 + bias_3)
    x = rectify(x @ dense_2 + bias_4)
    return x @ dense_3 + bias_5
