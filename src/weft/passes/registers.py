"""Rows that are added up in registers.  In: a lowered program; out: loops over the entries of a row, around a vector
loop that adds to the same row of memory each time, as strips of columns whose sums stay in registers.

    vector k in 0 .. n: s[k] = 0;   for p in a[i] .. a[i+1]: vector k in 0 .. n: s[k] = s[k] + e(p, k)
      -->  for b in 0 .. n // 32: { vector k in 0 .. 32: t[k] = 0;
                                    for p in a[i] .. a[i+1]: vector k in 0 .. 32: t[k] = t[k] + e(p, 32 b + k);
                                    vector k in 0 .. 32: s[32 b + k] = t[k] };   then the columns that are left

Every sum has the order it had.
"""

from __future__ import annotations

from dataclasses import replace

from weft.analysis import cost
from weft.analysis.choices import is_short_otherwise
from weft.ir import index as affine_index
from weft.ir.expr import Dim, Expr, Op, Read, Var, integer
from weft.ir.program import Alloc, Block, If, Loop, LoopKind, Node, Program, Role, Stmt
from weft.ir.types import INT, PYBOOL
from weft.ir.verify import Stage
from weft.ir.walk import expr_buffers, free_vars, map_children, map_sub_blocks, reads
from weft.passes import Knows, PassContext, declared
from weft.passes.disjoint import reordered
from weft.passes.scheduling.lower import Workspace
from weft.passes.scheduling.unique import unique_loops

PASS = "registers"
# Columns of a strip: as many sums as registers hold beside what is added to them; then fewer for the columns left.
STRIPS = (32, 8)
# A row of a known number of columns up to this is one strip.
WHOLE = 64


@declared("registers", takes=Stage.LOWERED, after=("store",), reshapes=True, knows=Knows.BESIDE)
def run(program: Program, context: PassContext) -> Program:
    """Every pair of a row set to something and a loop that adds to it."""
    workspace = Workspace.of(program, strict=context.options.fp == "strict")
    changed = False

    def blocks(block: Block) -> Block:
        nonlocal changed
        out: list[Node] = []
        rest = list(block)
        while rest:
            node = rest.pop(0)
            if rest and isinstance(node, Loop) and why_not(node, rest[0], workspace) is None:
                adding = rest.pop(0)
                assert isinstance(adding, Loop)
                out += _strips(node, adding, workspace)
                changed = True
                context.done(PASS, "rows added up in registers", adding.span)
            elif isinstance(node, If) and is_short_otherwise(node):
                out.append(replace(node, then=blocks(node.then)))
            else:
                out.append(map_sub_blocks(node, blocks))
        return tuple(out)

    body = blocks(program.body)
    return reordered(program, unique_loops(body, workspace.new_var), workspace, []) if changed else program


def why_not(start: Node, adding: Node, workspace: Workspace) -> str | None:
    """Why what a loop adds to a row may not stay in registers; None if it may."""
    if not isinstance(start, Loop) or not isinstance(adding, Loop) or adding.kind is not LoopKind.SEQUENTIAL:
        return "not two loops"
    inner = adding.body[0] if len(adding.body) == 1 else None
    first, second = _row(start), _row(inner)
    if first is None or second is None or first.buffer != second.buffer or not isinstance(inner, Loop):
        return "not a row that is set and added to"
    if first.index[:-1] != second.index[:-1] or workspace.table[first.buffer].role is Role.PARAM:
        return "another row, or one that others may see"
    if not isinstance(adding.dim, Dim) or not any(True for e in (adding.dim.lo, adding.dim.hi) for _ in reads(e)):
        return "no length read from memory"
    assert isinstance(start.dim, Dim) and isinstance(inner.dim, Dim)
    if (start.dim.lo, start.dim.hi, start.dim.step) != (inner.dim.lo, inner.dim.hi, 1):
        return "columns that differ"
    bounds = (start.dim.lo, start.dim.hi, *first.index[:-1])
    if any(adding.dim.var in free_vars(e) for e in bounds) or any(expr_buffers(e) & {first.buffer} for e in bounds):
        return "columns that depend on the entry"
    if any(first.buffer in expr_buffers(e) for e in (adding.dim.lo, adding.dim.hi, first.value)):
        return "the row tells how much is added"
    own = [read for read in reads(second.value) if read.buffer == first.buffer]
    if not own or any(read.index != second.index for read in own):
        return "other elements of the row are read"
    few = cost.constant_extent(start.dim)
    return "a single column" if few is not None and few < 2 else None


def _row(node: Node | None) -> Stmt | None:
    """The statement of a vector loop over the last axis of an array."""
    if not isinstance(node, Loop) or node.kind is not LoopKind.VECTOR or node.accumulators or len(node.body) != 1:
        return None
    (stmt,) = node.body
    if not isinstance(stmt, Stmt) or not stmt.index or not isinstance(node.dim, Dim):
        return None
    leading = any(node.dim.var in free_vars(place) for place in stmt.index[:-1])
    return stmt if stmt.index[-1] == Var(node.dim.var) and not leading else None


def _strips(start: Loop, adding: Loop, workspace: Workspace) -> list[Node]:
    assert isinstance(start.dim, Dim)
    low, high = start.dim.lo, start.dim.hi
    few = cost.constant_extent(start.dim)
    if few is not None and few <= WHOLE:
        return _strip(start, adding, low, few, workspace)
    out: list[Node] = []
    for size in STRIPS:
        whole = affine_index.difference(high, low)
        spans = affine_index.sub(high, low)
        count = Op("floordiv", (spans, integer(size)), INT) if whole is None else integer(max(whole, 0) // size)
        block = workspace.new_var("strip")
        begin = affine_index.add(low, affine_index.mul(integer(size), Var(block)))
        body = tuple(_strip(start, adding, begin, size, workspace))
        out.append(Loop(Dim(block, integer(0), count), body, span=start.span))
        reached = count if whole is not None else Op("maximum", (count, integer(0)), INT)
        low = affine_index.add(low, affine_index.mul(integer(size), reached))
    inner = adding.body[0]
    assert isinstance(inner, Loop)
    first, second = (replace(one, dim=Dim(one.dim.var, low, high)) for one in (start, inner))
    rest = (first, replace(adding, body=(second,)))
    if few is not None:
        return [*out, *(rest if few % STRIPS[-1] else ())]
    return [*out, If(Op("lt", (low, high), PYBOOL), rest, (), span=start.span)]


def _strip(start: Loop, adding: Loop, begin: Expr, size: int, workspace: Workspace) -> list[Node]:
    """The columns from `begin` on, as many as `size`, with sums of their own."""
    inner = adding.body[0]
    first, second = _row(start), _row(inner)
    assert first is not None and second is not None and isinstance(inner, Loop)
    row = first.buffer
    sums = workspace.new_buffer(f"{row}_strip", workspace.table[row].type, (integer(size),)).name

    def moved(value: Expr, var: str) -> Expr:
        def visit(expr: Expr) -> Expr:
            if isinstance(expr, Read) and expr.buffer == row:
                return Read(sums, (Var(var),), expr.type)
            return affine_index.add(begin, Var(var)) if expr == Var(var) else map_children(expr, visit)

        return visit(value)

    def columns(loop: Loop, stmt: Stmt) -> Loop:
        var = loop.dim.var
        new = replace(stmt, buffer=sums, index=(Var(var),), value=moved(stmt.value, var))
        return replace(loop, dim=Dim(var, integer(0), integer(size)), body=(new,))

    var = workspace.new_var("column")
    place = (*first.index[:-1], affine_index.add(begin, Var(var)))
    store = Stmt((), row, place, Read(sums, (Var(var),), workspace.table[row].type), None, adding.span)
    return [
        Alloc(sums),
        columns(start, first),
        replace(adding, body=(columns(inner, second),)),
        Loop(Dim(var, integer(0), integer(size)), (store,), LoopKind.VECTOR, span=adding.span),
    ]
