"""Names that change places in a loop.  In: a loop that ends each iteration with a permutation of buffers; out: a loop
of several iterations at once in which every name stays what it is, and a loop for the iterations that are left.

    for t in 0 .. n: { b = f(a);  rebind a, b = b, a }
      -->  for u in 0 .. n // 2: { b = f(a);  a = f(b) };   for t in 2 (n // 2) .. n: { b = f(a);  rebind a, b = b, a }

After as many iterations as the order of the permutation all names are back, so that what follows sees the same.
"""

from __future__ import annotations

from dataclasses import replace

from weft.ir import index as affine_index
from weft.ir.expr import Dim, Expr, Op, Read, Var, integer
from weft.ir.program import If, Loop, Node, Rebind, Stmt
from weft.ir.types import INT
from weft.ir.walk import (
    buffers_read,
    buffers_written,
    has_exit,
    map_node_exprs,
    map_sub_blocks,
    reads,
    rewrite,
    substitute,
    walk,
)
from weft.passes.scheduling.lower import Workspace
from weft.records import dataclass

# More iterations at once would only make code longer.
MOST = 4


@dataclass(frozen=True)
class Rotation:
    """The loop without rebinding; the original loop takes the iterations from `done` on."""

    whole: Loop
    done: Expr


def rotation_of(loop: Loop, workspace: Workspace) -> Rotation | str | None:
    """The loop in two parts, or why not; None if no names change places in it."""
    last = [at for at, node in enumerate(loop.body) if isinstance(node, Rebind)]
    if not last:
        return None
    dim = loop.dim
    if not isinstance(dim, Dim) or dim.step != 1 or any(True for e in (dim.lo, dim.hi) for _ in reads(e)):
        return "it does not count up by one from sizes that are known"
    if len(last) > 1 or sum(isinstance(node, Rebind) for node in walk(loop.body)) > 1 or has_exit(loop.body):
        return "names change places more than once, or the loop may be left"
    plain = all(isinstance(node, (Stmt, Loop, If, Rebind)) for node in walk(loop.body))
    if not plain or any(isinstance(node, Loop) and node.accumulators for node in walk(loop.body)):
        return "more than assignments in a step"
    rebind = loop.body[last[0]]
    assert isinstance(rebind, Rebind)
    places = dict(zip(rebind.targets, rebind.sources))
    toggles = [node for node in loop.body if _toggles(node)]
    rest = [node for node in loop.body if node is not rebind and node not in toggles]
    flags = {node.buffer for node in toggles if isinstance(node, Stmt)}
    if len(flags) != len(toggles) or any(flags & (buffers_read(node) | buffers_written(node)) for node in rest):
        return "a variable that tells odd steps from even ones is used in a step"
    count = _order(places)
    if toggles and count % 2:
        count *= 2
    if count > MOST:
        return "names are back in their places only after many steps"
    return _in_parts(loop, dim, last[0], places, count, [node for node in toggles if isinstance(node, Stmt)], workspace)


def _toggles(node: Node) -> bool:
    """s = not s."""
    if not isinstance(node, Stmt) or node.index or node.domain or node.reduce:
        return False
    value = node.value
    return isinstance(value, Op) and value.op == "not" and value.args == (Read(node.buffer, (), value.type),)


def _order(places: dict[str, str]) -> int:
    """After how many times a permutation is the identity."""
    now = dict(places)
    count = 1
    while any(name != source for name, source in now.items()):
        now = {name: places[source] for name, source in now.items()}
        count += 1
    return count


def _in_parts(
    loop: Loop, dim: Dim, at: int, places: dict[str, str], count: int, toggles: list[Stmt], workspace: Workspace
) -> Rotation:
    turns = Op("floordiv", (Op("maximum", (affine_index.sub(dim.hi, dim.lo), integer(0)), INT), integer(count)), INT)
    held = Var(workspace.new_var(dim.var))
    body: list[Node] = []
    now = {name: name for name in places}
    for turn in range(count):
        time = affine_index.add(dim.lo, affine_index.add(affine_index.mul(integer(count), held), integer(turn)))
        for place, node in enumerate(loop.body):
            if place == at:
                now = {name: now[source] for name, source in places.items()}
            elif node not in toggles:
                body.append(_renamed(node, now, dim.var, time))
    start = affine_index.add(dim.lo, affine_index.mul(integer(count), turns))
    return Rotation(replace(loop, dim=Dim(held.name, integer(0), turns), body=tuple(body)), start)


def _renamed(node: Node, names: dict[str, str], variable: str, value: Expr) -> Node:
    """A node of one iteration: the loop's variable is `value`, buffers are under the names they have then."""

    def visit(expr: Expr) -> Expr:
        if isinstance(expr, Read) and expr.buffer in names:
            return replace(expr, buffer=names[expr.buffer])
        return expr

    def change(old: Node) -> Node:
        if isinstance(old, Stmt) and old.buffer in names:
            old = replace(old, buffer=names[old.buffer])
        return map_sub_blocks(old, lambda block: tuple(change(inner) for inner in block))

    return map_node_exprs(change(node), lambda e: rewrite(substitute(e, {variable: value}), visit))
