"""Functions that weft refuses, each for a reason of its own: what it then says is in error_texts.txt."""

import numpy as np

import weft


def unknown_call(a, path):
    b = a * 2.0
    c = np.fromfile(path, count=len(b))
    return b + c


def unknown_statement(a, n):
    global counter
    counter = n
    return a + counter


def many_types(a, b, c, d, e, f):
    total = a + b * c
    return np.busday_count(a, b) + c * d + e * f + total


def long_expression(a):
    return a + np.apply_along_axis(
        lambda row: row.sum(),
        0,
        np.stack([a, a, a]),
    ) + a


def may_be_unset(a, n):
    if n > 3:
        x = a[0]
    return x + 1.0


def impossible_types(a, n):
    return a.shape[n] << 0.5


def wrong_argument(a):
    return np.sum(a, axis=7)


def missing_name(a):
    return a * undefined_factor  # noqa: F821


def grown_mixture(n):
    out = []
    for i in range(n):
        out.append(i)
    out.append(np.ones(n, complex))
    return out


def racing(a):
    for i in weft.prange(1, len(a)):
        a[i] = a[i - 1] + 1.0


def left_early(a):
    for i in weft.prange(len(a)):
        if a[i] > 3.0:
            break
        a[i] = 1.0


def skewed(a):
    for i in range(1, a.shape[0]):
        for j in range(a.shape[1] - 1):
            a[i, j] = a[i - 1, j + 1] + 1.0


def inner(x):
    return x.nothing_like_this()


def inlined(a):
    return inner(a) + 1.0
