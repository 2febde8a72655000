"""Sums abreast.  In: a lowered program; out: independent iterations that each add up something along a loop of their
own, taken side by side in vectors where memory runs along them.

    for j: { s = 0;  for a: for b in j .. j + m: s = s + x[a, b] * w[a, b - j];  y[j] = s }
      -->  for strip of 32 j: { vector l: t[l] = 0;
                                for a: for b in 0 .. m: vector l: t[l] = t[l] + x[a, j + l + b] * w[a, b];
                                vector l: y[j + l] = t[l] };   then strips of 8, then the iterations that are left

A window of a few elements is no vector, and a long one need not be added up across lanes in the end.  Every sum has the
order of the source, wherever its iteration stands.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from weft.analysis import cost
from weft.analysis.choices import is_short_otherwise
from weft.analysis.first import first_access
from weft.ir import index as affine_index
from weft.ir.expr import Dim, Expr, Op, Read, Var, integer
from weft.ir.index import affine
from weft.ir.program import Alloc, Block, Buffer, If, Layout, Loop, LoopKind, Node, Program, Stmt
from weft.ir.types import INT, PYBOOL
from weft.ir.verify import Stage
from weft.ir.walk import (
    buffers_read,
    buffers_written,
    expr_buffers,
    free_vars,
    map_node_exprs,
    map_sub_blocks,
    mentions,
    node_exprs,
    reads,
    rewrite,
    sub_blocks,
    substitute,
    walk,
)
from weft.passes import Knows, PassContext, declared
from weft.passes.disjoint import Pair, apart, reordered
from weft.passes.scheduling.independent import outputs, why_not_independent
from weft.passes.scheduling.kinds import element_instead, strips
from weft.passes.scheduling.lower import Workspace
from weft.passes.scheduling.unique import unique_loops
from weft.records import dataclass

PASS = "abreast"
# Bytes of the sums of one strip, as many as registers hold; and of a smaller one for what is left of them.
STRIPS = (256, 64)
# The registers hold so many sums of an iteration.
MOST_SUMS = 4


@declared("abreast", takes=Stage.LOWERED, after=("lanes",), reshapes=True, knows=Knows.BESIDE)
def run(program: Program, context: PassContext) -> Program:
    """Every loop around sums along which memory runs."""
    if not any(isinstance(node, Loop) and _is_sum(node) for node in walk(program.body)):
        return program
    workspace = Workspace.of(program, strict=context.options.fp == "strict")
    counts, results = mentions(program.body, allocations=False), outputs(program)
    pairs: list[Pair] = []

    def outside(loop: Loop) -> set[str]:
        inside = mentions((loop,), allocations=False)
        return {name for name, count in counts.items() if count > inside.get(name, 0)} | results

    def visit(node: Node) -> Block:
        if isinstance(node, Loop) and why_not(node, workspace.table) is None:
            if why_not_independent(node, program, outside(node)) is None:
                pairs.extend(apart(node, program))
                context.done(PASS, "sums side by side", node.span)
                return _Writer(node, workspace).nodes()
        if isinstance(node, If) and is_short_otherwise(node):
            return (replace(node, then=blocks(node.then)),)
        return (map_sub_blocks(node, blocks),)

    def blocks(block: Block) -> Block:
        return tuple(new for node in block for new in visit(node))

    body = unique_loops(blocks(program.body), workspace.new_var)
    return reordered(program, body, workspace, pairs) if workspace.added else program


# --- legality --------------------------------------------------------------------------------------------------------


def why_not(loop: Loop, table: dict[str, Buffer]) -> str | None:
    """Why the iterations of a loop, if they are independent, do not go side by side."""
    dim = loop.dim
    if not isinstance(dim, Dim) or dim.step != 1 or loop.accumulators:
        return "the loop does not count up by one"
    if loop.kind not in (LoopKind.SEQUENTIAL, LoopKind.PARALLEL):
        return "vectors already"
    if any(True for bound in (dim.lo, dim.hi) for _ in reads(bound)):
        return "its length is read from memory"
    inner = [node for node in loop.body if isinstance(node, Loop)]
    if not inner or not all(isinstance(node, (Stmt, Loop)) for node in loop.body):
        return "more than sums and assignments in it"
    if not any(_is_sum(node) for node in walk(tuple(inner))):
        return "no sum in it"
    few = cost.constant_extent(dim)
    if few is not None and few < STRIPS[-1] // 8:
        return "a few iterations"
    written = buffers_written(loop)
    for node in inner:
        reason = _why_not_inside(node, dim.var, written, table)
        if reason is not None:
            return reason
    if not all(_is_plain(node) for node in loop.body if isinstance(node, Stmt)):
        return "numbers that may leave 64 bits"
    if sum(not table[name].rank for name in _carried(loop)) > MOST_SUMS:
        return "more sums than registers"
    return None if any(_runs_along(inner, dim.var, table)) else "memory does not run along the iterations"


def _is_sum(node: Node) -> bool:
    """Whether a node is a loop that adds up something, or the like, in vectors."""
    return isinstance(node, Loop) and node.kind is LoopKind.VECTOR and bool(node.accumulators)


def _is_plain(stmt: Stmt) -> bool:
    return not (stmt.domain or stmt.reduce or stmt.value.type == INT)


def _why_not_inside(node: Node, lane: str, written: set[str], table: dict[str, Buffer]) -> str | None:
    if isinstance(node, Stmt):
        if not _is_plain(node):
            return "numbers that may leave 64 bits"
        return "a row that is added to" if node.index else None
    if not isinstance(node, Loop) or not isinstance(node.dim, Dim) or node.kind is LoopKind.PARALLEL:
        return "more than assignments in the sum"
    extent = affine_index.sub(node.dim.hi, node.dim.lo)
    if node.dim.step != 1 or lane in free_vars(extent) or any(expr_buffers(e) for e in (node.dim.lo, node.dim.hi)):
        return "sums of different lengths"
    for inner in node.body:
        reason = _why_not_inside(inner, lane, written, table)
        if reason is not None:
            return reason
    return None


def _runs_along(inner: list[Loop], lane: str, table: dict[str, Buffer]) -> Iterator[bool]:
    """Of each array that sums look at: whether its elements stand side by side along the lanes.  Nothing if one of them
    goes otherwise."""
    found: list[bool] = []
    for loop in inner:
        starts = {lane: integer(0)} | {d.var: d.lo for d in _dims(loop)}
        for read in {read for node in walk((loop,)) for e in node_exprs(node) for read in reads(e) if read.index}:
            goes = [_step(place, lane, starts) for place in read.index]
            adjacent = {Layout.C: len(goes) - 1, Layout.F: 0}.get(table[read.buffer].layout)
            if any(step is None for step in goes) or any(goes[a] for a in range(len(goes)) if a != adjacent):
                return
            if adjacent is not None and goes[adjacent] not in (0, 1):
                return
            found.append(adjacent is not None and goes[adjacent] == 1)
    yield from found


def _dims(loop: Loop) -> list[Dim]:
    return [node.dim for node in walk((loop,)) if isinstance(node, Loop) and isinstance(node.dim, Dim)]


def _step(place: Expr, lane: str, starts: dict[str, Expr]) -> int | None:
    """By how much an index grows with the lane, also by where the loops inside start; None if it is not linear."""
    form = affine(place)
    if form is None or expr_buffers(place):
        return None if lane in free_vars(place) or expr_buffers(place) or _reached(place, lane, starts) else 0
    step = form.coefficient(lane)
    for name in form.names - {lane}:
        if name in starts:
            inner = _step(starts[name], lane, starts)
            if inner is None:
                return None
            step += form.coefficient(name) * inner
    return step


def _reached(place: Expr, lane: str, starts: dict[str, Expr]) -> bool:
    """Whether a place depends on the lane by where a loop starts."""
    return any(name in starts and name != lane and lane in free_vars(starts[name]) for name in free_vars(place))


def _carried(loop: Loop) -> set[str]:
    """What the loops inside add to."""
    return {name for node in loop.body if isinstance(node, Loop) for name in buffers_written(node)}


# --- the rewrite -----------------------------------------------------------------------------------------------------


@dataclass
class _Writer:
    """Writes one loop as strips of iterations."""

    loop: Loop
    workspace: Workspace

    def nodes(self) -> Block:
        dim = cost.dense(self.loop.dim)
        if self.loop.kind is not LoopKind.PARALLEL:
            return self.strips(dim)
        # One strip is a piece for a thread: sums may be long although there are few of them.
        outer, piece = strips(dim, integer(self.widths()[0]), self.workspace)
        return (replace(self.loop, dim=outer, body=self.strips(piece), work=cost.work(self.loop)),)

    def strips(self, dim: Dim) -> Block:
        out: list[Node] = []
        low = dim.lo
        for width in self.widths():
            known = affine_index.difference(dim.hi, low)
            whole = Op("floordiv", (affine_index.sub(dim.hi, low), integer(width)), INT)
            count: Expr = Op("maximum", (whole, integer(0)), INT) if known is None else integer(max(known, 0) // width)
            end = affine_index.add(low, affine_index.mul(integer(width), count))
            begin = self.workspace.new_var("strip")
            if end != low:
                body = self.strip(Var(begin), width)
                out.append(Loop(Dim(begin, low, end, width), body, span=self.loop.span))
            low = end
        # Names of its own, since a variable in two places is private to neither.
        left: Node = self.named(_in_order(replace(self.loop, dim=replace(dim, lo=low), kind=LoopKind.SEQUENTIAL)))
        return (*out, If(Op("lt", (low, dim.hi), PYBOOL), (left,), span=self.loop.span))

    def widths(self) -> list[int]:
        """Iterations of a strip: a smaller one first takes what a larger one leaves."""
        table = self.workspace.table
        sums = [table[name].type.dtype.size for name in _carried(self.loop)]
        room = max(len(sums), 1)
        most = max(sums)
        found = [max(size // most // (1 << (room - 1).bit_length()), 4) for size in STRIPS]
        return sorted(set(found), reverse=True)

    def named(self, loop: Loop) -> Loop:
        node: Node = loop
        for name in self.scalars():
            other = self.workspace.new_buffer(name, self.workspace.table[name].type).name
            node = element_instead(node, name, other)
        assert isinstance(node, Loop)
        return node

    def scalars(self) -> list[str]:
        return sorted(name for name in buffers_written(self.loop) if not self.workspace.table[name].rank)

    def strip(self, begin: Expr, width: int) -> Block:
        lane = self.workspace.new_var(f"{self.loop.dim.var}_lane")
        dim = Dim(lane, integer(0), integer(width))
        node: Node = _rebased(_in_order(self.loop))
        allocs: list[Node] = []
        for name in self.scalars():
            of = self.workspace.table[name].type
            if _stays(self.loop.body, name):
                node = element_instead(node, name, self.workspace.new_buffer(name, of).name)
                continue
            held = self.workspace.new_buffer(f"{name}_abreast", of, (integer(width),)).name
            node = element_instead(node, name, held, (Var(lane),))
            allocs.append(Alloc(held, span=self.loop.span))
        assert isinstance(node, Loop)
        names: dict[str, Expr] = {self.loop.dim.var: affine_index.add(begin, Var(lane))}
        body = tuple(map_node_exprs(inner, lambda e: _moved(e, names)) for inner in node.body)
        return (*allocs, *_together(body, dim))


def _moved(expr: Expr, names: dict[str, Expr]) -> Expr:
    def visit(part: Expr) -> Expr:
        if isinstance(part, Read):
            return replace(part, index=tuple(affine_index.canonical(place) for place in part.index))
        return part

    return rewrite(substitute(expr, names), visit)


def _in_order(loop: Loop) -> Loop:
    """The loop with its sums in the order of the source."""

    def visit(node: Node) -> Node:
        node = map_sub_blocks(node, lambda block: tuple(visit(inner) for inner in block))
        return replace(node, kind=LoopKind.SEQUENTIAL, accumulators=()) if isinstance(node, Loop) else node

    return replace(loop, body=tuple(visit(node) for node in loop.body))


def _rebased(loop: Loop) -> Loop:
    """Loops inside that start where the iteration says start at zero."""

    def visit(node: Node) -> Node:
        node = map_sub_blocks(node, lambda block: tuple(visit(inner) for inner in block))
        if not isinstance(node, Loop) or not isinstance(node.dim, Dim) or node.dim.lo == integer(0):
            return node
        dim = node.dim
        names: dict[str, Expr] = {dim.var: affine_index.add(dim.lo, Var(dim.var))}
        body = tuple(map_node_exprs(inner, lambda e: substitute(e, names)) for inner in node.body)
        return replace(node, dim=Dim(dim.var, integer(0), affine_index.sub(dim.hi, dim.lo)), body=body, work=None)

    return replace(loop, body=tuple(visit(node) for node in loop.body))


def _together(block: Block, lanes: Dim) -> Block:
    """Statements that follow each other for all lanes; loops around them in order."""
    nodes: list[Node] = []
    pending: list[Node] = []

    def flushed() -> None:
        if pending:
            nodes.append(Loop(lanes, tuple(pending), LoopKind.VECTOR, span=pending[0].span))
            pending.clear()

    for node in block:
        if isinstance(node, Stmt):
            pending.append(node)
            continue
        flushed()
        nodes.append(map_sub_blocks(node, lambda inner: _together(inner, lanes)))
    flushed()
    return tuple(nodes)


def _stays(block: Block, name: str) -> bool:
    """Whether a variable is only used within one run of statements, which sets it first."""
    runs: list[list[Node]] = [[]]

    def visit(block: Block) -> None:
        for node in block:
            if isinstance(node, Stmt):
                runs[-1].append(node)
                continue
            runs.append([map_sub_blocks(node, lambda _: ())])
            for inner in sub_blocks(node):
                runs.append([])
                visit(inner)
            runs.append([])

    visit(block)
    using = [run for run in runs if any(name in buffers_read(n) | buffers_written(n) for n in run)]
    return len(using) == 1 and first_access(tuple(using[0]), name) == "written"


__all__ = ["run", "why_not"]
