"""Sums whose number of terms grows from row to row, in panels.  In: a statement that sums, in row i, over k up to i or
from i on; out: panels of rows that share one range of terms, over which the sum is a matrix product.

    b[i, j] = f(sum[k: i + 1 <= k < n] a[k, i] * b[k, j])   for i: 0 <= i < n, j: 0 <= j < m
      -->  for i0 in 0 .. n step 96:   t = sum[k: i0 + 1 <= k < n] select(k >= i + 1, a[k, i], 0) * b[k, j]
                                       b[i, j] = f(t[i - i0, j])      for i0 <= i < min(i0 + 96, n) and all j

The terms beyond a row's own are zeros, which change no sum as long as the other factor is finite: that is tested first.
A statement that reads rows of its own target is cut so that no panel reads what another one has overwritten.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from weft.analysis.intervals import Box, box
from weft.ir.domain import is_empty
from weft.ir.expr import Const, Dim, Domain, Expr, Op, Reduce, Var, integer
from weft.ir.index import affine, canonical
from weft.ir.index import sub as minus
from weft.ir.program import Stmt
from weft.ir.types import BOOL, PYBOOL
from weft.ir.walk import dim_children, expr_buffers, free_vars, map_children, reads, subexpressions, substitute
from weft.passes.matching import triangles
from weft.passes.matching.triangles import panel
from weft.passes.scheduling.rewrite_dims import chosen, renamed_domain
from weft.records import dataclass


@dataclass(frozen=True)
class Wedge:
    """The rows, the loop over panels of them, the statement over one panel with the same terms in every row, and the
    factor (over a domain) that has to be finite; `boxes`: the memory of a panel."""

    row: Dim
    block: Dim
    stmt: Stmt
    factor: Expr
    where: Domain
    boxes: dict[str, Box]


def wedge(stmt: Stmt, new_var: Callable[[str], str]) -> Wedge | str:
    """The panels of a statement, or why it has none."""
    dims = [dim for dim in stmt.domain if isinstance(dim, Dim) and dim.step == 1]
    totals = [part for part in subexpressions(stmt.value) if isinstance(part, Reduce)]
    if stmt.reduce is not None or len(dims) != len(stmt.domain) or len(totals) != 1:
        return "not a statement with one sum"
    total = totals[0]
    terms = total.dims[0] if len(total.dims) == 1 else None
    if total.op != "add" or not isinstance(terms, Dim) or terms.step != 1 or not total.type.dtype.is_inexact:
        return "not a sum over one dimension"
    lo, hi = affine(terms.lo), affine(terms.hi)
    if lo is None or hi is None or not isinstance(total.value, Op) or total.value.op != "mul":
        return "not a sum of products with plain bounds"
    names = {dim.var for dim in dims}
    moving = [(name, end) for end, form in enumerate((lo, hi)) for name in form.names & names]
    if len(moving) != 1:
        return "not exactly one bound moves"
    name, end = moving[0]
    slope = (lo, hi)[end].coefficient(name)
    row = next(dim for dim in dims if dim.var == name)
    if abs(slope) != 1 or any(names & free_vars(bound) for bound in dim_children(row)):
        return "the bound does not move by one"
    if any(name in free_vars(bound) or expr_buffers(bound) for dim in dims for bound in dim_children(dim)):
        return "the rows are not alike"
    sides = total.value.args
    mine = [name in free_vars(side) for side in sides]
    if sum(mine) != 1 or terms.var not in free_vars(sides[mine.index(False)]):
        return "both factors vary with the row"
    return _panels(stmt, total, row, (terms, end, slope), mine.index(True), new_var)


def _panels(
    stmt: Stmt, total: Reduce, row: Dim, bound: tuple[Dim, int, int], side: int, new_var: Callable[[str], str]
) -> Wedge | str:
    terms, end, slope = bound
    # A panel begins, or ends, at the loop's variable: first the way in which the moving lower bound is affine.
    upward = end == 1 or slope > 0
    directions = [way for way in (upward, not upward) if _reads_first(stmt, row, terms, way)]
    other_boxes = box([dim for dim in stmt.domain if dim.var != row.var])
    if not directions or other_boxes is None:
        return "a panel reads what another one overwrites"
    rows, block = panel(row, row.lo, row.hi, directions[0], new_var(row.var))
    start = rows.lo if directions[0] else minus(Var(block.var), integer(triangles.ROWS))
    boxes = {**other_boxes, row.var: Box(start, integer(triangles.ROWS))}
    last = minus(rows.hi, integer(1))
    widest = rows.lo if (end == 0) == (slope > 0) else last
    moved = canonical(substitute(terms.lo if end == 0 else terms.hi, {row.var: widest}))
    shared = replace(terms, lo=moved) if end == 0 else replace(terms, hi=moved)
    own = Op("ge", (Var(terms.var), terms.lo), PYBOOL) if end == 0 else Op("lt", (Var(terms.var), terms.hi), PYBOOL)
    assert isinstance(total.value, Op)
    sides = list(total.value.args)
    zero = Const(complex(0.0) if sides[side].type.dtype.is_complex else 0.0, sides[side].type)
    sides[side] = chosen(own, sides[side], zero)
    whole = replace(total, dims=(shared,), value=replace(total.value, args=tuple(sides)))

    def visit(expr: Expr) -> Expr:
        return whole if expr is total else map_children(expr, visit)

    domain = tuple(rows if dim.var == row.var else dim for dim in stmt.domain)
    everywhere = _all_terms(terms, end, slope, row)
    factor = sides[1 - side]
    where = (everywhere, *(dim for dim in stmt.domain if dim.var in free_vars(factor)))
    return Wedge(row, block, replace(stmt, domain=domain, value=visit(stmt.value)), factor, where, boxes)


def _all_terms(terms: Dim, end: int, slope: int, row: Dim) -> Dim:
    """The terms of the row that has most of them."""
    widest = row.lo if (end == 0) == (slope > 0) else minus(row.hi, integer(1))
    values = {row.var: widest}
    return replace(terms, lo=canonical(substitute(terms.lo, values)), hi=canonical(substitute(terms.hi, values)))


def _reads_first(stmt: Stmt, row: Dim, terms: Dim, upward: bool) -> bool:
    """Whether a row never reads, of the target, what a row that comes earlier in this direction has overwritten."""
    copied, names = renamed_domain(stmt.domain, lambda name: name + "'")
    there = Var(row.var + "'")
    before = Op("lt" if upward else "gt", (there, Var(row.var)), PYBOOL)
    for read in {read for part in (stmt.value, *stmt.index) for read in reads(part) if read.buffer == stmt.buffer}:
        if read.index == stmt.index:
            continue
        same = [Op("eq", (left, substitute(right, names)), PYBOOL) for left, right in zip(read.index, stmt.index)]
        if not is_empty((*stmt.domain, terms, *copied), (*same, before)):
            return False
    return True


def finite(wedge: Wedge, wanted: Expr) -> Expr:
    """Whether panels are wanted and the factor that is multiplied by zeros is finite."""
    value = Op("isfinite", (wedge.factor,), BOOL)
    both = Op("and", (Op("lt", (wedge.row.lo, wedge.row.hi), PYBOOL), wanted), PYBOOL)
    return chosen(both, Reduce("and", wedge.where, value), Const(False, BOOL))


__all__ = ["Wedge", "finite", "wedge"]
