"""Cost estimates.  In: expressions, domains and lowered blocks; out: cycles, as numbers or as expressions over the
symbols.

Work expressions are of type float: a product of three sizes may leave 64 bits, and an estimate must never raise the
overflow flag that integer arithmetic carries.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from weft.ir import index as affine_index
from weft.ir.expr import AnyDim, Cast, CompressedDim, Const, Dim, Expr, Op, Read, Reduce, integer, real
from weft.ir.ops import OPERATIONS
from weft.ir.program import Block, Call, If, Library, Loop, Node, Stmt, While
from weft.ir.types import FLOAT, INT
from weft.ir.walk import children, free_vars, reads, substitute

# Data-dependent extents (a row of a sparse matrix, the trips of a while loop) are guessed: wrong guesses cost a little
# time, never a result.
GUESSED_EXTENT = 8
CALL_CYCLES = 20000.0
# Cycles below which a parallel loop is not worth waking threads for.
PARALLEL_CYCLES = 60_000
# Vector units work on about this many elements at once; estimates are of vectorised code.
LANES = 3.0


def expr_cycles(expr: Expr) -> int:
    """Cycles of one scalar evaluation: operations by the table, an array read 1, a Reduce as if over one point."""
    if isinstance(expr, Read):
        return 1 if expr.index else 0
    own = OPERATIONS[expr.op].cost if isinstance(expr, Op) else 1 if isinstance(expr, (Cast, Reduce)) else 0
    return own + sum(expr_cycles(child) for child in children(expr))


def extent(dim: AnyDim) -> Expr:
    """The number of points of a dense dimension, as written: negative if its bounds cross."""
    if isinstance(dim, CompressedDim):
        return integer(GUESSED_EXTENT)
    if dim.step == 1:
        return dim.hi if dim.lo == integer(0) else affine_index.sub(dim.hi, dim.lo)
    if dim.step == -1:
        return affine_index.sub(dim.lo, dim.hi)
    span = affine_index.sub(dim.hi, dim.lo) if dim.step > 0 else affine_index.sub(dim.lo, dim.hi)
    size = abs(dim.step)
    return Op("floordiv", (affine_index.add(span, integer(size - 1)), integer(size)), INT)


def constant_extent(dim: AnyDim) -> int | None:
    """The number of points if it is known now."""
    if isinstance(dim, CompressedDim):
        return None
    span = affine_index.difference(dim.hi, dim.lo)
    if span is None:
        return None
    return len(range(0, span, dim.step))


def times(left: Expr, right: Expr) -> Expr:
    if isinstance(left, Const) and isinstance(right, Const):
        return real(float(left.value.real) * float(right.value.real))
    if left == real(1.0):
        return right
    return left if right == real(1.0) else Op("mul", (left, right), FLOAT)


def plus(left: Expr, right: Expr) -> Expr:
    if isinstance(left, Const) and isinstance(right, Const):
        return real(float(left.value.real) + float(right.value.real))
    if left == real(0.0):
        return right
    return left if right == real(0.0) else Op("add", (left, right), FLOAT)


def as_float(size: Expr) -> Expr:
    return real(float(size.value.real)) if isinstance(size, Const) else Cast(size, FLOAT)


def points(dims: Iterable[AnyDim]) -> Expr:
    """The number of points of a domain, as a float expression free of the domain's own variables (triangles halved)."""
    total: Expr = real(1.0)
    middles: dict[str, Expr] = {}
    for dim in dims:
        total = times(total, as_float(_outside(extent(dim), middles)))
        middles[dim.var] = _middle(dim, middles)
    return total


def _middle(dim: AnyDim, middles: Mapping[str, Expr]) -> Expr:
    """A typical value of a dimension's variable, in terms of what is known outside."""
    if isinstance(dim, CompressedDim):
        return integer(0)
    half = Op("floordiv", (affine_index.add(dim.lo, dim.hi), integer(2)), INT)
    return _outside(half, middles)


def _outside(size: Expr, middles: Mapping[str, Expr]) -> Expr:
    """`size` with inner variables at typical values; a size read from memory is guessed."""
    if any(True for _ in reads(size)):
        return integer(GUESSED_EXTENT)
    return substitute(size, {name: middles[name] for name in free_vars(size) & middles.keys()})


def node_work(node: Node, middles: Mapping[str, Expr]) -> Expr:
    """Cycles of one execution of a lowered node, free of the variables in `middles`."""
    if isinstance(node, Stmt):
        cycles = 1.0 + expr_cycles(node.value) + sum(expr_cycles(e) for e in node.index)
        return times(points(node.domain), real(cycles / LANES))
    if isinstance(node, Loop):
        inner = {**middles, node.dim.var: _middle(node.dim, middles)}
        return times(as_float(_outside(extent(node.dim), middles)), block_work(node.body, inner))
    if isinstance(node, If):
        return plus(real(2.0), plus(block_work(node.then, middles), block_work(node.orelse, middles)))
    if isinstance(node, While):
        once = plus(block_work(node.prelude, middles), block_work(node.body, middles))
        return times(real(float(GUESSED_EXTENT)), once)
    return real(CALL_CYCLES) if isinstance(node, (Call, Library)) else real(1.0)


def block_work(block: Block, middles: Mapping[str, Expr] | None = None) -> Expr:
    total: Expr = real(0.0)
    for node in block:
        total = plus(total, node_work(node, middles or {}))
    return total


def work(node: Stmt | Loop) -> Expr:
    """Cycles of a whole statement or loop, as a float expression over what is known before it."""
    return node_work(node, {})


def dense(dim: AnyDim) -> Dim:
    """The dimension, which lowering has already made dense."""
    assert isinstance(dim, Dim)
    return dim
