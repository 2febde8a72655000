"""Sums over what a loop has computed so far, in blocks.  In: a sequential loop whose iterations sum over all earlier
ones; out: blocks of iterations, for which the part of the sums that was known before is a matrix-vector product.

    for i in 0 .. n: x[i] = f(sum[k: 0 <= k < i] a[i, k] * x[k])
      -->  for i0 in 0 .. n step 64:   t[i - i0] = sum[k: 0 <= k < i0] a[i, k] * x[k]   for i in the block
                                       for i in the block: x[i] = f(t[i - i0] + (sum[k: i0 <= k < i] a[i, k] * x[k]))

The rows of a block are independent of each other: they run in parallel and share what they read of `x`.  A loop that
counts down and sums over what lies above is the same seen from the other end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from weft.analysis.effects import Access, accesses
from weft.ir.expr import Dim, Expr, Op, Read, Reduce, Var, integer
from weft.ir.index import Affine, affine, canonical
from weft.ir.index import add as plus
from weft.ir.index import sub as minus
from weft.ir.program import Loop, Stmt
from weft.ir.types import INT
from weft.ir.walk import children, expr_buffers, map_children, reads, substitute
from weft.records import dataclass

# Iterations of a block: enough to share, few enough that what is left of the sums stays short.
ROWS = 64


@dataclass(frozen=True)
class Blocks:
    """The loop over blocks and the iterations of one; of each sum the part known at the start of a block, and the
    rest."""

    block: Dim
    rows: Dim
    parts: tuple[tuple[Reduce, Reduce, Reduce], ...]

    @property
    def upward(self) -> Dim:
        """The iterations of a block as rows that count up."""
        if self.rows.step > 0:
            return self.rows
        one = integer(1)
        return Dim(self.rows.var, plus(self.rows.hi, one), plus(self.rows.lo, one))

    def place(self) -> Expr:
        """Where a row lies in the memory of its block."""
        first = Var(self.block.var) if self.rows.step > 0 else minus(Var(self.block.var), integer(ROWS - 1))
        return minus(Var(self.rows.var), first)


def blocks(loop: Loop, new_var: Callable[[str], str]) -> Blocks | str:
    """The blocks of a loop of statements, or why it has none."""
    dim = loop.dim
    if not isinstance(dim, Dim) or abs(dim.step) != 1 or not all(isinstance(node, Stmt) for node in loop.body):
        return "not a loop of statements that counts by one"
    if any(expr_buffers(bound) for bound in (dim.lo, dim.hi)):
        return "its bounds are read from memory"
    writes = [write for node in loop.body for write in accesses(node).writes]
    block = Dim(new_var(dim.var), dim.lo, dim.hi, dim.step * ROWS)
    limit = plus(Var(block.var), integer(block.step))
    end = Op("minimum" if dim.step > 0 else "maximum", (limit, dim.hi), INT)
    parts: list[tuple[Reduce, Reduce, Reduce]] = []
    for node in loop.body:
        assert isinstance(node, Stmt)
        for total in () if node.domain or node.reduce is not None else _unconditional(node.value):
            split = _split(total, dim, block.var, writes)
            if split is not None:
                parts.append((total, *split))
    if not parts:
        return "no sum over earlier iterations"
    return Blocks(block, replace(dim, lo=Var(block.var), hi=end), tuple(parts))


def _unconditional(expr: Expr) -> Iterator[Reduce]:
    """The sums that every evaluation computes, outermost first."""
    if isinstance(expr, Reduce):
        yield expr
    elif not (isinstance(expr, Op) and expr.op == "select"):
        for child in children(expr):
            yield from _unconditional(child)


def _split(total: Reduce, dim: Dim, block: str, writes: list[Access]) -> tuple[Reduce, Reduce] | None:
    """The terms of a sum that are known when a block begins, and the others."""
    inner = total.dims[0] if len(total.dims) == 1 else None
    if total.op != "add" or not isinstance(inner, Dim) or inner.step != 1 or not total.type.dtype.is_inexact:
        return None
    lo, hi = affine(inner.lo), affine(inner.hi)
    if lo is None or hi is None:
        return None
    slopes = (0, 1) if dim.step > 0 else (1, 0)
    if (lo.coefficient(dim.var), hi.coefficient(dim.var)) != slopes:
        return None
    moving = hi if dim.step > 0 else lo
    offset = moving.without(dim.var)
    for read in reads(total.value):
        if any(write.buffer == read.buffer and not _apart(read, write, dim, inner.var, offset) for write in writes):
            return None
    start = canonical(substitute(inner.hi if dim.step > 0 else inner.lo, {dim.var: Var(block)}))
    if dim.step > 0:
        # A block may begin before the first term does: its known part is then empty.
        inside = inner.lo == dim.lo and offset.is_constant and offset.constant >= 0
        start = start if inside else Op("maximum", (inner.lo, start), INT)
        return replace(total, dims=(replace(inner, hi=start),)), replace(total, dims=(replace(inner, lo=start),))
    inside = inner.hi == plus(dim.lo, integer(1)) and offset.is_constant and offset.constant <= 1
    start = start if inside else Op("minimum", (inner.hi, start), INT)
    return replace(total, dims=(replace(inner, lo=start),)), replace(total, dims=(replace(inner, hi=start),))


def _apart(read: Read, write: Access, dim: Dim, inner: str, offset: Affine) -> bool:
    """Whether terms known when a block begins never read what its iterations write.

    Written at i + d, read at k + e, k < i0 + c (or, counting down, k >= i0 + c) where i is i0 or comes after it.
    """
    for written, seen in zip(write.index, read.index):
        w, r = affine(written), affine(seen)
        if w is None or r is None or w.coefficient(dim.var) != 1 or r.coefficient(inner) != 1:
            continue
        own = {inner, dim.var}.union(one.var for one in write.dims)
        d, e = w.without(dim.var), r.without(inner)
        if own & (d.names | e.names):
            continue
        gap = d - e - offset
        if gap.is_constant and (gap.constant >= 0 if dim.step > 0 else gap.constant < 0):
            return True
    return False


def with_known_parts(stmt: Stmt, known: dict[Reduce, Expr]) -> Stmt:
    """The statement with sums replaced."""

    def visit(expr: Expr) -> Expr:
        if isinstance(expr, Reduce) and expr in known:
            return known[expr]
        return map_children(expr, visit)

    return replace(stmt, value=visit(stmt.value))


__all__ = ["ROWS", "Blocks", "blocks", "with_known_parts"]
