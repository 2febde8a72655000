"""Kernels of the classes that lagged, NumPy, Numba and weft side by side.

    python -m benchmarks.lagging [names or families ...] [--threads 2] [--seconds 0.5] [--no-numba] [--cpu]

One process, one run: results are compared first, then the three take turns, and each counts with its least time. Numba
gets the same source with `@njit`, and with `@njit(parallel=True)`. A ratio above 1 means that weft is faster. `--cpu`
takes the processor time of the process instead of the clock: with `--threads 1`, what a busy machine still shows.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "src")]


LIBRARIES = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "NUMBA_NUM_THREADS", "WEFT_NUM_THREADS")


def _threads() -> int:
    """The number of threads asked for.  Libraries read it from the environment when they are loaded, and the package
    has loaded NumPy already: the process starts again with an environment that says it."""
    arguments = sys.argv
    number = int(arguments[arguments.index("--threads") + 1]) if "--threads" in arguments else 2
    if any(os.environ.get(name) != str(number) for name in LIBRARIES):
        os.environ.update({name: str(number) for name in LIBRARIES})
        os.execv(sys.executable, [sys.executable, "-m", "benchmarks.lagging", *arguments[1:]])
    return number


THREADS = _threads()
CLOCK = time.process_time if "--cpu" in sys.argv else time.perf_counter

import numpy as np  # noqa: E402

import weft  # noqa: E402
from benchmarks.lagging import Kernel, kernels  # noqa: E402


def _copies(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(a.copy(order="K") if isinstance(a, np.ndarray) else a for a in arguments)


def _numba(kernel: Kernel) -> list[Callable[..., Any]]:
    import numba

    source = kernel.loops or kernel.function
    return [numba.njit(source), numba.njit(parallel=True)(source)]


def _equal(a: Any, b: Any) -> bool:
    if isinstance(a, tuple):
        return isinstance(b, tuple) and len(a) == len(b) and all(_equal(x, y) for x, y in zip(a, b))
    scale = 1e-4 if np.asarray(a).dtype in (np.float32, np.complex64) else 1e-8
    return np.shape(a) == np.shape(b) and bool(np.allclose(a, b, rtol=scale, atol=scale))


def _right(function: Callable[..., Any], arguments: tuple[Any, ...], expected: tuple[Any, ...]) -> bool:
    given = _copies(arguments)
    return _equal(expected, (function(*given), *(a for a in given if isinstance(a, np.ndarray))))


def _once(function: Callable[..., Any], arguments: tuple[Any, ...], calls: int) -> float:
    given = _copies(arguments)
    start = CLOCK()
    for _ in range(calls):
        function(*given)
    return (CLOCK() - start) / calls


def measure(kernel: Kernel, seconds: float, with_numba: bool) -> dict[str, float]:
    """The least time of a call by each that gives NumPy's answer; a reason instead of a time is printed."""
    arguments = kernel.arguments(np.random.default_rng(7))
    given = _copies(arguments)
    result = kernel.function(*given)
    expected = (result, *(a for a in given if isinstance(a, np.ndarray)))
    candidates = [("weft", weft.jit(fallback="error")(kernel.function))]
    if with_numba:
        candidates += zip(("numba", "parallel"), _numba(kernel))
    takers: dict[str, Callable[..., Any]] = {"numpy": kernel.function}
    for label, function in candidates:
        try:
            if _right(function, arguments, expected):
                takers[label] = function
            else:
                print(f"  {kernel.name}: {label} differs")
        except Exception as error:
            print(f"  {kernel.name}: {label} refuses: {str(error)[:150].strip()!r}")
    return _turns(takers, arguments, seconds)


def _turns(takers: dict[str, Callable[..., Any]], arguments: tuple[Any, ...], seconds: float) -> dict[str, float]:
    best = {label: _once(function, arguments, 1) for label, function in takers.items()}
    end = time.perf_counter() + seconds * len(takers)
    turns = 0
    while time.perf_counter() < end or turns < 5:
        for label, function in takers.items():
            calls = 1 if best[label] > 2e-4 else max(1, int(2e-4 / best[label]))
            best[label] = min(best[label], _once(function, arguments, calls))
        turns += 1
    return best


def _chosen(words: Iterable[str]) -> list[Kernel]:
    asked = set(words)
    return [k for k in kernels() if not asked or k.name in asked or k.family in asked]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="kernels or families; all by default")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=0.5, help="time for each taker of a kernel")
    parser.add_argument("--no-numba", action="store_true")
    parser.add_argument("--cpu", action="store_true", help="processor time instead of the clock")
    options = parser.parse_args()
    weft.set_num_threads(THREADS)
    print(f"{'family':<12} {'kernel':<22} {'weft ms':>9} {'numpy/weft':>11} {'numba/weft':>11} {'parallel/weft':>14}")
    for kernel in _chosen(options.names):
        times = measure(kernel, options.seconds, not options.no_numba)
        if "weft" not in times:
            continue
        of_weft = {label: f"{seconds / times['weft']:.2f}" for label, seconds in times.items()}
        ratios = [of_weft.get(label, "-") for label in ("numpy", "numba", "parallel")]
        milliseconds = times["weft"] * 1e3
        print(f"{kernel.family:<12} {kernel.name:<22} {milliseconds:>9.4f} ", end="")
        print(f"{ratios[0]:>11} {ratios[1]:>11} {ratios[2]:>14}", flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
