"""Tiles computed in a window.  In: a grid of tiles over a nest whose arrays are used at constant distances; out: the
body of a tile: what it needs is copied into a small array whose rows are diagonals, computed there in vectors, and
copied back.

    for i: for j: a[i, j] = f(a[i-1, j], a[i, j-1])      (skew 1; s = j + r, i = p0 + r)
      -->   for s: vector r: window[s, r] = a[p0 + r, s - r]            what the tile reads and does not compute
            for s: vector r: window[s, r] = f(window[s-1, r-1], window[s-1, r])
            for s: vector r: a[p0 + r, s - r] = window[s, r]

Every element is computed once, by the expression it had, from the same operands.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from weft.analysis.effects import Access, accesses
from weft.analysis.waves import Distance, Nest, constant_distance
from weft.ir import index as affine_index
from weft.ir.expr import Dim, Expr, Op, Read, Var, integer
from weft.ir.index import Affine, affine
from weft.ir.program import Alloc, Block, Buffer, If, Loop, LoopKind, Node, Stmt
from weft.ir.types import INT
from weft.ir.walk import children, free_vars, map_node_exprs, map_sub_blocks, rewrite, substitute, walk
from weft.passes.scheduling.kinds import element_instead
from weft.passes.scheduling.lower import Workspace, has_reduce
from weft.passes.waves.grid import Grid, between, constant, name
from weft.records import dataclass


@dataclass(frozen=True)
class Window:
    """An array that a nest changes, where it is written (`place`), along which axes the two loops move, and at which
    distances in positions it is used; `fresh`: whatever is read in a tile and computed in it is computed before;
    `brief`: of what the nest computes only the last row is read after it."""

    buffer: str
    place: Access
    axes: tuple[int, int]
    distances: tuple[Distance, ...]
    fresh: bool
    brief: bool = False

    def reach(self, skew: int) -> tuple[int, int, int, int]:
        """How far accesses go: rows before and after, diagonals before and after."""
        rows = [dp for dp, _ in self.distances]
        diagonals = [dq + skew * dp for dp, dq in self.distances]
        return -min(0, *rows), max(0, *rows), -min(0, *diagonals), max(0, *diagonals)


def windows_of(nest: Nest, private: frozenset[str], table: Mapping[str, Buffer]) -> list[Window] | str:
    """The windows of a nest, or why its tiles cannot be computed in windows."""
    for node in walk(nest.body):
        if not isinstance(node, (Stmt, If)):
            return "more than assignments in the nest"
        if isinstance(node, Stmt) and (node.domain or node.reduce or has_reduce(node.value)):
            return "a reduction in the nest"
    found = [accesses(node) for node in nest.body]
    writes = dict.fromkeys(a for f in found for a in f.writes if a.buffer not in private)
    used = dict.fromkeys(a for f in found for a in f.reads)
    windows: list[Window] = []
    for buffer in dict.fromkeys(write.buffer for write in writes):
        places = [write for write in writes if write.buffer == buffer]
        if len(places) > 1:
            return f"`{buffer}` is written at several places"
        read = [access for access in used if access.buffer == buffer]
        window = _window(nest, places[0], read, table)
        if isinstance(window, Window) and (read or window.fresh):
            windows.append(window)
        elif isinstance(window, str) and read:
            return window  # what is only written may go straight to memory instead
    return windows


def _window(nest: Nest, place: Access, read: Sequence[Access], table: Mapping[str, Buffer]) -> Window | str:
    axes: list[int] = []
    bounds = (nest.inner.lo, nest.inner.hi)
    if len(place.index) > 2 and any(affine(b) is None or nest.outer.var in free_vars(b) for b in bounds):
        # A nest without iterations says nothing about the index along them.
        return f"`{place.buffer}` has further axes, and there may be no iteration"
    for dim, other in ((nest.outer, nest.inner), (nest.inner, nest.outer)):
        found = [axis for axis, part in enumerate(place.index) if dim.var in free_vars(part)]
        if len(found) != 1 or not _by_ones(place.index[found[0]], dim.var, other.var):
            return f"`{place.buffer}` is not used along two axes"
        if affine(table[place.buffer].shape[found[0]]) is None:
            return f"the size of `{place.buffer}` is no sum of sizes"
        axes.append(found[0])
    distances: list[Distance] = [(0, 0)]
    for access in read:
        distance = constant_distance(access, place, nest)
        if distance is None:
            return f"`{place.buffer}` is used at distances that vary"
        if not isinstance(distance, str):
            distances.append(distance)
    # An element is what the iteration that far ahead computes: one that is not earlier leaves the old value to read.
    own = _written_first(nest.body, place.buffer)
    early = all(distance < (0, 0) or (distance == (0, 0) and own) for distance in distances[1:])
    fresh = early and _always_writes(nest.body, place.buffer)
    return Window(place.buffer, place, (axes[0], axes[1]), tuple(dict.fromkeys(distances)), fresh)


def _by_ones(part: Expr, var: str, other: str) -> bool:
    form = affine(part)
    return form is not None and abs(form.coefficient(var)) == 1 and form.coefficient(other) == 0


def _always_writes(block: Block, buffer: str) -> bool:
    return any(
        (isinstance(node, Stmt) and node.buffer == buffer)
        or (isinstance(node, If) and _always_writes(node.then, buffer) and _always_writes(node.orelse, buffer))
        for node in block
    )


def _written_first(block: Block, buffer: str) -> bool:
    """Whether an iteration reads its own element only after it has written it."""
    for node in block:
        found = accesses(node)
        if any(access.buffer == buffer for access in found.reads):
            return False
        if _always_writes((node,), buffer):
            return True
    return True


# --- the rewrite -----------------------------------------------------------------------------------------------------


@dataclass
class Windowed:
    """Writes the body of a tile."""

    grid: Grid
    windows: list[Window]
    scalars: frozenset[str]
    workspace: Workspace

    def __post_init__(self) -> None:
        self.arrays = {window.buffer: self._array(window) for window in self.windows}
        self.row, self.column, self.wave = (self.workspace.new_var(hint) for hint in ("row", "column", "wave"))
        self.p = self.grid.first_row + name(self.row)
        self.turned = self._turned()

    def _array(self, window: Window) -> Buffer:
        above, below, before, after = window.reach(self.grid.skew)
        shape = (integer(before + self.grid.columns + after), integer(above + self.grid.rows + below))
        return self.workspace.new_buffer(f"{window.buffer}_window", self.workspace.table[window.buffer].type, shape)

    def body(self) -> Block:
        nodes: list[Node] = [Alloc(buffer.name) for buffer in (*self.arrays.values(), *self.turned.values())]
        nodes.extend(self._turn(read, buffer) for read, buffer in self.turned.items())
        for window in self.windows:
            nodes.extend(self._fill(window))
        nodes.append(self._compute())
        nodes.extend(node for window in self.windows for node in self._empty(window))
        return tuple(nodes)

    def _loops(self, outer: Dim, parts: Sequence[tuple[Expr, Expr]], var: str, body: Block) -> Loop:
        """for the outer loop: for each part: vector var in it: body."""
        inner = tuple(Loop(Dim(var, *part), body, LoopKind.VECTOR, span=self.grid.span) for part in parts)
        return Loop(outer, inner, span=self.grid.span)

    def _domain(self, q: Affine) -> list[Affine]:
        """Where row and position q of a tile are an iteration: forms that are not negative there."""
        grid = self.grid
        outer = grid.outer.var
        lows, highs = (
            [form.without(outer) + self.p.scaled(form.coefficient(outer)) for form in forms]
            for forms in (grid.inner.lows, grid.inner.highs)
        )
        return [*(q - low for low in lows), *(high - q - constant(1) for high in highs)]

    def _columns(self, before: int = 0, after: int = 0) -> list[Affine]:
        """The positions of a row that are in the tile (and some more)."""
        wave = name(self.column) + name(self.row).scaled(self.grid.skew) - self.grid.first_column
        return [wave + constant(before), constant(self.grid.columns + after - 1) - wave]

    def _element(self, window: Window, q: Affine) -> list[Affine]:
        """Where in the array the element of a row and a position is, along the axes of the loops."""
        found = []
        for axis, loop, position in zip(window.axes, (self.grid.outer, self.grid.inner), (self.p, q)):
            form = affine(window.place.index[axis])
            assert form is not None
            found.append(form.without(loop.var) + position.scaled(form.coefficient(loop.var) * loop.sign))
        return found

    def _read(self, window: Window) -> Read:
        """The element of a row and a column."""
        index = list(window.place.index)
        for axis, form in zip(window.axes, self._element(window, name(self.column))):
            index[axis] = affine_index.expression(form)
        return Read(window.buffer, tuple(index), self.workspace.table[window.buffer].type)

    def _cell(self, window: Window, wave: Affine, distance: Distance = (0, 0)) -> Read:
        """The element of a row and a wave, or at a distance from it, in the window."""
        above, _, before, _ = window.reach(self.grid.skew)
        dp, dq = distance
        place = wave - self.grid.first_column + constant(before + dq + self.grid.skew * dp)
        row = name(self.row) + constant(above + dp)
        array = self.arrays[window.buffer]
        return Read(array.name, (affine_index.expression(place), affine_index.expression(row)), array.type)

    def _copy(self, window: Window, back: bool) -> Block:
        cell = self._cell(window, name(self.column) + name(self.row).scaled(self.grid.skew))
        target, source = (self._read(window), cell) if back else (cell, self._read(window))
        return (Stmt((), target.buffer, target.index, source, None, self.grid.span),)

    def _fill(self, window: Window) -> Block:
        """What a tile may read: the window's elements that exist; of a fresh one only those it does not compute."""
        if window.fresh and set(window.distances) == {(0, 0)}:
            return ()
        above, below, before, after = window.reach(self.grid.skew)
        column = name(self.column)
        copy = self._copy(window, False)
        exist, there = self._exists(window)
        parts = between(self.column, [*self._columns(before, after), *there])

        def rows(first: int, last: int) -> Dim:
            row = name(self.row)
            return Dim(self.row, *between(self.row, [row - constant(first), constant(last - 1) - row, *exist]))

        if not window.fresh:
            return (self._loops(rows(-above, self.grid.rows + below), [parts], self.column, copy),)
        low, high = parts
        begin, end = between(self.column, [*self._columns(), *self._domain(column)])
        begin = _larger(begin, low)
        sides = [(low, _larger(low, Op("minimum", (high, begin), INT)))]
        last = _larger(begin, end)
        sides.append((last, _larger(last, high)))
        nodes = [self._loops(rows(0, self.grid.rows), sides, self.column, copy)]
        if above:
            nodes.append(self._loops(rows(-above, 0), [parts], self.column, copy))
        if below:
            nodes.append(self._loops(rows(self.grid.rows, self.grid.rows + below), [parts], self.column, copy))
        return tuple(nodes)

    def _exists(self, window: Window) -> tuple[list[Affine], list[Affine]]:
        """Which rows of the array exist, and which columns: forms that are not negative there."""
        shape = self.workspace.table[window.buffer].shape
        forms: list[list[Affine]] = []
        for axis, element in zip(window.axes, self._element(window, name(self.column))):
            size = affine(shape[axis])
            assert size is not None
            forms.append([element, size - element - constant(1)])
        return forms[0], forms[1]

    def _empty(self, window: Window) -> Block:
        """What was computed goes to memory: all of it, or what other tiles and later code need."""
        # An element that is not always written need not exist.
        exist, there = ([], []) if window.fresh else self._exists(window)
        row, column = name(self.row), name(self.column)
        above, _, before, _ = window.reach(self.grid.skew)
        copy = self._copy(window, True)
        last = [constant(self.grid.rows - 1) - row, self.grid.outer.hi - self.p - constant(1)]
        parts = between(self.column, [*self._columns(), *self._domain(column), *there])
        if not window.brief:
            rows = Dim(self.row, *between(self.row, [row, *last, *exist]))
            return (self._loops(rows, [parts], self.column, copy),)
        margin = max(above, 1)
        low, high = between(self.row, [row, *last])
        first = Op("maximum", (low, Op("sub", (high, integer(margin)), INT)), INT)
        end = between(self.column, [*self._columns(before - self.grid.columns), *self._domain(column)])
        whole = self._loops(Dim(self.row, first, high), [parts], self.column, copy)
        return (whole, self._loops(Dim(self.row, low, first), [end], self.column, copy)) if before else (whole,)

    # --- what lies the other way round --------------------------------------------------------------------------------

    def _turned(self) -> dict[Read, Buffer]:
        """Reads along the inner loop alone: down a diagonal they go backwards, which compilers seldom vectorise."""
        grid, size = self.grid, integer(self.grid.columns + self.grid.skew * (self.grid.rows - 1))
        found: dict[Read, Buffer] = {}
        for read in dict.fromkeys(_certain(grid.nest.body)):
            forms = [affine(part) for part in read.index]
            slopes = [0 if form is None else form.coefficient(grid.inner.var) * grid.inner.sign for form in forms]
            sized = affine(self.workspace.table[read.buffer].shape[0]) is not None
            alone = all(form is not None and grid.outer.var not in form.names for form in forms)
            if sized and alone and slopes == [1] and read.buffer not in self.arrays:
                found[read] = self.workspace.new_buffer(f"{read.buffer}_turned", read.of, (size,))
        return found

    def _last(self) -> Affine:
        """The largest position of the inner loop in a tile."""
        return self.grid.first_column + constant(self.grid.columns - 1)

    def _turn(self, read: Read, buffer: Buffer) -> Loop:
        """vector k: turned[k] = b[last - k]."""
        grid, k = self.grid, name(self.column)
        q = self._last() - k
        size = grid.columns + grid.skew * (grid.rows - 1)
        index, extent = affine(read.index[0]), affine(self.workspace.table[read.buffer].shape[0])
        assert index is not None and extent is not None
        # Not every position between the ends need be an iteration: what does not exist is not read.
        element = index.without(grid.inner.var) + q.scaled(index.coefficient(grid.inner.var) * grid.inner.sign)
        low, high = grid.ends
        forms = [q - low, high - q - constant(1), element, extent - element - constant(1)]
        part = between(self.column, [k, constant(size - 1) - k, *forms])
        value = substitute(read, {grid.inner.var: affine_index.expression(q.scaled(grid.inner.sign))})
        copy = Stmt((), buffer.name, (Var(self.column),), rewrite(value, _canonical), None, grid.span)
        return Loop(Dim(self.column, *part), (copy,), LoopKind.VECTOR, span=grid.span)

    # --- what is computed ---------------------------------------------------------------------------------------------

    def _compute(self) -> Loop:
        grid, row = self.grid, name(self.row)
        q = name(self.wave) - row.scaled(grid.skew)
        windows = {window.buffer: window for window in self.windows}
        values = {
            grid.outer.var: affine_index.expression(self.p.scaled(grid.outer.sign)),
            grid.inner.var: affine_index.expression(q.scaled(grid.inner.sign)),
        }

        def visit(expr: Expr) -> Expr:
            if isinstance(expr, Read) and expr in self.turned:
                place = affine_index.expression(self._last() - q)
                return Read(self.turned[expr].name, (place,), expr.of)
            if not isinstance(expr, Read) or expr.buffer not in windows:
                return expr
            window = windows[expr.buffer]
            distance = constant_distance(Access(expr.buffer, expr.index, ()), window.place, grid.nest)
            assert distance is not None
            return expr if isinstance(distance, str) else self._cell(window, name(self.wave), distance)

        def moved(expr: Expr) -> Expr:
            return rewrite(substitute(rewrite(expr, visit), values), _canonical)

        def node(old: Node) -> Node:
            if isinstance(old, Stmt) and old.buffer in windows:
                cell = self._cell(windows[old.buffer], name(self.wave))
                return replace(old, buffer=cell.buffer, index=cell.index)
            return map_sub_blocks(old, lambda inner: tuple(node(n) for n in inner))

        body = tuple(node(map_node_exprs(n, moved)) for n in self._own_scalars(grid.nest.body))
        begin, end = (affine_index.expression(grid.first_column + constant(size)) for size in (0, grid.columns))
        exist = [row, constant(grid.rows - 1) - row, grid.outer.hi - self.p - constant(1)]
        return self._loops(Dim(self.wave, begin, end), [between(self.row, [*exist, *self._domain(q)])], self.row, body)

    def _own_scalars(self, block: Block) -> Block:
        """Variables of its own: those of the nest as it was would be shared between both."""
        for scalar in sorted(self.scalars):
            own = self.workspace.new_buffer(scalar, self.workspace.table[scalar].type).name
            block = tuple(element_instead(node, scalar, own) for node in block)
        return block


def _certain(block: Block) -> Iterator[Read]:
    """Reads that every execution of a block makes."""
    for node in block:
        if isinstance(node, Stmt):
            yield from _evaluated(node.value)
        elif isinstance(node, If):
            yield from _evaluated(node.condition)


def _evaluated(expr: Expr) -> Iterator[Read]:
    """Reads that evaluating an expression always makes: not those in the branches of a select."""
    if isinstance(expr, Read) and expr.index:
        yield expr
    lazy = isinstance(expr, Op) and expr.op == "select"
    for child in children(expr)[:1] if lazy else children(expr):
        yield from _evaluated(child)


def _larger(one: Expr, other: Expr) -> Expr:
    return Op("maximum", (one, other), INT)


def _canonical(expr: Expr) -> Expr:
    return replace(expr, index=tuple(map(affine_index.canonical, expr.index))) if isinstance(expr, Read) else expr
