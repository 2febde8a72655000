"""The machine's limits. In comes a number of threads (by the environment); out come bytes a second for working sets
that lie in a cache or in memory, and floating-point operations a second in both precisions. The stream kernels are
compiled by weft where there is a compiler, and NumPy's otherwise; the products are the BLAS library's.

    python -m benchmarks.harness.limits [--processor-time]
"""

from __future__ import annotations

import json
import math
import sys
import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

#: Bytes of the three arrays together.
WORKING_SETS = (1 << 18, 1 << 20, 1 << 22, 1 << 24, 1 << 26, 1 << 28, 3 << 28)
_SECONDS = 0.35
_ORDER = 1600
#: Given as an option: of a busy machine, the processor's seconds on one thread.
PROCESSOR_TIME = "--processor-time"


def triad(a: Any, b: Any, c: Any) -> None:
    a[:] = b + 3.0 * c


def read_only(a: Any, b: Any, c: Any) -> Any:
    return (b * c).sum()


def _best(call: Callable[[], Any]) -> float:
    """Seconds a call, of the best batch; a batch is long enough for the clock."""
    now = time.process_time if PROCESSOR_TIME in sys.argv else time.perf_counter
    call()
    start = now()
    call()
    number = max(1, int(0.002 / max(now() - start, 1e-7)))
    best = math.inf
    deadline = now() + _SECONDS
    while now() < deadline:
        start = now()
        for _ in range(number):
            call()
        best = min(best, (now() - start) / number)
    return best


def bandwidth() -> dict[str, float]:
    """Bytes a second by working set, the better of writing and of only reading."""
    from weft.api import jit

    kernels = [(jit(triad), 3), (jit(read_only), 2)]
    found = {}
    for total in WORKING_SETS:
        n = total // 24
        arrays = [np.full(n, 0.5) for _ in range(3)]
        rates = (8 * moved * n / _best(lambda: kernel(*arrays)) for kernel, moved in kernels)
        found[str(total)] = max(rates)
    return found


def flops(dtype: Any) -> float:
    a = np.random.default_rng(0).random((_ORDER, _ORDER)).astype(dtype)
    return float(2 * _ORDER**3 / _best(lambda: a @ a))


def bandwidth_at(rates: Mapping[str, float], size: float) -> float:
    """Bytes a second for a working set of `size` bytes, between the measured ones on a logarithmic scale."""
    points = sorted((float(key), rate) for key, rate in rates.items())
    if size <= points[0][0]:
        return points[0][1]
    for (low, slow), (high, fast) in zip(points, points[1:]):
        if size <= high:
            part = math.log(size / low) / math.log(high / low)
            return slow + part * (fast - slow)
    return points[-1][1]


def main() -> int:
    measured = {"bandwidth": bandwidth(), "double": flops(np.float64), "single": flops(np.float32)}
    print(json.dumps(measured))
    return 0


if __name__ == "__main__":
    sys.exit(main())
