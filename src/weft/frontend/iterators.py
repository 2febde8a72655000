"""Iterators that are kept.  In: the body of a function; out: the calls in it whose value is more than run through where
it is made: it gets a name, is returned, put into a container.

An iterator gives its items once, and as they are when it is asked.  What `map`, `zip`, `enumerate`, `reversed` and
those of `itertools` make is a loop over its operands for the builder: right where it is consumed by the expression or
statement that makes it, or by the next one, and refused elsewhere.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterable, Iterator
from typing import Any

_BUILT_IN = (map, filter, zip, enumerate, reversed)
_BLOCKS = ("body", "orelse", "finalbody")


def makes_iterator(thing: Any) -> bool:
    """Whether a call of something gives an iterator that is not the user's."""
    if thing == itertools.chain.from_iterable:
        return True
    return isinstance(thing, type) and (thing in _BUILT_IN or thing.__module__ == "itertools")


def kept_calls(body: Iterable[ast.AST]) -> frozenset[int]:
    """The calls, by their identity, whose values are not consumed at once."""
    found: set[int] = set()
    nodes = list(body)
    reads = _reads(nodes)
    for node in nodes:
        found.update(_kept(node, reads))
    for block in _blocks(nodes):
        for node, after in itertools.pairwise(block):
            if isinstance(node, ast.Assign) and _used_next(node, after, reads):
                found.discard(id(node.value))
    return frozenset(found)


def _reads(nodes: list[ast.AST]) -> dict[str, int]:
    """How often each name is read."""
    found: dict[str, int] = {}
    for node in (part for top in nodes for part in ast.walk(top)):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            found[node.id] = found.get(node.id, 0) + 1
    return found


def _kept(node: ast.AST, reads: dict[str, int]) -> Iterator[int]:
    consumed = set(map(id, _consumed(node)))
    for child in ast.iter_child_nodes(node):
        if id(child) not in consumed:
            yield from (id(call) for call in _given(child) if isinstance(call, ast.Call))
        yield from _kept(child, reads)


def _given(node: ast.AST) -> Iterator[ast.AST]:
    """What an expression gives: one of two, of a conditional expression."""
    if isinstance(node, ast.IfExp):
        yield from _given(node.body)
        yield from _given(node.orelse)
    else:
        yield node


def _consumed(node: ast.AST) -> Iterator[ast.AST]:
    """The parts of a node that are run through by it; arguments of a call are the called function's matter."""
    if isinstance(node, (ast.For, ast.comprehension)):
        yield node.iter
    elif isinstance(node, ast.Call):
        yield from node.args
    elif isinstance(node, (ast.Starred, ast.YieldFrom, ast.keyword)):
        yield node.value
    elif isinstance(node, ast.Compare) and all(isinstance(op, (ast.In, ast.NotIn)) for op in node.ops):
        yield from node.comparators
    elif isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add):
        yield node.value
    elif isinstance(node, ast.Assign) and len(node.targets) == 1:
        target = node.targets[0]
        part = isinstance(target, ast.Subscript) and isinstance(target.slice, ast.Slice)
        if isinstance(target, (ast.Tuple, ast.List)) or part:
            yield node.value
    elif isinstance(node, ast.IfExp):
        yield from (node.body, node.orelse)  # looked at where the whole is


def _blocks(nodes: list[ast.AST]) -> Iterator[list[ast.AST]]:
    yield nodes
    for node in nodes:
        for name in _BLOCKS:
            inner = getattr(node, name, None)
            if isinstance(inner, list):
                yield from _blocks(inner)
        for handler in getattr(node, "handlers", ()):
            yield from _blocks(handler.body)


def _used_next(node: ast.Assign, after: ast.AST, reads: dict[str, int]) -> bool:
    """it = zip(a, b); for x, y in it: ...   where nothing else reads the name."""
    target = node.targets[0]
    if len(node.targets) > 1 or not isinstance(target, ast.Name) or reads.get(target.id) != 1:
        return False
    if isinstance(after, ast.For):
        return isinstance(after.iter, ast.Name) and after.iter.id == target.id
    first = after.value if isinstance(after, (ast.Assign, ast.Return, ast.Expr)) else None
    if not isinstance(first, ast.Call) or not isinstance(first.func, ast.Name) or not first.args:
        return False
    return isinstance(first.args[0], ast.Name) and first.args[0].id == target.id
