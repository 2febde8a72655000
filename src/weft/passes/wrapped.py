"""Wrapped: indices are rarely negative.  In: a lowered program; out: the same, in which only what is no index as it is
gets the length of the axis added and is tested in full.

    p = k[i] < 0 ? k[i] + n : k[i];  check 0 <= p and p < n
        -->  p = k[i];  if not (0 <= p and p < n): { p = k[i] < 0 ? k[i] + n : k[i];  check 0 <= p and p < n }

A processor foresees the branch, and the element is loaded from k[i] itself; a choice it would have to compute first.
"""

from __future__ import annotations

from dataclasses import replace

from weft.ir.expr import Const, Expr, Op, Read
from weft.ir.program import Block, Check, If, Node, Program, Stmt
from weft.ir.types import INT
from weft.ir.verify import Stage
from weft.ir.walk import map_sub_blocks
from weft.passes import Knows, PassContext, declared


@declared("wrapped", takes=Stage.LOWERED, after=("store",), knows=Knows.BESIDE | Knows.TASKS | Knows.CALLS)
def run(program: Program, context: PassContext) -> Program:
    """Every index that is made positive just before it is tested."""
    body = _block(program.body)
    return program if body is program.body else replace(program, body=body)


def _block(block: Block) -> Block:
    out: list[Node] = []
    for node in block:
        node = map_sub_blocks(node, _block)
        last = out[-1] if out else None
        kept = unwrapped(last, node) if isinstance(last, Stmt) and isinstance(node, Check) else None
        if kept is None or not isinstance(node, Check):
            out.append(node)
            continue
        assert isinstance(last, Stmt)
        out[-1] = replace(last, value=kept)
        out.append(If(Op("not", (node.condition,), node.condition.type), (last, node), span=node.span))
    return block if len(out) == len(block) and all(a is b for a, b in zip(out, block)) else tuple(out)


def unwrapped(stmt: Stmt, check: Check) -> Expr | None:
    """The index as it is, if a statement makes it positive and a test of its range follows."""
    value, condition = stmt.value, check.condition
    if stmt.index or stmt.domain or check.domain or not isinstance(value, Op) or value.op != "select":
        return None
    negative, moved, kept = value.args
    zero = Const(0, INT)
    if not isinstance(negative, Op) or (negative.op, negative.args) != ("lt", (kept, zero)):
        return None
    if not isinstance(moved, Op) or moved.op != "add" or kept not in moved.args:
        return None
    if not isinstance(condition, Op) or condition.op != "and":
        return None
    mine = Read(stmt.buffer, (), value.type)
    low, high = condition.args
    if not isinstance(low, Op) or (low.op, low.args) != ("ge", (mine, zero)):
        return None
    return kept if isinstance(high, Op) and high.op == "lt" and high.args[0] == mine else None
