"""Distribute: which items of a loop body depend on which.  In: items and a loop; out: groups of items in an order in
which the loop may run each group to its end before it starts the next.

    for i: A; B    -->    for i: A; for i: B       if nothing in B is needed by a later A

Items that need each other in turn stay in one group.
"""

from __future__ import annotations

from weft.analysis.dependence import LoopContext, directions
from weft.analysis.effects import Accesses, accesses
from weft.passes.raising.predicate import Item


def _edges(all_accesses: list[Accesses], loop: LoopContext) -> dict[int, set[int]]:
    """p -> q: an instance of q must wait for an instance of p.  What an item needs of itself is not asked here."""
    edges: dict[int, set[int]] = {position: set() for position in range(len(all_accesses))}
    for p, first in enumerate(all_accesses):
        for q in range(p + 1, len(all_accesses)):
            second = all_accesses[q]
            pairs = [(a, b) for a in first.writes for b in second.writes + second.reads if a.buffer == b.buffer]
            pairs += [(a, b) for a in first.reads for b in second.writes if a.buffer == b.buffer]
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


def groups(items: list[Item], loop: LoopContext) -> list[list[int]]:
    """Strongly connected components of the dependences, in an order they allow, as near to the source's as can be."""
    edges = _edges([accesses(item.node) for item in items], loop)
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
