"""Subscripts: integers, slices, `newaxis`, `...`, boolean masks, integer arrays.  In: an array and the values between
the brackets; out: a scalar, a view, or a gathered array.  Bounds become guards where they can, else checks in place.
"""

from __future__ import annotations

from collections.abc import Sequence

from weft.errors import Unsupported
from weft.frontend import arith, arrays, masks
from weft.frontend.emit import Emitter
from weft.frontend.values import Array, Index, Mask, Object, Scalar, Slice, Tuple, Value, describe
from weft.ir import index as ix
from weft.ir.expr import ONE, ZERO, Const, Dim, Expr, Op, Var, integer
from weft.ir.index import affine
from weft.ir.types import BOOL, I64, INT, DType, ScalarType
from weft.records import dataclass


@dataclass(frozen=True)
class Take:
    """One output axis, or none: how a subscript item reads an input axis."""

    axis: int | None  # input axis; None for newaxis
    extent: Expr | None  # extent of the output axis; None if the axis is dropped (an integer)
    start: Expr = ZERO
    step: Expr = ONE


def subscript(array: Array, key: Value, emitter: Emitter, store: bool = False) -> Value:
    """array[key]; for a store, a place whose index depends on data is a place to write, otherwise it is a copy."""
    items = list(key.items) if isinstance(key, Tuple) and not key.is_list else [key]
    if len(items) == 1 and isinstance(items[0], Array) and items[0].type.dtype is DType.BOOL:
        return Mask(array, fitting_mask(array, items[0], emitter))
    items = _without_masks(array, _expand_ellipsis(array, items, emitter), emitter)
    if any(isinstance(item, (Array, Tuple)) for item in items):
        array, items = _without_newaxis(array, items)
    if any(isinstance(item, (Array, Tuple)) for item in items):
        return _gather(array, items, emitter, store)
    found = _basic(array, items, emitter, store)
    if store and (not array.rank or array.part is not None):
        return found
    # A single element is a number, unless an ellipsis says that what is left is an array.
    dotted = isinstance(key, Tuple) and any(isinstance(item, Object) and item.value is Ellipsis for item in key.items)
    dotted = dotted or (isinstance(key, Object) and key.value is Ellipsis)
    if found.rank or (dotted and not store):
        return found
    return Scalar(found.element(()))


def fitting_mask(array: Array, condition: Array, emitter: Emitter) -> Array:
    """A boolean array as an index: its extents are those of the array, 1 is no exception."""
    if condition.rank > array.rank:
        raise Unsupported(emitter.span, "IndexError: too many indices for array: the mask has more axes than the array")
    for own, other in zip(array.shape, condition.shape):
        emitter.same_size(own, other, "IndexError", "boolean index did not match indexed array", whole=False)
    return condition


def _without_masks(array: Array, items: list[Value], emitter: Emitter) -> list[Value]:
    """Boolean arrays among several subscripts: the positions of their true elements."""
    result: list[Value] = []
    axis = 0
    for item in items:
        if isinstance(item, Array) and item.type.dtype is DType.BOOL and item.rank:
            message = "boolean index did not match indexed array"
            for own, other in zip(array.shape[axis:], item.shape):
                emitter.same_size(own, other, "IndexError", message, whole=False)
            result += masks.positions(item, emitter)
            axis += item.rank
            continue
        result.append(item)
        axis += 0 if isinstance(item, Object) and item.value is None else 1
    return result


def _axes_taken(item: Value) -> int:
    """How many axes an item of an index stands for."""
    if isinstance(item, Object) and item.value in (None, Ellipsis):
        return 0
    return item.rank if isinstance(item, Array) and item.type.dtype is DType.BOOL and item.rank else 1


def _without_newaxis(array: Array, items: list[Value]) -> tuple[Array, list[Value]]:
    """a[i, None] --> b[i, :] with b = a[:, None]"""
    shape: list[Expr] = []
    kept: list[int] = []
    axis = 0
    for position, item in enumerate(items):
        if isinstance(item, Object) and item.value is None:
            shape.append(ONE)
            continue
        shape.append(array.shape[axis])
        kept.append(position)
        axis += 1
    if len(kept) == len(items):
        return array, items
    widened = arrays.remap(array, tuple(shape), lambda at: tuple(at[k] for k in kept))
    return widened, [item if k in kept else Slice(None, None, None) for k, item in enumerate(items)]


def _expand_ellipsis(array: Array, items: Sequence[Value], emitter: Emitter) -> list[Value]:
    consumed = sum(_axes_taken(item) for item in items)
    if consumed > array.rank:
        raise Unsupported(
            emitter.span,
            f"IndexError: too many indices: array is {array.rank}-dimensional, but {consumed} were indexed",
        )
    everything = Slice(None, None, None)
    result: list[Value] = []
    seen = False
    for item in items:
        if isinstance(item, Object) and item.value is Ellipsis:
            if seen:
                raise Unsupported(emitter.span, "IndexError: an index can only have a single ellipsis")
            seen = True
            result += [everything] * (array.rank - consumed)
        else:
            result.append(item)
    if not seen:
        result += [everything] * (array.rank - consumed)
    return result


def _basic(array: Array, items: Sequence[Value], emitter: Emitter, store: bool) -> Array:
    takes: list[Take] = []
    axis = 0
    for item in items:
        if isinstance(item, Object) and item.value is None:
            takes.append(Take(None, ONE))
            continue
        if isinstance(item, Slice):
            takes.append(_slice(array, axis, item, emitter))
        elif isinstance(item, Scalar):
            takes.append(Take(axis, None, position(array, axis, item.expr, emitter, store)))
        else:
            raise Unsupported(emitter.span, f"an index of type {describe(item)}", "use integers, slices or arrays")
        axis += 1
    shape = tuple(take.extent for take in takes if take.extent is not None)

    def index(at: Index) -> Index:
        result: list[Expr] = []
        position = 0
        for take in takes:
            if take.extent is None:
                result.append(take.start)
                continue
            variable = at[position]
            position += 1
            if take.axis is not None:
                result.append(ix.add(take.start, ix.mul(take.step, variable)))
        return tuple(result)

    return arrays.remap(array, shape, index)


def position(
    array: Array, axis: int, expr: Expr, emitter: Emitter, store: bool = False, message: str | None = None
) -> Expr:
    """A non-negative in-bounds index for a Python index that may be negative."""
    extent = array.shape[axis]
    if expr.type.dtype is DType.BOOL or not expr.type.dtype.is_integer:
        raise Unsupported(emitter.span, f"IndexError: an index of type {expr.type}", "use an integer")
    if expr.type.dtype is DType.U64:
        expr = emitter.snapshot(expr, "index")
        most = Const(2**63 - 1, ScalarType(DType.U64))
        too_large = "Python int too large to convert to C long"
        emitter.check(Op("le", (expr, most), BOOL), "OverflowError", too_large)
        expr = arith.cast(expr, I64)
    expr = arith.cast(expr, INT)
    message = message or f"index {{0}} is out of bounds for axis {axis} with size {{1}}"
    if array.is_list:
        message = f"list {'assignment ' if store and array.rank == 1 else ''}index out of range"
    if isinstance(expr, Const) and int(expr.value.real) < 0:
        wrapped = ix.add(extent, expr)
        if emitter.assure(wrapped, "IndexError", message):
            return wrapped
        emitter.check(Op("ge", (wrapped, ZERO), BOOL), "IndexError", message, (expr, extent))
        return wrapped
    if any(dim == Dim(dim.var, ZERO, extent) and expr == Var(dim.var) for dim in emitter.dims):
        return expr  # a loop over the very extent, whatever that is
    if emitter.sound and array.rank == 1:
        return emitter.snapshot(expr, "index")
    below = ix.sub(ix.sub(extent, ONE), expr)
    if emitter.assure(expr, "IndexError", message) and emitter.assure(below, "IndexError", message):
        return expr
    if emitter.contents and emitter.proved(expr) and emitter.proved(below):
        return expr
    modulus = emitter.modulus(expr)
    if modulus is not None and emitter.assure(ix.sub(modulus, ONE), "IndexError", message):
        # A remainder, as in the periodic a[(i + 1) % n], is within bounds if the modulus is no larger than the array.
        if emitter.assure(ix.sub(extent, modulus), "IndexError", message):
            return emitter.snapshot(expr, "index")
    expr = emitter.snapshot(expr, "index")
    non_negative = emitter.proved(expr)
    wrapped = expr if non_negative else emitter.snapshot(wrap(expr, extent), "index")
    inside = Op("lt", (wrapped, extent), BOOL)
    if not non_negative:
        inside = Op("and", (Op("ge", (wrapped, ZERO), BOOL), inside), BOOL)
    emitter.check(inside, "IndexError", message, (expr, extent))
    return wrapped


def wrap(expr: Expr, extent: Expr) -> Expr:
    """A Python index as a position: negative ones count from the end."""
    return Op("select", (Op("lt", (expr, ZERO), BOOL), ix.add(expr, extent), expr), INT)


def sliced(array: Array, key: Slice, emitter: Emitter) -> Take:
    """How a slice reads an array of rank 1."""
    return _slice(array, 0, key, emitter)


def _slice(array: Array, axis: int, item: Slice, emitter: Emitter) -> Take:
    extent = array.shape[axis]
    step = _step(item.step, emitter)
    if not isinstance(step, Const) and not emitter.assure(ix.sub(step, ONE), "RuntimeError"):
        first, many = either_way(item, extent, step, emitter)
        return Take(axis, many, first, step)
    if isinstance(step, Const) and int(step.value.real) < 0:
        return _slice_down(array, axis, item, int(step.value.real), emitter)
    if item.lo is None and item.hi is None and step == ONE:
        return Take(axis, extent)
    lo = ZERO if item.lo is None else _bound(item.lo, extent, emitter)
    hi = extent if item.hi is None else _bound(item.hi, extent, emitter)
    return Take(axis, _length(lo, hi, step, emitter), lo, step)


def _slice_down(array: Array, axis: int, item: Slice, step: int, emitter: Emitter) -> Take:
    """From lo (default the last) down to above hi (default before the first)."""
    extent = array.shape[axis]
    if item.lo is None and item.hi is None and step == -1:
        return Take(axis, extent, ix.sub(extent, ONE), integer(-1))
    lo = ix.sub(extent, ONE) if item.lo is None else _bound_down(item.lo, extent, emitter)
    hi = integer(-1) if item.hi is None else _bound_down(item.hi, extent, emitter)
    return Take(axis, _length(hi, lo, integer(-step), emitter), lo, integer(step))


def _step(value: Value | None, emitter: Emitter) -> Expr:
    """The step of a slice, which only the run time may know."""
    if value is None or (isinstance(value, Object) and value.value is None):
        return ONE
    expr = _integer(value, emitter)
    if isinstance(expr, Const):
        if expr.value == 0:
            raise Unsupported(emitter.span, "ValueError: slice step cannot be zero")
        return expr
    return emitter.snapshot(expr, "step")


def either_way(item: Slice, extent: Expr, step: Expr, emitter: Emitter) -> tuple[Expr, Expr]:
    """The first place of a slice and how many there are, by a step of which not even the sign is known."""
    emitter.check(Op("ne", (step, ZERO), BOOL), "ValueError", "slice step cannot be zero")
    up = emitter.snapshot(Op("gt", (step, ZERO), BOOL), "up")

    def chosen(one: Expr, other: Expr) -> Expr:
        return Op("select", (up, one, other), INT)

    low = emitter.snapshot(chosen(ZERO, integer(-1)), "low")
    high = emitter.snapshot(chosen(extent, ix.sub(extent, ONE)), "high")
    ends = []
    for bound, default in ((item.lo, chosen(low, high)), (item.hi, chosen(high, low))):
        end = default
        if bound is not None:
            place = wrap(emitter.snapshot(_integer(bound, emitter), "bound"), extent)
            end = Op("minimum", (Op("maximum", (place, low), INT), high), INT)
        ends.append(emitter.snapshot(end, "end"))
    gap = chosen(ix.sub(ends[1], ends[0]), ix.sub(ends[0], ends[1]))
    size = emitter.snapshot(Op("abs", (step,), INT), "size")
    rounded = Op("floordiv", (Op("add", (gap, Op("sub", (size, ONE), INT)), INT), size), INT)
    return ends[0], emitter.snapshot(Op("maximum", (rounded, ZERO), INT), "many")


def _integer(value: Value, emitter: Emitter) -> Expr:
    if not isinstance(value, Scalar) or not value.type.dtype.is_integer:
        raise Unsupported(emitter.span, f"a slice bound of type {describe(value)}", "use integers")
    if value.type.dtype is DType.U64 and not isinstance(value.expr, Const):
        # Beyond the end of every array, and still one of the signed integers.
        most = Const(2**62, value.type.strong)
        return arith.cast(arith.cast(Op("minimum", (value.expr, most), value.type.strong), I64), INT)
    return arith.cast(value.expr, INT)


def _bound(value: Value, extent: Expr, emitter: Emitter) -> Expr:
    """A bound of an ascending slice, clamped to 0 .. extent."""
    if isinstance(value, Object) and value.value is None:
        raise Unsupported(emitter.span, "a slice bound that may be None")
    expr = _integer(value, emitter)
    if isinstance(expr, Const) and int(expr.value.real) < 0:
        expr = ix.add(extent, expr)
        if emitter.assure(expr, "RuntimeError"):
            return expr
        return emitter.snapshot(Op("maximum", (expr, ZERO), INT), "bound")
    low = emitter.assure(expr, "RuntimeError")
    high = emitter.assure(ix.sub(extent, expr), "RuntimeError")
    if low and high:
        return expr
    if not low:
        expr = wrap(emitter.snapshot(expr, "bound"), extent)
        expr = Op("maximum", (expr, ZERO), INT)
    return emitter.snapshot(Op("minimum", (expr, extent), INT), "bound")


def _bound_down(value: Value, extent: Expr, emitter: Emitter) -> Expr:
    """A bound of a descending slice, clamped to -1 .. extent - 1."""
    expr = _integer(value, emitter)
    last = ix.sub(extent, ONE)
    if isinstance(expr, Const) and int(expr.value.real) < 0:
        expr = ix.add(extent, expr)
        if emitter.assure(ix.add(expr, ONE), "RuntimeError"):
            return expr
        return emitter.snapshot(Op("maximum", (expr, integer(-1)), INT), "bound")
    low = emitter.assure(expr, "RuntimeError")
    if low and emitter.assure(ix.sub(last, expr), "RuntimeError"):
        return expr
    if not low:
        expr = wrap(emitter.snapshot(expr, "bound"), extent)
        expr = Op("maximum", (expr, integer(-1)), INT)
    return emitter.snapshot(Op("minimum", (expr, last), INT), "bound")


def _length(lo: Expr, hi: Expr, step: Expr, emitter: Emitter) -> Expr:
    """The number of elements from lo up to hi (exclusive) by a positive step."""
    span = ix.sub(hi, lo)
    if not emitter.assure(span, "RuntimeError"):
        span = Op("maximum", (span, ZERO), INT)
    span = emitter.snapshot(span, "length")
    if step == ONE:
        return span
    form, width = affine(span), affine(step)
    if form is not None and form.is_constant and width is not None and width.is_constant:
        return integer(-(-form.constant // width.constant))
    rounded = ix.add(span, ix.sub(step, ONE))
    return emitter.derived(Op("floordiv", (rounded, step), INT))


# --- integer arrays -------------------------------------------------------------------------------------------------


def _gather(array: Array, items: Sequence[Value], emitter: Emitter, store: bool) -> Value:
    """array[index arrays, slices, integers]: index arrays broadcast together, and their axes lead unless adjacent."""
    for item in items:
        if not isinstance(item, (Array, Tuple, Scalar, Slice)):
            raise Unsupported(emitter.span, f"an index of type {describe(item)}", "use integers, slices or arrays")
    advanced = [k for k, item in enumerate(items) if isinstance(item, (Array, Tuple, Scalar))]
    if any(isinstance(items[k], Tuple) for k in advanced):
        raise Unsupported(emitter.span, "a list or tuple as an index", "make it a NumPy array")
    adjacent = advanced == list(range(advanced[0], advanced[-1] + 1))
    indices = [_index_array(items[k], emitter) for k in advanced]
    if not store:
        array = arrays.evaluated(array, emitter)  # an element may be fetched many times
    common = arrays.broadcast_shapes([index.shape for index in indices], emitter)
    sources = [
        checked(arrays.broadcast_to(index, common, emitter), array, axis, common, emitter)
        for index, axis in zip(indices, advanced)
    ]
    slices = {k: _slice(array, k, item, emitter) for k, item in enumerate(items) if isinstance(item, Slice)}
    before = [k for k in slices if adjacent and k < advanced[0]]
    after = [k for k in slices if k not in before]
    shape = (*(_extent(slices[k]) for k in before), *common, *(_extent(slices[k]) for k in after))
    rank = len(common)

    def index(at: Index) -> Index:
        place: dict[int, Expr] = {}
        middle = at[len(before) : len(before) + rank]
        rest = at[: len(before)] + at[len(before) + rank :]
        for k, variable in zip(before + after, rest):
            place[k] = ix.add(slices[k].start, ix.mul(slices[k].step, variable))
        for k, source in zip(advanced, sources):
            place[k] = source.element(middle)
        return tuple(place[k] for k in range(array.rank))

    gathered = arrays.remap(array, shape, index)
    return gathered if store else arrays.copied(gathered)


def _extent(take: Take) -> Expr:
    assert take.extent is not None
    return take.extent


def _index_array(item: Value, emitter: Emitter) -> Array:
    array = arrays.as_array(item, emitter)
    if not array.type.dtype.is_integer:
        raise Unsupported(emitter.span, f"an index array of {array.type}", "use integers")
    if array.type.dtype is DType.U64:  # NumPy converts to signed integers, which wraps around
        return Array(array.shape, I64, lambda at: arith.cast(array.element(at), I64), cost=array.cost + 1)
    return array


def checked(source: Array, array: Array, axis: int, shape: tuple[Expr, ...], emitter: Emitter) -> Array:
    """The index array with negative positions wrapped, and a check that all are within bounds."""
    extent = array.shape[axis]
    if source.rank == 0 or (source.view is None and source.cost == 0 and not shape):
        place = position(array, axis, source.element(()), emitter)
        return Array((), source.type, lambda _: place)
    source = arrays.evaluated(source, emitter, "index")
    dims, at = emitter.domain(shape)
    raw = arith.cast(source.element(at), INT)
    inside = arith.conjunction(Op("ge", (raw, ix.sub(ZERO, extent)), BOOL), Op("lt", (raw, extent), BOOL))
    emitter.check(
        inside, "IndexError", f"index {{0}} is out of bounds for axis {axis} with size {{1}}", (raw, extent), dims
    )

    def element(place: Index) -> Expr:
        value = arith.cast(source.element(place), INT)
        return wrap(value, extent) if source.type.dtype.kind == "i" else value

    return Array(source.shape, source.type, element, None, False, source.cost)
