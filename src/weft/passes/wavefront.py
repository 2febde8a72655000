"""Wavefronts.  In: nests of two loops that both carry dependences (Gauss-Seidel sweeps, dynamic programming); out:
tiles of them on diagonals: the diagonals one after the other, the tiles of one in parallel.

    for i: for j: a[i, j] = f(a[i-1, j], a[i, j-1])
      -->   for w: parallel tile (i0, j0) on diagonal w: the iterations of the tile

Inside a tile the iterations run in vectors along a diagonal (`wave_window`), or in their order, with the part of a
reduction that needs nothing of the tile computed for the whole tile at once (`wave_blocks`).  Only the order of
iterations that do not depend on each other changes: results keep their bits.  `analysis.waves` decides what is legal.
"""

from __future__ import annotations

from dataclasses import field, replace

from weft.analysis import cost
from weft.analysis.effects import returned
from weft.analysis.facts import entry_facts
from weft.analysis.first import first_access
from weft.analysis.scopes import lasting_writes
from weft.analysis.waves import Axis, Nest, Pair, axis_of, carries, least_skew, nest_of, pairs_of
from weft.ir import index as affine_index
from weft.ir.expr import Dim, Expr, integer, real
from weft.ir.program import Block, Call, Check, If, Library, Loop, LoopKind, Node, Program, Rebind, Role, Stmt
from weft.ir.walk import (
    buffers_read,
    buffers_written,
    has_exit,
    map_sub_blocks,
    mentions,
    node_exprs,
    reads,
    substitute,
    walk,
)
from weft.passes import PassContext, declared
from weft.passes.disjoint import apart, reordered
from weft.passes.scheduling.lower import Workspace
from weft.passes.scheduling.unique import unique_loops
from weft.passes.waves.absorb import absorbed
from weft.passes.waves.blocks import Blocked
from weft.passes.waves.fill import fewer_fills
from weft.passes.waves.grid import Grid, Size
from weft.passes.waves.window import Window, Windowed, windows_of
from weft.records import dataclass

PASS = "wavefront"
# Rows of a window: enough for vectors along its diagonals, few enough for a core's own caches.
ROWS = 64
# Columns more than the least number: long pieces of a row go to and from memory faster.
MORE_COLUMNS = 192
# Rows and columns of a tile in the order of the source.
BLOCK: Size = (64, 64)
# Below so many iterations of either loop the nest stays as it is.
LEAST = 24


@declared("wavefront", after=("match",), reshapes=True)
def run(program: Program, context: PassContext) -> Program:
    """Tile every nest that allows it."""
    if not any(isinstance(node, Loop) and (nest_of(node) or len(node.body) == 2) for node in walk(program.body)):
        return program
    workspace = Workspace.of(program, strict=context.options.fp == "strict")
    pass_ = _Wavefronts(program, context, workspace, mentions(program.body), [])
    body = pass_.block(program.body)
    if not pass_.found:
        return program
    return reordered(program, unique_loops(body, workspace.new_var), workspace, pass_.pairs)


@dataclass(frozen=True)
class Legal:
    """A nest whose loops both carry dependences, by positions, and the variables that belong to one iteration."""

    nest: Nest
    axes: tuple[Axis, Axis]
    private: frozenset[str]
    pairs: tuple[Pair, ...]


@dataclass
class _Wavefronts:
    program: Program
    context: PassContext
    workspace: Workspace
    uses: dict[str, int]
    pairs: list[tuple[str, str]]
    found: bool = False
    computed: dict[int, tuple[Grid, list[Window]]] = field(default_factory=dict)  # by the identity of the loop

    def block(self, block: Block) -> Block:
        done: Block = ()
        for node in block:
            tiles = self.node(node)
            if id(node) in self.computed:
                done = fewer_fills(done, *self.computed[id(node)], self.program, self.workspace.taken)
            done = (*done, *tiles)
        return done

    def node(self, node: Node) -> Block:
        if isinstance(node, Loop) and node.kind is LoopKind.PARALLEL:
            return (node,)
        node = self.whole(node) if isinstance(node, Loop) else node
        nest = nest_of(node) if isinstance(node, Loop) else None
        if nest is not None:
            inner = nest.loop.body[0]
            inner = self.whole(inner) if isinstance(inner, Loop) else inner
            # The innermost two loops are tried first: there vectors are to be gained.
            if isinstance(inner, Loop) and nest_of(inner) is not None:
                inside = self.node(inner)
                if inside != (inner,):
                    return (map_sub_blocks(node, lambda _: inside),)
            tiles = self.tiles(nest)
            if isinstance(tiles, str):
                self.context.missed(PASS, f"iterations in their order: {tiles}", node.span)
            elif tiles is not None:
                self.found = True
                self.pairs += apart(node, self.program)
                return tiles
        return (map_sub_blocks(node, self.block),)

    def whole(self, loop: Loop) -> Loop:
        """The loop with the row that it computes beforehand as a part of the loop over the row, if that makes a nest
        which runs in vectors along its diagonals."""
        if len(loop.body) != 2 or not isinstance(loop.body[0], Stmt) or not isinstance(loop.body[1], Loop):
            return loop
        inner = absorbed(loop.body[0], loop.body[1], entry_facts(self.program).with_dim(loop.dim))
        nest = None if isinstance(inner, str) else nest_of(replace(loop, body=(inner,)))
        legal = None if nest is None else self.legal(nest)
        if nest is None or not isinstance(legal, Legal):
            return loop
        fit = not isinstance(windows_of(nest, legal.private, self.program.table), str)
        return nest.loop if fit and least_skew(nest, legal.pairs, 1) is not None else loop

    def tiles(self, nest: Nest) -> Block | str | None:
        legal = self.legal(nest)
        if not isinstance(legal, Legal):
            return legal
        windows = windows_of(nest, legal.private, self.program.table)
        tiles = windows if isinstance(windows, str) else self.windowed(legal, windows)
        return self.blocked(legal) if isinstance(tiles, str) else tiles

    def legal(self, nest: Nest) -> Legal | str | None:
        """Whether both loops carry dependences, in a way that is known; None if they are not a nest of this kind."""
        axes = axis_of(nest.outer), axis_of(nest.inner)
        for axis in axes:
            if isinstance(axis, str):
                return axis
        if has_exit(nest.body):
            return "the loop may be left early"
        for node in walk(nest.body):
            if not isinstance(node, (Stmt, If, Loop, Check)):
                return "more than assignments in the nest"
            if isinstance(node, Check) and (self.context.alone or lasting_writes(self.program)):
                return "its order matters: it may raise"
        private = self.private(nest)
        if isinstance(private, str):
            return private
        pairs = pairs_of(nest, private)
        if isinstance(pairs, str):
            return pairs
        if not all(carries(nest, pairs)):
            return None
        outer, inner = axes
        if isinstance(outer, Axis) and len(outer.lows) + len(outer.highs) > 2:
            return "several bounds of the outer loop"
        assert isinstance(outer, Axis) and isinstance(inner, Axis)
        return Legal(nest, (outer, inner), private, tuple(pairs))

    def private(self, nest: Nest) -> frozenset[str] | str:
        """The variables that every iteration sets for itself, or why one is not such."""
        inside = mentions((nest.loop,))
        kept = returned(self.program)
        found: set[str] = set()
        for name in sorted(set().union(*(buffers_written(node) for node in nest.body))):
            buffer = self.program.table[name]
            if buffer.rank:
                continue
            alone = buffer.role is Role.LOCAL and name not in kept and self.uses[name] == inside[name]
            if not alone or first_access(nest.body, name) != "written":
                return f"`{name}` goes from one iteration to the next, or is used after the nest"
            found.add(name)
        return frozenset(found)

    def windowed(self, legal: Legal, windows: list[Window]) -> Block | str:
        """Tiles in windows, beside the nest as it is for the case that there is little of it."""
        nest = legal.nest
        least = least_skew(nest, legal.pairs, 1)
        if least is None:
            return "a dependence that no skew brings into order"
        skew = max(least, 1)  # a larger one is as good, and along a diagonal each row has one element
        # As many columns as the next strip must stay behind: it is then the next but one tile that may run with this.
        reach = max((max(window.reach(skew)[2:]) for window in windows), default=0)
        rows, columns = ROWS, MORE_COLUMNS + skew * ROWS + reach
        grid = self.grid(legal, skew, 2, (rows, columns))
        borders = (*grid.inner.lows, *grid.inner.highs)
        if any(border.coefficient(grid.outer.var) + skew <= 0 for border in borders):
            return "a border that runs along the diagonals"
        cycles = float(rows * columns) * sum(float(_cycles(node)) for node in walk(nest.body))
        windows = [replace(window, brief=self.is_brief(nest, window)) for window in windows]
        body = Windowed(grid, windows, legal.private, self.workspace).body()
        self.computed[id(nest.loop)] = grid, windows
        self.context.done(PASS, f"tiles of {rows} x {columns} on diagonals, each in vectors", nest.loop.span)
        return self.either(grid, body, cycles)

    def is_brief(self, nest: Nest, window: Window) -> bool:
        """Whether, of a local array that the nest computes, the rest of the program reads only the last row."""
        buffer = window.buffer
        if not window.fresh or self.program.table[buffer].role is not Role.LOCAL or buffer in returned(self.program):
            return False
        axis = window.axes[0]
        last = substitute(window.place.index[axis], {nest.outer.var: _last(nest.outer)})
        inside = {id(node) for node in walk((nest.loop,))}
        for node in walk(self.program.body):
            if id(node) in inside or buffer not in buffers_read(map_sub_blocks(node, lambda _: ())):
                continue
            if isinstance(node, (Call, Library, Rebind)):
                return False
            places = [read.index[axis] for e in node_exprs(node) for read in reads(e) if read.buffer == buffer]
            if not places or any(affine_index.difference(place, last) != 0 for place in places):
                return False
        return True

    def blocked(self, legal: Legal) -> Block | str:
        """Tiles in the order of the source."""
        nest, (rows, columns) = legal.nest, BLOCK
        skew = least_skew(nest, legal.pairs, 0)
        if skew is None:
            return "a dependence that no skew brings into order"
        lag = 1 + -(-skew * rows // columns)
        facts = entry_facts(self.program).with_domain(nest.dims)
        body = Blocked(self.grid(legal, skew, lag, BLOCK), legal.private, self.workspace, facts)
        cycles = float(rows * columns) * sum(float(_cycles(node)) for node in walk(nest.body))
        self.context.done(PASS, f"tiles of {rows} x {columns} on diagonals", nest.loop.span)
        return self.either(body.grid, body.body(), cycles)

    def grid(self, legal: Legal, skew: int, lag: int, size: Size) -> Grid:
        names = self.workspace.new_var("diagonal"), self.workspace.new_var("strip")
        return Grid.of(legal.nest, legal.axes, skew, lag, size, names)

    def either(self, grid: Grid, body: Block, cycles: float) -> Block:
        """The tiles if there are some, else the nest as it was."""
        loops = grid.loops(body, real(cycles))
        loop = grid.nest.loop
        return (If(grid.large(LEAST), (loops,), (loop,), span=loop.span),)


def _last(dim: Dim) -> Expr:
    """The value of a loop's variable in its last iteration."""
    return affine_index.sub(dim.hi, integer(dim.step))


def _cycles(node: Node) -> int:
    return cost.expr_cycles(node.value) + 1 if isinstance(node, Stmt) else 0
