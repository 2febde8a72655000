"""A multi-resolution contraction: every vector along the last axis is multiplied by one matrix, in place."""

from benchmarks.kernels.doitgen import initialise as initialise
from benchmarks.kernels.doitgen import loop_form, numpy_form

SIZES = {"S": (3, 4, 5), "M": (30, 40, 100), "L": (150, 140, 220)}
KIND = "product"

loops = loop_form
operators = numpy_form


def operations(nr, nq, np_):
    return 2.0 * nr * nq * np_ * np_


def lists(a, c4):
    nr = len(a)
    nq = len(a[0])
    np_ = len(c4)
    total = [0.0 for p in range(np_)]
    for r in range(nr):
        for q in range(nq):
            for p in range(np_):
                total[p] = 0.0
                for s in range(np_):
                    total[p] += a[r][q][s] * c4[s][p]
            for p in range(np_):
                a[r][q][p] = total[p]
