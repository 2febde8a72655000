"""Cubes per second, `python -m benchmarks.apps.stap`. In come sizes; out comes a table: NumPy, compiled code on one and
on all threads, Ray code written by hand around the NumPy functions, and the same functions with `target="ray"`.

Data is on the cluster before the clock starts, and results are here when it stops. Every process computes on one core.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any

# Before NumPy: a library with threads of its own would use cores that other workers count on.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

import weft
from benchmarks.apps.stap import chain, cubes
from benchmarks.apps.stap.cubes import Scene

Result = tuple[Any, Any]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.apps.stap", description=__doc__)
    parser.add_argument("--cubes", type=int, default=8)
    parser.add_argument("--channels", type=int, default=64)
    parser.add_argument("--pulses", type=int, default=64)
    parser.add_argument("--samples", type=int, default=4000)
    parser.add_argument("--workers", type=int, default=2, help="of Ray, with one core each")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--without-ray", action="store_true")
    parser.add_argument("--json", type=Path, help="a file for the numbers")
    return parser.parse_args()


def _best(ways: dict[str, Callable[[], Result]], repeats: int) -> dict[str, float]:
    """The least time of a few calls of each way after a first one; all agree.

    The ways take turns, so that a disturbance of the machine falls on all of them.
    """
    expected: Result | None = None
    for name, way in ways.items():
        start = perf_counter()
        result = way()
        print(f"{name:24} first call {perf_counter() - start:8.2f} s", flush=True)
        expected = result if expected is None else expected
        # Single precision: powers agree to three digits, and no target is lost.
        assert np.allclose(result[0], expected[0], rtol=1e-2, atol=1e-2), name
    found = dict.fromkeys(ways, float("inf"))
    for _ in range(repeats):
        for name, way in ways.items():
            start = perf_counter()
            way()
            found[name] = min(found[name], perf_counter() - start)
    return found


def _by_hand(data: Any, tools: cubes.Tools) -> Callable[[], Result]:
    """What one writes for Ray: a task a cube, whose arguments were put once."""
    import ray

    one = ray.remote(num_cpus=1)(chain.process)
    blocks = [ray.put(cube) for cube in data]
    others = [ray.put(value) for value in tools]

    def run() -> Result:
        found = ray.get([one.remote(block, *others) for block in blocks])
        return np.stack([power for power, _ in found]), np.stack([places for _, places in found])

    return run


def _distributed(data: Any, tools: cubes.Tools) -> Callable[[], Result]:
    compiled = weft.jit(chain.process_all, target="ray", fallback="error")
    placed = weft.cluster.put(data, rows=1)

    def run() -> Result:
        power, found = compiled(placed, *tools)
        return np.asarray(power), np.asarray(found)

    return run


def _compiled(data: Any, tools: cubes.Tools, threads: int) -> Callable[[], Result]:
    compiled = weft.jit(chain.process_all, fallback="error")

    def run() -> Result:
        weft.set_num_threads(threads)
        result: Result = compiled(data, *tools)
        return result

    return run


def main() -> int:
    """Measure, check that all agree, and print."""
    chosen = _options()
    scene = Scene(channels=chosen.channels, pulses=chosen.pulses, samples=chosen.samples)
    data, tools = cubes.cubes(scene, chosen.cubes), cubes.tools(scene)
    threads = weft.get_num_threads()
    ways: dict[str, Callable[[], Result]] = {
        "NumPy": lambda: chain.process_all(data, *tools),
        "weft, 1 thread": _compiled(data, tools, 1),
        f"weft, {threads} threads": _compiled(data, tools, threads),
    }
    if not chosen.without_ray:
        weft.cluster.connect(num_cpus=chosen.workers, least_seconds=0.0)
        weft.cluster.put(np.zeros(1))  # starts Ray, which the code by hand uses, too
        ways[f"Ray by hand, {chosen.workers} workers"] = _by_hand(data, tools)
        ways[f"weft on Ray, {chosen.workers} workers"] = _distributed(data, tools)
    rates = {name: chosen.cubes / seconds for name, seconds in _best(ways, chosen.repeats).items()}
    print()
    for name in rates:
        print(f"{name:24} {rates[name]:8.2f} cubes/s  {rates[name] / rates['NumPy']:6.2f}x", flush=True)
    if not chosen.without_ray:
        weft.cluster.shutdown()
    if chosen.json is not None:
        kept = {"scene": {**vars(chosen), "json": None}, "cubes_per_second": rates}
        chosen.json.write_text(json.dumps(kept, indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
