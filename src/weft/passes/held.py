"""Held: an element that a loop sets under conditions is a scalar in the loop.  In: a program with loops; out: the same,
with a scalar for each such element.

    for j: if x[i, j] < best: { best = x[i, j];  nearest[i] = j }
        -->  held = nearest[i];  for j: if x[i, j] < best: { best = x[i, j];  held = j };  nearest[i] = held

What a loop keeps of its iterations can only be seen to be an extreme, or the last value taken, where it is a scalar.
An extreme is looked for, and then its place: loops that compute what they compare would do so twice, and stay.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from weft.analysis.effects import flops
from weft.analysis.facts import Facts, entry_facts
from weft.ir.expr import Dim, Expr, Op, Read, integer
from weft.ir.program import Block, Buffer, Check, If, Loop, LoopKind, Node, Program, Role, Stmt
from weft.ir.types import BOOL
from weft.ir.walk import (
    buffers_written,
    expr_buffers,
    free_vars,
    fresh,
    map_sub_blocks,
    names_of,
    node_exprs,
    reads,
    walk,
)
from weft.passes import Knows, PassContext, declared
from weft.records import dataclass

PASS = "held"
#: Cycles of a comparison of two elements.
_COMPARISON = 4


@declared(PASS, after=("checks",), knows=Knows.BESIDE)
def run(program: Program, context: PassContext) -> Program:
    """Every innermost loop with such elements."""
    if not any(isinstance(node, If) for node in walk(program.body)):
        return program
    holder = _Holder(program, names_of(program), [])
    body = holder.block(program.body, entry_facts(program))
    if not holder.made:
        return program
    context.done(PASS, "elements that a loop sets are kept in scalars", program.span)
    return replace(program, body=body, buffers=program.buffers + tuple(holder.made))


def candidates(loop: Loop) -> Iterator[Stmt]:
    """Assignments under conditions to elements that stay the same ones, and that nothing else in the loop touches."""
    written = {name for node in loop.body for name in buffers_written(node)}
    seen: set[str] = set()
    for branch in walk(loop.body):
        for node in (*branch.then, *branch.orelse) if isinstance(branch, If) else ():
            if not isinstance(node, Stmt) or not node.index or node.buffer in seen:
                continue
            seen.add(node.buffer)
            used = set().union(*(expr_buffers(place) for place in node.index))
            moves = any(loop.dim.var in free_vars(place) for place in node.index)
            if not moves and not used & written and _is_alone(node, loop):
                yield node


def _computes(loop: Loop) -> bool:
    """Whether the loop does more than to compare and to assign."""
    for node in walk(loop.body):
        value = node.value if isinstance(node, Stmt) else node.condition if isinstance(node, If) else None
        if value is not None and flops(value) > _COMPARISON:
            return True
    return False


def _is_alone(stmt: Stmt, loop: Loop) -> bool:
    """Whether the loop touches no other element of the array, and this one only by assignments."""
    for node in walk(loop.body):
        if any(read.buffer == stmt.buffer for expr in node_exprs(node) for read in reads(expr)):
            return False
        if isinstance(node, Stmt) and node.buffer == stmt.buffer:
            if node.index != stmt.index or node.domain or node.reduce:
                return False
    return True


@dataclass
class _Holder:
    program: Program
    taken: set[str]
    made: list[Buffer]

    def block(self, block: Block, facts: Facts) -> Block:
        new = tuple(made for node in block for made in self.node(node, facts))
        return block if len(new) == len(block) and all(a is b for a, b in zip(new, block)) else new

    def node(self, node: Node, facts: Facts) -> Block:
        if not isinstance(node, Loop):
            return (map_sub_blocks(node, lambda block: self.block(block, facts)),)
        body = self.block(node.body, facts.with_dim(node.dim))
        loop = node if body is node.body else replace(node, body=body)
        if loop.kind is not LoopKind.SEQUENTIAL or not isinstance(loop.dim, Dim):
            return (loop,)
        if _computes(loop) or not all(isinstance(inner, (Stmt, If, Check)) for inner in walk(loop.body)):
            return (loop,)
        before: list[Node] = []
        after: list[Node] = []
        for stmt in list(candidates(loop)):
            buffer = self.program.table.get(stmt.buffer)
            if buffer is None or buffer.role is Role.PARAM or not _is_there(stmt, buffer, facts):
                continue
            held = Buffer(fresh(f"{stmt.buffer}_held", self.taken), buffer.type, (), span=stmt.span)
            self.made.append(held)
            before.append(Stmt((), held.name, (), Read(stmt.buffer, stmt.index, buffer.type), span=loop.span))
            after.append(Stmt((), stmt.buffer, stmt.index, Read(held.name, (), buffer.type), span=loop.span))
            loop = replace(loop, body=tuple(_with(inner, stmt.buffer, held.name) for inner in loop.body))
        return (*before, loop, *after)


def _with(node: Node, array: str, scalar: str) -> Node:
    if isinstance(node, Stmt) and node.buffer == array:
        return replace(node, buffer=scalar, index=())
    return map_sub_blocks(node, lambda block: tuple(_with(inner, array, scalar) for inner in block))


def _is_there(stmt: Stmt, buffer: Buffer, facts: Facts) -> bool:
    """Whether the element exists wherever the loop stands, whether it is ever assigned or not."""

    def holds(op: str, place: Expr, bound: Expr) -> bool:
        return facts.decide(Op(op, (place, bound), BOOL)) is True

    return all(
        holds("ge", place, integer(0)) and holds("lt", place, extent) for place, extent in zip(stmt.index, buffer.shape)
    )


__all__ = ["candidates", "run"]
