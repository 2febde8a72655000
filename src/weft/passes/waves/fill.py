"""Values that a nest overwrites before anybody reads them.  In: a block in which a statement fills an array and a nest
then computes part of it afresh; out: the block with only the rest filled.

    a[x, y] = 0 over all x, y;  for i in 1 .. n: for j in 1 .. m: a[i, j] = f(a[i-1, j], a[i, j-1])
      -->   a[x, y] = 0 where x < 1 or x >= n;  a[x, y] = 0 where 1 <= x < n and (y < 1 or y >= m);  the nest
"""

from __future__ import annotations

from dataclasses import replace

from weft.analysis.waves import Axis
from weft.ir import index as affine_index
from weft.ir.expr import Dim, Expr, Op, Var, integer
from weft.ir.index import Affine, affine
from weft.ir.program import Alloc, Block, Node, Program, Role, Stmt
from weft.ir.types import INT
from weft.ir.walk import buffers_read, buffers_written, expr_buffers, has_exit
from weft.passes.rename import renamed
from weft.passes.waves.grid import Grid, constant
from weft.passes.waves.window import Window


def fewer_fills(before: Block, grid: Grid, windows: list[Window], program: Program, taken: set[str]) -> Block:
    """The nodes before a nest, filling what it does not compute."""
    for window in windows:
        if not window.fresh or program.table[window.buffer].role is Role.PARAM:
            continue
        at = _fill_at(before, window, program)
        extents = None if at is None else _computed(grid, window)
        if at is None or extents is None:
            continue
        fill = before[at]
        assert isinstance(fill, Stmt)
        rest = _rest(fill, extents)
        before = (*before[:at], *renamed(rest, taken), *before[at + 1 :])
    return before


def _fill_at(before: Block, window: Window, program: Program) -> int | None:
    """The place of the statement that fills the whole array; nothing after it may read the array."""
    for at in reversed(range(len(before))):
        node = before[at]
        if isinstance(node, Stmt) and node.buffer == window.buffer and _fills(node, program):
            return at
        if has_exit((node,)):
            return None  # the array may be handed out as it is here
        if window.buffer in buffers_read(node) or (isinstance(node, Alloc) and node.buffer == window.buffer):
            return None
        if window.buffer in buffers_written(node) and not isinstance(node, Stmt):
            return None
    return None


def _fills(stmt: Stmt, program: Program) -> bool:
    shape = program.table[stmt.buffer].shape
    whole = all(
        isinstance(dim, Dim) and (dim.lo, dim.hi, dim.step) == (integer(0), size, 1)
        for dim, size in zip(stmt.domain, shape)
    )
    places = tuple(Var(dim.var) for dim in stmt.domain)
    own = stmt.reduce is None and stmt.buffer not in expr_buffers(stmt.value)
    return len(shape) == len(stmt.domain) == 2 and whole and stmt.index == places and own


Extent = tuple[Affine, Affine]


def _computed(grid: Grid, window: Window) -> tuple[Extent, Extent] | None:
    """From where to where the nest computes elements along each axis; None if that is no rectangle."""
    found: list[Extent] = []
    borders = (*grid.inner.lows, *grid.inner.highs)
    if len(borders) > 2 or any(grid.outer.var in border.names for border in borders):
        return None
    for axis, loop in zip(window.axes, (grid.outer, grid.inner)):
        found.append(_along(window.place.index[axis], loop))
    if window.axes[0] > window.axes[1]:
        found.reverse()
    return found[0], found[1]


def _along(part: Expr, loop: Axis) -> Extent:
    form = affine(part)
    assert form is not None
    slope, rest = form.coefficient(loop.var) * loop.sign, form.without(loop.var)
    if slope > 0:
        return rest + loop.lo, rest + loop.hi
    return rest - loop.hi + constant(1), rest - loop.lo + constant(1)


def _rest(fill: Stmt, extents: tuple[Extent, Extent]) -> Block:
    """The fill of the rows outside, and of the columns outside in the rows inside."""
    rows, columns = fill.domain
    assert isinstance(rows, Dim) and isinstance(columns, Dim)
    nodes: list[Node] = []
    for side in _outside(rows, extents[0]):
        nodes.append(replace(fill, domain=(side, columns)))
    low, high = extents[0]
    inside = replace(rows, lo=_clamped("maximum", low, integer(0)), hi=_clamped("minimum", high, rows.hi))
    for side in _outside(columns, extents[1]):
        nodes.append(replace(fill, domain=(inside, side)))
    return tuple(nodes)


def _outside(dim: Dim, extent: Extent) -> list[Dim]:
    """What is before and after a part of a dimension, which may be empty or end with it."""
    low, high = extent
    found: list[Dim] = []
    if low != constant(0):
        found.append(replace(dim, hi=_clamped("minimum", low, dim.hi)))
    if high != affine(dim.hi):
        end = Op("maximum", (affine_index.expression(low), affine_index.expression(high)), INT)
        found.append(replace(dim, lo=Op("maximum", (end, integer(0)), INT)))
    return found


def _clamped(op: str, form: Affine, other: Expr) -> Expr:
    value = affine_index.expression(form)
    return value if value == other else Op(op, (value, other), INT)
