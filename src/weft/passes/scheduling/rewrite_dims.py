"""Two rewrites that leave less to lower.  In: statements with compressed dimensions and arg-reductions; out: the same
meaning with dense dimensions over positions, and with minimum and maximum only.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial

from weft.analysis.cost import extent
from weft.analysis.floats import without_nan
from weft.errors import Span
from weft.ir import index as affine_index
from weft.ir.expr import AnyDim, Cast, CompressedDim, Const, Dim, Domain, Expr, Op, Read, Reduce, Var, dim_vars, integer
from weft.ir.program import Buffer, Stmt
from weft.ir.types import BOOL, I64, INT
from weft.ir.walk import dim_children, free_vars, map_children, map_dim, substitute

# The minimum of no positions; no reduction has so many points, since entry guards keep every size below 2**40.
_NOT_FOUND = Const(2**63 - 1, I64)


# --- compressed dimensions -------------------------------------------------------------------------------------------


def dense_stmt(stmt: Stmt, table: Mapping[str, Buffer]) -> Stmt:
    """for j(p) in csr(ptr, idx)[i]: ... j ...   -->   for p in ptr[i] .. ptr[i+1]: ... idx[p] ..."""
    domain, values = dense_domain(stmt.domain, table, {})
    index = tuple(dense_expr(e, table, values) for e in stmt.index)
    value = dense_expr(stmt.value, table, values)
    if domain is stmt.domain and value is stmt.value and all(a is b for a, b in zip(index, stmt.index)):
        return stmt
    return replace(stmt, domain=domain, index=index, value=value)


def dense_expr(expr: Expr, table: Mapping[str, Buffer], values: Mapping[str, Expr]) -> Expr:
    """`expr` with the Reduces in it made dense, and the variables of compressed dimensions around it replaced."""
    if isinstance(expr, Var):
        return values.get(expr.name, expr)
    if isinstance(expr, Reduce):
        dims, inner = dense_domain(expr.dims, table, values)
        value = dense_expr(expr.value, table, inner)
        return expr if dims is expr.dims and value is expr.value else replace(expr, dims=dims, value=value)
    return map_children(expr, lambda e: dense_expr(e, table, values))


def dense_domain(
    domain: Domain, table: Mapping[str, Buffer], values: Mapping[str, Expr]
) -> tuple[Domain, Mapping[str, Expr]]:
    dims: list[AnyDim] = []
    for dim in domain:
        dim = map_dim(dim, partial(dense_expr, table=table, values=values))
        if isinstance(dim, CompressedDim):
            ends = dim.parent, affine_index.add(dim.parent, integer(1))
            lo, hi = (_element(table[dim.pointer], end) for end in ends)
            values = {**values, dim.var: _element(table[dim.coordinate], Var(dim.position))}
            dim = Dim(dim.position, lo, hi)
        dims.append(dim)
    return (domain if all(a is b for a, b in zip(dims, domain)) else tuple(dims)), values


def _element(buffer: Buffer, position: Expr) -> Expr:
    read = Read(buffer.name, (position,), buffer.type)
    return read if buffer.type == INT else Cast(read, INT)


# --- arg-reductions --------------------------------------------------------------------------------------------------


def without_arg_reductions(stmt: Stmt, new_var: Callable[[str], str]) -> Stmt:
    """argmin[k] v  -->  min[k] (k if v == m else none), m = min[k] v: two passes that run in vectors and in parallel.

    A NaN counts as extreme: minimum and maximum return it, and the first NaN is found by being one.
    """

    def visit(expr: Expr) -> Expr:
        new = map_children(expr, visit)
        return _positions(new, new_var) if isinstance(new, Reduce) and new.op in ("argmin", "argmax") else new

    value = visit(stmt.value)
    index = tuple(visit(e) for e in stmt.index)
    if value is stmt.value and all(a is b for a, b in zip(index, stmt.index)):
        return stmt
    return replace(stmt, value=value, index=index)


def _positions(reduce: Reduce, new_var: Callable[[str], str]) -> Expr:
    best = Reduce("minimum" if reduce.op == "argmin" else "maximum", reduce.dims, reduce.value, reduce.span)
    dims, names = renamed_domain(reduce.dims, new_var)
    value = substitute(reduce.value, names)
    return or_zero(first_place(dims, is_best(value, best), _rank(dims, new_var), reduce.span))


def is_best(value: Expr, best: Expr) -> Expr:
    """Whether a value is the extreme of all; if that is a NaN, whether it is one."""
    hit: Expr = Op("eq", (value, best), BOOL)
    if value.type.dtype.is_inexact and without_nan(value) is None:
        nans = Op("and", (Op("ne", (value, value), BOOL), Op("ne", (best, best), BOOL)), BOOL)
        hit = Op("or", (hit, nans), BOOL)
    return hit


def chosen(test: Expr, then: Expr, orelse: Expr) -> Expr:
    return Op("select", (test, then, orelse), then.type)


def first_place(dims: Domain, hit: Expr, place: Expr, span: Span) -> Expr:
    """The least place where `hit` holds; see `or_zero`."""
    return Reduce("minimum", dims, chosen(hit, Cast(place, I64), _NOT_FOUND), span)


def or_zero(found: Expr) -> Expr:
    """A place that was found, 0 if none was."""
    return chosen(Op("eq", (found, _NOT_FOUND), BOOL), Const(0, I64), found)


def renamed_domain(domain: Domain, new_var: Callable[[str], str]) -> tuple[Domain, dict[str, Expr]]:
    """A copy of a domain with fresh variables, and the substitution from old to new."""
    names: dict[str, Expr] = {}
    dims: list[AnyDim] = []
    for dim in domain:
        dim = map_dim(dim, partial(substitute, values=names))
        new = {old: new_var(old) for old in dim_vars((dim,))}
        if isinstance(dim, CompressedDim):
            dim = replace(dim, var=new[dim.var], position=new[dim.position])
        else:
            dim = replace(dim, var=new[dim.var])
        names |= {old: Var(name) for old, name in new.items()}
        dims.append(dim)
    return tuple(dims), names


def _rank(dims: Domain, new_var: Callable[[str], str]) -> Expr:
    """How many points of the domain come before the current one, in row-major order."""
    names = set(dim_vars(dims))
    rectangular = all(isinstance(dim, Dim) for dim in dims) and not any(
        free_vars(bound) & names for dim in dims for bound in dim_children(dim)
    )
    total: Expr = integer(0)
    for at, dim in enumerate(dims):
        if rectangular:
            assert isinstance(dim, Dim)
            steps = affine_index.sub(Var(dim.var), dim.lo)
            if dim.step != 1:
                steps = Op("floordiv", (steps, integer(dim.step)), INT)
            total = affine_index.add(affine_index.mul(total, extent(dim)), steps)
        else:
            total = affine_index.add(total, _points_before(dim, dims[at + 1 :], new_var))
    return total


def _points_before(dim: AnyDim, inner: Domain, new_var: Callable[[str], str]) -> Expr:
    """The points with the same outer indices and a smaller value of this dimension."""
    if isinstance(dim, CompressedDim):
        start = Cast(Read(dim.pointer, (dim.parent,), I64), INT)
        earlier: AnyDim = Dim(new_var("before"), start, Var(dim.position))
        inner = ()
    else:
        earlier = Dim(new_var("before"), dim.lo, Var(dim.var), dim.step)
    moved = tuple(map_dim(d, lambda e: substitute(e, {dim.var: Var(earlier.var)})) for d in inner)
    rest, _ = renamed_domain(moved, new_var)
    return Reduce("add", (earlier, *rest), integer(1))
