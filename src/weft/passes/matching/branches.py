"""Statements that choose by the place they write.  In: a statement with a sum in one branch of a choice between two
sides of a diagonal; out: a statement for each side, so that the sum is a product over a triangle.

    c[i, j] = select(j >= i, sum[k] a[k, i] * a[k, j], 0)   for i: 0 <= i < n, j: 0 <= j < n
      -->  c[i, j] = sum[k] a[k, i] * a[k, j]   for i: 0 <= i < n, j: i <= j < n
           c[i, j] = 0                          for i: 1 <= i < n, j: 0 <= j < i
    sum[k] select(k <= i, a[i, k] * b[k, j], a[k, i] * b[k, j])  -->  sum[k] select(k <= i, a[i, k], a[k, i]) * b[k, j]
    sum[k: 0 <= k < n] select(k <= i, a[i, k] * b[k, j], 0)   -->   sum[k: 0 <= k < i + 1] a[i, k] * b[k, j]
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from weft.analysis.effects import reads_of
from weft.ir.domain import holds
from weft.ir.expr import ZERO, Cast, Const, Dim, Domain, Expr, Op, Reduce
from weft.ir.index import Affine, affine
from weft.ir.program import Buffer, Stmt
from weft.ir.types import PYBOOL, DType
from weft.ir.walk import expr_buffers, map_children, subexpressions
from weft.passes.matching.bounds import bounded, inside, plain
from weft.passes.matching.triangles import why_not_in_order

_ONE = Affine((), 1)


def sides(stmt: Stmt) -> tuple[Stmt, Stmt] | str:
    """The statement on either side of the diagonal by which it chooses, or why it stays one."""
    if stmt.reduce is not None or len(stmt.domain) != 2 or not plain(stmt.domain):
        return "not a statement over two plain dimensions"
    choice = _choice(stmt.value)
    if choice is None:
        return "no sum in a branch"
    names = [dim.var for dim in stmt.domain]
    here = _at_least_zero(choice.args[0])
    if here is None or any(abs(here.coefficient(name)) != 1 for name in names):
        return "the choice is no diagonal"
    reason = why_not_in_order(stmt)
    if reason is not None:
        return reason
    forms = [form for dim in stmt.domain if isinstance(dim, Dim) for form in inside(dim)]
    made: list[Stmt] = []
    for form, branch in ((here, choice.args[1]), (here.scaled(-1) - _ONE, choice.args[2])):
        domain = bounded(names, [*forms, form])
        if domain is None:
            return "a side has bounds of another form"
        made.append(replace(stmt, domain=domain, value=_replaced(stmt.value, choice, branch)))
    return made[0], made[1]


def _choice(expr: Expr) -> Op | None:
    """The outermost choice with a sum in a branch that is inside no sum itself."""
    if isinstance(expr, Reduce):
        return None
    if isinstance(expr, Op) and expr.op == "select":
        branches = [part for branch in expr.args[1:] for part in subexpressions(branch)]
        return expr if any(isinstance(part, Reduce) for part in branches) else None
    found: list[Op] = []

    def visit(child: Expr) -> Expr:
        inner = _choice(child)
        if inner is not None:
            found.append(inner)
        return child

    map_children(expr, visit)
    return found[0] if found else None


def _at_least_zero(condition: Expr) -> Affine | None:
    """The affine form that is not negative exactly where a comparison holds."""
    if isinstance(condition, Cast) and condition.of.dtype is DType.BOOL:
        return _at_least_zero(condition.value)
    if not isinstance(condition, Op) or condition.op not in ("lt", "le", "gt", "ge"):
        return None
    left, right = (_position(arg) for arg in condition.args)
    if left is None or right is None:
        return None
    form = left - right if condition.op in ("gt", "ge") else right - left
    return form if condition.op in ("le", "ge") else form - _ONE


def _position(expr: Expr) -> Affine | None:
    """An integer made of indices and sizes, which are small enough for either type of 64 bits."""
    while isinstance(expr, Cast) and expr.of.dtype is DType.I64 and expr.value.type.dtype is DType.I64:
        expr = expr.value
    return affine(expr) if expr.type.dtype is DType.I64 and not expr_buffers(expr) else None


def is_diagonal(condition: Expr, dims: Domain) -> bool:
    """Whether a condition chooses between the two sides of a diagonal of dimensions."""
    form = _at_least_zero(condition)
    return form is not None and sum(abs(form.coefficient(dim.var)) == 1 for dim in dims) == 2


def why_not_everywhere(total: Expr, around: Domain, table: Mapping[str, Buffer]) -> str | None:
    """Why an expression that is in one branch of a choice may not be computed where the other is taken."""
    for access in reads_of(total, around):
        for position, size in zip(access.index, table[access.buffer].shape):
            least, most = Op("ge", (position, ZERO), PYBOOL), Op("lt", (position, size), PYBOOL)
            if not (holds(least, access.dims) and holds(most, access.dims)):
                return f"`{access.buffer}` may end before that"
    return None


def narrowed(stmt: Stmt) -> Stmt | None:
    """The statement whose sums have the terms alone that are not zero by their place; None if all do."""
    changed = False

    def visit(expr: Expr) -> Expr:
        nonlocal changed
        expr = map_children(expr, visit)
        if not isinstance(expr, Reduce) or expr.op != "add" or len(expr.dims) != 1 or not plain(expr.dims):
            return expr
        value, (dim,) = expr.value, expr.dims
        if not isinstance(value, Op) or value.op != "select" or not isinstance(dim, Dim):
            return expr
        form = _at_least_zero(value.args[0])
        zero = [isinstance(branch, Const) and branch.value == 0 for branch in value.args[1:]]
        if form is None or abs(form.coefficient(dim.var)) != 1 or sum(zero) != 1:
            return expr
        there = form if zero[1] else form.scaled(-1) - _ONE
        dims = bounded([dim.var], [*inside(dim), there], stmt.domain)
        if dims is None or not plain(dims):
            return expr
        changed = True
        return replace(expr, dims=dims, value=value.args[1] if zero[1] else value.args[2])

    if stmt.reduce is not None or not plain(stmt.domain):
        return None
    value = visit(stmt.value)
    return replace(stmt, value=value) if changed else None


def _replaced(expr: Expr, old: Expr, new: Expr) -> Expr:
    return new if expr is old else map_children(expr, lambda child: _replaced(child, old, new))


def factored(stmt: Stmt) -> Stmt | None:
    """The statement whose sums choose a factor, where they chose between products with a common one; None if none."""
    changed = False

    def visit(expr: Expr) -> Expr:
        nonlocal changed
        expr = map_children(expr, visit)
        common = _common(expr.value) if isinstance(expr, Reduce) and expr.op == "add" else None
        if common is None or not isinstance(expr, Reduce):
            return expr
        changed = True
        return replace(expr, value=common)

    value = visit(stmt.value)
    return replace(stmt, value=value) if changed else None


def _common(expr: Expr) -> Op | None:
    """x * z or y * z as (x or y) * z: the same bits, whichever is chosen."""
    if not isinstance(expr, Op) or expr.op != "select":
        return None
    condition, one, other = expr.args
    if not (isinstance(one, Op) and isinstance(other, Op) and one.op == other.op == "mul" and one.type == other.type):
        return None
    for place, factor in enumerate(one.args):
        for there, same in enumerate(other.args):
            mine, theirs = one.args[1 - place], other.args[1 - there]
            if factor == same and mine.type == theirs.type:
                chosen = Op("select", (condition, mine, theirs), mine.type)
                return replace(one, args=(chosen, factor) if place else (factor, chosen))
    return None


__all__ = ["factored", "is_diagonal", "narrowed", "sides", "why_not_everywhere"]
