"""Loops that count downward.  In: a nest with such a loop, or a statement that runs through its arrays backward; out:
the same iterations in the same order under a variable that counts upward, and statements that run forward again.

    for i in n - 1 .. -1 step -1:   b[i, j] = b[i, j] - (sum[k: i + 1 <= k < n] u[i, k] * b[k, j])   for j: 0 <= j < m
      -->  for t in 0 .. n:   b[n - 1 - t, j] = b[n - 1 - t, j] - (sum[k: 0 <= k < t] u[n - 1 - t, n - 1 - k] * ...)

What is known of nests that count upward (`eager`, `deferred`) then holds for backward substitution as well.  The points
of a statement are simultaneous and the terms of a sum of floats have no order: either may be run through either way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from weft.ir.expr import AnyDim, Dim, Expr, Read, Reduce, Var, integer
from weft.ir.index import Affine, affine, canonical, expression
from weft.ir.index import add as plus
from weft.ir.index import sub as minus
from weft.ir.program import Block, Loop, Node, Stmt
from weft.ir.walk import map_children, map_domain, map_sub_blocks, reads, subexpressions, substitute


def upward(loop: Loop, new_var: Callable[[str], str]) -> Loop | None:
    """The nest with all of its loops counting upward; None if they do already, or hold more than statements."""
    if not any(dim.step == -1 for dim in _loops(loop)):
        return None
    made = _upward(loop, new_var, {})
    return made if isinstance(made, Loop) else None


def _loops(node: Node) -> Iterator[Dim]:
    if isinstance(node, Loop):
        if isinstance(node.dim, Dim):
            yield node.dim
        for inner in node.body:
            yield from _loops(inner)


def _upward(node: Node, new_var: Callable[[str], str], centres: dict[str, Affine]) -> Node | None:
    """A node whose loops count upward; `centres`: what the new variables of the loops around are subtracted from."""
    if isinstance(node, Stmt):
        return _turned(node, centres)
    if not isinstance(node, Loop) or not isinstance(node.dim, Dim) or abs(node.dim.step) != 1:
        return None
    dim, body = node.dim, node.body
    if dim.step == -1:
        first = affine(dim.lo)
        if first is None or affine(dim.hi) is None:
            return None
        name = new_var(dim.var)
        body = tuple(_substituted(inner, {dim.var: minus(dim.lo, Var(name))}) for inner in body)
        dim = Dim(name, integer(0), minus(dim.lo, dim.hi))
        centres = {**centres, name: first}
    made: list[Node] = []
    for inner in body:
        turned = _upward(inner, new_var, centres)
        if turned is None:
            return None
        made.append(turned)
    return replace(node, dim=dim, body=tuple(made))


def _substituted(node: Node, values: dict[str, Expr]) -> Node:
    """A statement or a loop of statements with variables replaced; anything else as it is, for the caller to refuse."""
    if isinstance(node, Stmt):
        index = tuple(_plain(substitute(part, values)) for part in node.index)
        domain = map_domain(node.domain, lambda bound: _plain(substitute(bound, values)))
        return replace(node, domain=domain, index=index, value=_plain_places(substitute(node.value, values)))
    if isinstance(node, Loop):
        (dim,) = map_domain((node.dim,), lambda bound: _plain(substitute(bound, values)))
        body: Block = tuple(_substituted(inner, values) for inner in node.body)
        return replace(node, dim=dim, body=body)
    return node


def _plain(expr: Expr) -> Expr:
    form = affine(expr)
    return expr if form is None else expression(form)


def _plain_places(expr: Expr) -> Expr:
    """A value with the places that it reads, and the bounds of its sums, in the form that all others have."""
    expr = map_children(expr, _plain_places)
    if isinstance(expr, Read):
        return replace(expr, index=tuple(canonical(part) for part in expr.index))
    return replace(expr, dims=map_domain(expr.dims, _plain)) if isinstance(expr, Reduce) else expr


# --- dimensions the other way round ----------------------------------------------------------------------------------


def _turned(stmt: Stmt, centres: dict[str, Affine]) -> Stmt:
    """The statement whose dimensions grow, or shrink from below, with the loops around: those of which the other bound
    moves, by one against a loop, are counted from the loop's own end."""

    def centre(dim: AnyDim) -> Affine | None:
        bounds = [affine(bound) for bound in (dim.lo, dim.hi)] if isinstance(dim, Dim) and dim.step == 1 else [None]
        for name, end in centres.items():
            moves = [0 if form is None else form.coefficient(name) for form in bounds]
            if None not in bounds and sorted(moves) == [-1, 0]:
                return end
        return None

    return _reversed(stmt, centre)


def forward(stmt: Stmt) -> Stmt:
    """The statement with each dimension that it only ever subtracts in places running the other way."""
    places = [*stmt.index, *(part for read in reads(stmt.value) for part in read.index)]
    forms = [form for part in places if (form := affine(part)) is not None]
    backward = {name for form in forms for name in form.names if form.coefficient(name) == -1}
    backward -= {name for form in forms for name in form.names if form.coefficient(name) != -1}
    if not backward:
        return stmt

    def centre(dim: AnyDim) -> Affine | None:
        if not isinstance(dim, Dim) or dim.step != 1 or dim.var not in backward:
            return None
        form = next(form for form in forms if form.coefficient(dim.var) == -1)
        own = {inner.var for inner in stmt.domain if isinstance(inner, Dim)}
        own |= {inner.var for part in subexpressions(stmt.value) if isinstance(part, Reduce) for inner in _dims(part)}
        end = form.without(dim.var)
        return None if end.names & own else end

    return _reversed(stmt, centre)


def forward_nodes(nodes: Block) -> Block:
    """Statements, in loops or not, that run forward where they ran backward."""
    return tuple(
        forward(node) if isinstance(node, Stmt) and node.reduce is None else map_sub_blocks(node, forward_nodes)
        for node in nodes
    )


def _dims(part: Reduce) -> Iterator[Dim]:
    return (dim for dim in part.dims if isinstance(dim, Dim))


def _reversed(stmt: Stmt, centre: Callable[[AnyDim], Affine | None]) -> Stmt:
    """The statement with some dimensions counted from a place downward: i = centre - i'."""
    for position, dim in enumerate(stmt.domain):
        end = centre(dim)
        if end is not None and isinstance(dim, Dim):
            values: dict[str, Expr] = {dim.var: minus(expression(end), Var(dim.var))}
            inner = map_domain(stmt.domain[position + 1 :], lambda bound, v=values: _plain(substitute(bound, v)))  # type: ignore[misc]
            stmt = replace(
                stmt,
                domain=(*stmt.domain[:position], _mirrored(dim, end), *inner),
                index=tuple(_plain(substitute(part, values)) for part in stmt.index),
                value=_plain_places(substitute(stmt.value, values)),
            )

    def visit(expr: Expr) -> Expr:
        if isinstance(expr, Reduce) and expr.op == "add" and len(expr.dims) == 1:
            (dim,) = expr.dims
            end = centre(dim)
            if end is not None and isinstance(dim, Dim):
                there: dict[str, Expr] = {dim.var: minus(expression(end), Var(dim.var))}
                return replace(expr, dims=(_mirrored(dim, end),), value=_plain_places(substitute(expr.value, there)))
        return map_children(expr, visit)

    return replace(stmt, value=visit(stmt.value))


def _mirrored(dim: Dim, end: Affine) -> Dim:
    last = plus(expression(end), integer(1))
    return replace(dim, lo=_plain(minus(last, dim.hi)), hi=_plain(minus(last, dim.lo)))


__all__ = ["forward", "forward_nodes", "upward"]
