"""More benchmarks, on the spellings of the tests' corpus: sizes worth measuring and, for Numba, loops with `prange`."""

import numpy as np

from benchmarks.kernels.numba_loops import prange
from benchmarks.kernels.registry import Benchmark
from tests.apps.kernels import KERNELS, linear_algebra, physics


def mandelbrot(xs, ys, limit):
    count = np.zeros((len(ys), len(xs)), dtype=np.int64)
    for i in prange(len(ys)):
        for j in range(len(xs)):
            x = 0.0
            y = 0.0
            step = 0
            while step < limit and x * x + y * y < 4.0:
                x, y = x * x - y * y + xs[j], 2.0 * x * y + ys[i]
                step += 1
            count[i, j] = step
    return count


def forces(position, mass, softening):
    n = position.shape[0]
    out = np.zeros((n, 3))
    for i in prange(n):
        for j in range(n):
            dx = position[j, 0] - position[i, 0]
            dy = position[j, 1] - position[i, 1]
            dz = position[j, 2] - position[i, 2]
            inverse = (dx * dx + dy * dy + dz * dz + softening) ** -1.5
            out[i, 0] += dx * inverse * mass[j]
            out[i, 1] += dy * inverse * mass[j]
            out[i, 2] += dz * inverse * mass[j]
    return out


def black_scholes(spot, strike, time, rate, volatility):
    n = len(spot)
    call = np.empty(n)
    put = np.empty(n)
    for i in prange(n):
        root = volatility * np.sqrt(time[i])
        d1 = (np.log(spot[i] / strike[i]) + (rate + 0.5 * volatility**2) * time[i]) / root
        d2 = d1 - root
        a = abs(d1) / np.sqrt(2.0)
        t = 1.0 / (1.0 + 0.3275911 * a)
        series = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))))
        one = 1.0 - series * np.exp(-a * a)
        one = 0.5 * (1.0 + (-one if d1 < 0 else one))
        a = abs(d2) / np.sqrt(2.0)
        t = 1.0 / (1.0 + 0.3275911 * a)
        series = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))))
        two = 1.0 - series * np.exp(-a * a)
        two = 0.5 * (1.0 + (-two if d2 < 0 else two))
        discount = strike[i] * np.exp(-rate * time[i])
        call[i] = spot[i] * one - discount * two
        put[i] = call[i] - spot[i] + discount
    return call, put


def polynomial_numpy(x, y):
    return x * x * 0.5 + 3.0 * y - x / (y * y + 1.0)


def polynomial(x, y):
    out = np.empty_like(x)
    for i in prange(len(x)):
        out[i] = x[i] * x[i] * 0.5 + 3.0 * y[i] - x[i] / (y[i] * y[i] + 1.0)
    return out


def matmul(a, b):
    n, inner = a.shape
    m = b.shape[1]
    c = np.zeros((n, m))
    for i in prange(n):
        for k in range(inner):
            for j in range(m):
                c[i, j] += a[i, k] * b[k, j]
    return c


BENCHMARKS: tuple[Benchmark, ...] = (
    Benchmark(
        "matmul",
        linear_algebra.matmul_numpy,
        lambda size: tuple(np.random.default_rng(3).random((2, *size, *size))),
        {"tiny": (7,), "S": (500,), "M": (1300,), "L": (3000,)},
        linear_algebra.matmul_loops,
        matmul,
    ),
    Benchmark(
        "mandelbrot",
        physics.mandelbrot_numpy,
        lambda size: (np.linspace(-2.0, 0.6, size[0]), np.linspace(-1.2, 1.2, size[0]), size[1]),
        {"tiny": (7, 9), "S": (130, 40), "M": (400, 50), "L": (1000, 60)},
        physics.mandelbrot_loops,
        mandelbrot,
    ),
    Benchmark(
        "forces",
        physics.forces_numpy,
        lambda size: (np.random.default_rng(3).random((*size, 3)), np.random.default_rng(4).random(size), 0.01),
        {"tiny": (7,), "S": (300,), "M": (900,), "L": (2500,)},
        physics.forces_loops,
        forces,
    ),
    Benchmark(
        "black_scholes",
        physics.black_scholes_numpy,
        lambda size: KERNELS["black_scholes"].make(size[0], np.random.default_rng(3)),
        {"tiny": (13,), "S": (100_000,), "M": (800_000,), "L": (6_000_000,)},
        physics.black_scholes_loops,
        black_scholes,
    ),
    Benchmark(
        "polynomial",
        polynomial_numpy,
        lambda size: tuple(np.random.default_rng(3).random((2, *size))),
        {"tiny": (13,), "S": (500_000,), "M": (4_000_000,), "L": (40_000_000,)},
        None,
        polynomial,
    ),
)
