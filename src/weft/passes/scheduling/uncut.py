"""Loops cut into blocks, made whole again and back.  In: lowered loops; out: those whose blocks the threads share, and
whose blocks run in vectors, as one VECTOR loop that has work, which `directed` can treat as the loop of the source.

    parallel b: vector i in block b: A   <-->   vector i work w: A
"""

from __future__ import annotations

from dataclasses import replace

from weft.analysis import cost
from weft.directives import Place
from weft.ir import index as ix
from weft.ir.expr import Dim, Expr, Op, Var, integer
from weft.ir.program import Block, Loop, LoopKind, Node
from weft.ir.walk import map_block, map_dim, map_sub_blocks, substitute
from weft.passes.scheduling.kinds import BLOCK, strips
from weft.passes.scheduling.lower import Workspace


def is_shared(loop: Loop) -> bool:
    """Whether threads share a loop: a PARALLEL one, or a VECTOR one with work, which stands for both."""
    return loop.kind is LoopKind.PARALLEL or (loop.kind is LoopKind.VECTOR and loop.work is not None)


def shared_at(nodes: Block, depth: int, work: Expr | None) -> Block:
    """A nest with the loop at this depth shared among the threads."""
    loop = nodes[0]
    assert isinstance(loop, Loop)
    if depth:
        return (replace(loop, body=shared_at(loop.body, depth - 1, work)),)
    known = cost.work(loop) if work is None else work
    kind = LoopKind.VECTOR if loop.kind is LoopKind.VECTOR else LoopKind.PARALLEL
    return (replace(loop, kind=kind, work=known),)


def without_strips(block: Block, places: list[Place] | None, workspace: Workspace) -> Block:
    """Blocks of the named loops made whole; None: of all loops."""

    def visit(node: Node) -> Node:
        inner = node.body[0] if isinstance(node, Loop) and len(node.body) == 1 else None
        whole = _whole(node, inner, workspace) if isinstance(node, Loop) and isinstance(inner, Loop) else None
        named = places is None or (whole is not None and any(place.is_variable(whole.dim.var) for place in places))
        if whole is not None and named:
            return whole
        return map_sub_blocks(node, lambda inner: without_strips(inner, places, workspace))

    return map_block(block, visit)


def _whole(blocks: Loop, inner: Loop, workspace: Workspace) -> Loop | None:
    """The loop that was cut into these blocks; None if the two are not what `strips` makes of one."""
    if blocks.kind is not LoopKind.PARALLEL or inner.kind is not LoopKind.VECTOR or blocks.work is None:
        return None
    within, end = inner.dim, inner.dim.hi if isinstance(inner.dim, Dim) else None
    if not isinstance(within, Dim) or not isinstance(end, Op) or end.op not in ("minimum", "maximum"):
        return None
    start = ix.canonical(substitute(within.lo, {blocks.dim.var: integer(0)}))
    dim = replace(within, lo=start, hi=end.args[1])
    again, piece = strips(dim, integer(BLOCK), workspace)
    names: dict[str, Expr] = {again.var: Var(blocks.dim.var)}
    cut = (replace(again, var=blocks.dim.var), map_dim(piece, lambda e: substitute(e, names)))
    return replace(inner, dim=dim, work=blocks.work) if cut == (blocks.dim, within) else None


def with_strips(block: Block, workspace: Workspace, inside: bool) -> Block:
    """The inverse of `without_strips`: a VECTOR loop with work in blocks that threads share, if none around it is."""

    def visit(node: Node) -> Node:
        if not isinstance(node, Loop):
            return map_sub_blocks(node, lambda inner: with_strips(inner, workspace, inside))
        if node.kind is not LoopKind.VECTOR or node.work is None:
            shared = inside or node.kind is LoopKind.PARALLEL
            return map_sub_blocks(node, lambda inner: with_strips(inner, workspace, shared))
        vector = replace(node, work=None)
        if inside or node.accumulators:
            return vector
        outer, inner = strips(cost.dense(node.dim), integer(BLOCK), workspace)
        return Loop(outer, (replace(vector, dim=inner),), LoopKind.PARALLEL, work=node.work, span=node.span)

    return map_block(block, visit)
