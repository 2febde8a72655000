"""Flags of extremes.  In: a loop that keeps the best value so far and sets a flag along with it; out: the loop without
the flag, which the best value itself tells once the loop has ended.

    for i: for j: { flag = select(x[i, j] > m, False, flag);  m = select(x[i, j] > m, x[i, j], m) }
      -->   before = m;   for i: for j: m = select(x[i, j] > m, x[i, j], m);   flag = select(m > before, False, flag)

A strict comparison takes only what is better, so the best value is better than before if anything was taken; a NaN
never is.  The front end makes such flags to tell whether a number is still the Python float that it was at first.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import replace

from weft.ir.expr import Const, Expr, Op, Read
from weft.ir.program import Block, Buffer, If, Loop, LoopKind, Node, Program, Role, Stmt
from weft.ir.types import BOOL
from weft.ir.walk import buffers_read, buffers_written, expr_buffers, fresh, leaves, map_sub_blocks, names_of, walk
from weft.passes import Knows, PassContext, declared
from weft.records import dataclass

PASS = "flags"
_MIRRORED = {"lt": "gt", "gt": "lt"}


@dataclass(frozen=True)
class _Flag:
    """`name` becomes `value` whenever `best` takes a value that is `op` (lt, gt) what it was."""

    name: str
    best: str
    op: str
    value: Const


@declared("flags", after=("simplify",), knows=Knows.BESIDE)
def run(program: Program, context: PassContext) -> Program:
    """Every such flag behind the outermost loop around it that leaves the best value alone otherwise."""
    shown = {getattr(leaf, "buffer", "") for out in program.results for leaf in leaves(out)}
    local = {b.name for b in program.buffers if b.role is Role.LOCAL and not b.rank} - shown
    taken = names_of(program)
    made: list[Buffer] = []

    def block(nodes: Block) -> Block:
        return tuple(new for node in nodes for new in visit(node))

    def visit(node: Node) -> Block:
        before: list[Node] = []
        behind: list[Node] = []
        if isinstance(node, Loop) and node.kind in (LoopKind.SEQUENTIAL, LoopKind.ASSERTED):
            for flag in _flags(node):
                if not {flag.name, flag.best} <= local:
                    continue
                best = program.buffer(flag.best)
                old = replace(best, name=fresh(f"{best.name}_before", taken))
                made.append(old)
                now, then = Read(best.name, (), best.type), Read(old.name, (), best.type)
                own = Read(flag.name, (), flag.value.type)
                better = Op(flag.op, (now, then), BOOL, node.span)
                before.append(Stmt((), old.name, (), now, span=node.span))
                value = Op("select", (better, flag.value, own), own.type, node.span)
                behind.append(Stmt((), flag.name, (), value, span=node.span))
                node = _without(node, flag.name)
                context.done(PASS, f"`{flag.name}` is told by `{flag.best}` behind the loop", node.span)
        return (*before, map_sub_blocks(node, block), *behind)

    body = block(program.body)
    return replace(program, body=body, buffers=(*program.buffers, *made)) if made else program


def _flags(loop: Loop) -> list[_Flag]:
    """The flags of a loop: each set along with one best value, and nothing else in the loop writes or reads them."""
    found: dict[str, _Flag] = {}
    places: dict[str, int] = {}
    for nodes in _blocks(loop.body):
        for flag in _set_in(nodes):
            if found.setdefault(flag.name, flag) == flag:
                places[flag.name] = places.get(flag.name, 0) + 1
            else:
                places[flag.name] = -(10**6)
    single = [node for node in walk(loop.body) if not isinstance(node, (Loop, If))]
    good: list[_Flag] = []
    for flag in found.values():
        writes = sum(flag.name in _writes(node) for node in single)
        keeps = sum(flag.best in _writes(node) for node in single)
        if writes == keeps == places[flag.name] and not _is_read(flag.name, loop):
            good.append(flag)
    return good


def _writes(node: Node) -> set[str]:
    return set(buffers_written(node))


def _is_read(name: str, loop: Loop) -> bool:
    """Whether anything but the statements that keep a flag looks at it."""
    return any(name in buffers_read(node) for node in _without(loop, name).body)


def _blocks(nodes: Block) -> Iterable[Block]:
    yield nodes
    for node in nodes:
        if isinstance(node, Loop):
            yield from _blocks(node.body)
        elif isinstance(node, If):
            yield from _blocks(node.then)
            yield from _blocks(node.orelse)


def _set_in(nodes: Block) -> Iterable[_Flag]:
    """Flags that are set in a block along with a best value: by a choice in front of it, or in a branch with it."""
    for one, other in itertools.pairwise(nodes):
        if _is_scalar(one) and _is_scalar(other):
            flag = _chosen(one, other)
            if flag is not None:
                yield flag
    for node in nodes:
        if isinstance(node, If) and not node.orelse and all(map(_is_scalar, node.then)) and len(node.then) == 2:
            for one, other in (node.then, node.then[::-1]):
                assert isinstance(one, Stmt) and isinstance(other, Stmt)
                found = _taken(node.condition, other.value, other.buffer)
                if found is not None and isinstance(one.value, Const) and one.buffer != other.buffer:
                    yield _Flag(one.buffer, other.buffer, found, one.value)


def _is_scalar(node: Node) -> bool:
    return isinstance(node, Stmt) and not node.domain and not node.index and node.reduce is None


def _chosen(one: Node, other: Node) -> _Flag | None:
    """flag = select(x > m, C, flag);  m = select(x > m, x, m)"""
    assert isinstance(one, Stmt) and isinstance(other, Stmt)
    mine, best = one.value, other.value
    if not (isinstance(mine, Op) and mine.op == "select" and isinstance(best, Op) and best.op == "select"):
        return None
    test, value, kept = mine.args
    if not isinstance(value, Const) or kept != Read(one.buffer, (), kept.type) or best.args[0] != test:
        return None
    if one.buffer == other.buffer or best.args[2] != Read(other.buffer, (), best.type):
        return None
    op = _taken(test, best.args[1], other.buffer)
    return None if op is None else _Flag(one.buffer, other.buffer, op, value)


def _taken(test: Expr, value: Expr, best: str) -> str | None:
    """gt of `value > best`, lt of `value < best`; None of other tests."""
    while isinstance(test, Op) and test.op == "and":
        found = _taken(test.args[0], value, best)
        if found is not None:
            return found
        test = test.args[1]
    if not isinstance(test, Op) or test.op not in _MIRRORED or best in expr_buffers(value):
        return None
    if test.args[0] == value and test.args[1] == Read(best, (), value.type):
        return test.op
    if test.args[1] == value and test.args[0] == Read(best, (), value.type):
        return _MIRRORED[test.op]
    return None


def _without(loop: Loop, flag: str) -> Loop:
    """The loop without the statements that set a flag."""

    def block(nodes: Block) -> Block:
        kept = (node for node in nodes if not (isinstance(node, Stmt) and node.buffer == flag))
        return tuple(map_sub_blocks(node, block) for node in kept)

    return replace(loop, body=block(loop.body))
