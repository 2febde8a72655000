"""Arrays seen otherwise: transposes, reshapes of contiguous arrays, axes added and dropped, casts, diagonals, joins."""

from __future__ import annotations

import numpy as np

from weft.errors import Unsupported
from weft.frontend import arith, arrays
from weft.frontend.constants import constant, constant_axis, constant_bool, constant_int
from weft.frontend.emit import Emitter
from weft.frontend.knowledge import Bound, native
from weft.frontend.knowledge.creation import dtype_named, shape_of
from weft.frontend.knowledge.reshaping import flattened
from weft.frontend.knowledge.ufuncs import as_plain
from weft.frontend.values import Array, Index, Object, Scalar, Tuple, Value
from weft.ir import index as ix
from weft.ir.expr import ONE, ZERO, Const, Expr, Op
from weft.ir.types import BOOL, INT, DType, ScalarType, promote


def _operand(call: Bound, name: str = "a") -> Array:
    return arrays.as_array(as_plain(call.need(name)), call.builder.emitter)


def permuted(array: Array, order: tuple[int, ...]) -> Array:
    """The array with axis k of the result taken from axis order[k]."""
    inverse = [order.index(axis) for axis in range(array.rank)]
    return arrays.remap(array, tuple(array.shape[axis] for axis in order), lambda at: tuple(at[k] for k in inverse))


@native(np.transpose, parameters="a axes")
def _transpose(call: Bound) -> Value:
    array = _operand(call)
    axes, emitter = call.get("axes"), call.builder.emitter
    order = (
        tuple(reversed(range(array.rank))) if axes is None else _axes(constant(axes, emitter), array.rank, emitter)
    )
    return permuted(array, order)


@native(parameters="a *axes", method="transpose")
def _transpose_method(call: Bound) -> Value:
    array = _operand(call)
    emitter = call.builder.emitter
    given = [constant(value, emitter) for value in call.rest]
    if len(given) == 1 and (isinstance(given[0], tuple) or given[0] is None):
        given = list(given[0] or ())
    order = _axes(tuple(given), array.rank, emitter) if given else tuple(reversed(range(array.rank)))
    return permuted(array, order)


def _axes(order: tuple[int, ...], rank: int, emitter: Emitter) -> tuple[int, ...]:
    inside = all(-rank <= axis < rank for axis in order)
    if not inside or sorted(axis % rank for axis in order) != list(range(rank)):
        raise Unsupported(emitter.span, "ValueError: axes that are not those of the array")
    return tuple(axis % rank for axis in order)


@native(np.swapaxes, parameters="a axis1 axis2", method="swapaxes")
def _swapaxes(call: Bound) -> Value:
    array = _operand(call)
    order = list(range(array.rank))
    first, second = (constant_int(call.need(n), call.builder.emitter) for n in ("axis1", "axis2"))
    order[first], order[second] = order[second], order[first]
    return permuted(array, tuple(order))


@native(np.moveaxis, parameters="a source destination")
def _moveaxis(call: Bound) -> Value:
    array = _operand(call)
    source, target = (constant_int(call.need(n), call.builder.emitter) % array.rank for n in ("source", "destination"))
    order = [axis for axis in range(array.rank) if axis != source]
    order.insert(target, source)
    return permuted(array, tuple(order))


@native(np.expand_dims, parameters="a axis")
def _expand_dims(call: Bound) -> Value:
    array = _operand(call)
    axis = constant_int(call.need("axis"), call.builder.emitter) % (array.rank + 1)
    shape = (*array.shape[:axis], ONE, *array.shape[axis:])
    return arrays.remap(array, shape, lambda at: at[:axis] + at[axis + 1 :])


@native(np.squeeze, parameters="a axis", method="squeeze")
def _squeeze(call: Bound) -> Value:
    array = _operand(call)
    axis = constant_axis(call.get("axis"), call.builder.emitter)
    dropped = (
        {k for k, extent in enumerate(array.shape) if arrays.is_one(extent)}
        if axis is None
        else set(arrays.normalise_axes(axis, array.rank, call.builder.emitter))
    )
    if any(not arrays.is_one(array.shape[k]) for k in dropped):
        raise Unsupported(
            call.builder.emitter.span,
            "ValueError: cannot select an axis to squeeze out which has size not equal to one",
        )
    if not dropped:
        return array
    kept = [k for k in range(array.rank) if k not in dropped]

    def index(at: Index) -> Index:
        place = dict(zip(kept, at))
        return tuple(place.get(k, ZERO) for k in range(array.rank))

    return arrays.remap(array, tuple(array.shape[k] for k in kept), index)


@native(np.flip, parameters="a axis")
def _flip(call: Bound) -> Value:
    array = _operand(call)
    for axis in arrays.normalise_axes(
        constant_axis(call.get("axis"), call.builder.emitter), array.rank, call.builder.emitter
    ):
        array = arrays.flip(array, axis)
    return array


@native(np.broadcast_to, parameters="a shape")
def _broadcast_to(call: Bound) -> Value:
    array = _operand(call)
    shape = arrays.broadcast_shapes(
        [array.shape, shape_of(call.need("shape"), call.builder.emitter)], call.builder.emitter
    )
    return arrays.read_only(arrays.broadcast_to(array, shape))


@native(
    parameters="a dtype order casting subok copy",
    method="astype",
    only={"order": ("'K'", "'C'", "'A'"), "casting": ("'unsafe'",)},
)
def _astype(call: Bound) -> Value:
    value = call.need("a")
    emitter = call.builder.emitter
    of = dtype_named(constant(call.need("dtype"), emitter), emitter)
    _plain_astype(call)
    if isinstance(value, Scalar):
        return Scalar(arith.cast(value.expr, of))
    array = _operand(call)
    if array.type == of and not constant_bool(call.get("copy"), emitter, True):
        return array
    if array.type.dtype.is_complex and not of.dtype.is_complex:
        return Array(array.shape, of, lambda at: _discarding(array.element(at), of, emitter), cost=array.cost + 1)
    return Array(array.shape, of, lambda at: arith.cast(array.element(at), of), cost=array.cost + 1)


def _plain_astype(call: Bound) -> None:
    emitter = call.builder.emitter
    for name, allowed in (("order", ("K", "C", "A")), ("casting", ("unsafe",))):
        given = call.get(name)
        if given is not None and constant(given, emitter) not in allowed:
            raise Unsupported(emitter.span, f"{name}= of astype()")


def _discarding(expr: Expr, of: ScalarType, emitter: Emitter) -> Expr:
    """A complex number as a real one: the imaginary part is dropped, but counts for the truth."""
    if of.dtype is DType.BOOL:
        return arith.condition(expr)
    return arith.cast(arith.function("real", (expr,), emitter.span), of)


@native(parameters="a value", method="fill")
def _fill(call: Bound) -> Value:
    target = call.need("a")
    if not isinstance(target, Array):
        raise Unsupported(call.builder.emitter.span, "fill of something that is not an array")
    arrays.store(target, call.need("value"), call.builder.emitter)
    return Object(None)


# --- parts and joins ------------------------------------------------------------------------------------------------


def diagonal(array: Array, emitter: Emitter) -> Array:
    extent = array.shape[0]
    if ix.difference(array.shape[0], array.shape[1]) != 0:
        extent = emitter.snapshot(Op("minimum", (array.shape[0], array.shape[1]), INT), "n")
    return arrays.remap(array, (extent,), lambda at: (at[0], at[0]))


@native(np.diag, parameters="a")
def _diag(call: Bound) -> Value:
    array = _operand(call)
    if array.rank == 2:
        return arrays.read_only(diagonal(array, call.builder.emitter))
    zero = arith.cast(Const(0, INT), array.type)

    def element(at: Index) -> Expr:
        return Op("select", (Op("eq", (at[0], at[1]), BOOL), array.element((at[0],)), zero), array.type)

    return Array((array.shape[0], array.shape[0]), array.type, element, cost=array.cost + 1)


def _triangle(function: object, op: str) -> None:
    @native(function, parameters="a k")
    def build(call: Bound) -> Value:
        array = _operand(call)
        if array.rank != 2:
            raise Unsupported(call.builder.emitter.span, f"{call.name}() of an array that is not a matrix")
        offset = call.get("k")
        shift = ZERO if offset is None else Const(constant_int(offset, call.builder.emitter), INT)
        zero = arith.cast(Const(0, INT), array.type)

        def element(at: Index) -> Expr:
            inside = Op(op, (at[1], ix.add(at[0], shift)), BOOL)
            return Op("select", (inside, array.element(at), zero), array.type)

        return Array(array.shape, array.type.strong, element, cost=array.cost + 1)


_triangle(np.triu, "ge")
_triangle(np.tril, "le")


@native(np.concatenate, parameters="arrays axis")
def _concatenate(call: Bound) -> Value:
    emitter = call.builder.emitter
    given = call.need("arrays")
    if not isinstance(given, Tuple):
        raise Unsupported(emitter.span, "np.concatenate of something that is not a tuple or list of arrays")
    parts = [arrays.as_array(as_plain(item), emitter) for item in given.items]
    if "axis" in call.given and call.get("axis") is None:
        return joined([flattened(part, emitter) for part in parts], 0, emitter)
    axis = 0 if call.get("axis") is None else constant_int(call.need("axis"), emitter)
    rank = parts[0].rank if parts else 0
    if not -rank <= axis < rank or any(part.rank != rank for part in parts):
        raise Unsupported(emitter.span, "np.concatenate of arrays that do not fit, or along an axis they do not have")
    return joined(parts, axis % rank, emitter)


def joined(parts: list[Array], axis: int, emitter: Emitter) -> Array:
    """The arrays one after the other along `axis`."""
    of = parts[0].type.strong
    shape = list(parts[0].shape)
    for part in parts[1:]:
        of = promote(of, part.type.strong)
        for k in range(len(shape)):
            if k != axis:
                message = "all the input array dimensions except for the concatenation axis must match exactly"
                shape[k] = emitter.same_size(shape[k], part.shape[k], "ValueError", message)
        shape[axis] = ix.add(shape[axis], part.shape[axis])
    buffer = emitter.allocate("joined", of, tuple(shape))
    start: Expr = ZERO
    whole = arrays.of_buffer(buffer)
    for part in parts:
        offset = start

        def shifted(at: Index, offset: Expr = offset) -> Index:
            return (*at[:axis], ix.add(at[axis], offset), *at[axis + 1 :])

        arrays.store(arrays.remap(whole, part.shape, shifted), part, emitter, fresh=True)
        start = ix.add(start, part.shape[axis])
    return whole


def _stack(function: object) -> None:
    @native(function, parameters="arrays axis" if function is np.stack else "tup")
    def build(call: Bound) -> Value:
        emitter = call.builder.emitter
        given = call.need("arrays" if function is np.stack else "tup")
        if not isinstance(given, Tuple):
            raise Unsupported(emitter.span, f"{call.name}() of something that is not a tuple or list of arrays")
        parts = [arrays.as_array(as_plain(item), emitter) for item in given.items]
        if function is not np.stack:
            parts = [flattened(part, emitter) if not part.rank else part for part in parts]
        if len({part.rank for part in parts}) != 1:
            raise Unsupported(emitter.span, f"{call.name}() of nothing, or of arrays of different ranks")
        if function is np.stack:
            axis = 0 if call.get("axis") is None else constant_int(call.need("axis"), emitter) % (parts[0].rank + 1)
            lifted = [_lift(part, axis) for part in parts]
            return joined(lifted, axis, emitter)
        if function is np.hstack:
            return joined(parts, 0 if parts[0].rank == 1 else 1, emitter)
        return joined([_lift(part, 0) if part.rank == 1 else part for part in parts], 0, emitter)


def _lift(part: Array, axis: int) -> Array:
    shape = (*part.shape[:axis], ONE, *part.shape[axis:])
    return arrays.remap(part, shape, lambda at: at[:axis] + at[axis + 1 :])


for _function in (np.stack, np.hstack, np.vstack):
    _stack(_function)


@native(np.roll, parameters="a shift axis")
def _roll(call: Bound) -> Value:
    array = _operand(call)
    emitter = call.builder.emitter
    axis = constant_axis(call.get("axis"), emitter)
    if axis is None and array.rank == 1:
        axis = 0
    if not isinstance(axis, int):
        raise Unsupported(emitter.span, "np.roll along several axes", "roll one axis after the other")
    axis %= array.rank
    shift = call.need("shift")
    if not isinstance(shift, Scalar):
        raise Unsupported(emitter.span, "np.roll by several shifts")
    source = arrays.evaluated(array, emitter)
    extent = source.shape[axis]
    buffer = emitter.allocate("rolled", source.type.strong, source.shape)
    whole = arrays.of_buffer(buffer)
    amount = emitter.snapshot(Op("mod", (arith.cast(shift.expr, INT), Op("maximum", (extent, ONE), INT)), INT), "shift")
    # Two copies: the part that moves up, and the part that wraps around.
    for count, read_from, write_to in (
        (ix.sub(extent, amount), ZERO, amount),
        (amount, ix.sub(extent, amount), ZERO),
    ):
        shape = (*source.shape[:axis], count, *source.shape[axis + 1 :])

        def moved(at: Index, offset: Expr) -> Index:
            return (*at[:axis], ix.add(at[axis], offset), *at[axis + 1 :])

        target = arrays.remap(whole, shape, lambda at, o=write_to: moved(at, o))  # type: ignore[misc]
        part = arrays.remap(source, shape, lambda at, o=read_from: moved(at, o))  # type: ignore[misc]
        arrays.store(target, part, emitter, fresh=True)
    return whole
