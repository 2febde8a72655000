"""The simulator against the clock, `python -m benchmarks.cluster_model`. In come numbers of ranks; out comes a table of
predicted and measured times of a few kernels on MPI ranks of this machine, one core each.

Ranks share a machine, so each number of ranks is a machine of its own: all ranks measure their rates at the same time,
and messages between two of them, and the prediction starts from that.
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
from time import perf_counter
from typing import Any

import numpy as np

Kernel = tuple[Callable[..., Any], Callable[[int], tuple[Any, ...]]]
_LARGE, _SMALL, _MESSAGES = 8 << 20, 8, 50
_REPEATS = 5


def scale(x, y):
    return 2.0 * x + np.sqrt(y)


def jacobi(a, b, steps):
    for _ in range(steps):
        b[1:-1, 1:-1] = 0.2 * (a[1:-1, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:] + a[2:, 1:-1] + a[:-2, 1:-1])
        a[1:-1, 1:-1] = 0.2 * (b[1:-1, 1:-1] + b[1:-1, :-2] + b[1:-1, 2:] + b[2:, 1:-1] + b[:-2, 1:-1])


def twice(a, x):
    return (a @ x) @ a


def product(a, b):
    return a @ b


def _square(n: int, count: int) -> tuple[Any, ...]:
    return tuple(np.random.default_rng(seed).random((n, n)) for seed in range(count))


KERNELS: dict[str, Kernel] = {
    "scale": (scale, lambda n: _square(2 * n, 2)),
    "jacobi": (jacobi, lambda n: (*_square(2 * n, 2), 20)),
    "twice": (twice, lambda n: (*_square(2 * n, 1), np.ones(2 * n))),
    "product": (product, lambda n: _square(n, 2)),
}


# --- on every rank ----------------------------------------------------------------------------------------------------


def _messages(world: Any) -> dict[str, float]:
    """GB/s and microseconds of messages between the first two ranks, all pairs busy at the same time."""
    if world.size == 1:
        return {}
    other = world.rank ^ 1

    def seconds(size: int) -> float:
        mine, theirs = np.zeros(size, np.uint8), np.zeros(size, np.uint8)
        world.Barrier()
        start = perf_counter()
        for _ in range(_MESSAGES):
            if other < world.size:
                world.Sendrecv(mine, other, recvbuf=theirs, source=other)
        return (perf_counter() - start) / _MESSAGES

    short, long = seconds(_SMALL), seconds(_LARGE)
    return {"latency": short * 1e6, "network": _LARGE / max(long - short, 1e-9) * 1e-9}


def _on_rank(path: Path, size: int) -> None:
    from mpi4py import MPI

    import weft
    from weft.cluster.measure import this_machine

    world = MPI.COMM_WORLD
    world.Barrier()
    own = {**this_machine(), **_messages(world)}
    gathered = world.gather(own)
    times: dict[str, float] = {}
    for name, (function, arguments) in KERNELS.items():
        compiled = weft.jit(function, target="mpi", fallback="error")
        # Shares of arrays stay on the ranks from call to call, as in a program that goes on.
        given = tuple(weft.distribute(v) if isinstance(v, np.ndarray) else v for v in arguments(size))
        compiled(*given)
        best = float("inf")
        for _ in range(_REPEATS):
            world.Barrier()
            start = perf_counter()
            compiled(*given)
            world.Barrier()
            best = min(best, perf_counter() - start)
        times[name] = world.allreduce(best, op=MPI.MAX)
    if world.rank == 0:
        assert gathered is not None
        machine = {key: sum(one[key] for one in gathered) / len(gathered) for key in gathered[0]}
        path.write_text(json.dumps({"machine": {**machine, "cores": 1}, "times": times}))


# --- the table --------------------------------------------------------------------------------------------------------


def _measured(ranks: int, size: int) -> dict[str, Any]:
    launcher = Path(sys.executable).with_name("mpiexec")
    program = str(launcher) if launcher.exists() else shutil.which("mpiexec")
    if program is None:
        raise SystemExit("there is no mpiexec: pip install 'weft[mpi]'")
    environment = {
        **os.environ, "WEFT_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "OMPI_MCA_mpi_yield_when_idle": "1",
        "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    }  # fmt: skip
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "found.json"
        command = [program, "--oversubscribe", "-n", str(ranks), sys.executable, "-m", "benchmarks.cluster_model",
                   "--size", str(size), "--on-rank", str(path)]  # fmt: skip
        subprocess.run(command, check=True, env=environment, timeout=600)
        found: dict[str, Any] = json.loads(path.read_text())
        return found


def main() -> int:
    """Measure, predict and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cluster_model", description=__doc__)
    parser.add_argument("--ranks", default="1,2,3,4")
    parser.add_argument("--size", type=int, default=1000, help="of the matrices of products; the others are twice that")
    parser.add_argument("--on-rank", type=Path, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.on_rank is not None:
        _on_rank(chosen.on_rank, chosen.size)
        return 0
    from weft.cluster.charts import seconds
    from weft.cluster.simulate import Machine, plan_of, predict

    plans = {name: plan_of(function, arguments(chosen.size)) for name, (function, arguments) in KERNELS.items()}
    print(f"{'kernel':10} {'ranks':>5} {'measured':>10} {'predicted':>10} {'ratio':>6}")
    for ranks in (int(word) for word in chosen.ranks.split(",")):
        found = _measured(ranks, chosen.size)
        machine = Machine(**found["machine"])
        for name, measured in found["times"].items():
            predicted = predict(*plans[name], machine, ranks).seconds
            print(f"{name:10} {ranks:5} {seconds(measured):>10} {seconds(predicted):>10} {predicted / measured:6.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
