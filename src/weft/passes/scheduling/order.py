"""The order of a statement's loops.  In: an atom's dimensions and accesses; out: the same dimensions, outermost first,
so that the innermost runs along memory, independent loops lie outside and reductions inside them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from weft.directives import NONE, Directives, Place, Shape
from weft.ir.expr import Const, Dim, Expr
from weft.ir.index import affine
from weft.ir.program import Buffer, Layout
from weft.ir.walk import free_vars, reads

if TYPE_CHECKING:
    from weft.passes.scheduling.lower import Atom

# What an inner loop gains or loses by an access: adjacent elements, one element all the time, elements a few apart, or
# far apart.
_ADJACENT, _FIXED, _NEAR, _FAR, _GATHERED = 4.0, 2.0, 0.0, -6.0, -3.0
# Elements that are so many apart share a line of the cache.
_LINE = 8


def order(
    atom: Atom, table: Mapping[str, Buffer], strict: bool, directives: Directives = NONE
) -> tuple[Dim, ...]:
    """The loops of an atom in the order to run them: weft's own, or that of a comment on its statement."""
    chosen = _chosen(atom, table, strict)
    shape = directives.shape_of(atom.span.line)
    if shape is None or len(chosen) < 2 or atom.ordered:
        return chosen
    return _as_told(atom, chosen, shape, strict, directives.literal)


def _as_told(atom: Atom, chosen: tuple[Dim, ...], shape: Shape, strict: bool, literal: bool) -> tuple[Dim, ...]:
    """Dimensions that a comment names run in its order, those whose sums are kept in registers behind the others.

    On a processor sums stay where weft has them (along memory), unless the order is meant `literal`ly.
    """
    at: dict[str, tuple[bool, int]] = {}
    for dim in chosen:
        for number, dimension in enumerate(shape.dimensions):
            if Place(shape.variable(dimension)).is_variable(dim.var):
                carried = atom.carries(dim.var)
                if literal or not carried:
                    at[dim.var] = (carried and any(d.registers for d in shape.dimensions), number)
    told = iter(sorted((dim for dim in chosen if dim.var in at), key=lambda dim: at[dim.var]))
    wanted = [next(told) if dim.var in at else dim for dim in chosen]
    if strict and [d for d in wanted if atom.carries(d.var)] != [d for d in chosen if atom.carries(d.var)]:
        return chosen
    return _nested(wanted)


def _chosen(atom: Atom, table: Mapping[str, Buffer], strict: bool) -> tuple[Dim, ...]:
    """The order that runs along memory.

    The terms of one reduction keep their order under strict floating point: reduced dimensions are then not permuted
    among themselves (moving one across an independent dimension changes no sum).
    """
    dims = atom.dims
    if len(dims) < 2 or atom.ordered:
        return dims
    carried = {dim.var for dim in dims if atom.carries(dim.var)}
    seen = dict.fromkeys(read for let in atom.lets for read in reads(let.value)) | dict.fromkeys(reads(atom.value))
    accesses = [(atom.buffer, atom.index, 2.0)]
    accesses += [(read.buffer, read.index, 1.0) for read in seen if read.index]
    scores = {dim.var: _inner_score(dim, accesses, table) for dim in dims}
    free_names = {dim.var for dim in dims} - carried
    alone = not any(free_vars(position) & free_names for _, index, _ in accesses[1:] for position in index)
    if alone and not (strict and atom.value.type.dtype.is_inexact):
        # No data run along the independent loops: an accumulator stays in a register and is added to in vectors.
        for name in carried:
            scores[name] += accesses[0][2] * (_ADJACENT - _FIXED)
    depths = {dim.var: _mean_axis(dim.var, accesses, table) for dim in dims}
    candidates = list(dims)
    if strict and carried:
        last_carried = [dim for dim in dims if dim.var in carried][-1]
        candidates = [dim for dim in dims if dim.var not in carried or dim is last_carried]
    used_by_bounds = {name for dim in dims for bound in (dim.lo, dim.hi) for name in free_vars(bound)}
    free = [dim for dim in candidates if dim.var not in used_by_bounds] or [dims[-1]]
    # Later dimensions win ties: the source's own inner loop.
    inner = max(reversed(free), key=lambda dim: scores[dim.var])
    outer = [dim for dim in dims if dim is not inner]
    at = {dim.var: place for place, dim in enumerate(dims)}

    def rank(dim: Dim) -> tuple[bool, float, int]:
        depth = 0.0 if dim.var in carried and strict else depths[dim.var]
        return (dim.var in carried, depth, at[dim.var])

    return _nested(sorted(outer, key=rank) + [inner])


def _nested(wanted: list[Dim]) -> tuple[Dim, ...]:
    """The dimensions as near to the wanted order as bounds that name other dimensions allow."""
    names = {dim.var for dim in wanted}
    placed: list[Dim] = []
    waiting = list(wanted)
    while waiting:
        done = {dim.var for dim in placed}
        ready = [d for d in waiting if (free_vars(d.lo) | free_vars(d.hi)) & names <= done]
        placed.append(ready[0])
        waiting.remove(ready[0])
    return tuple(placed)


def _fast_axes(buffer: Buffer) -> list[int]:
    """The axes of a buffer, the one with adjacent elements first."""
    axes = list(range(buffer.rank))
    return axes if buffer.layout is Layout.F else axes[::-1]


def _inner_score(dim: Dim, accesses: list[tuple[str, tuple[Expr, ...], float]], table: Mapping[str, Buffer]) -> float:
    """How well the accesses of a statement like `dim` as the innermost loop."""
    total = 0.0
    for name, index, weight in accesses:
        places = [axis for axis, position in enumerate(index) if dim.var in free_vars(position)]
        if not places:
            total += weight * _FIXED
            continue
        forms = [affine(index[axis]) for axis in places]
        if any(form is None for form in forms):
            total += weight * _GATHERED
        elif places == [_fast_axes(table[name])[0]] and abs(forms[0].coefficient(dim.var) * dim.step) == 1:  # type: ignore[union-attr]
            total += weight * _ADJACENT
        elif len(places) == 1 and _is_near(table[name], index, places[0]):
            total += weight * _NEAR
        else:
            total += weight * _FAR
    return total


def _is_near(buffer: Buffer, index: tuple[Expr, ...], axis: int) -> bool:
    """Whether neighbours on an axis are a few elements apart, one of which is looked at: points[i, 0]."""
    fast = _fast_axes(buffer)
    distance = 1
    for faster in fast[: fast.index(axis)]:
        size = buffer.shape[faster]
        if not isinstance(size, Const) or not isinstance(index[faster], Const):
            return False
        distance *= int(size.value.real)
    return distance <= _LINE


def _mean_axis(name: str, accesses: list[tuple[str, tuple[Expr, ...], float]], table: Mapping[str, Buffer]) -> float:
    """Where the accesses use a dimension, from -1 (slowest axis) to 0 (fastest)."""
    total = weights = 0.0
    for buffer, index, weight in accesses:
        fast = _fast_axes(table[buffer])
        for distance, axis in enumerate(fast):
            if name in free_vars(index[axis]):
                total -= weight * distance / max(len(fast) - 1, 1)
                weights += weight
    return round(total / weights, 1) if weights else 0.0
