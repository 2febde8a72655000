"""From 1 to 10^7 elements: weft against NumPy on an element-wise expression, a stencil and a reduction. The ratio is
weft's time over NumPy's: below 1 weft is faster.

    python benchmarks/sizes.py [--json FILE] [--largest 10000000]
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "src")]

import numpy as np  # noqa: E402

import weft  # noqa: E402

SIZES = (1, 3, 10, 30, 100, 300, 1000, 3000, 10_000, 30_000, 100_000, 300_000, 1_000_000, 3_000_000, 10_000_000)


def element_wise(a, b):
    return a * 2.0 + b * b - 1.0


def in_place(a, b):
    a += 0.5 * b


def single(a, b):
    return a + b


def stencil(a, b):
    b[1:-1] = (a[:-2] + a[1:-1] + a[2:]) / 3.0


def reduction(a, b):
    return (a * b).sum()


def total(a, b):
    return a.sum()


def exponential(a, b):
    return np.exp(-a)


FUNCTIONS = (element_wise, single, in_place, stencil, reduction, total, exponential)


def _per_call(function: Callable[..., Any], arguments: tuple[Any, ...], calls: int) -> float:
    start = time.perf_counter()
    for _ in range(calls):
        function(*arguments)
    return (time.perf_counter() - start) / calls


def ratio(plain: Callable[..., Any], compiled: Callable[..., Any], n: int) -> tuple[float, float]:
    """Seconds a call of NumPy and of weft, minima over turns taken one after the other."""
    rng = np.random.default_rng(n)
    arguments = (rng.random(n), rng.random(n))
    once = _per_call(plain, arguments, 3)
    calls = max(1, min(2000, int(0.004 / max(once, 1e-9))))
    best = [float("inf"), float("inf")]
    for _ in range(9):
        best[0] = min(best[0], _per_call(plain, arguments, calls))
        best[1] = min(best[1], _per_call(compiled, arguments, calls))
    return best[0], best[1]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", type=Path)
    parser.add_argument("--largest", type=int, default=SIZES[-1])
    options = parser.parse_args()
    print("weft's time over NumPy's (NumPy's microseconds)")
    print(f"{'elements':>10}" + "".join(f"{function.__name__:>22}" for function in FUNCTIONS))
    compiled = {function: weft.jit(fallback="error")(function) for function in FUNCTIONS}
    results = []
    for n in (size for size in SIZES if size <= options.largest):
        cells = []
        for function in FUNCTIONS:
            numpy_time, weft_time = ratio(function, compiled[function], n)
            results.append({"function": function.__name__, "elements": n, "numpy": numpy_time, "weft": weft_time})
            cells.append(f"{weft_time / numpy_time:9.2f} ({1e6 * numpy_time:9.2f})")
        print(f"{n:>10}" + "".join(f"{cell:>22}" for cell in cells), flush=True)
    if options.json:
        options.json.write_text(json.dumps(results, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
