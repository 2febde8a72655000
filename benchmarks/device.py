"""Devices: weft's kernels on an OpenCL device against weft's own C on the processor, and a roofline of accelerators.

    python -m benchmarks.device [--size S] [--budget 240] [--kernels gemm,softmax] [--json FILE]

For each kernel: a call of weft's C; a call on the device, with the copies each way; the time in its kernels alone, by
the device's clock (on PoCL transfers are copies, so they count apart); launches and bytes of the call. `ratio` is
C / kernels: above 1 the device is faster. Then what one call of a function on resident arrays costs beside its kernel,
and predicted times for two published accelerators, from their data sheets: **predictions**, nothing was run there.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import warnings
from time import perf_counter
from typing import Any

import numpy as np

import weft
from benchmarks.kernels import NAMES, load
from weft.device import costs
from weft.errors import FallbackWarning

_ROUNDS = 5


def _best(function: Any, arguments: Any, seconds: float) -> float:
    """The least time of a call, arguments new each time, within a limit."""
    times: list[float] = []
    end = perf_counter() + seconds
    while len(times) < _ROUNDS and (not times or perf_counter() < end):
        given = arguments()
        start = perf_counter()
        function(*given)
        times.append(perf_counter() - start)
    return min(times)


def measured(name: str, size: str, seconds: float) -> dict[str, Any]:
    """One row of the table."""
    benchmark = load(name)
    here = weft.jit(benchmark.plain, fallback="silent")
    there = weft.jit(benchmark.plain, target="opencl", fallback="silent")
    there(*benchmark.arguments(size))
    versions = [version for version in there.versions() if version.last is not None]
    if not versions:
        return {"kernel": name, "reason": next(iter(there._refused.values()), "its guards do not hold")}
    here(*benchmark.arguments(size))
    row: dict[str, Any] = {"kernel": name, "c": _best(here, lambda: benchmark.arguments(size), seconds)}
    version, inside = versions[-1], []

    def timed(*given: Any) -> None:
        there(*given)
        inside.append(sum(version.last.seconds().values()) * version.last.launches / max(len(version.last.events), 1))

    row["call"] = _best(timed, lambda: benchmark.arguments(size), seconds)
    row["kernels"], counts = min(inside), version.last
    row |= {"launches": counts.launches, "sent": counts.sent, "fetched": counts.fetched}
    for device, rates in costs.PUBLISHED.items():
        row[device] = costs.predicted(version.plan, version.extra.numbers, rates).total
    return row


def _resident(a: Any, b: Any) -> Any:
    return a * 2 + b * b - 1


def overhead(calls: int = 300) -> float:
    """Seconds of a call on small arrays that are on the device and stay there."""
    compiled = weft.jit(_resident, target="opencl", fallback="error")
    a, b = weft.device.put(np.ones(16)), weft.device.put(np.ones(16))
    compiled(a, b)
    times = []
    for _ in range(5):
        start = perf_counter()
        for _ in range(calls):
            compiled(a, b)
        times.append((perf_counter() - start) / calls)
    return min(times)


def launch_overhead(calls: int = 300) -> float:
    """Seconds of one more launch inside a call, beside its kernel: steps of a stencil, too large for one kernel."""

    def smooth(a: Any, n: int) -> None:
        for _ in range(n):
            a[1:-1] = (a[:-2] + a[2:]) * 0.5

    compiled = weft.jit(smooth, target="opencl", fallback="error")
    there = weft.device.put(np.ones(8192))
    compiled(there, calls)
    times = []
    for _ in range(5):
        start = perf_counter()
        compiled(there, calls)
        there.get()  # waits for the last of them
        taken = perf_counter() - start
        counts = compiled.versions()[0].last
        inside = sum(counts.seconds().values()) / max(len(counts.events), 1)
        times.append(taken / counts.launches - inside)
    return max(min(times), 0.0)


def _shown(rows: list[dict[str, Any]]) -> None:
    print(f"{'kernel':<18}{'C ms':>9}{'call ms':>9}{'kernels':>9}{'ratio':>7}{'launches':>9}{'sent':>11}{'back':>11}")
    for row in rows:
        if "reason" in row:
            print(f"{row['kernel']:<18} on the CPU: {row['reason'][:90]}")
            continue
        times = "".join(f"{row[key] * 1e3:>9.3g}" for key in ("c", "call", "kernels"))
        ratio = row["c"] / max(row["kernels"], 1e-9)
        print(f"{row['kernel']:<18}{times}{ratio:>7.2f}{row['launches']:>9}{row['sent']:>11}{row['fetched']:>11}")
    timed = [row for row in rows if "c" in row]
    if timed:
        for key, told in (("kernels", "in kernels"), ("call", "of calls, with transfers")):
            mean = math.exp(sum(math.log(row["c"] / max(row[key], 1e-9)) for row in timed) / len(timed))
            print(f"geometric mean of C / device {told}: {mean:.2f} over {len(timed)} kernels")


def _predictions(rows: list[dict[str, Any]]) -> None:
    print("\npredictions by a roofline of published rates, transfers included (ms); nothing was run on these devices")
    names = list(costs.PUBLISHED)
    print(f"{'kernel':<18}" + "".join(f"{name:>30}" for name in names))
    for row in rows:
        if "c" in row:
            print(f"{row['kernel']:<18}" + "".join(f"{row[name] * 1e3:>30.3g}" for name in names))


def main(given: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", default="S")
    parser.add_argument("--budget", type=float, default=240.0, help="seconds for all kernels")
    parser.add_argument("--kernels", default="", help="comma-separated; default: all")
    parser.add_argument("--json", default="")
    parsed = parser.parse_args(given)
    warnings.simplefilter("ignore", FallbackWarning)
    names = parsed.kernels.split(",") if parsed.kernels else list(NAMES)
    rows: list[dict[str, Any]] = []
    end = perf_counter() + parsed.budget
    for name in names:
        if perf_counter() > end:
            print(f"left out, the budget is spent: {', '.join(names[len(rows) :])}", file=sys.stderr)
            break
        rows.append(measured(name, parsed.size, 0.3))
    _shown(rows)
    resident, launch = overhead() * 1e6, launch_overhead() * 1e6
    print(f"\na call on resident arrays: {resident:.0f} us; one more launch in a call: {launch:.0f} us")
    _predictions(rows)
    if parsed.json:
        with open(parsed.json, "w", encoding="utf-8") as file:
            json.dump({"rows": rows, "resident_us": resident, "launch_us": launch}, file, indent=1)
    return 0


if __name__ == "__main__":
    sys.exit(main())
