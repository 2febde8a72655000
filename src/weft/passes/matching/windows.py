"""Sums over windows of an array.  In: a statement whose sum reads an array at moving places, as a convolution does;
out: the outer dimensions to loop over, and for each of their points a statement whose windows can be copied side by
side and multiplied as a matrix.

    c[n, i, j, f] = sum[p: i <= p < i + 5, q: j <= q < j + 5, m: 0 <= m < 6] a[n, p, q, m] * w[p - i, q - j, m, f]
      -->  for n, for i:   c[n, i, j, f] = sum[p: 0 <= p < 5, q: 0 <= q < 5, m] a[n, i + p, j + q, m] * w[p, q, m, f]
"""

from __future__ import annotations

from dataclasses import replace

from weft.ir.expr import Dim, Domain, Expr, Op, Read, Reduce, Var, integer
from weft.ir.index import add as plus
from weft.ir.index import affine, canonical
from weft.ir.index import sub as minus
from weft.ir.program import Stmt
from weft.ir.walk import dim_children, free_vars, map_children, reads, subexpressions, substitute
from weft.passes.matching.products import axes_of
from weft.passes.matching.triangles import why_not_in_order
from weft.records import dataclass


@dataclass(frozen=True)
class Windows:
    """The statement with windows that begin at 0, the dimensions that move them (`rows`), and its domain in two parts:
    the loops, and the dimensions of the matrices."""

    stmt: Stmt
    rows: set[str]
    outer: Domain
    inner: Domain


def windows(stmt: Stmt) -> Windows | str:
    """How a statement sums over windows, or why it does not."""
    totals = [part for part in subexpressions(stmt.value) if isinstance(part, Reduce)]
    if stmt.reduce is not None or len(totals) != 1 or totals[0].op != "add" or not isinstance(totals[0].value, Op):
        return "not a statement with one sum"
    if totals[0].value.op != "mul" or not totals[0].type.dtype.is_inexact:
        return "not a sum of products"
    reason = why_not_in_order(stmt)
    if reason is not None:
        return reason
    names = {dim.var for dim in stmt.domain}
    total = _from_zero(totals[0], names)
    dims = [dim for dim in stmt.domain if isinstance(dim, Dim) and dim.step == 1]
    bounds = [bound for dim in (*stmt.domain, *total.dims) for bound in dim_children(dim)]
    if len(dims) != len(stmt.domain) or any(free_vars(bound) & names for bound in bounds):
        return "the windows are not all of one size"
    assert isinstance(total.value, Op)
    everything = names.union(dim.var for dim in total.dims)
    moving = [side for side in total.value.args if _moves(side, everything)]
    if len(moving) != 1:
        return "no array is read in windows, or two are"
    rows = free_vars(moving[0]) & names
    other = next(side for side in total.value.args if side is not moving[0])
    if rows & free_vars(other) or len(rows) < 2:
        return "both factors move"
    axes = axes_of(stmt.index, names)
    if axes is not None and len(axes) == len(dims):
        # The order in which a rectangle is spelled means nothing; the target's own makes rows that lie side by side.
        dims.sort(key=lambda dim: axes[dim.var])
    last = [dim for dim in dims if dim.var in rows][-1]
    outer = tuple(dim for dim in dims if dim.var in rows and dim is not last)
    inner = tuple(dim for dim in dims if dim not in outer)

    def visit(expr: Expr) -> Expr:
        return total if expr is totals[0] else map_children(expr, visit)

    return Windows(replace(stmt, value=visit(stmt.value)), rows, outer, inner)


def _from_zero(total: Reduce, names: set[str]) -> Reduce:
    """The sum with dimensions that begin at 0 where they began at a moving place."""
    values: dict[str, Expr] = {}
    dims: list[Dim] = []
    for dim in total.dims:
        if not isinstance(dim, Dim) or dim.step != 1 or not free_vars(dim.lo) & names or affine(dim.lo) is None:
            if isinstance(dim, Dim):
                dims.append(dim)
            continue
        values[dim.var] = plus(Var(dim.var), dim.lo)
        dims.append(Dim(dim.var, integer(0), minus(dim.hi, dim.lo)))
    if len(dims) != len(total.dims) or not values:
        return total

    def visit(expr: Expr) -> Expr:
        expr = map_children(expr, visit)
        if isinstance(expr, Read):
            return replace(expr, index=tuple(canonical(position) for position in expr.index))
        return expr

    return replace(total, dims=tuple(dims), value=visit(substitute(total.value, values)))


def _moves(side: Expr, names: set[str]) -> bool:
    """Whether a factor is an array read along two dimensions at once."""
    found = list(reads(side))
    return any(axes_of(read.index, names) is None for read in found)


__all__ = ["Windows", "windows"]
