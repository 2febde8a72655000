"""What happens first to a scalar.  In: a block and a name; out: whether the block reads what was there before.

    x = a[i]; y = x          written: an iteration that begins so has an x of its own
    if c: x = a[i]; y = x    nothing sure, but no read of what was there before
"""

from __future__ import annotations

from typing import Literal

from weft.ir.program import Block, Call, If, Library, Loop, Node, Stmt, While
from weft.ir.walk import buffers_read, expr_buffers, node_exprs

First = Literal["read", "written"] | None


def first_access(block: Block, name: str) -> First:
    """What happens first to a scalar in every execution of a block: (perhaps) a read, a write, or nothing sure."""
    for node in block:
        first = _first_of(node, name)
        if first is not None:
            return first
    return None


def _first_of(node: Node, name: str) -> First:
    if isinstance(node, While):
        begins = first_access(node.prelude, name)
        if begins is not None:
            return begins
        later = name in expr_buffers(node.condition) or first_access(node.body, name) == "read"
        return "read" if later else None
    if any(name in expr_buffers(expr) for expr in node_exprs(node)):
        return "read"
    if isinstance(node, If):
        branches = {first_access(node.then, name), first_access(node.orelse, name)}
        return "read" if "read" in branches else "written" if branches == {"written"} else None
    if isinstance(node, Loop):
        # It may run no iteration, so that a write in it is not sure.
        return "read" if first_access(node.body, name) == "read" else None
    if isinstance(node, Stmt) and node.buffer == name:
        return "written" if not node.domain and node.reduce is None else "read"
    if isinstance(node, Call) and node.stmt.buffer == name:
        return "written" if node.keep is None and not node.stmt.index else "read"
    if isinstance(node, Library) and node.status == name:
        return "written"
    return "read" if name in buffers_read(node) else None
