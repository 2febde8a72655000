"""Convolutions and networks in JAX, on its own convolution and pooling."""

import jax.numpy as np
from jax import lax


def _convolve(images, weights):
    return lax.conv_general_dilated(images, weights, (1, 1), "VALID", dimension_numbers=("NHWC", "HWIO", "NHWC"))


def _pool(x):
    return lax.reduce_window(x, -np.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")


def _rectify(x):
    return np.maximum(x, 0)


def conv2d_bias(images, weights, bias):
    return _convolve(images, weights) + bias, ()


def lenet(images, conv_1, bias_1, conv_2, bias_2, dense_1, bias_3, dense_2, bias_4, dense_3, bias_5):
    x = _pool(_rectify(_convolve(images, conv_1) + bias_1))
    x = _pool(_rectify(_convolve(x, conv_2) + bias_2))
    x = np.reshape(x, (x.shape[0], dense_1.shape[0]))
    x = _rectify(x @ dense_1 + bias_3)
    x = _rectify(x @ dense_2 + bias_4)
    return x @ dense_3 + bias_5, ()


def _normalise(x):
    return (x - np.mean(x, axis=0, keepdims=True)) / np.sqrt(np.var(x, axis=0, keepdims=True) + 1e-5)


def resnet(images, first, second, third):
    padded = np.pad(_convolve(images, first), ((0, 0), (1, 1), (1, 1), (0, 0)))
    x = _rectify(_normalise(padded))
    x = _rectify(_normalise(_convolve(x, second)))
    x = _normalise(_convolve(x, third))
    return _rectify(x + images), ()
