"""How many threads share a loop.  In: a lowered program; out: the same with the number that somebody has asked for.

    parallel i: A    -->    parallel i threads 4: A       for `weft.transform(f).threads(4)`

Results do not depend on it, as they do not depend on how many threads there are.
"""

from __future__ import annotations

from dataclasses import replace

from weft.ir.program import Loop, LoopKind, Node, Program
from weft.ir.verify import Stage
from weft.ir.walk import map_block, map_sub_blocks
from weft.passes import Knows, PassContext, declared


@declared("threads", takes=Stage.LOWERED, optional=False, knows=Knows.CALLS | Knows.TASKS)
def run(program: Program, context: PassContext) -> Program:
    most = context.directives.threads()
    if not most:
        return program

    def visit(node: Node) -> Node:
        node = map_sub_blocks(node, lambda block: map_block(block, visit))
        return replace(node, threads=most) if isinstance(node, Loop) and node.kind is LoopKind.PARALLEL else node

    return replace(program, body=map_block(program.body, visit))
