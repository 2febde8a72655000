"""What statements touch, seen from one dimension.  In: a node and the name of a dimension that is cut into tiles; out:
for each access the axis of the array that runs along with it, and by how much it is displaced.
"""

from __future__ import annotations

from collections.abc import Iterator

from weft.cluster.slices import Slice
from weft.ir import index
from weft.ir.expr import ONE, Cast, Dim, Domain, Expr, Op, Read, Reduce, integer
from weft.ir.footprint import Touch, domain_touches, expr_touches
from weft.ir.index import Affine, affine
from weft.ir.program import Block, Check, If, Library, Loop, Node, Stmt, While
from weft.ir.walk import free_vars, overwritten


def touches(node: Node, around: Domain = (), unsure: bool = False) -> Iterator[Touch]:
    """All accesses of a statement, check, library call, or of a loop or branch of them."""
    if isinstance(node, (Stmt, Check)):
        yield from domain_touches(node.domain, around, unsure)
        dims = around + node.domain
        parts = (*node.index, node.value) if isinstance(node, Stmt) else (node.condition, *node.values)
        for part in parts:
            yield from expr_touches(part, dims, unsure)
        if isinstance(node, Stmt):
            if node.reduce is not None:
                yield Touch(node.buffer, node.index, dims, unsure)
            yield Touch(node.buffer, node.index, dims, unsure, True)
    elif isinstance(node, Library):
        yield from domain_touches(node.domain, around, unsure)
        dims = around + node.domain
        changed = overwritten(node)
        for operand in (*node.inputs, *node.outputs):
            yield from domain_touches(operand.dims, dims, unsure)
        yield from (Touch(o.buffer, o.index, dims + o.dims, unsure) for o in node.inputs)
        for operand in (*node.inputs, *node.outputs):
            if operand.buffer in changed:
                yield Touch(operand.buffer, operand.index, dims + operand.dims, unsure, True)
        if node.status is not None:
            yield Touch(node.status, (), dims, unsure, True)
    elif isinstance(node, Loop):
        yield from domain_touches((node.dim,), around, unsure)
        yield from _block(node.body, (*around, node.dim), unsure)
    elif isinstance(node, If):
        yield from expr_touches(node.condition, around, unsure)
        yield from _block(node.then + node.orelse, around, True)
    elif isinstance(node, While):
        yield from _block(node.prelude, around, True)
        yield from expr_touches(node.condition, around, True)
        yield from _block(node.body, around, True)


def _block(block: Block, around: Domain, unsure: bool) -> Iterator[Touch]:
    for node in block:
        yield from touches(node, around, unsure)


def slice_of(touch: Touch, var: str) -> Slice | None:
    """The part of the array that an access touches while `var` runs over lo .. hi; None: any of it.

    One axis must be `var` plus what a few small dimensions add to it.
    """
    for axis, expr in enumerate(touch.index):
        form = affine(expr)
        if form is None or form.coefficient(var) != 1:
            continue
        ends = _ends(form.without(var), touch.dims)
        if ends is not None:
            return Slice(touch.buffer, axis, ends[0], ends[1], touch.unsure)
    return None


def _ends(form: Affine, dims: Domain) -> tuple[int, int] | None:
    """The least and the greatest value of a form over dimensions with constant bounds."""
    low = high = form.constant
    for name, coefficient in form.terms:
        dim = next((d for d in dims if d.var == name), None)
        if not isinstance(dim, Dim):
            return None
        first, past = affine(dim.lo), affine(dim.hi)
        if first is None or past is None or not (first.is_constant and past.is_constant):
            return None
        values = range(first.constant, past.constant, dim.step)
        if not values:
            return None
        ends = sorted((coefficient * values[0], coefficient * values[-1]))
        low, high = low + ends[0], high + ends[1]
    return low, high


def is_box(node: Node, name: str) -> tuple[tuple[Expr, Expr], ...] | None:
    """The range of each axis of array `name` that a node surely writes, every element of it; None if not known."""
    if isinstance(node, Library):
        operands = [o for o in node.outputs if o.buffer == name]
        if len(operands) != 1:
            return None
        return _box(node.domain + operands[0].dims, operands[0].index)
    if not isinstance(node, Stmt) or node.buffer != name or node.reduce is not None:
        return None
    return _box(node.domain, node.index)


def _box(domain: Domain, place: tuple[Expr, ...]) -> tuple[tuple[Expr, Expr], ...] | None:
    names = {dim.var for dim in domain}
    ranges: list[tuple[Expr, Expr]] = []
    used: set[str] = set()
    for expr in place:
        form = affine(expr)
        if form is None:
            return None
        own = form.names & names
        if not own:
            ranges.append((index.canonical(expr), index.add(expr, ONE)))
            continue
        dim = next(d for d in domain if d.var in own)
        rest = form.without(dim.var)
        if len(own) > 1 or dim.var in used or not isinstance(dim, Dim) or dim.step != 1:
            return None
        if form.coefficient(dim.var) != 1 or any(free_vars(e) & names for e in (dim.lo, dim.hi)):
            return None
        used.add(dim.var)
        shift = index.expression(rest) if rest.terms else integer(rest.constant)
        ranges.append((index.add(dim.lo, shift), index.add(dim.hi, shift)))
    return tuple(ranges) if used == names else None


def is_product(expr: Expr) -> bool:
    """Whether a sum is one of products of two arrays, each with a dimension that the other has not."""
    if not isinstance(expr, Reduce) or expr.op != "add":
        return False
    value = expr.value
    while isinstance(value, Cast):
        value = value.value
    if not isinstance(value, Op) or value.op != "mul":
        return False
    sides = [set().union(*(free_vars(e) for e in side.index)) for side in value.args if isinstance(side, Read)]
    return len(sides) == 2 and bool(sides[0] - sides[1]) and bool(sides[1] - sides[0])
