"""The simulator against the clock, `python -m benchmarks.cluster_model`. In come numbers of ranks; out comes a table of
predicted and measured times of a few kernels on MPI ranks of this machine, one core each; with `--weak` the predicted
weak scaling of the kernels and sizes of `weak_scaling`, as a table and a picture.

Ranks share a machine, so each number of ranks is a machine of its own: all ranks measure their rates, messages between
two of them and what an empty stage costs, at the same time. How fast a kernel computes on one rank is measured, too; by
how much that changes with the rates, and what is sent, is predicted.
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
_LARGE, _SMALL, _MESSAGES = 1 << 20, 8, 20
#: Short calls, many times: the least of them was not disturbed.
_REPEATS = 40
#: A prediction should be within this factor of what is measured.
WITHIN = 1.5


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
        best = float("inf")
        for _ in range(_MESSAGES):
            world.Barrier()
            start = perf_counter()
            if other < world.size:
                world.Sendrecv(mine, other, recvbuf=theirs, source=other)
            best = min(best, perf_counter() - start)
        return best

    short, long = seconds(_SMALL), seconds(_LARGE)
    return {"latency": short * 1e6, "network": _LARGE / max(long - short, 1e-9) * 1e-9}


def _on_rank(path: Path, size: int) -> None:
    from mpi4py import MPI

    import weft
    from weft.cluster.measure import this_machine

    world = MPI.COMM_WORLD
    world.Barrier()

    def timed(function: Callable[..., Any], arguments: tuple[Any, ...]) -> float:
        compiled = weft.jit(function, target="mpi", fallback="error")
        # Shares of arrays stay on the ranks from call to call, as in a program that goes on.
        given = tuple(weft.distribute(v) if isinstance(v, np.ndarray) else v for v in arguments)
        compiled(*given)
        best = float("inf")
        for _ in range(_REPEATS):
            world.Barrier()
            start = perf_counter()
            compiled(*given)
            world.Barrier()
            best = min(best, perf_counter() - start)
        return float(world.allreduce(best, op=MPI.MAX))

    own = {**this_machine(working=32 * size * size // world.size), **_messages(world)}
    own["stage"] = timed(scale, (np.ones((64, 2)), np.ones((64, 2)))) * 1e6
    gathered = world.gather(own)
    times = {name: timed(function, arguments(size)) for name, (function, arguments) in KERNELS.items()}
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
    parser.add_argument("--size", type=int, default=500, help="of the matrices of products; the others are twice that")
    parser.add_argument("--weak", action="store_true", help="predict weak scaling to 512 nodes instead")
    parser.add_argument("--picture", type=Path, help="a file for the picture of weak scaling")
    parser.add_argument("--json", type=Path, help="a file for the numbers")
    parser.add_argument("--on-rank", type=Path, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.on_rank is not None:
        _on_rank(chosen.on_rank, chosen.size)
        return 0
    counts = [int(word) for word in chosen.ranks.split(",")]
    rows = _weak(chosen.picture) if chosen.weak else compare(counts, chosen.size)
    if chosen.json is not None:
        chosen.json.write_text(json.dumps(rows, indent=1))
    return 0


def compare(counts: list[int], size: int) -> list[dict[str, Any]]:
    """A row for each kernel and number of ranks but one, which the pace of each kernel is taken from."""
    from weft.cluster.charts import seconds
    from weft.cluster.simulate import Machine, pace_of, plan_of, predict

    plans = {name: plan_of(function, arguments(size)) for name, (function, arguments) in KERNELS.items()}
    alone = _measured(1, size)
    first = Machine(**alone["machine"])
    paces = {name: pace_of(*plans[name], first, alone["times"][name]) for name in KERNELS}
    print(f"one core: {first.gflops:.3g} GFLOP/s, {first.memory:.3g} GB/s, a stage {first.stage:.0f} us")
    print(f"{'kernel':10} {'ranks':>5} {'measured':>10} {'predicted':>10} {'ratio':>6} {'of rates alone':>15}")
    rows = []
    for ranks in counts:
        found = alone if ranks == 1 else _measured(ranks, size)
        machine = Machine(**found["machine"])
        for name, measured in found["times"].items():
            predicted = predict(*plans[name], machine, ranks, pace=paces[name]).seconds
            plain = predict(*plans[name], machine, ranks).seconds
            rows.append({"kernel": name, "ranks": ranks, "measured": measured, "predicted": predicted, "plain": plain})
            times = f"{seconds(measured):>10} {seconds(predicted):>10}"
            print(f"{name:10} {ranks:5} {times} {predicted / measured:6.2f} {plain / measured:15.2f}", flush=True)
    several = [row for row in rows if row["ranks"] > 1]
    near = sum(1 / WITHIN <= row["predicted"] / row["measured"] <= WITHIN for row in several)
    if several:
        print(f"{near} of {len(several)} predictions for several ranks within a factor of {WITHIN}")
    return rows


def _weak(path: Path | None) -> list[dict[str, Any]]:
    from benchmarks import weak_scaling

    found = {name: weak_scaling.predicted(case) for name, case in weak_scaling.CASES.items()}
    print(weak_scaling.table(found))
    if path is not None:
        weak_scaling.picture(found, path)
    return [
        {"kernel": name, "processes": prediction.nodes, "seconds": prediction.seconds, "efficiency": value}
        for name, predictions in found.items()
        for prediction, value in zip(predictions, weak_scaling.efficiency(predictions))
    ]


if __name__ == "__main__":
    sys.exit(main())
