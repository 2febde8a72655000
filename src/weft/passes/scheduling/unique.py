"""Unique loop variables.  In: lowered blocks in which copies of a loop may share a name; out: the same with every loop
variable of the program named once, as every later stage expects.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from weft.ir.expr import CompressedDim, Dim, Expr, Var
from weft.ir.program import Block, If, Loop, Node, While
from weft.ir.walk import map_block, map_dim, map_node_exprs, substitute


def unique_loops(block: Block, new_var: Callable[[str], str]) -> Block:
    """for i: A;  for i: B   -->   for i: A;  for i_2: B."""
    seen: set[str] = set()

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
            return replace(node, dim=new_dim, body=visit(node.body, inner), work=_work(node, names))
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
        return map_node_exprs(node, lambda e: substitute(e, names)) if names else node

    return visit(block, {})


def _work(loop: Loop, names: dict[str, Expr]) -> Expr | None:
    return None if loop.work is None else substitute(loop.work, names)
