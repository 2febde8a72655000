"""Tests of whole arrays of short rows.  In: a condition with conjunctions over two dimensions; out: over one.

    all[i: 0 <= i < n, k: 0 <= k < 8] c[i, k] < m   -->   all[q: 0 <= q < 8 * n] c[q // 8, q % 8] < m

The rows may be some of those of an array.  In C order the elements of all rows follow each other, and code generation
writes the pair as q.  A vector then never ends with a short row.  A conjunction is the same in any order.
"""

from __future__ import annotations

from collections.abc import Callable

from weft.ir import index as affine_index
from weft.ir.expr import Const, Dim, Expr, Op, Read, Reduce, Var
from weft.ir.program import Buffer, Layout
from weft.ir.types import INT
from weft.ir.walk import free_vars, reads, rewrite

# Rows that are longer fill vectors by themselves.
SHORT = 64


def flattened(expr: Expr, table: dict[str, Buffer], new_var: Callable[[str], str]) -> Expr:
    """The expression with every conjunction over short rows of whole arrays as one over their elements."""

    def visit(part: Expr) -> Expr:
        whole = isinstance(part, Reduce) and why_not(part, table) is None
        return _as_one(part, new_var) if whole and isinstance(part, Reduce) else part

    return rewrite(expr, visit)


def why_not(reduce: Reduce, table: dict[str, Buffer]) -> str | None:
    """None if a conjunction goes through rows of arrays in C order, each of a small constant number of elements."""
    if reduce.op != "and" or len(reduce.dims) != 2:
        return "no conjunction over two dimensions"
    rows, columns = reduce.dims
    if not isinstance(rows, Dim) or not isinstance(columns, Dim) or rows.step != 1 or columns.step != 1:
        return "rows with others between them"
    if columns.lo != Const(0, INT):
        return "it does not begin with the first element"
    if not isinstance(columns.hi, Const) or columns.hi.value.real > SHORT or not _is_known(rows):
        return "rows are long, or of a length that is not known"
    place = (Var(rows.var), Var(columns.var))
    for read in reads(reduce.value):
        buffer = table[read.buffer]
        moving = free_vars(read) & {rows.var, columns.var}
        if moving and (read.index != place or buffer.layout is not Layout.C or buffer.shape[1] != columns.hi):
            return "it reads something else than these rows"
    bare = rewrite(reduce.value, lambda e: Const(0, e.of) if isinstance(e, Read) else e)
    return "it is about places, too" if free_vars(bare) & {rows.var, columns.var} else None


def _is_known(rows: Dim) -> bool:
    """Whether all rows are looked at, or those from one number to another."""
    ends = rows.hi.args if isinstance(rows.hi, Op) and rows.hi.op == "minimum" else (rows.hi,)
    return all(affine_index.affine(end) is not None for end in (rows.lo, *ends))


def _as_one(reduce: Reduce, new_var: Callable[[str], str]) -> Reduce:
    rows, columns = reduce.dims
    assert isinstance(rows, Dim) and isinstance(columns, Dim)
    lo, hi = (affine_index.mul(end, columns.hi) for end in (rows.lo, rows.hi))
    flat = Dim(new_var(rows.var), lo, hi)
    pair = tuple(Op(op, (Var(flat.var), columns.hi), INT) for op in ("floordiv", "mod"))

    def visit(part: Expr) -> Expr:
        here = isinstance(part, Read) and part.index == (Var(rows.var), Var(columns.var))
        return Read(part.buffer, pair, part.of) if here and isinstance(part, Read) else part

    return Reduce("and", (flat,), rewrite(reduce.value, visit), reduce.span)
