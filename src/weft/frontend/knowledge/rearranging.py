"""Arrays seen otherwise, or cut up: axes in another order, rotations, windows, splits; and arrays in Fortran order."""

from __future__ import annotations

import itertools

import numpy as np

from weft.errors import Unsupported
from weft.frontend import arith, arrays, indexing, layouts
from weft.frontend.constants import constant, constant_axis, constant_int
from weft.frontend.emit import Emitter
from weft.frontend.knowledge import ARRAYS, Bound, native
from weft.frontend.knowledge.compose import composed
from weft.frontend.knowledge.creation import shape_of
from weft.frontend.knowledge.reshaping import duplicate, flattened, transposed
from weft.frontend.knowledge.selecting import axis_of, operand
from weft.frontend.knowledge.shaping import permuted
from weft.frontend.values import Array, Index, Iterable, Scalar, Slice, Tuple, Value, describe
from weft.ir import index as ix
from weft.ir.expr import ONE, ZERO, Const, Expr, Op, integer
from weft.ir.types import BOOL, COMPLEX, FLOAT, INT, PYBOOL, DType, ScalarType

# --- axes -----------------------------------------------------------------------------------------------------------


@native(np.rollaxis, parameters="a axis start")
def _rollaxis(call: Bound) -> Value:
    emitter = call.builder.emitter
    given = call.need("a")
    if not isinstance(given, Array) or given.is_list:
        raise Unsupported(emitter.span, f"AttributeError: {describe(given)} has no attribute 'ndim'")
    array = operand(call, "a")
    axis = arrays.normalise_axes(constant_int(call.need("axis"), emitter), array.rank, emitter)[0]
    start = 0 if call.get("start") is None else constant_int(call.need("start"), emitter)
    start = start + array.rank if start < 0 else start
    if not 0 <= start <= array.rank:
        raise Unsupported(emitter.span, "AxisError: the start of np.rollaxis is out of bounds")
    start = start - 1 if axis < start else start
    order = [k for k in range(array.rank) if k != axis]
    order.insert(start, axis)
    return permuted(array, tuple(order))


@composed(np.fliplr)
def fliplr(m):  # type: ignore[no-untyped-def]
    if m.ndim < 2:
        raise ValueError("Input must be >= 2-d.")
    return m[:, ::-1]


@composed(np.flipud)
def flipud(m):  # type: ignore[no-untyped-def]
    if m.ndim < 1:
        raise ValueError("Input must be >= 1-d.")
    return m[::-1]


@native(np.rot90, parameters="m k axes")
def _rot90(call: Bound) -> Value:
    emitter = call.builder.emitter
    array = operand(call, "m")
    if any(name in call.given and call.get(name) is None for name in ("k", "axes")):
        raise Unsupported(emitter.span, "TypeError: np.rot90 with None for k or axes")
    turns = (1 if call.get("k") is None else constant_int(call.need("k"), emitter)) % 4
    given = (0, 1) if call.get("axes") is None else constant(call.need("axes"), emitter)
    if isinstance(given, int) or len(given) != 2:
        raise Unsupported(emitter.span, "ValueError: len(axes) must be 2.")
    axes = arrays.normalise_axes(tuple(given), array.rank, emitter)
    order = list(range(array.rank))
    order[axes[0]], order[axes[1]] = axes[1], axes[0]
    if turns == 0:
        return arrays.remap(array, array.shape, lambda at: at)
    if turns == 2:
        return arrays.flip(arrays.flip(array, axes[0]), axes[1])
    if turns == 1:
        return permuted(arrays.flip(array, axes[1]), tuple(order))
    return arrays.flip(permuted(array, tuple(order)), axes[1])


@native(np.broadcast_arrays, parameters="*args")
def _broadcast_arrays(call: Bound) -> Value:
    emitter = call.builder.emitter
    parts = [operand(Bound(call.builder, call.name, {"item": item}), "item") for item in call.rest]
    shape = arrays.broadcast_shapes([part.shape for part in parts], emitter)
    return Tuple(tuple(_shown(part, shape, emitter) for part in parts))


def _shown(part: Array, shape: tuple[Expr, ...], emitter: Emitter) -> Array:
    if len(shape) == part.rank and all(a == b for a, b in zip(part.shape, shape)):
        return part
    return arrays.read_only(arrays.broadcast_to(part, shape, emitter))


@native(np.lib.stride_tricks.sliding_window_view, parameters="x window_shape axis", borrows=True)
def _sliding_window_view(call: Bound) -> Value:
    emitter = call.builder.emitter
    array = operand(call, "x")
    windows = shape_of(call.need("window_shape"), emitter)
    axis = constant_axis(call.get("axis"), emitter)
    if axis is None and len(windows) != array.rank:
        raise Unsupported(emitter.span, "ValueError: window_shape must give the window along every axis")
    wanted = (axis,) if isinstance(axis, int) else axis
    axes = tuple(range(array.rank)) if wanted is None else tuple(a % array.rank for a in wanted)
    if len(axes) != len(windows) or len(set(axes)) != len(axes):
        raise Unsupported(emitter.span, "ValueError: window_shape and axis must have the same length")
    shape = list(array.shape)
    for window, k in zip(windows, axes):
        message = "window shape cannot be larger than input array shape"
        rest = ix.add(ix.sub(shape[k], window), ONE)
        if not emitter.assure(ix.sub(shape[k], window), "ValueError", message):
            raise Unsupported(emitter.span, f"ValueError: {message}")
        shape[k] = rest
    rank = array.rank

    def index(at: Index) -> Index:
        place = list(at[:rank])
        for position, k in enumerate(axes):
            place[k] = ix.add(place[k], at[rank + position])
        return tuple(place)

    return arrays.read_only(arrays.remap(array, (*shape, *windows), index))


# --- splits ---------------------------------------------------------------------------------------------------------


def part(array: Array, axis: int, start: Expr, extent: Expr) -> Array:
    """A run of slices along one axis, as a view."""
    shape = (*array.shape[:axis], extent, *array.shape[axis + 1 :])
    return arrays.remap(array, shape, lambda at: (*at[:axis], ix.add(at[axis], start), *at[axis + 1 :]))


def _parts(call: Bound, array: Array, where: Value, axis: int, equal: bool) -> Value:
    emitter = call.builder.emitter
    if isinstance(where, Tuple):
        return Tuple(tuple(_cut(array, where.items, axis, emitter)), is_list=True)
    if not isinstance(where, Scalar):
        raise Unsupported(emitter.span, f"{call.name}() at places that are an array", "write them as a list")
    count = constant_int(where, emitter)
    if not 0 < count <= 64:
        raise Unsupported(emitter.span, f"{call.name}() into {count} parts", "use one part or more")
    extent = array.shape[axis]
    size = _whole(Op("floordiv", (extent, integer(count)), INT), emitter)
    if equal:
        message = "array split does not result in an equal division"
        emitter.same_size(ix.mul(size, integer(count)), extent, "ValueError", message)
        parts = [part(array, axis, ix.mul(size, integer(k)), size) for k in range(count)]
        return Tuple(tuple(parts), is_list=True)
    more = _whole(Op("mod", (extent, integer(count)), INT), emitter)
    extra = [_whole(Op("minimum", (more, integer(k)), INT), emitter) for k in range(count + 1)]
    starts = [ix.add(ix.mul(size, integer(k)), extra[k]) for k in range(count + 1)]
    parts = [part(array, axis, a, ix.sub(b, a)) for a, b in itertools.pairwise(starts)]
    return Tuple(tuple(parts), is_list=True)


def _whole(expr: Op, emitter: Emitter) -> Expr:
    numbers = [arg.value for arg in expr.args if isinstance(arg, Const)]
    if len(numbers) == 2:
        a, b = (int(value.real) for value in numbers)
        return integer({"floordiv": a // b, "mod": a % b}[expr.op] if expr.op != "minimum" else min(a, b))
    return emitter.snapshot(expr, "n")


def _cut(array: Array, places: tuple[Value, ...], axis: int, emitter: Emitter) -> list[Value]:
    everything = Slice(None, None, None)
    bounds: list[Value | None] = [None, *places, None]
    result: list[Value] = []
    for low, high in itertools.pairwise(bounds):
        key = Tuple((*[everything] * axis, Slice(low, high, None)))
        result.append(indexing.subscript(array, key, emitter))
    return result


def _split(function: object, equal: bool) -> None:
    @native(function, parameters="ary indices_or_sections axis")
    def build(call: Bound) -> Value:
        array = operand(call, "ary")
        axis = axis_of(call, array.rank, default=0)
        assert axis is not None
        return _parts(call, array, call.need("indices_or_sections"), axis, equal)


_split(np.split, True)
_split(np.array_split, False)


def _split_along(function: object, axis: int, least: int) -> None:
    @native(function, parameters="ary indices_or_sections")
    def build(call: Bound) -> Value:
        array = operand(call, "ary")
        if array.rank < least:
            raise Unsupported(call.builder.emitter.span, f"ValueError: {call.name} only works on arrays of more axes")
        along = 0 if array.rank == 1 else axis
        return _parts(call, array, call.need("indices_or_sections"), along, True)


for _function, _axis, _least in ((np.hsplit, 1, 1), (np.vsplit, 0, 2), (np.dsplit, 2, 3)):
    _split_along(_function, _axis, _least)


@native(np.unstack, parameters="x axis")
def _unstack(call: Bound) -> Value:
    """One view for each index along an axis, whose length is compiled in."""
    emitter = call.builder.emitter
    if isinstance(call.need("x"), Tuple):
        raise Unsupported(emitter.span, f"np.unstack of {describe(call.need('x'))}", "pass an array")
    array = operand(call, "x")
    axis = axis_of(call, array.rank, default=0)
    assert axis is not None
    known = arrays.constant_shape(array.shape[axis : axis + 1])
    count = known[0] if known is not None else emitter.sample_value(emitter.resolve(array.shape[axis]))
    if count is None or count > 64:
        raise Unsupported(emitter.span, "np.unstack along an axis whose length is not known", "index the rows")
    emitter.same_size(array.shape[axis], integer(count), "RuntimeError", "")
    everything = Slice(None, None, None)
    keys = [Tuple((*[everything] * axis, Scalar(integer(k)))) for k in range(count)]
    return Tuple(tuple(indexing.subscript(array, key, emitter) for key in keys))


# --- order in memory ------------------------------------------------------------------------------------------------


@native(np.ascontiguousarray, parameters="a dtype", ranks=ARRAYS, only={"dtype": ("None",)}, borrows=True)
def _ascontiguousarray(call: Bound) -> Value:
    return _in_order(call, operand(call, "a"))


@native(np.asfortranarray, parameters="a dtype", ranks=ARRAYS, only={"dtype": ("None",)}, borrows=True)
def _asfortranarray(call: Bound) -> Value:
    array = operand(call, "a")
    turned = transposed(array)
    ordered = _in_order(call, turned)
    return array if ordered is turned else transposed(ordered)


def _in_order(call: Bound, array: Array) -> Array:
    """The array itself if it lies in C order, else a copy that does."""
    emitter = call.builder.emitter
    if call.get("dtype") is not None or not array.rank:
        raise Unsupported(emitter.span, f"{call.name}() with a dtype, or of a number")
    if array.view is None and array.origin is None:
        made = arrays.materialise(array, emitter, "copy")
    elif contiguous := layouts.is_contiguous(array, emitter):
        return array
    else:
        made = duplicate(array, array.shape, emitter, linked=contiguous is None)
    assert made.view is not None
    emitter.order[made.view.buffer] = True
    return made


# --- Python's own objects -------------------------------------------------------------------------------------------

_PYTHON = {"b": PYBOOL, "i": INT, "u": INT, "f": FLOAT, "c": COMPLEX}


def _python_type(array: Array, emitter: Emitter) -> ScalarType:
    if array.type.dtype is DType.U64:
        dims, at = emitter.domain(array.shape)
        fits = Op("ge", (arith.cast(array.element(at), INT), ZERO), BOOL)
        emitter.check(fits, "RuntimeError", "a Python integer of more than 63 bits", (), dims)
    return _PYTHON[array.type.dtype.kind]


@native(parameters="a", method="tolist")
def _tolist(call: Bound) -> Value:
    emitter = call.builder.emitter
    value = call.need("a")
    if isinstance(value, Scalar):
        return Scalar(arith.cast(value.expr, _python_type(arrays.as_array(value, emitter), emitter)))
    array = operand(call, "a")
    of = _python_type(array, emitter)
    made = Array(array.shape, of, lambda at: arith.cast(array.element(at), of), is_list=True, cost=1)
    return arrays.materialise(made, emitter, "list")


@native(parameters="a *args", method="item", only={"a": "no uint64"})
def _item(call: Bound) -> Value:
    emitter = call.builder.emitter
    array = operand(call, "a")
    of = _python_type(array, emitter)
    keys = call.rest[0].items if len(call.rest) == 1 and isinstance(call.rest[0], Tuple) else call.rest
    if not keys:
        message = "can only convert an array of size 1 to a Python scalar"
        emitter.same_size(arrays.count(array.shape), ONE, "ValueError", message)
        return Scalar(arith.cast(array.element((ZERO,) * array.rank), of))
    if len(keys) == 1 and array.rank != 1:
        array = flattened(array, emitter)
    found = indexing.subscript(array, Tuple(tuple(keys)), emitter)
    if not isinstance(found, Scalar):
        raise Unsupported(emitter.span, "ValueError: incorrect number of indices for array")
    return Scalar(arith.cast(found.expr, of))


# --- one element after the other ------------------------------------------------------------------------------------


@native(np.ndenumerate, parameters="arr")
def _ndenumerate(call: Bound) -> Value:
    array = operand(call, "arr")
    shape = array.shape

    def item(q: Expr) -> Value:
        at = arrays.unravelled(q, shape)
        return Tuple((Tuple(tuple(Scalar(part) for part in at)), Scalar(array.element(at))))

    return Iterable(call.builder.emitter.stable(arrays.count(shape)), item)
