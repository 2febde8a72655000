"""How sizes are written.  In: linear forms, expressions and results; out: the same, in one spelling."""

from __future__ import annotations

from dataclasses import replace

from weft.ir import index as ix
from weft.ir import walk
from weft.ir.expr import Expr, Op
from weft.ir.index import Affine
from weft.ir.program import Out, TupleOut, ViewOut
from weft.ir.types import INT


def sides(form: Affine) -> tuple[Expr, Expr]:
    """form == 0 as left == right with positive terms on both sides."""
    left = Affine.make({name: c for name, c in form.terms if c > 0}, max(form.constant, 0))
    right = Affine.make({name: -c for name, c in form.terms if c < 0}, max(-form.constant, 0))
    return ix.expression(left), ix.expression(right)


def canonical_int(expr: Expr) -> Expr:
    return ix.canonical(expr) if isinstance(expr, Op) and expr.type == INT else expr


def resolved_out(out: Out, resolve: walk.ExprMap) -> Out:
    """A result with sizes that are known to be equal written the same way."""
    if isinstance(out, ViewOut):
        dims = walk.map_domain(out.dims, resolve)
        return replace(out, dims=dims, index=tuple(resolve(e) for e in out.index))
    if isinstance(out, TupleOut):
        return replace(out, items=tuple(resolved_out(item, resolve) for item in out.items))
    return out
