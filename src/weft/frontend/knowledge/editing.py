"""Arrays with parts put in or taken out, or put together of blocks: insert, delete, block, r_, c_, resize."""

from __future__ import annotations

import numpy as np

from weft.errors import Unsupported
from weft.frontend import arith, arrays, indexing, knowledge, masks
from weft.frontend.emit import Emitter
from weft.frontend.knowledge import Bound, native
from weft.frontend.knowledge.assembling import at_least
from weft.frontend.knowledge.creation import shape_of
from weft.frontend.knowledge.rearranging import part
from weft.frontend.knowledge.reshaping import flattened
from weft.frontend.knowledge.selecting import axis_of, operand
from weft.frontend.knowledge.shaping import joined
from weft.frontend.storing import store
from weft.frontend.values import Array, Index, Scalar, Slice, Tuple, Value, describe
from weft.ir import index as ix
from weft.ir.expr import ONE, ZERO, Expr, Op
from weft.ir.types import BOOL, INT, DType, ScalarType, promote


def _along(call: Bound, name: str = "arr") -> tuple[Array, int]:
    """The array and the axis; without an axis the flat array."""
    array = operand(call, name)
    axis = axis_of(call, array.rank)
    if axis is None:
        return flattened(array, call.builder.emitter), 0
    return array, axis


def _cast(array: Array, like: Array, emitter: Emitter) -> Array:
    of = like.type.strong
    if array.type.dtype.is_complex and not of.dtype.is_complex:
        raise Unsupported(emitter.span, "a complex value stored into a real array", "take .real first")
    return Array(array.shape, of, lambda at: arith.cast(array.element(at), of), cost=array.cost + 1)


# --- insert and delete ----------------------------------------------------------------------------------------------


@native(np.delete, parameters="arr obj axis")
def _delete(call: Bound) -> Value:
    emitter = call.builder.emitter
    array, axis = _along(call)
    extent = array.shape[axis]
    where = call.need("obj")
    if isinstance(where, Scalar) and where.type.dtype is not DType.BOOL:
        place = emitter.snapshot(indexing.position(array, axis, where.expr, emitter), "place")
        after = ix.add(place, ONE)
        return joined([part(array, axis, ZERO, place), part(array, axis, after, ix.sub(extent, after))], axis, emitter)
    if isinstance(where, Tuple):
        if not where.items:
            return arrays.materialise(array, emitter, "copy")
        where = call.builder.array_of(where, None)
    if not isinstance(where, (Array, Slice)):
        raise Unsupported(emitter.span, f"np.delete at {describe(where)}")
    if isinstance(where, Array) and where.type.dtype is DType.BOOL:
        mask = where
        if mask.rank != 1:
            raise Unsupported(emitter.span, "np.delete by a mask that is not one-dimensional")
        message = "boolean array argument obj to delete must be one dimensional and match the axis length"
        emitter.same_size(extent, mask.shape[0], "ValueError", message)
        gone = mask
    else:
        keep = arrays.materialise(Array((extent,), BOOL, lambda _: arith.condition(ZERO)), emitter, "gone")
        store(call.builder, keep, where, Scalar(arith.condition(ONE)), call.builder.calling)
        gone = keep
    kept = Array(gone.shape, BOOL, lambda at: arith.negate(gone.element(at)), cost=gone.cost + 1)
    return masks.compressed(array, kept, axis, emitter)


@native(np.insert, parameters="arr obj values axis")
def _insert(call: Bound) -> Value:
    emitter = call.builder.emitter
    array, axis = _along(call)
    where = call.need("obj")
    values = operand(call, "values", array.type)
    if isinstance(where, Tuple) and len(where.items) == 1:
        where = where.items[0] if not values.rank else where
    if isinstance(where, Scalar) and where.type.dtype is not DType.BOOL:
        if not values.rank:
            arrays.weak_int(values.element(()), array.type, emitter)
        return _insert_at(call, array, axis, where, _cast(values, array, emitter))
    if isinstance(where, Tuple):
        where = call.builder.array_of(where, None)
    if not isinstance(where, Array) or not where.type.dtype.is_integer or where.rank != 1 or array.rank != 1:
        what = f"np.insert at {describe(where)} into {describe(array)}"
        raise Unsupported(emitter.span, what, "insert at one place, or into an array of rank 1")
    given: dict[str, Value] = {"arr": array, "places": where, "values": values}
    return call.builder.expand(inserted, given)


def _insert_at(call: Bound, array: Array, axis: int, where: Scalar, values: Array) -> Array:
    """One place: the values go between what is before it and what follows."""
    emitter = call.builder.emitter
    extent = array.shape[axis]
    longer = Array((ix.add(extent, ONE),), array.type, array.element, is_list=False)
    place = emitter.snapshot(_insertion(longer, extent, axis, where.expr, emitter), "place")
    lead = array.rank - values.rank
    if lead < 0:
        raise Unsupported(emitter.span, "ValueError: np.insert of values of more axes than the array has")
    block = arrays.remap(values, (ONE,) * lead + values.shape, lambda at: at[lead:])
    # The first axis of the values goes along the axis of the insertion.
    order = [*range(1, axis + 1), 0, *range(axis + 1, array.rank)]
    inverse = [order.index(k) for k in range(array.rank)]
    block = arrays.remap(block, tuple(block.shape[k] for k in order), lambda at: tuple(at[k] for k in inverse))
    shape = list(array.shape)
    shape[axis] = block.shape[axis]
    block = arrays.fitted(block, tuple(shape), emitter)
    return joined(
        [part(array, axis, ZERO, place), block, part(array, axis, place, ix.sub(extent, place))], axis, emitter
    )


def _insertion(longer: Array, extent: Expr, axis: int, expr: Expr, emitter: Emitter) -> Expr:
    """A place from 0 to the length; negative ones count from the end."""
    expr = arith.cast(expr, INT)
    if emitter.assure(expr, "IndexError") and emitter.assure(ix.sub(extent, expr), "IndexError"):
        return expr
    expr = emitter.snapshot(expr, "place")
    wrapped = emitter.snapshot(indexing.wrap(expr, extent), "place")
    inside = arith.conjunction(Op("ge", (wrapped, ZERO), BOOL), Op("le", (wrapped, extent), BOOL))
    emitter.check(inside, "IndexError", f"index {{0}} is out of bounds for axis {axis} with size {{1}}", (expr, extent))
    return wrapped


def inserted(arr, places, values):  # type: ignore[no-untyped-def]
    """Values at several places, each counted in the array as it was."""
    n = len(arr)
    positions = np.where(places < 0, places + n, places)
    if np.any((positions < 0) | (positions > n)):
        raise IndexError("index out of bounds")
    order = np.argsort(positions, kind="stable")
    positions[order] += np.arange(len(positions))
    result = np.empty(n + len(positions), dtype=arr.dtype)
    old = np.ones(n + len(positions), dtype=np.bool_)
    old[positions] = False
    result[positions] = values
    result[old] = arr
    return result


# --- blocks ---------------------------------------------------------------------------------------------------------


def _depth(value: Value) -> int:
    return 1 + _depth(value.items[0]) if isinstance(value, Tuple) and value.is_list and value.items else 0


@native(np.block, parameters="arrays")
def _block(call: Bound) -> Value:
    """The innermost lists are joined along the last axis, those around them along the one before."""
    emitter = call.builder.emitter
    given = call.need("arrays")
    depth = _depth(given)
    if isinstance(given, Tuple) and not given.is_list:
        raise Unsupported(emitter.span, "TypeError: np.block of a tuple", "pass a list")
    if not depth:
        return arrays.materialise(operand(call, "arrays"), emitter, "copy")
    leaves: list[Array] = []

    def collect(value: Value, level: int) -> None:
        if isinstance(value, Tuple) and value.is_list:
            for item in value.items:
                collect(item, level + 1)
            return
        if level != depth:
            raise Unsupported(emitter.span, "ValueError: List depths are mismatched.")
        leaves.append(operand(Bound(call.builder, call.name, {"item": value}), "item"))

    collect(given, 0)
    rank = max(depth, *(leaf.rank for leaf in leaves))
    made = iter(leaves)

    def build(value: Value, level: int) -> Array:
        if not (isinstance(value, Tuple) and value.is_list):
            leaf = next(made)
            lead = rank - leaf.rank
            return arrays.remap(leaf, (ONE,) * lead + leaf.shape, lambda at: at[lead:])
        if not value.items:
            raise Unsupported(emitter.span, "ValueError: List cannot be empty")
        return joined([build(item, level + 1) for item in value.items], rank - depth + level, emitter)

    return build(given, 0)


def _pieces(call: Bound, key: Value) -> list[Array]:
    """The arguments of r_ and c_: arrays, numbers, and slices that are ranges or points."""
    emitter = call.builder.emitter
    items = key.items if isinstance(key, Tuple) and not key.is_list else (key,)
    grid = knowledge.lookup(np.mgrid)
    assert grid is not None
    result: list[Array] = []
    for item in items:
        if isinstance(item, Slice):
            item = grid.call(call.builder, [item], {})
        if not isinstance(item, (Array, Scalar, Tuple)):
            raise Unsupported(emitter.span, f"{call.name} with this item")
        result.append(operand(Bound(call.builder, call.name, {"item": item}), "item"))
    # A number gives way to the type of the arrays.
    of = result[0].type
    for piece in result[1:]:
        of = promote(of, piece.type)
    for piece in result:
        if piece.type.weak and not piece.rank:
            arrays.weak_int(piece.element(()), of.strong, emitter)
    return [_of_type(piece, of.strong) if piece.type.weak else piece for piece in result]


def _of_type(piece: Array, of: ScalarType) -> Array:
    return Array(piece.shape, of, lambda at: arith.cast(piece.element(at), of), cost=piece.cost + 1)


@native(np.r_, parameters="key", name="r_")
def _rows(call: Bound) -> Value:
    pieces = [at_least(piece, 1) for piece in _pieces(call, call.need("key"))]
    if len({piece.rank for piece in pieces}) != 1:
        raise Unsupported(call.builder.emitter.span, "ValueError: np.r_ of arrays of different ranks")
    return joined(pieces, 0, call.builder.emitter)


@native(np.c_, parameters="key", name="c_")
def _columns(call: Bound) -> Value:
    pieces = [_column(piece) for piece in _pieces(call, call.need("key"))]
    if len({piece.rank for piece in pieces}) != 1:
        raise Unsupported(call.builder.emitter.span, "ValueError: np.c_ of arrays of different ranks")
    return joined(pieces, pieces[0].rank - 1, call.builder.emitter)


def _column(piece: Array) -> Array:
    if piece.rank >= 2:
        return piece
    own = piece.rank
    shape = piece.shape if own else (ONE,)
    return arrays.remap(piece, (*shape, ONE), lambda at: at[:own])


@native(np.s_, parameters="key", name="s_")
def _slices(call: Bound) -> Value:
    return call.need("key")


@native(np.index_exp, parameters="key", name="index_exp")
def _index_expression(call: Bound) -> Value:
    key = call.need("key")
    return key if isinstance(key, Tuple) else Tuple((key,))


# --- other sizes ----------------------------------------------------------------------------------------------------


@native(np.resize, parameters="a new_shape", boxes=True)
def _resize(call: Bound) -> Value:
    """The elements in C order, from the start again as often as needed."""
    emitter = call.builder.emitter
    array = operand(call, "a")
    source = arrays.evaluated(flattened(array, emitter), emitter)
    shape = shape_of(call.need("new_shape"), emitter)
    count = source.shape[0]
    empty = [extent for extent in array.shape if emitter.sample_value(emitter.resolve(extent)) == 0]
    if empty:
        emitter.same_size(empty[0], ZERO, "RuntimeError", "")
        zero = arith.cast(ZERO, array.type.strong)
        return arrays.materialise(Array(shape, array.type.strong, lambda _: zero), emitter, "resized")
    if not all(emitter.assure(ix.sub(extent, ONE), "RuntimeError") for extent in array.shape):
        raise Unsupported(emitter.span, "np.resize of an array that may be empty")

    def element(at: Index) -> Expr:
        position: Expr = ZERO
        for extent, variable in zip(shape, at):
            position = ix.add(ix.mul(position, extent), variable)
        return source.element((Op("mod", (position, count), INT),))

    return arrays.materialise(Array(shape, source.type.strong, element, cost=2), emitter, "resized")
