"""Lists on clusters.  In: a program over lists of numbers; out: the same program over arrays of their elements.

A list that a function only reads goes as an array, once it is known that all its items are of one type; a list that it
makes comes back as an array, whose elements become Python's numbers again.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from weft.cluster.steps import Refused
from weft.frontend import specs
from weft.ir.expr import Cast, Expr, Read
from weft.ir.program import ArrayOut, Call, Invoke, Library, Node, Program, Role, Stmt, ViewOut
from weft.ir.types import ScalarType
from weft.ir.walk import (
    buffers_written,
    leaves,
    map_block,
    map_children,
    map_program_exprs,
    map_sub_blocks,
    touched,
    walk,
)

Array = np.ndarray[Any, Any]


def without_lists(program: Program) -> Program:
    """The program over arrays in the place of lists; Refused if it does more than to read lists and to make them."""
    lists = {buffer.name: buffer for buffer in program.buffers if buffer.rank and buffer.type.weak}
    outs = [leaf for out in program.results for leaf in leaves(out)]
    for leaf in outs:
        if isinstance(leaf, ArrayOut) and leaf.as_list and leaf.buffer not in lists:
            raise Refused("it returns a list of NumPy's numbers")
        if isinstance(leaf, (ArrayOut, ViewOut)) and leaf.buffer in lists:
            if lists[leaf.buffer].role is Role.PARAM or isinstance(leaf, ViewOut):
                raise Refused(f"it returns {leaf.buffer}, a list that it was given, or a part of a list")
    if not lists:
        return program
    for node in walk(program.body):
        _require_simple(node, lists)

    def plain(expr: Expr) -> Expr:
        expr = map_children(expr, plain)
        if isinstance(expr, Read) and expr.buffer in lists:
            return Cast(Read(expr.buffer, expr.index, _strong(expr.type)), expr.type)
        return expr

    def stored(node: Node) -> Node:
        node = map_sub_blocks(node, lambda block: map_block(block, stored))
        if isinstance(node, Stmt) and node.buffer in lists:
            return replace(node, value=Cast(node.value, _strong(lists[node.buffer].type)))
        return node

    program = map_program_exprs(program, plain)
    buffers = tuple(replace(b, type=_strong(b.type)) if b.name in lists else b for b in program.buffers)
    return replace(program, buffers=buffers, body=map_block(program.body, stored))


def _strong(of: ScalarType) -> ScalarType:
    return ScalarType(of.dtype)


def _require_simple(node: Node, lists: dict[str, Any]) -> None:
    """Refused if a node changes a list that was given, or hands a list to a library."""
    for name in buffers_written(node) & lists.keys():
        if lists[name].role is Role.PARAM:
            raise Refused(f"it changes {name}, a list")
    summed = isinstance(node, Stmt) and node.reduce is not None and node.buffer in lists
    used = isinstance(node, (Library, Invoke, Call)) and touched(node) & lists.keys()
    if summed or used:
        raise Refused(f"line {node.span.line}: a list is used as a whole")


def elements(spec: specs.ListSpec, items: Any) -> Array | None:
    """The items of a list as an array; None if they are not all of the type that the version is for."""
    kind = {"b": bool, "i": int, "f": float, "c": complex}[spec.type.dtype.numpy.kind]
    if type(items) is not list or spec.rank != 1 or not set(map(type, items)) <= {kind}:
        return None
    try:
        return np.array(items, spec.type.dtype.numpy)
    except OverflowError:
        return None
