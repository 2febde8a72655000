"""Stockham's self-sorting fast Fourier transform with radix R over a vector of R^K numbers."""

import numpy as np

SIZES = {"tiny": (2, 4), "S": (2, 15), "M": (2, 17), "L": (2, 20)}


def initialise(size):
    radix, levels = size
    rng = np.random.default_rng(44)
    n = radix**levels
    return radix, levels, rng.random(n) + 1j * rng.random(n), np.zeros(n, dtype=np.complex128)


def numpy_form(radix, levels, x, y):
    n = radix**levels
    rows, columns = np.mgrid[0:radix, 0:radix]
    butterfly = np.exp(-2.0j * np.pi * rows * columns / radix)
    y[:] = x
    for level in range(levels):
        lead = radix**level
        rest = radix ** (levels - level - 1)
        view = np.reshape(y, (lead, radix, rest))
        powers = np.arange(lead).reshape(lead, 1) * np.arange(radix).reshape(1, radix)
        twiddle = np.exp(-2.0j * np.pi * powers / (lead * radix))
        product = view * np.reshape(twiddle, (lead, radix, 1))
        y[:] = np.reshape(np.transpose(butterfly @ product, (1, 0, 2)), n)


def loop_form(radix, levels, x, y):
    n = radix**levels
    work = np.zeros(n, dtype=np.complex128)
    for i in range(n):
        y[i] = x[i]
    lead = 1
    rest = n // radix
    for _ in range(levels):
        for a in range(lead):
            for r in range(radix):
                for s in range(rest):
                    total = 0j
                    for t in range(radix):
                        angle = -2.0 * np.pi * (a * t / (lead * radix) + r * t / radix)
                        total += y[(a * radix + t) * rest + s] * np.exp(1j * angle)
                    work[(r * lead + a) * rest + s] = total
        for i in range(n):
            y[i] = work[i]
        lead *= radix
        rest //= radix
