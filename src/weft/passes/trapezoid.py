"""Time tiling.  In: a lowered program; out: loops in time around parallel sweeps over the rows of arrays, cut into
blocks of rows that stay in a core's own cache for several steps.

    for t: { parallel i: b[i] = f(a[i-1], a[i+1]);  parallel i: a[i] = f(b[i-1], b[i+1]) }
      -->  for T steps at a time:
             parallel block: for t: both sweeps over the rows of the block, one row less on either side each time
             parallel gap:   for t: both sweeps over the rows left out between two blocks, one more each time

Where too few rows fit the cache, columns are cut in the same way: blocks of both, then gaps between the blocks of one
axis, then of the other, then of both.  An element needs only what lies in its own tile or, along either axis, in a
block rather than a gap, so that this order is right if it is for each axis alone.

Every element is computed once, by the same expression from the same operands: results keep their bits.  How many rows
less follows from how far sweeps reach into each other's rows (`analysis.sweeps`).  Threads meet twice in T steps and
not in every sweep, and arrays come from memory twice in T steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from weft.analysis import cost
from weft.analysis.first import first_access
from weft.analysis.sweeps import Reach, Sweep, Sweeps, Track, reach_of, sweeps_of
from weft.ir import index as affine_index
from weft.ir.expr import Cast, Const, Dim, Expr, Limit, Op, Read, Var, integer, real
from weft.ir.program import Block, Buffer, If, Loop, LoopKind, Node, Program, Role, Stmt
from weft.ir.types import FLOAT, I64, INT, PYBOOL
from weft.ir.verify import Stage
from weft.ir.walk import buffers_read, buffers_written, free_vars, map_sub_blocks, mentions, reads, walk
from weft.passes import PassContext, declared
from weft.passes.disjoint import apart, reordered
from weft.passes.rotate import rotation_of
from weft.passes.scheduling.kinds import element_instead
from weft.passes.scheduling.lower import Workspace
from weft.passes.scheduling.unique import unique_loops
from weft.records import dataclass

PASS = "trapezoid"
# What the rows of one block may hold: most of a core's own cache.
ROOM: Expr = Op("mul", (real(0.75), Limit("private_cache")), FLOAT)
# So many steps at once: if the rows that fit the cache allow fewer, rows are cut as well.
WANTED_STEPS = 16
# At least so many blocks, to share them out.
LEAST_BLOCKS = 4
# More steps at once gain nothing: the arrays come from memory seldom enough.
MOST_STEPS = 32
# Beyond every row: symbols stay below 2**40.
_FAR = 1 << 42


@declared("trapezoid", takes=Stage.LOWERED, after=("store",), reshapes=True)
def run(program: Program, context: PassContext) -> Program:
    """Tile every outermost sequential loop around sweeps that allow it."""
    workspace = Workspace.of(program, strict=context.options.fp == "strict")
    uses = mentions(program.body)
    pairs: list[tuple[str, str]] = []

    def visit(node: Node) -> Block:
        if isinstance(node, Loop) and node.kind is LoopKind.PARALLEL:
            return (node,)
        if isinstance(node, Loop) and node.kind is LoopKind.SEQUENTIAL:
            found = tiling_of(node, program, uses, workspace)
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


# --- legality --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Cut:
    """How one axis may be cut: how far sweeps reach along it, where it begins and its extent."""

    reach: Reach
    first: Expr
    extent: Expr
    innermost: bool = False


@dataclass(frozen=True)
class Tiling:
    """A loop in time, its sweeps, the cuts along rows and columns (None: rows stay whole), the bytes of a row of all
    arrays together and of an element of a row (for all further axes), and the work of one step."""

    loop: Loop
    dim: Dim
    sweeps: Sweeps
    rows: Cut
    columns: Cut | None
    row_bytes: Expr
    column_bytes: Expr
    work: Expr
    done: Expr | None = None  # where the steps begin that are left after those in tiles (None: there are none)


def tiling_of(original: Loop, program: Program, uses: dict[str, int], workspace: Workspace) -> Tiling | str | None:
    """The parts of a tiling, or the reason against one; None if the loop is not one around parallel sweeps at all."""
    if not any(isinstance(node, Loop) and node.kind is LoopKind.PARALLEL for node in original.body):
        return None
    read, written = (set().union(*map(of, original.body)) for of in (buffers_read, buffers_written))
    if not read & written:
        return "no step uses what another one wrote"
    turned = rotation_of(original, workspace)
    if isinstance(turned, str):
        return turned
    loop = original if turned is None else turned.whole
    dim = loop.dim
    if not isinstance(dim, Dim) or dim.step != 1:
        return "it does not count up by one"
    if any(True for bound in (dim.lo, dim.hi) for _ in reads(bound)):
        return "the number of steps is read from memory"
    found = sweeps_of(loop)
    if isinstance(found, str):
        return found
    sweeps = found.sweeps
    inside = mentions(original.body)
    for name in sorted(set().union(*(sweep.scalars for sweep in sweeps))):
        outside = uses[name] > inside[name] or program.table[name].role is not Role.LOCAL
        if outside or any(name in sweep.named and first_access(sweep.loop.body, name) == "read" for sweep in sweeps):
            return f"`{name}` is used after the sweep that sets it"
    main = max(sweeps, key=lambda sweep: (sweep.rows.dim is not None, sweep.depth))
    rows = _cut(found.rows, main.rows, dim.var)
    if isinstance(rows, str):
        return rows
    columns = None
    if found.column_axes:
        across = next((track for track in main.columns if track is not None), main.rows)
        cut = _cut(found.columns, across, dim.var, {main.loop.dim.var})
        columns = replace(cut, innermost=main.depth == 2) if isinstance(cut, Cut) else None
    row_bytes, column_bytes = (_bytes(found, program.table, dim.var, whole) for whole in (True, False))
    work = cost.block_work(tuple(sweep.loop for sweep in sweeps), {dim.var: dim.lo})
    done = None if turned is None else turned.done
    return Tiling(original, dim, found, rows, columns, row_bytes, column_bytes, work, done)


def _cut(tracks: Sequence[Track], main: Track, time: str, around: frozenset[str] | set[str] = frozenset()) -> Cut | str:
    if main.dim is None:
        return "no sweep goes over rows"
    if any(True for bound in (main.dim.lo, main.dim.hi) for _ in reads(bound)):
        return "the number of rows is read from memory"
    if (free_vars(main.dim.lo) | free_vars(main.dim.hi)) & {time, *around}:
        return "the rows change from step to step"
    return Cut(reach_of(tracks), affine_index.add(main.dim.lo, integer(main.shift)), cost.extent(main.dim))


def _bytes(found: Sweeps, table: dict[str, Buffer], time: str, whole: bool) -> Expr:
    """Bytes of one row of all arrays (`whole`) or of one column of it, as a float; an axis indexed by time counts as
    one element."""
    total: Expr = real(0.0)
    axes = {name: {axis} for sweep in found.sweeps for name, axis in sweep.axes.items()}
    timed = {
        (access.buffer, axis)
        for track in found.rows
        for access in track.accesses
        for axis, position in enumerate(access.index)
        if time in free_vars(position)
    }
    if not whole:
        axes = {name: axis | {found.column_axes.get(name, -1)} for name, axis in axes.items()}
    for name in sorted(axes):
        size: Expr = real(float(table[name].type.dtype.size))
        for axis, extent in enumerate(table[name].shape):
            if axis not in axes[name] and (name, axis) not in timed:
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


def _whole(expr: Expr) -> Expr:
    """A positive float as an integer, 1 at least."""
    return _op("maximum", Cast(Op("minimum", (expr, real(2.0**40)), FLOAT), I64), 1)


def _test(op: str, left: Expr, right: Expr) -> Expr:
    return Op(op, (left, right), PYBOOL)


class _Side:
    """Variables of the code along one axis: the height of blocks, their number, which tile of which phase is done
    (phase 0 goes over blocks, phase 1 over gaps: they share their code) and between which rows it lies."""

    def __init__(self, cut: Cut, workspace: Workspace, hint: str) -> None:
        self.cut = cut
        self.height, self.count, self.left, self.right, self.tile = (
            Read(workspace.new_buffer(f"{hint}_{name}", I64).name, (), I64)
            for name in ("height", "tiles", "left", "right", "tile")
        )
        self.phase = Var(workspace.new_var(f"{hint}_phase"))

    def steps(self) -> Expr:
        """How many steps the blocks allow."""
        reach = self.cut.reach
        return _op("floordiv", _op("sub", self.height, reach.within), max(reach.step, 1))

    def tiles(self) -> Expr:
        """How many tiles a phase has."""
        return _op("sub", self.count, self.phase)

    def bounds(self, done: Expr) -> tuple[Expr, Expr]:
        """Between which rows the tile lies after so many steps."""
        reach = self.cut.reach
        gap = _test("eq", self.phase, integer(1))
        own = _op("add", self.cut.first, _op("mul", self.tile, self.height))
        last = _test("eq", self.tile, _op("sub", self.count, 1))
        left = _select(_test("eq", self.tile, Const(0, I64)), integer(-_FAR), own)
        right = _select(gap, own, _select(last, integer(_FAR), _op("add", own, self.height)))
        inwards = _op("sub", integer(reach.left_step), _op("mul", self.phase, reach.step))
        outwards = _op("sub", _op("mul", self.phase, reach.step), reach.right_step)
        return _op("add", left, _op("mul", inwards, done)), _op("add", right, _op("mul", outwards, done))

    def part(self, node: Node, track: Track, at: int) -> Node:
        """A node that is the `at`-th sweep along this axis, at those of its rows that belong to the tile."""
        left, right = self.cut.reach.left[at], self.cut.reach.right[at]
        more = _op("mul", self.phase, left + right) if left + right else integer(0)
        begin = _op("sub", _op("add", self.left, left - track.shift), more)
        end = _op("add", _op("sub", self.right, right + track.shift), more)
        if track.dim is None:
            assert track.place is not None
            row = _wide(track.place)
            here = Op("and", (_test("le", begin, row), _test("lt", row, end)), PYBOOL)
            return If(here, (node,), span=node.span)
        assert isinstance(node, Loop)
        lo = Cast(_op("maximum", track.dim.lo, begin), INT)
        hi = Cast(_op("minimum", track.dim.hi, end), INT)
        return replace(node, dim=replace(track.dim, lo=lo, hi=hi))


class _Tiler:
    """Writes one tiled loop."""

    def __init__(self, tiling: Tiling, workspace: Workspace) -> None:
        self.tiling, self.workspace = tiling, workspace
        self.steps = Read(workspace.new_buffer("tile_steps", I64).name, (), I64)
        self.rows = _Side(tiling.rows, workspace, "row")
        self.columns = None if tiling.columns is None else _Side(tiling.columns, workspace, "column")
        self.sides = (self.rows,) if self.columns is None else (self.rows, self.columns)
        self.tile, self.span = (Var(workspace.new_var(name)) for name in ("tile", "steps_block"))

    def _set(self, target: Read, value: Expr) -> Stmt:
        return Stmt((), target.buffer, (), value, None, self.tiling.loop.span)

    def nodes(self) -> Block:
        """The sizes, then the tiles if two steps at once are possible, else the loop as it was."""
        loop = self.tiling.loop
        several = _test("gt", self.steps, Const(1, I64))
        if self.tiling.done is None:
            return (*self._sizes(), If(several, (self._in_time(),), (loop,), span=loop.span))
        assert isinstance(loop.dim, Dim)
        begin = Read(self.workspace.new_buffer("first_step", INT).name, (), INT)
        tiles = (self._in_time(), self._set(begin, self.tiling.done))
        left = replace(loop, dim=replace(loop.dim, lo=begin))
        return (self._set(begin, loop.dim.lo), *self._sizes(), If(several, tiles, span=loop.span), left)

    def _sizes(self) -> Block:
        """Blocks that fit the cache, at least a few of them, and as many steps as their rows allow."""
        tiling, rows = self.tiling, self.rows
        nodes: list[Node] = [self._set(rows.height, _whole(Op("truediv", (ROOM, tiling.row_bytes), FLOAT)))]
        possible: Expr = _op("minimum", integer(MOST_STEPS), rows.steps())
        if self.columns is not None and tiling.columns is not None:
            elements = Op("truediv", (ROOM, tiling.column_bytes), FLOAT)
            wanted = tiling.rows.reach.within + WANTED_STEPS * tiling.rows.reach.step
            height = _op("minimum", _whole(Op("sqrt", (elements,), FLOAT)), wanted)
            width = _whole(Op("truediv", (elements, Cast(rows.height, FLOAT)), FLOAT))
            nodes.append(self._set(rows.height, _op("maximum", rows.height, height)))
            nodes += self._blocks(self.columns, width, 1)
            # A single block does not shrink.
            whole = _test("le", self.columns.count, Const(1, I64))
            possible = _op("minimum", possible, _select(whole, integer(MOST_STEPS), self.columns.steps()))
        nodes += self._blocks(rows, rows.height, LEAST_BLOCKS)
        return (*nodes, self._set(self.steps, possible))

    def _blocks(self, side: _Side, fitting: Expr, least: int) -> Block:
        extent = _op("maximum", side.cut.extent, 1)
        count = _op("maximum", _op("floordiv", extent, fitting), least)
        height = _op("floordiv", _op("add", extent, _op("sub", side.count, 1)), side.count)
        return self._set(side.count, count), self._set(side.height, height)

    def _in_time(self) -> Loop:
        dim, tiling = self.tiling.dim, self.tiling
        total = _op("maximum", cost.extent(dim), 0)
        spans = _op("floordiv", _op("add", total, _op("sub", self.steps, 1)), self.steps)
        count = self.rows.tiles()
        for side in self.sides[1:]:
            count = _op("mul", count, side.tiles())
        node: Node = Loop(
            Dim(self.tile.name, integer(0), Cast(count, INT)),
            (*self._numbers(), self._steps()),
            LoopKind.PARALLEL,
            work=cost.times(cost.as_float(Cast(self.steps, INT)), tiling.work),
            span=tiling.loop.span,
        )
        for side in reversed(self.sides):
            node = Loop(Dim(side.phase.name, integer(0), integer(2)), (node,), span=tiling.loop.span)
        return Loop(Dim(self.span.name, integer(0), Cast(spans, INT)), (node,), span=tiling.loop.span)

    def _numbers(self) -> Block:
        """Which tile along each axis."""
        if self.columns is None:
            return (self._set(self.rows.tile, _op("add", self.tile, self.rows.phase)),)
        across = self.columns.tiles()
        return (
            self._set(self.rows.tile, _op("add", _op("floordiv", self.tile, across), self.rows.phase)),
            self._set(self.columns.tile, _op("add", _op("mod", self.tile, across), self.columns.phase)),
        )

    def _steps(self) -> Loop:
        """The steps of one tile; before each, between which rows it lies."""
        tiling = self.tiling
        begin = _op("add", tiling.dim.lo, _op("mul", self.span, self.steps))
        end = _op("minimum", _op("add", begin, self.steps), tiling.dim.hi)
        done = _op("sub", Var(tiling.dim.var), begin)
        body: list[Node] = []
        for side in self.sides:
            left, right = side.bounds(done)
            body += (self._set(side.left, left), self._set(side.right, right))
        place = 0
        for at, sweep in enumerate(tiling.sweeps.sweeps):
            body.append(self._sweep(sweep, at, place))
            place += sum(track is not None for track in sweep.columns)
        dim = replace(tiling.dim, lo=Cast(begin, INT), hi=Cast(end, INT))
        return Loop(dim, tuple(body), span=tiling.loop.span)

    def _sweep(self, sweep: Sweep, at: int, place: int) -> Node:
        """A sweep over those of its rows that belong to the tile; its columns are those from `place` on."""
        loop = self._with_own_scalars(sweep)
        innermost = not any(isinstance(node, Loop) for node in walk(loop.body))
        loop = replace(loop, kind=LoopKind.VECTOR if innermost else LoopKind.SEQUENTIAL, work=None)
        if self.columns is None:
            return self.rows.part(loop, sweep.rows, at)
        if sweep.rows.dim is None:
            track = sweep.columns[0]
            assert track is not None
            return self.rows.part(self.columns.part(loop, track, place), sweep.rows, at)
        body: list[Node] = []
        for node, track in zip(loop.body, sweep.columns):
            body.append(node if track is None else self.columns.part(node, track, place))
            place += track is not None
        return self.rows.part(replace(loop, body=tuple(body)), sweep.rows, at)

    def _with_own_scalars(self, sweep: Sweep) -> Loop:
        """Variables of its own: those of the loop as it was would be shared between both, and not private to either."""
        loop: Node = sweep.loop
        for name in sorted(sweep.scalars):
            own = self.workspace.new_buffer(name, self.workspace.table[name].type).name
            loop = element_instead(loop, name, own)
        assert isinstance(loop, Loop)
        return loop
