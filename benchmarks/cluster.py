"""Two workers of one core each against one core, `python -m benchmarks.cluster`. In come sizes; out comes a table (and
JSON): seconds of a call on one core, with `target="ray"`, with `target="mpi"` and with Dask's arrays on two workers.

Data is with the workers before the clock starts and results stay there, as in a program that goes on; the clock stops
when all of them are made. What the machine itself gains from a second core is measured in the same run: products of
matrices for what computes, a sum of two long arrays for what waits for memory.
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

# Before NumPy: every worker computes on one core.
os.environ.update(OPENBLAS_NUM_THREADS="1", WEFT_NUM_THREADS="1")

import numpy as np

import weft
from benchmarks.cluster_model import jacobi

WORKERS = 2
ENGINES = ("one core", "ray", "mpi", "dask")


def softmax(x):
    raised = np.exp(x - np.max(x, axis=1, keepdims=True))
    return raised / np.sum(raised, axis=1, keepdims=True)


def gemm(a, b):
    return a @ b


def doitgen(a, c):
    return a @ c


def atax(a, x):
    return (a @ x) @ a


def _random(*shape: int) -> Any:
    return np.random.default_rng(5).random(shape)


#: The function, its arguments for a size, and which limit binds it.
KERNELS: dict[str, tuple[Callable[..., Any], Callable[[int], tuple[Any, ...]], str]] = {
    "gemm": (gemm, lambda n: (_random(2 * n, 2 * n), _random(2 * n, 2 * n)), "products"),
    "doitgen": (doitgen, lambda n: (_random(n // 4, n // 4, n // 4), _random(n // 4, n // 4)), "products"),
    "softmax": (softmax, lambda n: (_random(8 * n, 2 * n),), "memory"),
    "atax": (atax, lambda n: (_random(6 * n, 4 * n), _random(4 * n)), "memory"),
    "jacobi_2d": (jacobi, lambda n: (_random(3 * n, 3 * n), _random(3 * n, 3 * n), 10), "memory"),
}


def best(action: Callable[[], Any], repeats: int) -> float:
    """The least time of a few calls, after others that have compiled and have brought memory to where it stays.

    How many others must not depend on the clock: ranks call together.
    """
    for _ in range(1 + repeats):
        action()
    times = []
    for _ in range(repeats):
        start = perf_counter()
        action()
        times.append(perf_counter() - start)
    return min(times)


# --- the engines, each in processes of its own ------------------------------------------------------------------------


def _on_one_core(name: str, size: int, repeats: int) -> float:
    function, arguments, _ = KERNELS[name]
    compiled, given = weft.jit(function, fallback="error"), arguments(size)
    return best(lambda: compiled(*given), repeats)


def _on_ray(name: str, size: int, repeats: int) -> float:
    import ray

    if not ray.is_initialized():
        weft.cluster.connect(num_cpus=WORKERS, least_seconds=0, object_store_memory=4 << 30)
    function, arguments, _ = KERNELS[name]
    compiled = weft.jit(function, target="ray", fallback="error")
    given = tuple(weft.cluster.put(v) if isinstance(v, np.ndarray) else v for v in arguments(size))

    def call() -> None:
        result = compiled(*given)
        changed = [value for value in given if isinstance(value, weft.cluster.lazy.ClusterArray)]
        for array in [result] if result is not None else changed:
            handles = [p.handle for p in array._spread.pieces if not isinstance(p.handle, np.ndarray)]
            ray.wait(handles, num_returns=len(handles))

    return best(call, repeats)


def _on_mpi(name: str, size: int, repeats: int) -> float:
    from mpi4py import MPI

    world = MPI.COMM_WORLD
    function, arguments, _ = KERNELS[name]
    compiled = weft.jit(function, target="mpi", fallback="error")
    given = tuple(weft.distribute(v) if isinstance(v, np.ndarray) else v for v in arguments(size))

    def call() -> None:
        compiled(*given)
        world.Barrier()

    return float(world.allreduce(best(call, repeats), op=MPI.MAX))


def _on_dask(name: str, size: int, repeats: int) -> float | None:
    """None for sweeps: the graph of their slices is not finished in minutes."""
    import dask
    import dask.array as da

    if name == "jacobi_2d":
        return None

    def exact(x: Any) -> Any:
        raised = da.exp(x - x.max(axis=1, keepdims=True))
        return raised / raised.sum(axis=1, keepdims=True)

    function, arguments, _ = KERNELS[name]
    lazily = exact if name == "softmax" else function
    given = arguments(size)
    with dask.config.set(scheduler="threads", num_workers=WORKERS):
        arrays = [
            da.from_array(v, chunks=(-(-len(v) // 4), *v.shape[1:])) if isinstance(v, np.ndarray) else v for v in given
        ]
        return best(lambda: dask.persist(lazily(*arrays)), repeats)


_RUNNERS = {"one core": _on_one_core, "ray": _on_ray, "mpi": _on_mpi, "dask": _on_dask}


def _limits(_: str, size: int, repeats: int) -> dict[str, float]:
    """Seconds of a product and of a sum of long arrays."""
    matrix, product = _random(size, size), np.empty((size, size))
    left, right, total = (np.ones(1 << 24) for _ in range(3))
    return {
        "products": best(lambda: np.dot(matrix, matrix, out=product), repeats),
        "memory": best(lambda: np.add(left, right, out=total), repeats),
    }


def _measure(engine: str, chosen: argparse.Namespace) -> Any:
    """One engine's column, in a process of its own."""
    launcher = Path(sys.executable).with_name("mpiexec")
    mpiexec = str(launcher) if launcher.exists() else shutil.which("mpiexec")
    environment = {
        **os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMP_NUM_THREADS": "1",
    }  # fmt: skip
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "found.json"
        command = [sys.executable, "-m", "benchmarks.cluster", "--engine", engine, "--into", str(path), "--size",
                   str(chosen.size), "--repeats", str(chosen.repeats), "--kernels", chosen.kernels]  # fmt: skip
        if engine == "mpi":
            if mpiexec is None:
                return {}
            command = [mpiexec, "--oversubscribe", "-n", str(WORKERS), *command]
        done = subprocess.run(command, env=environment, timeout=900, stderr=subprocess.PIPE, text=True)
        if done.returncode or not path.is_file():
            print(f"{engine}: {done.stderr.strip().splitlines()[-1:] or 'failed'}", file=sys.stderr)
            return {}
        return json.loads(path.read_text())


def _as_engine(chosen: argparse.Namespace) -> None:
    names = [name for name in chosen.kernels.split(",") if name in KERNELS]
    if chosen.engine == "limits":
        found: Any = _limits("", chosen.size, chosen.repeats)
    else:
        found = {name: _RUNNERS[chosen.engine](name, chosen.size, chosen.repeats) for name in names}
    if chosen.engine != "mpi" or weft.comm.rank() == 0:
        chosen.into.write_text(json.dumps(found))


def _ratios(chosen: argparse.Namespace) -> dict[str, float]:
    """How much more two cores do than one, of products and of memory."""
    alone = _measure("limits", chosen)
    command = [sys.executable, "-m", "benchmarks.cluster", "--engine", "limits", "--size", str(chosen.size),
               "--repeats", str(3 * chosen.repeats), "--into"]  # fmt: skip
    with tempfile.TemporaryDirectory() as directory:
        paths = [Path(directory) / str(number) for number in range(WORKERS)]
        running = [subprocess.Popen([*command, str(path)]) for path in paths]
        for process in running:
            process.wait(timeout=600)
        together = [json.loads(path.read_text()) for path in paths]
    return {kind: sum(alone[kind] / one[kind] for one in together) for kind in alone}


def _ratio(slower: float | None, faster: float | None, limit: float = 1.0) -> float | None:
    """How many times as fast, in parts of what is possible."""
    return slower / faster / limit if slower and faster else None


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cluster", description=__doc__)
    parser.add_argument("--size", type=int, default=1000, help="matrices have a few times as many rows")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--kernels", default=",".join(KERNELS))
    parser.add_argument("--json", type=Path, help="a file for the numbers")
    parser.add_argument("--engine", choices=(*ENGINES, "limits"), help=argparse.SUPPRESS)
    parser.add_argument("--into", type=Path, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.engine is not None:
        _as_engine(chosen)
        return 0
    ratios = _ratios(chosen)
    columns = {engine: _measure(engine, chosen) for engine in ENGINES}
    print(f"a second core: products {ratios['products']:.2f}x, memory {ratios['memory']:.2f}x\n")
    header = "".join(f"{engine:>12}{'':8}" for engine in ENGINES)
    print(f"{'kernel':10} {'bound by':9}{header} {'of the limit':>14} {'over dask':>14}")
    print(f"{'':10} {'':9}{'':{20 * len(ENGINES)}} {'ray':>7}{'mpi':>7} {'ray':>7}{'mpi':>7}")
    for name in chosen.kernels.split(","):
        one = columns["one core"].get(name)
        cells = []
        for engine in ENGINES:
            seconds = columns[engine].get(name)
            gain = f" {one / seconds:5.2f}x" if seconds and one else ""
            cells.append(f"{'-' if seconds is None else f'{seconds * 1e3:.1f} ms':>12}{gain:8}")
        bound = KERNELS[name][2]
        limit = [_ratio(one, columns[engine].get(name), ratios[bound]) for engine in ("ray", "mpi")]
        peer = [_ratio(columns["dask"].get(name), columns[engine].get(name)) for engine in ("ray", "mpi")]
        print(
            f"{name:10} {bound:9}" + "".join(cells)
            + " " + "".join("-".rjust(7) if value is None else f"{value:7.0%}" for value in limit)
            + " " + "".join("-".rjust(7) if value is None else f"{value:6.1f}x" for value in peer)
        )  # fmt: skip
    if chosen.json is not None:
        chosen.json.write_text(json.dumps({"limits": ratios, "seconds": columns}, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
