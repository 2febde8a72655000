"""Arguments that must not share memory.  In: what a reordered piece of a program reads and writes; out: the pairs of
array arguments that have to be apart for it, and the program with them written down as guards.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from weft.ir.program import Block, Node, Program, Role
from weft.ir.walk import buffers_read, buffers_written
from weft.passes.scheduling.lower import Workspace

Pair = tuple[str, str]


def pairs_apart(touched: set[str], written: set[str], program: Program) -> list[Pair]:
    """An argument that is written must not overlap another that is touched at all."""
    arrays = [buffer.name for buffer in program.buffers if buffer.role is Role.PARAM and buffer.rank]
    used = [name for name in arrays if name in touched | written]
    return [(one, other) for one in used if one in written for other in used if other != one]


def apart(node: Node, program: Program) -> list[Pair]:
    """The pairs for a node whose statements change their order."""
    return pairs_apart(buffers_read(node), buffers_written(node), program)


def unknown(pairs: Iterable[Pair], program: Program) -> tuple[Pair, ...]:
    """Those that the program does not take to be apart yet, each once."""
    known = {frozenset(pair) for pair in program.disjoint}
    new: dict[frozenset[str], Pair] = {}
    for pair in pairs:
        if frozenset(pair) not in known:
            new.setdefault(frozenset(pair), pair)
    return tuple(new.values())


def reordered(program: Program, body: Block, workspace: Workspace, pairs: Iterable[Pair]) -> Program:
    """The program with a new body, the buffers made for it, and the pairs of arguments that must now be apart."""
    buffers = (*program.buffers, *workspace.added)
    return replace(program, body=body, buffers=buffers, disjoint=(*program.disjoint, *unknown(pairs, program)))
