"""What is measured. The plain spellings come from the corpus of the tests; this module adds sizes worth measuring and,
where Numba needs `prange` to use its threads, loops written by hand for it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.apps.kernels import KERNELS, discrete, linear_algebra, physics, solvers, statistics, stencils

try:
    from numba import prange
except ImportError:
    prange = range

Function = Callable[..., Any]
Arguments = tuple[Any, ...]


@dataclass(frozen=True)
class Benchmark:
    """`plain` is what a user runs today; `loops` and `parallel` are what a Numba user would write."""

    name: str
    plain: Function
    make: Callable[[np.random.Generator], Arguments]
    loops: Function | None = None
    parallel: Function | None = None
    tolerance: float = 1e-9


def jacobi_1d(steps, a, b):
    n = a.shape[0]
    for _ in range(steps):
        for i in prange(1, n - 1):
            b[i] = (a[i - 1] + a[i] + a[i + 1]) / 3.0
        for i in prange(1, n - 1):
            a[i] = (b[i - 1] + b[i] + b[i + 1]) / 3.0


def jacobi_2d(steps, a, b):
    rows, columns = a.shape
    for _ in range(steps):
        for i in prange(1, rows - 1):
            for j in range(1, columns - 1):
                b[i, j] = 0.2 * (a[i, j] + a[i, j - 1] + a[i, j + 1] + a[i + 1, j] + a[i - 1, j])
        for i in prange(1, rows - 1):
            for j in range(1, columns - 1):
                a[i, j] = 0.2 * (b[i, j] + b[i, j - 1] + b[i, j + 1] + b[i + 1, j] + b[i - 1, j])


def heat_3d(steps, a, b):
    n, m, l = a.shape
    for _ in range(steps):
        for i in prange(1, n - 1):
            for j in range(1, m - 1):
                for k in range(1, l - 1):
                    b[i, j, k] = (
                        0.125 * (a[i + 1, j, k] - 2.0 * a[i, j, k] + a[i - 1, j, k])
                        + 0.125 * (a[i, j + 1, k] - 2.0 * a[i, j, k] + a[i, j - 1, k])
                        + 0.125 * (a[i, j, k + 1] - 2.0 * a[i, j, k] + a[i, j, k - 1])
                        + a[i, j, k]
                    )
        for i in prange(1, n - 1):
            for j in range(1, m - 1):
                for k in range(1, l - 1):
                    a[i, j, k] = b[i, j, k]


def fdtd_2d(steps, ex, ey, hz, source):
    nx, ny = hz.shape
    for t in range(steps):
        for j in range(ny):
            ey[0, j] = source[t]
        for i in prange(1, nx):
            for j in range(ny):
                ey[i, j] -= 0.5 * (hz[i, j] - hz[i - 1, j])
        for i in prange(nx):
            for j in range(1, ny):
                ex[i, j] -= 0.5 * (hz[i, j] - hz[i, j - 1])
        for i in prange(nx - 1):
            for j in range(ny - 1):
                hz[i, j] -= 0.7 * (ex[i, j + 1] - ex[i, j] + ey[i + 1, j] - ey[i, j])


def hdiff(field, out, coeff):
    ni, nj, nk = out.shape
    for i in prange(ni):
        for j in range(nj):
            for k in range(nk):
                x = i + 2
                y = j + 2
                centre = 4.0 * field[x, y, k] - (
                    field[x + 1, y, k] + field[x - 1, y, k] + field[x, y + 1, k] + field[x, y - 1, k]
                )
                east = 4.0 * field[x + 1, y, k] - (
                    field[x + 2, y, k] + field[x, y, k] + field[x + 1, y + 1, k] + field[x + 1, y - 1, k]
                )
                west = 4.0 * field[x - 1, y, k] - (
                    field[x, y, k] + field[x - 2, y, k] + field[x - 1, y + 1, k] + field[x - 1, y - 1, k]
                )
                north = 4.0 * field[x, y + 1, k] - (
                    field[x + 1, y + 1, k] + field[x - 1, y + 1, k] + field[x, y + 2, k] + field[x, y, k]
                )
                south = 4.0 * field[x, y - 1, k] - (
                    field[x + 1, y - 1, k] + field[x - 1, y - 1, k] + field[x, y, k] + field[x, y - 2, k]
                )
                fx1 = east - centre
                fx1 = 0.0 if fx1 * (field[x + 1, y, k] - field[x, y, k]) > 0 else fx1
                fx0 = centre - west
                fx0 = 0.0 if fx0 * (field[x, y, k] - field[x - 1, y, k]) > 0 else fx0
                fy1 = north - centre
                fy1 = 0.0 if fy1 * (field[x, y + 1, k] - field[x, y, k]) > 0 else fy1
                fy0 = centre - south
                fy0 = 0.0 if fy0 * (field[x, y, k] - field[x, y - 1, k]) > 0 else fy0
                out[i, j, k] = field[x, y, k] - coeff[i, j, k] * (fx1 - fx0 + fy1 - fy0)


def softmax(x):
    n, m = x.shape
    out = np.empty((n, m))
    for i in prange(n):
        peak = x[i, 0]
        for j in range(1, m):
            peak = max(peak, x[i, j])
        total = 0.0
        for j in range(m):
            out[i, j] = np.exp(x[i, j] - peak)
            total += out[i, j]
        for j in range(m):
            out[i, j] /= total
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


def gesummv(alpha, beta, a, b, x):
    n = a.shape[0]
    y = np.zeros(n)
    for i in prange(n):
        first = 0.0
        second = 0.0
        for j in range(n):
            first += a[i, j] * x[j]
            second += b[i, j] * x[j]
        y[i] = alpha * first + beta * second
    return y


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


def floyd_warshall(paths):
    n = paths.shape[0]
    for k in range(n):
        for i in prange(n):
            for j in range(n):
                paths[i, j] = min(paths[i, j], paths[i, k] + paths[k, j])


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


def csr_matvec(starts, columns, values, x):
    n = len(starts) - 1
    y = np.zeros(n)
    for i in prange(n):
        total = 0.0
        for k in range(starts[i], starts[i + 1]):
            total += values[k] * x[columns[k]]
        y[i] = total
    return y


def _random_csr(rng: np.random.Generator) -> Arguments:
    n, each = 100_000, 12
    columns = np.sort(rng.integers(0, n, (n, each)), axis=1).reshape(-1)
    return np.arange(0, n * each + 1, each), columns, rng.random(n * each), rng.random(n)


def csr_matvec_vectorised(starts, columns, values, x):
    """What a NumPy user writes: products of all entries, then sums of runs."""
    return np.add.reduceat(values * x[columns], starts[:-1])


def _definite(n: int, rng: np.random.Generator) -> np.ndarray:
    a = rng.random((n, n))
    return a @ a.T + n * np.eye(n)


S, L = stencils, linear_algebra
BENCHMARKS: tuple[Benchmark, ...] = (
    Benchmark(
        "jacobi_1d",
        S.jacobi_1d_numpy,
        lambda r: (50, r.random(400_000), r.random(400_000)),
        S.jacobi_1d_loops,
        jacobi_1d,
    ),
    Benchmark(
        "jacobi_2d",
        S.jacobi_2d_numpy,
        lambda r: (10, r.random((1000, 1000)), r.random((1000, 1000))),
        S.jacobi_2d_loops,
        jacobi_2d,
    ),
    Benchmark(
        "heat_3d",
        S.heat_3d_numpy,
        lambda r: (10, r.random((120, 120, 120)), r.random((120, 120, 120))),
        S.heat_3d_loops,
        heat_3d,
    ),
    Benchmark(
        "fdtd_2d",
        S.fdtd_2d_numpy,
        lambda r: (10, *(r.random((800, 900)) for _ in range(3)), r.random(10)),
        S.fdtd_2d_loops,
        fdtd_2d,
    ),
    Benchmark(
        "hdiff",
        S.hdiff_numpy,
        lambda r: (r.random((132, 132, 160)), r.random((128, 128, 160)), r.random((128, 128, 160))),
        S.hdiff_loops,
        hdiff,
    ),
    Benchmark("seidel_2d", S.seidel_2d_numpy, lambda r: (4, r.random((400, 400))), S.seidel_2d_loops),
    Benchmark(
        "softmax", statistics.softmax_numpy, lambda r: (r.normal(size=(4096, 512)),), statistics.softmax_loops, softmax
    ),
    Benchmark("matmul", L.matmul_numpy, lambda r: (r.random((800, 800)), r.random((800, 800))), L.matmul_loops, matmul),
    Benchmark(
        "gesummv",
        L.gesummv_numpy,
        lambda r: (1.5, 1.2, r.random((2000, 2000)), r.random((2000, 2000)), r.random(2000)),
        L.gesummv_loops,
        gesummv,
    ),
    Benchmark("atax", L.atax_numpy, lambda r: (r.random((2000, 2500)), r.random(2500)), L.atax_loops),
    Benchmark(
        "mandelbrot",
        physics.mandelbrot_numpy,
        lambda r: (np.linspace(-2.0, 0.6, 400), np.linspace(-1.2, 1.2, 400), 50),
        physics.mandelbrot_loops,
        mandelbrot,
    ),
    Benchmark(
        "forces",
        physics.forces_numpy,
        lambda r: (r.random((600, 3)), r.random(600), 0.01),
        physics.forces_loops,
        forces,
    ),
    Benchmark(
        "floyd_warshall",
        discrete.floyd_warshall_numpy,
        lambda r: (r.integers(1, 100, (300, 300)),),
        discrete.floyd_warshall_loops,
        floyd_warshall,
    ),
    Benchmark("csr_matvec", csr_matvec_vectorised, _random_csr, discrete.csr_matvec_loops, csr_matvec),
    Benchmark("cholesky", solvers.cholesky_numpy, lambda r: (_definite(250, r),), solvers.cholesky_loops),
    Benchmark("lu", solvers.lu_numpy, lambda r: (_definite(300, r),), solvers.lu_loops),
    Benchmark(
        "black_scholes",
        physics.black_scholes_numpy,
        lambda r: KERNELS["black_scholes"].make(400_000, r),
        physics.black_scholes_loops,
        black_scholes,
    ),
    Benchmark("polynomial", polynomial_numpy, lambda r: (r.random(2_000_000), r.random(2_000_000)), None, polynomial),
    Benchmark(
        "covariance",
        statistics.covariance_numpy,
        lambda r: (r.random((600, 300)),),
        statistics.covariance_loops,
    ),
)
BY_NAME = {benchmark.name: benchmark for benchmark in BENCHMARKS}
