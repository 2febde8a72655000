"""Arrays seen otherwise: transposes, reshapes of contiguous arrays, axes added and dropped, casts, diagonals, joins."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from weft.errors import Unsupported
from weft.frontend import arith, arrays, masks
from weft.frontend.arrays import Plan
from weft.frontend.blocks import joined_run
from weft.frontend.constants import constant, constant_axis, constant_bool, constant_int
from weft.frontend.emit import Emitter
from weft.frontend.knowledge import Bound, native
from weft.frontend.knowledge.creation import dtype_named, shape_of
from weft.frontend.knowledge.reshaping import flattened, reshaped
from weft.frontend.knowledge.ufuncs import as_plain
from weft.frontend.values import Array, Index, Object, Records, Rows, Scalar, Stack, Tuple, Value, describe
from weft.ir import index as ix
from weft.ir.expr import ONE, ZERO, Const, Expr, Op, integer
from weft.ir.types import BOOL, INT, DType, ScalarType, promote


def _operand(call: Bound, name: str = "a") -> Array:
    return arrays.as_array(as_plain(call.need(name)), call.builder.emitter)


def permuted(array: Array, order: tuple[int, ...]) -> Array:
    """The array with axis k of the result taken from axis order[k]."""
    inverse = [order.index(axis) for axis in range(array.rank)]
    return arrays.remap(array, tuple(array.shape[axis] for axis in order), lambda at: tuple(at[k] for k in inverse))


@native(np.transpose, parameters="a axes", boxes=True)
def _transpose(call: Bound) -> Value:
    array = _operand(call)
    axes, emitter = call.get("axes"), call.builder.emitter
    order = tuple(reversed(range(array.rank))) if axes is None else _axes(constant(axes, emitter), array.rank, emitter)
    return permuted(array, order)


@native(parameters="a *axes", method="transpose")
def _transpose_method(call: Bound) -> Value:
    array = _operand(call)
    emitter = call.builder.emitter
    given = [constant(value, emitter) for value in call.rest]
    if len(given) == 1 and not isinstance(given[0], int):
        given = given[0]
    order = _axes(given, array.rank, emitter) if given not in (None, []) else tuple(reversed(range(array.rank)))
    return permuted(array, order)


def _axes(order: Any, rank: int, emitter: Emitter) -> tuple[int, ...]:
    """A constant that names every axis once."""
    order = (order,) if isinstance(order, int) else tuple(order)
    inside = all(isinstance(axis, int) and -rank <= axis < rank for axis in order)
    if not inside or sorted(axis % rank for axis in order) != list(range(rank)):
        raise Unsupported(emitter.span, "ValueError: axes that are not those of the array")
    return tuple(axis % rank for axis in order)


@native(np.swapaxes, parameters="a axis1 axis2", method="swapaxes")
def _swapaxes(call: Bound) -> Value:
    array = _operand(call)
    order = list(range(array.rank))
    emitter = call.builder.emitter
    wanted = [constant_int(call.need(name), emitter) for name in ("axis1", "axis2")]
    first, second = (arrays.normalise_axes(axis, array.rank, emitter)[0] for axis in wanted)
    order[first], order[second] = order[second], order[first]
    return permuted(array, tuple(order))


@native(np.moveaxis, parameters="a source destination", boxes=True)
def _moveaxis(call: Bound) -> Value:
    array, emitter = _operand(call), call.builder.emitter
    given = [constant(call.need(name), emitter) for name in ("source", "destination")]
    source, target = (
        arrays.normalise_axes(tuple(axes) if isinstance(axes, (tuple, list)) else axes, array.rank, emitter)
        for axes in given
    )
    if len(source) != len(target):
        raise Unsupported(
            emitter.span, "ValueError: `source` and `destination` arguments must have the same number of elements"
        )
    order = [axis for axis in range(array.rank) if axis not in source]
    for place, axis in sorted(zip(target, source)):
        order.insert(place, axis)
    return permuted(array, tuple(order))


@native(np.expand_dims, parameters="a axis")
def _expand_dims(call: Bound) -> Value:
    array, emitter = _operand(call), call.builder.emitter
    given = constant(call.need("axis"), emitter)
    wanted = tuple(given) if isinstance(given, (tuple, list)) else (given,)
    if not all(isinstance(axis, int) for axis in wanted):
        raise Unsupported(emitter.span, f"np.expand_dims along the axis {given!r}")
    axes = arrays.normalise_axes(wanted, array.rank + len(wanted), emitter)
    if not array.rank and not axes:
        raise Unsupported(emitter.span, "np.expand_dims of a number along no axis")
    own = iter(array.shape)
    shape = tuple(ONE if axis in axes else next(own) for axis in range(array.rank + len(axes)))
    return arrays.remap(array, shape, lambda at: tuple(i for axis, i in enumerate(at) if axis not in axes))


@native(np.squeeze, parameters="a axis", method="squeeze", boxes=True)
def _squeeze(call: Bound) -> Value:
    array, emitter = _operand(call), call.builder.emitter
    axis = constant_axis(call.get("axis"), emitter)
    dropped = (
        {k for k, extent in enumerate(array.shape) if arrays.is_one(extent)}
        if axis is None
        else set(arrays.normalise_axes(axis, array.rank, emitter))
    )
    if any(not arrays.is_one(array.shape[k]) for k in dropped):
        raise Unsupported(
            emitter.span,
            "ValueError: cannot select an axis to squeeze out which has size not equal to one",
        )
    if axis is None and not all(k in dropped or emitter.never_one(array.shape[k]) for k in range(array.rank)):
        raise Unsupported(emitter.span, "squeeze() of an array of which only the run time knows which axes are dropped")
    if not dropped:
        return array
    kept = [k for k in range(array.rank) if k not in dropped]

    def index(at: Index) -> Index:
        place = dict(zip(kept, at))
        return tuple(place.get(k, ZERO) for k in range(array.rank))

    return arrays.remap(array, tuple(array.shape[k] for k in kept), index)


@native(np.flip, parameters="a axis")
def _flip(call: Bound) -> Value:
    array, emitter = _operand(call), call.builder.emitter
    if not array.rank:
        raise Unsupported(emitter.span, "np.flip() of a number")
    axes = arrays.normalise_axes(constant_axis(call.get("axis"), emitter), array.rank, emitter)
    for axis in axes:
        array = arrays.flip(array, axis)
    return array if axes else arrays.remap(array, array.shape, lambda at: at)


@native(np.broadcast_to, parameters="a shape", borrows=True, boxes=True)
def _broadcast_to(call: Bound) -> Value:
    array, emitter = _operand(call), call.builder.emitter
    shape = shape_of(call.need("shape"), emitter)
    return arrays.read_only(arrays.fitted(array, shape, emitter, "operands could not be broadcast together"))


@native(
    parameters="a dtype order casting subok copy",
    method="astype",
    only={"order": ("'K'", "'C'", "'A'"), "casting": ("'unsafe'",)},
    boxes=True,
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
            raise Unsupported(emitter.span, f"{name}= of astype()", "leave it out")


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
    value = call.need("value")
    if not isinstance(value, Scalar) and not (isinstance(value, Array) and not value.rank):
        raise Unsupported(call.builder.emitter.span, f"ValueError: fill by {describe(value)}, which is not one number")
    arrays.store(target, value, call.builder.emitter)
    return Object(None)


# --- parts and joins ------------------------------------------------------------------------------------------------


def diagonal(array: Array, emitter: Emitter, offset: int = 0) -> Array:
    """The elements a[k, k + offset] of a matrix, as a view."""
    below, right = integer(max(-offset, 0)), integer(max(offset, 0))
    rows, columns = ix.sub(array.shape[0], below), ix.sub(array.shape[1], right)
    extent = rows
    if ix.difference(rows, columns) != 0:
        extent = emitter.snapshot(Op("minimum", (rows, columns), INT), "n")
    if offset and not emitter.assure(extent, "RuntimeError"):
        extent = emitter.snapshot(Op("maximum", (extent, ZERO), INT), "n")
    return arrays.remap(array, (extent,), lambda at: (ix.add(at[0], below), ix.add(at[0], right)))


def _offset(call: Bound) -> int:
    given = call.get("k")
    return 0 if given is None else constant_int(given, call.builder.emitter)


@native(np.diag, parameters="v k", ranks=(1, 2), borrows=True)
def _diag(call: Bound) -> Value:
    array, offset = _operand(call, "v"), _offset(call)
    if array.rank == 2:
        return arrays.read_only(diagonal(array, call.builder.emitter, offset))
    if array.rank != 1:
        raise Unsupported(call.builder.emitter.span, "ValueError: Input must be 1- or 2-d.")
    return diagonal_matrix(array, offset)


def diagonal_matrix(array: Array, offset: int) -> Array:
    """A vector on a diagonal, zeros elsewhere."""
    zero = arith.cast(Const(0, INT), array.type)
    extent = ix.add(array.shape[0], integer(abs(offset)))

    def element(at: Index) -> Expr:
        # Outside the vector its first element is read, and not taken.
        place = at[0] if offset >= 0 else at[1]
        inside = Op("eq", (ix.add(at[0], integer(offset)), at[1]), BOOL)
        if not offset:
            return Op("select", (inside, array.element((place,)), zero), array.type)
        return Op("select", (inside, array.element((Op("select", (inside, place, ZERO), INT),)), zero), array.type)

    return Array((extent, extent), array.type, element, cost=array.cost + 2)


@native(np.diagflat, parameters="v k")
def _diagflat(call: Bound) -> Value:
    emitter = call.builder.emitter
    array = arrays.evaluated(flattened(_operand(call, "v"), emitter), emitter)
    if not emitter.assure(ix.sub(array.shape[0], ONE), "RuntimeError"):
        emitter.check(Op("gt", (array.shape[0], ZERO), BOOL), "RuntimeError", "np.diagflat of nothing")
    return diagonal_matrix(array, _offset(call))


def _triangle(function: object, op: str) -> None:
    @native(function, parameters="m k")
    def build(call: Bound) -> Value:
        array = _operand(call, "m")
        if array.rank < 1:
            raise Unsupported(call.builder.emitter.span, f"TypeError: {call.name}() of a number")
        if array.rank == 1:
            array = arrays.remap(array, array.shape * 2, lambda at: at[1:])
        offset = call.get("k")
        shift: Expr = ZERO
        if offset is not None:
            if not isinstance(offset, Scalar) or not offset.type.dtype.is_integer:
                raise Unsupported(call.builder.emitter.span, f"k of {call.name}() that is not an integer")
            shift = call.builder.emitter.snapshot(arith.cast(offset.expr, INT), "k")
        zero = arith.cast(Const(0, INT), array.type)

        def element(at: Index) -> Expr:
            inside = Op(op, (at[-1], ix.add(at[-2], shift)), BOOL)
            return Op("select", (inside, array.element(at), zero), array.type)

        return Array(array.shape, array.type.strong, element, cost=array.cost + 1)


_triangle(np.triu, "ge")
_triangle(np.tril, "le")


def _sequence(call: Bound, name: str) -> list[Array]:
    """A sequence of arrays; lists and numbers among them become arrays."""
    emitter = call.builder.emitter
    given = call.need(name)
    if isinstance(given, Array) and given.rank:
        known = arrays.constant_shape(given.shape[:1])
        count = known[0] if known is not None else emitter.sample_value(emitter.resolve(given.shape[0]))
        if count is None or not 0 < count <= 16:
            raise Unsupported(emitter.span, f"{call.name}() of the rows of an array", "pass a list of arrays")
        emitter.same_size(given.shape[0], integer(count), "RuntimeError", "")
        rows = arrays.as_array(as_plain(given), emitter)
        return [arrays.remap(rows, rows.shape[1:], lambda at, k=k: (integer(k), *at)) for k in range(count)]  # type: ignore[misc]
    if not isinstance(given, Tuple):
        raise Unsupported(emitter.span, f"{call.name}() of something that is not a tuple or list of arrays")
    return [
        call.builder.array_of(item, None) if isinstance(item, Tuple) else _strong(item, emitter) for item in given.items
    ]


def _strong(item: Value, emitter: Emitter) -> Array:
    array = arrays.as_array(as_plain(masks.settled(item, emitter)), emitter)
    of = array.type.strong
    return array if array.type == of else replace(array, type=of, element=lambda at: arith.cast(array.element(at), of))


def joined_by(call: Bound, name: str, plan: Plan) -> Array:
    """The arrays of a sequence, each made ready by the plan, one after the other along the axis that it tells."""
    emitter, given = call.builder.emitter, call.need(name)
    if isinstance(given, (Records, Rows, Stack)):
        made = joined_run(call.builder, given, plan)
        if made is not None:
            return made
    planned = [plan(part) for part in _sequence(call, name)]
    if len({(part.rank, axis) for part, axis in planned}) != 1:
        raise Unsupported(emitter.span, f"ValueError: {call.name}() of nothing, or of arrays of different ranks")
    return joined([part for part, _ in planned], planned[0][1], emitter)


@native(np.concatenate, parameters="arrays axis")
def _concatenate(call: Bound) -> Value:
    emitter = call.builder.emitter
    flat = "axis" in call.given and call.get("axis") is None
    axis = 0 if call.get("axis") is None else constant_int(call.need("axis"), emitter)
    given = call.need("arrays")
    items = given.items if isinstance(given, Tuple) else ()
    if flat and any(isinstance(item, Scalar) and item.type.weak for item in items):
        reason = "np.concatenate of a Python number, whose type gives way to that of the arrays"
        raise Unsupported(emitter.span, reason, "make it an array: np.array([x])")

    def plan(part: Array) -> tuple[Array, int]:
        if flat:
            return flattened(part, emitter), 0
        if not -part.rank <= axis < part.rank:
            raise Unsupported(
                emitter.span,
                "np.concatenate along an axis that the arrays do not have",
                "give it arrays that have this axis, as np.atleast_1d makes of a number",
            )
        return part, axis % part.rank

    return joined_by(call, "arrays", plan)


def joined(parts: list[Array], axis: int, emitter: Emitter) -> Array:
    """The arrays one after the other along `axis`."""
    of = parts[0].type.strong
    shape = list(parts[0].shape)
    for part in parts[1:]:
        of = promote(of, part.type.strong)
        for k in range(len(shape)):
            if k != axis:
                message = "all the input array dimensions except for the concatenation axis must match exactly"
                shape[k] = emitter.same_size(shape[k], part.shape[k], "ValueError", message, whole=False)
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
        axis = 0 if call.get("axis") is None else constant_int(call.need("axis"), emitter)

        def plan(part: Array) -> tuple[Array, int]:
            if function is np.stack:
                if not -part.rank - 1 <= axis <= part.rank:
                    raise Unsupported(emitter.span, "AxisError: np.stack along an axis that the result does not have")
                place = axis % (part.rank + 1)
                return _lift(part, place), place
            part = part if part.rank else flattened(part, emitter)
            if function is np.hstack:
                return part, 0 if part.rank == 1 else 1
            return _lift(part, 0) if part.rank == 1 else part, 0

        return joined_by(call, "arrays" if function is np.stack else "tup", plan)


def _lift(part: Array, axis: int) -> Array:
    shape = (*part.shape[:axis], ONE, *part.shape[axis:])
    return arrays.remap(part, shape, lambda at: at[:axis] + at[axis + 1 :])


for _function in (np.stack, np.hstack, np.vstack):
    _stack(_function)


@native(np.roll, parameters="a shift axis", boxes=True)
def _roll(call: Bound) -> Value:
    array, emitter = _operand(call), call.builder.emitter
    axis, shift = constant_axis(call.get("axis"), emitter), call.need("shift")
    shifts: list[Value] = list(shift.items) if isinstance(shift, Tuple) else [shift]
    if isinstance(shift, Array) and shift.rank == 1 and isinstance(shift.shape[0], Const):
        shifts = [Scalar(shift.element((integer(k),))) for k in range(int(shift.shape[0].value.real))]
    if not all(isinstance(item, Scalar) and item.type.dtype.is_integer for item in shifts):
        raise Unsupported(emitter.span, "np.roll by shifts that are not integers")
    amounts = [arith.cast(item.expr, INT) for item in shifts if isinstance(item, Scalar)]
    if axis is None:
        shape = array.shape
        line = flattened(array, emitter)
        for amount in amounts:
            line = rolled(line, amount, 0, emitter)
        return reshaped(line, shape, emitter) if array.rank != 1 else line
    axes = [a % array.rank for a in ((axis,) if isinstance(axis, int) else axis) if -array.rank <= a < array.rank]
    if len(axes) != (1 if isinstance(axis, int) else len(axis)):
        raise Unsupported(emitter.span, f"AxisError: axis {axis} is out of bounds")
    count = max(len(axes), len(amounts))
    if len(axes) not in (1, count) or len(amounts) not in (1, count):
        raise Unsupported(emitter.span, "ValueError: 'shift' and 'axis' should be scalars or 1D sequences")
    for amount, k in zip(amounts * (count if len(amounts) == 1 else 1), axes * (count if len(axes) == 1 else 1)):
        array = rolled(array, amount, k, emitter)
    return array


def rolled(array: Array, shift: Expr, axis: int, emitter: Emitter) -> Array:
    """Two copies: the part that moves up, and the part that wraps around."""
    source = arrays.evaluated(array, emitter)
    extent = source.shape[axis]
    buffer = emitter.allocate("rolled", source.type.strong, source.shape)
    whole = arrays.of_buffer(buffer)
    amount = emitter.snapshot(Op("mod", (shift, Op("maximum", (extent, ONE), INT)), INT), "shift")
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
