"""The cost model against the clock. In come the kernels of `benchmarks/kernels` and single loops; out comes a table of
predicted and measured times on one thread, their ratio, and the geometric mean and spread of the ratios.

    python benchmarks/cost_model.py [--size S] [--kernels jacobi_2d gemm] [--json FILE]

A ratio above 1 means that the model says too much. What matters for choices is the spread: a common factor is measured
by `weft doctor --calibrate`.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "src")]

import numpy as np  # noqa: E402

import weft  # noqa: E402
from benchmarks.kernels import BENCHMARKS  # noqa: E402
from benchmarks.kernels.registry import copies  # noqa: E402
from weft import restored  # noqa: E402
from weft.analysis import cost  # noqa: E402
from weft.codegen.binding import symbol_values  # noqa: E402

#: Elements of the single loops: from the first cache to the last.
SIZES = (1000, 10_000, 100_000, 1_000_000)


def stream(a, b):
    return a * 2.0 + b


def arithmetic(a, b):
    return ((a * b + 1.0) * a + b) * a - b * b + a * a * b


def division(a, b):
    return a / (b + 1.5)


def root(a, b):
    return np.sqrt(a + b)


def exponential(a, b):
    return np.exp(-a * b)


def powers(a, b):
    return a**1.7


def total(a, b):
    return (a * b).sum()


def recurrence(a, b):
    s = 0.0
    for i in range(a.shape[0]):
        s = s * 0.5 + a[i]
        b[i] = s


def gather(a, b):
    n = a.shape[0]
    s = 0.0
    for i in range(n):
        s += a[(i * 7919) % n]
    return s


LOOPS = (stream, arithmetic, division, root, exponential, powers, total, recurrence, gather)


def seconds(function: Any, fresh: Callable[[], tuple[Any, ...]], budget: float) -> float:
    """Of the fastest of several calls, each with arguments of its own: many kernels change theirs."""
    function(*fresh())
    best, end = math.inf, time.perf_counter() + budget
    while True:
        arguments = fresh()
        start = time.thread_time()  # one thread: what others do on the machine counts as little as it can
        function(*arguments)
        best = min(best, time.thread_time() - start)
        if time.perf_counter() > end:
            return best


def predicted(function: Any, ghz: float) -> float | None:
    """Seconds that the model gives the last call of a compiled function; None if its sizes do not tell."""
    counts = function.call_counts
    if not counts or not any(counts):
        return None
    index = max(range(len(counts)), key=counts.__getitem__)
    program = restored.full(function, function._compiled[index]).program_lowered
    values = symbol_values(program, function.profiles[index].last)
    cycles = cost.evaluate(cost.block_work(program.body), values, unknown=cost.GUESSED_EXTENT)
    return None if cycles is None else cycles / ghz / 1e9


def cases(size: str, names: list[str]) -> Iterator[tuple[str, Any, tuple[Any, ...]]]:
    rng = np.random.default_rng(1)
    if not names:
        for function in LOOPS:
            for n in SIZES:
                yield f"{function.__name__} {n}", function, (rng.random(n), rng.random(n))
    for benchmark in BENCHMARKS:
        if not names or benchmark.name in names:
            yield benchmark.name, benchmark.plain, benchmark.arguments(size)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", default="S")
    parser.add_argument("--kernels", nargs="*", default=[])
    parser.add_argument("--seconds", type=float, default=0.1)
    parser.add_argument("--ghz", type=float, default=3.0, help="cycles of the model in a nanosecond")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    weft.set_num_threads(1)
    rows: list[dict[str, Any]] = []
    print(f"{'loop or kernel':<28}{'predicted us':>14}{'measured us':>14}{'ratio':>9}")
    for name, function, arguments in cases(options.size, options.kernels):
        compiled = weft.jit(function, fallback="silent")
        measured = seconds(compiled, lambda: copies(arguments), options.seconds)
        said = predicted(compiled, options.ghz)
        if said is None or said <= 0.0:
            print(f"{name:<28}{'-':>14}{measured * 1e6:>14.1f}{'-':>9}", flush=True)
            continue
        rows.append({"name": name, "predicted": said, "measured": measured})
        print(f"{name:<28}{said * 1e6:>14.1f}{measured * 1e6:>14.1f}{said / measured:>9.2f}", flush=True)
    if rows:
        logs = [math.log(row["predicted"] / row["measured"]) for row in rows]
        mean = sum(logs) / len(logs)
        spread = math.exp(math.sqrt(sum((log - mean) ** 2 for log in logs) / len(logs)))
        within = sum(abs(log - mean) < math.log(2.0) for log in logs)
        print(f"geometric mean {math.exp(mean):.2f}, spread {spread:.2f}, {within} of {len(logs)} within a factor of 2")
    if options.json is not None:
        options.json.write_text(json.dumps(rows, indent=1))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
