"""Rows that are asked for before they are needed.  In: a loop over entries whose body goes through rows that the
entries tell; out: C that asks for the row of an entry some iterations ahead.

    for p: vector k: t[k] += v[p] * a[idx[p], k]    -->    for p: { ask for a[idx[p + 8], 0 ..]; vector k: ... }

Processors see the elements of a row coming, but not which row comes next. An address that is wrong costs nothing but
time, so the entry ahead may belong to the next row; there is none past the end of the array.
"""

from __future__ import annotations

from dataclasses import replace

from weft.analysis import cost
from weft.codegen import syntax as C
from weft.codegen.c_expr import Expressions
from weft.ir.expr import Dim, Expr, Read, Var
from weft.ir.program import If, Loop, LoopKind, Stmt
from weft.ir.walk import free_vars, map_children, node_exprs, reads, subexpressions, substitute, walk

#: Entries ahead: what a row takes to arrive, in times of a row that is there.
AHEAD = 8
LINE = 64
#: Lines of a row that are asked for: processors see those after them coming.
LINES = 4


def rows_ahead(loop: Loop, expressions: Expressions, ahead: str) -> list[tuple[C.CExpr, C.CExpr, int]]:
    """For each array whose rows a loop's entries tell: the number of entries, the address of a row's part as the entry
    in the C variable `ahead` tells it, and how many lines it has."""
    dim = loop.dim
    if loop.kind is not LoopKind.SEQUENTIAL or not isinstance(dim, Dim) or dim.step != 1:
        return []
    if not any(True for bound in (dim.lo, dim.hi) for _ in reads(bound)):
        return []
    found: dict[str, tuple[C.CExpr, C.CExpr, int]] = {}
    inside = [one for node in loop.body for one in (node.then if isinstance(node, If) else (node,))]
    values = {node.buffer: node.value for node in inside if isinstance(node, Stmt) and not node.index}
    for inner in inside:
        if not isinstance(inner, Loop) or inner.kind is not LoopKind.VECTOR or not isinstance(inner.dim, Dim):
            continue
        for stmt in inner.body:
            for read in (read for expr in node_exprs(stmt) for read in reads(expr)):
                read = replace(read, index=tuple(_resolved(position, values) for position in read.index))
                told = _told(read, dim.var, inner.dim.var)
                if told is None or read.buffer in found or not isinstance(stmt, Stmt):
                    continue
                count = expressions.storages[told.buffer].buffer.shape[0]
                if any(True for _ in reads(count)) or told.buffer in _written(loop):
                    continue
                place = {dim.var: Var(ahead), inner.dim.var: inner.dim.lo}
                index = tuple(substitute(position, place) for position in read.index)
                few = cost.constant_extent(inner.dim)
                size = LINES if few is None else -(-few * read.type.dtype.size // LINE)
                address = C.Prefix("&", expressions.element(read.buffer, index))
                found[read.buffer] = expressions.bound(count), address, min(LINES, size)
    return list(found.values())


def _resolved(expr: Expr, values: dict[str, Expr]) -> Expr:
    """An index with what the variables of the body stand for."""
    if isinstance(expr, Read) and not expr.index and expr.buffer in values:
        return values[expr.buffer]
    return map_children(expr, lambda e: _resolved(e, values))


def _written(loop: Loop) -> set[str]:
    return {node.buffer for node in walk(loop.body) if isinstance(node, Stmt)}


def _told(read: Read, entry: str, column: str) -> Read | None:
    """idx[entry], if it is the one that tells which row of an array is read along its last axis."""
    if len(read.index) < 2 or column not in free_vars(read.index[-1]):
        return None
    if any(column in free_vars(position) for position in read.index[:-1]):
        return None
    inner: list[Read] = []
    for position in read.index[:-1]:
        inner += [one for one in _reads_of(position) if entry in free_vars(one)]
    others = any(entry in free_vars(position) for position in read.index[-1:])
    return inner[0] if len(inner) == 1 and not others and inner[0].index == (Var(entry),) else None


def _reads_of(expr: Expr) -> list[Read]:
    return [part for part in subexpressions(expr) if isinstance(part, Read)]
