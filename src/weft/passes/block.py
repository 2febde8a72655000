"""Blocks for transposed accesses.  In: a lowered program; out: nests that read along one loop and write along the
other, cut into square blocks that fit the first cache.

    parallel i: vector j: b[i, j] = a[j, i]
      -->  parallel ib: for jb: for i in block ib: vector j in block jb: b[i, j] = a[j, i]

A column of `a` is then used for all the rows that share its cache lines before it is gone.  All iterations of a
PARALLEL loop around a VECTOR loop without accumulators are independent, so any order gives the same bits.
"""

from __future__ import annotations

from dataclasses import replace

from weft.analysis import cost
from weft.ir.expr import Dim, Expr, Read, integer
from weft.ir.index import affine
from weft.ir.program import Block, Buffer, Layout, Loop, LoopKind, Node, Program, Stmt
from weft.ir.verify import Stage
from weft.ir.walk import free_vars, map_block, map_sub_blocks, node_exprs, reads
from weft.passes import Knows, PassContext, declared
from weft.passes.scheduling.kinds import strips
from weft.passes.scheduling.lower import Workspace

PASS = "block"
# Rows and columns of a block: 32 lines of 64 bytes of each of a few arrays fit the first cache.
SIDE = 32


@declared("block", takes=Stage.LOWERED, after=("directed",), reshapes=True, knows=Knows.BESIDE)
def run(program: Program, context: PassContext) -> Program:
    """Cut every nest that has a transposed access and is large enough to need it."""
    workspace = Workspace.of(program, strict=context.options.fp == "strict")

    def visit(node: Node) -> Node:
        if isinstance(node, Loop) and why_not(node, program.table) is None:
            context.done(PASS, f"a transposed access in blocks of {SIDE} x {SIDE}", node.span)
            return blocked(node, workspace)
        return map_sub_blocks(node, blocks)

    def blocks(block: Block) -> Block:
        return map_block(block, visit)

    body = blocks(program.body)
    return program if body is program.body else replace(program, body=body)


def why_not(loop: Loop, table: dict[str, Buffer]) -> str | None:
    """None if a nest is a PARALLEL loop right around a VECTOR loop of plain statements, one access being transposed."""
    if loop.kind is not LoopKind.PARALLEL or len(loop.body) != 1:
        return "not a parallel loop around one other loop"
    inner = loop.body[0]
    if not isinstance(inner, Loop) or inner.kind is not LoopKind.VECTOR or inner.accumulators:
        return "the inner loop is not vectorised, or it accumulates"
    if not all(isinstance(node, Stmt) for node in inner.body):
        return "more than plain statements inside"
    dims = [dim for dim in (loop.dim, inner.dim) if isinstance(dim, Dim) and dim.step == 1]
    if len(dims) != 2 or any(affine(bound) is None for dim in dims for bound in (dim.lo, dim.hi)):
        return "bounds that are not simple"
    outer_var, inner_var = dims[0].var, dims[1].var
    if outer_var in free_vars(dims[1].lo) | free_vars(dims[1].hi):
        return "the inner bounds depend on the outer loop"
    places = [place for node in inner.body if isinstance(node, Stmt) for place in _accesses(node)]
    along = {_unit(place, table) for place in places}
    across = any(_unit(place, table) == outer_var and _uses(place, inner_var) for place in places)
    return None if across and inner_var in along else "every access runs along the inner loop"


def _uses(place: tuple[str, tuple[Expr, ...]], name: str) -> bool:
    return any(name in free_vars(part) for part in place[1])


def _accesses(stmt: Stmt) -> list[tuple[str, tuple[Expr, ...]]]:
    found: list[tuple[str, tuple[Expr, ...]]] = [(stmt.buffer, stmt.index)]
    for expr in node_exprs(stmt):
        found += [(read.buffer, read.index) for read in reads(expr) if isinstance(read, Read)]
    return found


def _unit(place: tuple[str, tuple[Expr, ...]], table: dict[str, Buffer]) -> str | None:
    """The loop variable that moves along adjacent elements of an access of two or more axes."""
    name, index = place
    buffer = table.get(name)
    if buffer is None or len(index) < 2 or buffer.layout is Layout.STRIDED:
        return None
    form = affine(index[-1] if buffer.layout is Layout.C else index[0])
    units = [] if form is None else [variable for variable, c in form.terms if abs(c) == 1]
    return units[-1] if len(units) == 1 else None


def blocked(loop: Loop, workspace: Workspace) -> Loop:
    """The nest over blocks; see the module's docstring."""
    inner = loop.body[0]
    assert isinstance(inner, Loop)
    row_blocks, rows = strips(cost.dense(loop.dim), integer(SIDE), workspace)
    column_blocks, columns = strips(cost.dense(inner.dim), integer(SIDE), workspace)
    vector = replace(inner, dim=columns)
    row = Loop(rows, (vector,), LoopKind.SEQUENTIAL, span=loop.span)
    across = Loop(column_blocks, (row,), LoopKind.SEQUENTIAL, span=loop.span)
    return replace(loop, dim=row_blocks, body=(across,))
