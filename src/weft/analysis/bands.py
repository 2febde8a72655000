"""Bands of loops: may they be permuted, cut in two, or joined?  In: loops and their bodies; out: None, or the two
accesses that forbid it.
"""

from __future__ import annotations

from collections.abc import Iterable

from weft.analysis.dependence import LoopContext, directions
from weft.analysis.effects import Access, Accesses, accesses
from weft.analysis.facts import Facts
from weft.errors import NOWHERE, Span, spelt
from weft.ir import domain
from weft.ir.expr import Dim
from weft.ir.program import Alloc, Block, Check, Loop, Node, Stmt
from weft.ir.text import show_expr
from weft.ir.walk import buffers_read, buffers_written, free_vars, has_exit, sub_blocks, walk
from weft.records import dataclass


@dataclass(frozen=True)
class Conflict:
    """Two accesses to one element (one of them a write) whose order would change."""

    first: Access
    second: Access
    first_span: Span = NOWHERE
    second_span: Span = NOWHERE

    def __str__(self) -> str:
        def shown(access: Access, span: Span) -> str:
            index = f"[{', '.join(show_expr(part) for part in access.index)}]" if access.index else ""
            return f"`{access.buffer}{index}`" + (f" (line {span.line})" if span.line > 0 else "")

        spans = (self.first_span, self.second_span)
        one, other = (spelt(shown(*pair), *spans) for pair in zip((self.first, self.second), spans))
        if one == other:
            return f"{one} is touched by several iterations, one of which writes it"
        return f"{one} and {other} are the same element in different iterations"


def private_scalars(body: Block, scalars: Iterable[str]) -> set[str]:
    """Of these rank-0 buffers the ones that a body sets before it looks at them: each iteration has its own."""
    private: set[str] = set()
    shared: set[str] = set()
    for node in body:
        shared |= buffers_read(node) - private
        if isinstance(node, Stmt) and not node.index and not node.domain and node.reduce is None:
            private |= {node.buffer} - shared
        shared |= buffers_written(node) - private
    return private & set(scalars)


def _of(block: Block, around: tuple[Dim, ...], private: set[str]) -> list[tuple[Access, bool, Span]]:
    """The accesses of a block to anything but what is private: which, whether a write, where."""
    found: list[tuple[Access, bool, Span]] = []
    for node in block:
        parts = _leaves(node, around)
        for each, span in parts:
            found += [(access, False, span) for access in each.reads if access.buffer not in private]
            found += [(access, True, span) for access in each.writes if access.buffer not in private]
    return found


def _leaves(node: Node, around: tuple[Dim, ...]) -> list[tuple[Accesses, Span]]:
    """The accesses of a node by statement, so that each has a place."""
    blocks = sub_blocks(node)
    if not blocks:
        return [(accesses(node, around), node.span)]
    inner = (*around, node.dim) if isinstance(node, Loop) and isinstance(node.dim, Dim) else around
    found = [part for block in blocks for child in block for part in _leaves(child, inner)]
    whole = accesses(node, around)
    known = {access for each, _ in found for access in each.reads}
    own = tuple(access for access in whole.reads if access not in known)
    return [(Accesses(own, ()), node.span), *found]


def blocks_permutation(dims: tuple[Dim, ...], body: Block, scalars: Iterable[str]) -> Conflict | str | None:
    """What forbids running the loops `dims` around `body` in any order of nesting, and so in tiles."""
    if (ends := _ends_early(body)) is not None:
        return ends
    private = private_scalars(body, scalars) | {node.buffer for node in body if isinstance(node, Alloc)}
    found = _of(body, dims, private)
    for number, (first, writes, place) in enumerate(found):
        for second, also, other in found[number:]:
            if first.buffer != second.buffer or not (writes or also):
                continue
            if len(first.index) != len(second.index) or not first.index or _turned(first, second, dims):
                return Conflict(first, second, place, other)
    return None


def depends_on_loops(dims: tuple[Dim, ...]) -> str | None:
    """Which bounds of a nest speak of its own variables: a triangle, whose loops cannot simply change places."""
    names = {dim.var for dim in dims}
    for dim in dims:
        used = {name for bound in (dim.lo, dim.hi) for name in free_vars(bound)} & names
        if used:
            return f"the bounds of the loop over {dim.var} depend on {', '.join(sorted(used))}"
    return None


def _ends_early(body: Block) -> str | None:
    if has_exit(body):
        return "the loop may be left early"
    if any(isinstance(node, Check) for node in walk(body)):
        return "an iteration may raise an exception, which must find the effects of those before it"
    return None


def _turned(first: Access, second: Access, dims: tuple[Dim, ...]) -> bool:
    """Whether some element is touched with one loop earlier and another later: an order that permuting reverses."""
    one, other = domain.Access(first.dims, first.index), domain.Access(second.dims, second.index)
    for number, outer in enumerate(dims):
        for inner in dims[number + 1 :]:
            if domain.opposed(one, other, outer, inner) or domain.opposed(other, one, outer, inner):
                return True
    return False


def blocks_order_change(dim: Dim, earlier: Block, later: Block, facts: Facts) -> Conflict | None:
    """What forbids cutting the loop `for dim: earlier; later` in two, or making one loop of the two.

    Cut, all of `earlier` comes before any of `later`: no iteration of it may need a previous one of `later`.  Joined,
    an iteration of `later` comes before the following ones of `earlier`.
    """
    context = LoopContext(dim, facts)
    for first, writes, place in _of(earlier, (), set()):
        for second, also, other in _of(later, (), set()):
            if first.buffer != second.buffer or not (writes or also):
                continue
            if len(first.index) != len(second.index):
                return Conflict(first, second, place, other)
            # In both cases the pair that changes its order is `later` at a smaller iteration than `earlier`.
            if directions(first, second, context).later:
                return Conflict(first, second, place, other)
    return None


def blocks_independence(loop: Loop, facts: Facts, scalars: Iterable[str]) -> Conflict | str | None:
    """What forbids running the iterations of a loop at once."""
    if not isinstance(loop.dim, Dim) or loop.dim.step <= 0:
        return "its variable does not count up"
    if (ends := _ends_early(loop.body)) is not None:
        return ends
    private = private_scalars(loop.body, scalars) | {node.buffer for node in loop.body if isinstance(node, Alloc)}
    found = _of(loop.body, (), private)
    context = LoopContext(loop.dim, facts)
    for number, (first, writes, place) in enumerate(found):
        for second, also, other in found[number:]:
            if first.buffer != second.buffer or not (writes or also):
                continue
            if len(first.index) != len(second.index):
                return Conflict(first, second, place, other)
            met = directions(first, second, context)
            if met.earlier or met.later:
                return Conflict(first, second, place, other)
    return None
