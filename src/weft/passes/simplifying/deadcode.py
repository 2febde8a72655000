"""Dead code: statements whose effect nobody sees.  In: a program; out: it without them,
and without the buffers that nothing names any longer.

    t = f(x); return y  -->  return y          s = 1; s = 2; use(s)  -->  s = 2; use(s)
"""

from __future__ import annotations

from dataclasses import replace

from weft.analysis.effects import Liveness, result_buffers
from weft.ir.program import (
    Alloc,
    Block,
    Call,
    Check,
    If,
    Invoke,
    Library,
    Loop,
    Node,
    Program,
    Rebind,
    Role,
    Stmt,
    While,
)
from weft.ir.walk import buffers_read, buffers_written, domain_buffers, expr_buffers, map_sub_blocks, overwritten, walk


def remove(program: Program) -> Program:
    """Drops what is never needed, then stores that are overwritten before they are read."""
    needed = needed_buffers(program)
    body = _without_targets(program.body, {b.name for b in program.buffers if b.name not in needed})
    program = program if body is program.body else replace(program, body=body)
    body = _without_dead_stores(program)
    program = program if body is program.body else replace(program, body=body)
    return _drop_buffers(program)


def needed_buffers(program: Program) -> set[str]:
    """Buffers whose contents can reach the caller, a check, or a decision; what feeds only itself is not among them."""
    needed = {b.name for b in program.buffers if b.role in (Role.PARAM, Role.HELD)}
    feeds: dict[str, set[str]] = {}
    for out in program.results:
        needed |= result_buffers(out)
    for buffer in program.buffers:
        feeds.setdefault(buffer.name, set()).update(*(expr_buffers(extent) for extent in buffer.shape))
    for node in walk(program.body):
        if isinstance(node, (Stmt, Call)):
            stmt = node if isinstance(node, Stmt) else node.stmt
            feeds.setdefault(stmt.buffer, set()).update(buffers_read(node))
        elif isinstance(node, (Check, Invoke)):
            needed |= buffers_read(node) | buffers_written(node)  # a call may raise, or never end: it stays
        elif isinstance(node, Loop):
            needed |= domain_buffers((node.dim,))
        elif isinstance(node, (If, While)):
            needed |= expr_buffers(node.condition)
        elif isinstance(node, Library):
            for target in overwritten(node):
                # A routine fills all of its outputs: if one is needed, all must be there.
                feeds.setdefault(target, set()).update(buffers_read(node) | overwritten(node))
        elif isinstance(node, Rebind):
            for target, source in zip(node.targets, node.sources):
                feeds.setdefault(target, set()).add(source)
                feeds.setdefault(source, set()).add(target)
    work = list(needed)
    while work:
        for source in feeds.get(work.pop(), ()):
            if source not in needed:
                needed.add(source)
                work.append(source)
    return needed


def _targets(node: Node) -> set[str]:
    """What a node is there to set; without these it can go."""
    if isinstance(node, (Stmt, Alloc)):
        return {node.buffer}
    if isinstance(node, Call):
        return {node.stmt.buffer}
    if isinstance(node, Library):
        return overwritten(node)
    return {node.targets[0]} if isinstance(node, Rebind) else set()


def _filtered(block: Block, keep: list[Node]) -> Block:
    return block if len(keep) == len(block) and all(a is b for a, b in zip(keep, block)) else tuple(keep)


def _hollow(node: Node) -> bool:
    """A loop or branch with nothing left to do (its bounds and condition are pure)."""
    return (isinstance(node, Loop) and not node.body) or (isinstance(node, If) and not node.then and not node.orelse)


def _without_targets(block: Block, dead: set[str]) -> Block:
    if not dead:
        return block
    keep: list[Node] = []
    for node in block:
        if (targets := _targets(node)) and targets <= dead:
            continue
        new = map_sub_blocks(node, lambda inner: _without_targets(inner, dead))
        if not _hollow(new):
            keep.append(new)
    return _filtered(block, keep)


def _without_dead_stores(program: Program) -> Block:
    live = Liveness(program)
    sizes = {name for buffer in program.buffers for extent in buffer.shape for name in expr_buffers(extent)}

    def visit(block: Block) -> Block:
        keep: list[Node] = []
        for node in block:
            if isinstance(node, (Stmt, Call, Library)) and not _targets(node) & (live.live_after(node) | sizes):
                continue
            new = map_sub_blocks(node, visit)
            if not _hollow(new):
                keep.append(new)
        return _filtered(block, keep)

    return visit(program.body)


def _drop_buffers(program: Program) -> Program:
    """Without locals that nothing names, and without the Allocs of arrays that are only allocated."""
    used: set[str] = set()
    for out in program.results:
        used |= result_buffers(out)
    for guard in program.guards:
        used |= buffers_read(guard)
    for node in walk(program.body):
        if not isinstance(node, (Alloc, Loop, If, While)):
            used |= buffers_read(node) | buffers_written(node)
        elif isinstance(node, Loop):
            used |= domain_buffers((node.dim,))
        elif isinstance(node, (If, While)):
            used |= expr_buffers(node.condition)
    for buffer in program.buffers:
        if buffer.name in used or buffer.role in (Role.PARAM, Role.HELD):
            used |= {name for extent in buffer.shape for name in expr_buffers(extent)}
    unused = {b.name for b in program.buffers if b.role not in (Role.PARAM, Role.HELD) and b.name not in used}
    if not unused:
        return program
    body = _without_targets(program.body, unused)
    buffers = tuple(b for b in program.buffers if b.name not in unused)
    return replace(program, body=body, buffers=buffers)
