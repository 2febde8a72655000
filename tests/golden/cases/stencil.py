import numpy as np


def f(a, b):
    b[1:-1, 1:-1] = 0.2 * (a[1:-1, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:] + a[2:, 1:-1] + a[:-2, 1:-1])


ARGUMENTS = (np.ones((8, 8)), np.ones((8, 8)))
