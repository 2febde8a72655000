"""Library calls.  In: statements over domains; out: those that are matrix products, by their meaning and not by their
spelling, as calls of a library routine where the run-time size makes it worth while.

    c[i, j] = beta * c[i, j] + alpha * sum[k] a[i, k] * b[k, j]
      -->  if m * n * k > threshold: gemm(a, b, alpha, beta)  else: the statement as it was
    y[i] = f(sum[k] a[i, k] * x[k])   -->   if ...: gemv into t; y[i] = f(t[i])  else: the statement as it was
    c[i, j] = sum[k] f(a[i, k]) * b[k, j]   -->   if ...: t = f(a); gemm(t, b)  else: the statement as it was
"""

from __future__ import annotations

from dataclasses import field, replace

from weft.analysis import cost
from weft.analysis.intervals import Box, box
from weft.errors import Span
from weft.ir import index as affine_index
from weft.ir.expr import Const, Dim, Domain, Expr, Op, Read, Reduce, Var, integer, real
from weft.ir.program import Alloc, Block, Buffer, Call, If, Loop, LoopKind, Node, Program, Stmt
from weft.ir.types import BOOL, FLOAT, INT, PYBOOL, DType, ScalarType
from weft.ir.walk import (
    free_vars,
    map_block,
    map_children,
    map_sub_blocks,
    node_domain,
    node_exprs,
    reads,
    subexpressions,
    substitute,
    walk,
)
from weft.passes import Knows, PassContext, declared
from weft.passes.matching import branches, deferred, eager, prefix, strips, summands, symmetric, upward, wedges, windows
from weft.passes.matching.prefix import blocks, with_known_parts
from weft.passes.matching.products import (
    DTYPES,
    Product,
    axes_of,
    outer_dims,
    product_of,
    why_not_in_place,
    with_kept,
    with_operands,
)
from weft.passes.matching.symmetric import Symmetric
from weft.passes.matching.triangles import Panels, panels, parts, rowwise, sheared
from weft.passes.rename import renamed
from weft.passes.scheduling.lower import Workspace
from weft.passes.scheduling.rewrite_dims import renamed_domain
from weft.records import dataclass

PASS = "match"
# Multiplications above which a call beats our own loops (a call costs some tens of nanoseconds).
THRESHOLDS = {routine: cost.limit(routine) for routine in ("gemm", "gemv", "dot")}
# The same for products over a triangle, which need a few rows to make a matrix.
PANELS = 60000.0
# Terms of a sum above which half of a symmetric product pays that needs memory of its own, and not panels of it.
TERMS = 256.0
# Terms of sums over earlier iterations above which blocks of iterations pay.
PREFIX = 1000000.0
# Points of updates above which they wait for the end of a block; updates at once are faster than sums over what was
# computed before even where nothing waits.
DEFERRED, EAGER = 150000.0, 2000.0
# Above this the library would split a dot product by its own number of threads: the sum would depend on it.
DOT_LIMIT = 10000.0
# Matrix products up to so many multiplications are computed by one thread of the library: many of them at once do not
# compete for its threads.
SERIAL = 262144.0
CYCLES = 0.25  # of a multiplication and addition in the library
_NAMES = {
    "gemm": "matrix product",
    "gemv": "matrix-vector product",
    "dot": "inner product",
    "syrk": "half of a symmetric product",
}


@declared("match", after=("simplify", "hoist"), knows=Knows.BESIDE)
def run(program: Program, context: PassContext) -> Program:
    """Calls for all products in the program.  Strict floating point keeps the order of the terms, and so the loops."""
    if context.options.fp == "strict":
        return program
    matcher = _Matcher(Workspace.of(program), context)
    body = matcher.block(program.body)
    if body is program.body:
        return program
    return replace(program, body=body, buffers=(*program.buffers, *matcher.workspace.added))


def _one_after_the_other(node: Node) -> Node:
    """Loops that threads share as loops of one of them."""
    if isinstance(node, Loop) and node.kind is LoopKind.PARALLEL:
        node = replace(node, kind=LoopKind.SEQUENTIAL, work=None)
    return map_sub_blocks(node, lambda block: map_block(block, _one_after_the_other))


def _batch_work(product: Product) -> Expr:
    """The cycles of many small products; none to share where the library shares each of them among its own threads."""
    each = cost.points((*product.free, *product.summed))
    whole = cost.times(real(CYCLES), cost.times(each, cost.points(product.batch)))
    alone = Op("le", (each, real(SERIAL)), PYBOOL)
    return Op("select", (alone, whole, real(0.0)), FLOAT)


def _both(left: Expr, right: Expr) -> Expr:
    return Op("and", (left, right), ScalarType(DType.BOOL, left.type.weak and right.type.weak))


def _none_zero(test: Expr, product: Product) -> Expr:
    """The test, and that no factor is zero: the library does not touch what it would multiply, where a NaN may be."""
    for factor in (product.scale, product.keep):
        if factor is not None and not isinstance(factor, Const):
            zero = Const(complex(0.0) if factor.type.dtype.is_complex else 0.0, factor.type)
            test = _both(test, Op("ne", (factor, zero), ScalarType(DType.BOOL, factor.type.weak)))
    return test


# --- the rewrite -----------------------------------------------------------------------------------------------------


@dataclass
class _Extraction:
    """Products taken out of one statement: the nodes before it, when they are worth while, what they are.

    `boxes`: the memory of a product that covers more than the statement's domain.  `diagonals`: also products that
    count on one side of a diagonal alone.
    """

    before: list[Node] = field(default_factory=list)
    tests: list[Expr] = field(default_factory=list)
    products: list[Product] = field(default_factory=list)
    boxes: dict[str, Box] | None = None
    diagonals: bool = False


def _as_read(side: Expr, dims: Domain) -> Domain:
    """Dimensions in the order of the axes of an array that is read along all of them, if there is one."""
    for read in reads(side):
        names = [part.name for part in read.index if isinstance(part, Var)]
        if {dim.var for dim in dims} == {name for name in names if name in {dim.var for dim in dims}}:
            return tuple(sorted(dims, key=lambda dim: names.index(dim.var)))
    return dims


def _dims_of(expr: Expr) -> Domain:
    return expr.dims if isinstance(expr, Reduce) else ()


@dataclass
class _Matcher:
    workspace: Workspace
    context: PassContext
    asked: bool = False  # somebody has asked for the library on the line at hand

    def block(self, block: Block) -> Block:
        changed = False
        nodes: list[Node] = []
        for node in block:
            if isinstance(node, Stmt) and self.left_alone(node):
                nodes.append(node)
            elif isinstance(node, Stmt):
                self.asked = self.context.directives.wants_library(node.span.line)
                turned = rowwise(node)
                new = self.gathered(turned) if node.reduce is not None else self.statement(turned)
                changed = changed or new is not None or turned is not node
                nodes.extend((turned,) if new is None else new)
            else:
                inner = map_sub_blocks(node, self.block)
                split = self.loop(node, inner) if isinstance(node, Loop) and not self.left_alone(node) else None
                changed = changed or inner is not node or split is not None
                nodes.append(inner if split is None else split)
        return tuple(nodes) if changed else block

    def left_alone(self, node: Node) -> bool:
        """Whether somebody has asked for the loops of a node as they are."""
        if not self.context.directives:
            return False
        dims = [dim for inner in walk((node,)) for dim in node_domain(inner)]
        dims += [d for n in walk((node,)) for e in node_exprs(n) for s in subexpressions(e) for d in _dims_of(s)]
        names = tuple(dim.var for dim in dims)
        lines = {inner.span.line for inner in walk((node,)) if isinstance(inner, Stmt)}
        return any(self.context.directives.keeps_loops(line, names) for line in lines)

    def loop(self, loop: Loop, otherwise: Node) -> Node | None:
        """A loop in blocks with matrix products in them, where there is enough to do; None if it has none."""
        nest = upward.upward(loop, self.workspace.new_var) or loop
        by_terms = eager.eager(nest, self.workspace.new_var, self.workspace.table)
        if isinstance(by_terms, str):
            known = self.deferred(nest, (), otherwise, DEFERRED)
        else:
            known = self.deferred(by_terms.loop, by_terms.start, otherwise, EAGER)
        return known or self.prefix(loop, otherwise)

    def deferred(self, loop: Loop, start: Block, otherwise: Node, limit: float) -> Node | None:
        """A loop whose updates are put off to the end of a block of iterations; see `deferred`.  `start`: what is done
        before it."""
        body = tuple(rowwise(node) if isinstance(node, Stmt) else node for node in loop.body)
        split = deferred.deferred(replace(loop, body=body), self.workspace.new_var)
        if isinstance(split, str):
            return None
        after = self.block(renamed(upward.forward_nodes(split.updates), self.workspace.taken))
        if not any(isinstance(node, Call) and node.routine in ("gemm", "syrk") for node in walk(after)):
            return None
        self.context.done(PASS, f"updates put off to the end of blocks of {deferred.ROWS} iterations", loop.span)
        inner = strips.strips(split.inner, self.workspace.new_var)
        near = self.block(upward.forward_nodes((split.inner,) if isinstance(inner, str) else inner))
        body = (*renamed(near, self.workspace.taken), *after)
        rest = renamed(self.block(upward.forward_nodes((split.rest,))), self.workspace.taken)
        size = cost.points((loop.dim, *split.whole))
        test = Op("gt", (size, real(limit)), PYBOOL)
        inside = (*upward.forward_nodes(start), Loop(split.block, body, span=loop.span), *rest)
        return If(test, inside, (otherwise,), span=loop.span)

    def prefix(self, loop: Loop, otherwise: Node) -> Node | None:
        """A loop that sums over its own earlier iterations, in blocks; see `prefix`.  None if it is none."""
        split = blocks(loop, self.workspace.new_var)
        if isinstance(split, str):
            return None
        self.context.done(PASS, f"sums over earlier iterations in blocks of {prefix.ROWS}", loop.span)
        inside: list[Node] = []
        known: dict[Reduce, Expr] = {}
        for total, before, rest in split.parts:
            buffer = self.workspace.new_buffer("known", total.type.strong, (integer(prefix.ROWS),)).name
            # Rows shared among threads here run at the memory's speed; so short a product the library does not share.
            stmt = self._renamed(Stmt((split.upward,), buffer, (split.place(),), before, None, loop.span))
            inside += [Alloc(buffer, span=loop.span), stmt]
            known[total] = Op("add", (Read(buffer, (split.place(),), total.type), rest), total.type)
        body = tuple(with_known_parts(node, known) for node in loop.body if isinstance(node, Stmt))
        inside += renamed((replace(loop, dim=split.rows, body=body),), self.workspace.taken)
        size = cost.points((loop.dim, *split.parts[0][0].dims))
        test = Op("gt", (size, real(PREFIX)), PYBOOL)
        return If(test, (Loop(split.block, tuple(inside), span=loop.span),), (otherwise,), span=loop.span)

    def statement(self, stmt: Stmt) -> Block | None:
        """The statement with its alternatives; None if no product is in it."""
        if not any(isinstance(e, Reduce) for e in subexpressions(stmt.value)):
            return None
        narrowed = branches.narrowed(stmt)
        if narrowed is not None:
            return self.statement(narrowed) or (narrowed,)
        product = product_of(stmt, self.workspace.table)
        if isinstance(product, Product):
            test = self.worthwhile(product)
            return (If(test, self.call(stmt, product), (stmt,), span=stmt.span),)
        return self.inside(stmt) or self.taken_apart(stmt) or self.chosen(stmt) or self.on_both_sides(stmt)

    def chosen(self, stmt: Stmt) -> Block | None:
        """A statement that chooses by place, as what it is on either side, if there is a call; see `branches`."""
        factored = branches.factored(stmt)
        new = None if factored is None else self.statement(factored)
        if new is not None:
            return new
        sides = branches.sides(stmt)
        if isinstance(sides, str):
            return None
        # The second one with names of its own: both are in the program.
        one, other = sides[0], self._renamed(sides[1])
        first, second = self.statement(one), self.statement(other)
        return None if first is None and second is None else (*(first or (one,)), *(second or (other,)))

    def on_both_sides(self, stmt: Stmt) -> Block | None:
        """A statement that chooses between the sides of a diagonal, with sums that are computed on both of them."""
        return self.extracted(stmt, diagonals=True)

    def inside(self, stmt: Stmt) -> Block | None:
        """The statement with calls for what it is made of."""
        plain = self.windowed(stmt) or self.prepared(stmt) or self.extracted(stmt)
        return plain or self.symmetric(stmt) or self.triangular(stmt) or self.wedge(stmt)

    def windowed(self, stmt: Stmt) -> Block | None:
        """A sum over windows of an array, row by row; see `windows`."""
        split = windows.windows(stmt)
        if isinstance(split, str):
            return None
        before, value = self._prepared_outside(split.stmt, split.rows)
        loops, names = renamed_domain(split.outer, self.workspace.new_var)
        one = replace(split.stmt, domain=split.inner, value=value)
        found = _Extraction()
        one = self._substituted(one, names)
        value = self._with_products(one, found)
        if len(found.products) != 1 or found.products[0].routine != "gemm":
            return None
        body: Block = (*found.before, self._renamed(replace(one, value=value)))
        body = map_block(body, _one_after_the_other)  # the rows are what threads share
        for dim in reversed(loops[1:]):
            body = (Loop(dim, body, span=stmt.span),)
        dims = tuple(dim for dim in loops if isinstance(dim, Dim))
        work = _batch_work(replace(found.products[0], batch=(*dims, *found.products[0].batch)))
        body = (*before, Loop(loops[0], body, LoopKind.PARALLEL, work=work, span=stmt.span))
        return (If(found.tests[0], body, (stmt,), span=stmt.span),)

    def taken_apart(self, stmt: Stmt) -> Block | None:
        """A sum of several products as several sums, if each of them is a call."""
        parts = summands.apart(stmt, self.workspace.new_var)
        new = None if parts is None else self.inside(parts)
        if new is None or parts is None:
            return None
        calls = sum(isinstance(node, Call) for node in walk(new))
        return new if calls == sum(isinstance(part, Reduce) for part in subexpressions(parts.value)) else None

    def gathered(self, stmt: Stmt) -> Block | None:
        """Products that are added up in memory as sums, if there is a call for them."""
        whole = summands.gathered(stmt)
        new = None if isinstance(whole, str) else self.statement(whole)
        return new if new is not None and any(isinstance(node, Call) for node in walk(new)) else None

    def prepared(self, stmt: Stmt) -> Block | None:
        """The statement as a matrix product of operands that are computed before; None if it is none."""
        found = self._prepare(stmt, self.workspace.table)
        if found is None:
            return None
        before, whole = found
        product = product_of(whole, self.workspace.table)
        assert isinstance(product, Product)
        test, call = self.worthwhile(product), self.call(whole, product)
        extents = [cost.constant_extent(dim) for dim in (*product.free, *product.summed)]
        if any(extent is not None and extent <= cost.UNROLLED for extent in extents):
            return (If(test, (*before, *call), (stmt,), span=stmt.span),)
        # The loops, too, compute an operand once instead of in every sum.
        return (*before, If(test, call, (whole,), span=stmt.span))

    def _prepare(
        self, stmt: Stmt, table: dict[str, Buffer], known: dict[str, Box] | None = None
    ) -> tuple[list[Node], Stmt] | None:
        """c[i, j] = sum[k] f(a[i, k]) * b[k, j]  -->  t[i, k] = f(a[i, k]);  c[i, j] = sum[k] t[i, k] * b[k, j].

        For matrix products alone: they do more work than computing an operand.  Every term keeps its bits.
        """
        sums = None if stmt.reduce is not None else with_kept(stmt, {dim.var for dim in stmt.domain})
        if sums is None or not isinstance(sums[0].value, Op) or sums[0].value.op != "mul":
            return None
        reduce, terms = sums[0], sums[0].value.args
        operands = [self._operand(side, stmt.domain, reduce.dims, known) for side in terms]
        trial = {f"{position}": made[1] for position, made in enumerate(operands) if made is not None}
        sides = [
            side if made is None else Read(f"{position}", made[0].index, side.type)
            for position, (side, made) in enumerate(zip(terms, operands))
        ]
        found = product_of(with_operands(stmt, reduce, sides), {**table, **trial})
        if not trial or not isinstance(found, Product) or found.routine != "gemm":
            return None
        before: list[Node] = []
        for position, made in enumerate(operands):
            if made is not None:
                computed, shape = made[0], made[1].shape
                name = self.workspace.new_buffer("operand", made[1].type, shape).name
                before += [Alloc(name, span=stmt.span), self._renamed(replace(computed, buffer=name, span=stmt.span))]
                sides[position] = Read(name, computed.index, sides[position].type)
        return before, with_operands(stmt, reduce, sides)

    def _operand(
        self, side: Expr, domain: Domain, summed: Domain, known: dict[str, Box] | None = None
    ) -> tuple[Stmt, Buffer] | None:
        """A factor as a statement that computes it where it varies, and its memory; None for a matrix in memory."""
        dims = tuple(dim for dim in (*domain, *summed) if dim.var in free_vars(side))
        # Several summed dimensions have to lie side by side.
        dims = _as_read(side, dims) if len(summed) == 1 else dims
        boxes = box(dims)
        in_place = isinstance(side, Read) and axes_of(side.index, {dim.var for dim in (*domain, *summed)}) is not None
        if in_place or boxes is None or not dims:
            return None
        boxes = {name: (known or {}).get(name, one) for name, one in boxes.items()}
        index = tuple(affine_index.sub(Var(name), b.lo) for name, b in boxes.items())
        buffer = Buffer("", side.type.strong, tuple(b.size for b in boxes.values()))
        return Stmt(dims, "", index, side), buffer

    def extracted(self, stmt: Stmt, diagonals: bool = False) -> Block | None:
        """y[i] = f(sum[k] a[i, k] * x[k])  -->  t[i] = sum[k] ... as a call;  y[i] = f(t[i]).

        With `diagonals` also of sums that count on one side of a diagonal alone: at most twice as many as needed.
        """
        if stmt.reduce is not None:
            return None
        outer = outer_dims(stmt)
        batch, names = renamed_domain(outer, self.workspace.new_var)
        one = self._substituted(replace(stmt, domain=tuple(dim for dim in stmt.domain if dim not in outer)), names)
        found = _Extraction(diagonals=diagonals)
        value = self._with_products(one, found)
        if not found.before or (diagonals and any(product.routine != "gemm" for product in found.products)):
            return None
        test = found.tests[0]
        for other in found.tests[1:]:
            test = _both(test, other)
        then: Block = (*found.before, self._renamed(replace(one, value=value)))
        for dim in reversed(batch):
            then = (Loop(dim, then, span=stmt.span),)
        return (If(test, then, (stmt,), span=stmt.span),)

    def _with_products(self, stmt: Stmt, found: _Extraction) -> Expr:
        """The value of a statement that reads the products in it from memory."""

        def visit(expr: Expr) -> Expr:
            if isinstance(expr, Op) and expr.op == "select" and not self._on_both_sides(expr, stmt, found):
                return expr  # a branch not taken may read out of bounds
            if isinstance(expr, Reduce):
                return self._own_statement(expr, stmt, found) or expr
            return map_children(expr, visit)

        return visit(stmt.value)

    def _on_both_sides(self, choice: Op, stmt: Stmt, found: _Extraction) -> bool:
        if not found.diagonals or not branches.is_diagonal(choice.args[0], stmt.domain):
            return False
        table = self.workspace.table
        return all(branches.why_not_everywhere(branch, stmt.domain, table) is None for branch in choice.args[1:])

    def symmetric(self, stmt: Stmt) -> Block | None:
        """Half of the product of a matrix with its own transpose; see `symmetric`."""
        for whole in (stmt, sheared(stmt, self.workspace.new_var)):
            half = "" if whole is None else symmetric.symmetric(whole)
            made = None if whole is None or isinstance(half, str) else self._half(whole, half)
            if made is not None:
                test, inside, otherwise = made
                return (If(test, inside, otherwise or (stmt,), span=stmt.span),)
        return None

    def _half(self, stmt: Stmt, half: Symmetric) -> tuple[Expr, Block, Block | None] | None:
        """When half of a symmetric product is worth a call, that call with what is around it, and what is better than
        loops where it is not."""
        before: list[Node] = []
        factor, table = half.factor, self.workspace.table
        made = self._operand(factor, (half.rows,), half.total.dims)
        if made is not None:
            name = self.workspace.new_buffer("operand", made[1].type, made[1].shape).name
            before = [Alloc(name, span=stmt.span), self._renamed(replace(made[0], buffer=name, span=stmt.span))]
            factor = Read(name, made[0].index, factor.type)
        if not isinstance(factor, Read) or table[factor.buffer].type.dtype is not half.total.type.dtype:
            return None
        total = half.product(factor)
        # A square of two rows at least: then the statement, too, reads all of them.
        points = cost.points((*stmt.domain, *total.dims))
        room = Op("gt", (affine_index.sub(half.rows.hi, half.rows.lo), integer(1)), PYBOOL)
        test = _both(Op("gt", (points, real(PANELS)), PYBOOL), room)
        product = half.as_product(factor)
        in_place = symmetric.in_place(stmt, half, table)
        if in_place is not None:
            product = replace(product, scale=in_place[0], keep=in_place[1])
            call = self.call(symmetric.with_total(stmt, half.total, total), product)
            return _none_zero(test, product), (*before, *call), None
        otherwise: Block | None = None
        buffer, index = stmt.buffer, stmt.index
        if not half.whole or why_not_in_place(stmt, half.total, table) is not None:
            # A square to write and to read again: that takes as long as some hundred terms.
            terms = cost.constant_extent(total.dims[0]) if isinstance(total.dims[0], Dim) else None
            if terms is not None and terms <= TERMS:
                return None
            test = _both(test, Op("gt", (cost.points(total.dims), real(TERMS)), PYBOOL))
            otherwise = self.triangular(stmt)
            size = Op("maximum", (affine_index.sub(half.rows.hi, half.rows.lo), integer(0)), INT)
            buffer = self.workspace.new_buffer("syrk_of", total.type.strong, (size, size)).name
            before.append(Alloc(buffer, span=stmt.span))
            index = tuple(affine_index.sub(Var(dim.var), half.rows.lo) for dim in half.domain)
        call = self.call(Stmt(half.domain, buffer, index, total, None, stmt.span), product)
        rest = symmetric.with_total(stmt, half.total, Read(buffer, index, half.total.type))
        return test, (*before, *call, self._renamed(rest)), otherwise

    def triangular(self, stmt: Stmt) -> Block | None:
        """A product over a triangle, panel by panel; see `triangles`."""
        for whole in (stmt, sheared(stmt, self.workspace.new_var)):
            split = "" if whole is None else panels(whole, self.workspace.new_var)
            if whole is None or isinstance(split, str):
                continue
            in_place = self._in_place(whole, split)
            if in_place is not None:
                return (If(in_place[0], in_place[1], (stmt,), span=stmt.span),)
            found = _Extraction(boxes=split.boxes)
            before, value = self._prepared_outside(whole, {split.rows.var})
            one = replace(whole, domain=(split.rows, split.columns), value=value)
            value = self._with_products(one, found)
            if not found.products or any(product.routine != "gemm" for product in found.products):
                continue
            rows = self._renamed(replace(whole, domain=(split.rows, split.inner), value=value))
            size = cost.points((*whole.domain, *found.products[0].summed))
            test = Op("gt", (size, real(PANELS)), PYBOOL)
            inside = (*before, Loop(split.block, (*found.before, rows), span=stmt.span))
            return (If(test, inside, (stmt,), span=stmt.span),)
        return None

    def _in_place(self, stmt: Stmt, split: Panels) -> tuple[Expr, Block] | None:
        """A triangle of one product: where all rows of a panel have a column it is computed in place, and only the
        corners beside that need memory of their own."""
        beside = parts(split)
        if beside is None:
            return None
        before, value = self._prepared_outside(stmt, set())
        rectangle = replace(stmt, domain=(split.rows, beside.rectangle), value=value)
        product = product_of(rectangle, self.workspace.table)
        if not isinstance(product, Product) or product.routine != "gemm" or product.batch:
            return None
        found = _Extraction(boxes=beside.boxes)
        corner = self._with_products(replace(rectangle, domain=(split.rows, beside.corner)), found)
        if len(found.products) != 1 or found.products[0].routine != "gemm":
            return None
        rest = self._renamed(replace(stmt, domain=(split.rows, beside.inner), value=corner))
        body = (*self.call(rectangle, product), *found.before, rest)
        size = cost.points((*stmt.domain, *product.summed))
        test = _none_zero(Op("gt", (size, real(PANELS)), PYBOOL), product)
        return test, (*before, Loop(split.block, body, span=stmt.span))

    def _prepared_outside(self, stmt: Stmt, rows: set[str]) -> tuple[list[Node], Expr]:
        """The operands that all panels of rows share, computed before them, and the value that reads them.

        Over the box around the domain: in a triangle every column of it has a row, and every term too.
        """
        before: list[Node] = []

        def visit(expr: Expr) -> Expr:
            if not isinstance(expr, Reduce) or not isinstance(expr.value, Op) or expr.value.op != "mul":
                return map_children(expr, visit)
            everywhere = (*stmt.domain, *expr.dims)
            boxes = box(everywhere)
            if boxes is None:
                return expr
            hull = tuple(Dim(name, one.lo, affine_index.add(one.lo, one.size)) for name, one in boxes.items())
            inner = hull[-len(expr.dims) :]
            sides = list(expr.value.args)
            for position, side in enumerate(sides):
                made = None if rows & free_vars(side) else self._operand(side, hull[: -len(expr.dims)], inner)
                if made is not None:
                    name = self.workspace.new_buffer("operand", made[1].type, made[1].shape).name
                    computed = replace(made[0], buffer=name, span=stmt.span)
                    before.extend((Alloc(name, span=stmt.span), self._renamed(computed)))
                    sides[position] = Read(name, computed.index, side.type)
            return replace(expr, value=replace(expr.value, args=tuple(sides)))

        return before, visit(stmt.value)

    def wedge(self, stmt: Stmt) -> Block | None:
        """A product whose sums grow from row to row, panel by panel; see `wedges`."""
        plain = wedges.wedge(stmt, self.workspace.new_var)
        if isinstance(plain, str):
            return None
        before, value = self._prepared_outside(stmt, {plain.row.var})
        split = wedges.wedge(replace(stmt, value=value), self.workspace.new_var)
        assert not isinstance(split, str)
        found = _Extraction(boxes=split.boxes)
        value = self._with_products(split.stmt, found)
        if len(found.products) != 1 or found.products[0].routine != "gemm":
            return None
        rows = self._renamed(replace(split.stmt, value=value))
        total = next(part for part in subexpressions(stmt.value) if isinstance(part, Reduce))
        size = cost.points((*stmt.domain, *total.dims))
        flag = self.workspace.new_buffer("finite", BOOL).name
        test = wedges.finite(plain, Op("gt", (size, real(PANELS)), PYBOOL))
        decided = self._renamed(Stmt((), flag, (), test, None, stmt.span))
        inside = (*before, Loop(split.block, (*found.before, rows), span=stmt.span))
        return (decided, If(Read(flag, (), BOOL), inside, (stmt,), span=stmt.span))

    def _own_statement(self, reduce: Reduce, stmt: Stmt, found: _Extraction) -> Expr | None:
        used = free_vars(reduce)
        dims = tuple(dim for dim in stmt.domain if dim.var in used)
        boxes = box(dims) if found.boxes is None else found.boxes
        if boxes is None or not dims or reduce.type.dtype not in DTYPES:
            return None
        shape = tuple(boxes[dim.var].size for dim in dims)
        index = tuple(affine_index.sub(Var(dim.var), boxes[dim.var].lo) for dim in dims)
        trial = Buffer("", reduce.type.strong, shape)
        inner = Stmt(dims, "", index, reduce, None, stmt.span)
        product = product_of(inner, {**self.workspace.table, "": trial})
        if not isinstance(product, Product):
            prepared = self._prepare(inner, {**self.workspace.table, "": trial}, found.boxes)
            if prepared is None:
                return None
            found.before += prepared[0]
            inner = prepared[1]
            product = product_of(inner, {**self.workspace.table, "": trial})
            assert isinstance(product, Product)
        found.tests.append(self.worthwhile(product))
        in_place = found.boxes is None and not found.products and dims == stmt.domain
        if in_place and why_not_in_place(stmt, reduce, self.workspace.table) is None:
            buffer, index = stmt.buffer, stmt.index
        else:
            buffer = self.workspace.new_buffer(f"{product.routine}_of", reduce.type.strong, shape).name
            found.before.append(Alloc(buffer, span=stmt.span))
        found.products.append(product)
        found.before += self.call(replace(inner, buffer=buffer, index=index), product)
        return Read(buffer, index, reduce.type)

    def worthwhile(self, product: Product) -> Expr:
        """Whether the library pays at this size, decided at run time."""
        size = cost.points((*product.free, *product.summed))
        test = cost.exceeds(size, real(0.0) if self.asked else THRESHOLDS[product.routine])
        if product.routine == "dot":
            test = _both(test, Op("lt", (size, real(DOT_LIMIT)), PYBOOL))
        return _none_zero(test, product)

    def call(self, stmt: Stmt, product: Product) -> Block:
        """The call, in loops over the batch; its names are its own, since the statement stays beside it."""
        self._remark(product, stmt.span)
        inner: Domain = product.free
        names: dict[str, Expr] = {}
        batch, own = renamed_domain(product.batch, self.workspace.new_var)
        names |= own
        moved, own = renamed_domain(inner, self.workspace.new_var)
        names |= own
        fresh = self._substituted(replace(stmt, domain=()), names)
        operands = tuple(replace(r, index=tuple(substitute(e, names) for e in r.index)) for r in product.operands)
        # The reads keep the statement's own names of the summed dimensions, renamed with the statement.
        old, new = (next(e for e in subexpressions(s.value) if isinstance(e, Reduce)) for s in (stmt, fresh))
        summed: dict[str, Expr] = {one.var: Var(other.var) for one, other in zip(old.dims, new.dims)}
        operands = tuple(replace(r, index=tuple(substitute(e, summed) for e in r.index)) for r in operands)
        scale = None if product.scale is None else substitute(product.scale, names)
        keep = None if product.keep is None else substitute(product.keep, names)
        body: Block = (Call(product.routine, replace(fresh, domain=moved), operands, scale, keep, span=stmt.span),)
        for dim in reversed(batch[1:]):
            body = (Loop(dim, body, span=stmt.span),)
        if batch:
            body = (Loop(batch[0], body, LoopKind.PARALLEL, work=_batch_work(product), span=stmt.span),)
        return body

    def _renamed(self, stmt: Stmt) -> Stmt:
        domain, names = renamed_domain(stmt.domain, self.workspace.new_var)
        return replace(self._substituted(stmt, names), domain=domain)

    def _substituted(self, stmt: Stmt, names: dict[str, Expr]) -> Stmt:
        """The statement with variables replaced and the dimensions of its Reduces renamed."""

        def visit(expr: Expr) -> Expr:
            if isinstance(expr, Reduce):
                dims, own = renamed_domain(expr.dims, self.workspace.new_var)
                expr = replace(expr, dims=dims, value=substitute(expr.value, own))
            return map_children(expr, visit)

        index = tuple(substitute(e, names) for e in stmt.index)
        return replace(stmt, index=index, value=visit(substitute(stmt.value, names)))

    def _remark(self, product: Product, span: Span) -> None:
        limit = cost.shown(THRESHOLDS.get(product.routine, real(PANELS)))
        name = _NAMES[product.routine]
        self.context.done(PASS, f"{name}: library routine {product.routine} above {limit} multiplications", span)
