"""Unique loop variables.  In: lowered blocks in which copies of a loop may share a name; out: the same with every loop
variable of the program named once, as every later stage expects.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from weft.ir.expr import CompressedDim, Dim, Expr, Var
from weft.ir.program import Alloc, Block, If, Loop, Node, While
from weft.ir.walk import free_vars, map_block, map_dim, map_node_exprs, rename_buffers, substitute, walk
from weft.passes.scheduling.lower import Workspace


def unique_loops(block: Block, new_var: Callable[[str], str], workspace: Workspace | None = None) -> Block:
    """for i: A;  for i: B   -->   for i: A;  for i_2: B.

    Arrays of `workspace` that B makes in sizes that depend on i get these sizes in terms of i_2.
    """
    seen: set[str] = set()
    met: set[str] = set()  # arrays that are made before

    def once(name: str) -> str:
        if name in seen:
            name = new_var(name)
        seen.add(name)
        return name

    def visit(block: Block, names: dict[str, Expr]) -> Block:
        return map_block(block, lambda node: visit_node(node, names))

    def visit_node(node: Node, names: dict[str, Expr]) -> Node:
        if isinstance(node, Loop):
            dim = map_dim(node.dim, lambda e: substitute(e, names))
            name = once(dim.var)
            if isinstance(dim, CompressedDim):
                place = once(dim.position)
                own: dict[str, Expr] = {dim.var: Var(name), dim.position: Var(place)}
                new_dim: Dim | CompressedDim = replace(dim, var=name, position=place)
            else:
                own = {dim.var: Var(name)}
                new_dim = dim if name == dim.var else replace(dim, var=name)
            changed = {old: new for old, new in own.items() if new != Var(old)}
            inner = {old: new for old, new in names.items() if old not in own} | changed
            body = _sized(node.body, changed, workspace, met) if changed and workspace is not None else node.body
            return replace(node, dim=new_dim, body=visit(body, inner), work=_work(node, names))
        if isinstance(node, If):
            return replace(
                node,
                condition=substitute(node.condition, names),
                then=visit(node.then, names),
                orelse=visit(node.orelse, names),
            )
        if isinstance(node, While):
            return replace(
                node,
                prelude=visit(node.prelude, names),
                condition=substitute(node.condition, names),
                body=visit(node.body, names),
            )
        if isinstance(node, Alloc):
            met.add(node.buffer)
        return map_node_exprs(node, lambda e: substitute(e, names)) if names else node

    return visit(block, {})


def _work(loop: Loop, names: dict[str, Expr]) -> Expr | None:
    return None if loop.work is None else substitute(loop.work, names)


def _sized(body: Block, names: dict[str, Expr], workspace: Workspace, met: set[str]) -> Block:
    """The body of a loop, whose variable has a new name, with the sizes of what it makes in terms of that name; what is
    made elsewhere as well becomes an array of its own."""
    others: dict[str, str] = {}
    for made in [node.buffer for node in walk(body) if isinstance(node, Alloc)]:
        buffer = workspace.table[made]
        if made in others or not any(free_vars(size) & names.keys() for size in buffer.shape):
            continue
        shape = tuple(substitute(size, names) for size in buffer.shape)
        if made in met:
            others[made] = workspace.new_buffer(made, buffer.type, shape).name
        name = others.get(made, made)
        workspace.table[name] = replace(buffer, name=name, shape=shape)
    return tuple(rename_buffers(node, others) for node in body) if others else body
