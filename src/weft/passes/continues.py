"""Continues.  In: loops whose iterations may end early; out: the same with the rest of the iteration in a branch.

    for i: { if c: { A; continue };  B }    -->    for i: { if c: A else: B }

So passes that ask for straight code see what it is: a branch.  An iteration that may end in several places from which
the same rest would follow is left as it was, since the rest would have to be written twice.
"""

from __future__ import annotations

from dataclasses import replace

from weft.ir.program import Block, Continue, If, Loop, Node, Program, While
from weft.ir.walk import map_sub_blocks, walk
from weft.passes import Knows, PassContext, declared

#: Branches inside each other, at most: what follows each `continue` goes one level deeper.
MOST = 12


@declared("continues", after=("simplify",), knows=Knows.BESIDE)
def run(program: Program, context: PassContext) -> Program:
    """Every loop of the program."""
    if not any(isinstance(node, Continue) for node in walk(program.body)):
        return program
    body = tuple(_inside(node) for node in program.body)
    return replace(program, body=body)


def _inside(node: Node) -> Node:
    node = map_sub_blocks(node, lambda block: tuple(_inside(inner) for inner in block))
    if isinstance(node, (Loop, While)):
        body = without_continue(node.body)
        return node if body is None or not _ends_early(node.body) else replace(node, body=body)
    return node


def _ends_early(block: Block) -> bool:
    """Whether an iteration that executes a block may end there; loops inside it have iterations of their own."""
    return any(
        isinstance(node, Continue) or (isinstance(node, If) and (_ends_early(node.then) or _ends_early(node.orelse)))
        for node in block
    )


def without_continue(block: Block, depth: int = 0) -> Block | None:
    """The body of a loop without `continue`; None if something would have to be written twice."""
    for place, node in enumerate(block):
        if isinstance(node, Continue):
            return block[:place]
        if not isinstance(node, If) or not _ends_early((node,)):
            continue
        rest = block[place + 1 :]
        ends = [_always_ends(branch) for branch in (node.then, node.orelse)]
        if (not any(ends) and rest) or depth == MOST:
            return None
        branches = [
            without_continue(branch if ended else (*branch, *rest), depth + 1)
            for branch, ended in zip((node.then, node.orelse), ends)
        ]
        if branches[0] is None or branches[1] is None:
            return None
        return (*block[:place], replace(node, then=branches[0], orelse=branches[1]))
    return block


def _always_ends(block: Block) -> bool:
    """Whether every execution of a block ends the iteration."""
    return any(
        isinstance(node, Continue) or (isinstance(node, If) and _always_ends(node.then) and _always_ends(node.orelse))
        for node in block
    )


__all__ = ["run", "without_continue"]
