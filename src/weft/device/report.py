"""Kernels as text.  In: the versions of a function for a device; out: what `explain` shows: which lines became which
kernels, what a call moves and launches.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weft.device.dialect import group_shape
from weft.device.plan import Again, Choose, Kernel, Launch, Mapping, Repeat, Steps
from weft.ir.text import show_expr

_WORDS = {
    Mapping.ITEMS: "a work-item for each point of",
    Mapping.GROUPS: "a work-group for each iteration of",
    Mapping.BLOCKS: "a work-group for each block of",
    Mapping.SINGLE: "one work-item",
}


def _kernel(kernel: Kernel) -> str:
    loops = ", ".join(f"{dim.var} in {show_expr(dim.lo)}..{show_expr(dim.hi)}" for dim in kernel.grid)
    where = f"line {kernel.span.line}: " if kernel.span.line > 0 else ""
    group = " x ".join(map(str, group_shape(kernel)))
    local = f", {kernel.local_bytes} bytes of local memory" if kernel.local_bytes else ""
    what = f"{_WORDS[kernel.mapping]} {loops}" if loops else "one work-group" if local else _WORDS[kernel.mapping]
    return f"{where}{kernel.name}, {what} (groups of {group}{local})"


def lines(steps: Steps, pad: str = "  ") -> list[str]:
    """The host steps of a plan and their kernels."""
    found: list[str] = []
    for step in steps:
        if isinstance(step, Launch):
            found.append(pad + _kernel(step.kernel))
        elif isinstance(step, Repeat):
            found.append(f"{pad}for {step.dim.var} in {show_expr(step.dim.lo)}..{show_expr(step.dim.hi)}, on the host:")
            found += lines(step.steps, pad + "  ")
        elif isinstance(step, Again):
            found += [f"{pad}while {show_expr(step.condition)}, on the host:"]
            found += lines((*step.prelude, *step.steps), pad + "  ")
        elif isinstance(step, Choose):
            found.append(f"{pad}if {show_expr(step.condition)}:")
            found += lines(step.then, pad + "  ")
            if inner := lines(step.orelse, pad + "  "):
                found += [f"{pad}else:", *inner]
    return found


class Explained:
    """An explanation of the CPU's version with the kernels after it."""

    def __init__(self, local: Any, versions: Sequence[Any], refused: Sequence[str], target: str) -> None:
        self.local, self.versions, self.refused, self.target = local, versions, refused, target

    def plans(self) -> list[str]:
        found: list[str] = []
        for version in self.versions:
            made, counts = version.extra, version.last
            found.append(f"on {made.device.name} ({self.target}), compiled in {version.seconds * 1e3:.0f} ms:")
            found += lines(version.plan.steps)
            if counts is not None:
                moved = f"{counts.sent} bytes sent, {counts.fetched} fetched"
                found.append(f"  newest call: {counts.launches} launches, {moved}, {made.seconds * 1e3:.3g} ms")
        return found + [f"on the CPU: {reason}" for reason in self.refused]

    def shown(self, format: str) -> Any:
        return {**self.local.explain("json"), "device": self.plans()} if format == "json" else self

    def to_json(self) -> Any:
        return self.shown("json")

    def __str__(self) -> str:
        own = "\n".join(self.plans())
        return own if not self.local.signatures else f"{own}\n\non the CPU:\n{self.local.explain()}"

    __repr__ = __str__
