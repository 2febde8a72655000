"""Other spellings of a sum of products.  In: a statement; out: the same values in a form in which each sum is a product
of two factors over a domain of its own.

    c[k, j] += b[i, j] * a[i, k]   for i: 0 <= i < n, j: 0 <= j < m, k: 0 <= k < i
      -->  c[k, j] = c[k, j] + (sum[i: k + 1 <= i < n] b[i, j] * a[i, k])   for k: 0 <= k < n - 1, j: 0 <= j < m
    sum[k] (a[i, k] * b[j, k] + b[i, k] * a[j, k])   -->   (sum[k] a[i, k] * b[j, k]) + (sum[k] b[i, k] * a[j, k])

Both reassociate sums of floats, as the sums of a Reduce may be.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from weft.ir.expr import Dim, Expr, Op, Read, Reduce, Var
from weft.ir.program import Stmt
from weft.ir.walk import expr_buffers, free_vars, map_children, reads, substitute
from weft.passes.matching.bounds import bounded, inside, plain
from weft.passes.scheduling.rewrite_dims import renamed_domain


def gathered(stmt: Stmt) -> Stmt | str:
    """A statement that adds up in memory as one that sums first, or why it cannot be one."""
    if stmt.reduce != "add" or not plain(stmt.domain) or not stmt.value.type.dtype.is_inexact:
        return "it does not add up numbers over plain dimensions"
    if any(read.buffer == stmt.buffer for part in (stmt.value, *stmt.index) for read in reads(part)):
        return "it reads its own target"
    names = {dim.var for dim in stmt.domain}
    kept = [part.name for part in stmt.index if isinstance(part, Var) and part.name in names]
    moving = [part for part in stmt.index if free_vars(part) & names or expr_buffers(part)]
    if len(moving) != len(kept) or len(set(kept)) != len(kept) or len(kept) == len(names):
        return "the target is not indexed by plain dimensions, or nothing is summed"
    summed = [dim.var for dim in stmt.domain if dim.var not in kept]
    # Dimensions keep their order where the target does not tell another one.
    forms = [form for dim in stmt.domain if isinstance(dim, Dim) for form in inside(dim)]
    dims = bounded([*kept, *summed], forms)
    if dims is None:
        return "its bounds cannot be turned round"
    target = Read(stmt.buffer, stmt.index, stmt.value.type)
    total = Reduce("add", dims[len(kept) :], stmt.value, stmt.span)
    value = Op("add", (target, total), stmt.value.type)
    return replace(stmt, domain=dims[: len(kept)], value=value, reduce=None)


def apart(stmt: Stmt, new_var: Callable[[str], str]) -> Stmt | None:
    """The statement with sums of sums taken apart; None if there is none."""
    changed = False

    def visit(expr: Expr) -> Expr:
        nonlocal changed
        inner = expr.value if isinstance(expr, Reduce) and expr.op == "add" else None
        if isinstance(expr, Reduce) and isinstance(inner, Op) and inner.op in ("add", "sub"):
            if expr.type.dtype.is_inexact and inner.type == expr.type:
                changed = True
                dims, names = renamed_domain(expr.dims, new_var)
                other = replace(expr, dims=dims, value=substitute(inner.args[1], names))
                return replace(inner, args=(visit(replace(expr, value=inner.args[0])), visit(other)))
        return map_children(expr, visit)

    value = visit(stmt.value)
    return replace(stmt, value=value) if changed else None


__all__ = ["apart", "gathered"]
