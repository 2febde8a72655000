"""Kernels as text.  In: the versions of a function for a device; out: what `explain` shows: which lines became which
kernels, what a call moves and launches.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from weft import targets
from weft.cluster.report import shortened
from weft.device import costs
from weft.device.dialect import group_shape, is_fitted
from weft.device.plan import Again, Choose, Either, Kernel, Launch, Mapping, Plan, Refused, Repeat, Routine, Steps
from weft.ir.text import show_expr
from weft.passes import Remark

_WORDS = {
    Mapping.CHUNKS: "work-items that share the iterations of",
    Mapping.ITEMS: "a work-item for each point of",
    Mapping.GROUPS: "a work-group for each iteration of",
    Mapping.BLOCKS: "a work-group for each block of",
    Mapping.SINGLE: "one work-item",
}


def _kernel(kernel: Kernel) -> str:
    loops = ", ".join(f"{dim.var} in {show_expr(dim.lo)}..{show_expr(dim.hi)}" for dim in kernel.grid)
    where = f"line {kernel.span.line}: " if kernel.span.line > 0 else ""
    group = "as sizes ask" if is_fitted(kernel) else f"of {' x '.join(map(str, group_shape(kernel)))}"
    group += ", as asked" if kernel.group else ""
    local = f", {kernel.local_bytes} bytes of local memory" if kernel.local_bytes else ""
    what = f"{_WORDS[kernel.mapping]} {loops}" if loops else "one work-group" if kernel.lanes > 1 else "one work-item"
    return f"{where}{kernel.name}, {what} (groups {group}{local})"


def lines(steps: Steps, pad: str = "  ") -> list[str]:
    """The host steps of a plan and their kernels."""
    found: list[str] = []
    for step in steps:
        if isinstance(step, Launch):
            found.append(pad + _kernel(step.kernel))
        elif isinstance(step, Routine):
            found.append(f"{pad}line {step.node.span.line}: {step.node.routine} of the device's library")
        elif isinstance(step, Either):
            found.append(f"{pad}if it is little work: {_kernel(step.kernel)}; else:")
            found += lines(step.steps, pad + "  ")
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


def told(log: Sequence[Remark]) -> list[str]:
    """What became of comments on dimensions and of transformations, each once."""
    of = [remark for remark in log if remark.pass_name in ("shapes", "directed", "items")]
    found = [f"line {r.span.line}: {'not done: ' if r.kind == 'missed' else ''}{r.message}" for r in of]
    return list(dict.fromkeys(found))


def times(plan: Plan, made: Any, counts: Any, dialect: Any) -> list[str]:
    """Predicted and measured time of each kernel, and of what moves."""
    rates = costs.rates_of(made.device, dialect)
    measured, launches = counts.seconds(), Counter(name for name, _ in counts.events)
    sizes = costs.sizes_of(plan, made.numbers)
    found = []
    for kernel in plan.kernels:
        if not launches[kernel.name]:
            continue
        guess = costs.kernel_cost(kernel, made.numbers, sizes, rates) * 1e3
        taken = measured[kernel.name] / launches[kernel.name] * 1e3
        told = f"{guess:.3g} ms a launch predicted, {taken:.3g} measured ({launches[kernel.name]}x)"
        if is_fitted(kernel):
            told += f", groups of {' x '.join(map(str, counts.groups[kernel.name]))}"
        found.append(f"  {kernel.name}: {told}; {made.device.usage(made.kernels[kernel.name])}")
    for name in launches.keys() - {kernel.name for kernel in plan.kernels}:
        taken = measured[name] / launches[name] * 1e3
        found.append(f"  {name} of the device's library: {taken:.3g} ms a call measured ({launches[name]}x)")
    cost = costs.predicted(plan, made.numbers, rates, made.resident)
    told = f"{cost.kernels * 1e3:.3g} ms in kernels and {cost.link * 1e3:.3g} on the link"
    return [*found, f"  predicted for the call: {told}"]


class Explained:
    """An explanation of the CPU's version with the kernels after it."""

    def __init__(self, local: Any, versions: Sequence[Any], refused: Sequence[str], target: str) -> None:
        self.local, self.versions, self.refused, self.target = local, versions, refused, target

    def plans(self) -> list[str]:
        found: list[str] = []
        for version in self.versions:
            made, counts = version.extra, version.last
            found.append(f"on {made.device.name} ({self.target}), compiled in {version.seconds * 1e3:.0f} ms:")
            found += [*lines(version.plan.steps), *(f"  {line}" for line in made.told)]
            if made.numbers is not None and counts is not None:
                try:
                    found += times(version.plan, made, counts, targets.find(self.target).dialect)
                except Refused as problem:  # the device is gone
                    found.append(f"  {problem}")
            if counts is not None:
                moved = f"{counts.sent} bytes sent, {counts.fetched} fetched"
                found.append(f"  newest call: {counts.launches} launches, {moved}, {made.seconds * 1e3:.3g} ms")
        return found + [f"on the CPU: {reason}" for reason in self.refused]

    def shown(self, format: str) -> Any:
        return {**self.local.explain("json"), "device": self.plans()} if format == "json" else self

    def short(self, limit: int = 30) -> str:
        """At most `limit` lines: where it runs, then what can be acted on."""
        return shortened(self.plans(), self.local, limit)

    def to_json(self) -> Any:
        return self.shown("json")

    def __str__(self) -> str:
        own = "\n".join(self.plans())
        return own if not self.local.signatures else f"{own}\n\non the CPU:\n{self.local.explain()}"

    __repr__ = __str__
