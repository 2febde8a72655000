"""Taken: a variable that is set under a condition has the value of the last iteration in which it held.

    for i: x = select(c(i), e(i), x)   -->   at = max[i] (i if c(i) else before all);  x = select(at found, e(at), x)

In: one statement of a loop body that no other statement of the loop depends on in a circle; out: the two statements
that stand for all iterations, or the reason why not.
"""

from __future__ import annotations

from weft.ir.expr import TRUE, Const, Dim, Expr, Op, Read, Reduce, Var
from weft.ir.index import sub as minus
from weft.ir.program import Stmt
from weft.ir.types import BOOL, INT, PYBOOL
from weft.ir.walk import expr_buffers, substitute
from weft.passes.raising.predicate import NewBuffer


def last_taken(stmt: Stmt, dim: Dim, new_buffer: NewBuffer) -> list[Stmt] | str:
    """The statements for a loop over `dim` that counts up by one."""
    if stmt.index or stmt.domain or stmt.reduce is not None:
        return "it is not a variable that is set"
    old = Read(stmt.buffer, (), stmt.value.type)
    test, then = _when(stmt.value, old)
    if isinstance(test, Const):
        return "it is not set under a condition"
    if stmt.buffer in expr_buffers(test) | expr_buffers(then):
        return "what it is set to, or when, depends on its value"
    before = minus(dim.lo, Const(1, INT))
    at = new_buffer("at", INT, ()).name
    place = Reduce("maximum", (dim,), Op("select", (test, Var(dim.var), before), INT), stmt.span)
    there = Read(at, (), INT)
    found: Expr = Op("ge", (there, dim.lo), PYBOOL)
    value = Op("select", (found, substitute(then, {dim.var: there}), old), stmt.value.type, stmt.span)
    return [
        Stmt((), at, (), Op("maximum", (place, before), INT), span=stmt.span),
        Stmt((), stmt.buffer, (), value, span=stmt.span),
    ]


def _when(value: Expr, old: Expr) -> tuple[Expr, Expr]:
    """When a value is another one than the old, and which: select(c, a, select(d, b, x)) is when c or else d."""
    if value == old:
        return Const(False, BOOL), value
    if not isinstance(value, Op) or value.op != "select":
        return TRUE, value
    condition, left, right = value.args
    (first, then), (second, orelse) = _when(left, old), _when(right, old)
    if first == second and isinstance(first, Const):
        return first, value
    if isinstance(second, Const) and not second.value:
        return _both(condition, first), then
    if isinstance(first, Const) and not first.value:
        return _both(Op("not", (condition,), condition.type), second), orelse
    test = Op("select", (condition, first, second), BOOL)
    return test, Op("select", (condition, then, orelse), value.type, value.span)


def _both(condition: Expr, test: Expr) -> Expr:
    return condition if test == TRUE else Op("select", (condition, test, Const(False, BOOL)), BOOL)


__all__ = ["last_taken"]
