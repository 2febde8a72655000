"""Deriche's recursive smoothing filter over an image: causal and anticausal second-order recurrences on each axis."""

import math

import numpy as np

SIZES = {"tiny": (7, 9), "S": (250, 250), "M": (1200, 1000), "L": (4000, 3500)}


def initialise(size):
    return 0.25, np.random.default_rng(16).random(size)


def numpy_form(alpha, image):
    w, h = image.shape
    k = (1.0 - np.exp(-alpha)) ** 2 / (1.0 + 2.0 * alpha * np.exp(-alpha) - np.exp(2.0 * alpha))
    a1 = k
    a2 = k * np.exp(-alpha) * (alpha - 1.0)
    a3 = k * np.exp(-alpha) * (alpha + 1.0)
    a4 = -k * np.exp(-2.0 * alpha)
    b1 = 2.0 ** (-alpha)
    b2 = -np.exp(-2.0 * alpha)

    forward = np.empty_like(image)
    forward[:, 0] = a1 * image[:, 0]
    forward[:, 1] = a1 * image[:, 1] + a2 * image[:, 0] + b1 * forward[:, 0]
    for j in range(2, h):
        forward[:, j] = a1 * image[:, j] + a2 * image[:, j - 1] + b1 * forward[:, j - 1] + b2 * forward[:, j - 2]
    backward = np.empty_like(image)
    backward[:, -1] = 0.0
    backward[:, -2] = a3 * image[:, -1]
    for j in range(h - 3, -1, -1):
        backward[:, j] = a3 * image[:, j + 1] + a4 * image[:, j + 2] + b1 * backward[:, j + 1] + b2 * backward[:, j + 2]
    smooth = forward + backward

    forward[0, :] = a1 * smooth[0, :]
    forward[1, :] = a1 * smooth[1, :] + a2 * smooth[0, :] + b1 * forward[0, :]
    for i in range(2, w):
        forward[i, :] = a1 * smooth[i, :] + a2 * smooth[i - 1, :] + b1 * forward[i - 1, :] + b2 * forward[i - 2, :]
    backward[-1, :] = 0.0
    backward[-2, :] = a3 * smooth[-1, :]
    for i in range(w - 3, -1, -1):
        backward[i, :] = (
            a3 * smooth[i + 1, :] + a4 * smooth[i + 2, :] + b1 * backward[i + 1, :] + b2 * backward[i + 2, :]
        )
    return forward + backward


def loop_form(alpha, image):
    w, h = image.shape
    k = (1.0 - math.exp(-alpha)) ** 2 / (1.0 + 2.0 * alpha * math.exp(-alpha) - math.exp(2.0 * alpha))
    a1 = k
    a2 = k * math.exp(-alpha) * (alpha - 1.0)
    a3 = k * math.exp(-alpha) * (alpha + 1.0)
    a4 = -k * math.exp(-2.0 * alpha)
    b1 = 2.0 ** (-alpha)
    b2 = -math.exp(-2.0 * alpha)
    forward = np.empty((w, h))
    backward = np.empty((w, h))
    smooth = np.empty((w, h))
    for i in range(w):
        before = 0.0
        last = 0.0
        last_2 = 0.0
        for j in range(h):
            forward[i, j] = a1 * image[i, j] + a2 * before + b1 * last + b2 * last_2
            before = image[i, j]
            last_2 = last
            last = forward[i, j]
        after = 0.0
        after_2 = 0.0
        last = 0.0
        last_2 = 0.0
        for j in range(h - 1, -1, -1):
            backward[i, j] = a3 * after + a4 * after_2 + b1 * last + b2 * last_2
            after_2 = after
            after = image[i, j]
            last_2 = last
            last = backward[i, j]
        for j in range(h):
            smooth[i, j] = forward[i, j] + backward[i, j]
    for j in range(h):
        before = 0.0
        last = 0.0
        last_2 = 0.0
        for i in range(w):
            forward[i, j] = a1 * smooth[i, j] + a2 * before + b1 * last + b2 * last_2
            before = smooth[i, j]
            last_2 = last
            last = forward[i, j]
        after = 0.0
        after_2 = 0.0
        last = 0.0
        last_2 = 0.0
        for i in range(w - 1, -1, -1):
            backward[i, j] = a3 * after + a4 * after_2 + b1 * last + b2 * last_2
            after_2 = after
            after = smooth[i, j]
            last_2 = last
            last = backward[i, j]
        for i in range(w):
            smooth[i, j] = forward[i, j] + backward[i, j]
    return smooth
