"""Recentre: where a dimension starts is a matter of spelling.  In: a statement or a reduction; out: the one form of it.

    b[i] = a[i - 1]  for i: 1 <= i < n          -->   b[i + 1] = a[i]  for i: 0 <= i < n - 1
    c[i, i + j + 1]  for i, j: 0 <= j < n - i   -->   c[i, j]          for i, j: i + 1 <= j < n + 1

A dimension starts at zero, unless the place it writes (a reduction's: the first place it reads) starts at a place that
depends on other dimensions; then it is that place itself.  A slice and the loop over its elements so become equal.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from weft.ir.expr import AnyDim, Dim, Domain, Expr, Read, Reduce, Var, dim_vars
from weft.ir.index import Affine, add, affine, expression, sub
from weft.ir.program import Stmt
from weft.ir.walk import children, map_domain, substitute

Names = frozenset[str]


def recentred_stmt(stmt: Stmt, around: Names) -> Stmt:
    """A statement with its domain in the one form; `around` are the variables of enclosing loops."""
    for position in range(len(stmt.domain)):
        inner = frozenset(dim_vars(stmt.domain[position:]))
        outer = around | frozenset(dim_vars(stmt.domain[:position]))
        moved = _moved(stmt.domain[position], iter([stmt.index]), outer, inner)
        if moved is not None:
            dim, values = moved
            rest = map_domain(stmt.domain[position + 1 :], lambda e, v=values: substitute(e, v))  # type: ignore[misc]
            stmt = replace(
                stmt,
                domain=(*stmt.domain[:position], dim, *rest),
                index=tuple(substitute(part, values) for part in stmt.index),
                value=substitute(stmt.value, values),
            )
    return stmt


def recentred_reduce(expr: Reduce, around: Names) -> Reduce:
    """The same for the dimensions of a reduction."""
    if expr.op in ("argmin", "argmax"):
        return expr  # its value is a position
    for position in range(len(expr.dims)):
        inner = frozenset(dim_vars(expr.dims[position:])) | _bound(expr.value)
        outer = around | frozenset(dim_vars(expr.dims[:position]))
        moved = _moved(expr.dims[position], _places(expr.value), outer, inner)
        if moved is not None:
            dim, values = moved
            rest: Domain = map_domain(expr.dims[position + 1 :], lambda e, v=values: substitute(e, v))  # type: ignore[misc]
            dims = (*expr.dims[:position], dim, *rest)
            expr = replace(expr, dims=dims, value=substitute(expr.value, values))
    return expr


def _moved(
    dim: AnyDim, places: Iterator[tuple[Expr, ...]], outer: Names, inner: Names
) -> tuple[AnyDim, dict[str, Expr]] | None:
    """The dimension in its one form and what its variable was before; None if it has that form already."""
    if not isinstance(dim, Dim) or dim.step != 1:
        return None
    low = affine(dim.lo)
    if low is None:
        return None
    offset = _offset(dim.var, places, inner)
    if (low + offset).names & outer:
        shift = offset
    else:
        shift = low.scaled(-1)
    if shift == Affine((), 0):
        return None
    by = expression(shift)
    return Dim(dim.var, add(dim.lo, by), add(dim.hi, by)), {dim.var: sub(Var(dim.var), by)}


def _offset(name: str, places: Iterator[tuple[Expr, ...]], inner: Names) -> Affine:
    """What is added to the variable at the first place that it addresses alone; nothing if there is none."""
    for index in places:
        for part in index:
            form = affine(part)
            if form is not None and form.coefficient(name) == 1:
                rest = form.without(name)
                if not rest.names & inner:
                    return rest
    return Affine((), 0)


def _places(expr: Expr) -> Iterator[tuple[Expr, ...]]:
    if isinstance(expr, Read):
        yield expr.index
    for child in children(expr):
        yield from _places(child)


def _bound(expr: Expr) -> Names:
    """Variables that reductions inside an expression bind."""
    own = frozenset(dim_vars(expr.dims)) if isinstance(expr, Reduce) else frozenset()
    return own.union(*(_bound(child) for child in children(expr)))
