"""Columns side by side.  In: statements over the entries of a compressed level that go down columns of a dense array,
or that add up a few elements of a row at each point; out: the same along the rows of a transposed copy, where it pays.

    e[p] = v[p] * sum[k] a[i, k] * b[k, j]   for i, j(p) in csr[i]
      -->  if entries * 4 > columns of b:  { t[j, k] = b[k, j];  e[p] = v[p] * sum[k] a[i, k] * t[j, k] }
           else: as it was

    d[i, j] = sum[k: 0 <= k < n] |a[i, k] - b[j, k]|   for i, j
      -->  { t[k, j] = b[j, k];  d[i, j] = sum[k] |a[i, k] - t[k, j]| }, if n is small, and i takes a few values

Going down a column, each element lies in a cache line of its own; a copy reads and writes each element once.  A sum of
a few terms is no vector, but many of them side by side are.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from weft.analysis import cost
from weft.analysis.effects import sets_all
from weft.ir.expr import AnyDim, Cast, CompressedDim, Dim, Expr, Op, Read, Reduce, Var, integer, real
from weft.ir.program import Alloc, Block, Buffer, If, Layout, Loop, LoopKind, Node, Program, Role, Stmt
from weft.ir.types import PYBOOL
from weft.ir.walk import free_vars, map_children, map_sub_blocks, reads, rewrite, subexpressions, walk
from weft.passes import PassContext, declared
from weft.passes.disjoint import reordered
from weft.passes.rename import renamed
from weft.passes.scheduling.lower import Workspace
from weft.records import dataclass

PASS = "pack"
# An element of a copy costs this part of one that is alone in its cache line.
SHARE = 4.0
# Sums of at most so many terms are better side by side than each in vectors of its own,
TERMS = 32
# if the copy is used so many times.
USES = 4


@dataclass(frozen=True)
class _Column:
    """A read down a column: the array, the axis that a sum goes along, how many entries tell columns."""

    read: Read
    entries: Expr


@declared("pack", after=("match",))
def run(program: Program, context: PassContext) -> Program:
    """Every statement that goes down columns which entries tell, or adds up a few terms at each of many points."""
    stmts = [node for node in walk(program.body) if isinstance(node, Stmt)]
    if not any(_over_entries(stmt.domain) or _rows(stmt, program.table) for stmt in stmts):
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
            rows = [read for read in _rows(node, program.table) if read.buffer in filled]
            if not rows:
                return (node,)
            changed = True
            context.done(PASS, f"rows of {rows[0].buffer} side by side, in a copy", node.span)
            return _few_terms(node, rows, workspace)
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


def _rows(stmt: Stmt, table: dict[str, Buffer]) -> list[Read]:
    """Reads b[j, k] of a sum over a few k, at each j, if all else that it reads stays where it is or runs along j."""
    dims = stmt.domain
    if len(dims) < 2 or stmt.reduce is not None or not all(isinstance(dim, Dim) and dim.step == 1 for dim in dims):
        return []
    names = {dim.var for dim in dims}
    bounds = [bound for dim in dims if isinstance(dim, Dim) for bound in (dim.lo, dim.hi)]
    if any(True for bound in bounds for _ in reads(bound)) or any(names & free_vars(bound) for bound in bounds):
        return []
    sums = [part for part in subexpressions(stmt.value) if isinstance(part, Reduce)]
    dim = sums[0].dims[0] if len(sums) == 1 and len(sums[0].dims) == 1 else None
    if not isinstance(dim, Dim) or dim.step != 1:
        return []
    few = cost.constant_extent(dim)
    if dim.lo != integer(0) or free_vars(dim.hi) & names or (few is not None and not 1 < few <= TERMS):
        return []
    if any((few := cost.constant_extent(outer)) is not None and few < USES for outer in dims[:1]):
        return []
    value = sums[0].value
    if isinstance(value, Op) and value.op == "mul" and all(isinstance(part, Read) for part in value.args):
        return []  # a product, of which there are other forms
    return _short_rows(value, cost.dense(dims[-1]), dim, stmt.buffer, table)


def _short_rows(value: Expr, lanes: Dim, dim: Dim, target: str, table: dict[str, Buffer]) -> list[Read]:
    lane = lanes.var
    found: list[Read] = []
    for read in dict.fromkeys(reads(value)):
        if lane not in {name for place in read.index for name in free_vars(place)}:
            continue
        if read.index == (Var(lane), Var(dim.var)) and read.buffer != target:
            of = table[read.buffer]
            if any(True for size in of.shape for _ in reads(size)):
                return []
            # All of the copy must be wanted.
            if of.layout is not Layout.C or of.shape != (lanes.hi, dim.hi) or lanes.lo != integer(0):
                return []
            found.append(read)
        elif read.index[-1] != Var(lane) or any(lane in free_vars(place) for place in read.index[:-1]):
            return []
    return found


def _few_terms(stmt: Stmt, rows: list[Read], workspace: Workspace) -> Block:
    """The statement over transposed copies; as it was where sums are long or copies are used too few times."""
    dim = next(part.dims[0] for part in subexpressions(stmt.value) if isinstance(part, Reduce))
    copies: dict[Expr, Read] = {}
    nodes: list[Node] = []
    for read in rows:
        of = workspace.table[read.buffer]
        copy = workspace.new_buffer(f"{read.buffer}_columns", of.type, of.shape[::-1]).name
        j, k = (workspace.new_var(hint) for hint in ("j", "k"))
        whole = Dim(k, integer(0), of.shape[1]), Dim(j, integer(0), of.shape[0])
        fill = Stmt(whole, copy, (Var(k), Var(j)), Read(read.buffer, (Var(j), Var(k)), of.type), None, stmt.span)
        copies[read] = Read(copy, read.index[::-1], of.type)
        nodes += [Alloc(copy), fill]
    instead = replace(stmt, value=rewrite(stmt.value, lambda part: copies.get(part, part)))
    if cost.constant_extent(dim) is not None:
        return (*nodes, instead)
    many = Op("ge", (cost.extent(stmt.domain[0]), integer(USES)), PYBOOL)
    few = Op("le", (cost.extent(dim), integer(TERMS)), PYBOOL)
    return (If(Op("and", (many, few), PYBOOL), (*nodes, instead), renamed((stmt,), workspace.taken), span=stmt.span),)


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
