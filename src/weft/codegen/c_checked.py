"""Checked kernels: every access is tested.  In: a lowered node and how it is translated; out: C before the node that
leaves the kernel with SystemError if an index of the node is outside of its array.

    b[i] = a[j[i]]  -->  if (!(0 <= i && i < n)) fail;  if (!(0 <= j[i] && j[i] < m)) fail;  b[i] = a[j[i]];
What is only reached under a condition (a branch of a select) is only tested under it.  A mistake of weft's own is then
an error that names the array, not damaged memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from weft.codegen import syntax as C
from weft.codegen.c_frame import RAISE
from weft.ir.expr import Dim, Domain, Expr, Op, Read, Reduce
from weft.ir.program import OUTSIDE, Call, Check, If, Library, Loop, LoopKind, Node, Program, Stmt, While
from weft.ir.types import BOOL
from weft.ir.walk import children, dim_children, free_vars, map_block, map_sub_blocks, subexpressions
from weft.records import dataclass

if TYPE_CHECKING:
    from weft.codegen.c_stmt import Statements


@dataclass(frozen=True)
class Access:
    """An element that is read or written at every point of a domain where the conditions hold."""

    buffer: str
    index: tuple[Expr, ...]
    conditions: tuple[Expr, ...] = ()
    domain: Domain = ()


def prepared(program: Program) -> Program:
    """A program whose loops may be left at any place: none is in vectors."""

    def visit(node: Node) -> Node:
        node = map_sub_blocks(node, lambda block: map_block(block, visit))
        if isinstance(node, Loop) and node.kind is LoopKind.VECTOR:
            return replace(node, kind=LoopKind.SEQUENTIAL)
        return node

    parts = tuple(map(prepared, program.functions))
    return replace(program, body=map_block(program.body, visit), functions=parts)


def tests(node: Node, statements: Statements) -> list[C.CStmt]:
    """What comes before a node."""
    out: list[C.CStmt] = []
    for access in _accesses(node, statements):
        out += _test(access, node, statements)
    return out


def condition_tests(node: While, statements: Statements) -> list[C.CStmt]:
    """What comes before the condition of a while loop."""
    return [test for access in _read(node.condition) for test in _test(access, node, statements)]


def _test(access: Access, node: Node, statements: Statements) -> list[C.CStmt]:
    expressions = statements.expressions
    storage = expressions.storages[access.buffer]
    failures: list[C.CStmt] = []
    for axis, position in enumerate(access.index):
        at, extent = expressions.index(position), storage.extents[axis]
        where = f"axis {axis} of the array {access.buffer}"
        message = f"an error inside weft: index {{0}} is out of bounds for {where} with size {{1}}"
        code = statements.unit.exception(OUTSIDE, message)
        failed = statements.failure(RAISE, code, statements.unit.place(node.span), (at, extent))
        inside = C.Infix("<", C.Convert("u64", at), C.Convert("u64", extent))
        failures.append(C.IfElse(C.Prefix("!", inside), tuple(failed)))
    for condition in reversed(access.conditions):
        failures = [C.IfElse(expressions.value(condition), tuple(failures))]
    return statements.nest(access.domain, failures) if access.domain else failures


def _accesses(node: Node, statements: Statements) -> Iterator[Access]:
    if isinstance(node, Stmt):
        kept = statements.kept(node)
        test, value = (None, node.value) if kept is None else kept
        conditions = () if test is None else (test,)
        yield from () if test is None else _read(test)
        yield from _read(value, conditions)
        for part in node.index:
            yield from _read(part, conditions)
        if node.index:
            yield Access(node.buffer, node.index, conditions)
    elif isinstance(node, Check):
        yield from (replace(access, domain=node.domain) for access in _read(node.condition))
    elif isinstance(node, If):
        yield from _read(node.condition)
    elif isinstance(node, Loop):
        yield from (access for part in dim_children(node.dim) for access in _read(part))
    elif isinstance(node, Call):
        yield from _of_call(node)
    elif isinstance(node, Library):
        for operand in (*node.inputs, *node.outputs):
            if operand.index:
                yield Access(operand.buffer, operand.index, (), (*node.domain, *operand.dims))


def _of_call(node: Call) -> Iterator[Access]:
    """The elements that a library routine reads and writes by the meaning of its statement."""
    sums = [part for part in subexpressions(node.stmt.value) if isinstance(part, Reduce)]
    dims = (*node.stmt.domain, *(dim for part in sums for dim in part.dims))
    written = Read(node.stmt.buffer, node.stmt.index, node.stmt.value.type)
    for read in (*node.operands, written):
        if read.index and all(isinstance(dim, Dim) for dim in dims):
            yield Access(read.buffer, read.index, (), _needed(dims, read.index))


def _needed(dims: Domain, index: tuple[Expr, ...]) -> Domain:
    """Those dimensions that an index depends on, also by the bounds of others."""
    wanted = {name for part in index for name in free_vars(part)}
    found: list[Dim] = []
    for dim in reversed(dims):
        assert isinstance(dim, Dim)
        if dim.var in wanted:
            found.insert(0, dim)
            wanted |= free_vars(dim.lo) | free_vars(dim.hi)
    return tuple(found)


def _read(expr: Expr, conditions: tuple[Expr, ...] = ()) -> Iterator[Access]:
    """The elements that an expression reads, as C evaluates it."""
    if isinstance(expr, Op) and expr.op in ("select", "and", "or"):
        test = expr.args[0]
        opposite = Op("not", (test,), BOOL)
        yield from _read(test, conditions)
        if expr.op == "select":
            yield from _read(expr.args[1], (*conditions, test))
            yield from _read(expr.args[2], (*conditions, opposite))
        else:
            yield from _read(expr.args[1], (*conditions, test if expr.op == "and" else opposite))
        return
    for part in children(expr):
        yield from _read(part, conditions)
    if isinstance(expr, Read) and expr.index:
        yield Access(expr.buffer, expr.index, conditions)
