"""Scattered updates of integers.  In: a loop in order; out: the arrays that its iterations only add to.

    for i: h[index[i]] += v[i]   -->   a work-item for each i, which adds by an atomic operation

Sums of integers are the same in any order.  Floats are not, so that their updates stay in order or go through private
copies, which the schedule has made where they cost less.
"""

from __future__ import annotations

from collections.abc import Set

from weft.device.lanes import leaving
from weft.ir.expr import Dim, Expr, Op, Read
from weft.ir.program import Alloc, Call, Invoke, Library, Loop, LoopKind, Program, Rebind, Return, Stmt
from weft.ir.types import DType
from weft.ir.walk import expr_buffers, node_exprs, walk

#: Types that both dialects have an atomic addition for.
ATOMIC = frozenset({DType.I32, DType.U32, DType.I64, DType.U64})
_STOPS = (Alloc, Rebind, Return, Call, Library, Invoke)


def added(stmt: Stmt) -> Expr | None:
    """What a statement adds to an element: v of  a[i] = a[i] + v."""
    value, element = stmt.value, Read(stmt.buffer, stmt.index, stmt.value.type)
    if not stmt.index or not isinstance(value, Op) or value.op != "add" or element not in value.args:
        return None
    return value.args[1] if value.args[0] == element else value.args[0]


def updated(loop: Loop, program: Program, own: Set[str]) -> frozenset[str]:
    """The arrays that a loop updates, if its iterations do nothing else that others see; `own`: scalars of one
    iteration."""
    if loop.kind is not LoopKind.SEQUENTIAL or not isinstance(loop.dim, Dim):
        return frozenset()
    found: set[str] = set()
    inside = tuple(walk(loop.body))
    if any(isinstance(part, _STOPS) for part in inside) or any(map(leaving, loop.body)):
        return frozenset()
    for part in inside:
        if not isinstance(part, Stmt):
            continue
        if not part.index:
            if part.buffer not in own:
                return frozenset()
            continue
        buffer, term = program.table[part.buffer], added(part)
        if term is None or buffer.type.weak or buffer.type.dtype not in ATOMIC:
            return frozenset()
        found.add(part.buffer)
    for part in inside:
        exprs: list[Expr] = [*node_exprs(part)]
        if isinstance(part, Stmt) and part.index:
            term = added(part)
            assert term is not None
            exprs = [term, *part.index]
        if any(expr_buffers(expr) & found for expr in exprs):
            return frozenset()  # how far others are would be seen
    return frozenset(found)
