"""How a function would scale.  In: a plan, the sizes of a call and a description of machines; out: predicted times and
efficiencies on any number of nodes, as a table or a picture.

The plan's steps are followed as an engine would follow them, with a clock instead of data: a stage takes the time of
the largest share of its tiles, bounded by arithmetic or memory; arrays know along which axis they are spread, so a read
that needs more than a node's own share is a message: the edges of the neighbours, a copy of everything for everybody,
or a new distribution.  Results over tiles are combined along a tree.  What runs at one place lets the others wait.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal

from weft.analysis.cost import GUESSED_EXTENT
from weft.cluster.plan import Again, Choice, Fresh, Plan, Refused, Repeat, Stage, Step, Swap, Whole, make, stages_of
from weft.cluster.slices import Slice
from weft.cluster.workload import (
    Amount,
    bytes_along,
    bytes_of,
    derived,
    named,
    number,
    step_bytes,
    step_work,
)
from weft.errors import OptionError
from weft.ir.program import Derived, Program, Role, SizeOf
from weft.ir.walk import buffers_written, free_vars
from weft.options import Options
from weft.records import dataclass

Engine = Literal["mpi", "ray"]
#: Kinds of time, in the order in which they are shown.
COMPUTE, EDGES, COPIES, MOVES, SUMS, WAITING = "compute", "edges", "copies", "moves", "sums", "waiting"
KINDS = (COMPUTE, EDGES, COPIES, MOVES, SUMS, WAITING)
NODES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1000)
#: So many iterations of a loop whose steps change size stand for all of them.
_SAMPLES = 8


@dataclass(frozen=True)
class Machine:
    """One node and the network between nodes.

    `gflops` is what matrix products reach on a node, `arithmetic` what other code does where memory does not bind it
    (both 10^9 operations a second); bandwidths are in GB/s, times in microseconds.  `task` is what a task costs the
    driver of the Ray engine, `stage` what a stage costs each rank of the MPI engine, whatever its size.
    """

    cores: int = 36
    gflops: float = 1000.0
    arithmetic: float = 200.0
    memory: float = 150.0
    network: float = 12.5
    latency: float = 2.0
    task: float = 300.0
    stage: float = 0.0

    def __post_init__(self) -> None:
        for name in ("cores", "gflops", "arithmetic", "memory", "network"):
            if not getattr(self, name) > 0:
                raise OptionError(f"a machine's {name} must be above 0, not {getattr(self, name)!r}")
        if self.latency < 0 or self.task < 0 or self.stage < 0:
            raise OptionError("a machine's latency, task and stage must not be negative")

    def seconds(self, work: Amount, traffic: float) -> float:
        """The time of one node for operations on so many bytes."""
        arithmetic = work.products / self.gflops + work.others / self.arithmetic
        return max(arithmetic, traffic / self.memory) * 1e-9

    def message(self, size: float) -> float:
        """The time until a message of so many bytes has arrived."""
        return self.latency * 1e-6 + size / self.network * 1e-9


@dataclass(frozen=True)
class Prediction:
    """One run: the time in all and by kind, the bytes that all nodes send, the bytes of data of one node."""

    nodes: int
    sizes: Mapping[str, int]
    seconds: float
    kinds: Mapping[str, float]
    sent: float
    held: float


class _Run:
    """Follows a plan on `nodes` nodes."""

    def __init__(self, plan: Plan, machine: Machine, nodes: int, engine: Engine, pace: float) -> None:
        self.plan, self.machine, self.nodes, self.engine, self.pace = plan, machine, nodes, engine, pace
        self.kinds = dict.fromkeys(KINDS, 0.0)
        self.sent = 0.0
        self.axis: dict[str, int] = {}  # arrays that are spread along an axis
        self.copied: set[str] = set()  # arrays that every node has
        self.edged: dict[str, tuple[int, int]] = {}  # how far beyond its own share each node has an array
        self.factor = 1.0

    # --- time ---

    def spend(self, kind: str, seconds: float, sent: float = 0.0) -> None:
        self.kinds[kind] += seconds * self.factor
        self.sent += sent * self.factor

    @property
    def rounds(self) -> int:
        return max(math.ceil(math.log2(self.nodes)), 0)

    # --- steps ---

    def steps(self, steps: Iterable[Step], sizes: Mapping[str, float]) -> None:
        for step in steps:
            if isinstance(step, Stage):
                self.stage(step, sizes)
            elif isinstance(step, Whole):
                self.whole(step, sizes)
            elif isinstance(step, Repeat):
                self.repeat(step, sizes)
            elif isinstance(step, Swap):
                self.swap(step)
            elif isinstance(step, Fresh):
                self.forget(step.buffer)
            elif isinstance(step, Choice):
                self.steps(step.then or step.orelse, sizes)
            elif isinstance(step, Again):
                outer, self.factor = self.factor, self.factor * GUESSED_EXTENT
                self.steps((*step.prelude, *step.body), sizes)
                self.factor = outer

    def forget(self, name: str) -> None:
        self.axis.pop(name, None)
        self.edged.pop(name, None)
        self.copied.discard(name)

    def swap(self, step: Swap) -> None:
        axis, edged, copied = dict(self.axis), dict(self.edged), set(self.copied)
        for target, source in zip(step.targets, step.sources):
            self.forget(target)
            if source in axis:
                self.axis[target] = axis[source]
            if source in edged:
                self.edged[target] = edged[source]
            if source in copied:
                self.copied.add(target)

    def repeat(self, step: Repeat, sizes: Mapping[str, float]) -> None:
        """The first iteration brings the data, the others find it in place: a few of those stand for all."""
        low, high = number(step.dim.lo, sizes), number(step.dim.hi, sizes)
        count = max(math.ceil((high - low) / step.dim.step), 0) if step.dim.step else 0
        if not count:
            return
        self.steps(step.steps, {**sizes, step.dim.var: low})
        rest = count - 1
        samples = min(rest, _SAMPLES)
        outer = self.factor
        for sample in range(samples):
            self.factor = outer * rest / samples
            value = low + step.dim.step * (1 + (sample + 0.5) / samples * rest)
            self.steps(step.steps, {**sizes, step.dim.var: value})
        self.factor = outer

    def stage(self, stage: Stage, sizes: Mapping[str, float]) -> None:
        extent = number(stage.extent, sizes)
        if extent < 1:
            return
        share = math.ceil(extent / self.nodes) / extent
        work, traffic = step_work(stage, sizes), step_bytes(self.plan, stage, sizes)
        compute = self.machine.seconds(work.times(share), traffic * share) * self.pace
        self.spend(COMPUTE, compute)
        if self.nodes > 1:
            edges = self.messages(stage, sizes)
            # The inner elements are computed while the edges travel.
            self.spend(EDGES, max(edges - compute, 0.0))
            self.combine(stage, sizes)
        if self.engine == "ray":
            self.spend(WAITING, self.machine.task * 1e-6 * min(self.nodes, extent))
        else:
            self.spend(WAITING, self.machine.stage * 1e-6)
        for write in stage.writes:
            self.forget(write.buffer)
            self.axis[write.buffer] = write.axis

    def messages(self, stage: Stage, sizes: Mapping[str, float]) -> float:
        """The time for edges; other messages, which nothing can be computed without, are spent at once."""
        if self.is_on_grid(stage) and self.by_blocks(stage, sizes):
            return 0.0
        edges = 0.0
        for piece in stage.reads:
            size = bytes_of(self.plan.program, piece.buffer, sizes)
            axis = self.axis.get(piece.buffer)
            if piece.buffer in self.copied:
                continue
            if axis is None and self.is_given(piece.buffer):
                axis = self.axis[piece.buffer] = self.given(piece, size)
            if piece.axis is None:
                self.everybody(piece.buffer, size)
            elif axis != piece.axis:
                each = size / self.nodes
                self.spend(MOVES, (self.nodes - 1) * self.machine.message(each / self.nodes), size)
                self.forget(piece.buffer)
                self.axis[piece.buffer] = piece.axis
            if piece.axis is not None:
                edges += self.edges(piece, sizes)
        return edges

    def is_given(self, name: str) -> bool:
        return self.plan.program.table[name].role is Role.PARAM

    def given(self, piece: Slice, size: float) -> int:
        """Where an argument lies at first: ranks of an MPI program hold shares of it, in Ray the driver sends them."""
        if self.engine == "ray":
            self.spend(COPIES, self.machine.message(self.others(size)), size)
        return self.plan.placed.get(piece.buffer, 0) if piece.axis is None else piece.axis

    def everybody(self, name: str, size: float) -> None:
        """A copy for every node: pieces in a ring, so each byte arrives once."""
        seconds = self.rounds * self.machine.latency * 1e-6 + self.machine.message(self.others(size))
        self.spend(COPIES, seconds, size * (self.nodes - 1))
        self.copied.add(name)

    def others(self, size: float) -> float:
        """What a node does not have of an array that is spread."""
        return size * (self.nodes - 1) / self.nodes

    def by_blocks(self, stage: Stage, sizes: Mapping[str, float]) -> bool:
        """A product on a square grid of nodes, if that is less than a copy of one operand for everybody.

        The nodes of a row and of a column of the grid send their blocks to one another.
        """
        assert stage.across is not None
        columns = {piece.buffer: piece.axis for piece in stage.across.reads}
        size = {piece.buffer: bytes_of(self.plan.program, piece.buffer, sizes) for piece in stage.reads}
        # What is cut along both dimensions of the grid is where it is needed.
        sent = {p.buffer: size[p.buffer] for p in stage.reads if p.axis is None or columns.get(p.buffer) is None}
        whole = sum(size[piece.buffer] for piece in stage.reads if piece.axis is None)
        side = math.sqrt(self.nodes)
        seconds = sum(side * self.machine.message(size / self.nodes) for size in sent.values())
        if seconds >= self.machine.message(self.others(whole)):
            return False
        self.spend(COPIES, seconds, sum(sent.values()) * side)
        for name in sent:
            self.axis.setdefault(name, self.plan.placed.get(name, 0))
        return True

    def is_on_grid(self, stage: Stage) -> bool:
        """A stage that the MPI engine can compute on a grid of nodes, and would else need copies for everybody."""
        return self.engine == "mpi" and stage.across is not None and any(piece.axis is None for piece in stage.reads)

    def edges(self, piece: Slice, sizes: Mapping[str, float]) -> float:
        assert piece.axis is not None
        below, above = max(-piece.below, 0), max(piece.above, 0)
        has = self.edged.get(piece.buffer, (0, 0))
        need = (below if below > has[0] else 0, above if above > has[1] else 0)
        if not any(need):
            return 0.0
        self.edged[piece.buffer] = (max(below, has[0]), max(above, has[1]))
        row = bytes_along(self.plan.program, piece.buffer, piece.axis, sizes)
        self.sent += row * sum(need) * (self.nodes - 1) * self.factor
        return sum(self.machine.message(row * width) for width in need if width)

    def combine(self, stage: Stage, sizes: Mapping[str, float]) -> None:
        """Results over tiles: along a tree to one node, and back to all."""
        for partial in stage.partials:
            size = bytes_of(self.plan.program, partial.buffer, sizes)
            self.spend(SUMS, 2 * self.rounds * self.machine.message(size), 2 * size * (self.nodes - 1))
            self.forget(partial.buffer)
            self.copied.add(partial.buffer)

    def whole(self, step: Whole, sizes: Mapping[str, float]) -> None:
        """One node works, or, with numbers alone, all of them do the same."""
        table = self.plan.program.table
        names = {name for node in step.nodes for name in named(node) if table[name].rank}
        seconds = self.machine.seconds(step_work(step, sizes), step_bytes(self.plan, step, sizes)) * self.pace
        self.spend(WAITING if names and self.nodes > 1 else COMPUTE, seconds)
        written = {name for node in step.nodes for name in buffers_written(node)}
        for name in sorted(names):
            if name in self.axis and self.nodes > 1:
                size = self.others(bytes_of(self.plan.program, name, sizes))
                self.spend(MOVES, self.machine.message(size), size)
            if name in written:
                self.forget(name)


def predict(
    plan: Plan,
    sizes: Mapping[str, float],
    machine: Machine,
    nodes: int,
    engine: Engine = "mpi",
    pace: float = 1.0,
) -> Prediction:
    """The time of one call on so many nodes; computing takes `pace` times as long as the rates of the machine say."""
    full = derived(plan.program, sizes)
    run = _Run(plan, machine, nodes, engine, pace)
    run.steps(plan.steps, full)
    spread = {name for name in run.axis if plan.program.table[name].rank}
    arrays = {name for stage in stages_of(plan.steps) for node in stage.nodes for name in named(node)}
    held = sum(bytes_of(plan.program, name, full) / (nodes if name in spread else 1) for name in arrays)
    shown = {name: int(value) for name, value in sizes.items()}
    return Prediction(nodes, shown, sum(run.kinds.values()), run.kinds, run.sent if nodes > 1 else 0.0, held)


def pace_of(
    plan: Plan, sizes: Mapping[str, float], machine: Machine, measured: float, engine: Engine = "mpi"
) -> float:
    """How many times as long as the model says one node computes, by what a call on one node was measured to take.

    The model has every array come from memory once a stage; code that keeps it in caches is faster, scattered accesses
    are slower. One measured call tells, and what more nodes add to it is predicted.
    """
    alone = predict(plan, sizes, machine, 1, engine)
    computing = alone.kinds[COMPUTE]
    others = alone.seconds - computing
    return max(measured - others, measured / 10) / computing if computing else 1.0


# --- scaling ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Scaling:
    """Predictions for one and more nodes: `strong` of one problem, `weak` of problems that grow with the nodes."""

    function: str
    machine: Machine
    engine: Engine
    strong: tuple[Prediction, ...]
    weak: tuple[Prediction, ...]
    grown: tuple[str, ...]

    def strong_efficiency(self, at: int) -> float:
        first, this = self.strong[0], self.strong[at]
        return first.seconds * first.nodes / (this.seconds * this.nodes) if this.seconds else 1.0

    def weak_efficiency(self, at: int) -> float:
        first, this = self.weak[0], self.weak[at]
        return first.seconds / this.seconds if this.seconds else 1.0

    def to_json(self) -> dict[str, Any]:
        def rows(predictions: tuple[Prediction, ...], efficiency: Callable[[int], float]) -> list[dict[str, Any]]:
            return [
                {"nodes": p.nodes, "sizes": dict(p.sizes), "seconds": p.seconds, "efficiency": efficiency(at),
                 "kinds": dict(p.kinds), "sent": p.sent, "held": p.held}
                for at, p in enumerate(predictions)
            ]  # fmt: skip

        return {
            "function": self.function,
            "engine": self.engine,
            "machine": {name: getattr(self.machine, name) for name in Machine.__dataclass_fields__},
            "grown": list(self.grown),
            "strong": rows(self.strong, self.strong_efficiency),
            "weak": rows(self.weak, self.weak_efficiency),
        }

    def __str__(self) -> str:
        from weft.cluster.charts import table

        return table(self)


def scaling(
    plan: Plan,
    sizes: Mapping[str, float],
    machine: Machine,
    nodes: Iterable[int] = NODES,
    grow: Iterable[str] = (),
    engine: Engine = "mpi",
    measured: float | None = None,
) -> Scaling:
    """Strong and weak scaling; `grow` names the sizes that grow for the latter, by default those that are cut.

    `measured`: the seconds that a call of these sizes takes on one node, if somebody knows.
    """
    counts = sorted({1, *nodes})
    if counts[0] < 1:
        raise OptionError(f"a number of nodes must be at least 1, not {counts[0]}")
    if engine not in ("mpi", "ray"):
        raise OptionError(f"engine={engine!r} is not one of 'mpi', 'ray'")
    growing = tuple(grow) or cut_sizes(plan)
    unknown = [name for name in growing if name not in sizes]
    if unknown:
        raise OptionError(f"there is no size {unknown[0]!r}; there are {', '.join(sorted(sizes))}")
    if measured is not None and not measured > 0:
        raise OptionError(f"a measured time must be above 0, not {measured!r}")
    pace = 1.0 if measured is None else pace_of(plan, sizes, machine, measured, engine)
    strong = tuple(predict(plan, sizes, machine, count, engine, pace) for count in counts)
    weak = tuple(
        predict(plan, grown(plan, sizes, growing, float(count)), machine, count, engine, pace) for count in counts
    )
    return Scaling(plan.program.name, machine, engine, strong, weak, growing)


def cut_sizes(plan: Plan) -> tuple[str, ...]:
    """The sizes along which the stages of a plan are cut."""
    names = {name for stage in stages_of(plan.steps) for name in free_vars(stage.extent)}
    own = {symbol.name for symbol in plan.program.symbols if isinstance(symbol.source, SizeOf)}
    return tuple(sorted(names & own)) or tuple(sorted(own))


def total_work(plan: Plan, sizes: Mapping[str, float]) -> float:
    """All operations of a call."""
    full = derived(plan.program, sizes)

    def of(steps: tuple[Step, ...], values: Mapping[str, float]) -> float:
        total = 0.0
        for step in steps:
            if isinstance(step, (Stage, Whole)):
                total += step_work(step, values).operations
            elif isinstance(step, Repeat):
                low, high = number(step.dim.lo, values), number(step.dim.hi, values)
                trips = max(math.ceil((high - low) / step.dim.step), 0)
                total += trips * of(step.steps, {**values, step.dim.var: (low + high) / 2})
            elif isinstance(step, Choice):
                total += of(step.then or step.orelse, values)
            elif isinstance(step, Again):
                total += GUESSED_EXTENT * of((*step.prelude, *step.body), values)
        return total

    return of(plan.steps, full)


def grown(plan: Plan, sizes: Mapping[str, float], names: tuple[str, ...], times: float) -> dict[str, float]:
    """The sizes of a call with `times` as much work: all of `names` grow by one factor."""

    def by(factor: float) -> dict[str, float]:
        return {name: float(round(value * factor)) if name in names else value for name, value in sizes.items()}

    wanted = total_work(plan, sizes) * times
    low, high = 1.0, max(times, 1.0)
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if total_work(plan, by(middle)) < wanted else (low, middle)
    return by(high)


def simulate(
    function: Callable[..., Any],
    *arguments: Any,
    machine: Machine | None = None,
    nodes: Iterable[int] = NODES,
    grow: Iterable[str] = (),
    engine: Engine = "mpi",
    sizes: Mapping[str, int] | None = None,
    measured: float | None = None,
) -> Scaling:
    """How `function(*arguments)` would scale on nodes of a kind; `measured`: what the call takes on one, in seconds.

    `sizes` replaces sizes of the call by others, by the names that the table shows (`A_0` is the first extent of A),
    so that the arguments can be small.
    """
    plan, known = plan_of(function, arguments)
    unknown = [name for name in sizes or {} if name not in known]
    if unknown:
        raise OptionError(f"there is no size {unknown[0]!r}; there are {', '.join(sorted(known))}")
    known.update({name: float(value) for name, value in (sizes or {}).items()})
    return scaling(plan, known, machine or Machine(), nodes, grow, engine, measured)


def plan_of(function: Callable[..., Any], arguments: tuple[Any, ...]) -> tuple[Plan, dict[str, float]]:
    """The plan of a function for arguments of this kind, as an engine makes it, and the sizes of this call."""
    import numpy as np

    from weft.cluster.function import Distributed
    from weft.cluster.mpi_grid import with_grids
    from weft.cluster.storage import stand_in

    class Planner(Distributed):
        """Plans as the MPI engine does, loops step by step: the simulator counts what each step sends."""

        def _made(self, program: Program, sizes: Mapping[str, int]) -> Plan:
            return with_grids(make(program, sizes, self.options.fp == "strict", control=True, grids=True))

    planner = Planner(getattr(function, "py_func", function), Options(target="mpi"))
    values = planner._bound(arguments, {})
    if values is None:
        raise OptionError(f"{planner.py_func.__name__} does not take {len(arguments)} arguments")
    # Arrays that are one object, or overlap, would be planned for as such: a cluster has them apart.
    shown = tuple(stand_in(value) if isinstance(value, np.ndarray) and value.ndim else value for value in values)
    found = planner._version(shown)
    if isinstance(found, str):
        raise Refused(found)
    version, call = found
    computed = {symbol.name for symbol in version.plan.program.symbols if isinstance(symbol.source, Derived)}
    return version.plan, {name: float(value) for name, value in call.numbers.items() if name not in computed}
