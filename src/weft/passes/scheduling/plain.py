"""Lowering without reordering.  In: a statement, check or expression of any domain; out: loops in source order with
scalar accumulators.  It serves what the atoms cannot: domains whose size is known only while they run, and checks.
"""

from __future__ import annotations

from dataclasses import replace

from weft.ir.expr import Domain, Expr, Op, Read, Reduce
from weft.ir.program import Accumulator, Alloc, Block, Check, If, Loop, LoopKind, Node, Stmt
from weft.ir.walk import map_children, map_dim, reads
from weft.passes.scheduling.lower import (
    Atom,
    Workspace,
    copied_target,
    has_reduce,
    identity,
    overlapping_reads,
    prepared,
    prepared_expr,
    reduction_operation,
)
from weft.passes.scheduling.rewrite_dims import dense_stmt


def flatten(expr: Expr, workspace: Workspace) -> tuple[Block, Expr]:
    """x + sum[k] e   -->   s = 0; for k: s = s + e;   x + s   (a branch of a select only where it is taken)."""
    if not has_reduce(expr):
        return (), expr
    before: list[Node] = []

    def visit(node: Expr) -> Expr:
        prelude, new = flatten(node, workspace)
        before.extend(prelude)
        return new

    if isinstance(expr, Reduce):
        result = workspace.new_buffer(f"{expr.op}_of", expr.type)
        target = Read(result.name, (), expr.type)
        inner, value = flatten(expr.value, workspace)
        step = Op(reduction_operation(expr.op), (target, value), expr.type)
        body = (*inner, Stmt((), result.name, (), step, None, expr.span))
        start = Stmt((), result.name, (), identity(expr.op, expr.type), None, expr.span)
        return (start, *loops(expr.dims, body, workspace, (Accumulator(result.name, expr.op),))), target
    if isinstance(expr, Op) and expr.op == "select":
        test = visit(expr.args[0])
        branches = [flatten(branch, workspace) for branch in expr.args[1:]]
        before.append(If(test, branches[0][0], branches[1][0]))
        # The branch not taken is never evaluated, so its accumulators may stay unset.
        return tuple(before), replace(expr, args=(test, branches[0][1], branches[1][1]))
    new = map_children(expr, visit)
    return tuple(before), new


def loops(
    domain: Domain, body: Block, workspace: Workspace, accumulators: tuple[Accumulator, ...] = (), free: bool = False
) -> Block:
    """The body inside one loop a dimension; `free`: its iterations may run in any order."""
    for dim in reversed(domain):
        prelude: list[Node] = []

        def visit(bound: Expr, before: list[Node] = prelude) -> Expr:
            nodes, new = flatten(bound, workspace)
            before.extend(nodes)
            return new

        kind = LoopKind.PARALLEL if free and dim is domain[0] else LoopKind.SEQUENTIAL
        loop = Loop(map_dim(dim, visit), body, kind, accumulators)
        body = (*prelude, loop)
    return body


def plain(stmt: Stmt, workspace: Workspace) -> Block:
    """A statement as a nest of loops in the order of its domain."""
    stmt = prepared(stmt, workspace)
    before: list[Node] = []
    if overlapping_reads(stmt) or (stmt.domain and _reads_target_in_reduce(stmt)):
        for step in copied_target(stmt, workspace):
            if isinstance(step, Alloc):
                before.append(step)
            elif step.buffer == stmt.buffer:
                stmt = replace(stmt, domain=step.dims, index=step.index, value=step.value)
            else:
                before.extend(loops(step.dims, step.leaf(), workspace, free=True))
    inner, value = flatten(stmt.value, workspace)
    index: list[Expr] = []
    for position in stmt.index:
        nodes, new = flatten(position, workspace)
        inner += nodes
        index.append(new)
    leaf = Atom((), stmt.buffer, tuple(index), value, stmt.reduce, span=stmt.span).leaf()
    return (*before, *loops(stmt.domain, (*inner, *leaf), workspace, free=stmt.reduce is None))


def _reads_target_in_reduce(stmt: Stmt) -> bool:
    return has_reduce(stmt.value) and any(read.buffer == stmt.buffer for read in reads(stmt.value))


def plain_check(check: Check, workspace: Workspace) -> Block:
    """A check at every point in order: the first that fails raises."""
    holder = dense_stmt(
        Stmt(check.domain, "", check.values, prepared_expr(check.condition, workspace)), workspace.table
    )
    inner, condition = flatten(holder.value, workspace)
    values: list[Expr] = []
    for value in holder.index:
        nodes, new = flatten(value, workspace)
        inner += nodes
        values.append(new)
    body = (*inner, replace(check, domain=(), condition=condition, values=tuple(values)))
    return loops(holder.domain, body, workspace)
