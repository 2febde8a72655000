"""Time tiling.  In: a lowered program; out: loops in time around parallel sweeps over the rows of arrays, cut into
blocks of rows that stay in a core's own cache for several steps.

    for t: { parallel i: b[i] = f(a[i-1], a[i+1]);  parallel i: a[i] = f(b[i-1], b[i+1]) }
      -->  for T steps at a time:
             parallel block: for t: both sweeps over the rows of the block, one row less on either side each time
             parallel gap:   for t: both sweeps over the rows left out between two blocks, one more each time

Every element is computed once, by the same expression from the same operands: results keep their bits.  How many rows
less follows from how far sweeps reach into each other's rows (`analysis.sweeps`).  Threads meet twice in T steps and
not in every sweep, and arrays come from memory twice in T steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from weft.analysis import cost
from weft.analysis.sweeps import Reach, Sweep, reach_of, sweeps_of
from weft.ir import index as affine_index
from weft.ir.expr import Cast, Const, Dim, Expr, Op, Read, Var, integer, real
from weft.ir.program import Block, Buffer, If, Loop, LoopKind, Node, Program, Role, Stmt
from weft.ir.types import FLOAT, I64, INT, PYBOOL
from weft.ir.walk import buffers_read, buffers_written, free_vars, map_sub_blocks, reads, walk
from weft.passes import PassContext
from weft.passes.kinds import element_instead
from weft.passes.lower import Workspace
from weft.passes.unique import unique_loops

PASS = "trapezoid"
# What the rows of one block may hold: most of a second-level cache.
BLOCK_BYTES = 512 * 1024
# At least so many blocks, to share them out.
LEAST_BLOCKS = 4
# More steps at once gain nothing: the arrays come from memory seldom enough.
MOST_STEPS = 32
# Beyond every row: symbols stay below 2**40.
_FAR = 1 << 42


def run(program: Program, context: PassContext) -> Program:
    """Tile every outermost sequential loop around sweeps that allow it."""
    workspace = Workspace.of(program, strict=context.options.fp == "strict")
    uses = _uses(program.body)
    pairs: list[tuple[str, str]] = []

    def visit(node: Node) -> Block:
        if isinstance(node, Loop) and node.kind is LoopKind.PARALLEL:
            return (node,)
        if isinstance(node, Loop) and node.kind is LoopKind.SEQUENTIAL:
            found = tiling_of(node, program, uses)
            if isinstance(found, Tiling):
                context.done(PASS, "several steps at a time over blocks of rows that stay in the cache", node.span)
                pairs.extend(apart(node, program))
                return _Tiler(found, workspace).nodes()
            if found is not None:
                context.missed(PASS, f"one step at a time: {found}", node.span)
        return (map_sub_blocks(node, blocks),)

    def blocks(block: Block) -> Block:
        return tuple(new for node in block for new in visit(node))

    body = blocks(program.body)
    if not workspace.added:
        return program
    body = unique_loops(body, workspace.new_var)
    return reordered(program, body, workspace, pairs)


def reordered(program: Program, body: Block, workspace: Workspace, pairs: list[tuple[str, str]]) -> Program:
    """The program with a new body, the buffers made for it, and the pairs of arguments that must now be apart."""
    known = {frozenset(pair) for pair in program.disjoint}
    new = {frozenset(pair): pair for pair in pairs if frozenset(pair) not in known}
    return replace(
        program,
        body=body,
        buffers=(*program.buffers, *workspace.added),
        disjoint=(*program.disjoint, *new.values()),
    )


def apart(node: Node, program: Program) -> list[tuple[str, str]]:
    """Statements change their order: an argument that a node writes must not overlap another that it uses."""
    touched = buffers_read(node) | buffers_written(node)
    arrays = [buffer.name for buffer in program.buffers if buffer.role is Role.PARAM and buffer.rank]
    arrays = [name for name in arrays if name in touched]
    written = buffers_written(node)
    return [(one, other) for one in arrays if one in written for other in arrays if other != one]


def _uses(block: Block) -> dict[str, int]:
    """How often each buffer is named in a block."""
    counts: dict[str, int] = {}
    for node in walk(block):
        own = map_sub_blocks(node, lambda _: ())
        for name in buffers_read(own) | buffers_written(own):
            counts[name] = counts.get(name, 0) + 1
    return counts


# --- legality --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Tiling:
    """A loop in time, its sweeps and how far they reach; where the rows begin and how many there are, the bytes of a
    row of all arrays together, and the work of one step."""

    loop: Loop
    dim: Dim
    sweeps: tuple[Sweep, ...]
    reach: Reach
    first: Expr
    rows: Expr
    row_bytes: Expr
    work: Expr


def tiling_of(loop: Loop, program: Program, uses: dict[str, int]) -> Tiling | str | None:
    """The parts of a tiling, or the reason against one; None if the loop is not one around parallel sweeps at all."""
    if not any(isinstance(node, Loop) and node.kind is LoopKind.PARALLEL for node in loop.body):
        return None
    dim = loop.dim
    if not isinstance(dim, Dim) or dim.step != 1:
        return "it does not count up by one"
    if any(True for bound in (dim.lo, dim.hi) for _ in reads(bound)):
        return "the number of steps is read from memory"
    sweeps = sweeps_of(loop)
    if isinstance(sweeps, str):
        return sweeps
    inside = _uses(loop.body)
    for name in sorted(set().union(*(sweep.scalars for sweep in sweeps))):
        outside = uses[name] > inside[name] or program.table[name].role is not Role.LOCAL
        if outside or sum(name in sweep.named for sweep in sweeps) > 1:
            return f"`{name}` is used after the sweep that sets it"
    main = max(sweeps, key=lambda sweep: (sweep.dim is not None, sweep.depth))
    if main.dim is None:
        return "no sweep goes over rows"
    if any(True for bound in (main.dim.lo, main.dim.hi) for _ in reads(bound)):
        return "the number of rows is read from memory"
    if dim.var in free_vars(main.dim.lo) | free_vars(main.dim.hi):
        return "the rows change from step to step"
    first = affine_index.add(main.dim.lo, integer(main.shift))
    row_bytes = _row_bytes(sweeps, program.table, dim.var)
    work = cost.block_work(tuple(sweep.loop for sweep in sweeps), {dim.var: dim.lo})
    return Tiling(loop, dim, tuple(sweeps), reach_of(sweeps), first, cost.extent(main.dim), row_bytes, work)


def _row_bytes(sweeps: Sequence[Sweep], table: dict[str, Buffer], time: str) -> Expr:
    """Bytes of one row of all arrays, as a float; an axis indexed by time counts as one element."""
    total: Expr = real(0.0)
    axes = {name: axis for sweep in sweeps for name, axis in sweep.axes.items()}
    timed = {
        (access.buffer, axis)
        for sweep in sweeps
        for access in sweep.accesses
        for axis, position in enumerate(access.index)
        if time in free_vars(position)
    }
    for name in sorted(axes):
        size: Expr = real(float(table[name].type.dtype.size))
        for axis, extent in enumerate(table[name].shape):
            if axis != axes[name] and (name, axis) not in timed:
                size = cost.times(size, cost.as_float(extent))
        total = cost.plus(total, size)
    return total


# --- the rewrite -----------------------------------------------------------------------------------------------------
# Rows of tiles are NumPy's integers: far from overflow, whereas Python's would be checked for it.


def _wide(expr: Expr) -> Expr:
    if isinstance(expr, Const):
        return Const(int(expr.value.real), I64)
    return expr if expr.type == I64 else Cast(expr, I64)


def _op(op: str, left: Expr, right: Expr | int) -> Expr:
    other = Const(right, I64) if isinstance(right, int) else _wide(right)
    if op in ("add", "sub") and other == Const(0, I64):
        return _wide(left)
    if op == "add" and _wide(left) == Const(0, I64):
        return other
    return Op(op, (_wide(left), other), I64)


def _select(condition: Expr, then: Expr, otherwise: Expr) -> Expr:
    return Op("select", (condition, _wide(then), _wide(otherwise)), I64)


def _test(op: str, left: Expr, right: Expr) -> Expr:
    return Op(op, (left, right), PYBOOL)


class _Tiler:
    """Writes one tiled loop.  Blocks and gaps share their code: phase 0 goes over blocks, phase 1 over gaps."""

    def __init__(self, tiling: Tiling, workspace: Workspace) -> None:
        self.tiling, self.workspace = tiling, workspace
        self.height, self.count, self.steps = (self._scalar(name) for name in ("tile_rows", "tiles", "tile_steps"))
        self.left, self.right = self._scalar("tile_left"), self._scalar("tile_right")
        self.tile, self.phase, self.span = (Var(workspace.new_var(name)) for name in ("tile", "phase", "steps_block"))

    def _scalar(self, hint: str) -> Read:
        return Read(self.workspace.new_buffer(hint, I64).name, (), I64)

    def _set(self, target: Read, value: Expr) -> Stmt:
        return Stmt((), target.buffer, (), value, None, self.tiling.loop.span)

    def nodes(self) -> Block:
        """The sizes, then the tiles if two steps at once are possible, else the loop as it was."""
        loop = self.tiling.loop
        several = _test("gt", self.steps, Const(1, I64))
        return (*self._sizes(), If(several, (self._in_time(),), (loop,), span=loop.span))

    def _sizes(self) -> Block:
        """Blocks that fit the cache, at least a few of them, and as many steps as their rows allow."""
        tiling = self.tiling
        room = Op("minimum", (Op("truediv", (real(float(BLOCK_BYTES)), tiling.row_bytes), FLOAT), real(2.0**40)), FLOAT)
        fitting = _op("maximum", Cast(room, I64), 1)
        rows = _op("maximum", tiling.rows, 1)
        count = _op("maximum", _op("floordiv", rows, fitting), LEAST_BLOCKS)
        height = _op("floordiv", _op("add", rows, _op("sub", self.count, 1)), self.count)
        possible = _op("floordiv", _op("sub", self.height, tiling.reach.within), max(tiling.reach.step, 1))
        return (
            self._set(self.count, count),
            self._set(self.height, height),
            self._set(self.steps, _op("minimum", possible, MOST_STEPS)),
        )

    def _in_time(self) -> Loop:
        dim, tiling = self.tiling.dim, self.tiling
        total = _op("maximum", cost.extent(dim), 0)
        spans = _op("floordiv", _op("add", total, _op("sub", self.steps, 1)), self.steps)
        shares = Loop(
            Dim(self.tile.name, self.phase, Cast(self.count, INT)),
            (self._steps(),),
            LoopKind.PARALLEL,
            work=cost.times(cost.as_float(Cast(self.steps, INT)), tiling.work),
            span=tiling.loop.span,
        )
        phases = Loop(Dim(self.phase.name, integer(0), integer(2)), (shares,), span=tiling.loop.span)
        return Loop(Dim(self.span.name, integer(0), Cast(spans, INT)), (phases,), span=tiling.loop.span)

    def _steps(self) -> Loop:
        """The steps of one tile; before each, between which rows it lies."""
        tiling, reach = self.tiling, self.tiling.reach
        begin = _op("add", tiling.dim.lo, _op("mul", self.span, self.steps))
        end = _op("minimum", _op("add", begin, self.steps), tiling.dim.hi)
        done = _op("sub", Var(tiling.dim.var), begin)
        gap = _test("eq", self.phase, integer(1))
        own = _op("add", tiling.first, _op("mul", self.tile, self.height))
        last = _test("eq", self.tile, _op("sub", self.count, 1))
        left = _select(_test("eq", self.tile, integer(0)), integer(-_FAR), own)
        right = _select(gap, own, _select(last, integer(_FAR), _op("add", own, self.height)))
        inwards = _op("sub", integer(reach.left_step), _op("mul", self.phase, reach.step))
        outwards = _op("sub", _op("mul", self.phase, reach.step), reach.right_step)
        body: list[Node] = [
            self._set(self.left, _op("add", left, _op("mul", inwards, done))),
            self._set(self.right, _op("add", right, _op("mul", outwards, done))),
        ]
        for at, sweep in enumerate(tiling.sweeps):
            body.append(self._sweep(sweep, reach.left[at], reach.right[at]))
        dim = replace(tiling.dim, lo=Cast(begin, INT), hi=Cast(end, INT))
        return Loop(dim, tuple(body), span=tiling.loop.span)

    def _sweep(self, sweep: Sweep, left: int, right: int) -> Node:
        """A sweep over those of its rows that belong to the tile."""
        more = _op("mul", self.phase, left + right) if left + right else integer(0)
        begin = _op("sub", _op("add", self.left, left - sweep.shift), more)
        end = _op("add", _op("sub", self.right, right + sweep.shift), more)
        loop = self._with_own_scalars(sweep)
        innermost = not any(isinstance(node, Loop) for node in walk(loop.body))
        loop = replace(loop, kind=LoopKind.VECTOR if innermost else LoopKind.SEQUENTIAL, work=None)
        if sweep.dim is None:
            assert sweep.row is not None
            row = _wide(sweep.row)
            here = Op("and", (_test("le", begin, row), _test("lt", row, end)), PYBOOL)
            return If(here, (loop,), span=loop.span)
        lo = Cast(_op("maximum", sweep.dim.lo, begin), INT)
        hi = Cast(_op("minimum", sweep.dim.hi, end), INT)
        return replace(loop, dim=replace(sweep.dim, lo=lo, hi=hi))

    def _with_own_scalars(self, sweep: Sweep) -> Loop:
        """Variables of its own: those of the loop as it was would be shared between both, and not private to either."""
        loop: Node = sweep.loop
        for name in sorted(sweep.scalars):
            own = self.workspace.new_buffer(name, self.workspace.table[name].type).name
            loop = element_instead(loop, name, own)
        assert isinstance(loop, Loop)
        return loop
