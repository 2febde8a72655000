"""A multi-resolution contraction: every vector along the last axis is multiplied by one matrix, in place."""

import numpy as np

SIZES = {"tiny": (3, 4, 5), "S": (120, 120, 150), "M": (220, 200, 300), "L": (300, 300, 700)}


def initialise(size):
    r, q, p = size
    rng = np.random.default_rng(17)
    return rng.random((r, q, p)), rng.random((p, p))


def numpy_form(a, c4):
    a[:] = a @ c4


def loop_form(a, c4):
    nr, nq, np_ = a.shape
    total = np.zeros(np_)
    for r in range(nr):
        for q in range(nq):
            for p in range(np_):
                total[p] = 0.0
                for s in range(np_):
                    total[p] += a[r, q, s] * c4[s, p]
            for p in range(np_):
                a[r, q, p] = total[p]
