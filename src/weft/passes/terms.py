"""Terms: a reduction over a few points is spelt out.  In: an optimised program; out: the same with operations in place
of reductions whose extents are small constants.

    y[i, j] = max[a: 0 <= a < 2, b: 0 <= b < 2] x[2 * i + a, 2 * j + b]   for i, j
        -->  y[i, j] = maximum(maximum(maximum(x[2 * i, 2 * j], x[2 * i, 2 * j + 1]), x[2 * i + 1, 2 * j]), ...)

Four elements are no vector, and what combines the lanes of one costs more than they do.  As operations they are part of
the statement around them, of which several points go side by side.  The order is the source's.  Sums are spelt out in
statements of one point alone: others are sums side by side already (`abreast.py`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

from weft.analysis.cost import constant_extent
from weft.analysis.facts import Facts
from weft.ir.expr import Const, Dim, Domain, Expr, Op, Reduce, integer
from weft.ir.index import add
from weft.ir.program import Node, Program, Stmt
from weft.ir.walk import expr_size, map_block, map_children, map_dim, map_sub_blocks, substitute
from weft.passes import Knows, PassContext, declared
from weft.passes.simplifying.algebra import Algebra

PASS = "terms"
#: Points of a reduction, and parts of the expression that they become.
MOST_POINTS, MOST_PARTS = 16, 240
#: Operations whose result for one point is the point's value itself, whatever it is.
_CHOICES = ("minimum", "maximum", "and", "or")


@declared(PASS, after=("match",), knows=Knows.BESIDE | Knows.TASKS | Knows.CALLS)
def run(program: Program, context: PassContext) -> Program:
    """Every statement in a loop, or at several points."""
    algebra = Algebra(context.options.fp == "strict")

    def visit(node: Node) -> Node:
        if isinstance(node, Stmt):
            value = spelt(node.value, algebra, not node.domain)
            return node if value is node.value else replace(node, value=value)
        return map_sub_blocks(node, lambda block: map_block(block, visit))

    body = map_block(program.body, lambda node: node if isinstance(node, Stmt) and not node.domain else visit(node))
    if all(new is old for new, old in zip(body, program.body)):
        return program
    context.done(PASS, "the few terms of a reduction are spelt out", program.span)
    return replace(program, body=body)


def spelt(expr: Expr, algebra: Algebra, sums: bool = False) -> Expr:
    """An expression without the reductions of a few points, or of some that are no sums."""
    expr = map_children(expr, lambda e: spelt(e, algebra, sums))
    if not isinstance(expr, Reduce) or why_not(expr, sums) is not None:
        return expr
    values = [algebra.simplify(substitute(expr.value, point), Facts()) for point in _points(expr.dims, {})]
    total = values[0]
    if expr.op == "add" and expr.type.dtype.kind in "fc":
        total = Op("add", (Const(0.0 if expr.type.dtype.kind == "f" else 0j, expr.type), total), expr.type)
    for value in values[1:]:
        total = Op(expr.op, (total, value), expr.type)
    return total


def why_not(reduction: Reduce, sums: bool = False) -> str | None:
    """Why a reduction stays one; None if it need not."""
    if reduction.op not in _CHOICES and not (sums and reduction.op == "add"):
        return "a sum, which may go side by side with others"
    if reduction.type != reduction.value.type:
        return "its result has another type than its terms"
    try:
        points = sum(1 for _ in islice(_points(reduction.dims, {}), MOST_POINTS + 1))
    except _Unknown:
        return "its length is not known now"
    if not 0 < points <= MOST_POINTS:
        return "too many points"
    return "too long an expression" if points * expr_size(reduction.value) > MOST_PARTS else None


class _Unknown(Exception):
    """The length of a dimension is not known now."""


def _points(dims: Domain, values: dict[str, Expr]) -> Iterator[dict[str, Expr]]:
    """The values of the variables at each point, in order; bounds may speak of the variables before them."""
    if not dims:
        yield values
        return
    first = map_dim(dims[0], lambda e: substitute(e, values))
    extent = constant_extent(first)
    if extent is None or not isinstance(first, Dim):
        raise _Unknown
    for number in range(extent):
        yield from _points(dims[1:], {**values, first.var: add(first.lo, integer(number * first.step))})


__all__ = ["run", "why_not"]
