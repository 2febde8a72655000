"""Rename: a copy of code whose dimensions have names of their own, since every name is unique in a program."""

from __future__ import annotations

from dataclasses import replace

from weft.ir.expr import AnyDim, CompressedDim, Dim, Domain, Expr, Reduce, Var
from weft.ir.program import Block, Call, Check, If, Library, Loop, Node, Operand, Stmt, While
from weft.ir.walk import fresh, map_children, map_dim, map_sub_blocks

Names = dict[str, str]


def renamed(block: Block, taken: set[str]) -> Block:
    """for i: a[i] = 0   -->   for i_2: a[i_2] = 0"""
    return tuple(_node(node, {}, taken) for node in block)


def renamed_expr(expr: Expr, taken: set[str]) -> Expr:
    """sum[i] a[i]   -->   sum[i_2] a[i_2]"""
    return _expr(expr, {}, taken)


def _dims(domain: Domain, names: Names, taken: set[str]) -> tuple[Domain, Names]:
    out: list[AnyDim] = []
    for dim in domain:
        inner = names
        mapped = map_dim(dim, lambda e, n=inner: _expr(e, n, taken))  # type: ignore[misc]
        names = {**names, dim.var: fresh(dim.var, taken)}
        if isinstance(mapped, CompressedDim):
            names[mapped.position] = fresh(mapped.position, taken)
            out.append(replace(mapped, var=names[mapped.var], position=names[mapped.position]))
        else:
            out.append(Dim(names[mapped.var], mapped.lo, mapped.hi, mapped.step))
    return tuple(out), names


def _expr(expr: Expr, names: Names, taken: set[str]) -> Expr:
    if isinstance(expr, Var):
        return replace(expr, name=names[expr.name]) if expr.name in names else expr
    if isinstance(expr, Reduce):
        dims, inner = _dims(expr.dims, names, taken)
        return replace(expr, dims=dims, value=_expr(expr.value, inner, taken))
    return map_children(expr, lambda e: _expr(e, names, taken))


def _node(node: Node, names: Names, taken: set[str]) -> Node:
    if isinstance(node, Stmt):
        domain, inner = _dims(node.domain, names, taken)
        index = tuple(_expr(part, inner, taken) for part in node.index)
        return replace(node, domain=domain, index=index, value=_expr(node.value, inner, taken))
    if isinstance(node, Check):
        domain, inner = _dims(node.domain, names, taken)
        values = tuple(_expr(part, inner, taken) for part in node.values)
        return replace(node, domain=domain, condition=_expr(node.condition, inner, taken), values=values)
    if isinstance(node, Loop):
        dims, inner = _dims((node.dim,), names, taken)
        work = None if node.work is None else _expr(node.work, names, taken)
        return replace(node, dim=dims[0], body=tuple(_node(n, inner, taken) for n in node.body), work=work)
    if isinstance(node, (If, While)):
        new = map_sub_blocks(node, lambda block: tuple(_node(n, names, taken) for n in block))
        assert isinstance(new, (If, While))
        return replace(new, condition=_expr(node.condition, names, taken))
    if isinstance(node, Library):
        domain, inner = _dims(node.domain, names, taken)
        inputs, outputs = (tuple(_operand(o, inner, taken) for o in side) for side in (node.inputs, node.outputs))
        return replace(node, domain=domain, inputs=inputs, outputs=outputs)
    assert not isinstance(node, Call), "library calls are made after the last copy"
    return node


def _operand(operand: Operand, names: Names, taken: set[str]) -> Operand:
    dims, inner = _dims(operand.dims, names, taken)
    return Operand(operand.buffer, dims, tuple(_expr(part, inner, taken) for part in operand.index))
