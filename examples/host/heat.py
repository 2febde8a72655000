"""Kernels for hosts that are no Python: `weft build --host c examples/host/heat.py` makes a library of them."""

from collections.abc import Callable

import numpy as np

import weft

N, M = weft.symbol("N"), weft.symbol("M")

#: The weights of a smoothing stencil: a constant of the module is compiled in.
WEIGHTS = np.array([0.25, 0.5, 0.25])


def diffuse(field: weft.f64[N, M], alpha: float, steps: int) -> weft.f64[N, M]:
    """The field after some explicit steps of the heat equation, its border held fixed."""
    now = field.copy()
    for _ in range(steps):
        inner = now[1:-1, 1:-1]
        flow = now[:-2, 1:-1] + now[2:, 1:-1] + now[1:-1, :-2] + now[1:-1, 2:] - 4.0 * inner
        now[1:-1, 1:-1] = inner + alpha * flow
    return now


def smooth(values: weft.f64[N], padded: weft.f64[N + 2]) -> None:
    """Writes a smoothed copy of `padded` without its ends into `values`."""
    for i in weft.prange(len(values)):
        values[i] = WEIGHTS[0] * padded[i] + WEIGHTS[1] * padded[i + 1] + WEIGHTS[2] * padded[i + 2]


def extremes(field: weft.f64[N, M]) -> tuple[float, float]:
    """The least and the greatest value; an empty field is a ValueError."""
    if field.size == 0:
        raise ValueError("an empty field has no extremes")
    return float(field.min()), float(field.max())


def product(a: weft.f64[N, M], b: weft.f64[M, N]) -> weft.f64[N, N]:
    """A matrix product: by the BLAS of the host, or by the library's own."""
    return a @ b


def integral(f: Callable[[float], float], low: float, high: float, n: int) -> float:
    """The midpoint rule for a function of the host's."""
    width = (high - low) / n
    total = 0.0
    for i in range(n):
        total += f(low + (i + 0.5) * width)
    return total * width
