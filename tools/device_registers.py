"""Registers, spills and shared memory of weft's CUDA kernels, as the assembler tells them.

    python -m tools.device_registers [--kernels gemm,softmax] [--arch sm_80,sm_90] [--size S] [--markdown]

For each kernel of the benchmarks: its CUDA text goes through `nvcc -Xptxas -v` for each architecture.  No device is
needed.  A warning of the compiler counts as an error.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.kernels import NAMES, load
from weft import pipeline
from weft.device.dialect import CUDA
from weft.device.plan import Refused
from weft.device.split import planned
from weft.errors import CompileError, Unsupported
from weft.frontend.source import load as source_of
from weft.frontend.specs import specs_of
from weft.options import Options

_ENTRY = re.compile(r"Compiling entry function '(\w+)'")
_SPILLS = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
_USED = re.compile(r"Used (\d+) registers")
_SHARED = re.compile(r"(\d+) bytes smem")


@dataclass(frozen=True)
class Usage:
    """What one kernel takes on one architecture."""

    kernel: str
    registers: int
    spilled: int
    shared: int


def cuda_text(function: Any, arguments: tuple[Any, ...]) -> str:
    """The CUDA text of a function for arguments like these; empty if it has no kernels."""
    compiled = pipeline.front(source_of(function), specs_of(arguments), arguments, Options(), True, lower=False)
    plan = planned(compiled.program_optimised, Options(), [], True, True)
    return CUDA.unit(plan.helpers, plan.kernels) if plan.kernels else ""


def usages(text: str, architecture: str, compiler: str = "nvcc") -> list[Usage]:
    """What nvcc's assembler says of each kernel of a text."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "kernels.cu"
        path.write_text(text, encoding="utf-8")
        flags = [f"-arch={architecture}", "-cubin", "-fmad=false", "-Xptxas", "-v", "-Werror", "all-warnings"]
        command = [compiler, *flags, "-o", str(path.with_suffix(".cubin")), str(path)]
        done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr.splitlines()[0] if done.stderr else "nvcc failed")
    return parsed(done.stderr + done.stdout)


def parsed(log: str) -> list[Usage]:
    """The assembler's log as numbers."""
    found: list[Usage] = []
    name, spilled = "", 0
    for line in log.splitlines():
        if (entry := _ENTRY.search(line)) is not None:
            name, spilled = entry[1], 0
        elif (spills := _SPILLS.search(line)) is not None:
            spilled = int(spills[2]) + int(spills[3])
        elif (used := _USED.search(line)) is not None and name:
            shared = _SHARED.search(line)
            found.append(Usage(name, int(used[1]), spilled, int(shared[1]) if shared else 0))
    return found


def _row(name: str, size: str, architectures: list[str]) -> list[str]:
    benchmark = load(name)
    try:
        text = cuda_text(benchmark.plain, tuple(benchmark.arguments(size)))
    except (Refused, Unsupported, CompileError) as problem:
        return [name, f"none: {str(problem)[:60]}"]
    if not text:
        return [name, "none"]
    cells: list[str] = []
    for architecture in architectures:
        found = usages(text, architecture)
        registers = max(usage.registers for usage in found)
        cells += [str(registers), str(sum(usage.spilled for usage in found)), str(max(u.shared for u in found))]
        count = len(found)
    return [name, str(count), *cells]


def main(given: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kernels", default="", help="comma-separated; default: all of benchmarks/kernels")
    parser.add_argument("--arch", default="sm_80,sm_90")
    parser.add_argument("--size", default="tiny")
    parser.add_argument("--markdown", action="store_true")
    parsed_arguments = parser.parse_args(given)
    if shutil.which("nvcc") is None:
        print("nvcc is not installed: nothing to measure", file=sys.stderr)
        return 1
    architectures = parsed_arguments.arch.split(",")
    columns = ["kernel", "kernels"]
    for architecture in architectures:
        columns += [f"{architecture} registers", "bytes spilled", "bytes shared"]
    lines = [columns]
    for name in parsed_arguments.kernels.split(",") if parsed_arguments.kernels else NAMES:
        lines.append(_row(name, parsed_arguments.size, architectures))
    if parsed_arguments.markdown:
        lines.insert(1, ["---"] * len(columns))
        print("\n".join(f"| {' | '.join(line)} |" for line in lines))
    else:
        print("\n".join("".join(f"{cell:<18}" for cell in line) for line in lines))
    return 0


if __name__ == "__main__":
    sys.exit(main())
