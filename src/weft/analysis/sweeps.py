"""Sweeps inside a loop in time.  In: a lowered loop; out: its body as sweeps over the rows of arrays, and how far each
reaches into the rows of the others, from which `passes.trapezoid` cuts blocks of rows and steps.

A *sweep* is a loop with independent iterations.  Its position x is the row that its first statement writes: of a sweep
over i that writes b[i + 1, ...] it is i + 1, of one that writes only p[n - 1, ...] always n - 1 (a *line*).  All it
touches lies at constant distances from x.  Two sweeps meet where x' - x is in an interval known from those distances.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from weft.analysis import cost
from weft.ir import index as affine_index
from weft.ir.expr import Dim, Expr, Op, integer
from weft.ir.index import Affine, affine
from weft.ir.program import If, Loop, LoopKind, Node, Stmt
from weft.ir.types import INT
from weft.ir.walk import buffers_written, node_exprs, reads, walk


@dataclass(frozen=True)
class RowAccess:
    """An access to an array that the loop in time changes."""

    buffer: str
    index: tuple[Expr, ...]
    writes: bool
    offset: int = 0  # of its row from the position of the sweep


@dataclass(frozen=True)
class Sweep:
    """One sweep: `dim` over its rows (None: a line at `row`), `shift` from the loop variable to the position."""

    loop: Loop
    dim: Dim | None
    shift: int
    row: Expr | None
    depth: int
    accesses: tuple[RowAccess, ...]
    axes: dict[str, int] = field(compare=False)
    scalars: frozenset[str] = frozenset()  # variables that it sets
    named: frozenset[str] = frozenset()  # variables that it uses


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


def reach_of(sweeps: Sequence[Sweep]) -> Reach:
    """The least shrinking with which a block neither needs what others compute nor overwrites what they need."""
    left, left_step = _slopes(sweeps, 1)
    right, right_step = _slopes(sweeps, -1)
    return Reach(left, right, left_step, right_step)


def _slopes(sweeps: Sequence[Sweep], sign: int) -> tuple[tuple[int, ...], int]:
    far = {(a, b): _farthest(one, other, sign) for a, one in enumerate(sweeps) for b, other in enumerate(sweeps)}
    shrink: list[int] = []
    for later in range(len(sweeps)):
        needed = (shrink[a] + distance for a in range(later) if (distance := far[a, later]) is not None)
        shrink.append(max(0, *needed, 0))
    step = 0
    for (earlier, later), distance in far.items():
        if distance is not None:
            step = max(step, shrink[earlier] + distance - shrink[later])
    return tuple(shrink), step


def _farthest(earlier: Sweep, later: Sweep, sign: int) -> int | None:
    """The largest of sign * (position of `later` - position of `earlier`) at which they touch a common row."""
    distances = [
        sign * (one.offset - other.offset)
        for one in earlier.accesses
        for other in later.accesses
        if one.buffer == other.buffer and (one.writes or other.writes)
    ]
    return max(distances, default=None)


# --- recognition -----------------------------------------------------------------------------------------------------


def sweeps_of(loop: Loop) -> list[Sweep] | str:
    """The body of a loop as sweeps, or why it is none."""
    written = set().union(*(buffers_written(node) for node in loop.body))
    loops: list[Loop] = []
    for node in loop.body:
        if not isinstance(node, Loop):
            return "more than sweeps in it"
        reason = _why_no_sweep(node)
        if reason is not None:
            return reason
        loops.extend(_distributed(_without_strips(node)))
    axes = _row_axes(loops, written)
    found: list[Sweep] = []
    for sweep in loops:
        made = _sweep(sweep, written, axes)
        if isinstance(made, str):
            return made
        found.append(made)
    return found


def _why_no_sweep(loop: Loop) -> str | None:
    if loop.kind is LoopKind.SEQUENTIAL or loop.accumulators:
        return "a loop whose iterations depend on each other"
    for node in walk((loop,)):
        if not isinstance(node, (Loop, Stmt, If)):
            return "more than assignments in a sweep"
        if isinstance(node, Loop) and not isinstance(node.dim, Dim):
            return "a sparse array in a sweep"
    return None


def _without_strips(loop: Loop) -> Loop:
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


def _accesses(loop: Loop, written: set[str]) -> Iterator[RowAccess]:
    """Accesses to arrays that the loop in time changes; those of others do not matter."""
    for node in walk((loop,)):
        if isinstance(node, Stmt) and node.index:
            yield RowAccess(node.buffer, node.index, True)
        for expr in node_exprs(node):
            for read in reads(expr):
                if read.buffer in written and read.index:
                    yield RowAccess(read.buffer, read.index, False)


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


def _sweep(loop: Loop, written: set[str], axes: dict[str, int]) -> Sweep | str:
    inner = {node.dim.var for node in walk((loop,)) if isinstance(node, Loop)}
    own = loop.dim
    assert isinstance(own, Dim)
    if own.step != 1:
        return "a sweep that does not count up by one"
    found: list[tuple[RowAccess, Affine]] = []
    for access in dict.fromkeys(_accesses(loop, written)):
        row = affine(access.index[axes[access.buffer]]) if access.buffer in axes else None
        if row is None or row.names & inner - {own.var} or row.coefficient(own.var) not in (0, 1):
            return f"`{access.buffer}` is not used row by row"
        found.append((access, row))
    base = next(row for access, row in found if access.writes)
    accesses: list[RowAccess] = []
    for access, row in found:
        distance = row - base
        if not distance.is_constant:
            return f"`{access.buffer}` is used at rows that are not a fixed distance apart"
        accesses.append(replace(access, offset=distance.constant))
    moving = base.coefficient(own.var) == 1
    shift = base.without(own.var)
    if moving and not shift.is_constant:
        return "a sweep over rows at a distance that is not known"
    bodies = [node for node in walk((loop,)) if isinstance(node, Stmt) and not node.index]
    named = {read.buffer for n in walk((loop,)) for e in node_exprs(n) for read in reads(e) if not read.index}
    scalars = frozenset(node.buffer for node in bodies)
    return Sweep(
        loop,
        own if moving else None,
        shift.constant if moving else 0,
        None if moving else affine_index.expression(base),
        _depth(loop),
        tuple(accesses),
        {access.buffer: axes[access.buffer] for access in accesses},
        scalars,
        frozenset(named) | scalars,
    )
