"""Allocations near their use.  In: a Program whose temporaries may be allocated far outside the loops that use them;
out: the same with the allocation just before the statement that first sets the temporary, where nothing is carried
between iterations.

    alloc t; for k: { t[i] = f(k, i) over all i; g(t) }   -->   for k: { alloc t; t[i] = f(k, i) over all i; g(t) }

A temporary that lives in one stretch of statements can be contracted; `store` moves what is left out of the loops
again.
"""

from __future__ import annotations

from dataclasses import replace

from weft.analysis.effects import sets_all
from weft.ir.program import Alloc, Block, Node, Program, Role, Stmt
from weft.ir.walk import buffers_read, buffers_written, map_sub_blocks, reads, sub_blocks


def sunk(block: Block, program: Program) -> Block:
    """The block with allocations moved inwards as far as they may go."""
    nodes = [_unzeroed(node, block[at + 1 :], program) for at, node in enumerate(block)]
    for alloc in [node for node in nodes if isinstance(node, Alloc)]:
        if not _movable(alloc, program):
            continue
        users = [at for at, node in enumerate(nodes) if node is not alloc and alloc.buffer in _named(node)]
        if len(users) != 1:
            continue
        moved = _into(nodes[users[0]], alloc, program)
        if moved is not None:
            nodes[users[0]] = moved
            nodes.remove(alloc)
    new = tuple(map_sub_blocks(node, lambda inner: sunk(inner, program)) for node in nodes)
    return block if len(new) == len(block) and all(a is b for a, b in zip(new, block)) else new


def _unzeroed(node: Node, rest: Block, program: Program) -> Node:
    """alloc zeros t; t[i] = f(i) over all i   -->   alloc t; t[i] = f(i) over all i."""
    if not isinstance(node, Alloc) or not node.zero:
        return node
    first = next((other for other in rest if node.buffer in _named(other)), None)
    overwritten = isinstance(first, Stmt) and _set_by(first, node.buffer, program)
    return replace(node, zero=False) if overwritten else node


def _named(node: Node) -> set[str]:
    return buffers_read(node) | buffers_written(node)


def _movable(alloc: Alloc, program: Program) -> bool:
    buffer = program.table[alloc.buffer]
    return buffer.role is Role.LOCAL and not alloc.zero and not any(True for s in buffer.shape for _ in reads(s))


def _into(node: Node, alloc: Alloc, program: Program) -> Node | None:
    """The node with the allocation inside the one block of it that uses the buffer; None if it must stay outside."""
    using = [inner for inner in sub_blocks(node) if any(alloc.buffer in _named(n) for n in inner)]
    if len(using) != 1:
        return None
    first = next(at for at, inner in enumerate(using[0]) if alloc.buffer in _named(inner))
    head = using[0][first]
    if isinstance(head, Stmt) and _set_by(head, alloc.buffer, program):
        new: Block = (*using[0][:first], alloc, *using[0][first:])
    else:
        # Only if one inner node uses it can it go further in.
        later = any(alloc.buffer in _named(inner) for inner in using[0][first + 1 :])
        deeper = None if later else _into(head, alloc, program)
        if deeper is None:
            return None
        new = (*using[0][:first], deeper, *using[0][first + 1 :])
    return map_sub_blocks(node, lambda inner: new if inner is using[0] else inner)


def _set_by(stmt: Stmt, name: str, program: Program) -> bool:
    """Whether a statement gives every element of an array a value, without looking at the old ones."""
    return stmt.buffer == name and sets_all(stmt, program.table[name].shape) and name not in buffers_read(stmt)
