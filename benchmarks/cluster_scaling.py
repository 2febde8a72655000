"""Weak scaling on MPI ranks of this machine, `python -m benchmarks.cluster_scaling`. In come sizes for one rank; out
comes a table (and JSON): seconds on one rank of one thread, seconds on two ranks with twice the work, the efficiency,
and what the machine itself allows.

What it allows is measured on the same ranks in the same run: how fast a rank multiplies matrices (or adds long arrays)
while the other one does the same, over how fast it does so alone. Arrays are spread before the clock starts.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

# Before NumPy: every rank computes on one core.
os.environ.update(OPENBLAS_NUM_THREADS="1", WEFT_NUM_THREADS="1")

import numpy as np

import weft
from benchmarks.cluster import _limits, _random, best
from benchmarks.weak_scaling import atax, bicg, doitgen, gemm, gemver, gesummv, jacobi_1d, jacobi_2d, k2mm, k3mm, mvt

RANKS = (1, 2)


def _squares(count: int, n: int) -> tuple[Any, ...]:
    return tuple(_random(n, n) for _ in range(count))


def _vectors(count: int, n: int) -> tuple[Any, ...]:
    return tuple(_random(n) for _ in range(count))


def _root(n: int, ranks: int, power: float) -> int:
    """A size with which work that grows by a power of it is so many times as much, a multiple of 24."""
    return max(round(n * ranks ** (1 / power) / 24), 1) * 24


#: The function, its arguments for a size and a number of ranks, and which limit binds it.
KERNELS: dict[str, tuple[Callable[..., Any], Callable[[int, int], tuple[Any, ...]], str]] = {
    "doitgen": (doitgen, lambda n, p: (_random(n // 4 * p, n // 4, n // 4), _random(n // 4, n // 4)), "products"),
    "atax": (atax, lambda n, p: (_random(m := _root(4 * n, p, 2), m), _random(m)), "memory"),
    "bicg": (bicg, lambda n, p: (_random(m := _root(4 * n, p, 2), m), *_vectors(2, m)), "memory"),
    "gemver": (gemver, lambda n, p: (1.5, 1.2, _random(m := _root(3 * n, p, 2), m), *_vectors(8, m)), "memory"),
    "gesummv": (gesummv, lambda n, p: (1.5, 1.2, *_squares(2, m := _root(3 * n, p, 2)), _random(m)), "memory"),
    "mvt": (mvt, lambda n, p: (*_vectors(4, m := _root(4 * n, p, 2)), _random(m, m)), "memory"),
    "jacobi_1d": (jacobi_1d, lambda n, p: (21, *_vectors(2, 4000 * n * p)), "memory"),
    "jacobi_2d": (jacobi_2d, lambda n, p: (21, *_squares(2, _root(2 * n, p, 2))), "memory"),
    "gemm": (gemm, lambda n, p: (1.5, 1.2, *_squares(3, _root(2 * n, p, 3))), "products"),
    "2mm": (k2mm, lambda n, p: (1.5, 1.2, *_squares(4, _root(3 * n // 2, p, 3))), "products"),
    "3mm": (k3mm, lambda n, p: _squares(4, _root(3 * n // 2, p, 3)), "products"),
}


def _on_rank(chosen: argparse.Namespace) -> None:
    """All kernels on the ranks of this run."""
    from mpi4py import MPI

    world = MPI.COMM_WORLD
    world.Barrier()
    limits = world.allgather(_limits("", chosen.size, 3 * chosen.repeats))
    seconds: dict[str, float] = {}
    for name in chosen.kernels.split(","):
        function, arguments, _ = KERNELS[name]
        compiled = weft.jit(function, target="mpi", fallback="error")
        plain = arguments(chosen.size, world.size)
        given = tuple(weft.distribute(v) if isinstance(v, np.ndarray) else v for v in plain)
        del plain

        def call() -> None:
            compiled(*given)
            world.Barrier()

        seconds[name] = float(world.allreduce(best(call, chosen.repeats), op=MPI.MAX))
    if world.rank == 0:
        allowed = {kind: sum(one[kind] for one in limits) / world.size for kind in limits[0]}
        chosen.into.write_text(json.dumps({"limits": allowed, "seconds": seconds}))


def _measure(ranks: int, chosen: argparse.Namespace) -> dict[str, dict[str, float]]:
    beside = Path(sys.executable).with_name("mpiexec")
    program = str(beside) if beside.exists() else shutil.which("mpiexec")
    if program is None:
        raise SystemExit("there is no mpiexec: pip install 'weft[mpi]'")
    environment = {
        **os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMP_NUM_THREADS": "1",
    }  # fmt: skip
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "found.json"
        command = [program, "--oversubscribe", "-n", str(ranks), sys.executable, "-m", "benchmarks.cluster_scaling",
                   "--into", str(path), "--size", str(chosen.size), "--repeats", str(chosen.repeats),
                   "--kernels", chosen.kernels]  # fmt: skip
        subprocess.run(command, check=True, env=environment, timeout=600)
        found: dict[str, dict[str, float]] = json.loads(path.read_text())
        return found


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cluster_scaling", description=__doc__)
    parser.add_argument("--size", type=int, default=1000, help="matrices of one rank have a few times as many rows")
    parser.add_argument("--repeats", type=int, default=4)
    parser.add_argument("--kernels", default=",".join(KERNELS))
    parser.add_argument("--json", type=Path, help="a file for the numbers")
    parser.add_argument("--into", type=Path, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.into is not None:
        _on_rank(chosen)
        return 0
    alone, both = (_measure(ranks, chosen) for ranks in RANKS)
    allowed = {kind: alone["limits"][kind] / both["limits"][kind] for kind in alone["limits"]}
    print(f"a rank beside another: products {allowed['products']:.0%}, memory {allowed['memory']:.0%} of one alone\n")
    print(f"{'kernel':10} {'bound by':9} {'1 rank':>10} {'2 ranks':>10} {'efficiency':>11} {'of allowed':>11}")
    for name in chosen.kernels.split(","):
        one, two = alone["seconds"][name], both["seconds"][name]
        kind = KERNELS[name][2]
        times = f"{one * 1e3:8.1f} ms {two * 1e3:8.1f} ms"
        print(f"{name:10} {kind:9} {times} {one / two:10.0%} {one / two / allowed[kind]:11.0%}")
    if chosen.json is not None:
        found = {"allowed": allowed, "seconds": {"1": alone["seconds"], "2": both["seconds"]}}
        chosen.json.write_text(json.dumps(found, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
