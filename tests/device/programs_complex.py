"""Functions of complex numbers that run on a device in the tests, each with a maker of arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Program = tuple[Callable[..., Any], Callable[[], tuple[Any, ...]]]


def _random(*shape: int, dtype: Any = np.complex128) -> Any:
    random = np.random.default_rng(sum(shape))
    return (random.standard_normal(shape) + 1j * random.standard_normal(shape)).astype(dtype)


def arithmetic(a, b):
    return (a * b + 2 - 1j * a) / (b - 3j) - (-a), a.conj() * b, np.abs(a - b)


def parts(z):
    return z.real * 2 + z.imag, z == z.conj(), z != z[::-1], np.sign(z), z**3, z ** (0.5 + 1j)


def functions(z):
    return np.exp(z), np.sqrt(z), np.log(z), np.sin(z), np.cos(z), np.tan(z), np.sinh(z), np.cosh(z), np.tanh(z)


def further(z):
    return np.exp2(z), np.log2(z), np.log10(z), np.log1p(z), np.expm1(z)


def total(z):
    return z.sum(), (z * z.conj()).sum(axis=0), z.mean(axis=1), z.prod()


def multiplied(a, b):
    return a @ b, 2j * (a @ b) + 1


def mandelbrot(width, height, n):
    out = np.zeros((height, width), dtype=np.int64)
    for i in range(height):
        for j in range(width):
            c = complex(3.0 * j / width - 2.0, 2.0 * i / height - 1.0)
            z = 0j
            k = 0
            while k < n and abs(z) <= 2.0:
                z = z * z + c
                k += 1
            out[i, j] = k
    return out


def transform(x):
    n = x.size
    out = np.zeros(n, dtype=np.complex128)
    for k in range(n):
        for j in range(n):
            out[k] += x[j] * np.exp(-2j * np.pi * k * j / n)
    return out


def widened(a, b):
    t = a.astype(np.complex128) * 2
    t[0] = 1
    return t, b.astype(np.complex64), np.where(b.real > 0, b, 0), a.astype(bool)


def scaled(z, s):
    z *= s
    w = z[0] + s
    return w, abs(w)


#: Numbers at the edges of what functions take apart: signs of zeros, infinities, NaN, the great and the close to 1.
_EDGES = (0.0, -0.0, 1.0, -1.0, 0.7, 1e-300, -1e300, 750.0, -750.0, 40.0, np.inf, -np.inf, np.nan)
EDGES = np.array([complex(x, y) for x in _EDGES for y in _EDGES])

PROGRAMS: tuple[Program, ...] = (
    (arithmetic, lambda: (_random(37, 30), _random(37, 30))),
    (arithmetic, lambda: (_random(37, 30, dtype=np.complex64), _random(37, 30, dtype=np.complex64))),
    (arithmetic, lambda: (_random(0), _random(0))),
    (parts, lambda: (_random(300),)),
    (functions, lambda: (_random(300),)),
    (functions, lambda: (_random(300, dtype=np.complex64),)),
    (further, lambda: (_random(300),)),
    (total, lambda: (_random(40, 70),)),
    (multiplied, lambda: (_random(50, 35), _random(35, 70))),
    (mandelbrot, lambda: (30, 20, 40)),
    (transform, lambda: (_random(60),)),
    (widened, lambda: (_random(50, dtype=np.complex64), _random(50))),
    (scaled, lambda: (_random(50), 2 + 1j)),
)
