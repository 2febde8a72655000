"""Loops that stay loops, and whose iterations share nothing but sums.  In: such a loop; out: blocks of its iterations
in parallel, each with sums of its own.

    for i: { ...; s = s + k }   -->   parallel b: { t = 0; for i in block b: { ...; t = t + k }; p[b] = t };
                                      for b: s = s + p[b]

Arrays in which a loop adds at places that its data tell are summed in the same way, where they are small beside the
number of additions.

Blocks have a size that depends on the extent alone, never on the number of threads: neither do the results.
"""

from __future__ import annotations

from dataclasses import replace

from weft.analysis import cost
from weft.ir import index as affine_index
from weft.ir.expr import Op, Read, integer
from weft.ir.program import Accumulator, Alloc, Block, Loop, LoopKind, Node, Stmt
from weft.ir.types import INT
from weft.ir.walk import buffers_written, walk
from weft.passes.races import reduction_of
from weft.passes.raising.reductions import accumulation, in_order, reorders_sum
from weft.passes.scheduling.kinds import MAX_BLOCKS, Kinds, element_instead, strips
from weft.passes.scheduling.lower import Workspace


def reduced_scalars(loop: Loop, workspace: Workspace) -> dict[str, str]:
    """The scalars that a loop does nothing with but accumulate into, and how; those whose order may be changed."""
    found: dict[str, str] = {}
    for name in sorted(set().union(*(buffers_written(node) for node in loop.body))):
        buffer = workspace.table[name]
        op = None if buffer.rank else reduction_of(loop.body, name)
        if op is None or (workspace.strict and reorders_sum(op, buffer.type)):
            continue
        if not any(_in_order(node) for node in walk(loop.body) if isinstance(node, Stmt) and node.buffer == name):
            found[name] = op
    return found


def reduced_arrays(loop: Loop, workspace: Workspace) -> dict[str, str]:
    """The arrays that a loop does nothing with but accumulate into, at places that it reads; those whose order may be
    changed."""
    found: dict[str, str] = {}
    for name in sorted(set().union(*(buffers_written(node) for node in loop.body))):
        buffer = workspace.table[name]
        op = reduction_of(loop.body, name) if buffer.rank else None
        if op is not None and not (workspace.strict and reorders_sum(op, buffer.type)):
            found[name] = op
    return found


def _in_order(stmt: Stmt) -> bool:
    found = accumulation(stmt)
    return found is not None and in_order(found.op, stmt.value.type, found.term)


def in_blocks(loop: Loop, reduced: dict[str, str], kinds: Kinds, most: int = MAX_BLOCKS) -> Block:
    """The loop in parallel blocks, not yet lowered; its work is that of the loop itself."""
    workspace = kinds.workspace
    dim = cost.dense(loop.dim)
    share = Op("floordiv", (affine_index.add(cost.extent(dim), integer(most - 1)), integer(most)), INT)
    held = workspace.new_buffer("block", INT)
    outer, inner = strips(dim, Read(held.name, (), INT), workspace)
    before: list[Node] = [Stmt((), held.name, (), Op("maximum", (share, integer(1)), INT), None, loop.span)]
    start: list[Node] = []
    end: list[Node] = []
    combine: list[Node] = []
    rest = replace(loop, dim=inner, kind=LoopKind.SEQUENTIAL, work=None)
    for name, op in reduced.items():
        parts = kinds.parts(Accumulator(name, op), outer.var, loop.span, most)
        before.append(Alloc(parts.buffer))
        start.extend(parts.start)
        end.extend(parts.end)
        combine.extend(parts.combine)
        new = element_instead(rest, name, parts.local, parts.place)
        assert isinstance(new, Loop)
        rest = new
    blocks = Loop(outer, (*start, rest, *end), LoopKind.PARALLEL, work=loop.work, span=loop.span)
    return (*before, blocks, Loop(outer, tuple(combine), span=loop.span))
