"""New arrays: filled, ranges, grids of points, copies, literals."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from weft.errors import Unsupported
from weft.frontend import arith, arrays, orders
from weft.frontend.constants import constant, constant_bool, constant_int
from weft.frontend.emit import Emitter
from weft.frontend.knowledge import Bound, native
from weft.frontend.knowledge.ufuncs import as_plain
from weft.frontend.values import Array, Object, Range, Scalar, Tuple, Value, describe
from weft.ir import index as ix
from weft.ir.expr import ONE, ZERO, Const, Expr, Op
from weft.ir.types import BOOL, F64, FLOAT, I64, INT, DType, ScalarType, from_numpy, promote


def shape_of(value: Value, emitter: Emitter) -> tuple[Expr, ...]:
    """A shape argument: an integer or a sequence of integers, none negative."""
    items = value.items if isinstance(value, Tuple) else (value,)
    extents: list[Expr] = []
    for item in items:
        if not isinstance(item, Scalar) or not item.type.dtype.is_integer:
            remedy = "divide with //, or round with int()" if isinstance(item, Scalar) else "pass integers"
            raise Unsupported(emitter.span, f"a shape of {describe(item)}, not of integers", remedy)
        extent = emitter.snapshot(arith.cast(item.expr, INT), "n")
        if not emitter.assure(extent, "ValueError", "negative dimensions are not allowed"):
            emitter.check(Op("ge", (extent, ZERO), BOOL), "ValueError", "negative dimensions are not allowed")
        extents.append(extent)
    emitter.affordable(tuple(extents))
    return tuple(extents)


def extent_of(value: Value, emitter: Emitter) -> Expr:
    """One size: an integer that is not negative."""
    if isinstance(value, Tuple):
        raise Unsupported(emitter.span, f"a size that is {describe(value)}", "pass an integer")
    return shape_of(value, emitter)[0]


def dtype_of(call: Bound, default: ScalarType, name: str = "dtype") -> ScalarType:
    given = call.get(name)
    if given is None:
        return default
    return dtype_named(constant(given, call.builder.emitter), call.builder.emitter)


def dtype_named(thing: Any, emitter: Emitter) -> ScalarType:
    try:
        dtype = from_numpy(thing)
    except TypeError:
        dtype = None
    if dtype is None:
        raise Unsupported(
            emitter.span, f"the dtype {thing!r} has no native form", "use a float, integer, bool or complex dtype"
        )
    return ScalarType(dtype)


def filled(call: Bound, shape: tuple[Expr, ...], of: ScalarType, value: Expr | None, name: str) -> Array:
    """A new array, every element `value` (None: undefined)."""
    emitter = call.builder.emitter
    buffer = emitter.allocate(name, of, shape)
    emitter.order[buffer.name] = True
    if value is not None:
        dims, at = emitter.domain(buffer.shape)
        emitter.assign(dims, buffer.name, at, value)
    return arrays.of_buffer(buffer)


def _order(call: Bound, allowed: tuple[str, ...] = ("C", "F")) -> bool:
    """Whether the new array lies in Fortran order."""
    given = call.get("order")
    order = "C" if given is None else constant(given, call.builder.emitter)
    if order not in allowed:
        raise Unsupported(call.builder.emitter.span, f"order= of {call.name}()", "leave it out, or use 'C' or 'F'")
    return bool(order == "F")


def _laid_out(made: Array, fortran: bool) -> Array:
    """An array that was made with its axes reversed, as one in Fortran order."""
    return arrays.remap(made, made.shape[::-1], lambda at: at[::-1]) if fortran and made.rank > 1 else made


def _reversed(shape: tuple[Expr, ...], fortran: bool) -> tuple[Expr, ...]:
    return shape[::-1] if fortran else shape


def _constant_fill(function: object, value: int | None) -> None:
    @native(function, parameters="shape dtype order", boxes=True)
    def build(call: Bound) -> Value:
        fortran = _order(call)
        of = dtype_of(call, F64)
        fill = None if value is None else arith.cast(Const(value, INT), of)
        shape = shape_of(call.need("shape"), call.builder.emitter)
        return _laid_out(filled(call, _reversed(shape, fortran), of, fill, call.name), fortran)


_constant_fill(np.zeros, 0)
_constant_fill(np.ones, 1)
_constant_fill(np.empty, None)


def _like(call: Bound) -> tuple[tuple[Expr, ...], ScalarType, bool | None]:
    """The shape and type of an array like another one, and whether it lies in C order (None: surely in Fortran's)."""
    emitter = call.builder.emitter
    prototype = arrays.as_array(as_plain(call.need("a")), emitter)
    _order(call, ("C", "K", "A"))
    given, order = call.get("shape"), call.get("order")
    shape = prototype.shape if given is None else shape_of(given, emitter)
    in_c_order = (order is not None and constant(order, emitter) == "C") or orders.follows(prototype, emitter)
    fortran = not in_c_order and len(shape) == prototype.rank and orders.is_fortran(prototype, emitter)
    return shape, dtype_of(call, prototype.type.strong), None if fortran else in_c_order


def _filled_like(call: Bound, shape: tuple[Expr, ...], of: ScalarType, fill: Expr | None, c: bool | None) -> Array:
    made = filled(call, _reversed(shape, c is None), of, fill, call.name)
    return _laid_out(made, True) if c is None else _ordered(made, c, call.builder.emitter)


def _ordered(made: Array, in_c_order: bool, emitter: Emitter) -> Array:
    assert made.view is not None
    emitter.order[made.view.buffer] = in_c_order
    return made


def _constant_like(function: object, value: int | None) -> None:
    @native(function, parameters="a dtype order subok shape", boxes=True)
    def build(call: Bound) -> Value:
        shape, of, in_c_order = _like(call)
        fill = None if value is None else arith.cast(Const(value, INT), of)
        return _filled_like(call, shape, of, fill, in_c_order)


_constant_like(np.zeros_like, 0)
_constant_like(np.ones_like, 1)
_constant_like(np.empty_like, None)


@native(np.full, parameters="shape fill_value dtype order", boxes=True)
def _full(call: Bound) -> Value:
    emitter = call.builder.emitter
    if _order(call):
        raise Unsupported(emitter.span, "order='F' of np.full()")
    value = arrays.as_array(as_plain(call.need("fill_value")), emitter)
    of = dtype_of(call, value.type.strong)
    shape = shape_of(call.need("shape"), emitter)
    buffer = emitter.allocate("full", of, shape)
    arrays.store(arrays.of_buffer(buffer), value, emitter, fresh=True)
    return _ordered(arrays.of_buffer(buffer), True, emitter)


@native(np.full_like, parameters="a fill_value dtype order subok shape", boxes=True)
def _full_like(call: Bound) -> Value:
    emitter = call.builder.emitter
    shape, of, in_c_order = _like(call)
    buffer = emitter.allocate("full", of, shape)
    arrays.store(arrays.of_buffer(buffer), as_plain(call.need("fill_value")), emitter, fresh=True)
    return _ordered(arrays.of_buffer(buffer), bool(in_c_order), emitter)


@native(np.eye, parameters="N M k dtype order")
def _eye(call: Bound) -> Value:
    emitter = call.builder.emitter
    if _order(call):
        raise Unsupported(emitter.span, "order='F' of np.eye()")
    rows = extent_of(call.need("N"), emitter)
    columns = rows if call.get("M") is None else extent_of(call.need("M"), emitter)
    offset = call.get("k")
    shift = ZERO if offset is None else arith.cast(scalar_argument(call, offset), INT)
    of = dtype_of(call, F64)
    return diagonal_of_ones(call, rows, columns, shift, of)


@native(np.identity, parameters="n dtype")
def _identity(call: Bound) -> Value:
    rows = extent_of(call.need("n"), call.builder.emitter)
    return diagonal_of_ones(call, rows, rows, ZERO, dtype_of(call, F64))


def diagonal_of_ones(call: Bound, rows: Expr, columns: Expr, shift: Expr, of: ScalarType) -> Array:
    one, zero = (arith.cast(Const(v, INT), of) for v in (1, 0))

    def element(at: tuple[Expr, ...]) -> Expr:
        return Op("select", (Op("eq", (at[1], ix.add(at[0], shift)), BOOL), one, zero), of)

    return arrays.materialise(Array((rows, columns), of, element, cost=1), call.builder.emitter, "eye")


def scalar_argument(call: Bound, value: Value) -> Expr:
    if isinstance(value, Array) and value.rank == 0:
        return value.element(())
    if not isinstance(value, Scalar):
        raise Unsupported(
            call.builder.emitter.span, f"an argument of {call.name}() that is not a number", "pass numbers"
        )
    return value.expr


@native(np.arange, parameters="start stop step dtype")
def _arange(call: Bound) -> Value:
    emitter = call.builder.emitter
    if call.get("start") is None:
        call = replace(call, given={**call.given, "start": call.need("stop"), "stop": Object(None)})
    first = scalar_argument(call, call.need("start"))
    if call.get("stop") is None:
        start, stop = arith.cast(Const(0, INT), first.type if first.type.weak else INT), first
    else:
        start, stop = first, scalar_argument(call, call.need("stop"))
    step = Const(1, INT) if call.get("step") is None else scalar_argument(call, call.need("step"))
    if emitter.settle is not None and call.get("dtype") is None:
        given = (stop, step) if call.get("stop") is None else (start, stop, step)
        emitter.settle(given, lambda kinds: any(of.dtype.is_inexact for of in kinds))
    # Whatever integers and floats it is given, NumPy counts in int64 or float64.
    kind = promote(promote(promote(start.type.strong, stop.type.strong), step.type.strong), I64)
    if kind.dtype.is_complex:
        raise Unsupported(emitter.span, f"np.arange of {kind}")
    of = dtype_of(call, kind)
    if kind.dtype.is_integer:
        start, stop, step = (arith.cast(e, INT) for e in (start, stop, step))
        return _integer_range(call, start, stop, step, of)
    start, stop, step = (emitter.snapshot(arith.cast(e, FLOAT), "point") for e in (start, stop, step))
    steps = Op("ceil", (Op("truediv", (Op("sub", (stop, start), FLOAT), step), FLOAT),), FLOAT)
    length = emitter.snapshot(Op("maximum", (arith.cast(steps, INT), ZERO), INT), "n")
    emitter.affordable((length,))
    second = emitter.snapshot(arith.cast(Op("add", (start, step), FLOAT), of), "point")
    first_value = emitter.snapshot(arith.cast(start, of), "point")
    delta = emitter.snapshot(Op("sub", (second, first_value), of), "step")

    def element(at: tuple[Expr, ...]) -> Expr:
        return Op("add", (first_value, Op("mul", (arith.cast(at[0], of), delta), of)), of)

    return arrays.materialise(Array((length,), of, element, cost=2), emitter, "arange")


def _integer_range(call: Bound, start: Expr, stop: Expr, step: Expr, of: ScalarType) -> Value:
    width = constant_int(Scalar(step), call.builder.emitter)
    if width == 0:
        raise Unsupported(call.builder.emitter.span, "ZeroDivisionError: np.arange with step 0")
    length = call.builder.emitter.stable(call.builder.trips(Range(start, stop, Const(width, INT))))
    call.builder.emitter.affordable((length,))

    def element(at: tuple[Expr, ...]) -> Expr:
        return arith.cast(ix.add(start, ix.mul(Const(width, INT), at[0])), of)

    return arrays.materialise(Array((length,), of, element, cost=1), call.builder.emitter, "arange")


@native(np.copy, parameters="a order", boxes=True)
def _copy(call: Bound) -> Value:
    return _copied(call, "K")


@native(parameters="a order", method="copy", boxes=True)
def _copy_method(call: Bound) -> Value:
    return _copied(call, "C")


def _copied(call: Bound, default: str) -> Value:
    value = as_plain(call.need("a"))
    if isinstance(value, Scalar):
        return value
    return in_order(arrays.as_array(value, call.builder.emitter), call, default)


def in_order(array: Array, call: Bound, default: str) -> Array:
    """A copy in the order that `order=` names."""
    emitter = call.builder.emitter
    fortran = _order(call, ("C", "F", "K", "A"))
    given = call.get("order")
    order = default if given is None else constant(given, emitter)
    if fortran and array.rank > 1:
        array = arrays.remap(array, array.shape[::-1], lambda at: at[::-1])
    made = arrays.materialise(array, emitter, "copy")
    return _laid_out(_ordered(made, True, emitter) if order in ("C", "F") else made, fortran)


@native(np.array, parameters="object dtype copy order ndmin", only={"copy": ("True", "None")}, boxes=True)
def _array(call: Bound) -> Value:
    array = _new_array(call)
    if isinstance(array, Scalar):
        if call.get("ndmin") is not None:
            raise Unsupported(call.builder.emitter.span, "np.array of a number with ndmin=", "use np.atleast_1d")
        return array
    fewest = 0 if call.get("ndmin") is None else constant_int(call.need("ndmin"), call.builder.emitter)
    lead = max(fewest - array.rank, 0)
    if lead:
        array = arrays.remap(array, (ONE,) * lead + array.shape, lambda at: at[lead:])
    given = call.get("order")
    ordered = given is not None and constant(given, call.builder.emitter) in ("C", "F")
    return in_order(array, call, "K") if ordered and array.rank > 1 else array


def _new_array(call: Bound) -> Array | Scalar:
    if not constant_bool(call.get("copy"), call.builder.emitter, True):
        raise Unsupported(call.builder.emitter.span, "np.array with copy=False", "use np.asarray")
    made = _as_array(call, call.need("object"), copy=True)
    assert isinstance(made, (Array, Scalar))
    return made


@native(np.asarray, parameters="object dtype", boxes=True)
def _asarray(call: Bound) -> Value:
    return _as_array(call, call.need("object"), copy=False)


def _as_array(call: Bound, value: Value, copy: bool) -> Value:
    builder = call.builder
    if isinstance(value, Tuple):
        return builder.array_of(value, None, dtype_of(call, F64) if call.get("dtype") is not None else None)
    if isinstance(value, Scalar):
        own = dtype_of(call, value.type.strong)
        return arrays.boxed(Scalar(arith.cast(value.expr, own)), builder.emitter)
    array = arrays.as_array(as_plain(value), builder.emitter)
    of = dtype_of(call, array.type.strong)
    if isinstance(value, Array) and value.is_list:
        settled = call.get("dtype") is not None or of.dtype is DType.F64
        arrays.hold_items(array.shape[:-1] if settled else array.shape, builder.emitter)
        array = arrays.assigned(value, of, builder.emitter)
    if not copy and of == array.type and array.view is not None:
        return array
    converted = Array(array.shape, of, lambda at: arith.cast(array.element(at), of), cost=array.cost + 1)
    return arrays.materialise(converted, builder.emitter, "array")
