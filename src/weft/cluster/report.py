"""Plans as text.  In: the planned versions of a function; out: what `explain` shows: how arrays are cut, what each
stage moves, what it should take.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from weft.analysis.cost import evaluate
from weft.cluster import costs
from weft.cluster.plan import Again, Choice, Plan, Repeat, Slice, Stage, Step, Swap, Whole
from weft.cluster.sweeps import Sweep
from weft.ir.text import show_expr


def _amount(size: float) -> str:
    for unit in ("B", "kB", "MB", "GB"):
        if size < 1000 or unit == "GB":
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1000
    return ""


def _piece(piece: Slice, pointer: str | None = None) -> str:
    if pointer is not None:
        return f"{piece.buffer}[{pointer}[lo]:{pointer}[hi]]"
    if piece.axis is None:
        return f"all of {piece.buffer}"
    low = f"lo{piece.below:+d}" if piece.below else "lo"
    high = f"hi{piece.above:+d}" if piece.above else "hi"
    return f"{piece.buffer}[{':, ' * piece.axis}{low}:{high}]"


def lines(plan: Plan, numbers: Mapping[str, int], blocks: Mapping[str, int]) -> list[str]:
    """The partition of one version, for the sizes of a call (none: before the first)."""
    found: list[str] = []

    def stage(step: Stage, pad: str) -> None:
        extent = int(evaluate(step.extent, numbers, 0.0) or 0)
        where = sorted({node.span.line for node in step.nodes if node.span.line > 0})
        of = f" (line {', '.join(map(str, where))})" if where else ""
        block = blocks.get(step.name, 0)
        cut = f", {max(-(-extent // block), 1)} tiles of {block}" if block else ""
        found.append(f"{pad}{step.name}{of}: tiles lo:hi of 0:{show_expr(step.extent)}{cut}")
        if isinstance(step, Sweep):
            loop = f"{step.dim.var} in {show_expr(step.dim.lo)}..{show_expr(step.dim.hi)}"
            depth = step.depth(block) if block else 1
            reach = f"each reaching {step.low} below and {step.high} above"
            found.append(f"{pad}  {loop}, {depth} at a time, {reach}")
            step = step.widened(depth)
        pointers = {name: rows.pointer for rows in step.rows for name in rows.arrays}
        reads = ", ".join(_piece(piece, pointers.get(piece.buffer)) for piece in step.reads) or "nothing"
        writes = ", ".join(_piece(Slice(write.buffer, write.axis)) for write in step.writes)
        shares = ", ".join(f"{partial.buffer} by {partial.op}" for partial in step.partials)
        found.append(f"{pad}  reads {reads}")
        if writes:
            found.append(f"{pad}  writes {writes}")
        if shares:
            found.append(f"{pad}  combines {shares}")
        if step.temporaries:
            found.append(f"{pad}  never moves {', '.join(step.temporaries)}")
        if numbers:
            cost = costs.stage_cost(plan, step, numbers)
            moved = {**cost.bytes_read, **{f"{name} (new)": size for name, size in cost.bytes_written.items()}}
            found.append(f"{pad}  bytes: " + ", ".join(f"{name} {_amount(size)}" for name, size in moved.items()))
            found.append(f"{pad}  about {cost.seconds * 1e3:.3g} ms on one core")

    def walk(steps: Sequence[Step], pad: str) -> None:
        for step in steps:
            if isinstance(step, Stage):
                stage(step, pad)
            elif isinstance(step, Repeat):
                found.append(f"{pad}for {step.dim.var} in {show_expr(step.dim.lo)}..{show_expr(step.dim.hi)}:")
                walk(step.steps, pad + "  ")
            elif isinstance(step, Swap):
                found.append(f"{pad}{', '.join(step.targets)} = {', '.join(step.sources)}")
            elif isinstance(step, Choice):
                found.append(f"{pad}if {show_expr(step.condition)}:")
                walk(step.then, pad + "  ")
                if step.orelse:
                    found.append(f"{pad}else:")
                    walk(step.orelse, pad + "  ")
            elif isinstance(step, Again):
                walk(step.prelude, pad)
                found.append(f"{pad}while {show_expr(step.condition)}:")
                walk(step.body, pad + "  ")
            elif isinstance(step, Whole):
                found.append(f"{pad}{step.name}: at one place" + (f", since {step.reason}" if step.reason else ""))

    walk(plan.steps, "  ")
    return found + [f"  note: {note}" for note in dict.fromkeys(plan.notes)]


def shortened(plans: Sequence[str], local: Any, limit: int) -> str:
    """At most `limit` lines: plans, then what can be acted on in the version of this machine."""
    found = [*plans, *str(local.explain().short(limit)).splitlines()]
    return "\n".join(found if len(found) <= limit else [*found[: limit - 1], "  ... f.explain() has the rest"])


class Explained:
    """An explanation of the local version with the plans after it."""

    def __init__(self, local: Any, versions: Sequence[Any], refused: Sequence[str], target: str) -> None:
        self.local = local
        self.versions = versions
        self.refused = refused
        self.target = target

    def plans(self) -> list[str]:
        found: list[str] = []
        for version in self.versions:
            numbers, blocks = version.last or ({}, {})
            found.append(f"on {self.target}, planned in {version.seconds * 1e3:.0f} ms:")
            found += lines(version.plan, numbers, blocks)
            if numbers:
                found.append(f"  a call takes about {costs.plan_seconds(version.plan, numbers):.3g} s on one core")
        return found + [f"on this machine alone: {reason}" for reason in self.refused]

    def shown(self, format: str) -> Any:
        if format == "json":
            return {**self.local.explain("json"), "cluster": self.plans()}
        return self

    def short(self, limit: int = 30) -> str:
        """At most `limit` lines: where it runs, then what can be acted on."""
        return shortened(self.plans(), self.local, limit)

    def to_json(self) -> Any:
        return self.shown("json")

    def __str__(self) -> str:
        return "\n".join([str(self.local.explain()), "", *self.plans()])

    __repr__ = __str__
