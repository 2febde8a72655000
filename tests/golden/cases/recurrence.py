import numpy as np


def f(a):
    for i in range(1, len(a)):
        a[i] = a[i - 1] * 0.5 + a[i]


ARGUMENTS = (np.ones(8),)
