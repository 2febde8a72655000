"""Where and with what a run was made. Out come the machine's description, its measured limits, the versions of the
frameworks and the commit; and the fraction of the limit that a time is.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.harness.environment import ROOT, variables
from benchmarks.harness.limits import bandwidth_at
from benchmarks.harness.model import Work

_QUESTION = "import importlib.metadata as m, sys; print(m.version(sys.argv[1]))"


def description() -> dict[str, Any]:
    return {
        "system": platform.platform(),
        "processor": _processor(),
        "processors": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "memory": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") if hasattr(os, "sysconf") else None,
        "python": platform.python_version(),
        "load": os.getloadavg()[0] if hasattr(os, "getloadavg") else None,
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.machine())


def limits(threads: int, *options: str) -> dict[str, Any]:
    """The machine's limits, measured in a process of its own; empty if that fails."""
    return dict(_asked([sys.executable, "-m", "benchmarks.harness.limits", *options], threads) or {})


def larger(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    """Of two measurements of the limits, the larger number of each."""
    if not one or not other:
        return dict(one or other)
    rates = {size: max(rate, other["bandwidth"].get(size, 0.0)) for size, rate in one["bandwidth"].items()}
    return {"bandwidth": rates, **{name: max(one[name], other[name]) for name in ("double", "single")}}


def work(kernel: str, size: str) -> Work | None:
    """What a kernel has to do, counted in a process of its own."""
    found = _asked([sys.executable, "-m", "benchmarks.harness.work", kernel, size], 1)
    return Work(**found) if found else None


def _asked(command: list[str], threads: int) -> dict[str, Any] | None:
    with tempfile.TemporaryDirectory(prefix="weft-bench-") as scratch:
        environment = variables("weft", threads, Path(scratch), ROOT, Path(sys.executable))
        try:
            done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=180)
        except subprocess.TimeoutExpired:
            return None
    found: dict[str, Any] | None = json.loads(done.stdout.splitlines()[-1]) if done.returncode == 0 else None
    return found


def versions(pythons: Mapping[str, str]) -> dict[str, str]:
    """The version of each package in the interpreter that has it."""
    found = {}
    for package, python in pythons.items():
        done = subprocess.run([python, "-c", _QUESTION, package], capture_output=True, text=True)
        if done.returncode == 0:
            found[package] = done.stdout.strip()
    return found


def commit(tree: Path = ROOT) -> str:
    """The commit of a tree, marked if files differ from it; empty outside of git."""
    name = _git(tree, "rev-parse", "--short", "HEAD")
    return name + "+changes" if name and _git(tree, "status", "--porcelain", "--untracked-files=no") else name


def _git(tree: Path, *arguments: str) -> str:
    try:
        done = subprocess.run(["git", "-C", str(tree), *arguments], capture_output=True, text=True)
    except OSError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def bound(work: Work, limits: Mapping[str, Any]) -> float | None:
    """The least seconds that the machine's limits allow for this work."""
    if not limits:
        return None
    moving = work.bytes / bandwidth_at(limits["bandwidth"], work.bytes)
    computing = (work.operations or 0.0) / limits["single" if work.single else "double"]
    return float(max(moving, computing))


def fraction(work: Work | None, limits: Mapping[str, Any], seconds: float | None) -> float | None:
    """How much of the machine's limit a time reaches."""
    if work is None or seconds is None:
        return None
    least = bound(work, limits)
    return None if least is None else least / seconds
