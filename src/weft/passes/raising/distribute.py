"""Distribute: which items of a loop body depend on which.  In: items and a loop; out: groups of items in an order in
which the loop may run each group to its end before it starts the next.

    for i: A; B    -->    for i: A; for i: B       if nothing in B is needed by a later A

Items that need each other in turn stay in one group.  Items that add to the same array at places that only the data
know do not: they may do so in any order.

    for i: { h[k[i]] += a[i];  h[m[i]] += b[i] }    -->    for i: h[k[i]] += a[i];  for i: h[m[i]] += b[i]
"""

from __future__ import annotations

from weft.analysis.dependence import LoopContext, directions
from weft.analysis.effects import Accesses, accesses
from weft.ir.program import Stmt
from weft.ir.walk import domain_buffers, expr_buffers
from weft.passes.raising.predicate import Item
from weft.passes.raising.reductions import accumulation, in_order, reorders_sum
from weft.records import dataclass


@dataclass(frozen=True)
class _Sum:
    """An array that terms are combined with by `op`; `by_data`: at places that only the data know."""

    buffer: str
    op: str
    by_data: bool


def _shared(one: _Sum | None, other: _Sum | None) -> str | None:
    """The array that both accumulate into in any order.  What affine places need of each other is known exactly."""
    if one is None or other is None or (one.buffer, one.op) != (other.buffer, other.op):
        return None
    return one.buffer if one.by_data or other.by_data else None


def _edges(items: list[Item], loop: LoopContext, strict: bool) -> dict[int, set[int]]:
    """p -> q: an instance of q must wait for an instance of p.  What an item needs of itself is not asked here."""
    all_accesses: list[Accesses] = [accesses(item.node) for item in items]
    written = {access.buffer for one in all_accesses for access in one.writes}
    targets = [_adds_to(item, strict, written) for item in items]
    edges: dict[int, set[int]] = {position: set() for position in range(len(all_accesses))}
    for p, first in enumerate(all_accesses):
        for q in range(p + 1, len(all_accesses)):
            second = all_accesses[q]
            shared = _shared(targets[p], targets[q])
            pairs = [(a, b) for a in first.writes for b in second.writes + second.reads if a.buffer == b.buffer]
            pairs += [(a, b) for a in first.reads for b in second.writes if a.buffer == b.buffer]
            pairs = [pair for pair in pairs if pair[0].buffer != shared]
            for a, b in dict.fromkeys(pairs):  # a statement that reads an element twice is asked once
                if q in edges[p] and p in edges[q]:
                    break
                if len(a.index) != len(b.index):  # an allocation touches everything
                    edges[p].add(q)
                    edges[q].add(p)
                    continue
                found = directions(a, b, loop)
                if found.earlier or found.same:
                    edges[p].add(q)
                if found.later:
                    edges[q].add(p)
    return edges


def _adds_to(item: Item, strict: bool, written: set[str]) -> _Sum | None:
    """What an item accumulates into, if its terms may go anywhere between others.

    Places that the loop itself works out are better used at once than kept in an array for a loop of their own.
    """
    stmt = item.node
    found = accumulation(stmt) if isinstance(stmt, Stmt) and stmt.index and stmt.reduce is None else None
    if not isinstance(stmt, Stmt) or not stmt.index or (found is None and stmt.reduce is None):
        return None
    op, term = (stmt.reduce, stmt.value) if found is None else (found.op, found.term)
    assert op is not None
    used = expr_buffers(term).union(domain_buffers(stmt.domain), *(expr_buffers(part) for part in stmt.index))
    places = set().union(*map(expr_buffers, stmt.index))
    if not places.isdisjoint(written):
        return None
    if stmt.buffer in used or (strict and reorders_sum(op, stmt.value.type)) or in_order(op, stmt.value.type, term):
        return None
    return _Sum(stmt.buffer, op, bool(places))


def groups(items: list[Item], loop: LoopContext, strict: bool = True) -> list[list[int]]:
    """Strongly connected components of the dependences, in an order they allow, as near to the source's as can be;
    `strict`: terms of a floating-point sum keep their order.
    """
    edges = _edges(items, loop, strict)
    component = _components(edges)
    members: dict[int, list[int]] = {}
    for position in range(len(items)):
        members.setdefault(component[position], []).append(position)
    waits = {c: {component[p] for p in edges for q in edges[p] if component[q] == c} - {c} for c in members}
    order: list[list[int]] = []
    done: set[int] = set()
    left = sorted(members, key=lambda c: members[c][0])
    while left:
        ready = next(c for c in left if waits[c] <= done)
        order.append(members[ready])
        done.add(ready)
        left.remove(ready)
    return order


def _components(edges: dict[int, set[int]]) -> dict[int, int]:
    """Item -> the first item of its circle (itself if in none); bodies are short, so plain reachability will do."""
    reach = {p: set(targets) for p, targets in edges.items()}
    for middle in edges:
        for p in edges:
            if middle in reach[p]:
                reach[p] |= reach[middle]
    return {p: min([p] + [q for q in edges if q in reach[p] and p in reach[q]]) for p in edges}
