"""`python -m weft.demo`: a handful of real kernels.  In: nothing; out: a table of times, plain Python and NumPy against
compiled code, first call and later calls, and whether the answers are the same.  The exit code is 1 if one is not.
"""

from __future__ import annotations

import copy
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
Kernel = Callable[..., Any]
_LATER_SECONDS = 0.4
_MAX_REPEATS = 50


# --- the kernels, as one would write them -----------------------------------------------------------------------------


def jacobi_numpy(steps: int, a: Array, b: Array) -> None:
    for _ in range(steps):
        b[1:-1, 1:-1] = 0.2 * (a[1:-1, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:] + a[2:, 1:-1] + a[:-2, 1:-1])
        a[1:-1, 1:-1] = 0.2 * (b[1:-1, 1:-1] + b[1:-1, :-2] + b[1:-1, 2:] + b[2:, 1:-1] + b[:-2, 1:-1])


def jacobi_loops(steps: int, a: Array, b: Array) -> None:
    n, m = a.shape
    for _ in range(steps):
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                b[i, j] = 0.2 * (a[i, j] + a[i, j - 1] + a[i, j + 1] + a[i + 1, j] + a[i - 1, j])
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                a[i, j] = 0.2 * (b[i, j] + b[i, j - 1] + b[i, j + 1] + b[i + 1, j] + b[i - 1, j])


def softmax_numpy(x: Array) -> Array:
    e = np.exp(x - np.max(x, axis=1, keepdims=True))
    s: Array = e / np.sum(e, axis=1, keepdims=True)
    return s


def softmax_loops(x: Array) -> Array:
    n, m = x.shape
    out = np.empty_like(x)
    for i in range(n):
        largest = x[i, 0]
        for j in range(m):
            largest = max(largest, x[i, j])
        total = 0.0
        for j in range(m):
            out[i, j] = np.exp(x[i, j] - largest)
            total += out[i, j]
        for j in range(m):
            out[i, j] /= total
    return out


def matmul_loops(a: Array, b: Array) -> Array:
    n, m, p = a.shape[0], a.shape[1], b.shape[1]
    c = np.zeros((n, p))
    for i in range(n):
        for j in range(p):
            for k in range(m):
                c[i, j] += a[i, k] * b[k, j]
    return c


def mandelbrot_while(width: int, height: int, limit: int) -> Array:
    counts = np.zeros((height, width), dtype=np.int64)
    for row in range(height):
        for column in range(width):
            x0, y0 = -2.0 + 3.0 * column / width, -1.25 + 2.5 * row / height
            x, y, count = 0.0, 0.0, 0
            while x * x + y * y <= 4.0 and count < limit:
                x, y = x * x - y * y + x0, 2.0 * x * y + y0
                count += 1
            counts[row, column] = count
    return counts


def csr_matvec(pointers: Array, columns: Array, values: Array, x: Array) -> Array:
    rows = pointers.shape[0] - 1
    y = np.zeros(rows)
    for i in range(rows):
        total = 0.0
        for k in range(pointers[i], pointers[i + 1]):
            total += values[k] * x[columns[k]]
        y[i] = total
    return y


def forces_numpy(position: Array, mass: Array) -> Array:
    d = position[None, :, :] - position[:, None, :]
    distance = np.sum(d * d, axis=2) + 0.01
    f: Array = np.sum(d * (mass[None, :] / (distance * np.sqrt(distance)))[:, :, None], axis=1)
    return f


def forces_loops(position: Array, mass: Array) -> Array:
    n = position.shape[0]
    force = np.zeros((n, 3))
    for i in range(n):
        for j in range(n):
            dx = position[j, 0] - position[i, 0]
            dy = position[j, 1] - position[i, 1]
            dz = position[j, 2] - position[i, 2]
            distance = dx * dx + dy * dy + dz * dz + 0.01
            scale = mass[j] / (distance * np.sqrt(distance))
            force[i, 0] += scale * dx
            force[i, 1] += scale * dy
            force[i, 2] += scale * dz
    return force


def floyd_warshall_loops(path: Array) -> None:
    n = path.shape[0]
    for k in range(n):
        for i in range(n):
            for j in range(n):
                path[i, j] = min(path[i, j], path[i, k] + path[k, j])


# --- what to run ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Case:
    """One line of the table: a kernel and the arguments it gets (fresh ones for every call)."""

    title: str
    function: Kernel
    make: Callable[[np.random.Generator], tuple[Any, ...]]


def _square(n: int) -> Callable[[np.random.Generator], tuple[Any, ...]]:
    return lambda random: (random.random((n, n)), random.random((n, n)))


def _grid(steps: int, n: int) -> Callable[[np.random.Generator], tuple[Any, ...]]:
    return lambda random: (steps, random.random((n, n)), random.random((n, n)))


def _sparse(rows: int, each: int) -> Callable[[np.random.Generator], tuple[Any, ...]]:
    def make(random: np.random.Generator) -> tuple[Any, ...]:
        pointers = np.arange(0, rows * each + 1, each)
        columns = random.integers(0, rows, rows * each)
        return pointers, columns, random.random(rows * each), random.random(rows)

    return make


def _bodies(n: int) -> Callable[[np.random.Generator], tuple[Any, ...]]:
    return lambda random: (random.random((n, 3)), random.random(n))


CASES = (
    Case("jacobi 2-d, NumPy slices, 1000²", jacobi_numpy, _grid(20, 1000)),
    Case("jacobi 2-d, loops, 150²", jacobi_loops, _grid(10, 150)),
    Case("softmax, NumPy, 4000 x 500", softmax_numpy, lambda random: (random.random((4000, 500)),)),
    Case("softmax, loops, 300 x 400", softmax_loops, lambda random: (random.random((300, 400)),)),
    Case("matrix product, loops, 120³", matmul_loops, _square(120)),
    Case("Mandelbrot, while loop, 160²", mandelbrot_while, lambda random: (160, 160, 100)),
    Case("sparse matrix (CSR) times vector", csr_matvec, _sparse(20_000, 20)),
    Case("pairwise forces, NumPy, 700 bodies", forces_numpy, _bodies(700)),
    Case("pairwise forces, loops, 300 bodies", forces_loops, _bodies(300)),
    Case("Floyd-Warshall, loops, 110³", floyd_warshall_loops, lambda random: (random.random((110, 110)),)),
)


# --- measuring --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Measured:
    """Seconds of a case, and whether the compiled function gave and did the same as the plain one."""

    title: str
    plain: float
    first: float
    later: float
    same: bool

    @property
    def ratio(self) -> float:
        return self.plain / self.later if self.later > 0 else float("inf")


def _timed(function: Kernel, arguments: tuple[Any, ...]) -> tuple[float, Any]:
    start = time.perf_counter()
    result = function(*arguments)
    return time.perf_counter() - start, result


def _undisturbed(function: Kernel, arguments: tuple[Any, ...]) -> tuple[float, Any]:
    """The same without the time in which other programs had the processors."""
    start = time.process_time()
    seconds, result = _timed(function, arguments)
    return min(seconds, time.process_time() - start), result


def _best(function: Kernel, arguments: tuple[Any, ...]) -> float:
    """The least time of several calls, each on its own copy of the arguments."""
    best, spent, repeats = float("inf"), 0.0, 0
    while repeats < 3 or (spent < _LATER_SECONDS and repeats < _MAX_REPEATS):
        seconds, _ = _undisturbed(function, copy.deepcopy(arguments))
        best, spent, repeats = min(best, seconds), spent + seconds, repeats + 1
    return best


def _same(first: Any, second: Any) -> bool:
    if type(first) is not type(second):
        return False
    if isinstance(first, tuple):
        return len(first) == len(second) and all(_same(a, b) for a, b in zip(first, second))
    if isinstance(first, np.ndarray):
        return first.dtype == second.dtype and first.shape == second.shape and np.allclose(first, second, rtol=1e-10)
    return bool(first == second)


def measure(case: Case, compile_function: Callable[[Kernel], Kernel]) -> Measured:
    """Run a case plainly and compiled, on equal arguments."""
    arguments = case.make(np.random.default_rng(7))
    plain_arguments, compiled_arguments = copy.deepcopy(arguments), copy.deepcopy(arguments)
    plain, expected = _undisturbed(case.function, plain_arguments)
    if plain < 0.2:  # a NumPy kernel: one call would measure the caches
        plain = min(plain, _best(case.function, arguments))
    compiled = compile_function(case.function)
    first, got = _timed(compiled, compiled_arguments)
    same = _same(expected, got) and _same(plain_arguments, compiled_arguments)
    return Measured(case.title, plain, first, _best(compiled, arguments), same)


# --- printing ---------------------------------------------------------------------------------------------------------

_COLUMNS = ("kernel", "plain Python/NumPy", "first call", "later calls", "ratio", "same answer?")


def _duration(seconds: float) -> str:
    if seconds >= 1:
        return f"{seconds:.2f} s"
    return f"{seconds * 1e3:.1f} ms" if seconds >= 1e-3 else f"{seconds * 1e6:.0f} µs"


def _times(ratio: float) -> str:
    return f"{ratio:.1f}x" if ratio < 100 else f"{ratio:,.0f}x"


def _cells(result: Measured) -> tuple[str, ...]:
    times = (_duration(result.plain), _duration(result.first), _duration(result.later))
    return (result.title, *times, _times(result.ratio), "yes" if result.same else "NO")


def _print_plain(results: list[Measured]) -> None:
    rows = [_COLUMNS, *(_cells(result) for result in results)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(_COLUMNS))]
    for row in rows:
        cells = [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:]))]
        print("  ".join(cells))


def _print(results: list[Measured]) -> None:
    if not sys.stdout.isatty():
        return _print_plain(results)
    try:
        from rich.console import Console
        from rich.table import Table
    except ImportError:
        return _print_plain(results)
    table = Table()
    for position, column in enumerate(_COLUMNS):
        table.add_column(column, justify="right" if position else "left")
    for result in results:
        table.add_row(*_cells(result), style=None if result.same else "bold red")
    Console().print(table)
    return None


def main() -> int:
    from weft.api import jit

    results: list[Measured] = []
    for case in CASES:
        if sys.stderr.isatty():
            print(f"\r\x1b[K{case.title} ...", end="", file=sys.stderr, flush=True)
        results.append(measure(case, lambda function: jit(function, fallback="silent")))
    if sys.stderr.isatty():
        print("\r\x1b[K", end="", file=sys.stderr, flush=True)
    _print(results)
    return 0 if all(result.same for result in results) else 1


if __name__ == "__main__":
    sys.exit(main())
