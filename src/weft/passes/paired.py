"""Products that share a matrix.  In: a lowered program with library calls; out: a product along the rows of a large
matrix and one down its columns, one right after the other, in a single pass over the matrix.

    t[i] = sum[j] a[i, j] * x[j];  y[j] = sum[i] a[i, j] * t[i]
      -->  parallel block of rows: { part = 0; for four rows at a time: t[i] = sum[j] ...; part[j] += a[i, j] * t[i] };
           y[j] = sum[block] part[j]

Such products wait for memory, and a library reads the matrix for each of them.  Blocks have a size that depends on the
extents alone: so do the results.
"""

from __future__ import annotations

from dataclasses import replace

from weft.analysis import cost
from weft.ir import index as affine_index
from weft.ir.expr import Const, Dim, Expr, Op, Read, Reduce, Var, integer, real
from weft.ir.program import Accumulator, Alloc, Block, Buffer, Call, If, Layout, Loop, LoopKind, Node, Program, Stmt
from weft.ir.types import INT, PYBOOL
from weft.ir.verify import Stage
from weft.ir.walk import (
    buffers_read,
    buffers_written,
    map_sub_blocks,
    reads,
    rewrite,
    subexpressions,
    substitute,
)
from weft.passes import PassContext, declared
from weft.passes.disjoint import apart, reordered
from weft.passes.scheduling.kinds import COLUMNS, neutral, strips
from weft.passes.scheduling.lower import Workspace, identity
from weft.passes.scheduling.unique import unique_loops
from weft.records import dataclass

PASS = "paired"
# A matrix that stays in a shared cache is read fast enough twice.
LEAST_BYTES = float(16 << 20)
# The rows that are read twice, and two vectors, stay in a core's own cache.
ROWS = 4
MOST_ROW_BYTES = float(160 << 10)
# Blocks of rows: enough to share out, few enough to keep what each has summed up.
BLOCKS = 32


@declared("paired", takes=Stage.LOWERED, after=("directed",), reshapes=True)
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
    return reordered(program, body, workspace, pairs)


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
    allocs: Block = ()  # what stands before the product
    tail: Block = ()  # and what is made of its results

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
    if not isinstance(node, If):
        return None
    start = next((at for at, inner in enumerate(node.then) if not isinstance(inner, Alloc)), 0)
    call = node.then[start] if node.then else None
    if not isinstance(call, Call) or call.routine != "gemv" or len(call.stmt.domain) != 1:
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
            around = (node.then[:start], node.then[start + 1 :])
            # A copy of what sets a variable would share it with the original: then it is private to neither.
            if any(table[name].rank == 0 for after in around[1] for name in buffers_written(after)):
                return None
            return Product(node, stmt, sums[0], outer, inner, matrix, by_rows, *around)
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
    needed = second.inputs | _others(second) | {second.stmt.buffer, second.matrix.buffer}
    for node in first.tail:
        if buffers_written(node) & needed or second.stmt.buffer in buffers_read(node):
            return "something is made of the first product before the second"
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


def _plus(expr: Expr, number: int) -> Expr:
    return affine_index.add(expr, integer(number))


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
        first, second = pair.first, pair.second
        joined = (*first.allocs, *second.allocs, *self._one_pass(), *first.tail, *second.tail)
        # The statements after the products are there twice: loops have names of their own.
        joined = unique_loops((first.node, second.node, *joined), self.workspace.new_var)[2:]
        return If(test, joined, (first.node, second.node), span=self.span)

    def _one_pass(self) -> Block:
        count = cost.extent(self.row)
        share = Op("floordiv", (affine_index.add(count, integer(BLOCKS - 1)), integer(BLOCKS)), INT)
        size = Stmt((), self.held.buffer, (), Op("maximum", (share, integer(ROWS)), INT), None, self.span)
        work = cost.times(cost.points((self.row, self.column)), real(2.0))
        clear = Loop(self.column, (self._part(neutral("add", self.of), self.column.var),), LoopKind.VECTOR)
        body = (clear, *(self._chained() if self.pair.chained else self._together()))
        passes = Loop(self.block, body, LoopKind.PARALLEL, work=work, span=self.span)
        return (Alloc(self.parts, span=self.span), size, passes, self._combined())

    def _together(self) -> Block:
        """for rows: one loop for both products of four rows; then the rows that are left, one by one."""
        begin, end, rest = self._bounds()
        several = Dim(self.rows.var, begin, Op("sub", (end, integer(ROWS - 1)), INT), ROWS)
        return (self._loop(several, ROWS, 0, 0), self._loop(self._named(rest, end), 1, 0, 0))

    def _chained(self) -> Block:
        """The columns need the results of the rows: while they take four rows from the cache, the next four come from
        memory for the sums of the rows."""
        begin, end, rest = self._bounds()
        first = self._named(begin, Op("minimum", (_plus(begin, 1), _plus(end, 1 - ROWS)), INT))
        several = replace(self._named(begin, _plus(end, 1 - 2 * ROWS)), step=ROWS)
        last = replace(self._named(Op("maximum", (begin, _plus(rest, -ROWS)), INT), rest), step=ROWS)
        single = self._named(rest, end)
        alone = Loop(single, (*self._rows(1, single.var, 0, None), *self._rows(1, single.var, None, 0)), span=self.span)
        return (
            self._loop(first, ROWS, 0, None),
            self._loop(several, ROWS, ROWS, 0),
            self._loop(last, ROWS, None, 0),
            alone,
        )

    def _bounds(self) -> tuple[Expr, Expr, Expr]:
        """The rows of a block: their begin, their end, and where those begin that are left after the last four."""
        begin, end = self.rows.lo, self.rows.hi
        whole = Op("floordiv", (Op("sub", (end, begin), INT), integer(ROWS)), INT)
        return begin, end, Op("add", (begin, Op("mul", (integer(ROWS), whole), INT)), INT)

    def _named(self, begin: Expr, end: Expr) -> Dim:
        return Dim(self.workspace.new_var(self.rows.var), begin, end)

    def _loop(self, dim: Dim, count: int, sums: int | None, parts: int | None) -> Loop:
        return Loop(dim, self._rows(count, dim.var, sums, parts), span=self.span)

    def _rows(self, count: int, row: str, sums: int | None, parts: int | None) -> Block:
        """In one loop over the columns: sums of `count` rows from row + `sums` on, and of the columns with those from
        row + `parts` on (None: not these)."""
        rows, columns = self.pair.rows, self.pair.columns
        column = replace(self.column, var=self.workspace.new_var(self.column.var))
        before: list[Node] = []
        body: list[Node] = []
        after: list[Node] = []
        accumulators: list[Accumulator] = []
        for offset, name in enumerate(self.sums[:count] if sums is not None else ()):
            place = _plus(Var(row), offset + (sums or 0))
            read = Read(name, (), self.of)
            term = substitute(rows.reduce.value, {rows.outer.var: place, rows.inner.var: Var(column.var)})
            value = _with_sum(rows, Op("add", (identity("add", self.of), read), self.of))
            before.append(Stmt((), name, (), neutral("add", self.of), None, self.span))
            body.append(Stmt((), name, (), Op("add", (read, term), self.of), None, self.span))
            after.append(
                Stmt((), rows.stmt.buffer, (place,), substitute(value, {rows.outer.var: place}), None, self.span)
            )
            accumulators.append(Accumulator(name, "add"))
        if parts is not None:
            total: Expr = self._element(column.var)
            for offset in range(count):
                place = _plus(Var(row), offset + parts)
                names = {columns.inner.var: place, columns.outer.var: Var(column.var)}
                total = Op("add", (total, substitute(columns.reduce.value, names)), self.of)
            body.append(self._part(total, column.var))
        return (*before, Loop(column, tuple(body), LoopKind.VECTOR, tuple(accumulators), span=self.span), *after)

    def _element(self, column: str, block: Expr | None = None) -> Read:
        place = affine_index.sub(Var(column), self.column.lo)
        return Read(self.parts, (Var(self.block.var) if block is None else block, place), self.of)

    def _part(self, value: Expr, column: str) -> Stmt:
        return Stmt((), self.parts, self._element(column).index, value, None, self.span)

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
