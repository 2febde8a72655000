"""Deriche's recursive smoothing filter over an image."""

import math

import numpy as np

from benchmarks.kernels.deriche import initialise as initialise
from benchmarks.kernels.deriche import loop_form

SIZES = {"S": (7, 9), "M": (1000, 800), "L": (4000, 3000)}
KIND = "solver"

loops = loop_form


def results(w, h):
    return ((w, h),)


def operations(w, h):
    return 32.0 * w * h


def lists(alpha, image):
    w = len(image)
    h = len(image[0])
    k = (1.0 - math.exp(-alpha)) ** 2 / (1.0 + 2.0 * alpha * math.exp(-alpha) - math.exp(2.0 * alpha))
    a1 = k
    a2 = k * math.exp(-alpha) * (alpha - 1.0)
    a3 = k * math.exp(-alpha) * (alpha + 1.0)
    a4 = -k * math.exp(-2.0 * alpha)
    b1 = 2.0 ** (-alpha)
    b2 = -math.exp(-2.0 * alpha)
    forward = [[0.0 for j in range(h)] for i in range(w)]
    backward = [[0.0 for j in range(h)] for i in range(w)]
    smooth = [[0.0 for j in range(h)] for i in range(w)]
    for i in range(w):
        before = 0.0
        last = 0.0
        last_2 = 0.0
        for j in range(h):
            forward[i][j] = a1 * image[i][j] + a2 * before + b1 * last + b2 * last_2
            before = image[i][j]
            last_2 = last
            last = forward[i][j]
        after = 0.0
        after_2 = 0.0
        last = 0.0
        last_2 = 0.0
        for j in range(h - 1, -1, -1):
            backward[i][j] = a3 * after + a4 * after_2 + b1 * last + b2 * last_2
            after_2 = after
            after = image[i][j]
            last_2 = last
            last = backward[i][j]
        for j in range(h):
            smooth[i][j] = forward[i][j] + backward[i][j]
    for j in range(h):
        before = 0.0
        last = 0.0
        last_2 = 0.0
        for i in range(w):
            forward[i][j] = a1 * smooth[i][j] + a2 * before + b1 * last + b2 * last_2
            before = smooth[i][j]
            last_2 = last
            last = forward[i][j]
        after = 0.0
        after_2 = 0.0
        last = 0.0
        last_2 = 0.0
        for i in range(w - 1, -1, -1):
            backward[i][j] = a3 * after + a4 * after_2 + b1 * last + b2 * last_2
            after_2 = after
            after = smooth[i][j]
            last_2 = last
            last = backward[i][j]
        for i in range(w):
            smooth[i][j] = forward[i][j] + backward[i][j]
    return smooth


def operators(alpha, image):
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
    before, last, last_2 = np.zeros(w), np.zeros(w), np.zeros(w)
    for j in range(h):
        forward[:, j] = a1 * image[:, j] + a2 * before + b1 * last + b2 * last_2
        before[:] = image[:, j]
        last_2[:] = last
        last[:] = forward[:, j]
    after, after_2, last, last_2 = np.zeros(w), np.zeros(w), np.zeros(w), np.zeros(w)
    for j in range(h - 1, -1, -1):
        backward[:, j] = a3 * after + a4 * after_2 + b1 * last + b2 * last_2
        after_2[:] = after
        after[:] = image[:, j]
        last_2[:] = last
        last[:] = backward[:, j]
    smooth = forward + backward
    before, last, last_2 = np.zeros(h), np.zeros(h), np.zeros(h)
    for i in range(w):
        forward[i] = a1 * smooth[i] + a2 * before + b1 * last + b2 * last_2
        before[:] = smooth[i]
        last_2[:] = last
        last[:] = forward[i]
    after, after_2, last, last_2 = np.zeros(h), np.zeros(h), np.zeros(h), np.zeros(h)
    for i in range(w - 1, -1, -1):
        backward[i] = a3 * after + a4 * after_2 + b1 * last + b2 * last_2
        after_2[:] = after
        after[:] = smooth[i]
        last_2[:] = last
        last[:] = backward[i]
    smooth[:] = forward + backward
    return smooth
