"""Which loops the lanes of a work-group share.  In: nodes of a lowered program; out: answers about their loops and
temporaries, for whoever writes or splits kernels.
"""

from __future__ import annotations

from collections.abc import Sequence

from weft.ir.expr import Const, Dim, Expr
from weft.ir.program import Alloc, Block, Break, Buffer, Continue, If, Loop, LoopKind, Node, Program, Stmt, While
from weft.ir.walk import buffers_written, expr_buffers, free_vars, node_exprs, sub_blocks, touched, walk

#: Temporaries of constant size up to this many bytes are private to a work-item.
PRIVATE_BYTES = 1024


def line_of(loop: Loop) -> int:
    """The line of the first statement in a loop."""
    return next((node.span.line for node in walk(loop.body) if isinstance(node, Stmt) and node.span.line > 0), 0)


def has_lanes(block: Block) -> bool:
    """Whether something in a block is worth several lanes."""
    return any(isinstance(node, Loop) and is_long(node) for node in walk(block))


def is_long(loop: Loop) -> bool:
    """A vector loop that is not a handful of iterations of known number, which one work-item does in registers."""
    if loop.kind is not LoopKind.VECTOR:
        return False
    dim = loop.dim
    if isinstance(dim, Dim) and isinstance(dim.lo, Const) and isinstance(dim.hi, Const):
        return abs(int(dim.hi.value.real) - int(dim.lo.value.real)) > 16
    return True


def leaving(node: Node) -> list[Node]:
    """Breaks and continues that leave the node itself."""
    if isinstance(node, (Loop, While)):
        return []
    if isinstance(node, (Break, Continue)):
        return [node]
    return [found for block in sub_blocks(node) for inner in block for found in leaving(inner)]


def constant_count(buffer: Buffer) -> int | None:
    count = 1
    for extent in buffer.shape:
        if not isinstance(extent, Const) or not isinstance(extent.value, int):
            return None
        count *= extent.value
    return count


def is_small(buffer: Buffer) -> bool:
    """Whether an array fits the registers of one work-item."""
    count = constant_count(buffer)
    return count is not None and count * buffer.type.dtype.size <= PRIVATE_BYTES


def shared_elements(loop: Loop) -> set[str]:
    """The arrays of which all iterations of a loop write the same element."""
    found: set[str] = set()

    def visit(block: Block, moving: frozenset[str]) -> None:
        for node in block:
            if isinstance(node, Stmt) and node.index and not _vars(node.index) & moving:
                found.add(node.buffer)
            inner = moving
            if isinstance(node, Loop) and isinstance(node.dim, Dim) and _vars((node.dim.lo, node.dim.hi)) & moving:
                inner = moving | {node.dim.var}
            # A scalar that was set in this iteration may be where it writes.
            if isinstance(node, Stmt) and not node.index:
                moving = moving | {node.buffer}
            for part in sub_blocks(node):
                visit(part, inner)

    visit(loop.body, frozenset({loop.dim.var} if isinstance(loop.dim, Dim) else ()))
    return found


def _vars(exprs: Sequence[Expr]) -> set[str]:
    return set().union(*(free_vars(expr) | expr_buffers(expr) for expr in exprs)) if exprs else set()


def lane_arrays(nodes: Sequence[Node], program: Program) -> frozenset[str]:
    """Small temporaries that one vector loop alone uses: its iterations write all that they read of them."""
    allocated = {part.buffer for part in walk(tuple(nodes)) if isinstance(part, Alloc)}
    inside: set[str] = set()
    outside: set[str] = set()
    seen: set[str] = set()

    def visit(block: Sequence[Node]) -> None:
        for node in block:
            if isinstance(node, Loop) and is_long(node):
                inside.update(shared_elements(node))
                here = {name for part in walk((node,)) for name in touched(part)}
                outside.update(here & seen)
                seen.update(here)
                continue
            if not isinstance(node, Alloc):
                outside.update(name for expr in node_exprs(node) for name in expr_buffers(expr))
                outside.update(() if isinstance(node, (Loop, While, If)) else buffers_written(node))
            for part in sub_blocks(node):
                visit(part)

    visit(nodes)
    return frozenset(name for name in allocated & inside - outside if is_small(program.table[name]))
