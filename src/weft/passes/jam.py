"""Several rows at a time.  In: a lowered program; out: loops that wait for memory, with four of their iterations in one
inner loop.

    for k: vector i: s[i] = s[i] + a[k, i] * t[k]
      -->  for k by 4: vector i: s[i] = s[i] + a[k, i] * t[k] + a[k + 1, i] * t[k + 1] + ...;   then those left

    parallel i: { s = 0; vector j: s = s + a[i, j] * x[j];  y[i] = s }
      -->  parallel block of i: { for i by 4: { s = 0; ...; vector j: { s = s + a[i, j] * x[j];  s2 = ... };  ... };
                                  then those left }

What all four share is loaded once, and memory is read in four places at once.  Every sum has the order it had.
"""

from __future__ import annotations

from dataclasses import replace

from weft.analysis import cost
from weft.analysis.choices import is_short_otherwise
from weft.analysis.first import first_access
from weft.ir import index as affine_index
from weft.ir.expr import Dim, Expr, Limit, Op, Read, Var, integer
from weft.ir.program import Accumulator, Block, If, Loop, LoopKind, Node, Program, Stmt
from weft.ir.types import INT, PYBOOL
from weft.ir.verify import Stage
from weft.ir.walk import (
    buffers_written,
    expr_buffers,
    free_vars,
    map_node_exprs,
    map_sub_blocks,
    node_exprs,
    reads,
    rewrite,
    subexpressions,
    substitute,
    walk,
)
from weft.passes import Knows, PassContext, declared
from weft.passes.disjoint import reordered
from weft.passes.scheduling.kinds import element_instead, strips
from weft.passes.scheduling.lower import Workspace
from weft.passes.scheduling.unique import unique_loops

PASS = "jam"
# Rows at a time: as many streams as memory is read fastest from.
ROWS = 4
# Rows of one block of a parallel loop.
BLOCK = 8
# A row that costs more does not wait for memory.
MOST_CYCLES = 8
# Shorter rows are not worth the trouble.
LEAST_COLUMNS = 256
# A row of so many columns is loaded and stored once for all rows that are added to it.
LEAST_IN_MEMORY = 64


@declared("jam", takes=Stage.LOWERED, after=("store",), reshapes=True, knows=Knows.BESIDE)
def run(program: Program, context: PassContext) -> Program:
    """Every loop over rows that waits for memory."""
    workspace = Workspace.of(program, strict=context.options.fp == "strict")
    changed = False

    def visit(node: Node) -> Block:
        nonlocal changed
        by_limit = isinstance(node, If) and any(isinstance(part, Limit) for part in subexpressions(node.condition))
        if isinstance(node, If) and (by_limit or is_short_otherwise(node)):
            # The other branch is for what is too small for a library.
            return (replace(node, then=blocks(node.then)),)
        if not isinstance(node, Loop):
            return (map_sub_blocks(node, blocks),)
        if why_not_columns(node) is None:
            new = _columns(node)
        elif why_not_rows(node) is None:
            new = _rows(node, workspace)
        else:
            return (map_sub_blocks(node, blocks),)
        changed = True
        context.done(PASS, f"{ROWS} rows at a time", node.span)
        return new

    def blocks(block: Block) -> Block:
        return tuple(new for node in block for new in visit(node))

    body = blocks(program.body)
    return reordered(program, unique_loops(body, workspace.new_var), workspace, []) if changed else program


# --- legality --------------------------------------------------------------------------------------------------------


def why_not_columns(loop: Loop) -> str | None:
    """Why iterations of a loop that adds rows to a row may not be taken together."""
    dim, inner = loop.dim, loop.body[0] if len(loop.body) == 1 else None
    if loop.kind is not LoopKind.SEQUENTIAL or not isinstance(dim, Dim) or dim.step != 1:
        return "not a loop in order that counts up by one"
    if (few := cost.constant_extent(dim)) is not None and few < 2 * ROWS:
        return "few iterations"
    if not isinstance(inner, Loop) or inner.kind is not LoopKind.VECTOR or inner.accumulators:
        return "not one loop in vectors inside"
    if (few := cost.constant_extent(inner.dim)) is not None and few <= LEAST_IN_MEMORY:
        return "a row that stays in registers"
    stmt = inner.body[0] if len(inner.body) == 1 else None
    if not isinstance(stmt, Stmt) or not stmt.index or cost.expr_cycles(stmt.value) > MOST_CYCLES:
        return "not one short assignment to an array"
    if not isinstance(inner.dim, Dim) or dim.var in free_vars(inner.dim.lo) | free_vars(inner.dim.hi):
        return "rows of different lengths"
    if any(True for each in (dim, inner.dim) for bound in (each.lo, each.hi) for _ in reads(bound)):
        return "a length read from memory"
    own = [read for e in node_exprs(stmt) for read in reads(e) if read.buffer == stmt.buffer]
    if any(dim.var in free_vars(position) for position in stmt.index) or not own:
        return "each iteration writes elsewhere"
    if any(read.index != stmt.index for read in own) or any(expr_buffers(position) for position in stmt.index):
        return "it reads other elements of what it writes"
    return None


def why_not_rows(loop: Loop) -> str | None:
    """Why iterations of a PARALLEL loop around a sum may not be taken together."""
    if loop.kind is not LoopKind.PARALLEL or not isinstance(loop.dim, Dim) or loop.dim.step != 1:
        return "not a parallel loop that counts up by one"
    inner = [node for node in loop.body if isinstance(node, Loop)]
    if len(inner) != 1 or not all(isinstance(node, Stmt) for node in loop.body if node is not inner[0]):
        return "not one loop and assignments inside"
    (sums,) = inner
    if sums.kind is not LoopKind.VECTOR or not sums.accumulators or not isinstance(sums.dim, Dim):
        return "not a sum in vectors inside"
    if not all(isinstance(node, Stmt) for node in sums.body):
        return "more than assignments in the sum"
    if any(cost.expr_cycles(node.value) > MOST_CYCLES for node in sums.body if isinstance(node, Stmt)):
        return "the sum does not wait for memory"
    bounds = [bound for dim in (loop.dim, sums.dim) if isinstance(dim, Dim) for bound in (dim.lo, dim.hi)]
    if loop.dim.var in free_vars(sums.dim.lo) | free_vars(sums.dim.hi) or any(True for b in bounds for _ in reads(b)):
        return "rows of different lengths"
    places = [i for node in walk(sums.body) for e in node_exprs(node) for read in reads(e) for i in read.index]
    if not any(loop.dim.var in free_vars(place) for place in places):
        return "all rows add up the same"
    scalars = {node.buffer for node in walk(loop.body) if isinstance(node, Stmt) and not node.index}
    if any(first_access(loop.body, name) != "written" for name in scalars):
        return "a variable from before the row"
    return None


# --- the rewrite -----------------------------------------------------------------------------------------------------


def _whole(dim: Dim) -> Expr:
    """How many iterations there are in groups of ROWS."""
    count = Op("maximum", (affine_index.sub(dim.hi, dim.lo), integer(0)), INT)
    return Op("mul", (integer(ROWS), Op("floordiv", (count, integer(ROWS)), INT)), INT)


def _columns(loop: Loop) -> Block:
    dim, inner = cost.dense(loop.dim), loop.body[0]
    assert isinstance(inner, Loop)
    stmt = inner.body[0]
    assert isinstance(stmt, Stmt)
    value: Expr = stmt.value
    for offset in range(1, ROWS):
        value = _after(value, stmt, dim.var, offset)
    several = replace(inner, body=(replace(stmt, value=value),))
    end = affine_index.add(dim.lo, _whole(dim))
    groups = replace(loop, dim=replace(dim, hi=end, step=ROWS), body=(several,))
    return groups, replace(loop, dim=replace(dim, lo=end))


def _after(before: Expr, stmt: Stmt, variable: str, offset: int) -> Expr:
    """The value of a statement `offset` iterations later, in terms of what it computed in the iteration before."""
    names: dict[str, Expr] = {variable: affine_index.add(Var(variable), integer(offset))}

    def visit(expr: Expr) -> Expr:
        return before if isinstance(expr, Read) and expr.buffer == stmt.buffer else expr

    return rewrite(substitute(stmt.value, names), visit)


def _rows(loop: Loop, workspace: Workspace) -> Block:
    outer, rows = strips(cost.dense(loop.dim), integer(BLOCK), workspace)
    sums = next(node for node in loop.body if isinstance(node, Loop))
    long = Op("ge", (cost.extent(sums.dim), integer(LEAST_COLUMNS)), PYBOOL)
    whole = Op("select", (long, _whole(rows), integer(0)), INT)
    end = Read(workspace.new_buffer("rows_end", INT).name, (), INT)
    held = Stmt((), end.buffer, (), Op("add", (rows.lo, whole), INT), None, loop.span)
    several = Loop(replace(rows, hi=end, step=ROWS), _together(loop, sums, workspace), span=loop.span)
    single = Loop(replace(rows, lo=end), loop.body, span=loop.span)
    return (replace(loop, dim=outer, body=(held, several, single)),)


def _together(loop: Loop, sums: Loop, workspace: Workspace) -> Block:
    """The body for ROWS rows: what is before the sums, one loop for all sums, what is after them."""
    at = loop.body.index(sums)
    before: list[Node] = []
    terms: list[Node] = []
    after: list[Node] = []
    accumulators: list[Accumulator] = []
    for offset in range(ROWS):
        names: dict[str, Expr] = {loop.dim.var: affine_index.add(Var(loop.dim.var), integer(offset))}
        copy: Node = loop
        for name in sorted(name for name in buffers_written(loop) if not workspace.table[name].rank):
            copy = element_instead(copy, name, workspace.new_buffer(name, workspace.table[name].type).name)
        assert isinstance(copy, Loop)
        nodes = [map_node_exprs(node, lambda e, new=names: substitute(e, new)) for node in copy.body]  # type: ignore[misc]
        own = nodes[at]
        assert isinstance(own, Loop)
        before += nodes[:at]
        terms += own.body
        accumulators += own.accumulators
        after += nodes[at + 1 :]
    return (*before, replace(sums, body=tuple(terms), accumulators=tuple(accumulators)), *after)
