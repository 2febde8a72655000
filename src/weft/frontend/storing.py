"""Assignments to elements.  In: an array, what stands in the brackets, a value; out: statements that write it.

a[i] = x    a[i:j] = x    a[mask] = x    a[places] = x
"""

from __future__ import annotations

import ast

from weft.frontend import arrays, masks
from weft.frontend.building import Building
from weft.frontend.emit import Emitter
from weft.frontend.nested import rows_change
from weft.frontend.values import (
    Array,
    Mask,
    Scalar,
    Slice,
    Tuple,
    Value,
    describe,
)
from weft.frontend.writing import may_share, tells_place
from weft.ir import index as ix
from weft.ir import walk
from weft.ir.expr import Expr, Read, Var, integer
from weft.ir.program import (
    Block,
    Loop,
    Stmt,
)
from weft.ir.types import DType


def store(builder: Building, base: Array, key: Value, value: Value, node: ast.AST) -> None:
    """base[key] = value"""
    emitter = builder.emitter
    if base.view is None and base.part is None:
        raise builder.unsupported(node, "an assignment to an element of a temporary")
    if base.is_list and isinstance(key, Slice):
        raise builder.unsupported(node, "an assignment to a slice of a list")
    place = None
    if isinstance(value, Tuple):
        listed = _numbers(value, base, emitter)
        if listed is not None:
            place = builder.subscript(base, key, node, store=True)
            if _lies_alike(place, listed, emitter):
                _write_in_turn(place, listed, emitter)
                return
        value = builder.array_of(value, node, base.type if takes_integers(base) else None)
    if place is None:
        place = builder.subscript(base, key, node, store=True)
    if isinstance(place, Mask):
        masks.assign(place, value, emitter)
        return
    value = masks.settled(value, emitter)
    if isinstance(place, Scalar):
        store_scalar(builder, base, place, value, node)
    elif isinstance(place, Array) and data_dependent(place):
        scatter(builder, place, value, node)
    elif isinstance(place, Array) and base.is_list:
        rows_change(builder, base)
        raise builder.unsupported(node, "an assignment to a row of a list of lists", "assign its elements")
    else:
        assert isinstance(place, Array)
        arrays.store(place, value, emitter)


def _numbers(value: Tuple, base: Array, emitter: Emitter) -> list[Expr] | None:
    """The numbers of a list that NumPy converts one after the other, each before the next one is looked at."""
    if not takes_integers(base) or len(value.items) < 2 or not all(isinstance(item, Scalar) for item in value.items):
        return None
    numbers = [item.expr for item in value.items if isinstance(item, Scalar)]
    own, kinds = base.type.dtype, [number.type.dtype for number in numbers]
    if all(of is own or (own is DType.I64 and of.is_integer and of is not DType.U64) for of in kinds):
        return None  # none of them can fail
    return [emitter.snapshot(number, "item") for number in numbers]


def _lies_alike(place: Value, listed: list[Expr], emitter: Emitter) -> bool:
    """Whether a list has the very shape of the place: then NumPy makes no array of it first."""
    if not isinstance(place, Array) or place.rank != 1 or place.view is None or data_dependent(place):
        return False
    extent, length = emitter.resolve(place.shape[0]), integer(len(listed))
    if emitter.known_at_entry(extent) and emitter.sample_value(extent) == len(listed):
        emitter.same_size(extent, length, "ValueError", arrays.MISFIT, whole=False)
    return ix.difference(emitter.resolve(extent), length) == 0


def _write_in_turn(place: Value, listed: list[Expr], emitter: Emitter) -> None:
    """a[:2] = [x, y]   -->   a[0] = x; a[1] = y, as far as they can be converted"""
    assert isinstance(place, Array)
    assert place.view is not None
    for number, expr in enumerate(listed):
        converted = arrays.storable(arrays.element(expr, place.type, emitter), place.type, emitter)
        arrays.write(place, (), (integer(number),), converted, emitter)
    emitter.changed(place.view.buffer)


def store_scalar(builder: Building, base: Array, place: Scalar, value: Value, node: ast.AST) -> None:
    expr = place.expr
    assert isinstance(expr, Read)
    if isinstance(value, Array) and value.rank == 0:
        converted = arrays.storable(value.element(()), base.type, builder.emitter, base.is_list)
    elif isinstance(value, Scalar):
        element = value.expr if base.is_list else arrays.element(value.expr, base.type, builder.emitter)
        converted = arrays.storable(element, base.type, builder.emitter, base.is_list)
    else:
        reason = f"{describe(value)} assigned to one element of {describe(base)}"
        raise builder.unsupported(node, reason, "assign one number", value=value)
    builder.emitter.assign((), expr.buffer, expr.index, converted)
    builder.emitter.mutations += 1


def scatter(builder: Building, place: Array, value: Value, node: ast.AST) -> None:
    """array[indices] = value, in order: the last of several writes to one element stays."""
    emitter = builder.emitter
    source = arrays.without_leading_ones(arrays.assigned(value, place.type, emitter), place.rank)
    view = place.view or (place.part.view if place.part is not None else None)
    assert view is not None
    source = arrays.fitted(source, place.shape, emitter, _message(place, source))
    if may_share(source, view.buffer, emitter) or source.cost:
        source = arrays.materialise(source, emitter)
    if tells_place(view, place.rank, emitter):
        raise builder.unsupported(node, f"a store into {view.buffer} at indices that are parts of it", "add .copy()")
    dims, at = emitter.domain(place.shape)
    view, element = arrays.placed(place, at, arrays.storable(source.element(at), place.type, emitter), emitter)
    node_out: Block = (Stmt((), view.buffer, view.index(at), element, None, emitter.span),)
    for dim in reversed(dims):
        node_out = (Loop(dim, node_out, span=emitter.span),)
    emitter.emit(node_out[0])
    emitter.mutations += 1


def takes_integers(base: Array) -> bool:
    """Whether NumPy converts each number of an assigned list to an integer."""
    return base.type.dtype.is_integer and not base.is_list


def data_dependent(place: Array) -> bool:
    view = place.view or (place.part.view if place.part is not None else None)
    assert view is not None
    probe = view.index(tuple(Var(f"?{axis}") for axis in range(place.rank)))
    inner = {f"?{axis}" for axis in range(place.rank)}
    return any(walk.free_vars(read) & inner for expr in probe for read in walk.reads(expr))


def _message(place: Array, source: Array) -> str:
    if place.rank != 1 or source.rank != 1:
        return "shape mismatch: value array could not be broadcast to indexing result"
    return "shape mismatch: value array of shape ({1},) could not be broadcast to indexing result of shape ({0},)"
