"""Stages and their streams.  In: a lowered program; out: regions.

    for i: for j: b[i, j] = f(a[i, j])
      -->  read:    for i: for j: s.write(a[i, j])
           compute: for i: for j: t.write(f(s.read()))
           write:   for i: for j: b[i, j] = t.read()

Memory is read and written by processes of their own, in the order of the loops, so that neighbours become bursts and
the computation never waits for an address.  That is done for an array that the nest does not both read and write, at
places that are surely touched and known from the loops alone; everything else stays where it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from weft.hls.plan import Access, Region, Stage
from weft.ir.expr import Dim, Expr, Read, Var, dim_vars
from weft.ir.program import Alloc, Buffer, Loop, Node, Program, Role, Stmt
from weft.ir.walk import (
    buffers_read,
    buffers_written,
    dim_children,
    expr_buffers,
    free_vars,
    fresh,
    mentions,
    names_of,
    rewrite,
    substitute,
    sure_reads,
    walk,
)


class Stages:
    """Makes stages of nests; `buffers`: variables that hold what came out of a stream."""

    def __init__(self, program: Program, streamed: bool) -> None:
        self.program, self.streamed = program, streamed
        self.taken = names_of(program)
        self.buffers: list[Buffer] = []

    def stage(self, loop: Loop, place: int) -> Stage:
        """The stage of a nest, with the accesses that can have processes of their own taken out of it."""
        if not self.streamed:
            return Stage(loop, place)
        read, written = buffers_read(loop), buffers_written(loop)
        self.both = read & written
        self.single = {name for name in written if sum(s.buffer == name for s in _stmts(loop)) == 1}
        stage = Stage(loop, place)
        stage.node = self._loop(loop, (), stage)
        return stage

    def _loop(self, loop: Loop, around: tuple[Dim, ...], stage: Stage) -> Loop:
        dim = loop.dim
        if not isinstance(dim, Dim) or any(expr_buffers(bound) for bound in dim_children(dim)):
            return loop
        loops = (*around, dim)
        known: dict[Read, Access] = {}
        body: list[Node] = []
        for node in loop.body:
            if isinstance(node, Loop):
                body.append(self._loop(node, loops, stage))
            elif isinstance(node, Stmt) and not node.domain and node.reduce is None:
                body.append(self._stmt(node, loops, stage, known))
            else:
                body.append(node)
        return replace(loop, body=tuple(body))

    def _stmt(self, stmt: Stmt, loops: tuple[Dim, ...], stage: Stage, known: dict[Read, Access]) -> Stmt:
        new: list[Access] = []
        for read in sure_reads(stmt.value):
            if read not in known and self._is_plain(read.buffer, read.index, loops):
                known[read] = self._access(read.buffer, read.index, loops, "in")
                new.append(known[read])
        value = rewrite(stmt.value, lambda e: self._popped(e, known))
        made = replace(stmt, value=value)
        stage.reads += new
        if new:
            stage.pops[id(made)] = new
        if stmt.buffer in self.single and self._is_plain(stmt.buffer, stmt.index, loops):
            access = self._access(stmt.buffer, stmt.index, loops, "out")
            stage.writes.append(access)
            stage.pushes[id(made)] = access
        return made

    def _popped(self, expr: Expr, known: dict[Read, Access]) -> Expr:
        access = known.get(expr) if isinstance(expr, Read) else None
        return expr if access is None else Read(access.stream, (), access.of)

    def _is_plain(self, name: str, index: tuple[Expr, ...], loops: tuple[Dim, ...]) -> bool:
        if not index or name in self.both or any(expr_buffers(place) for place in index):
            return False
        inner = set(dim_vars((loops[-1],)))
        return any(free_vars(place) & inner for place in index)

    def _access(self, name: str, index: tuple[Expr, ...], loops: tuple[Dim, ...], way: str) -> Access:
        stream = fresh(f"{name}_{way}", self.taken)
        self.taken.add(stream)
        of = self.program.table[name].type
        self.buffers.append(Buffer(stream, of, ()))
        return Access(stream, name, of, loops, index)


def joined(regions: list[Region], program: Program) -> list[Region]:
    """Neighbouring regions become one where the first hands a temporary on, element by element, to the second."""
    found: list[Region] = []
    uses = mentions(program.body, allocations=False)
    for region in regions:
        pair = _handed(found[-1], region, program, uses) if found else None
        if pair is None:
            found.append(region)
            continue
        write, read = pair
        first = found[-1]
        found[-1] = Region([*first.stages, *region.stages], {**first.handed, **region.handed, read.stream: write})
    return found


def _handed(first: Region, second: Region, program: Program, uses: dict[str, int]) -> tuple[Access, Access] | None:
    """The one temporary between two regions, written and read once in the same order, if nothing else joins them."""
    before, after = (tuple(stage.node for stage in region.stages) for region in (first, second))
    if second.stages[0].place != first.stages[-1].place + 1 + _allocations(first, second, program):
        return None
    writes = {access.buffer: access for stage in first.stages for access in stage.writes}
    reads = [access for stage in second.stages for access in stage.reads if access.buffer in writes]
    if len(reads) != 1:
        return None
    read, write = reads[0], writes[reads[0].buffer]
    buffer = program.table[read.buffer]
    if buffer.role is not Role.LOCAL or uses.get(read.buffer, 0) != 2 or not _same_order(write, read):
        return None
    touched = [set().union(*(_touched(node) for node in nodes)) for nodes in (before, after)]
    written = [set().union(*(buffers_written(node) for node in nodes)) for nodes in (before, after)]
    streams = {access.stream for access in (read, write)}
    clash = (written[0] & touched[1]) | (written[1] & touched[0])
    return None if clash - {read.buffer} - streams else (write, read)


def _touched(node: Node) -> set[str]:
    return buffers_read(node) | buffers_written(node)


def _allocations(first: Region, second: Region, program: Program) -> int:
    """How many nodes between two regions only make memory."""
    between = program.body[first.stages[-1].place + 1 : second.stages[0].place]
    return len(between) if all(isinstance(node, Alloc) and not node.zero for node in between) else 0


def _same_order(write: Access, read: Access) -> bool:
    if len(write.loops) != len(read.loops):
        return False
    names: dict[str, Expr] = {w.var: Var(r.var) for w, r in zip(write.loops, read.loops)}
    for one, other in zip(write.loops, read.loops):
        same = one.step == other.step and all(
            substitute(a, names) == b for a, b in ((one.lo, other.lo), (one.hi, other.hi))
        )
        if not same:
            return False
    return tuple(substitute(place, names) for place in write.index) == read.index


def _stmts(node: Node) -> Iterator[Stmt]:
    return (inner for inner in walk((node,)) if isinstance(inner, Stmt))


def is_control(node: Loop) -> bool:
    """A loop around several nests, of which some read what others write: steps in time, and no nest of its own."""
    arrays = {stmt.buffer for stmt in _stmts(node) if stmt.index}
    return bool(arrays & buffers_read(node)) and sum(isinstance(child, Loop) for child in node.body) > 1
