"""Scans in blocks.  In: a scan whose terms may be regrouped; out: loops over blocks of its iterations, in parallel.

    for i: { s = s + x[i];  y[i] = s }
      -->  parallel b: p[b] = sum[i in block b] x[i]
           for b: { t = p[b];  p[b] = s;  s = s + t }
           parallel b: { t = p[b];  for i in block b: { t = t + x[i];  y[i] = t } }

The totals of blocks first, then what each block begins with, then the loop itself for each.  A round is as many blocks
as stay in the caches between the two passes over them.  Blocks have one size, whatever the number of threads.  An
extreme of floats that is zero or NaN is looked for once more in order: vectors do not tell which of several equal terms
they have kept.  A value that needs other running values is totalled when it is known what those begin with.
"""

from __future__ import annotations

from dataclasses import replace

from weft.analysis import cost
from weft.ir.expr import Const, Dim, Expr, Op, Read, Reduce, Var, integer, real
from weft.ir.program import Alloc, Block, Buffer, If, Loop, LoopKind, Node, Stmt
from weft.ir.types import BOOL, PYBOOL
from weft.ir.walk import buffers_written, rename_buffers, rewrite
from weft.passes.scheduling.kinds import BLOCK, MAX_BLOCKS, neutral, strips
from weft.passes.scheduling.lower import Workspace, reduction_operation
from weft.passes.scheduling.scans import Running, Scan
from weft.passes.simplifying.algebra import as_type
from weft.records import dataclass

# Blocks below this number are over before they are worth a second pass over the terms.
LEAST_BLOCKS = 4
# So much more work than for a parallel loop, since threads meet twice.
MORE_WORK = 4.0


def worth_blocks(scan: Scan, work: Expr, rounded: bool) -> Expr | None:
    """The condition under which blocks pay for a loop of this work, None if they never do.

    `rounded`: the blocks may be seen in the result, so that the number of threads must not decide.
    """
    if isinstance(work, Const) and work.value.real < MORE_WORK * cost.PARALLEL_CYCLES:
        return None
    count = cost.as_float(cost.extent(scan.loop.dim))
    many = Op("gt", (count, real(float(LEAST_BLOCKS * BLOCK))), PYBOOL)
    if rounded and any(one.of.dtype.is_inexact and not one.ordered for one in scan.running):
        return many
    enough = cost.exceeds(work, cost.times(real(MORE_WORK), cost.limit("parallel")))
    several = Op("gt", (cost.limit("threads"), real(1.0)), PYBOOL)
    return Op("and", (several, Op("and", (many, enough), PYBOOL)), PYBOOL)


def in_blocks(scan: Scan, workspace: Workspace, work: Expr) -> Block:
    """The scan in blocks, not yet lowered; `work` is that of the loop."""
    rounds, window = strips(cost.dense(scan.loop.dim), integer(MAX_BLOCKS * BLOCK), workspace)
    outer, inner = strips(window, integer(BLOCK), workspace)
    writer = _Writer(scan, workspace, work, outer, inner)
    body = writer.nodes()
    allocs = tuple(Alloc(parts.name) for parts in writer.starts.values())
    return (*scan.first, *allocs, Loop(rounds, body, span=scan.loop.span))


@dataclass
class _Writer:
    scan: Scan
    workspace: Workspace
    work: Expr
    outer: Dim
    inner: Dim

    def __post_init__(self) -> None:
        self.span = self.scan.loop.span
        self.by_name = {one.name: one for one in self.scan.running}
        self.starts: dict[str, Buffer] = {}

    def nodes(self) -> Block:
        """One round."""
        nodes: list[Node] = []
        for one in self.scan.running:
            parts = self.workspace.new_buffer(f"{one.name}_parts", one.total, (integer(MAX_BLOCKS),))
            self.starts[one.name] = parts
            nodes += [self.parallel(self.totals(one, parts)), self.beginnings(one, parts)]
        return (*nodes, self.parallel(self.again()))

    def parallel(self, body: Block) -> Loop:
        return Loop(self.outer, body, LoopKind.PARALLEL, work=self.work, span=self.span)

    def assign(self, buffer: str, value: Expr, *place: Expr) -> Stmt:
        return Stmt((), buffer, place, value, None, self.span)

    def part(self, parts: Buffer) -> Read:
        return Read(parts.name, (Var(self.outer.var),), parts.type)

    def totals(self, one: Running, parts: Buffer) -> Block:
        """The total of the terms of a block."""
        here = self.part(parts)
        if one.needs:
            return self.in_order(one, here)
        total = Reduce(one.op, (self.inner,), as_type(one.term, one.total), self.span)
        whole = self.assign(parts.name, total, *here.index)
        if not one.ordered:
            return (whole,)
        zero = Op("eq", (here, Const(0.0, one.total)), BOOL)
        undecided = Op("or", (zero, Op("isnan", (here,), BOOL)), BOOL)
        return (whole, If(undecided, self.in_order(one, here), span=self.span))

    def in_order(self, one: Running, here: Read) -> Block:
        """The total of a block, term by term, beside the values that the terms need."""
        total = self.workspace.new_buffer(one.name, one.total)
        before = [self.assign(total.name, neutral(one.op, one.total))]
        needed = [other for other in self.scan.running if other.name in one.needs]
        copies: dict[str, Buffer] = {other.name: self.copy(other, before) for other in needed}

        def visit(expr: Expr) -> Expr:
            copied = copies.get(expr.buffer) if isinstance(expr, Read) else None
            return expr if copied is None else Read(copied.name, (), copied.type)

        sofar = Read(total.name, (), total.type)
        if one.ordered:
            alone = {one.name: total}
            value = rewrite(one.value, lambda e: _renamed(visit(e), alone))
        else:
            terms = (sofar, rewrite(as_type(one.term, one.total), visit))
            value = Op(reduction_operation(one.op), terms, one.total)
        # Values are in terms of what the iteration began with: what needs most goes first.
        body = [self.assign(total.name, value)]
        body += [self.assign(copies[other.name].name, rewrite(other.value, visit)) for other in reversed(needed)]
        end = self.assign(here.buffer, sofar, *here.index)
        return (*before, Loop(self.inner, tuple(body), span=self.span), end)

    def copy(self, one: Running, before: list[Stmt]) -> Buffer:
        """A variable of the block's own, which holds what the block begins with."""
        copied = self.workspace.new_buffer(one.name, one.of)
        before.append(self.assign(copied.name, as_type(self.part(self.starts[one.name]), one.of)))
        return copied

    def beginnings(self, one: Running, parts: Buffer) -> Loop:
        """What each block begins with in place of its total; the variable ends as it does in the source."""
        total = self.workspace.new_buffer(f"{one.name}_part", one.total)
        here, value = self.part(parts), Read(one.name, (), one.of)
        body = (
            self.assign(total.name, here),
            self.assign(parts.name, as_type(value, one.total), *here.index),
            self.assign(one.name, one.combined(value, Read(total.name, (), one.total))),
        )
        return Loop(self.outer, body, span=self.span)

    def again(self) -> Block:
        """The loop itself over one block, with variables of the block's own."""
        before: list[Stmt] = []
        loop: Node = replace(self.scan.loop, dim=self.inner, kind=LoopKind.SEQUENTIAL, work=None)
        names = {one.name: self.copy(one, before).name for one in self.scan.running}
        for name in sorted(buffers_written(loop) - names.keys()):
            buffer = self.workspace.table[name]
            if not buffer.rank:
                names[name] = self.workspace.new_buffer(name, buffer.type).name
        return (*before, rename_buffers(loop, names))


def _renamed(expr: Expr, names: dict[str, Buffer]) -> Expr:
    other = names.get(expr.buffer) if isinstance(expr, Read) else None
    return expr if other is None else Read(other.name, (), other.type)
