"""What this machine can do, as a node of a cluster.  In: nothing; out: the fields of a `Machine` that a few tenths of a
second tell: rates of matrix products, of other arithmetic and of memory.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np

_ORDER = 1024
_LONG, _SHORT = 1 << 24, 1 << 12
_REPEATS = 3


def _best(action: Callable[[], Any]) -> float:
    """The least time of a few repeats, in seconds."""
    times = []
    for _ in range(_REPEATS):
        start = perf_counter()
        action()
        times.append(perf_counter() - start)
    return max(min(times), 1e-9)


def this_machine(working: int = 8 * _LONG) -> dict[str, Any]:
    """The fields of a `Machine`, in its units; the rate of memory is that of arrays of `working` bytes."""
    from weft.runtime.threads import get_num_threads

    matrix = np.ones((_ORDER, _ORDER))
    product = np.empty_like(matrix)
    length = max(working // 8, _SHORT)
    source, target = np.ones(length), np.zeros(length)
    short, other = np.ones(_SHORT), np.zeros(_SHORT)
    cores = min(get_num_threads(), os.cpu_count() or 1)

    def arithmetic() -> None:
        for _ in range(1000):
            np.multiply(short, short, out=other)

    return {
        "cores": cores,
        "gflops": 2e-9 * _ORDER**3 / _best(lambda: np.matmul(matrix, matrix, out=product)),
        "arithmetic": 1e-9 * 1000 * _SHORT * cores / _best(arithmetic),
        # A copy on one thread reads both arrays and writes one; all cores together reach little more than that.
        "memory": 3e-9 * source.nbytes / _best(lambda: np.copyto(target, source)),
    }
