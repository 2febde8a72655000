"""The kinds of loops.  In: nests whose loops say whether iterations are independent (PARALLEL) or accumulate
(accumulators); out: the outermost independent loops PARALLEL with their work, the innermost VECTOR, all others
SEQUENTIAL.

    for i: s += e(i)   -->   parallel b: { t = 0; vector i in block b: t += e(i); p[b] = t };  for b: s += p[b]

Blocks have a size that depends on the extents alone, never on the number of threads: neither do the results.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from weft.analysis import cost
from weft.analysis.balance import pointer_of
from weft.errors import Span
from weft.ir import index as affine_index
from weft.ir.expr import Const, Dim, Expr, Op, Read, Var, integer, real
from weft.ir.program import Accumulator, Alloc, Block, Buffer, If, Library, Loop, LoopKind, Node, Role, Stmt
from weft.ir.types import FLOAT, INT, PYBOOL, ScalarType
from weft.ir.walk import (
    buffers_read,
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
from weft.passes.scheduling.lower import Workspace, identity, reduction_operation
from weft.records import dataclass

PASS = "schedule"
STRICT = "strict floating point keeps the order of the terms"
# Elements of one block of a one-dimensional loop: enough to hide the cost of starting it, few enough to balance.
BLOCK = 4096
# A reduction is cut into at most so many blocks: their results then fit a small array on the stack.
MAX_BLOCKS = 64
# Adjacent columns that one thread accumulates over all rows.
COLUMNS = 1024
# Partial arrays pay if clearing and adding them costs less than this part of the work.
PARTIAL_SHARE = 4.0
# Arrays for additions at places that data tell, many if they are small: on one thread they are only in the way.
SMALL_PARTS = 16
SCATTER_BLOCKS = 4
SCATTER_SHARE = 12.0
SCATTER_ENTRIES = 24.0  # additions for each of their elements, at least
# So many sequential loops around a single loop make it too short to share.
DEEP = 2
# A loop with fewer iterations than this does not balance over threads if the loop inside can be taken instead.
FEW_ITERATIONS = 8


@dataclass
class Kinds:
    """Decides for one program; `depth` counts the sequential loops of the source around what is decided, `shared` those
    that are parallel already, `filled` names arrays whose elements all have a value."""

    workspace: Workspace
    context: PassContext
    depth: int = 0
    shared: int = 0
    filled: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        self.concurrent = LoopKind.PARALLEL if self.context.options.parallel else LoopKind.SEQUENTIAL

    def work(self, loop: Loop) -> Expr:
        """The work of a loop; one that stands in no other and has its bounds from variables is likely to be long."""
        return cost.work(loop, bounds_known=not self.depth)

    def finish(self, block: Block, allowed: bool = True) -> Block:
        """Kinds for every loop of a block; `allowed`: no loop around it is parallel yet."""
        allowed = allowed and not self.shared
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
        # A single loop inside two others runs often and not for long: sharing it would cost more than it gains.
        allowed = allowed and not (self.depth >= DEEP and is_innermost(loop))
        known = self.work(loop)
        allowed = allowed and not (isinstance(known, Const) and known.value.real < cost.PARALLEL_CYCLES)
        if allowed and free:
            return (self._parallel(loop),)
        if allowed and loop.accumulators:
            reason = self.blocks_reassociation(loop)
            if reason is None and not self.context.options.brief:
                return self._blocked(loop)
            if reason is STRICT:
                self.context.missed(PASS, f"not in parallel: {reason}", loop.span, 'fp="numpy" lets sums be regrouped')
            if reason is not None:
                return self._arrays(loop)
        if is_innermost(loop):
            return (self._vector(loop),)
        body = self.finish(loop.body, allowed)
        return (replace(loop, kind=LoopKind.SEQUENTIAL, accumulators=(), body=body),)

    def _vector(self, loop: Loop) -> Loop:
        """An innermost loop: in vectors if its iterations are independent but for scalar accumulators."""
        free = loop.kind is LoopKind.PARALLEL
        if not self.context.options.auto_simd:
            return replace(loop, kind=LoopKind.SEQUENTIAL, accumulators=())
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
                return STRICT
        return None

    # --- independent iterations -----------------------------------------------------------------------------------

    def _parallel(self, loop: Loop) -> Loop:
        few = cost.constant_extent(loop.dim)
        only = loop.body[0] if len(loop.body) == 1 else None
        if few is not None and few < FEW_ITERATIONS and isinstance(only, Loop) and only.kind is LoopKind.PARALLEL:
            return replace(loop, kind=LoopKind.SEQUENTIAL, body=self.finish(loop.body, True))
        work = self.work(loop)
        if not is_innermost(loop):
            return replace(loop, kind=self.concurrent, body=self.finish(loop.body, False), work=work)
        outer, inner = strips(cost.dense(loop.dim), integer(BLOCK), self.workspace)
        kind = LoopKind.VECTOR if self.context.options.auto_simd else LoopKind.SEQUENTIAL
        body = (replace(loop, dim=inner, kind=kind, accumulators=()),)
        return Loop(outer, body, self.concurrent, work=work, span=loop.span)

    # --- reductions into arrays -----------------------------------------------------------------------------------

    def _arrays(self, loop: Loop) -> Block:
        """An accumulation into arrays: by columns, or by rows into partial arrays, or in order."""
        columns = self._columns(loop)
        ordered = (columns,) if columns is not None else self._in_order(loop)
        if self.why_not_partial(loop) is not None:
            return ordered
        return self.in_parts(loop, ordered, lambda most: self._blocked(loop, most))

    def in_parts(self, loop: Loop, ordered: Block, blocked: Callable[[int], Block]) -> Block:
        """An accumulation into partial arrays, as many as `blocked` is told, where that is worth it."""
        # Partial arrays must be few elements for many iterations, and columns too few to share out.
        sizes = [self._elements(accumulator.buffer) for accumulator in loop.accumulators]
        test: Expr = Op("gt", (cost.as_float(cost.extent(loop.dim)), real(float(MAX_BLOCKS))), PYBOOL)
        for size in sizes:
            limit = cost.times(real(1.0 / PARTIAL_SHARE), self.work(loop))
            small = Op("lt", (cost.times(size, real(float(MAX_BLOCKS))), limit), PYBOOL)
            few = Op("lt", (size, real(2.0 * COLUMNS)), PYBOOL)
            test = Op("and", (test, Op("and", (small, few), PYBOOL)), PYBOOL)
        if not scatters(loop):
            return (If(test, blocked(MAX_BLOCKS), ordered, span=loop.span),)
        ordered = self._few_parts(loop, sizes, ordered, blocked)
        return (If(test, blocked(SMALL_PARTS), ordered, span=loop.span),)

    def _few_parts(self, loop: Loop, sizes: list[Expr], ordered: Block, blocked: Callable[[int], Block]) -> Block:
        """Additions at places that data tell, into a few arrays where there is work enough for each of their elements:
        columns cannot be shared out."""
        worth = self.work(loop)
        test: Expr = Op("gt", (cost.as_float(cost.extent(loop.dim)), real(float(SCATTER_BLOCKS))), PYBOOL)
        for size in sizes:
            least = cost.times(real(SCATTER_BLOCKS * SCATTER_SHARE), size)
            test = Op("and", (test, Op("gt", (worth, least), PYBOOL)), PYBOOL)
            pointer = pointer_of(loop, lambda name: self.workspace.table[name])
            if pointer is not None and isinstance(loop.dim, Dim):  # it tells how many additions there are
                of = self.workspace.table[pointer].type
                ends = [cost.as_float(Read(pointer, (bound,), of)) for bound in (loop.dim.hi, loop.dim.lo)]
                many = Op("gt", (Op("sub", tuple(ends), FLOAT), cost.times(real(SCATTER_ENTRIES), size)), PYBOOL)
                test = Op("and", (test, many), PYBOOL)
        return (If(test, blocked(SCATTER_BLOCKS), ordered, span=loop.span),)

    def _elements(self, buffer: str) -> Expr:
        total: Expr = real(1.0)
        for size in self.workspace.table[buffer].shape:
            total = cost.times(total, cost.as_float(size))
        return total

    def why_not_partial(self, loop: Loop) -> str | None:
        """Why an accumulation into arrays may not be cut into partial ones."""
        for accumulator in loop.accumulators:
            buffer = self.workspace.table[accumulator.buffer]
            if self.workspace.strict and buffer.type.dtype.is_inexact:
                return STRICT
            if any(True for size in buffer.shape for _ in reads(size)):
                return "the size of the array is read from memory"
            if _only_part(loop, buffer):
                return "each partial array would be larger than what is added to"
            if buffer.role is not Role.PARAM and buffer.name not in self.filled and not _covers(loop, buffer):
                return "some elements of the array may have no value yet"
        return None

    def _in_order(self, loop: Loop) -> Block:
        if is_innermost(loop):
            return (self._vector(loop),)
        return (replace(loop, kind=LoopKind.SEQUENTIAL, accumulators=(), body=self.finish(loop.body, True)),)

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
        return Loop(outer, self._loop(rows, False), self.concurrent, work=self.work(loop), span=loop.span)

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
            new = element_instead(loop, of.name, local)
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
        whole = any(isinstance(n, Library) and buffer in buffers_read(n) | buffers_written(n) for n in walk(loop.body))
        if len(places) != 1 or whole:
            return None
        place = places.pop()
        changed = set().union(*(buffers_written(node) for node in loop.body))
        if any(free_vars(e) & inner or expr_buffers(e) & changed for e in place):
            return None
        return place

    # --- reductions in blocks ------------------------------------------------------------------------------------

    def _blocked(self, loop: Loop, most: int = MAX_BLOCKS) -> Block:
        """The reduction of each block of iterations, in parallel, then of the blocks' results, in order."""
        dim, workspace = cost.dense(loop.dim), self.workspace
        count = cost.extent(dim)
        share = Op("floordiv", (affine_index.add(count, integer(most - 1)), integer(most)), INT)
        arrays = any(workspace.table[a.buffer].rank for a in loop.accumulators)
        least = integer(BLOCK if is_innermost(loop) and not arrays else 1)
        held = workspace.new_buffer("block", INT)
        outer, inner = strips(dim, Read(held.name, (), INT), workspace)
        before: list[Node] = [Stmt((), held.name, (), Op("maximum", (share, least), INT), None, loop.span)]
        start: list[Node] = []
        end: list[Node] = []
        combine: list[Node] = []
        body: Block = tuple(node for node in loop.body if not isinstance(node, Alloc))
        rest = replace(loop, dim=inner, body=body)
        for accumulator in loop.accumulators:
            parts = self.parts(accumulator, outer.var, loop.span, most)
            before.append(Alloc(parts.buffer))
            start.extend(parts.start)
            end.extend(parts.end)
            combine.extend(parts.combine)
            new = element_instead(rest, accumulator.buffer, parts.local, parts.place)
            assert isinstance(new, Loop)
            rest = new
        allocs = tuple(node for node in loop.body if isinstance(node, Alloc))
        inside = (*allocs, *start, *self._loop(rest, False), *end)
        blocks = Loop(outer, inside, self.concurrent, work=self.work(loop), span=loop.span)
        return (*before, blocks, Loop(outer, tuple(combine), span=loop.span))

    def parts(self, accumulator: Accumulator, block: str, span: Span, most: int = MAX_BLOCKS) -> _Parts:
        """Where a block accumulates: a scalar that is stored at its end, or a row of an array of partial results."""
        workspace, op = self.workspace, reduction_operation(accumulator.op)
        target = workspace.table[accumulator.buffer]
        of, zero = target.type, neutral(accumulator.op, target.type)
        shape = (integer(most), *target.shape)
        buffer = workspace.new_buffer(f"{target.name}_parts", of, shape).name
        dims = tuple(Dim(workspace.new_var(f"e{axis}"), integer(0), size) for axis, size in enumerate(target.shape))
        element = tuple(Var(dim.var) for dim in dims)
        here = (Var(block), *element)
        sums = (Read(target.name, element, of), Read(buffer, here, of))
        combine: Block = (Stmt((), target.name, element, Op(op, sums, of), None, span),)
        if target.rank == 0:
            local = workspace.new_buffer(target.name, of).name
            start: Block = (Stmt((), local, (), zero, None, span),)
            return _Parts(buffer, local, (), start, (Stmt((), buffer, here, Read(local, (), of), None, span),), combine)
        start = (Stmt((), buffer, here, zero, None, span),)
        for dim in reversed(dims):
            kind = LoopKind.VECTOR if dim is dims[-1] else LoopKind.SEQUENTIAL
            start, combine = (Loop(dim, start, kind),), (Loop(dim, combine, kind),)
        return _Parts(buffer, buffer, (Var(block),), start, (), combine)


@dataclass(frozen=True)
class _Parts:
    """The partial results of one accumulator: their buffer; what a block accumulates into (`local`, its element
    preceded by `place`); what runs at the start and the end of a block, and after all blocks for each."""

    buffer: str
    local: str
    place: tuple[Expr, ...]
    start: Block
    end: Block
    combine: Block


def scatters(loop: Loop) -> bool:
    """Whether a loop accumulates at places that it reads from memory."""
    names = {accumulator.buffer for accumulator in loop.accumulators}
    return any(
        isinstance(node, Stmt) and node.buffer in names and any(expr_buffers(place) for place in node.index)
        for node in walk(loop.body)
    )


def _only_part(loop: Loop, buffer: Buffer) -> bool:
    """Whether a loop accumulates at one position of some axis of an array."""
    inner = {loop.dim.var} | {node.dim.var for node in walk(loop.body) if isinstance(node, Loop)}
    places = [node.index for node in walk(loop.body) if isinstance(node, Stmt) and node.buffer == buffer.name]
    fixed = [
        all(not free_vars(place[axis]) & inner and not expr_buffers(place[axis]) for place in places)
        for axis in range(buffer.rank)
    ]
    return any(alone and size != integer(1) for alone, size in zip(fixed, buffer.shape))


def _covers(loop: Loop, buffer: Buffer) -> bool:
    """Whether a loop accumulates into every element of a vector, so that all have been set before."""
    only = loop.body[0] if len(loop.body) == 1 else None
    if not isinstance(only, Loop) or not isinstance(only.dim, Dim) or buffer.rank != 1:
        return False
    indices = {node.index for node in only.body if isinstance(node, Stmt) and node.buffer == buffer.name}
    whole = only.dim.lo == integer(0) and only.dim.hi == buffer.shape[0] and only.dim.step == 1
    return whole and indices == {(Var(only.dim.var),)}


def neutral(op: str, of: ScalarType) -> Const:
    """What changes nothing when it is combined: for sums -0.0, since -0.0 + 0.0 is 0.0."""
    if op == "add" and of.dtype.is_inexact:
        return Const(complex(-0.0, -0.0) if of.dtype.is_complex else -0.0, of)
    return identity(op, of)


def element_instead(node: Node, buffer: str, other: str, place: tuple[Expr, ...] | None = None) -> Node:
    """The node using `other` instead of `buffer`: at the same index after `place`, or (None) as a scalar."""

    def moved(index: tuple[Expr, ...]) -> tuple[Expr, ...]:
        return () if place is None else (*place, *index)

    def visit(expr: Expr) -> Expr:
        if isinstance(expr, Read) and expr.buffer == buffer:
            return replace(expr, buffer=other, index=moved(expr.index))
        return expr

    def change(old: Node) -> Node:
        if isinstance(old, Stmt) and old.buffer == buffer:
            old = replace(old, buffer=other, index=moved(old.index))
        if isinstance(old, Loop):
            sums = tuple(Accumulator(other, a.op) if a.buffer == buffer else a for a in old.accumulators)
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
    less = affine_index.add(count, affine_index.sub(size, integer(1)))
    outer = Dim(workspace.new_var(f"{dim.var}_block"), integer(0), Op("floordiv", (less, size), INT))
    width = size if dim.step == 1 else affine_index.mul(size, integer(dim.step))
    start = affine_index.mul(width, Var(outer.var))
    if dim.lo != integer(0):
        start = affine_index.add(dim.lo, start)
    end = Op("minimum" if dim.step > 0 else "maximum", (affine_index.add(start, width), dim.hi), INT)
    return outer, replace(dim, lo=start, hi=end)
