import numpy as np


def f(a, x):
    for i in range(len(a)):
        if a[i] == x:
            return i
    return -1


ARGUMENTS = (np.arange(8), 3)
