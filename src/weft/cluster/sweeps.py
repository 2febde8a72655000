"""Several steps of a loop in one task.  In: a plan; out: a plan in which sweeps over arrays inside a loop run a few
iterations at a time.

    for t:  b[i] = f(a[i - 1], a[i + 1]);  a[i] = g(b[i - 1], b[i + 1])      (a Repeat of stages with halos)
      -->   a task takes a[lo - 2u:hi + 2u] and b[...], runs u iterations on these windows, gives a[lo:hi] and b[lo:hi]

Near the ends of a window elements become stale, by as many in each iteration as the stages reach; a window is wider
than the tile by what becomes stale in u iterations, so the tile itself is exact: every element is computed by the
expression it had, some of them by two tasks.  Data moves once in u iterations.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from weft.cluster.plan import (
    Fresh,
    Plan,
    Repeat,
    Slice,
    Stage,
    Step,
    Swap,
    Whole,
    Written,
    inner_steps,
    may_raise,
    with_inner,
)
from weft.cluster.tiles import Kind, TileProgram, _Maker, _moved, _Place, _with
from weft.ir import index
from weft.ir.expr import Dim, Expr, Op, Read, Var, integer
from weft.ir.program import Alloc, Derived, Loop, Node, Program, Rebind, Role, SizeOf, Stmt, Symbol
from weft.ir.types import INT
from weft.ir.walk import free_vars, touched
from weft.records import dataclass

#: A window is wider than its tile by at most one part in so many, on each side.
_BORDER = 24
#: No more iterations than this in one task.
_DEEPEST = 32


@dataclass(frozen=True)
class Sweep(Stage):
    """A loop of stages as one stage: `low` and `high` elements become stale in an iteration at the ends of a window.

    Its reads are windows of `written` and of arrays read with a halo; the driver widens them by the iterations it asks
    for.  Parameters of its tile program named by FIRST and PAST are the iterations of one task.
    """

    dim: Dim = Dim("", integer(0), integer(0))
    steps: tuple[Step, ...] = ()
    low: int = 0
    high: int = 0

    def depth(self, rows: int) -> int:
        """How many iterations a task of so many rows runs."""
        reach = max(self.low, self.high)
        return _DEEPEST if reach == 0 else max(1, min(_DEEPEST, rows // (_BORDER * reach)))

    def widened(self, depth: int) -> Sweep:
        """With windows for so many iterations."""
        reads = tuple(
            replace(piece, below=-self.low * depth, above=self.high * depth, clipped=True)
            if piece.axis is not None
            else piece
            for piece in self.reads
        )
        return replace(self, reads=reads)


#: Names of the bounds of the iterations of one task, as numbers of the driver's.
FIRST, PAST = "iteration lo", "iteration hi"


def with_sweeps(plan: Plan) -> Plan:
    """The plan with loops of sweeps as stages, where that is legal."""
    notes = list(plan.notes)

    def change(steps: tuple[Step, ...]) -> tuple[Step, ...]:
        new: list[Step] = []
        for step in steps:
            if isinstance(step, Repeat):
                why = why_not(plan.program, step, outside(plan.steps, step))
                if why is None:
                    new.append(_sweep(plan.program, step))
                    continue
                notes.append(f"one iteration of {step.dim.var} at a time, since {why}")
            new.append(with_inner(step, change))
        return tuple(new)

    return replace(plan, steps=change(plan.steps), notes=tuple(notes))


def outside(steps: tuple[Step, ...], loop: Repeat) -> set[str]:
    """Arrays that steps other than those of the loop use."""
    found: set[str] = set()
    for step in steps:
        if step is loop:
            continue
        if isinstance(step, (Stage, Whole)):
            found |= {name for node in step.nodes for name in touched(node)}
        elif isinstance(step, Swap):
            found |= set(step.targets)
        for block in inner_steps(step):
            found |= outside(block, loop)
    return found


def why_not(program: Program, loop: Repeat, elsewhere: set[str]) -> str | None:
    """Why several iterations cannot be one task; None if they can."""
    stages = [step for step in loop.steps if isinstance(step, Stage)]
    if len(stages) + sum(isinstance(step, (Swap, Fresh)) for step in loop.steps) < len(loop.steps):
        return "there is more in it than sweeps"
    if not stages or loop.dim.step != 1:
        return "it does not count one by one"
    if any(stage.partials or may_raise(stage.nodes) for stage in stages):
        return "its tiles need an answer of all others, or may raise"
    if any(not isinstance(node, Stmt) for stage in stages for node in stage.nodes):
        return "there is more in it than statements"
    if len({stage.extent for stage in stages}) > 1:
        return "its stages are of different ranges"
    bounds = [e for stage in stages for part in stage.parts for e in (part.lo, part.hi, stage.extent)]
    if any(loop.dim.var in free_vars(e) for e in bounds):
        return "its range changes with the iteration"
    axes: dict[str, int] = {}
    for stage in stages:
        for write in stage.writes:
            if axes.setdefault(write.buffer, write.axis) != write.axis:
                return f"{write.buffer} is cut along two axes"
    for stage in stages:
        for piece in stage.reads:
            if piece.axis is None and piece.buffer in axes:
                return f"all of {piece.buffer} is needed in each iteration"
            if piece.axis is not None and axes.setdefault(piece.buffer, piece.axis) != piece.axis:
                return f"{piece.buffer} is cut along two axes"
            if piece.axis is not None and program.table[piece.buffer].shape[piece.axis] != stage.extent:
                return f"{piece.buffer} is of another range"
    made = {step.buffer for step in loop.steps if isinstance(step, Fresh)}
    for step in loop.steps:
        if isinstance(step, Swap):
            if made & set(step.targets) or len({program.table[name].shape for name in step.targets}) > 1:
                return "arrays of different kinds change places"
            if len({axes.get(name) for name in step.targets}) > 1:
                return "arrays that are cut along different axes change places"
    if made & elsewhere or any(program.table[name].role is not Role.LOCAL for name in made):
        return "an array that it makes is used elsewhere"
    return None


def _reach(stage: Stage) -> tuple[int, int]:
    """How far a stage reads beyond an element that it writes: below and above it."""
    along = [piece for piece in stage.reads if piece.axis is not None]
    below = max((-piece.below for piece in along), default=0)
    above = max((piece.above for piece in along), default=0)
    return max(below, 0), max(above, 0)


def _sweep(program: Program, loop: Repeat) -> Sweep:
    stages = [step for step in loop.steps if isinstance(step, Stage)]
    made = {step.buffer for step in loop.steps if isinstance(step, Fresh)}
    made |= {name for stage in stages for name in stage.temporaries}
    reaches = [_reach(stage) for stage in stages]
    low, high = (sum(reach[side] for reach in reaches) for side in (0, 1))
    written: dict[str, Written] = {}
    for stage in stages:
        for write in stage.writes:
            if write.buffer not in made:
                box = tuple((integer(0), extent) for extent in program.table[write.buffer].shape)
                written[write.buffer] = Written(write.buffer, write.axis, box)
    for step in loop.steps:
        for name in step.targets if isinstance(step, Swap) else ():
            cut = {piece.buffer: piece.axis or 0 for stage in stages for piece in stage.reads}
            cut |= {write.buffer: write.axis for stage in stages for write in stage.writes}
            box = tuple((integer(0), extent) for extent in program.table[name].shape)
            written.setdefault(name, Written(name, cut[name], box))
    reads = {name: Slice(name, write.axis, 0, 0, True) for name, write in written.items()}
    for stage in stages:
        for piece in stage.reads:
            if piece.buffer not in made:
                whole = piece.axis is None
                reads.setdefault(piece.buffer, piece if whole else Slice(piece.buffer, piece.axis, 0, 0, True))
    parts = tuple(part for stage in stages for part in stage.parts)
    name = f"{stages[0].name}_sweeps"
    return Sweep(
        name, parts, stages[0].extent, tuple(reads.values()), tuple(written.values()),
        dim=loop.dim, steps=loop.steps, low=low, high=high,
    )  # fmt: skip


def sweep_program(plan: Plan, sweep: Sweep) -> TileProgram:
    """The program of one tile and a few iterations of a sweep."""
    table = plan.program.table
    make = _Maker(plan)
    lo, hi, first, past = (make.fresh(name) for name in ("lo", "hi", "first", "past"))
    make.integer("lo", lo)
    make.integer("hi", hi)
    make.integer("number", first, FIRST)
    make.integer("number", past, PAST)
    window, count = "", ""
    inputs: dict[str, _Place] = {}
    # Names that change places denote memory of the program's own; others are changed where they arrive.
    swapped = {name for step in sweep.steps if isinstance(step, Swap) for name in step.targets}
    changed = {write.buffer for write in sweep.writes}
    outputs = {write.buffer: write.axis for write in sweep.writes if write.buffer in swapped}
    for piece in sweep.reads:
        name = make.fresh(f"{piece.buffer}_old") if piece.buffer in outputs else piece.buffer
        kind: Kind = "window" if piece.buffer in changed - swapped else "input"
        shape = table[piece.buffer].shape
        if piece.axis is None:
            make.array(name, "input", piece.buffer, shape, piece)
            inputs[piece.buffer] = _Place(name)
            continue
        if not window:
            window, count = make.fresh("window"), make.fresh("window_n")
            make.integer("start", window, piece.buffer, piece)
            make.symbols.append(Symbol(count, SizeOf(name, piece.axis)))
        make.array(name, kind, piece.buffer, _with(shape, piece.axis, Var(count)), piece)
        inputs[piece.buffer] = _Place(name, piece.axis, Var(window))
    held: dict[str, _Place] = {}
    body: list[Node] = []
    for name, axis in {**outputs, **_made(sweep)}.items():
        local = make.fresh(f"{name}_window")
        make.buffers.append(
            replace(table[name], name=local, shape=_with(table[name].shape, axis, Var(count)), role=Role.LOCAL)
        )
        held[name] = _Place(local, axis, Var(window))
        body.append(Alloc(local))
    ends: tuple[Expr, Expr] = Var(window), index.add(Var(window), Var(count))
    for name, axis in outputs.items():
        body.append(_copy(make, name, axis, held[name], inputs[name], ends))
    iteration = _iteration(make, sweep, inputs, held, ends)
    body.append(Loop(Dim(sweep.dim.var, Var(first), Var(past)), tuple(iteration)))
    size = index.sub(Var(hi), Var(lo))
    for name, axis in outputs.items():
        make.array(name, "output", name, _with(table[name].shape, axis, size), Slice(name, axis))
        body.append(_copy(make, name, axis, _Place(name, axis, Var(lo)), held[name], (Var(lo), Var(hi))))
    start, _ = make.scalars(sweep.nodes)
    return make.finish(sweep.name, [*start, *body], ())


def _made(sweep: Sweep) -> dict[str, int]:
    """Arrays that live inside an iteration, with the axis that is cut."""
    known = {write.buffer for write in sweep.writes}
    found: dict[str, int] = {}
    for step in sweep.steps:
        if isinstance(step, Stage):
            found |= {write.buffer: write.axis for write in step.writes if write.buffer not in known}
    return found


def _copy(make: _Maker, name: str, axis: int, target: _Place, source: _Place, ends: tuple[Expr, Expr]) -> Stmt:
    """The elements `ends` along the axis of one window of an array into another."""
    buffer = make.plan.program.table[name]
    dims = tuple(
        Dim(make.fresh("c"), *(ends if at == axis else (integer(0), extent))) for at, extent in enumerate(buffer.shape)
    )
    place = tuple(Var(dim.var) for dim in dims)
    value = Read(source.buffer, source.index(place), buffer.type)
    return Stmt(dims, target.buffer, target.index(place), value)


def _iteration(
    make: _Maker,
    sweep: Sweep,
    inputs: Mapping[str, _Place],
    held: Mapping[str, _Place],
    ends: tuple[Expr, Expr],
) -> list[Node]:
    """One iteration on the windows."""
    table = make.plan.program.table
    nodes: list[Node] = []
    places = {**inputs, **held}
    size = index.sub(ends[1], ends[0])
    # 0 where the window ends with the array, whose ends never become stale, else 1.
    beyond = index.sub(sweep.extent, ends[1])
    opens = [_derived(make, "open", Op("minimum", (far, integer(1)), INT)) for far in (ends[0], beyond)]
    for step in sweep.steps:
        if isinstance(step, Swap):
            targets, sources = (tuple(held[name].buffer for name in names) for names in (step.targets, step.sources))
            nodes.append(Rebind(targets, sources))
            continue
        if not isinstance(step, Stage):
            continue
        own = dict(places)
        for name in step.temporaries:
            axis = make.plan.placed[name]
            make.buffers.append(replace(table[name], shape=_with(table[name].shape, axis, size), role=Role.LOCAL))
            own[name] = _Place(name, axis, ends[0])
            nodes.append(Alloc(name))
        low, high = _reach(step)
        for part in step.parts:
            inside = index.mul(integer(low), opens[0]), index.sub(size, index.mul(integer(high), opens[1]))
            relative = index.sub(part.lo, ends[0]), index.sub(part.hi, ends[0])
            found = _between(make, relative[0], inside[0], relative[1], inside[1])
            away = index.sub(ends[0], integer(part.shift))
            bounds = {part.var: (index.add(found[0], away), index.add(found[1], away))}
            nodes.append(_moved(part.node, own, own, bounds, ends[0]))
    return nodes


def _between(make: _Maker, lo: Expr, least: Expr, hi: Expr, most: Expr) -> tuple[Expr, Expr]:
    """The range of a part within a window, as symbols: one for equal bounds, so that sweeps over the same rows show."""
    names: list[Expr] = []
    for op, one, other in (("maximum", lo, least), ("minimum", hi, most)):
        names.append(_derived(make, "bound", Op(op, (one, other), INT)))
    return names[0], names[1]


def _derived(make: _Maker, name: str, value: Expr) -> Expr:
    """A symbol for a value, the same one for equal values."""
    source = Derived(value)
    known = next((symbol.name for symbol in make.derived if symbol.source == source), None)
    if known is None:
        known = make.fresh(name)
        make.derived.append(Symbol(known, source))
    return Var(known)
