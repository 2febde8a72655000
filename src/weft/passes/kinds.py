"""The kinds of loops.  In: nests whose loops say whether iterations are independent (PARALLEL) or accumulate
(accumulators); out: the outermost independent loops PARALLEL with their work, the innermost VECTOR, all others
SEQUENTIAL.

    for i: s += e(i)   -->   parallel b: { t = 0; vector i in block b: t += e(i); p[b] = t };  for b: s += p[b]

Blocks have a size that depends on the extents alone, never on the number of threads: neither do the results.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from weft.analysis import cost
from weft.ir import index as affine_index
from weft.ir.expr import Dim, Expr, Op, Read, Var, integer
from weft.ir.program import Accumulator, Alloc, Block, If, Loop, LoopKind, Node, Stmt
from weft.ir.types import INT
from weft.ir.walk import (
    buffers_written,
    expr_buffers,
    free_vars,
    map_node_exprs,
    map_sub_blocks,
    node_exprs,
    reads,
    rewrite,
    walk,
)
from weft.passes import PassContext
from weft.passes.lower import Workspace, identity, reduction_operation

PASS = "schedule"
# Elements of one block of a one-dimensional loop: enough to hide the cost of starting it, few enough to balance.
BLOCK = 4096
# A reduction is cut into at most so many blocks: their results then fit a small array on the stack.
MAX_BLOCKS = 64
# Adjacent columns that one thread accumulates over all rows.
COLUMNS = 512
# A loop with fewer iterations than this does not balance over threads if the loop inside can be taken instead.
FEW_ITERATIONS = 8


@dataclass
class Kinds:
    workspace: Workspace
    context: PassContext

    def __post_init__(self) -> None:
        self.concurrent = LoopKind.PARALLEL if self.context.options.parallel else LoopKind.SEQUENTIAL

    def finish(self, block: Block, allowed: bool = True) -> Block:
        """Kinds for every loop of a block; `allowed`: no loop around it is parallel yet."""
        nodes: list[Node] = []
        for node in block:
            nodes.extend(self._loop(node, allowed) if isinstance(node, Loop) else (self._inside(node, allowed),))
        return tuple(nodes)

    def _inside(self, node: Node, allowed: bool) -> Node:
        return map_sub_blocks(node, lambda inner: self.finish(inner, allowed))

    def _loop(self, loop: Loop, allowed: bool) -> Block:
        before, loop, after = self._promoted(loop)
        return (*before, *self._kind(loop, allowed), *after)

    def _kind(self, loop: Loop, allowed: bool) -> Block:
        free = loop.kind is LoopKind.PARALLEL
        if allowed and free:
            return (self._parallel(loop),)
        if allowed and loop.accumulators:
            if self.blocks_reassociation(loop) is None:
                return self._blocked(loop)
            if (columns := self._columns(loop)) is not None:
                return (columns,)
        if is_innermost(loop):
            return (self._vector(loop),)
        body = self.finish(loop.body, allowed)
        return (replace(loop, kind=LoopKind.SEQUENTIAL, accumulators=(), body=body),)

    def _vector(self, loop: Loop) -> Loop:
        """An innermost loop: in vectors if its iterations are independent but for scalar accumulators."""
        free = loop.kind is LoopKind.PARALLEL
        if free or (loop.accumulators and self.blocks_reassociation(loop) is None):
            return replace(loop, kind=LoopKind.VECTOR)
        return replace(loop, kind=LoopKind.SEQUENTIAL, accumulators=())

    def blocks_reassociation(self, loop: Loop) -> str | None:
        """Why the accumulations of a loop must stay in order; None if partial results may be combined."""
        for accumulator in loop.accumulators:
            buffer = self.workspace.table[accumulator.buffer]
            if buffer.rank:
                return "it accumulates into array elements"
            if self.workspace.strict and buffer.type.dtype.is_inexact:
                return "strict floating point keeps the order of the terms"
        return None

    # --- independent iterations -----------------------------------------------------------------------------------

    def _parallel(self, loop: Loop) -> Loop:
        few = cost.constant_extent(loop.dim)
        only = loop.body[0] if len(loop.body) == 1 else None
        if few is not None and few < FEW_ITERATIONS and isinstance(only, Loop) and only.kind is LoopKind.PARALLEL:
            return replace(loop, kind=LoopKind.SEQUENTIAL, body=self.finish(loop.body, True))
        work = cost.work(loop)
        if not is_innermost(loop):
            return replace(loop, kind=self.concurrent, body=self.finish(loop.body, False), work=work)
        outer, inner = strips(cost.dense(loop.dim), integer(BLOCK), self.workspace)
        body = (replace(loop, dim=inner, kind=LoopKind.VECTOR, accumulators=()),)
        return Loop(outer, body, self.concurrent, work=work, span=loop.span)

    def _columns(self, loop: Loop) -> Loop | None:
        """for i: for j: s[j] += e   -->   parallel b: for i: for j in columns b: s[j] += e."""
        only = loop.body[0] if len(loop.body) == 1 else None
        if not isinstance(only, Loop) or only.kind is not LoopKind.PARALLEL or not isinstance(only.dim, Dim):
            return None
        if loop.dim.var in free_vars(only.dim.lo) | free_vars(only.dim.hi):
            return None
        if any(isinstance(node, Alloc) for node in walk(loop.body)):
            return None
        size = COLUMNS if is_innermost(only) else FEW_ITERATIONS
        outer, inner = strips(only.dim, integer(size), self.workspace)
        rows = replace(loop, body=(replace(only, dim=inner),))
        return Loop(outer, self._loop(rows, False), self.concurrent, work=cost.work(loop), span=loop.span)

    # --- reductions -----------------------------------------------------------------------------------------------

    def _promoted(self, loop: Loop) -> tuple[Block, Loop, Block]:
        """for k: t[i] += e   -->   s = t[i];  for k: s += e;  t[i] = s   (t[i] exists, even if no k does)."""
        before: list[Node] = []
        after: list[Node] = []
        for accumulator in loop.accumulators:
            of = self.workspace.table[accumulator.buffer]
            place = self._fixed_place(loop, accumulator.buffer) if of.rank and self.workspace.owns(of.name) else None
            if place is None:
                continue
            local = self.workspace.new_buffer(of.name, of.type).name
            before.append(Stmt((), local, (), Read(of.name, place, of.type), None, loop.span))
            after.append(Stmt((), of.name, place, Read(local, (), of.type), None, loop.span))
            new = scalar_instead(loop, of.name, local)
            assert isinstance(new, Loop)
            loop = new
        return tuple(before), loop, tuple(after)

    def _fixed_place(self, loop: Loop, buffer: str) -> tuple[Expr, ...] | None:
        """The one element of `buffer` that a loop accumulates into; None if it is not one."""
        inner = {loop.dim.var} | {node.dim.var for node in walk(loop.body) if isinstance(node, Loop)}
        places = {node.index for node in walk(loop.body) if isinstance(node, Stmt) and node.buffer == buffer}
        places |= {
            read.index for node in walk((loop,)) for e in node_exprs(node) for read in reads(e) if read.buffer == buffer
        }
        if len(places) != 1:
            return None
        place = places.pop()
        changed = set().union(*(buffers_written(node) for node in loop.body))
        if any(free_vars(e) & inner or expr_buffers(e) & changed for e in place):
            return None
        return place

    # --- reductions in blocks ------------------------------------------------------------------------------------

    def _blocked(self, loop: Loop) -> Block:
        """The reduction of each block of iterations, in parallel, then of the blocks' results, in order."""
        dim, workspace = cost.dense(loop.dim), self.workspace
        count = cost.extent(dim)
        share = Op("floordiv", (affine_index.add(count, integer(MAX_BLOCKS - 1)), integer(MAX_BLOCKS)), INT)
        least = integer(BLOCK if is_innermost(loop) else 1)
        held = workspace.new_buffer("block", INT)
        size = Read(held.name, (), INT)
        outer, inner = strips(dim, size, workspace)
        names: dict[str, str] = {}
        before: list[Node] = [Stmt((), held.name, (), Op("maximum", (share, least), INT), None, loop.span)]
        start: list[Node] = []
        end: list[Node] = []
        combine: list[Node] = []
        again = Var(workspace.new_var(outer.var))
        for accumulator in loop.accumulators:
            of = workspace.table[accumulator.buffer].type
            local = workspace.new_buffer(accumulator.buffer, of).name
            partial = workspace.new_buffer(f"{accumulator.buffer}_parts", of, (integer(MAX_BLOCKS),)).name
            names[accumulator.buffer] = local
            before.append(Alloc(partial))
            start.append(Stmt((), local, (), identity(accumulator.op, of), None, loop.span))
            end.append(Stmt((), partial, (Var(outer.var),), Read(local, (), of), None, loop.span))
            parts = (Read(accumulator.buffer, (), of), Read(partial, (again,), of))
            total = Op(reduction_operation(accumulator.op), parts, of)
            combine.append(Stmt((), accumulator.buffer, (), total, None, loop.span))
        allocs = tuple(node for node in loop.body if isinstance(node, Alloc))
        body = tuple(renamed_buffers(node, names) for node in loop.body if not isinstance(node, Alloc))
        local_sums = tuple(Accumulator(names[a.buffer], a.op) for a in loop.accumulators)
        rest = self._loop(replace(loop, dim=inner, body=body, accumulators=local_sums), False)
        blocks = Loop(outer, (*allocs, *start, *rest, *end), self.concurrent, work=cost.work(loop), span=loop.span)
        return (*before, blocks, Loop(replace(outer, var=again.name), tuple(combine), span=loop.span))


def scalar_instead(node: Node, buffer: str, local: str) -> Node:
    """The node using the scalar `local` wherever it used the one element of `buffer`."""

    def visit(expr: Expr) -> Expr:
        return Read(local, (), expr.of) if isinstance(expr, Read) and expr.buffer == buffer else expr

    def change(old: Node) -> Node:
        if isinstance(old, Stmt) and old.buffer == buffer:
            old = replace(old, buffer=local, index=())
        if isinstance(old, Loop):
            sums = tuple(Accumulator(local, a.op) if a.buffer == buffer else a for a in old.accumulators)
            old = replace(old, accumulators=sums)
        return map_sub_blocks(old, lambda block: tuple(change(n) for n in block))

    return map_node_exprs(change(node), lambda e: rewrite(e, visit))


def is_innermost(loop: Loop) -> bool:
    """Whether the body is straight-line code that a vector unit can follow."""
    plain = (Stmt, If)
    return all(isinstance(node, plain) for node in walk(loop.body))


def strips(dim: Dim, size: Expr, workspace: Workspace) -> tuple[Dim, Dim]:
    """for i in lo .. hi   -->   for b in 0 .. ceil(n / size): for i in lo + b * size .. min(... + size, hi)."""
    count = cost.extent(dim)
    less = affine_index.sub(affine_index.add(count, size), integer(1))
    outer = Dim(workspace.new_var(f"{dim.var}_block"), integer(0), Op("floordiv", (less, size), INT))
    width = size if dim.step == 1 else affine_index.mul(size, integer(dim.step))
    start = affine_index.mul(width, Var(outer.var))
    if dim.lo != integer(0):
        start = affine_index.add(dim.lo, start)
    end = Op("minimum" if dim.step > 0 else "maximum", (affine_index.add(start, width), dim.hi), INT)
    return outer, replace(dim, lo=start, hi=end)


def renamed_buffers(node: Node, names: dict[str, str]) -> Node:
    """The node reading and writing other scalars."""
    for old, new in names.items():
        node = scalar_instead(node, old, new)
    return node
