"""Absorb: what is computed for a whole row just before a loop goes over the row becomes part of the loop.

    a[i, j] = a[i, j] + b[j] for j; for j: a[i, j] = (a[i, j] + a[i, j - 1]) / 9
        -->  for j: a[i, j] = (a[i, j] + b[j] + a[i, j - 1]) / 9

In: a statement and the loop behind it; out: the loop that does both, or why there is none.  Loops are distributed as
far as dependences allow, which is best for vectors along the row; where vectors along diagonals are to be had
(`wavefront`), the recurrence must be whole again.
"""

from __future__ import annotations

from dataclasses import replace

from weft.analysis.dependence import LoopContext, directions
from weft.analysis.effects import Access, node_reads, node_write
from weft.analysis.facts import Facts
from weft.ir.expr import Dim, Expr, Read, Var, integer
from weft.ir.index import add, canonical, difference
from weft.ir.program import Loop, Stmt
from weft.ir.walk import reads, rewrite, substitute


def absorbed(stmt: Stmt, loop: Loop, facts: Facts) -> Loop | str:
    """The loop with the statement in it, or why not."""
    head = _at(stmt, loop)
    if isinstance(head, str):
        return head
    if len(loop.body) != 1 or not isinstance(loop.body[0], Stmt):
        return "the loop does more than one thing"
    body = loop.body[0]
    if body.domain or body.reduce is not None or body.buffer != head.buffer or body.index != head.index:
        return "the loop does not go on with what the statement computes"
    body = replace(body, value=rewrite(body.value, _canonical))
    again = [read for read in reads(body.value) if read.buffer == head.buffer and read.index == head.index]
    if len(again) != 1 or again[0].type != head.value.type:
        return "the loop needs what the statement computes more than once"
    why_not = _blocks_joining(head, body, LoopContext(loop.dim, facts))
    if why_not is not None:
        return why_not

    def visit(part: Expr) -> Expr:
        return head.value if isinstance(part, Read) and part == again[0] else part

    joined = replace(body, value=rewrite(body.value, visit))
    return replace(loop, body=(joined,))


def _at(stmt: Stmt, loop: Loop) -> Stmt | str:
    """The statement at one iteration of the loop, if it runs over the same range."""
    if stmt.reduce is not None or len(stmt.domain) != 1:
        return "it does not run over one dimension"
    dim, over = stmt.domain[0], loop.dim
    if not isinstance(dim, Dim) or not isinstance(over, Dim) or dim.step != 1 or over.step != 1:
        return "it does not count up by one"
    shift = difference(dim.lo, over.lo)
    if shift is None or difference(dim.hi, over.hi) != shift:
        return "it runs over another range"
    place = add(Var(over.var), integer(shift))
    values = {dim.var: place}
    index = tuple(canonical(substitute(part, values)) for part in stmt.index)
    return replace(stmt, domain=(), index=index, value=rewrite(substitute(stmt.value, values), _canonical))


def _canonical(part: Expr) -> Expr:
    return replace(part, index=tuple(map(canonical, part.index))) if isinstance(part, Read) else part


def _blocks_joining(head: Stmt, body: Stmt, loop: LoopContext) -> str | None:
    """Why the statement may not run iteration by iteration, each just before that of the loop."""
    write, own = node_write(head), node_write(body)
    before = node_reads(head)
    if any(directions(write, read, loop).earlier for read in before):
        return "it would read what it has written"
    if any(directions(read, own, loop).later for read in before):
        return "it would read what the loop has written"
    behind: list[Access] = [*node_reads(body), own]
    others = [read for read in behind if read.index != head.index]
    if any(directions(write, read, loop).same for read in others):
        return "the loop may need what the statement computes more than once"
    if any(directions(write, access, loop).later for access in behind):
        return "the loop needs more of it than its own iteration"
    return None


__all__ = ["absorbed"]
