"""Late checks.  In: a program that Python may repeat (it changes nothing that the caller sees before it ends); out: its
checks of values after the statements that they need not come before.

    a[i, j] = a[i, j] - s; check a[j, j] != 0; a[i, j] = a[i, j] / a[j, j]     (j < i)
        -->  a[i, j] = a[i, j] - s; a[i, j] = a[i, j] / a[j, j]; check a[j, j] != 0

Whichever check fails first, Python repeats the call and raises what comes first there.  So a check is only bound to the
values that it looks at; statements that it stood between become neighbours, and one statement in the end.
"""

from __future__ import annotations

from dataclasses import replace

from weft.analysis.facts import Facts, entry_facts
from weft.analysis.scopes import lasting_writes
from weft.ir.expr import Const, Expr, Read
from weft.ir.index import sub as minus
from weft.ir.program import Block, Check, If, Loop, Node, Program, Stmt
from weft.ir.types import INT
from weft.ir.walk import buffers_read, map_sub_blocks, node_exprs, reads, walk
from weft.passes.speculate import is_speculable

_ONE = Const(1, INT)


def late(program: Program) -> Block:
    """The body with its checks of values as late as their own blocks allow."""
    if lasting_writes(program) or not any(isinstance(node, Check) for node in walk(program.body)):
        return program.body
    return _block(program.body, entry_facts(program))


def _block(block: Block, facts: Facts) -> Block:
    out: list[Node] = []
    waiting: list[Check] = []
    for node in block:
        if isinstance(node, Check) and is_speculable(node):
            waiting.append(node)
            continue
        inner = _inside(node, facts)
        passing = isinstance(inner, Stmt)
        held = [check for check in waiting if passing and isinstance(inner, Stmt) and _may_wait(check, inner, facts)]
        out += [check for check in waiting if check not in held]
        waiting = held
        out.append(inner)
    out += waiting
    unchanged = len(out) == len(block) and all(a is b for a, b in zip(out, block))
    return block if unchanged else tuple(out)


def _inside(node: Node, facts: Facts) -> Node:
    if isinstance(node, Loop):
        body = _block(node.body, facts.with_dim(node.dim))
        return node if body is node.body else replace(node, body=body)
    if isinstance(node, If):
        then = _block(node.then, facts.with_condition(node.condition))
        orelse = _block(node.orelse, facts.with_condition(node.condition, holds=False))
        return node if then is node.then and orelse is node.orelse else replace(node, then=then, orelse=orelse)
    return map_sub_blocks(node, lambda block: _block(block, facts))


def _may_wait(check: Check, stmt: Stmt, facts: Facts) -> bool:
    """Whether a statement leaves alone all that a check looks at."""
    if stmt.buffer not in buffers_read(check):
        return True
    inside = facts.with_domain(check.domain).with_domain(stmt.domain)
    seen = [read for expr in node_exprs(check) for read in reads(expr) if read.buffer == stmt.buffer]
    return bool(stmt.index) and all(_apart(read, stmt.index, inside) for read in seen)


def _apart(read: Read, index: tuple[Expr, ...], facts: Facts) -> bool:
    """Whether an element that is read and one that is written differ in some position."""
    for mine, other in zip(read.index, index):
        for one, two in ((mine, other), (other, mine)):
            form = facts.linear(minus(minus(one, two), _ONE))
            if form is not None and facts.prove(form):
                return True
    return False
