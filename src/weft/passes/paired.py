"""Products that share a matrix.  In: a lowered program with library calls; out: a product along the rows of a large
matrix and one down its columns, one right after the other, in a single pass over the matrix.

    t[i] = sum[j] a[i, j] * x[j];  y[j] = sum[i] a[i, j] * t[i]
      -->  parallel block of rows: { part = 0; for four rows at a time: t[i] = sum[j] ...; part[j] += a[i, j] * t[i] };
           y[j] = sum[block] part[j]

Such products wait for memory, and a library reads the matrix for each of them.  Blocks have a size that depends on the
extents alone: so do the results.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from weft.analysis import cost
from weft.ir import index as affine_index
from weft.ir.expr import Const, Dim, Expr, Op, Read, Reduce, Var, integer, real
from weft.ir.program import Accumulator, Alloc, Block, Buffer, Call, If, Layout, Loop, LoopKind, Node, Program, Stmt
from weft.ir.types import INT, PYBOOL
from weft.ir.walk import (
    map_sub_blocks,
    reads,
    rewrite,
    subexpressions,
    substitute,
)
from weft.passes import PassContext
from weft.passes.kinds import COLUMNS, neutral, strips
from weft.passes.lower import Workspace, identity
from weft.passes.trapezoid import apart

PASS = "paired"
# A matrix that stays in a shared cache is read fast enough twice.
LEAST_BYTES = float(16 << 20)
# The rows that are read twice, and two vectors, stay in a core's own cache.
ROWS = 4
MOST_ROW_BYTES = float(160 << 10)
# Blocks of rows: enough to share out, few enough to keep what each has summed up.
BLOCKS = 32


def run(program: Program, context: PassContext) -> Program:
    """Join what can be joined, block by block."""
    if not context.options.parallel:
        return program
    workspace = Workspace.of(program, strict=context.options.fp == "strict")
    pairs: list[tuple[str, str]] = []

    def blocks(block: Block) -> Block:
        nodes = [map_sub_blocks(node, blocks) for node in block]
        at = 0
        while at < len(nodes):
            pair = pair_at(nodes, at, workspace.table)
            if pair is not None:
                context.done(PASS, "both products in one pass over the matrix, if it is large", nodes[at].span)
                joined = _Writer(pair, workspace).node()
                pairs.extend(apart(joined, program))
                nodes[at : pair.end + 1] = [*pair.allocs, joined]
            at += 1
        return tuple(nodes)

    body = blocks(program.body)
    if not workspace.added:
        return program
    known = {frozenset(pair) for pair in program.disjoint}
    new = {frozenset(pair): pair for pair in pairs if frozenset(pair) not in known}
    return replace(
        program,
        body=body,
        buffers=(*program.buffers, *workspace.added),
        disjoint=(*program.disjoint, *new.values()),
    )


# --- legality --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Product:
    """stmt.buffer[outer] = f(sum[inner] e), where e reads matrix[outer, inner] (`by_rows`) or matrix[inner, outer]."""

    node: If
    stmt: Stmt
    reduce: Reduce
    outer: Dim
    inner: Dim
    matrix: Read
    by_rows: bool

    @property
    def inputs(self) -> set[str]:
        """What the terms of the sum read besides the matrix."""
        return {read.buffer for read in reads(self.reduce.value)} - {self.matrix.buffer}


@dataclass(frozen=True)
class Pair:
    """Two products of one matrix, by rows and by columns; `end`: the position of the second in its block."""

    first: Product
    second: Product
    allocs: tuple[Alloc, ...]
    end: int

    @property
    def rows(self) -> Product:
        return self.first if self.first.by_rows else self.second

    @property
    def columns(self) -> Product:
        return self.second if self.first.by_rows else self.first

    @property
    def chained(self) -> bool:
        """Whether the sums down the columns use the results of the rows."""
        return self.rows.stmt.buffer in self.columns.inputs


def product_of(node: Node, table: dict[str, Buffer]) -> Product | None:
    """The matrix-vector product that a node is at the sizes at which a library is called."""
    call = node.then[0] if isinstance(node, If) and len(node.then) == 1 else None
    if not isinstance(node, If) or not isinstance(call, Call) or call.routine != "gemv" or len(call.stmt.domain) != 1:
        return None
    stmt, matrix = call.stmt, call.operands[0]
    sums = [expr for expr in subexpressions(stmt.value) if isinstance(expr, Reduce)]
    if len(sums) != 1 or sums[0].op != "add" or len(sums[0].dims) != 1 or not sums[0].type.dtype.is_float:
        return None
    outer, inner = stmt.domain[0], sums[0].dims[0]
    if not isinstance(outer, Dim) or not isinstance(inner, Dim) or outer.step != 1 or inner.step != 1:
        return None
    if stmt.index != (Var(outer.var),) or table[matrix.buffer].layout is not Layout.C:
        return None
    for by_rows, index in ((True, (outer, inner)), (False, (inner, outer))):
        if matrix.index == tuple(Var(dim.var) for dim in index):
            return Product(node, stmt, sums[0], outer, inner, matrix, by_rows)
    return None


def pair_at(nodes: list[Node], at: int, table: dict[str, Buffer]) -> Pair | None:
    """The pair of products that begins at a position of a block, with nothing but allocations between them."""
    first = product_of(nodes[at], table)
    if first is None:
        return None
    end = at + 1
    while end < len(nodes) and isinstance(nodes[end], Alloc):
        end += 1
    second = product_of(nodes[end], table) if end < len(nodes) else None
    if second is None:
        return None
    allocs = tuple(node for node in nodes[at:end] if isinstance(node, Alloc))
    pair = Pair(first, second, allocs, end)
    return pair if why_not(pair) is None else None


def why_not(pair: Pair) -> str | None:
    """Why two products may not share one pass over the matrix."""
    first, second, rows, columns = pair.first, pair.second, pair.rows, pair.columns
    if first.by_rows == second.by_rows or first.matrix.buffer != second.matrix.buffer:
        return "not the rows and the columns of one matrix"
    if (rows.outer.lo, rows.outer.hi) != (columns.inner.lo, columns.inner.hi):
        return "not the same rows"
    if (rows.inner.lo, rows.inner.hi) != (columns.outer.lo, columns.outer.hi):
        return "not the same columns"
    if any(True for dim in (rows.outer, rows.inner) for bound in (dim.lo, dim.hi) for _ in reads(bound)):
        return "sizes read from memory"
    targets = {rows.stmt.buffer, columns.stmt.buffer}
    if len(targets) != 2 or rows.matrix.buffer in targets:
        return "what is written is not apart"
    if columns.stmt.buffer in rows.inputs | _others(rows) or columns.stmt.buffer in columns.inputs:
        return "the rows need the sums of the columns"
    if rows.stmt.buffer in rows.inputs | _others(columns):
        return "the results of the rows are needed elsewhere"
    if pair.chained:
        own = (Var(columns.inner.var),)
        used = {read.index for read in reads(columns.reduce.value) if read.buffer == rows.stmt.buffer}
        if pair.columns is first or used != {own}:
            return "the columns need other results of the rows"
    return None


def _others(product: Product) -> set[str]:
    """What a product reads outside its sum, its own old value aside."""
    own = Read(product.stmt.buffer, product.stmt.index, product.stmt.value.type)
    outside = (read for read in reads(_with_sum(product, Const(0.0, product.reduce.type))) if read != own)
    return {read.buffer for read in outside}


def _with_sum(product: Product, total: Expr) -> Expr:
    """The value of the statement with its sum replaced."""
    return rewrite(product.stmt.value, lambda expr: total if isinstance(expr, Reduce) else expr)


# --- the rewrite -----------------------------------------------------------------------------------------------------


class _Writer:
    """Writes one joined pair."""

    def __init__(self, pair: Pair, workspace: Workspace) -> None:
        self.pair, self.workspace = pair, workspace
        rows = pair.rows
        # Loops of their own names: the products stay beside them.
        self.row, self.column = (replace(d, var=workspace.new_var(d.var)) for d in (rows.outer, rows.inner))
        self.of = rows.reduce.type
        self.span = pair.first.stmt.span
        self.held = Read(workspace.new_buffer("rows_block", INT).name, (), INT)
        width = cost.extent(self.column)
        self.parts = workspace.new_buffer("parts", pair.columns.reduce.type, (integer(BLOCKS), width)).name
        self.sums = [workspace.new_buffer("row_sum", self.of).name for _ in range(ROWS)]
        self.block, self.rows = strips(self.row, self.held, workspace)

    def node(self) -> If:
        """if the matrix is large: one pass; else: the two products as they were."""
        pair = self.pair
        height, width = (cost.as_float(cost.extent(dim)) for dim in (self.row, self.column))
        row_bytes = cost.times(real(float(self.of.dtype.size)), width)
        test: Expr = Op("gt", (cost.times(height, row_bytes), real(LEAST_BYTES)), PYBOOL)
        many = Op("gt", (height, real(8.0 * BLOCKS)), PYBOOL)
        short = Op("lt", (row_bytes, real(MOST_ROW_BYTES)), PYBOOL)
        for condition in (many, short):
            test = Op("and", (test, condition), PYBOOL)
        return If(test, self._one_pass(), (pair.first.node, pair.second.node), span=self.span)

    def _one_pass(self) -> Block:
        count = cost.extent(self.row)
        share = Op("floordiv", (affine_index.add(count, integer(BLOCKS - 1)), integer(BLOCKS)), INT)
        size = Stmt((), self.held.buffer, (), Op("maximum", (share, integer(ROWS)), INT), None, self.span)
        work = cost.times(cost.points((self.row, self.column)), real(2.0))
        clear = self._over_columns(self._part(neutral("add", self.of)))
        begin, end = self.rows.lo, self.rows.hi
        whole = Op("floordiv", (Op("sub", (end, begin), INT), integer(ROWS)), INT)
        rest = Op("add", (begin, Op("mul", (integer(ROWS), whole), INT)), INT)
        several = Dim(self.rows.var, begin, Op("sub", (end, integer(ROWS - 1)), INT), ROWS)
        single = Dim(self.workspace.new_var(self.rows.var), rest, end)
        body = (
            clear,
            Loop(several, self._rows(ROWS, several.var), span=self.span),
            Loop(single, self._rows(1, single.var), span=self.span),
        )
        passes = Loop(self.block, body, LoopKind.PARALLEL, work=work, span=self.span)
        return (Alloc(self.parts, span=self.span), size, passes, self._combined())

    def _rows(self, count: int, row: str) -> Block:
        """Both products over `count` rows: in one loop, or in two if the second needs the results of the first."""
        rows, columns = self.pair.rows, self.pair.columns
        places = [affine_index.add(Var(row), integer(offset)) for offset in range(count)]
        sums = self.sums[:count]
        column = replace(self.column, var=self.workspace.new_var(self.column.var))
        start = [Stmt((), name, (), neutral("add", self.of), None, self.span) for name in sums]
        adding: list[Node] = []
        for name, place in zip(sums, places):
            term = substitute(rows.reduce.value, {rows.outer.var: place, rows.inner.var: Var(column.var)})
            adding.append(Stmt((), name, (), Op("add", (Read(name, (), self.of), term), self.of), None, self.span))
        stored: list[Node] = []
        for name, place in zip(sums, places):
            total = Op("add", (identity("add", self.of), Read(name, (), self.of)), self.of)
            value = substitute(_with_sum(rows, total), {rows.outer.var: place})
            stored.append(Stmt((), rows.stmt.buffer, (place,), value, None, self.span))

        def more(name: str) -> Expr:
            """The part of a column with these rows added."""
            total: Expr = self._element(name)
            for place in places:
                names: dict[str, Expr] = {columns.inner.var: place, columns.outer.var: Var(name)}
                total = Op("add", (total, substitute(columns.reduce.value, names)), self.of)
            return total

        accumulators = tuple(Accumulator(name, "add") for name in sums)
        if not self.pair.chained:
            body = (*adding, self._part(more(column.var), column.var))
            return (*start, Loop(column, body, LoopKind.VECTOR, accumulators, span=self.span), *stored)
        products = Loop(column, tuple(adding), LoopKind.VECTOR, accumulators, span=self.span)
        again = replace(column, var=self.workspace.new_var(column.var))
        return (*start, products, *stored, self._over_columns(self._part(more(again.var), again.var), again))

    def _element(self, column: str, block: Expr | None = None) -> Read:
        place = affine_index.sub(Var(column), self.column.lo)
        return Read(self.parts, (Var(self.block.var) if block is None else block, place), self.of)

    def _part(self, value: Expr, column: str | None = None) -> Stmt:
        element = self._element(self.column.var if column is None else column)
        return Stmt((), self.parts, element.index, value, None, self.span)

    def _over_columns(self, body: Stmt, column: Dim | None = None) -> Loop:
        return Loop(column or self.column, (body,), LoopKind.VECTOR, span=self.span)

    def _combined(self) -> Loop:
        """parallel strip of columns: { for block: first part += part;  y[j] = f(first part) }."""
        columns = self.pair.columns
        outer, strip = strips(self.column, integer(COLUMNS), self.workspace)
        inner, again = (replace(strip, var=self.workspace.new_var(strip.var)) for _ in range(2))
        block = Dim(self.workspace.new_var(self.block.var), integer(1), self.block.hi)
        first = self._element(again.var, integer(0))
        summed = Op("add", (first, self._element(again.var, Var(block.var))), self.of)
        adding = Loop(again, (Stmt((), self.parts, first.index, summed, None, self.span),), LoopKind.VECTOR)
        total = Op("add", (identity("add", self.of), self._element(inner.var, integer(0))), self.of)
        value = substitute(_with_sum(columns, total), {columns.outer.var: Var(inner.var)})
        store = Stmt((), columns.stmt.buffer, (Var(inner.var),), value, None, self.span)
        body = (Loop(block, (adding,), span=self.span), Loop(inner, (store,), LoopKind.VECTOR, span=self.span))
        work = cost.times(cost.as_float(cost.extent(columns.outer)), real(float(BLOCKS)))
        return Loop(outer, body, LoopKind.PARALLEL, work=work, span=self.span)
