"""Side by side: NumPy, Numba (serial, parallel) and weft on the same data in the same process, one process a kernel.
Results are compared before anything is timed; contenders take turns, and the minimum over the turns counts.

    python benchmarks/run.py [--kernels jacobi_2d,softmax] [--size M] [--threads 2] [--seconds 2] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "src")]


CONTENDERS = ("numpy", "numba", "numba parallel", "weft numpy form", "weft loop form")


def _contenders(name: str) -> dict[str, Callable[..., Any]]:
    import weft
    from benchmarks.kernels import BY_NAME

    benchmark = BY_NAME[name]
    found: dict[str, Callable[..., Any]] = {"numpy": benchmark.plain}
    try:
        import numba
    except ImportError:
        numba = None
    if numba is not None:
        # Without parallel=True its prange is a range.
        found["numba"] = numba.njit(benchmark.parallel or benchmark.loops or benchmark.plain)
        found["numba parallel"] = numba.njit(parallel=True)(benchmark.parallel or benchmark.plain)
    found["weft numpy form"] = weft.jit(fallback="error")(benchmark.plain)
    if benchmark.loops is not None:
        found["weft loop form"] = weft.jit(fallback="error")(benchmark.loops)
    return found


def measure(name: str, size: str, seconds: float) -> dict[str, Any]:
    """Times in milliseconds of every contender on one kernel; a text instead where it failed or was wrong."""
    from benchmarks.kernels import BY_NAME
    from benchmarks.kernels.registry import agree, copies

    benchmark = BY_NAME[name]
    arguments = benchmark.arguments(size)
    reference = copies(arguments)
    expected = (benchmark.plain(*reference), reference)
    result: dict[str, Any] = {}
    first: dict[str, float] = {}
    running: dict[str, Callable[..., Any]] = {}
    for label, function in _contenders(name).items():
        mine = copies(arguments)
        try:
            start = time.perf_counter()
            value = function(*mine)
            first[label] = 1e3 * (time.perf_counter() - start)
        except Exception as error:
            result[label] = (
                f"{type(error).__name__}: {str(error).splitlines()[0][:150]}" if str(error) else type(error).__name__
            )
            continue
        if not agree((value, mine), expected, benchmark.tolerance):
            result[label] = "wrong"
            continue
        running[label] = function
    best = dict.fromkeys(running, float("inf"))
    deadline = time.perf_counter() + seconds * len(running)
    turns = 0
    while turns < 5 or (time.perf_counter() < deadline and turns < 300):
        for label, function in running.items():
            if turns >= 2 and best[label] > 1.0:
                continue  # slow ones have been seen twice
            mine = copies(arguments)  # fresh ones: what a kernel does in place must not change the next turn's work
            start = time.perf_counter()
            function(*mine)
            best[label] = min(best[label], time.perf_counter() - start)
        turns += 1
    result.update({label: 1e3 * value for label, value in best.items()})
    return {"kernel": name, "milliseconds": result, "first call": first, "turns": turns}


def _child(name: str, size: str, seconds: float, threads: int) -> dict[str, Any]:
    variables = ("WEFT_NUM_THREADS", "NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")
    environment = {**os.environ, **dict.fromkeys(variables, str(threads))}
    command = [sys.executable, __file__, "--one", name, "--size", size, "--seconds", str(seconds)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["died"])[-1]
        return {"kernel": name, "milliseconds": {}, "error": f"exit {done.returncode}: {last[:200]}"}
    measured: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return measured


def _row(measured: dict[str, Any]) -> str:
    times = measured["milliseconds"]
    cells = []
    for label in CONTENDERS:
        value = times.get(label)
        cells.append("-" if value is None else f"{value:.3g}" if isinstance(value, float) else value.split(":")[0][:14])
    numbers = {label: value for label, value in times.items() if isinstance(value, float)}
    weft_best = min((value for label, value in numbers.items() if label.startswith("weft")), default=None)
    versus = []
    for rival in ("numpy", "numba parallel" if "numba parallel" in numbers else "numba"):
        versus.append(f"{numbers[rival] / weft_best:.2f}x" if weft_best and rival in numbers else "-")
    return f"{measured['kernel']:25}" + "".join(f"{cell:>17}" for cell in cells + versus)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kernels", default="", help="names, separated by commas (default: all)")
    parser.add_argument("--size", default="M", choices=("tiny", "S", "M", "L"))
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=1.5, help="for each contender")
    parser.add_argument("--json", type=Path, help="write the results here")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(measure(options.one, options.size, options.seconds)))
        return 0
    from benchmarks.kernels import BY_NAME

    names = [name for name in options.kernels.split(",") if name] or list(BY_NAME)
    unknown = [name for name in names if name not in BY_NAME]
    if unknown:
        parser.error(f"unknown kernel {unknown[0]!r}; known: {', '.join(BY_NAME)}")
    setting = f"size {options.size}, {options.threads} threads"
    print(f"milliseconds, minimum of repeated calls, {setting}; last: NumPy and Numba over weft")
    print(f"{'':25}" + "".join(f"{label:>17}" for label in (*CONTENDERS, "vs numpy", "vs numba")))
    results = []
    for name in names:
        measured = _child(name, options.size, options.seconds, options.threads)
        results.append(measured)
        print(_row(measured), flush=True)
        complaints = [
            f"{label}: {value}" for label, value in measured["milliseconds"].items() if isinstance(value, str)
        ]
        for complaint in [*complaints, *filter(None, [measured.get("error")])]:
            print(f"{'':25}  {complaint}", flush=True)
    if options.json:
        options.json.write_text(
            json.dumps({"threads": options.threads, "size": options.size, "results": results}, indent=1) + "\n"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
