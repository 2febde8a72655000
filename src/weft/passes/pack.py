"""Columns that entries tell, side by side.  In: statements over the entries of a compressed level that go down columns
of a dense array; out: the same along the rows of a transposed copy, where the entries are many enough to pay for it.

    e[p] = v[p] * sum[k] a[i, k] * b[k, j]   for i, j(p) in csr[i]
      -->  if entries * 4 > columns of b:  { t[j, k] = b[k, j];  e[p] = v[p] * sum[k] a[i, k] * t[j, k] }
           else: as it was

Going down a column, each element lies in a cache line of its own; a copy reads and writes each element once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from weft.analysis import cost
from weft.analysis.effects import sets_all
from weft.ir.expr import AnyDim, Cast, CompressedDim, Dim, Expr, Op, Read, Reduce, Var, integer, real
from weft.ir.program import Alloc, Block, Buffer, If, Layout, Loop, LoopKind, Node, Program, Role, Stmt
from weft.ir.types import PYBOOL
from weft.ir.walk import free_vars, map_children, map_sub_blocks, reads, subexpressions, walk
from weft.passes import PassContext, declared
from weft.passes.disjoint import reordered
from weft.passes.rename import renamed
from weft.passes.scheduling.lower import Workspace
from weft.records import dataclass

PASS = "pack"
# An element of a copy costs this part of one that is alone in its cache line.
SHARE = 4.0


@dataclass(frozen=True)
class _Column:
    """A read down a column: the array, the axis that a sum goes along, how many entries tell columns."""

    read: Read
    entries: Expr


@declared("pack", after=("match",))
def run(program: Program, context: PassContext) -> Program:
    """Every statement that goes down columns which entries tell."""
    if not any(isinstance(node, Stmt) and _over_entries(node.domain) for node in walk(program.body)):
        return program
    workspace = Workspace.of(program, strict=context.options.fp == "strict")
    filled = {buffer.name for buffer in program.buffers if buffer.role is Role.PARAM} | _set_whole(program)
    changed = False

    def visit(node: Node) -> Block:
        nonlocal changed
        if isinstance(node, Loop) and node.kind is not LoopKind.SEQUENTIAL:
            return (node,)
        if not isinstance(node, Stmt):
            return (map_sub_blocks(node, blocks),)
        columns = [one for one in _columns(node, program.table) if one.read.buffer in filled]
        if not columns:
            return (node,)
        changed = True
        context.done(PASS, f"columns of {columns[0].read.buffer} side by side, in a copy", node.span)
        return (_packed(node, columns[0], workspace),)

    def blocks(block: Block) -> Block:
        return tuple(new for node in block for new in visit(node))

    body = blocks(program.body)
    return reordered(program, body, workspace, []) if changed else program


def _over_entries(dims: tuple[AnyDim, ...]) -> bool:
    return any(isinstance(dim, CompressedDim) or any(True for _ in reads(dim.lo)) for dim in dims)


def _set_whole(program: Program) -> set[str]:
    return {
        node.buffer
        for node in walk(program.body)
        if isinstance(node, Stmt) and node.index and sets_all(node, program.table[node.buffer].shape)
    }


def _columns(stmt: Stmt, table: dict[str, Buffer]) -> Iterator[_Column]:
    if not _over_entries(stmt.domain):
        return
    levels = {dim.var: dim for dim in stmt.domain if isinstance(dim, CompressedDim)}
    for reduce in subexpressions(stmt.value):
        if not isinstance(reduce, Reduce) or len(reduce.dims) != 1 or not isinstance(reduce.dims[0], Dim):
            continue
        for read in reads(reduce.value):
            of = table[read.buffer]
            down = len(read.index) == 2 and read.index[0] == Var(reduce.dims[0].var)
            if not down or of.layout is not Layout.C or read.buffer == stmt.buffer:
                continue
            told = _told(read.index[1], levels, table)
            if told is not None and not any(True for size in of.shape for _ in reads(size)):
                yield _Column(read, told)


def _told(place: Expr, levels: dict[str, CompressedDim], table: dict[str, Buffer]) -> Expr | None:
    """How many entries there are, if an entry tells a place."""
    if isinstance(place, Var) and place.name in levels:
        return table[levels[place.name].coordinate].shape[0]
    while isinstance(place, Cast):
        place = place.value
    told = isinstance(place, Read) and len(place.index) == 1 and bool(free_vars(place.index[0]))
    return table[place.buffer].shape[0] if told and isinstance(place, Read) else None


def _packed(stmt: Stmt, column: _Column, workspace: Workspace) -> Node:
    name = column.read.buffer
    of = workspace.table[name]
    copy = workspace.new_buffer(f"{name}_columns", of.type, of.shape[::-1]).name
    j, k = (workspace.new_var(hint) for hint in ("j", "k"))
    dims = Dim(j, integer(0), of.shape[1]), Dim(k, integer(0), of.shape[0])
    fill = Stmt(dims, copy, (Var(j), Var(k)), Read(name, (Var(k), Var(j)), of.type), None, stmt.span)

    def visit(expr: Expr) -> Expr:
        if expr == column.read:
            return Read(copy, column.read.index[::-1], of.type)
        return map_children(expr, visit)

    instead = replace(stmt, value=visit(stmt.value))
    many = cost.times(real(SHARE), cost.as_float(column.entries))
    test = Op("gt", (many, cost.as_float(of.shape[1])), PYBOOL)
    return If(test, (Alloc(copy), fill, instead), renamed((stmt,), workspace.taken), span=stmt.span)
