"""Triangles in panels.  In: a statement over a triangle, or any domain whose inner bounds move with the outer
dimension; out: panels of rows that share one rectangle of columns, over which a product is a matrix product.

    c[i, j] = f(sum[k] a[i, k] * b[k, j])   for i: 0 <= i < n, j: i <= j < n
      -->  for i0 in 0 .. n step 96:   t = the product over i0 <= i < min(i0 + 96, n), i0 <= j < n
                                       c[i, j] = f(t[i - i0, j - i0])   for those i, j: i <= j < n

The few elements outside the triangle are computed and not used: a row of the panel reads all of its columns, and every
row reads something, so that nothing is read which the statement would not read.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from weft.analysis.intervals import Box
from weft.ir.domain import Access, overlaps
from weft.ir.expr import Dim, Expr, Op, Read, Reduce, Var, integer
from weft.ir.index import Affine, affine, canonical, difference, expression
from weft.ir.index import add as plus
from weft.ir.index import sub as minus
from weft.ir.program import Stmt
from weft.ir.types import INT
from weft.ir.walk import dim_children, expr_buffers, free_vars, map_children, reads, subexpressions, substitute
from weft.records import dataclass

# Rows of a panel: enough for the library to be fast, few enough to waste little beside the triangle.
ROWS = 96


@dataclass(frozen=True)
class Panels:
    """The loop over panels, the rows of one and the columns they share; `inner`: the columns of one row; `boxes`: the
    memory of one."""

    block: Dim
    rows: Dim
    columns: Dim
    inner: Dim
    boxes: dict[str, Box]


def panels(stmt: Stmt, new_var: Callable[[str], str]) -> Panels | str:
    """The panels of a statement over two dimensions, or why it has none."""
    dims = [dim for dim in stmt.domain if isinstance(dim, Dim) and dim.step == 1]
    if stmt.reduce is not None or len(dims) != 2 or len(stmt.domain) != 2:
        return "not a statement over two dimensions"
    outer, inner = dims
    if any(expr_buffers(bound) for dim in dims for bound in dim_children(dim)):
        return "a bound is read from memory"
    lo, hi = affine(inner.lo), affine(inner.hi)
    if lo is None or hi is None or affine(outer.lo) is None or affine(outer.hi) is None:
        return "a bound is not affine"
    slopes = lo.coefficient(outer.var), hi.coefficient(outer.var)
    if sorted(map(abs, slopes)) != [0, 1]:
        return "not exactly one bound moves by one"
    reason = why_not_in_order(stmt)
    if reason is not None:
        return reason
    summed = [bound for part in _sums(stmt) for dim in part.dims for bound in dim_children(dim)]
    if any({outer.var, inner.var} & free_vars(bound) for bound in summed):
        return "the terms of the sum depend on the point"
    first, last = _rows_with_columns(outer, lo, hi, slopes)
    rows, block = panel(outer, first, last, slopes[0] >= 0, new_var(outer.var))
    at_start, at_end = {outer.var: rows.lo}, {outer.var: minus(rows.hi, integer(1))}
    # The bound that moves is widest in the panel's first row or in its last one.
    left = substitute(inner.lo, at_start if slopes[0] > 0 else at_end)
    right = substitute(inner.hi, at_end if slopes[1] > 0 else at_start)
    columns = Dim(inner.var, canonical(left), canonical(right))
    start = rows.lo if block.step > 0 else minus(Var(block.var), integer(ROWS))
    size = Op("maximum", (minus(columns.hi, columns.lo), integer(0)), INT)
    boxes = {outer.var: Box(start, integer(ROWS)), inner.var: Box(columns.lo, size)}
    return Panels(block, rows, columns, inner, boxes)


@dataclass(frozen=True)
class Parts:
    """A panel as a rectangle, the columns of all of its rows, and the corner beside it: the columns that some of the
    rows have, those of one row (`inner`), and the corner's memory."""

    rectangle: Dim
    corner: Dim
    inner: Dim
    boxes: dict[str, Box]


def parts(split: Panels) -> Parts | None:
    """The two parts of a panel that begins at the loop's variable and whose moving bound grows with the row."""
    rows, inner, columns = split.rows, split.inner, split.columns
    lo, hi = affine(inner.lo), affine(inner.hi)
    if split.block.step < 0 or lo is None or hi is None:
        return None
    slopes = lo.coefficient(rows.var), hi.coefficient(rows.var)
    at_start, at_end = {rows.var: rows.lo}, {rows.var: minus(rows.hi, integer(1))}
    if slopes == (1, 0):
        edge = canonical(substitute(inner.lo, at_end))
        begin = columns.lo
        limit = Op("minimum", (edge, inner.hi), INT)
        found = replace(columns, lo=edge), replace(columns, hi=limit), replace(inner, hi=limit)
    elif slopes == (0, 1):
        begin = canonical(substitute(inner.hi, at_start))
        limit = Op("maximum", (begin, inner.lo), INT)
        found = replace(columns, hi=begin), replace(columns, lo=limit), replace(inner, lo=limit)
    else:
        return None
    boxes = {rows.var: split.boxes[rows.var], inner.var: Box(begin, integer(ROWS))}
    return Parts(*found, boxes)


def panel(outer: Dim, first: Expr, last: Expr, upward: bool, name: str) -> tuple[Dim, Dim]:
    """The rows of one panel and the loop over panels, from the first row or, downward, from the last.

    The end at which a panel begins is the loop's variable itself: places in it are then affine.
    """
    here = Var(name)
    if upward:
        end = Op("minimum", (plus(here, integer(ROWS)), last), INT)
        return replace(outer, lo=here, hi=end), Dim(name, first, last, ROWS)
    begin = Op("maximum", (minus(here, integer(ROWS)), first), INT)
    return replace(outer, lo=begin, hi=here), Dim(name, last, first, -ROWS)


def why_not_in_order(stmt: Stmt) -> str | None:
    """Why panels may not be computed one after the other."""
    inside = {read for part in _sums(stmt) for read in reads(part)}
    seen = {read for expr in (stmt.value, *stmt.index) for read in reads(expr) if read.buffer == stmt.buffer}
    if any(read.index != stmt.index for read in seen - inside) or (seen & inside and not operands_apart(stmt)):
        return "a panel reads what another one overwrites"
    return None


def operands_apart(stmt: Stmt) -> bool:
    """Whether the sums of a statement read nothing that it overwrites: other arrays, or other parts of the target."""
    target = Access(stmt.domain, stmt.index)
    return not any(
        read.buffer == stmt.buffer and overlaps(target, Access((*stmt.domain, *part.dims), read.index))
        for part in _sums(stmt)
        for read in reads(part)
    )


def _sums(stmt: Stmt) -> list[Reduce]:
    return [part for part in subexpressions(stmt.value) if isinstance(part, Reduce)]


def _rows_with_columns(outer: Dim, lo: Affine, hi: Affine, slopes: tuple[int, int]) -> tuple[Expr, Expr]:
    """The rows that have a column at all: lo(i) < hi(i)."""
    room = hi - lo  # > 0, with i at coefficient 1 or -1
    rest = room.without(outer.var)
    if slopes[1] - slopes[0] > 0:  # i > -rest
        return _extreme("maximum", outer.lo, expression(rest.scaled(-1) + Affine((), 1))), outer.hi
    return outer.lo, _extreme("minimum", outer.hi, expression(rest))


def _extreme(op: str, left: Expr, right: Expr) -> Expr:
    return left if canonical(left) == canonical(right) else Op(op, (left, right), INT)


def rowwise(stmt: Stmt) -> Stmt:
    """The statement with the two dimensions of a triangle the other way round, if it runs down the target's columns.

    for j: 0 <= j < n, i: j <= i < n   -->   for i: 0 <= i < n, j: 0 <= j < i + 1
    """
    dims = [dim for dim in stmt.domain if isinstance(dim, Dim) and dim.step == 1]
    if len(dims) < 2 or len(dims) != len(stmt.domain) or not stmt.index or stmt.index[-1] != Var(dims[-2].var):
        return stmt
    swapped = _swapped(dims[-2], dims[-1])
    return stmt if swapped is None else replace(stmt, domain=(*dims[:-2], *swapped))


def _swapped(outer: Dim, inner: Dim) -> tuple[Dim, Dim] | None:
    """The points of two dimensions in the other order; None unless exactly one bound of the inner moves by one."""
    lo, hi = affine(inner.lo), affine(inner.hi)
    if lo is None or hi is None or any(expr_buffers(bound) for bound in dim_children(outer)):
        return None
    slopes = lo.coefficient(outer.var), hi.coefficient(outer.var)
    if sorted(map(abs, slopes)) != [0, 1]:
        return None
    here, one = Var(inner.var), integer(1)
    rest = expression((lo if slopes[0] else hi).without(outer.var))
    # lo + c <= i, or lo + c > i, solved for the outer variable: its first or last value beside a given inner one.
    down = minus(here, rest) if sum(slopes) > 0 else minus(rest, here)
    low, high = outer.lo, outer.hi
    if slopes in ((1, 0), (0, -1)):
        limit = plus(down, one) if slopes[0] else down
        widest = substitute(limit, {inner.var: minus(inner.hi, one) if slopes[0] else inner.lo})
        high = limit if _at_most(widest, outer.hi) else Op("minimum", (outer.hi, limit), INT)
    else:
        limit = plus(down, one) if slopes[1] else down
        widest = substitute(limit, {inner.var: inner.lo if slopes[1] else minus(inner.hi, one)})
        low = limit if _at_most(outer.lo, widest) else Op("maximum", (outer.lo, limit), INT)
    ends = {1: outer.lo, -1: minus(outer.hi, one)}  # where the moving lower bound is least
    first = canonical(substitute(inner.lo, {outer.var: ends[slopes[0]]})) if slopes[0] else inner.lo
    last = canonical(substitute(inner.hi, {outer.var: ends[-slopes[1]]})) if slopes[1] else inner.hi
    return Dim(inner.var, first, last), Dim(outer.var, low, high)


def _at_most(left: Expr, right: Expr) -> bool:
    gap = difference(left, right)
    return gap is not None and gap <= 0


def sheared(stmt: Stmt, new_var: Callable[[str], str]) -> Stmt | None:
    """The statement over i and j' = i + j, where an operand is read at i + j; None if none is."""
    dims = [dim for dim in stmt.domain if isinstance(dim, Dim)]
    if len(dims) != 2 or len(stmt.domain) != 2:
        return None
    outer, inner = dims
    forms = [affine(position) for part in _sums(stmt) for read in reads(part) for position in read.index]
    if not any(f is not None and f.coefficient(outer.var) == 1 == f.coefficient(inner.var) for f in forms):
        return None
    name = new_var(inner.var)
    values: dict[str, Expr] = {inner.var: minus(Var(name), Var(outer.var))}

    def visit(expr: Expr) -> Expr:
        expr = map_children(expr, visit)
        if isinstance(expr, Read):
            return replace(expr, index=tuple(canonical(position) for position in expr.index))
        return expr

    moved = Dim(name, plus(inner.lo, Var(outer.var)), plus(inner.hi, Var(outer.var)), inner.step)
    index = tuple(canonical(substitute(position, values)) for position in stmt.index)
    return replace(stmt, domain=(outer, moved), index=index, value=visit(substitute(stmt.value, values)))


__all__ = ["Panels", "Parts", "operands_apart", "panel", "panels", "parts", "rowwise", "sheared", "why_not_in_order"]
