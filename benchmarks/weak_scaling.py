"""Weak scaling to 512 nodes, predicted. In come numbers of processes; out come times and efficiencies of the eleven
kernels that DaCe's authors ran on Piz Daint (SC'21, table 2 and figure 12), with their problem sizes, two processes a
node, and what they report.

The process is half a node of that machine: 18 cores of a Xeon E5-2695 v4, its memory, half of an Aries interface.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from weft.cluster.simulate import Machine, Prediction, plan_of, predict

#: Rates that such processors reach, not their peaks.
PROCESS = Machine(cores=18, gflops=480.0, arithmetic=60.0, memory=55.0, network=5.0, latency=2.0)
PROCESSES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)


def atax(a, x):
    return (a @ x) @ a


def bicg(a, p, r):
    return r @ a, a @ p


def doitgen(a, c):
    return a @ c


def gemm(alpha, beta, c, a, b):
    c[:] = alpha * (a @ b) + beta * c


def gemver(alpha, beta, a, u1, v1, u2, v2, w, x, y, z):
    a += np.outer(u1, v1) + np.outer(u2, v2)
    x += beta * (y @ a) + z
    w += alpha * (a @ x)


def gesummv(alpha, beta, a, b, x):
    return alpha * (a @ x) + beta * (b @ x)


def jacobi_1d(steps, a, b):
    for _ in range(1, steps):
        b[1:-1] = 0.33333 * (a[:-2] + a[1:-1] + a[2:])
        a[1:-1] = 0.33333 * (b[:-2] + b[1:-1] + b[2:])


def jacobi_2d(steps, a, b):
    for _ in range(1, steps):
        b[1:-1, 1:-1] = 0.2 * (a[1:-1, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:] + a[2:, 1:-1] + a[:-2, 1:-1])
        a[1:-1, 1:-1] = 0.2 * (b[1:-1, 1:-1] + b[1:-1, :-2] + b[1:-1, 2:] + b[2:, 1:-1] + b[:-2, 1:-1])


def k2mm(alpha, beta, a, b, c, d):
    d[:] = alpha * (a @ b) @ c + beta * d


def k3mm(a, b, c, d):
    return (a @ b) @ (c @ d)


def mvt(x1, x2, y1, y2, a):
    x1 += a @ y1
    x2 += y2 @ a


@dataclass(frozen=True)
class Case:
    """A kernel, its arguments by its sizes, the sizes for one process, by which power of the processes each grows, and
    what is reported of DaCe on 1024 processes."""

    function: Callable[..., Any]
    arguments: Callable[..., tuple[Any, ...]]
    sizes: tuple[int, ...]
    growth: tuple[float, ...]
    reported: str
    at_least: float


def _array(*shape: int) -> Any:
    """An array for the planner to look at: it takes no memory."""
    return np.broadcast_to(np.float64(1.0), shape)


def _vectors(count: int, n: int) -> tuple[Any, ...]:
    return tuple(_array(n) for _ in range(count))


#: The text of section 4.3: doitgen "close to perfect" ("up to 93.16 %" on 512 nodes), products with a vector "above
#: 60 % for all data points", products of matrices "lower", stencils "between the last two".
_VECTOR, _MATRIX, _STENCIL = ("above 60 %", 0.6), ("lower than those", 0.0), ("between", 0.0)
_ROOT, _CUBE = 1 / 2, 1 / 3
CASES: dict[str, Case] = {
    "atax": Case(atax, lambda m, n: (_array(m, n), _array(n)), (20000, 25000), (_ROOT, _ROOT), *_VECTOR),
    "bicg": Case(
        bicg, lambda m, n: (_array(m, n), _array(n), _array(m)), (25000, 20000), (_ROOT, _ROOT), *_VECTOR
    ),
    "doitgen": Case(
        doitgen, lambda r, q, p: (_array(r, q, p), _array(p, p)), (128, 512, 512), (1.0, 0.0, 0.0), "93.16 %", 0.9316
    ),
    "gemm": Case(
        gemm, lambda i, j, k: (1.5, 0.5, _array(i, j), _array(i, k), _array(k, j)),
        (8000, 9200, 5200), (_CUBE,) * 3, *_MATRIX,
    ),
    "gemver": Case(
        gemver, lambda n: (1.5, 0.5, _array(n, n), *_vectors(8, n)), (10000,), (_ROOT,), *_VECTOR
    ),
    "gesummv": Case(
        gesummv, lambda n: (1.5, 0.5, _array(n, n), _array(n, n), _array(n)), (22400,), (_ROOT,), *_VECTOR
    ),
    "jacobi_1d": Case(jacobi_1d, lambda t, n: (t, *_vectors(2, n)), (1000, 24000), (0.0, 1.0), *_STENCIL),
    "jacobi_2d": Case(
        jacobi_2d, lambda t, n: (t, _array(n, n), _array(n, n)), (1000, 1300), (0.0, _ROOT), *_STENCIL
    ),
    "k2mm": Case(
        k2mm, lambda i, j, k, m: (1.5, 0.5, _array(i, k), _array(k, j), _array(j, m), _array(i, m)),
        (6400, 7200, 4400, 4800), (_CUBE,) * 4, *_MATRIX,
    ),
    "k3mm": Case(
        k3mm, lambda i, j, k, l, m: (_array(i, k), _array(k, j), _array(j, m), _array(m, l)),
        (6400, 7200, 4000, 4400, 4800), (_CUBE,) * 5, *_MATRIX,
    ),
    "mvt": Case(mvt, lambda n: (*_vectors(4, n), _array(n, n)), (22000,), (_ROOT,), *_VECTOR),
}  # fmt: skip


def predicted(
    case: Case, processes: tuple[int, ...] = PROCESSES, machine: Machine = PROCESS
) -> tuple[Prediction, ...]:
    """The kernel on so many processes, with sizes that grow as the table says."""
    plan, sizes = plan_of(case.function, case.arguments(*case.sizes))
    growth = dict(zip(case.sizes, case.growth))
    return tuple(
        predict(
            plan,
            {name: round(value * count ** growth.get(int(value), 0.0)) for name, value in sizes.items()},
            machine,
            count,
        )
        for count in processes
    )


def efficiency(found: tuple[Prediction, ...]) -> list[float]:
    """Of every prediction, against the first."""
    return [found[0].seconds / prediction.seconds for prediction in found]


def table(found: Mapping[str, tuple[Prediction, ...]]) -> str:
    """A line for each kernel: the time on one process, efficiencies, what is reported."""
    from weft.cluster.charts import seconds

    shown = [count for count in PROCESSES if count in (1, 2, 8, 64, 256, 1024)][1:]
    lines = [f"{'kernel':10} {'1 process':>10}" + "".join(f"{count:>8}" for count in shown) + "  DaCe at 1024"]
    for name, predictions in found.items():
        by_count = {p.nodes: value for p, value in zip(predictions, efficiency(predictions))}
        cells = "".join(f"{by_count[count]:8.1%}" for count in shown)
        lines.append(f"{name:10} {seconds(predictions[0].seconds):>10}{cells}  {CASES[name].reported}")
    return "\n".join(lines)


def picture(found: Mapping[str, tuple[Prediction, ...]], path: Path) -> None:
    """Efficiencies over the number of processes, kernels of a kind together."""
    from matplotlib.figure import Figure

    kinds = {
        "products with a vector": ("atax", "bicg", "gemver", "gesummv", "mvt"),
        "products of matrices": ("doitgen", "gemm", "k2mm", "k3mm"),
        "stencils": ("jacobi_1d", "jacobi_2d"),
    }
    figure = Figure(figsize=(12, 4), layout="constrained")
    for plot, (title, names) in zip(figure.subplots(1, len(kinds), sharey=True), kinds.items()):
        for name in names:
            plot.semilogx(PROCESSES, [100 * value for value in efficiency(found[name])], base=2, marker="o", label=name)
        plot.set(xlabel="processes, two a node", title=title, ylim=(0, 105))
        plot.grid(alpha=0.3)
        if title == "products with a vector":
            plot.axhline(60, color="grey", linestyle=":", label="DaCe: above this")
            plot.set_ylabel("weak scaling efficiency in %, predicted")
        plot.legend()
    figure.savefig(path, dpi=110)
