"""Values that are overwritten before anybody reads them.  In: a program and a statement of its body; out: None if no
element that the statement writes is read before other statements have written it again, else the reason why not.

    y[i] = 0 for i < n;  y[0] = a;  for k in 1 .. n: { s = sum[i < k] y[i]; ...; y[k] = s }     the zeros are not read

The order of iterations and the elements are exact where everything is affine (`ir.domain.covered`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field

from weft.analysis.effects import node_reads, node_write, result_buffers
from weft.ir import domain
from weft.ir.expr import AnyDim, Dim, Expr, Op
from weft.ir.program import Alloc, Block, Break, Check, Continue, If, Loop, Node, Program, Return, Role, Stmt
from weft.ir.types import PYBOOL
from weft.ir.walk import buffers_read, buffers_written, sub_blocks, walk
from weft.records import dataclass

# Reads, and pairs of a read and a write, that are looked at: beyond, a program is too long for exact answers.
_MOST_READS = 24
_MOST_PAIRS = 120


@dataclass(frozen=True)
class _Place:
    """One access among the nodes behind the statement: where it stands, and what it touches."""

    position: int
    loops: tuple[Loop, ...]
    access: domain.Access


@dataclass
class _Found:
    """All accesses of one array, in the order of the text."""

    name: str
    reads: list[_Place] = field(default_factory=list)
    writes: list[_Place] = field(default_factory=list)
    position: int = 0

    def block(self, block: Block, loops: tuple[Loop, ...], conditions: tuple[Expr, ...]) -> str | None:
        for node in block:
            why_not = self.node(node, loops, conditions)
            if why_not is not None:
                return why_not
        return None

    def node(self, node: Node, loops: tuple[Loop, ...], conditions: tuple[Expr, ...]) -> str | None:
        self.position += 1
        if isinstance(node, Loop) and isinstance(node.dim, Dim):
            if self.name in buffers_read(node) - _read_inside(node):
                return "the bounds of a loop are read from it"
            return self.block(node.body, (*loops, node), conditions)
        if isinstance(node, If):
            if self.name in buffers_read(node) - _read_inside(node):
                return "a condition reads it"
            otherwise = Op("not", (node.condition,), PYBOOL)
            return self.block(node.then, loops, (*conditions, node.condition)) or self.block(
                node.orelse, loops, (*conditions, otherwise)
            )
        if self.name not in buffers_read(node) | buffers_written(node):
            return None
        if not isinstance(node, (Stmt, Check)):
            return "it is used as a whole"
        around: tuple[AnyDim, ...] = tuple(loop.dim for loop in loops)
        for read in node_reads(node):
            if read.buffer == self.name:
                self.reads.append(
                    _Place(self.position, loops, domain.Access(around + read.dims, read.index, conditions))
                )
        if isinstance(node, Stmt) and node.buffer == self.name:
            write = node_write(node)
            place = _Place(self.position, loops, domain.Access(around + write.dims, write.index, conditions))
            self.writes.append(place)
            if node.reduce is not None:
                self.reads.append(place)
        return None


def _read_inside(node: Loop | If) -> set[str]:
    return {name for block in sub_blocks(node) for inner in block for name in buffers_read(inner)}


def _outside(program: Program, name: str, behind: Block) -> str | None:
    """Why an array cannot be followed through the rest of a program."""
    if next(b for b in program.buffers if b.name == name).role not in (Role.LOCAL, Role.RESULT):
        return "the caller sees every write"
    for node in walk(behind):
        if isinstance(node, (Break, Continue, Return)) and node is not behind[-1]:
            return "a loop or the function may be left early"
        if isinstance(node, Alloc) and node.buffer == name:
            return "it is allocated again"
    return None


def blocks_removal(program: Program, position: int) -> str | None:
    """Why the statement at a position of a program's body cannot go; None if nobody reads what it writes."""
    stmt = program.body[position]
    behind = program.body[position + 1 :]
    if not isinstance(stmt, Stmt) or stmt.reduce is not None:
        return "it is no plain statement"
    name = stmt.buffer
    if not any(name in buffers_written(node) for node in behind):
        return "nothing else writes it"
    why_not = _outside(program, name, behind)
    if why_not is not None:
        return why_not
    found = _Found(name)
    why_not = found.block(behind, (), ())
    if why_not is not None:
        return why_not
    own = domain.Access(stmt.domain, stmt.index)
    if any(name in result_buffers(out) for out in program.results):
        found.reads.append(_Place(found.position + 1, (), own))
    if len(found.reads) > _MOST_READS or len(found.reads) * len(found.writes) > _MOST_PAIRS:
        return "too many statements use it"
    context = tuple(guard.condition for guard in program.guards if not guard.domain)
    for read in found.reads:
        before = [one for write in reversed(found.writes) for one in _earlier(write, read)]
        before.sort(key=lambda one: (one.carried is not None, -(one.carried or 0)))
        if not before or not domain.covered(read.access, own, tuple(before), context):
            return "an element may be read before it is written again"
    return None


def _earlier(write: _Place, read: _Place) -> Iterator[domain.Earlier]:
    """The ways in which a write comes before a read."""
    common = 0
    for one, other in zip(write.loops, read.loops):
        if one is not other:
            break
        common += 1
    if write.position < read.position:
        yield domain.Earlier(write.access, common)
    for level in range(common):
        yield domain.Earlier(write.access, common, level)
