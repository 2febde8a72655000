"""Elements chosen by conditions and by indices (nonzero, compress, take, choose, put), and whole arrays compared."""

from __future__ import annotations

import numpy as np

from weft.errors import Unsupported
from weft.frontend import arith, arrays, indexing, masks
from weft.frontend.constants import constant, constant_bool, constant_int
from weft.frontend.emit import Emitter
from weft.frontend.knowledge import Bound, native
from weft.frontend.knowledge.reshaping import flattened
from weft.frontend.knowledge.ufuncs import as_plain, elements, strong
from weft.frontend.values import Array, Index, Mask, Object, Scalar, Slice, Tuple, Value, describe
from weft.frontend.writing import Variable, loop, may_share
from weft.ir import index as ix
from weft.ir.expr import ONE, ZERO, Const, Expr, Op, Reduce, integer
from weft.ir.types import BOOL, FLOAT, I64, INT, PYBOOL, DType, ScalarType, promote


def operand(call: Bound, name: str, into: ScalarType | None = None) -> Array:
    """An argument as an array: a list or a literal sequence becomes one.  `into`: the type of what it is stored in."""
    value = call.need(name)
    if isinstance(value, Tuple):
        integers = into is not None and into.dtype.is_integer
        return call.builder.array_of(value, None, into if integers else None)
    if into is not None:
        value = arrays.assigned(value, into, call.builder.emitter)
    return arrays.as_array(as_plain(value), call.builder.emitter)


def axis_of(call: Bound, rank: int, name: str = "axis", default: int | None = None) -> int | None:
    """One axis, counted from the front; None if it is not given (or None)."""
    if name in call.given and call.get(name) is None:
        return None
    value = call.get(name)
    if value is None and default is not None and not rank:
        raise Unsupported(call.builder.emitter.span, f"{call.name}() of a number, which has no axis", "pass an array")
    if value is None:
        return None if default is None else default % rank
    return arrays.normalise_axes(constant_int(value, call.builder.emitter), rank, call.builder.emitter)[0]


@native(np.nonzero, parameters="a", method="nonzero")
def _nonzero(call: Bound) -> Value:
    array = operand(call, "a")
    if not array.rank:
        raise Unsupported(call.builder.emitter.span, "ValueError: calling nonzero on 0d arrays is not allowed")
    return Tuple(masks.positions(array, call.builder.emitter))


@native(np.flatnonzero, parameters="a")
def _flatnonzero(call: Bound) -> Value:
    return masks.positions(flattened(operand(call, "a"), call.builder.emitter), call.builder.emitter)[0]


@native(np.argwhere, parameters="a")
def _argwhere(call: Bound) -> Value:
    emitter = call.builder.emitter
    array = operand(call, "a")
    condition = arrays.evaluated(masks.truths(array), emitter, "mask")
    shape = (masks.counted(condition, emitter), integer(array.rank))
    buffer = emitter.allocate("position", I64, shape)

    def note(at: Index, rank: Variable) -> None:
        for axis, variable in enumerate(at):
            emitter.assign((), buffer.name, (rank.index, integer(axis)), arith.cast(variable, I64))

    masks.each(condition, emitter, note)
    return arrays.of_buffer(buffer)


@native(np.compress, parameters="condition a axis")
def _compress(call: Bound) -> Value:
    return _compressed(call, operand(call, "condition"), operand(call, "a"))


@native(parameters="a condition axis", method="compress")
def _compress_method(call: Bound) -> Value:
    return _compressed(call, operand(call, "condition"), operand(call, "a"))


def _compressed(call: Bound, condition: Array, array: Array) -> Value:
    emitter = call.builder.emitter
    axis = axis_of(call, array.rank)
    if axis is None:
        array, axis = flattened(array, emitter), 0
    if condition.rank != 1:
        raise Unsupported(emitter.span, "ValueError: condition must be a 1-d array")
    condition = arrays.evaluated(masks.truths(condition), emitter, "mask")
    extent = array.shape[axis]
    if ix.difference(extent, condition.shape[0]) != 0 and not emitter.proved(ix.sub(extent, condition.shape[0])):
        dims, at = emitter.domain(condition.shape)
        fine = Op("or", (Op("lt", (at[0], extent), BOOL), arith.negate(condition.element(at))), BOOL)
        message = f"index {{0}} is out of bounds for axis {axis} with size {{1}}"
        emitter.check(fine, "IndexError", message, (at[0], extent), dims)
    return masks.compressed(array, condition, axis, emitter)


@native(np.extract, parameters="condition arr")
def _extract(call: Bound) -> Value:
    emitter = call.builder.emitter
    condition, array = masks.truths(operand(call, "condition")), operand(call, "arr")
    if condition.rank != array.rank:
        condition, array = flattened(condition, emitter), flattened(array, emitter)
    for own, other in zip(array.shape, condition.shape):
        emitter.same_size(own, other, "RuntimeError", "np.extract of arrays of different shapes")
    return masks.compacted(Mask(array, condition), emitter)


# --- by index -------------------------------------------------------------------------------------------------------


def _mode(call: Bound) -> str:
    given = call.get("mode")
    mode = "raise" if given is None else constant(given, call.builder.emitter)
    if mode not in ("raise", "wrap", "clip"):
        raise Unsupported(call.builder.emitter.span, f"ValueError: mode={mode!r} of {call.name}()")
    return str(mode)


def _within(index: Array, extent: Expr, mode: str) -> Array:
    """The index array brought within bounds by a mode."""

    def element(at: Index) -> Expr:
        raw = arith.cast(index.element(at), INT)
        if mode == "wrap":
            return arith.cast(Op("mod", (raw, extent), INT), I64)
        low = Op("maximum", (raw, ZERO), INT)
        return arith.cast(Op("minimum", (low, ix.sub(extent, ONE)), INT), I64)

    return index if mode == "raise" else Array(index.shape, I64, element, cost=index.cost + 2)


def as_index(array: Array, emitter: Emitter) -> Array:
    if array.type.dtype is DType.BOOL or not array.type.dtype.is_integer or array.type.dtype is DType.U64:
        raise Unsupported(emitter.span, f"an index array of {array.type}", "use int64")
    return array


@native(np.take, parameters="a indices axis mode", method="take")
def _take(call: Bound) -> Value:
    emitter = call.builder.emitter
    array, index = operand(call, "a"), as_index(operand(call, "indices"), emitter)
    if call.get("out") is not None:
        raise Unsupported(emitter.span, "out= of np.take()")
    axis = axis_of(call, array.rank)
    if axis is None:
        array, axis = flattened(array, emitter), 0
    extent = array.shape[axis]
    if not emitter.proved(ix.sub(extent, ONE)):
        some = Op("or", (Op("gt", (extent, ZERO), BOOL), Op("eq", (arrays.count(index.shape), ZERO), BOOL)), BOOL)
        emitter.check(some, "IndexError", "cannot do a non-empty take from an empty axes.")
    index = _within(index, extent, _mode(call))
    key: Value = index if index.rank else Scalar(index.element(()))
    everything = Slice(None, None, None)
    found = indexing.subscript(array, Tuple((*[everything] * axis, key)), emitter)
    if isinstance(found, Array):
        return arrays.copied(found)
    return strong(found)


@native(np.take_along_axis, parameters="arr indices axis")
def _take_along_axis(call: Bound) -> Value:
    emitter = call.builder.emitter
    array, index = operand(call, "arr"), as_index(operand(call, "indices"), emitter)
    axis = axis_of(call, array.rank, default=-1)
    if axis is None:
        array, axis = flattened(array, emitter), 0
    if index.rank != array.rank:
        raise Unsupported(emitter.span, "ValueError: `indices` and `arr` must have the same number of dimensions")
    keys: list[Value] = [index if k == axis else ranges_along(array.shape[k], k, array.rank) for k in range(array.rank)]
    return indexing.subscript(array, Tuple(tuple(keys)), emitter)


def ranges_along(extent: Expr, axis: int, rank: int) -> Array:
    """0, 1, ... along one axis, stretched over the others."""
    shape = tuple(extent if k == axis else ONE for k in range(rank))
    return Array(shape, I64, lambda at: arith.cast(at[axis], I64))


@native(np.choose, parameters="a choices", method="choose")
def _choose(call: Bound) -> Value:
    emitter = call.builder.emitter
    index = arrays.evaluated(as_index(operand(call, "a"), emitter), emitter)
    given = call.need("choices")
    if not isinstance(given, Tuple):
        raise Unsupported(emitter.span, f"np.choose from {describe(given)}", "pass a list of arrays")
    if not 0 < len(given.items) <= 32:
        raise Unsupported(emitter.span, "np.choose from no choice, or from more than 32", "use np.where")
    choices: list[Scalar | Array] = []
    for item in map(as_plain, given.items):
        if not isinstance(item, (Scalar, Array)):
            raise Unsupported(emitter.span, f"np.choose from {describe(item)}", "pass a list of arrays")
        choices.append(item)
    of = choices[0].type
    for item in choices:
        of = promote(of, item.type)
    if of.weak:
        raise Unsupported(emitter.span, "np.choose from Python numbers alone", "make one of them an array")
    dims, at = emitter.domain(index.shape)
    number = arith.cast(index.element(at), INT)
    inside = arith.conjunction(Op("ge", (number, ZERO), BOOL), Op("lt", (number, integer(len(choices))), BOOL))
    emitter.check(inside, "ValueError", "invalid entry in choice array", (), dims)

    def combine(parts: tuple[Expr, ...]) -> Expr:
        result = arith.cast(parts[-1], of)
        for k in range(len(parts) - 2, 0, -1):
            same = Op("eq", (arith.cast(parts[0], INT), integer(k - 1)), BOOL)
            result = Op("select", (same, arith.cast(parts[k], of), result), of)
        return result

    return arrays.elementwise([index, *choices], combine, emitter, len(choices))


@native(np.put, parameters="a ind v mode")
def _put(call: Bound) -> Value:
    """for k: a.flat[ind[k]] = v[k % len(v)], in order"""
    emitter = call.builder.emitter
    array = call.need("a")
    if not isinstance(array, Array) or array.view is None:
        raise Unsupported(
            emitter.span, "np.put into something that is not an array in memory", "give the array a name first"
        )
    view = array.view
    index = flattened(as_index(operand(call, "ind"), emitter), emitter)
    values = flattened(operand(call, "v", array.type), emitter)
    index, values = (
        arrays.materialise(part, emitter) if part.cost or may_share(part, view.buffer, emitter) else part
        for part in (index, values)
    )
    size = emitter.snapshot(arrays.count(array.shape), "size")
    room = Op("or", (Op("gt", (size, ZERO), BOOL), Op("eq", (index.shape[0], ZERO), BOOL)), BOOL)
    emitter.check(room, "IndexError", "cannot replace elements of an empty array")
    mode = _mode(call)
    if mode == "raise":
        # What was put before an index that is out of bounds stays, unless NumPy works on a copy.
        dims, at = emitter.domain(index.shape)
        position = indexing.wrap(arith.cast(index.element(at), INT), size)
        inside = arith.conjunction(Op("ge", (position, ZERO), BOOL), Op("lt", (position, size), BOOL))
        emitter.rarely_fails(inside, "an index out of bounds in np.put", dims)
    index = _within(index, size, mode)
    some = Op("gt", (values.shape[0], ZERO), BOOL)
    trips = emitter.snapshot(Op("select", (some, index.shape[0], ZERO), INT), "trips")
    single = arrays.is_one(values.shape[0])
    with loop(emitter, ZERO, trips, "k") as k:
        raw = emitter.snapshot(arith.cast(index.element((k,)), INT), "index")
        place = arrays.unravelled(indexing.wrap(raw, size), array.shape)
        source = values.element((ZERO if single else Op("mod", (k, values.shape[0]), INT),))
        emitter.assign((), view.buffer, view.index(place), arrays.storable(source, array.type, emitter))
    emitter.mutations += 1
    return Object(None)


# --- whole arrays compared ------------------------------------------------------------------------------------------


@native(np.array_equal, parameters="a1 a2 equal_nan")
def _array_equal(call: Bound) -> Value:
    emitter = call.builder.emitter
    left, right = operand(call, "a1"), operand(call, "a2")
    if left.rank != right.rank:
        return Scalar(Const(False, PYBOOL))
    both_nan = constant_bool(call.get("equal_nan"), emitter)
    same: Expr | None = None
    shape: list[Expr] = []
    for own, other in zip(left.shape, right.shape):
        delta = ix.difference(emitter.resolve(own), emitter.resolve(other))
        if delta is None:
            equal = Op("eq", (own, other), BOOL)
            same = equal if same is None else Op("and", (same, equal), BOOL)
        elif delta:
            return Scalar(Const(False, PYBOOL))
        shape.append(own)
    if same is not None:
        same = emitter.snapshot(same, "same")
        pairs = zip(shape, left.shape, right.shape)
        unknown = [ix.difference(emitter.resolve(own), emitter.resolve(other)) is None for _, own, other in pairs]
        shape = [
            emitter.snapshot(Op("select", (same, extent, ZERO), INT), "n") if doubtful else extent
            for extent, doubtful in zip(shape, unknown)
        ]
    dims, at = emitter.domain(tuple(shape))
    parts = left.element(at), right.element(at)
    value: Expr = Reduce("and", dims, _equal(parts[0], parts[1], both_nan, emitter), emitter.span)
    if same is not None:
        value = Op("and", (same, emitter.snapshot(value, "equal")), BOOL)
    return Scalar(emitter.snapshot(arith.cast(value, PYBOOL), "equal"))


def _equal(left: Expr, right: Expr, both_nan: bool, emitter: Emitter) -> Expr:
    result = arith.condition(arith.compare("eq", left, right, emitter.span))
    if both_nan:
        missing = [arith.condition(arith.function("isnan", (part,), emitter.span)) for part in (left, right)]
        result = Op("or", (result, Op("and", tuple(missing), BOOL)), BOOL)
    return result


def close(call: Bound) -> Value:
    """|x - y| <= atol + rtol * |y| where y is finite, or x == y."""
    emitter = call.builder.emitter
    x, y = (as_plain(call.need(name)) for name in ("a", "b"))
    for value in (x, y):
        if not isinstance(value, (Array, Scalar)):
            raise Unsupported(emitter.span, f"{call.name}() of {describe(value)}", "pass numbers or arrays")
    assert isinstance(y, (Array, Scalar))
    if not y.type.dtype.is_inexact:
        # The absolute value of the least integer is not an integer of its type.
        of = FLOAT if y.type.weak else promote(y.type, FLOAT)
        y = arrays.elementwise([y], lambda parts: arith.cast(parts[0], of), emitter)
    tolerances = [call.get(name) or Scalar(Const(default, FLOAT)) for name, default in (("atol", 1e-8), ("rtol", 1e-5))]
    for value in tolerances:
        if not isinstance(value, Scalar):
            raise Unsupported(emitter.span, f"a tolerance of {call.name}() that is not a number")
    distance = elements(call, [elements(call, [x, y], "sub")], "abs")
    limit = elements(call, [tolerances[0], elements(call, [tolerances[1], elements(call, [y], "abs")], "mul")], "add")
    near = elements(call, [elements(call, [distance, limit], "le"), elements(call, [y], "isfinite")], "bitand")
    result = elements(call, [near, elements(call, [x, y], "eq")], "bitor")
    if constant_bool(call.get("equal_nan"), emitter):
        missing = elements(call, [elements(call, [part], "isnan") for part in (x, y)], "bitand")
        result = elements(call, [result, missing], "bitor")
    return result


@native(np.isclose, parameters="a b rtol atol equal_nan")
def _isclose(call: Bound) -> Value:
    return strong(close(call))


@native(np.allclose, parameters="a b rtol atol equal_nan")
def _allclose(call: Bound) -> Value:
    emitter = call.builder.emitter
    array = arrays.as_array(close(call), emitter)
    result = arrays.reduce(array, "and", tuple(range(array.rank)), False, emitter, "close", BOOL)
    assert isinstance(result, Scalar)
    return Scalar(arith.cast(result.expr, ScalarType(DType.BOOL, weak=True)))
