"""Values put into arrays (put_along_axis, putmask, place, copyto), choices by conditions (select), and positions as
indices and back.
"""

from __future__ import annotations

import functools

import numpy as np

from weft.errors import Unsupported
from weft.frontend import arith, arrays, knowledge, masks
from weft.frontend.constants import constant
from weft.frontend.emit import Emitter
from weft.frontend.knowledge import Bound, native
from weft.frontend.knowledge.creation import shape_of
from weft.frontend.knowledge.reshaping import flattened
from weft.frontend.knowledge.selecting import as_index, axis_of, operand, ranges_along
from weft.frontend.knowledge.ufuncs import as_plain
from weft.frontend.storing import store
from weft.frontend.values import Array, Index, Mask, Object, Scalar, Tuple, Value
from weft.frontend.writing import Variable, may_share
from weft.ir import index as ix
from weft.ir.expr import ONE, ZERO, Const, Expr, Op
from weft.ir.types import BOOL, I64, INT, DType, promote


def _target(call: Bound, name: str) -> Array:
    target = call.need(name)
    if not isinstance(target, Array) or target.is_list or (target.view is None and target.part is None):
        raise Unsupported(
            call.builder.emitter.span,
            f"{call.name}() into something that is not an array in memory",
            "give the array a name first",
        )
    return target


def _apart(array: Array, target: Array, emitter: Emitter) -> Array:
    """The array as it is now: a copy, if the target's memory is read on the way or reading it costs."""
    view = target.view or (target.part.view if target.part is not None else None)
    assert view is not None
    return arrays.materialise(array, emitter) if array.cost or may_share(array, view.buffer, emitter) else array


def _same_shape(target: Array, mask: Array, emitter: Emitter, message: str) -> None:
    if target.rank != mask.rank:
        raise Unsupported(emitter.span, f"ValueError: {message}")
    for own, other in zip(target.shape, mask.shape):
        emitter.same_size(own, other, "ValueError", message)


@native(np.putmask, parameters="a mask values")
def _putmask(call: Bound) -> Value:
    """a.flat[k] = values[k % len(values)] where mask.flat[k]"""
    emitter = call.builder.emitter
    target, mask = _target(call, "a"), masks.truths(operand(call, "mask"))
    _same_shape(target, mask, emitter, "putmask: mask and data must be the same size")
    values = _castable(call, "values", target)
    if values.rank:
        values = _cyclic(flattened(_apart(values, target, emitter), emitter), target, emitter)
    masks.select(Mask(target, mask), values, emitter)
    return Object(None)


def _castable(call: Bound, name: str, target: Array) -> Array:
    """Values that NumPy converts to the type of the target: Python's own any, arrays only if nothing can get lost."""
    values = operand(call, name, target.type)
    given = call.need(name)
    if isinstance(given, Tuple) or (isinstance(given, Scalar) and given.type.weak):
        arrays.check_in_place(values.type, target.type, call.builder.emitter)
    elif not np.can_cast(values.type.dtype.numpy, target.type.dtype.numpy, "safe"):
        raise Unsupported(call.builder.emitter.span, f"TypeError: {call.name}() cannot cast {values.type} safely")
    return values


def _cyclic(values: Array, target: Array, emitter: Emitter) -> Array:
    """As many values as the target has elements, taken again from the start as often as needed."""
    count = values.shape[0]
    if not emitter.assure(ix.sub(count, ONE), "RuntimeError"):
        emitter.check(Op("gt", (count, ZERO), BOOL), "RuntimeError", "np.putmask of no values")
    shape = target.shape

    def element(at: Index) -> Expr:
        position: Expr = ZERO
        for extent, variable in zip(shape, at):
            position = ix.add(ix.mul(position, extent), variable)
        return values.element((ZERO if arrays.is_one(count) else Op("mod", (position, count), INT),))

    return Array(shape, values.type, element, cost=2)


@native(np.place, parameters="arr mask vals")
def _place(call: Bound) -> Value:
    """The k-th place where the mask is true gets vals[k % len(vals)]."""
    emitter = call.builder.emitter
    target, mask = _target(call, "arr"), masks.truths(operand(call, "mask"))
    _same_shape(target, mask, emitter, "place: mask and data must be the same size")
    mask = _apart(mask, target, emitter)
    values = flattened(_castable(call, "vals", target), emitter)
    view = target.view or (target.part.view if target.part is not None else None)
    if view is not None and may_share(values, view.buffer, emitter):
        raise Unsupported(emitter.span, "np.place of values that it may overwrite itself", "add .copy()")
    values = _apart(values, target, emitter)
    count = values.shape[0]
    if not emitter.assure(ix.sub(count, ONE), "RuntimeError"):
        none = Op("eq", (masks.counted(mask, emitter), ZERO), BOOL)
        some = Op("or", (Op("gt", (count, ZERO), BOOL), none), BOOL)
        emitter.check(some, "ValueError", "Cannot insert from an empty array!")

    def write(at: Index, rank: Variable) -> None:
        value = values.element((ZERO if arrays.is_one(count) else Op("mod", (rank.index, count), INT),))
        arrays.write(target, (), at, arrays.storable(value, target.type, emitter), emitter)

    masks.each(mask, emitter, write)
    emitter.mutations += 1
    return Object(None)


@native(np.copyto, parameters="dst src casting where", only={"casting": ("'same_kind'",)})
def _copyto(call: Bound) -> Value:
    emitter = call.builder.emitter
    target, source = _target(call, "dst"), operand(call, "src")
    casting = call.get("casting")
    if casting is not None and constant(casting, emitter) != "same_kind":
        raise Unsupported(emitter.span, "casting= of np.copyto()")
    arrays.check_in_place(source.type, target.type, emitter)
    where = call.get("where")
    if where is None or (isinstance(where, Scalar) and isinstance(where.expr, Const) and where.expr.value is True):
        arrays.store(target, source, emitter)
        return Object(None)
    mask = arrays.as_array(as_plain(where), emitter)
    if mask.type.dtype is not DType.BOOL:
        raise Unsupported(
            emitter.span,
            "TypeError: where= of np.copyto() that is not boolean",
            "pass an array of bool, as a comparison gives",
        )
    mask = arrays.fitted(mask, target.shape, emitter, "could not broadcast where mask into the shape of the target")
    source = arrays.fitted(arrays.without_leading_ones(source, target.rank), target.shape, emitter)
    masks.select(Mask(target, mask), source, emitter)
    return Object(None)


@native(np.put_along_axis, parameters="arr indices values axis")
def _put_along_axis(call: Bound) -> Value:
    builder = call.builder
    target, index = _target(call, "arr"), as_index(operand(call, "indices"), builder.emitter)
    axis = axis_of(call, target.rank, default=-1)
    if axis is None or index.rank != target.rank:
        raise Unsupported(builder.emitter.span, "np.put_along_axis along no axis, or with indices of another rank")
    keys: list[Value] = [
        index if k == axis else ranges_along(target.shape[k], k, target.rank) for k in range(target.rank)
    ]
    store(builder, target, Tuple(tuple(keys)), call.need("values"), builder.calling)
    return Object(None)


@native(np.select, parameters="condlist choicelist default", boxes=True)
def _select(call: Bound) -> Value:
    emitter = call.builder.emitter
    conditions, choices = call.need("condlist"), call.need("choicelist")
    if not isinstance(conditions, Tuple) or not isinstance(choices, Tuple):
        raise Unsupported(emitter.span, "np.select of something that is not a list of arrays", "pass lists of arrays")
    if len(conditions.items) != len(choices.items) or not conditions.items:
        raise Unsupported(emitter.span, "ValueError: list of cases must be same length as list of conditions")
    default = call.get("default") or Scalar(ZERO)
    values = [as_plain(value) for value in (*choices.items, default)]
    tests = [as_plain(value) for value in conditions.items]
    for value in (*values, *tests):
        if not isinstance(value, (Array, Scalar)):
            raise Unsupported(
                emitter.span, "np.select of something that is not an array or a number", "pass arrays or numbers"
            )
    if any(test.type.dtype is not DType.BOOL for test in tests if isinstance(test, (Array, Scalar))):
        raise Unsupported(emitter.span, "TypeError: invalid entry in condlist: should be boolean ndarray")
    count = len(tests)

    def combine(parts: tuple[Expr, ...]) -> Expr:
        of = functools.reduce(promote, [part.type for part in parts[count:]]).strong
        result = arith.cast(parts[-1], of)
        for test, value in zip(reversed(parts[:count]), reversed(parts[count:-1])):
            result = Op("select", (arith.condition(test), arith.cast(value, of), result), of)
        return result

    return arrays.elementwise([*tests, *values], combine, emitter, 2 * count)


@native(np.piecewise, parameters="x condlist funclist")
def _piecewise(call: Bound) -> Value:
    """out[condition] = function(x[condition]), or a number, for each condition in turn."""
    builder, emitter = call.builder, call.builder.emitter
    x = operand(call, "x")
    conditions, functions = call.need("condlist"), call.need("funclist")
    if not isinstance(conditions, Tuple) or not isinstance(functions, Tuple) or not x.rank:
        raise Unsupported(
            emitter.span,
            "np.piecewise of something that is not lists of conditions and functions",
            "pass a list of conditions and one of functions or numbers",
        )
    tests = [operand(Bound(builder, call.name, {"item": item}), "item") for item in conditions.items]
    if any(test.type.dtype is not DType.BOOL or test.rank != x.rank for test in tests):
        raise Unsupported(emitter.span, "np.piecewise with conditions that are not boolean arrays like x")
    tests = [arrays.evaluated(test, emitter, "condition") for test in tests]
    if len(functions.items) == len(tests) + 1:
        held = list(tests)

        def otherwise(at: Index) -> Expr:
            some = held[0].element(at)
            for test in held[1:]:
                some = Op("or", (some, test.element(at)), BOOL)
            return arith.negate(some)

        tests.append(arrays.materialise(Array(x.shape, BOOL, otherwise, cost=1), emitter, "condition"))
    if len(functions.items) != len(tests):
        raise Unsupported(emitter.span, "ValueError: with n conditions, either n or n + 1 functions are expected")
    source = arrays.evaluated(x, emitter)
    zero = arith.cast(Const(0, INT), x.type.strong)
    result = arrays.materialise(Array(x.shape, x.type.strong, lambda _: zero), emitter, "piecewise")
    for test, function in zip(tests, functions.items):
        for own, other in zip(x.shape, test.shape):
            emitter.same_size(own, other, "IndexError", "boolean index did not match indexed array", whole=False)
        value = function
        if not isinstance(function, (Scalar, Array)):
            value = builder.call(function, [masks.settled(Mask(source, test), emitter)], {}, builder.calling)
        store(builder, result, test, value, builder.calling)
    return result


# --- positions and indices ------------------------------------------------------------------------------------------


def _check_order(call: Bound) -> None:
    order = call.get("order")
    if order is not None and constant(order, call.builder.emitter) != "C":
        raise Unsupported(call.builder.emitter.span, f"order= of {call.name}()")


@native(np.unravel_index, parameters="indices shape order", only={"order": ("'C'",)})
def _unravel_index(call: Bound) -> Value:
    emitter = call.builder.emitter
    _check_order(call)
    shape = shape_of(call.need("shape"), emitter)
    index = arrays.evaluated(as_index(operand(call, "indices"), emitter), emitter, "index")
    total = emitter.snapshot(arrays.count(shape), "size")
    dims, at = emitter.domain(index.shape)
    position = arith.cast(index.element(at), INT)
    inside = arith.conjunction(Op("ge", (position, ZERO), BOOL), Op("lt", (position, total), BOOL))
    message = "index {0} is out of bounds for array with size {1}"
    emitter.check(inside, "ValueError", message, (position, total), dims)

    def along(axis: int) -> Value:
        def element(place: Index) -> Expr:
            return arith.cast(arrays.unravelled(arith.cast(index.element(place), INT), shape)[axis], I64)

        if not index.rank:
            return Scalar(emitter.snapshot(element(()), "index"))
        return arrays.materialise(Array(index.shape, I64, element, cost=2), emitter, "index")

    return Tuple(tuple(along(axis) for axis in range(len(shape))))


@native(np.ravel_multi_index, parameters="multi_index dims mode order", only={"order": ("'C'",)})
def _ravel_multi_index(call: Bound) -> Value:
    emitter = call.builder.emitter
    _check_order(call)
    given, dims = call.need("multi_index"), shape_of(call.need("dims"), emitter)
    if not isinstance(given, Tuple) or len(given.items) != len(dims):
        raise Unsupported(
            emitter.span,
            "np.ravel_multi_index of something that is not one index array for each axis",
            "pass a tuple of index arrays, one for each axis",
        )
    mode = "raise" if call.get("mode") is None else constant(call.need("mode"), emitter)
    if mode not in ("raise", "wrap", "clip"):
        raise Unsupported(emitter.span, "mode= of np.ravel_multi_index()")
    parts: list[Value] = []
    for item, extent in zip(given.items, dims):
        array = as_index(operand(Bound(call.builder, call.name, {"item": item}), "item"), emitter)
        if mode == "raise":
            array = arrays.evaluated(array, emitter, "index")
            domain, at = emitter.domain(array.shape)
            value = arith.cast(array.element(at), INT)
            inside = arith.conjunction(Op("ge", (value, ZERO), BOOL), Op("lt", (value, extent), BOOL))
            emitter.check(inside, "ValueError", "invalid entry in coordinates array", (), domain)
        parts.append(array if array.rank else Scalar(array.element(())))

    def combine(values: tuple[Expr, ...]) -> Expr:
        position: Expr = ZERO
        for value, extent in zip(values, dims):
            value = arith.cast(value, INT)
            if mode == "wrap":
                value = Op("mod", (value, extent), INT)
            elif mode == "clip":
                value = Op("minimum", (Op("maximum", (value, ZERO), INT), ix.sub(extent, ONE)), INT)
            position = ix.add(ix.mul(position, extent), value)
        return arith.cast(position, I64)

    return arrays.elementwise(parts, combine, emitter, 2 * len(dims))


@native(np.diag_indices_from, parameters="arr")
def _diag_indices_from(call: Bound) -> Value:
    emitter = call.builder.emitter
    array = operand(call, "arr")
    if array.rank < 2:
        raise Unsupported(emitter.span, "ValueError: input array must be at least 2-d")
    for extent in array.shape[1:]:
        emitter.same_size(array.shape[0], extent, "ValueError", "All dimensions of input must be of equal length")
    line = Array((array.shape[0],), I64, lambda at: arith.cast(at[0], I64))
    return Tuple((arrays.materialise(line, emitter, "index"),) * array.rank)


@native(parameters="a indices values mode", method="put", name="put")
def _put_method(call: Bound) -> Value:
    entry = knowledge.lookup(np.put)
    assert entry is not None
    given = [call.need(name) for name in ("a", "indices", "values")]
    mode = call.get("mode")
    return entry.call(call.builder, [*given, *([mode] if mode is not None else [])], {})
