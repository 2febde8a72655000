"""How a function is spread over machines.  In: an optimised `Program` (after the passes before the schedule) and the
sizes of one call; out: a `Plan`, a list of steps that any engine (Ray, MPI, tiles of a file) can follow.

    Stage    statements that run tile by tile.  A tile is a range lo <= t < hi of *coordinates*, the positions along
             one axis of the arrays that the stage writes, 0 <= t < extent.  A statement takes part with its own
             dimension `var`: t = var + shift.  What a tile touches of each array is a `Slice`: the elements
             lo + below .. hi + above of one axis (everything along the others), or the whole array.
             Every read sees the contents from before the stage, unless an earlier part of the same stage wrote the
             array: then it reads exactly the elements of its own tile, so tiles never wait for one another.
             `partials` are reductions over the cut dimension: each tile gives one result, and combining these by `op`
             in the order of the tiles gives the array.
    Whole    a statement that runs at one place on whole arrays, with the reason why it was not cut; scalars are such.
    Repeat   a sequential loop in the driver around steps; its variable is an integer argument of the tile programs.
    Swap     names change places: `a, b = b, a`.
    Fresh    a new array begins, with undefined or zero elements.
    Choice, Again, Leave    branches, `while` and jumps that the driver decides by numbers it waits for; a plan has them
             only if `make` is asked for `control`.

`tiles.tile_program(plan, stage)` makes of a stage an ordinary program for one tile, which goes through the usual
lowering and code generation.  `Plan.program` is the program planned: the input's, with buffers for combined partial
results added, so every name that a step mentions is in its tables.  Tiles are cut by sizes alone (`costs.block_size`),
never by the number of workers, so that results do not depend on it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from weft.analysis.cost import evaluate
from weft.cluster.access import is_box, is_product, slice_of, touches
from weft.cluster.slices import Slice
from weft.cluster.steps import (
    Again,
    Choice,
    Fresh,
    Leave,
    Part,
    Partial,
    Plan,
    Refused,
    Repeat,
    Stage,
    Step,
    Swap,
    Whole,
    Written,
    inner_steps,
    may_raise,
    stages_of,
    with_inner,
)
from weft.ir import index
from weft.ir.expr import Cast, Dim, Domain, Expr, Read, Reduce, Var, integer
from weft.ir.footprint import Touch
from weft.ir.program import (
    Alloc,
    ArgumentOut,
    Block,
    Break,
    Buffer,
    Check,
    Continue,
    If,
    Invoke,
    Library,
    Loop,
    LoopKind,
    Node,
    Program,
    Rebind,
    Return,
    Role,
    Stmt,
    While,
)
from weft.ir.types import ScalarType
from weft.ir.walk import (
    buffers_read,
    buffers_written,
    children,
    dim_children,
    expr_buffers,
    free_vars,
    fresh,
    has_exit,
    leaves,
    map_children,
    names_of,
    overwritten,
    subexpressions,
    substitute,
    touched,
    walk,
)
from weft.passes.scheduling.independent import why_not_independent
from weft.records import dataclass

__all__ = [
    "Again", "Choice", "Fresh", "Leave", "Part", "Partial", "Plan", "Refused", "Repeat", "Slice", "Stage", "Step",
    "Swap", "Whole", "Written", "across", "inner_steps", "make", "may_raise", "stages_of", "with_inner",
]  # fmt: skip

#: Reductions whose results over parts combine to the result over all, and may be taken in any order.
COMBINABLE = frozenset({"add", "mul", "minimum", "maximum", "and", "or", "bitand", "bitor", "bitxor"})
#: Of how many machines a choice is thought that copies an array to all of them.
_NOMINAL_MACHINES = 4
#: What all tiles of a product need counts if it is at least one part in so many of all that it touches.
_SHARED_PART = 8


def make(
    program: Program, sizes: Mapping[str, int], strict: bool = False, control: bool = False, grids: bool = False
) -> Plan:
    """The plan of a program; `sizes` (of symbols) weigh choices only, `strict`: sums keep their order, so are not cut.

    `control`: the engine can take branches, `while` loops and several returns by values that it waits for; `grids`: it
    can cut products along two dimensions, so that they are stages of their own.

    Raises Refused if the program has a form that no engine can follow, or no stage at all.
    """
    if program.functions:
        raise Refused("it calls itself, or functions that do")
    *body, last = program.body or (None,)
    if not isinstance(last, Return) or (not control and any(isinstance(node, Return) for node in walk(tuple(body)))):
        raise Refused("it returns in more than one place")
    if any(buffer.rank and buffer.type.weak for buffer in program.buffers):
        raise Refused("it works on lists")
    if any(isinstance(leaf, ArgumentOut) for out in program.results for leaf in leaves(out)):
        raise Refused("it changes attributes of an argument")
    planner = _Planner(program, sizes, strict, control, grids)
    steps = planner.block(tuple(body))
    if not any(not isinstance(node, Check) for stage in stages_of(steps) for node in stage.nodes):
        raise Refused("; ".join(planner.notes) or "it has no statement over an array that can be cut")
    _no_late_check(planner.program, tuple(body))
    steps = _with_temporaries(planner.program, steps)
    return Plan(planner.program, steps, last.result, dict(planner.placed), tuple(planner.notes))


def _no_late_check(program: Program, body: Block) -> None:
    """An exception after an argument was changed would leave it half changed, and engines change it at the end."""
    changed = False
    for node in body:
        raises = any(isinstance(inner, (Check, Invoke)) for inner in walk((node,)))
        if raises and (changed or (not isinstance(node, Check) and _changes_argument(program, node))):
            raise Refused("it may raise after it has changed an argument")
        changed = changed or _changes_argument(program, node)


def _changes_argument(program: Program, node: Node) -> bool:
    return any(program.table[name].role is Role.PARAM for name in buffers_written(node))


def across(program: Program, stage: Stage) -> Stage | str:
    """The statements of a stage cut along another dimension of what they write, the last one that all of them have; or
    why there is none.  With both cuts at once tiles are boxes.
    """
    planner = _Planner(program, {}, True, False)
    axes = {write.buffer: write.axis for write in stage.writes}
    group: _Group | None = None
    for part in stage.parts:
        found = [planner.by_write(part.node, dim) for dim in getattr(part.node, "domain", ())]
        usable = [
            candidate
            for candidate in found
            if candidate is not None and all(write.axis != axes.get(write.buffer) for write in candidate.writes)
        ]
        if not usable or not isinstance(part.node, Stmt):
            return "no other dimension of what it writes can be cut"
        best = max(usable, key=lambda candidate: min(write.axis for write in candidate.writes))
        why = None if group is None else group.why_not(best)
        if why is not None:
            return why
        if group is None:
            group = _Group(best)
        else:
            group.take(best)
    assert group is not None
    return group.stage(stage.name)


# --- one statement ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Candidate:
    """One way to cut a statement."""

    part: Part
    extent: Expr
    reads: tuple[Slice, ...]
    writes: tuple[Written, ...]
    partials: tuple[Partial, ...]
    in_place: frozenset[str] = frozenset()  # arrays whose old contents are read through the memory that is written
    alone: bool = False  # a stage of its own


class _Group:
    """A stage that is being gathered."""

    def __init__(self, first: _Candidate) -> None:
        self.extent = first.extent
        self.alone = first.alone
        self.parts: list[Part] = []
        self.reads: dict[str, Slice] = {}
        self.writes: dict[str, Written] = {}
        self.partials: dict[str, Partial] = {}
        self.take(first)

    def why_not(self, new: _Candidate) -> str | None:
        """Why a statement cannot run in the same tasks as those before it; None if it can."""
        if self.alone or new.alone:
            return "a product has tiles of its own"
        if new.extent != self.extent:
            return "its tiles are of another range"
        shared = buffers_read(new.part.node) & self.partials.keys()
        if shared:
            return f"it needs all of {min(shared)}, which the tiles before it only hold parts of"
        for piece in new.reads:
            written = self.writes.get(piece.buffer)
            if written is not None and (piece.axis, piece.below, piece.above) != (written.axis, 0, 0):
                return f"it needs elements of {piece.buffer} that other tiles write"
        for write in new.writes:
            before = self.writes.get(write.buffer)
            if write.buffer in self.partials or (before is not None and before.axis != write.axis):
                return f"{write.buffer} is written in another way before"
            if write.buffer in new.in_place and write.buffer in self.reads:
                return f"{write.buffer} is changed in place"
        if any(partial.buffer in self.touched() for partial in new.partials):
            return "it combines results into what is used before"
        return None

    def take(self, new: _Candidate) -> None:
        for piece in new.reads:
            if piece.buffer in self.writes:
                continue  # an element that this very tile has written
            old = self.reads.get(piece.buffer)
            self.reads[piece.buffer] = piece if old is None else old.hull(piece)
        for write in new.writes:
            before = self.writes.get(write.buffer)
            box = write.box if before is None or before.box == write.box else None
            self.writes[write.buffer] = replace(write, box=box)
        for partial in new.partials:
            self.partials[partial.buffer] = partial
        self.parts.append(new.part)

    def touched(self) -> set[str]:
        """Everything that the statements so far use, numbers included."""
        return {*self.partials, *(name for part in self.parts for name in _named(part.node))}

    def stage(self, name: str) -> Stage:
        # Where parts cover different ranges, a tile may lie beyond the range of the one that reads furthest.
        ragged = len({(part.lo, part.hi) for part in self.parts}) > 1
        reads = [
            replace(piece, clipped=True) if ragged and (piece.below or piece.above) else piece
            for piece in self.reads.values()
        ]
        return Stage(
            name,
            tuple(self.parts),
            self.extent,
            tuple(reads),
            tuple(self.writes.values()),
            tuple(self.partials.values()),
            alone=self.alone,
        )


class _Planner:
    """Walks blocks in order and gathers stages."""

    def __init__(
        self, program: Program, sizes: Mapping[str, int], strict: bool, control: bool, grids: bool = False
    ) -> None:
        self.program = program
        self.grids = grids
        self.control = control
        self.sizes = dict(sizes)
        self.strict = strict
        self.placed: dict[str, int] = {}
        self.notes: list[str] = []
        self.count = 0

    def block(self, block: Block) -> tuple[Step, ...]:
        steps: list[Step] = []
        group: _Group | None = None

        def close() -> None:
            nonlocal group
            if group is not None:
                steps.append(group.stage(self.name()))
                group = None

        pending = list(reversed(block))
        while pending:
            node = pending.pop()
            if isinstance(node, Alloc):
                if group is not None and node.buffer in group.touched():
                    close()
                if self.program.table[node.buffer].rank:
                    steps.append(Fresh(node.buffer, node.zero))  # ahead of the stage, which has not touched it
                continue
            if self.is_scalar(node):
                if group is not None and _named(node) & group.touched():
                    close()
                steps.append(Whole(self.name(), (node,)))
                continue
            if isinstance(node, Rebind):
                close()
                steps.append(self.swap(node))
                continue
            if self.control and isinstance(node, (If, While)):
                taken_out = self.without_sums(node)
                if taken_out is not None:
                    pending.extend(reversed(taken_out))
                    continue
            candidates = self.candidates(node)
            if candidates:
                best = min(candidates, key=lambda c: self.price(c, group))
                if best.partials and isinstance(best.part.node, Stmt) and not self.is_share(best):
                    pending.extend(reversed(self.split(best)))
                    continue
                best = replace(best, alone=self.is_large_product(best))
                why = None if group is None else group.why_not(best)
                if why is not None:
                    self.notes.append(f"line {node.span.line}: a new stage, since {why}")
                    close()
                self.place(best)
                if group is None:
                    group = _Group(best)
                else:
                    group.take(best)
                continue
            close()
            steps.append(self.other(node))
        close()
        return tuple(steps)

    def name(self) -> str:
        self.count += 1
        return f"{self.program.name}_{self.count}"

    def is_scalar(self, node: Node) -> bool:
        """Whether a node only computes with numbers."""
        simple = isinstance(node, (Stmt, Check)) and not node.domain
        return simple and all(not self.program.table[name].rank for name in touched(node))

    def swap(self, node: Rebind) -> Swap:
        if any(self.program.table[name].role is Role.PARAM for name in node.targets):
            raise Refused("an argument changes places with another array")
        return Swap(node.targets, node.sources)

    def other(self, node: Node) -> Step:
        """A node that cannot be cut: a loop of steps, or at one place."""
        if self.control:
            step = self.controlled(node)
            if step is not None:
                return step
        if isinstance(node, (Break, Continue)) or has_exit((node,)):
            raise Refused(f"line {node.span.line}: a loop is left early")
        refusal = ""
        if isinstance(node, Loop) and isinstance(node.dim, Dim) and node.kind is LoopKind.SEQUENTIAL:
            before = (self.program, dict(self.placed), list(self.notes), self.count)
            self.sizes[node.dim.var] = int(evaluate(node.dim.lo, self.sizes, 1) or 0)
            try:
                steps = self.block(node.body)
            except Refused as problem:
                steps = ()
                # What runs at one place may do more than steps can, but names that change places are steps.
                refusal = str(problem) if any(isinstance(inner, Rebind) for inner in walk((node,))) else ""
            if self.is_worth(steps):
                return Repeat(node.dim, steps)
            self.program, self.placed, self.notes, self.count = before
        if refusal:
            raise Refused(refusal)
        if any(isinstance(inner, (Invoke, Rebind)) for inner in walk((node,))):
            raise Refused(f"line {node.span.line}: it calls what weft does not see into")
        reason = self.reason(node)
        self.notes.append(f"line {node.span.line}: at one place, since {reason}")
        return Whole(self.name(), (node,), reason)

    def controlled(self, node: Node) -> Step | None:
        """A branch, a `while` or a jump as a step of the driver's."""
        if isinstance(node, Return):
            return Leave("return", node.result)
        if isinstance(node, (Break, Continue)):
            return Leave("break" if isinstance(node, Break) else "continue")
        if not isinstance(node, (If, While)):
            return None
        if any(self.program.table[name].rank for name in expr_buffers(node.condition)):
            return None  # `block` has taken sums out of it: what is left looks at elements
        before = (self.program, dict(self.placed), list(self.notes), self.count)
        if isinstance(node, If):
            choice = Choice(node.condition, self.block(node.then), self.block(node.orelse))
            if has_exit((node,)) or any(True for _ in stages_of((choice,))):
                return choice
        else:
            again = Again(self.block(node.prelude), node.condition, self.block(node.body))
            if has_exit((node,)) or self.is_worth((*again.prelude, *again.body)):
                return again
        self.program, self.placed, self.notes, self.count = before
        return None

    def without_sums(self, node: If | While) -> list[Node] | None:
        """A branch on reductions of arrays, with these taken out: a few statements and a branch on numbers."""
        if not any(isinstance(e, Reduce) for e in subexpressions(node.condition)):
            return None
        name = fresh("condition", names_of(self.program))
        self.program = replace(self.program, buffers=(*self.program.buffers, Buffer(name, node.condition.type, ())))
        test = Stmt((), name, (), node.condition, span=node.span)
        read = Read(name, (), node.condition.type)
        if isinstance(node, If):
            return [test, replace(node, condition=read)]
        return [replace(node, prelude=(*node.prelude, test), condition=read)]

    def is_worth(self, steps: tuple[Step, ...]) -> bool:
        """Whether a loop should be one of the driver's: something in it is cut, and nothing large is not."""
        return any(True for _ in stages_of(steps)) and not any(self.is_heavy(step) for step in steps)

    def is_heavy(self, step: Step) -> bool:
        return isinstance(step, Whole) and any(
            self.program.table[name].rank for node in step.nodes for name in _named(node)
        )

    def reason(self, node: Node) -> str:
        if isinstance(node, While):
            return "how often a loop runs is only known while it runs"
        if isinstance(node, Loop):
            return self.why_not_cut(node) or "its iterations write more than elements of their own"
        if isinstance(node, Library):
            return f"the routine {node.routine} takes whole arrays"
        return "no dimension of what it writes can be cut"

    # --- candidates ---

    def candidates(self, node: Node) -> list[_Candidate]:
        """The ways to cut a node, the outermost dimension first."""
        if isinstance(node, Stmt):
            found = [self.by_write(node, dim) for dim in node.domain]
            if node.reduce is None:
                found += [self.by_reduction(node, reduce, dim) for reduce in _reductions(node) for dim in reduce.dims]
            return [candidate for candidate in found if candidate is not None]
        if isinstance(node, (Library, Check)):
            found = [self.by_write(node, dim) for dim in node.domain]
            return [candidate for candidate in found if candidate is not None]
        if isinstance(node, Loop) and isinstance(node.dim, Dim) and self.why_not_cut(node) is None:
            candidate = self.by_write(node, node.dim)
            return [] if candidate is None else [candidate]
        return []

    def why_not_cut(self, loop: Loop) -> str | None:
        inside = [id(node) for node in walk((loop,))]
        outside = {name for node in walk(self.program.body) if id(node) not in inside and not isinstance(node, Loop)
                   for name in touched(node)}  # fmt: skip
        return why_not_independent(loop, self.program, outside, processes=True)

    def cuttable(self, dim: object, domain: Domain) -> bool:
        """A dense dimension, one by one, whose bounds are numbers known in the driver."""
        if not isinstance(dim, Dim) or dim.step != 1:
            return False
        inner = {other.var for other in domain}
        return all(
            not (free_vars(e) & inner) and index.affine(e) is not None for e in dim_children(dim)
        )

    def by_write(self, node: Stmt | Library | Check | Loop, dim: object) -> _Candidate | None:
        """Cut along a dimension of the elements that are written: tiles write elements of their own."""
        domain = (node.dim,) if isinstance(node, Loop) else node.domain
        if not isinstance(dim, Dim) or not self.cuttable(dim, domain):
            return None
        found = list(touches(node))
        local = {inner.buffer for inner in walk((node,)) if isinstance(inner, Alloc)}
        private = {name for name in buffers_written(node) if not self.program.table[name].rank} | local
        writes = [t for t in found if t.write and t.buffer not in private]
        places = {(t.buffer, slice_of(t, dim.var)) for t in writes}
        if len(places) != len({name for name, _ in places}) or any(piece is None for _, piece in places):
            return None
        pieces = {name: piece for name, piece in places if piece is not None}
        shifts = {piece.below for piece in pieces.values()} | {piece.above for piece in pieces.values()}
        if len(shifts) > 1 or (not pieces and not isinstance(node, Check)):
            return None
        shift = shifts.pop() if shifts else 0
        extents = {self.program.table[name].shape[_axis(piece)] for name, piece in pieces.items()}
        if len(extents) > 1:
            return None
        extent = extents.pop() if extents else dim.hi
        part = Part(node, dim.var, shift, index.add(dim.lo, integer(shift)), index.add(dim.hi, integer(shift)))
        in_place = self.in_place(node, pieces)
        reads = self.slices([t for t in found if not t.write and t.buffer not in private], part)
        if in_place is None or any(
            piece.buffer in in_place and piece != Slice(piece.buffer, pieces[piece.buffer].axis) for piece in reads
        ):
            return None
        status = [Partial(node.status, "and")] if isinstance(node, Library) and node.status is not None else []
        boxes = tuple(
            Written(name, _axis(piece), None if name in in_place else is_box(node, name))
            for name, piece in sorted(pieces.items())
        )
        return _Candidate(part, extent, reads, boxes, tuple(status), in_place)

    def in_place(self, node: Node, pieces: Mapping[str, Slice]) -> frozenset[str] | None:
        """Arrays that a node reads through the memory it writes; None if it overwrites what is only its input."""
        if isinstance(node, Library):
            changed = {name for name in overwritten(node) if self.program.table[name].rank}
            return None if changed - pieces.keys() else frozenset(changed & {o.buffer for o in node.inputs})
        if isinstance(node, Stmt):
            return frozenset({node.buffer} if node.reduce is not None else ())
        return frozenset(buffers_read(node) & pieces.keys())

    def by_reduction(self, stmt: Stmt, reduce: Reduce, dim: object) -> _Candidate | None:
        """Cut along a dimension of a sum (or the like) of the statement's value: tiles give results to be combined."""
        ordered = self.strict and reduce.op in ("add", "mul") and reduce.type.dtype.is_inexact
        if reduce.op not in COMBINABLE or ordered or (reduce.type.weak and reduce.type.dtype.is_integer):
            return None
        if not isinstance(dim, Dim) or not self.cuttable(dim, stmt.domain + reduce.dims):
            return None
        bounds = [e for d in stmt.domain for e in dim_children(d)]
        inner = {d.var for d in stmt.domain}
        dense = all(isinstance(d, Dim) and d.step == 1 for d in stmt.domain)
        if not dense or any(free_vars(e) & inner for e in bounds):
            return None
        touching = [t for t in touches(stmt) if not t.write]
        part = Part(stmt, dim.var, 0, dim.lo, dim.hi)
        reads = self.slices(touching, part)
        along = [piece for piece in reads if piece.axis is not None]
        if not along:
            return None
        first = along[0]
        assert first.axis is not None
        extent = self.program.table[first.buffer].shape[first.axis]
        return _Candidate(part, extent, reads, (), (Partial(stmt.buffer, reduce.op),))

    def slices(self, found: list[Touch], part: Part) -> tuple[Slice, ...]:
        """What a tile reads of each array, in coordinates of the tile."""
        reads: dict[str, Slice] = {}
        for touch in found:
            if not self.program.table[touch.buffer].rank:
                continue
            piece = slice_of(touch, part.var)
            piece = Slice(touch.buffer, None) if piece is None else piece.moved(-part.shift)
            old = reads.get(touch.buffer)
            reads[touch.buffer] = piece if old is None else old.hull(piece)
        return tuple(reads.values())

    # --- reductions ---

    def is_share(self, candidate: _Candidate) -> bool:
        """Whether a statement is nothing but a reduction into a whole array of its own, so each tile gives a share."""
        stmt = candidate.part.node
        assert isinstance(stmt, Stmt)
        buffer = self.program.table[stmt.buffer]
        plain = isinstance(stmt.value, Reduce) and stmt.value.type == buffer.type
        straight = stmt.index == tuple(Var(dim.var) for dim in stmt.domain)
        full = straight and all(
            isinstance(dim, Dim) and (index.canonical(dim.lo), index.canonical(dim.hi)) == (integer(0), size)
            for dim, size in zip(stmt.domain, buffer.shape)
        )
        return plain and full and buffer.role is not Role.PARAM and stmt.buffer not in buffers_read(stmt)

    def split(self, candidate: _Candidate) -> list[Node]:
        """A statement with a reduction inside it as two: the reduction into memory of its own, and the rest.

            result = sqrt(sum[k] x[k])   -->   total = sum[k] x[k];  result = sqrt(total)
        """
        stmt = candidate.part.node
        assert isinstance(stmt, Stmt)
        made: list[Node] = []

        def visit(expr: Expr) -> Expr:
            if not isinstance(expr, Reduce):
                return map_children(expr, visit)
            name = fresh("total", names_of(self.program))
            of = expr.type
            dims = tuple(dim for dim in stmt.domain if isinstance(dim, Dim) and dim.var in free_vars(expr))
            if dims and of.weak:
                of = ScalarType(of.dtype)
            renamed = self.renamed(dims)
            shape = tuple(index.sub(dim.hi, dim.lo) for dim in dims)
            self.program = replace(self.program, buffers=(*self.program.buffers, Buffer(name, of, shape)))
            moved = {dim.var: index.add(Var(new.var), dim.lo) for dim, new in zip(dims, renamed)}
            inner = substitute(expr, moved)
            value = inner if of == inner.type else Cast(inner, of)
            if dims:
                made.append(Alloc(name, span=stmt.span))
            made.append(Stmt(renamed, name, tuple(Var(dim.var) for dim in renamed), value, span=stmt.span))
            place = tuple(index.sub(Var(dim.var), dim.lo) for dim in dims)
            read = Read(name, place, of)
            return read if of == expr.type else Cast(read, expr.type)

        value = visit(stmt.value)
        return [*made, replace(stmt, value=value)]

    def renamed(self, dims: tuple[Dim, ...]) -> tuple[Dim, ...]:
        taken = names_of(self.program)
        found = []
        for dim in dims:
            name = fresh(dim.var, taken)
            taken.add(name)
            found.append(Dim(name, integer(0), index.sub(dim.hi, dim.lo)))
        return tuple(found)

    def is_large_product(self, candidate: _Candidate) -> bool:
        """Whether a statement is a product for which every tile of rows needs much of what there is."""
        node = candidate.part.node
        if not self.grids or not isinstance(node, Stmt) or node.reduce is not None or candidate.partials:
            return False
        total = sum(self.bytes_of(name) for name in _named(node) if self.program.table[name].rank)
        shared = [self.bytes_of(piece.buffer) for piece in candidate.reads if piece.axis is None]
        large = sum(shared) * _SHARED_PART >= total
        return large and any(is_product(reduce) for reduce in _reductions(node))

    # --- choosing ---

    def bytes_of(self, name: str) -> float:
        buffer = self.program.table[name]
        total = float(buffer.type.dtype.numpy.itemsize)
        for extent in buffer.shape:
            total *= max(evaluate(extent, self.sizes, 1000.0) or 1.0, 1.0)
        return total

    def price(self, candidate: _Candidate, group: _Group | None) -> float:
        """Bytes that a way of cutting moves, roughly: arrays for everybody, arrays that are cut along another axis."""
        total = 0.0
        # On a grid of machines each needs the rows and the columns of its block, wherever they are now.
        on_grid = self.is_large_product(candidate)
        for piece in candidate.reads:
            size = self.bytes_of(piece.buffer)
            axis = self.placed.get(piece.buffer)
            if on_grid:
                total += size * (_NOMINAL_MACHINES**0.5 - 1.0)
            elif piece.axis is None:
                total += size * _NOMINAL_MACHINES
            elif axis is not None and axis != piece.axis:
                total += size
            elif piece.axis:
                total += size * 0.01  # rows lie together, columns do not
        for write in candidate.writes:
            axis = self.placed.get(write.buffer)
            total += self.bytes_of(write.buffer) * (1.0 if axis not in (None, write.axis) else 0.01 * bool(write.axis))
        for partial in candidate.partials:
            total += self.bytes_of(partial.buffer) * _NOMINAL_MACHINES + 1.0
        few = evaluate(candidate.extent, self.sizes, 1000.0) or 1.0
        return total * (1.0 if few >= _NOMINAL_MACHINES else 100.0) + (few < _NOMINAL_MACHINES)

    def place(self, candidate: _Candidate) -> None:
        """Remember along which axis arrays are cut."""
        for piece in candidate.reads:
            if piece.axis is not None:
                self.placed.setdefault(piece.buffer, piece.axis)
        for write in candidate.writes:
            self.placed[write.buffer] = write.axis


def _named(node: Node) -> set[str]:
    """Buffers that a node or anything inside it names."""
    return buffers_read(node) | buffers_written(node)


def _axis(piece: Slice) -> int:
    assert piece.axis is not None
    return piece.axis


def _reductions(stmt: Stmt) -> list[Reduce]:
    """The outermost reductions of a value that are always computed."""
    found: list[Reduce] = []

    def visit(expr: Expr) -> None:
        if isinstance(expr, Reduce):
            found.append(expr)
            return
        for child in children(expr):
            visit(child)

    if not any(getattr(e, "op", None) == "select" for e in subexpressions(stmt.value)):
        visit(stmt.value)
    return found


def _with_temporaries(program: Program, steps: tuple[Step, ...]) -> tuple[Step, ...]:
    """Arrays that begin and end inside one stage belong to its tiles: nobody else ever sees them."""
    users: dict[str, list[int]] = {}
    born: dict[str, list[tuple[int, int]]] = {}

    def note(block: tuple[Step, ...], depth: tuple[int, int]) -> None:
        for step in block:
            for block_number, inner in enumerate(inner_steps(step)):
                note(inner, (id(step), block_number))
            if isinstance(step, Fresh):
                born.setdefault(step.buffer, []).append(depth)
            elif isinstance(step, Swap):
                for name in step.targets:
                    users.setdefault(name, []).append(-1)
            elif isinstance(step, (Stage, Whole)):
                for name in {n for node in step.nodes for n in _named(node)}:
                    users.setdefault(name, []).append(id(step))
                if isinstance(step, Stage):
                    levels.setdefault(id(step), depth)

    levels: dict[int, tuple[int, int]] = {}
    note(steps, (0, 0))

    def is_temporary(stage: Stage, write: Written) -> bool:
        name = write.buffer
        local = program.table[name].role is Role.LOCAL
        inside = set(users[name]) == {id(stage)} and born.get(name) == [levels[id(stage)]]
        return local and inside and all(piece.buffer != name for piece in stage.reads)

    gone: set[str] = set()

    def change(block: tuple[Step, ...]) -> tuple[Step, ...]:
        new: list[Step] = []
        for step in block:
            step = with_inner(step, change)
            if isinstance(step, Stage):
                own = tuple(write.buffer for write in step.writes if is_temporary(step, write))
                gone.update(own)
                writes = tuple(write for write in step.writes if write.buffer not in own)
                step = replace(step, writes=writes, temporaries=own)
            new.append(step)
        return tuple(new)

    def drop(block: tuple[Step, ...]) -> tuple[Step, ...]:
        left = [with_inner(step, drop) for step in block]
        return tuple(step for step in left if not (isinstance(step, Fresh) and step.buffer in gone))

    return drop(change(steps))
