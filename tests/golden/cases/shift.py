import numpy as np


def f(a):
    a[1:] = a[:-1] + 1


ARGUMENTS = (np.ones(8),)
