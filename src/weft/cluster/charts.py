"""Scaling for people.  In: a `Scaling`; out: a table as text, or a picture in a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from weft.errors import WeftError

if TYPE_CHECKING:
    from weft.cluster.simulate import Prediction, Scaling

_UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"))
_PREFIXES = ((1e15, "PB"), (1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"))


def seconds(value: float) -> str:
    """A time with three digits."""
    scale, unit = next((item for item in _UNITS if value >= item[0]), _UNITS[-1])
    return f"{value / scale:.3g} {unit}"


def amount(value: float) -> str:
    """A number of bytes."""
    scale, unit = next((item for item in _PREFIXES if value >= item[0]), (1.0, "B"))
    return f"{value / scale:.3g} {unit}"


def table(scaling: Scaling) -> str:
    """Both kinds of scaling, a line for each number of nodes, and where the time goes on the largest."""
    machine = scaling.machine
    node = f"{machine.cores} cores, {machine.gflops:g} GFLOP/s, {machine.memory:g} GB/s"
    network = f"{machine.network:g} GB/s, {machine.latency:g} us"
    lines = [f"{scaling.function} with {scaling.engine}: nodes of {node}; network {network}", ""]
    header = ["nodes", "time", "speed-up", "efficiency", "sent", "", "sizes", "time", "efficiency", "sent"]
    rows = [header]
    for at, (strong, weak) in enumerate(zip(scaling.strong, scaling.weak)):
        gain = scaling.strong[0].seconds / strong.seconds if strong.seconds else 1.0
        left = [str(strong.nodes), seconds(strong.seconds), f"{gain:.4g}", f"{scaling.strong_efficiency(at):.1%}"]
        right = [_sizes(scaling, weak), seconds(weak.seconds), f"{scaling.weak_efficiency(at):.1%}"]
        rows.append([*left, amount(strong.sent), "|", *right, amount(weak.sent)])
    widths = [max(len(row[column]) for row in rows) for column in range(len(header))]
    strong_width = sum(widths[1:5]) + 6
    lines.append(" " * (widths[0] + 2) + "one problem".ljust(strong_width) + "    " + "as much work a node")
    lines += ["  ".join(cell.rjust(width) for cell, width in zip(row, widths)).rstrip() for row in rows]
    lines += ["", _shares("one problem", scaling.strong[-1]), _shares("as much work a node", scaling.weak[-1])]
    return "\n".join(lines)


def _sizes(scaling: Scaling, prediction: Prediction) -> str:
    return ", ".join(f"{name}={prediction.sizes[name]}" for name in scaling.grown)


def _shares(title: str, prediction: Prediction) -> str:
    """Where the time of one prediction goes."""
    total = prediction.seconds or 1.0
    parts = [f"{kind} {value / total:.0%}" for kind, value in prediction.kinds.items() if value / total >= 0.005]
    held = amount(prediction.held)
    return f"{title}, {prediction.nodes} nodes: {', '.join(parts) or 'nothing'}; {held} of data a node"


def picture(scaling: Scaling, path: Path) -> None:
    """Times and efficiencies over the number of nodes; the ending of `path` says which kind of file."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise WeftError("a picture needs matplotlib: pip install matplotlib") from None
    figure = Figure(figsize=(10, 4), layout="constrained")
    times, efficiencies = figure.subplots(1, 2)
    nodes = [prediction.nodes for prediction in scaling.strong]
    for predictions, label in ((scaling.strong, "one problem"), (scaling.weak, "as much work a node")):
        times.loglog(nodes, [prediction.seconds for prediction in predictions], marker="o", label=label)
    first = scaling.strong[0].seconds
    times.loglog(nodes, [first / count for count in nodes], color="grey", linestyle=":", label="ideal")
    efficiencies.semilogx(nodes, [100 * scaling.strong_efficiency(at) for at in range(len(nodes))], marker="o")
    efficiencies.semilogx(nodes, [100 * scaling.weak_efficiency(at) for at in range(len(nodes))], marker="o")
    times.set(xlabel="nodes", ylabel="seconds", title=f"{scaling.function}, predicted")
    efficiencies.set(xlabel="nodes", ylabel="efficiency in %", ylim=(0, 105), title="efficiency")
    times.legend()
    figure.savefig(path)
