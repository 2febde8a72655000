"""Sweeps inside a loop in time.  In: a lowered loop; out: its body as sweeps over the rows of arrays, and how far each
reaches into the rows of the others, from which `passes.trapezoid` cuts blocks of rows and steps.

A *sweep* is a loop with independent iterations.  Its position x is the row that its first statement writes: of a sweep
over i that writes b[i + 1, ...] it is i + 1, of one that writes only p[n - 1, ...] always n - 1 (a *line*).  All it
touches lies at constant distances from x.  Two sweeps meet where x' - x is in an interval known from those distances.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field, replace

from weft.analysis import cost
from weft.ir import index as affine_index
from weft.ir.expr import Dim, Expr, Op, Read, Var, integer
from weft.ir.index import Affine, affine
from weft.ir.program import If, Loop, LoopKind, Node, Stmt
from weft.ir.types import INT
from weft.ir.walk import (
    buffers_written,
    map_block,
    map_node_exprs,
    map_sub_blocks,
    node_exprs,
    reads,
    rewrite,
    substitute,
    walk,
)
from weft.records import dataclass


@dataclass(frozen=True)
class Access:
    """An access to an array that the loop in time changes; `offset`: of its row from the position of the sweep."""

    buffer: str
    index: tuple[Expr, ...]
    writes: bool
    offset: int = 0


@dataclass(frozen=True)
class Track:
    """A sweep along one axis: `dim` goes over its positions (None: it stays at `place`), `shift` from the loop variable
    to the position."""

    dim: Dim | None
    shift: int
    place: Expr | None
    accesses: tuple[Access, ...]


@dataclass(frozen=True)
class Sweep:
    """One sweep: its track over rows and, for each node of the body of its loop (None: no array of time in it), the
    track over columns."""

    loop: Loop
    rows: Track
    columns: tuple[Track | None, ...]
    depth: int
    axes: dict[str, int] = field(compare=False)
    scalars: frozenset[str] = frozenset()  # variables that it sets
    named: frozenset[str] = frozenset()  # variables that it uses


@dataclass(frozen=True)
class Sweeps:
    """All sweeps of a step; `column_axes` of the arrays, empty if they have no columns in common."""

    sweeps: tuple[Sweep, ...]
    column_axes: dict[str, int] = field(compare=False)

    @property
    def rows(self) -> list[Track]:
        return [sweep.rows for sweep in self.sweeps]

    @property
    def columns(self) -> list[Track]:
        return [track for sweep in self.sweeps for track in sweep.columns if track is not None]


@dataclass(frozen=True)
class Reach:
    """By how many rows a block shrinks on its left and its right side: by `left[s]` up to sweep s of the first step,
    and by `left_step` more with every further step."""

    left: tuple[int, ...]
    right: tuple[int, ...]
    left_step: int
    right_step: int

    @property
    def step(self) -> int:
        return self.left_step + self.right_step

    @property
    def within(self) -> int:
        return max(left + right for left, right in zip(self.left, self.right))


def reach_of(tracks: Sequence[Track]) -> Reach:
    """The least shrinking with which a block neither needs what others compute nor overwrites what they need."""
    left, left_step = _slopes(tracks, 1)
    right, right_step = _slopes(tracks, -1)
    return Reach(left, right, left_step, right_step)


def _slopes(tracks: Sequence[Track], sign: int) -> tuple[tuple[int, ...], int]:
    far = {(a, b): _farthest(one, other, sign) for a, one in enumerate(tracks) for b, other in enumerate(tracks)}
    shrink: list[int] = []
    for later in range(len(tracks)):
        needed = (shrink[a] + distance for a in range(later) if (distance := far[a, later]) is not None)
        shrink.append(max(0, *needed, 0))
    step = 0
    for (earlier, later), distance in far.items():
        if distance is not None:
            step = max(step, shrink[earlier] + distance - shrink[later])
    return tuple(shrink), step


def _farthest(earlier: Track, later: Track, sign: int) -> int | None:
    """The largest of sign * (position of `later` - position of `earlier`) at which they touch a common row."""
    distances = [
        sign * (one.offset - other.offset)
        for one in earlier.accesses
        for other in later.accesses
        if one.buffer == other.buffer and (one.writes or other.writes)
    ]
    return max(distances, default=None)


# --- recognition -----------------------------------------------------------------------------------------------------


def sweeps_of(loop: Loop) -> Sweeps | str:
    """The body of a loop as sweeps, or why it is none."""
    written = set().union(*(buffers_written(node) for node in loop.body))
    loops: list[Loop] = []
    for node in loop.body:
        if not isinstance(node, Loop):
            return "more than sweeps in it"
        reason = _why_no_sweep(node)
        if reason is not None:
            return reason
        loops.extend(_at_its_rows(sweep, loop.dim.var) for sweep in _distributed(without_strips(node)))
    axes = _row_axes(loops, written)
    columns = _column_axes(loops, written, axes)
    found: list[Sweep] = []
    for sweep in loops:
        rows = _track(sweep, sweep, written, axes)
        if isinstance(rows, str):
            return rows
        across = _across(sweep, rows, written, columns) if columns else None
        columns = columns if across else {}
        found.append(_sweep(sweep, rows, across or (), axes))
    if not columns:
        found = [replace(sweep, columns=()) for sweep in found]
    return Sweeps(tuple(found), columns)


def _why_no_sweep(loop: Loop) -> str | None:
    if loop.kind is LoopKind.SEQUENTIAL or loop.accumulators:
        return "a loop whose iterations depend on each other"
    for node in walk((loop,)):
        if not isinstance(node, (Loop, Stmt, If)):
            return "more than assignments in a sweep"
        if isinstance(node, Loop) and not isinstance(node.dim, Dim):
            return "a sparse array in a sweep"
    return None


def without_strips(loop: Loop) -> Loop:
    """parallel b in 0 .. ceil(n / 64): vector i in 64 b .. min(64 b + 64, n): A   -->   vector i in 0 .. n: A."""
    only = loop.body[0] if len(loop.body) == 1 else None
    if not isinstance(only, Loop) or only.kind is not LoopKind.VECTOR:
        return loop
    outer, inner = loop.dim, only.dim
    assert isinstance(outer, Dim) and isinstance(inner, Dim)
    start = affine(inner.lo)
    if start is None or not isinstance(inner.hi, Op) or inner.hi.op != "minimum":
        return loop
    width, end = start.coefficient(outer.var), affine(inner.hi.args[0])
    if width <= 0 or end is None or end - start != Affine((), width):
        return loop
    whole = replace(inner, lo=affine_index.expression(start.without(outer.var)), hi=inner.hi.args[1])
    count = Op("floordiv", (affine_index.add(cost.extent(whole), integer(width - 1)), integer(width)), INT)
    if outer.lo != integer(0) or outer.hi != count or inner.step != 1:
        return loop
    return replace(only, dim=whole)


def _distributed(loop: Loop) -> list[Loop]:
    """for j: { A; B }   -->   for j: A;  for j: B   (iterations are independent): they may write different rows."""
    if not all(isinstance(node, Stmt) and node.index for node in loop.body):
        return [loop]
    return [replace(loop, body=(node,)) for node in loop.body]


def _at_its_rows(loop: Loop, time: str) -> Loop:
    """for i in 0 .. m: b[n + i] = a[n + i - 1]   -->   for i in n .. n + m: b[i] = a[i - 1].

    A distance that only the run tells becomes part of the bounds, and what is left are constants."""
    var, dim = loop.dim.var, loop.dim
    inner = {each.dim.var for each in walk((loop,)) if isinstance(each, Loop)}
    forms = (affine(e) for node in walk(loop.body) if isinstance(node, Stmt) for e in node.index)
    row = next((form for form in forms if form is not None and form.coefficient(var) == 1), None)
    away = None if row is None else row.without(var)
    if not isinstance(dim, Dim) or away is None or away.is_constant or away.names & {*inner, time}:
        return loop
    shift = affine_index.expression(Affine(away.terms, 0))
    moved = {var: affine_index.sub(Var(var), shift)}

    def visit(expr: Expr) -> Expr:
        if isinstance(expr, Read):
            return replace(expr, index=tuple(map(affine_index.canonical, expr.index)))
        return expr

    def plain(node: Node) -> Node:
        if isinstance(node, Stmt):
            return replace(node, index=tuple(map(affine_index.canonical, node.index)))
        return map_sub_blocks(node, lambda block: tuple(map(plain, block)))

    body = map_block(loop.body, lambda n: plain(map_node_exprs(n, lambda e: rewrite(substitute(e, moved), visit))))
    bounds = Dim(var, affine_index.add(dim.lo, shift), affine_index.add(dim.hi, shift), dim.step)
    return replace(loop, dim=bounds, body=body)


def _accesses(part: Node, written: set[str]) -> Iterator[Access]:
    """Accesses to arrays that the loop in time changes; those of others do not matter."""
    for node in walk((part,)):
        if isinstance(node, Stmt) and node.index:
            yield Access(node.buffer, node.index, True)
        for expr in node_exprs(node):
            for read in reads(expr):
                if read.buffer in written and read.index:
                    yield Access(read.buffer, read.index, False)


def _depth(node: Node) -> int:
    inner = node.body if isinstance(node, Loop) else (*node.then, *node.orelse) if isinstance(node, If) else ()
    return isinstance(node, Loop) + max((_depth(child) for child in inner), default=0)


def _row_axes(loops: Sequence[Loop], written: set[str]) -> dict[str, int]:
    """The axis along which each array has its rows: that of the outermost loop of the deepest sweep that uses it."""
    axes: dict[str, int] = {}
    for loop in sorted(loops, key=_depth, reverse=True):
        for access in _accesses(loop, written):
            for axis, position in enumerate(access.index):
                form = affine(position)
                if form is not None and form.without(loop.dim.var).is_constant and form.coefficient(loop.dim.var) == 1:
                    axes.setdefault(access.buffer, axis)
    return axes


def _column_axes(loops: Sequence[Loop], written: set[str], rows: dict[str, int]) -> dict[str, int]:
    """The axis along which each array has its columns: that of the loop inside the outermost one, where all arrays have
    one; empty otherwise."""
    axes: dict[str, int] = {}
    for loop in sorted(loops, key=_depth, reverse=True):
        for inner in loop.body:
            if not isinstance(inner, Loop):
                continue
            for access in _accesses(inner, written):
                for axis, position in enumerate(access.index):
                    form = affine(position)
                    if form is not None and form.coefficient(inner.dim.var) == 1 and axis != rows.get(access.buffer):
                        axes.setdefault(access.buffer, axis)
    used = {access.buffer for loop in loops for access in _accesses(loop, written)}
    return axes if used <= axes.keys() else {}


def _across(loop: Loop, rows: Track, written: set[str], axes: dict[str, int]) -> tuple[Track | None, ...] | None:
    """The tracks over columns of what is in a sweep; None if they are not at fixed distances from each other.

    A sweep that stays in one row is itself the loop over the columns.
    """
    found: list[Track | None] = []
    for node in loop.body if rows.dim is not None else (loop,):
        own = list(_accesses(node, written))
        if not own and isinstance(node, Stmt):
            found.append(None)
            continue
        if not own or not isinstance(node, (Loop, Stmt)):
            return None
        track = _track(node, loop, written, axes)
        if isinstance(track, str):
            return None
        found.append(track)
    return tuple(found)


def _track(node: Loop | Stmt, loop: Loop, written: set[str], axes: dict[str, int]) -> Track | str:
    """How a node (a sweep, or part of the one around it, `loop`) goes along an axis of the arrays."""
    inner = {each.dim.var for each in walk((loop,)) if isinstance(each, Loop)}
    own = node.dim if isinstance(node, Loop) else None
    if own is not None and (not isinstance(own, Dim) or own.step != 1):
        return "a sweep that does not count up by one"
    moves = {own.var} if own is not None else set()
    found: list[tuple[Access, Affine]] = []
    for access in dict.fromkeys(_accesses(node, written)):
        row = affine(access.index[axes[access.buffer]]) if access.buffer in axes else None
        if row is None or row.names & inner - moves or any(row.coefficient(name) not in (0, 1) for name in moves):
            return f"`{access.buffer}` is not used row by row"
        found.append((access, row))
    if not any(access.writes for access, _ in found):
        return "a sweep that writes no array"
    base = next(row for access, row in found if access.writes)
    accesses: list[Access] = []
    for access, row in found:
        distance = row - base
        if not distance.is_constant:
            return f"`{access.buffer}` is used at rows that are not a fixed distance apart"
        accesses.append(replace(access, offset=distance.constant))
    if own is None or base.coefficient(own.var) == 0:
        return Track(None, 0, affine_index.expression(base), tuple(accesses))
    shift = base.without(own.var)
    if not shift.is_constant:
        return "a sweep over rows at a distance that is not known"
    return Track(own, shift.constant, None, tuple(accesses))


def _sweep(loop: Loop, rows: Track, columns: tuple[Track | None, ...], axes: dict[str, int]) -> Sweep:
    bodies = [node for node in walk((loop,)) if isinstance(node, Stmt) and not node.index]
    named = {read.buffer for n in walk((loop,)) for e in node_exprs(n) for read in reads(e) if not read.index}
    scalars = frozenset(node.buffer for node in bodies)
    used = {access.buffer: axes[access.buffer] for access in rows.accesses}
    return Sweep(loop, rows, columns, _depth(loop), used, scalars, frozenset(named) | scalars)
