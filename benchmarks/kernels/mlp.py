"""A perceptron with two hidden layers and a softmax at the end, over a batch."""

import numpy as np

SIZES = {
    "tiny": (4, 5, 6, 7, 3),
    "S": (500, 800, 1000, 1000, 300),
    "M": (1500, 2000, 2500, 2500, 1000),
    "L": (4000, 5000, 5000, 5000, 2000),
}


def initialise(size):
    batch, *widths = size
    rng = np.random.default_rng(35)
    layers = []
    for inputs, outputs in zip(widths, widths[1:]):
        layers += [rng.random((inputs, outputs), dtype=np.float32) / inputs, rng.random(outputs, dtype=np.float32)]
    return rng.random((batch, widths[0]), dtype=np.float32), *layers


def rectify(x):
    return np.maximum(x, 0)


def softmax(x):
    powers = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return powers / np.sum(powers, axis=-1, keepdims=True)


def numpy_form(x, w1, b1, w2, b2, w3, b3):
    x = rectify(x @ w1 + b1)
    x = rectify(x @ w2 + b2)
    return softmax(x @ w3 + b3)
