"""Detaching.  In: a nest of two loops in which both carry dependences through arrays, and a variable beside them; out:
the nest without what only follows the variable, and a nest of its own for that.

    for i: for j: { h = f(a[i-1, j], a[i, j-1]);  a[i, j] = h;  if h > best: best = h }
      -->   for i: for j: { h = f(a[i-1, j], a[i, j-1]);  a[i, j] = h }
            for i: for j: if a[i, j] > best: best = a[i, j]

The second is a reduction like any other, and the first a wavefront.  What the second reads must be in an array that
keeps it: an element that one iteration writes, and no other.
"""

from __future__ import annotations

from dataclasses import replace

from weft.analysis.effects import accesses
from weft.analysis.first import first_access
from weft.analysis.waves import Nest, axis_of, carries, constant_distance, nest_of, pairs_of
from weft.ir import domain
from weft.ir.expr import Expr, Read
from weft.ir.program import Block, If, Loop, Node, Program, Role, Stmt
from weft.ir.walk import (
    buffers_read,
    buffers_written,
    has_exit,
    map_node_exprs,
    map_sub_blocks,
    names_of,
    rewrite,
    walk,
)
from weft.passes import Knows, PassContext, declared
from weft.passes.rename import renamed
from weft.records import dataclass

PASS = "detach"


@declared("detach", after=("checks",), knows=Knows.BESIDE)
def run(program: Program, context: PassContext) -> Program:
    """Detach in every nest that allows it."""
    taken: set[str] = set()
    changed = False

    def visit(node: Node) -> Block:
        nonlocal changed
        nest = nest_of(node) if isinstance(node, Loop) else None
        found = None if nest is None else followers_of(nest, program)
        if nest is None or found is None:
            return (map_sub_blocks(node, lambda inner: tuple(new for n in inner for new in visit(n))),)
        if not changed:
            taken.update(names_of(program))
        changed = True
        context.done(PASS, "what follows from the nest is computed after it", nest.loop.span)
        return (_around(nest.loop, found.rest), *renamed((_around(nest.loop, found.detached),), taken))

    body = tuple(new for node in program.body for new in visit(node))
    return replace(program, body=body) if changed else program


def _around(loop: Loop, body: Block) -> Loop:
    """The two loops of a nest around another body."""
    inner = loop.body[0]
    assert isinstance(inner, Loop)
    return replace(loop, body=(replace(inner, body=body),))


@dataclass(frozen=True)
class Followers:
    """The nodes that stay in a nest, and those that follow a variable and can go into a nest of their own."""

    rest: Block
    detached: Block


def followers_of(nest: Nest, program: Program) -> Followers | None:
    """The parts of a nest; None if there is nothing to detach, or it must stay."""
    if any(isinstance(axis_of(dim), str) for dim in nest.dims) or has_exit(nest.body):
        return None
    if any(not isinstance(node, (Stmt, If)) or (isinstance(node, Stmt) and node.domain) for node in walk(nest.body)):
        return None
    written = set().union(*(buffers_written(node) for node in nest.body))
    scalars = {name for name in written if not program.table[name].rank}
    carried = {name for name in scalars if first_access(nest.body, name) != "written"}
    if not carried or carried == written or any(program.table[name].role is not Role.LOCAL for name in scalars):
        return None
    follows = [bool((buffers_read(node) | buffers_written(node)) & carried) for node in nest.body]
    rest = tuple(node for node, own in zip(nest.body, follows) if not own)
    own_nest = replace(nest, loop=_around(nest.loop, rest), body=rest)
    pairs = pairs_of(own_nest, frozenset(scalars - carried))
    if isinstance(pairs, str) or not all(carries(own_nest, pairs)):
        return None
    kept = _kept(own_nest, scalars - carried, program)
    detached: list[Node] = []
    for position, node in enumerate(nest.body):
        if not follows[position]:
            continue
        later = set().union(*(buffers_written(after) for after in nest.body[position:])) - carried
        moved = _from_arrays(node, own_nest, kept, scalars - carried)
        if later & buffers_read(node) or buffers_written(node) - carried or moved is None:
            return None
        detached.append(moved)
    return Followers(rest, tuple(detached))


def _kept(nest: Nest, scalars: set[str], program: Program) -> dict[str, Read]:
    """Variables of an iteration that end in an element which this iteration alone writes."""
    found: dict[str, Read] = {}
    for position, node in enumerate(nest.body):
        value = node.value if isinstance(node, Stmt) else None
        if not isinstance(node, Stmt) or not isinstance(value, Read) or value.buffer not in scalars or not node.index:
            continue
        later = set().union(*(buffers_written(after) for after in nest.body[position + 1 :]))
        stays = not {value.buffer, node.buffer} & later and program.table[node.buffer].type == value.of
        if stays and _alone(nest, node.buffer):
            found[value.buffer] = Read(node.buffer, node.index, value.of)
    return found


def _alone(nest: Nest, buffer: str) -> bool:
    """Whether each element of an array is written by one iteration at most, at one place."""
    places = {write for node in nest.body for write in accesses(node).writes if write.buffer == buffer}
    return len(places) == 1 and domain.injective(domain.Access(nest.dims, next(iter(places)).index))


def _from_arrays(node: Node, nest: Nest, kept: dict[str, Read], scalars: set[str]) -> Node | None:
    """A node that reads what the finished nest has left in its arrays; None if that is not what it read."""

    def visit(expr: Expr) -> Expr:
        return kept.get(expr.buffer, expr) if isinstance(expr, Read) and not expr.index else expr

    new = map_node_exprs(node, lambda expr: rewrite(expr, visit))
    writes = {write.buffer: write for inner in nest.body for write in accesses(inner).writes}
    for read in accesses(new).reads:
        if read.buffer in scalars:
            return None
        if read.buffer not in writes:
            continue
        if not _alone(nest, read.buffer) or constant_distance(read, writes[read.buffer], nest) != (0, 0):
            return None
    return new
