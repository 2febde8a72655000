"""Arrays made of arrays: repeat, tile, pad, append, stacks, diagonals; products of blocks (kron, cross) and norms."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from weft.errors import Unsupported
from weft.frontend import arith, arrays
from weft.frontend.constants import constant, constant_axis, constant_bool, constant_int
from weft.frontend.emit import Emitter
from weft.frontend.knowledge import Bound, native
from weft.frontend.knowledge.creation import dtype_of, extent_of, shape_of
from weft.frontend.knowledge.reductions import sum_type
from weft.frontend.knowledge.reshaping import flattened
from weft.frontend.knowledge.selecting import axis_of, operand
from weft.frontend.knowledge.shaping import joined, joined_by, permuted
from weft.frontend.knowledge.ufuncs import elements
from weft.frontend.values import Array, Index, Object, Scalar, Tuple, Value, describe
from weft.frontend.writing import axis_index, counter, last, loop, others, pick
from weft.ir import index as ix
from weft.ir.expr import ONE, ZERO, Const, Expr, Op, Reduce, integer
from weft.ir.types import BOOL, F64, FLOAT, I64, INT, DType, ScalarType, promote

# --- repeats --------------------------------------------------------------------------------------------------------

_NEGATIVE = "repeats may not contain negative values."


@native(np.repeat, parameters="a repeats axis", method="repeat")
def _repeat(call: Bound) -> Value:
    emitter = call.builder.emitter
    array = operand(call, "a")
    axis = axis_of(call, array.rank)
    if axis is None:
        array, axis = flattened(array, emitter), 0
    counts = operand(call, "repeats")
    if counts.rank > 1 or not counts.type.dtype.is_integer or counts.type.dtype is DType.U64:
        raise Unsupported(emitter.span, "TypeError: repeats of np.repeat that are not integers", "use integers")
    if counts.rank and not arrays.is_one(counts.shape[0]):
        return _repeated_each(array, arrays.evaluated(counts, emitter), axis, emitter)
    times = emitter.snapshot(arith.cast(counts.element((ZERO,) * counts.rank), INT), "repeats")
    if not emitter.assure(times, "ValueError", _NEGATIVE):
        emitter.check(Op("ge", (times, ZERO), BOOL), "ValueError", _NEGATIVE)
    extent = array.shape[axis]
    shape = axis_index(others(array.shape, axis), axis, ix.mul(extent, times))
    buffer = emitter.allocate("repeated", array.type.strong, shape)
    dims, at = emitter.domain((*array.shape, times))
    source, copy = at[:-1], at[-1]
    place = (*source[:axis], ix.add(ix.mul(source[axis], times), copy), *source[axis + 1 :])
    emitter.assign(dims, buffer.name, place, arith.cast(array.element(source), buffer.type))
    return arrays.of_buffer(buffer)


def _repeated_each(array: Array, counts: Array, axis: int, emitter: Emitter) -> Array:
    """Every slice along the axis as often as its own count says."""
    extent = array.shape[axis]
    message = "operands could not be broadcast together with shape ({0},) ({1},)"
    counts = arrays.fitted(counts, (extent,), emitter, message)
    dims, at = emitter.domain((extent,))
    emitter.check(Op("ge", (arith.cast(counts.element(at), INT), ZERO), BOOL), "ValueError", _NEGATIVE, (), dims)
    dims, at = emitter.domain((extent,))
    total = emitter.snapshot(
        arith.cast(Reduce("add", dims, arith.cast(counts.element(at), I64), emitter.span), INT), "n"
    )
    rest = others(array.shape, axis)
    buffer = emitter.allocate("repeated", array.type.strong, axis_index(rest, axis, total))
    position = counter(emitter, "position")
    with loop(emitter, ZERO, extent, "k") as k:
        times = emitter.snapshot(arith.cast(counts.element((k,)), INT), "times")
        dims, at = emitter.domain((times, *rest), "clmnpqrst")
        copy, inner = at[0], at[1:]
        value = arith.cast(array.element(axis_index(inner, axis, k)), buffer.type)
        place = ix.add(position.index, copy)
        emitter.assign(dims, buffer.name, axis_index(inner, axis, place), value)
        position.set(Op("add", (position.value, arith.cast(times, position.of)), position.of))
    return arrays.of_buffer(buffer)


@native(np.tile, parameters="A reps", boxes=True)
def _tile(call: Bound) -> Value:
    emitter = call.builder.emitter
    array = arrays.evaluated(operand(call, "A"), emitter)
    times = list(shape_of(call.need("reps"), emitter))
    rank = max(array.rank, len(times))
    times = [ONE] * (rank - len(times)) + times
    lead = rank - array.rank
    lifted = arrays.remap(array, (ONE,) * lead + array.shape, lambda at: at[lead:])
    shape = tuple(ix.mul(extent, n) for extent, n in zip(lifted.shape, times))

    buffer = emitter.allocate("tiled", array.type.strong, shape)
    dims, at = emitter.domain((*times, *lifted.shape))
    copy, inner = at[:rank], at[rank:]
    place = tuple(ix.add(ix.mul(k, n), i) for k, n, i in zip(copy, lifted.shape, inner))
    emitter.assign(dims, buffer.name, place, arith.cast(lifted.element(inner), buffer.type))
    return arrays.of_buffer(buffer)


# --- padding --------------------------------------------------------------------------------------------------------


def _widths(call: Bound, rank: int) -> list[tuple[Expr, Expr]]:
    """How much to add before and after each axis."""
    emitter = call.builder.emitter
    value = call.need("pad_width")
    if not isinstance(value, Tuple):
        width = extent_of(value, emitter)
        return [(width, width)] * rank
    if all(isinstance(item, Tuple) for item in value.items):
        pairs = [shape_of(item, emitter) for item in value.items]
        if len(pairs) == 1:
            pairs *= rank
        if len(pairs) != rank or any(len(pair) not in (1, 2) for pair in pairs):
            raise Unsupported(emitter.span, "ValueError: the pad_width of np.pad does not fit the array")
        return [(pair[0], pair[-1]) for pair in pairs]
    flat = shape_of(value, emitter)
    if len(flat) not in (1, 2):
        what = f"a pad_width of np.pad that is {describe(value)}"
        raise Unsupported(emitter.span, what, "write ((before, after), ...)")
    return [(flat[0], flat[-1])] * rank


def _fills(call: Bound, rank: int, of: ScalarType) -> list[tuple[Expr, Expr]]:
    """The constants before and after each axis, as elements of type `of`: NumPy has made an array of them before."""
    emitter = call.builder.emitter
    given = call.get("constant_values")
    if given is None:
        if "constant_values" in call.given:
            raise Unsupported(emitter.span, "constant_values of np.pad that are None")
        return [(arith.cast(ZERO, of),) * 2] * rank

    def numbers(value: Value) -> tuple[Expr, ...]:
        items = value.items if isinstance(value, Tuple) else (value,)
        if not items or len(items) > 2 or not all(isinstance(item, Scalar) for item in items):
            what = f"constant_values of np.pad that are {describe(value)}"
            raise Unsupported(emitter.span, what, "write ((before, after), ...)")
        exprs = [arith.cast(item.expr, item.type.strong) for item in items if isinstance(item, Scalar)]
        fills = [arrays.element(emitter.snapshot(expr, "fill"), of, emitter) for expr in exprs]
        return tuple(arrays.storable(fill, of, emitter) for fill in fills)

    nested = isinstance(given, Tuple) and all(isinstance(item, Tuple) for item in given.items)
    pairs = [numbers(item) for item in given.items] if nested and isinstance(given, Tuple) else [numbers(given)]
    if len(pairs) not in (1, rank):
        raise Unsupported(emitter.span, "ValueError: the constant_values of np.pad do not fit the array")
    return [(pair[0], pair[-1]) for pair in (pairs * rank if len(pairs) == 1 else pairs)]


def _reflected(x: Expr, n: Expr, mode: str) -> Expr:
    """The position within 0 .. n - 1 that stands for position x outside."""
    if mode == "edge":
        return pick(Op("lt", (x, ZERO), BOOL), ZERO, last(n))
    if mode == "wrap":
        return Op("mod", (x, n), INT)
    if mode == "symmetric":
        period = ix.add(n, n)
        turn = Op("mod", (x, period), INT)
        return pick(Op("ge", (turn, n), BOOL), ix.sub(last(period), turn), turn)
    period = Op("maximum", (ix.sub(ix.add(n, n), integer(2)), ONE), INT)
    turn = Op("mod", (x, period), INT)
    return pick(Op("ge", (turn, n), BOOL), Op("sub", (period, turn), INT), turn)


@native(np.pad, parameters="array pad_width mode constant_values", boxes=True)
def _pad(call: Bound) -> Value:
    """The middle first, then axis by axis what lies before and after it."""
    emitter = call.builder.emitter
    array = operand(call, "array")
    given = call.get("mode")
    mode = "constant" if given is None else constant(given, emitter)
    if mode not in ("constant", "edge", "wrap", "reflect", "symmetric"):
        raise Unsupported(emitter.span, f"np.pad with mode={mode!r}")
    if mode != "constant" and call.get("constant_values") is not None:
        raise Unsupported(emitter.span, f"ValueError: constant_values for np.pad with mode {mode!r}")
    widths = _widths(call, array.rank)
    shape = tuple(ix.add(ix.add(before, n), after) for n, (before, after) in zip(array.shape, widths))
    whole = arrays.of_buffer(emitter.allocate("padded", array.type.strong, shape))
    assert whole.view is not None
    starts = tuple(before for before, _ in widths)

    def moved(at: Index) -> Index:
        return tuple(ix.add(variable, start) for variable, start in zip(at, starts))

    arrays.store(arrays.remap(whole, array.shape, moved), array, emitter, fresh=True)
    fills = _fills(call, array.rank, whole.type)
    for axis, (before, after) in enumerate(widths):
        n = array.shape[axis]
        if mode != "constant":
            _refuse_empty(n, axis, mode, emitter)
        for width, offset, fill in ((before, ZERO, fills[axis][0]), (after, ix.add(before, n), fills[axis][1])):
            if width == ZERO:
                continue
            slab = (*shape[:axis], width, *array.shape[axis + 1 :])
            dims, at = emitter.domain(slab)
            place = (*at[:axis], ix.add(at[axis], offset), *moved((*at[:axis], ZERO, *at[axis + 1 :]))[axis + 1 :])
            outside = ix.sub(place[axis], before)
            source = (*place[:axis], ix.add(_reflected(outside, n, mode), before), *place[axis + 1 :])
            value = fill if mode == "constant" else whole.element(source)
            emitter.assign(dims, whole.view.buffer, place, value)
    return whole


def _refuse_empty(extent: Expr, axis: int, mode: str, emitter: Emitter) -> None:
    message = f"can't extend empty axis {axis} using modes other than 'constant' or 'empty'"
    if not emitter.assure(last(extent), "ValueError", message):
        emitter.check(Op("gt", (extent, ZERO), BOOL), "ValueError", message)


# --- joins ----------------------------------------------------------------------------------------------------------


@native(np.append, parameters="arr values axis")
def _append(call: Bound) -> Value:
    emitter = call.builder.emitter
    parts = [operand(call, name) for name in ("arr", "values")]
    axis = axis_of(call, parts[0].rank)
    if axis is None:
        return joined([flattened(part, emitter) for part in parts], 0, emitter)
    if parts[0].rank != parts[1].rank:
        raise Unsupported(emitter.span, "ValueError: all the input arrays must have same number of dimensions")
    return joined(parts, axis, emitter)


def at_least(array: Array, rank: int) -> Array:
    """The array with axes of length 1 added as np.atleast_1d, _2d and _3d add them."""
    if array.rank >= rank:
        return array
    # A vector becomes a row; a third axis goes to the end.
    front = 1 if array.rank == 1 else 0
    own = array.rank
    shape = ((ONE,) * front + array.shape + (ONE,) * rank)[:rank]
    return arrays.remap(replace(array, type=array.type.strong), shape, lambda at: at[front : front + own])


@native(np.column_stack, parameters="tup", ranks=(1, 2))
def _column_stack(call: Bound) -> Value:
    def plan(part: Array) -> tuple[Array, int]:
        part = at_least(part, 1)
        return arrays.remap(part, (*part.shape, ONE), lambda at: at[:1]) if part.rank == 1 else part, 1

    return joined_by(call, "tup", plan)


@native(np.dstack, parameters="tup")
def _dstack(call: Bound) -> Value:
    return joined_by(call, "tup", lambda part: (at_least(part, 3), 2))


def _atleast(function: object, rank: int) -> None:
    @native(function, parameters="a")
    def build(call: Bound) -> Value:
        value = call.need("a")
        if isinstance(value, Array) and not value.is_list:
            return at_least(value, rank)
        array = operand(call, "a")
        of = array.type.strong
        strong = Array(array.shape, of, lambda at: arith.cast(array.element(at), of), cost=array.cost + 1)
        return at_least(strong, rank)


for _function, _rank in ((np.atleast_1d, 1), (np.atleast_2d, 2), (np.atleast_3d, 3)):
    _atleast(_function, _rank)


# --- triangles and diagonals ----------------------------------------------------------------------------------------


@native(np.tri, parameters="N M k dtype")
def _tri(call: Bound) -> Value:
    emitter = call.builder.emitter
    rows = extent_of(call.need("N"), emitter)
    columns = rows if call.get("M") is None else extent_of(call.need("M"), emitter)
    offset = call.get("k")
    shift = ZERO if offset is None else integer(constant_int(offset, emitter))
    of = dtype_of(call, F64)
    one, zero = (arith.cast(Const(v, INT), of) for v in (1, 0))

    def element(at: Index) -> Expr:
        return Op("select", (Op("le", (at[1], ix.add(at[0], shift)), BOOL), one, zero), of)

    return arrays.materialise(Array((rows, columns), of, element, cost=1), emitter, "tri")


@native(np.diagonal, parameters="a offset axis1 axis2", method="diagonal", borrows=True)
def _diagonal(call: Bound) -> Value:
    emitter = call.builder.emitter
    array = operand(call, "a")
    if array.rank < 2:
        raise Unsupported(emitter.span, "ValueError: diag requires an array of at least two dimensions")
    first, second = (axis_of(call, array.rank, name, default) for name, default in (("axis1", 0), ("axis2", 1)))
    assert first is not None and second is not None
    if first == second:
        raise Unsupported(emitter.span, "ValueError: axis1 and axis2 cannot be the same")
    given = call.get("offset")
    offset = 0 if given is None else constant_int(given, emitter)
    below, right = integer(max(-offset, 0)), integer(max(offset, 0))
    rows, columns = ix.sub(array.shape[first], below), ix.sub(array.shape[second], right)
    extent = rows
    if ix.difference(rows, columns) != 0:
        extent = emitter.snapshot(Op("minimum", (rows, columns), INT), "n")
    if not emitter.assure(extent, "RuntimeError"):
        extent = emitter.snapshot(Op("maximum", (extent, ZERO), INT), "n")
    rest = [k for k in range(array.rank) if k not in (first, second)]

    def index(at: Index) -> Index:
        place = dict(zip(rest, at)) | {first: ix.add(at[-1], below), second: ix.add(at[-1], right)}
        return tuple(place[k] for k in range(array.rank))

    line = arrays.remap(array, (*(array.shape[k] for k in rest), extent), index)
    # NumPy gives a view that must not be written.
    return arrays.read_only(line)


@native(np.fill_diagonal, parameters="a val wrap", ranks=(2,), only={"wrap": ("False",)})
def _fill_diagonal(call: Bound) -> Value:
    emitter = call.builder.emitter
    array = call.need("a")
    if (
        not isinstance(array, Array)
        or array.view is None
        or array.rank != 2
        or constant_bool(call.get("wrap"), emitter)
    ):
        raise Unsupported(emitter.span, "np.fill_diagonal of what is no matrix, or with wrap", "pass a matrix")
    extent = array.shape[0]
    if ix.difference(array.shape[0], array.shape[1]) != 0:
        extent = emitter.snapshot(Op("minimum", array.shape, INT), "n")
    line = arrays.remap(array, (extent,), lambda at: (at[0], at[0]))
    value = operand(call, "val", array.type)
    if value.rank:
        source = arrays.evaluated(flattened(value, emitter), emitter)
        n = source.shape[0]
        if not emitter.assure(last(n), "RuntimeError"):
            raise Unsupported(emitter.span, "np.fill_diagonal with no values")
        value = Array((extent,), source.type, lambda at: source.element((Op("mod", (at[0], n), INT),)), cost=2)
    arrays.store(line, value, emitter)
    return Object(None)


@native(np.vander, parameters="x N increasing")
def _vander(call: Bound) -> Value:
    """Powers side by side, each the one before times x."""
    emitter = call.builder.emitter
    x = arrays.evaluated(operand(call, "x"), emitter)
    if x.rank != 1:
        raise Unsupported(emitter.span, "ValueError: x must be a one-dimensional array or sequence.")
    n = x.shape[0] if call.get("N") is None else extent_of(call.need("N"), emitter)
    of = promote(x.type.strong, I64)
    rising = constant_bool(call.get("increasing"), emitter)
    whole = arrays.of_buffer(emitter.allocate("vander", of, (x.shape[0], n)))
    assert whole.view is not None

    def column(k: Expr) -> Expr:
        return k if rising else ix.sub(last(n), k)

    with loop(emitter, ZERO, n, "k") as k:
        dims, at = emitter.domain(x.shape)
        power = arith.cast(x.element(at), of)
        # The first power is x itself: 1 * x would lose the sign of a complex zero.
        before = whole.element((at[0], column(ix.sub(k, ONE))))
        more = pick(Op("eq", (k, ONE), BOOL), power, Op("mul", (before, power), of, emitter.span))
        one = arith.cast(Const(1, INT), of)
        value = pick(Op("eq", (k, ZERO), BOOL), one, more)
        emitter.assign(dims, whole.view.buffer, (at[0], column(k)), value)
    return whole


# --- products and norms ---------------------------------------------------------------------------------------------


@native(np.kron, parameters="a b")
def _kron(call: Bound) -> Value:
    """out[i * m + k] = a[i] * b[k] along every axis."""
    emitter = call.builder.emitter
    left, right = (arrays.evaluated(operand(call, name), emitter) for name in ("a", "b"))
    rank = max(left.rank, right.rank)
    if not left.rank or not right.rank:
        # NumPy makes arrays of both: a Python number does not give way.
        pair = [replace(array, type=array.type.strong, element=_strong_element(array)) for array in (left, right)]
        return elements(call, [Scalar(array.element(())) if not array.rank else array for array in pair], "mul")
    first, second = (_lifted(array, rank) for array in (left, right))
    probe = arith.function("mul", (first.element((ZERO,) * rank), second.element((ZERO,) * rank)), emitter.span)
    shape = tuple(ix.mul(a, b) for a, b in zip(first.shape, second.shape))
    buffer = emitter.allocate("kron", probe.type.strong, shape)
    dims, at = emitter.domain((*first.shape, *second.shape))
    outer, inner = at[:rank], at[rank:]
    place = tuple(ix.add(ix.mul(i, n), k) for i, n, k in zip(outer, second.shape, inner))
    value = arith.function("mul", (first.element(outer), second.element(inner)), emitter.span)
    emitter.assign(dims, buffer.name, place, arith.cast(value, buffer.type))
    return arrays.of_buffer(buffer)


def _strong_element(array: Array) -> Callable[[Index], Expr]:
    return lambda at: arith.cast(array.element(at), array.type.strong)


def _lifted(array: Array, rank: int) -> Array:
    lead = rank - array.rank
    return arrays.remap(array, (ONE,) * lead + array.shape, lambda at: at[lead:])


@native(np.cross, parameters="a b axisa axisb axisc axis")
def _cross(call: Bound) -> Value:
    emitter = call.builder.emitter
    left, right = (arrays.evaluated(operand(call, name), emitter) for name in ("a", "b"))
    if not left.rank or not right.rank:
        raise Unsupported(emitter.span, "ValueError: np.cross of a number")
    names = ("axisa", "axisb", "axisc") if call.get("axis") is None else ("axis",) * 3
    first, second, third = (-1 if call.get(n) is None else constant_int(call.need(n), emitter) for n in names)
    result = _cross_last(_moved(left, first, -1, emitter), _moved(right, second, -1, emitter), emitter)
    return _moved(result, -1, third, emitter)


def _moved(array: Array, source: int, target: int, emitter: Emitter) -> Array:
    """The array with one axis at another place."""
    source, target = (arrays.normalise_axes(axis, array.rank, emitter)[0] for axis in (source, target))
    order = [axis for axis in range(array.rank) if axis != source]
    order.insert(target, source)
    return permuted(array, tuple(order)) if source != target else array


def _cross_last(left: Array, right: Array, emitter: Emitter) -> Array:
    """Products of the vectors along the last axes."""
    for array in (left, right):
        if emitter.sample_value(array.shape[-1]) not in (None, 3):
            raise Unsupported(
                emitter.span, "np.cross of vectors that have not three elements", "give them three elements each"
            )
        emitter.same_size(array.shape[-1], integer(3), "RuntimeError", "np.cross of vectors of another length")
    of = promote(left.type.strong, right.type.strong)
    if of.dtype is DType.BOOL:
        raise Unsupported(emitter.span, "np.cross of booleans")
    shape = arrays.broadcast_shapes([left.shape[:-1], right.shape[:-1]], emitter)
    buffer = emitter.allocate("cross", of, (*shape, integer(3)))
    a, b = (arrays.broadcast_to(array, (*shape, array.shape[-1]), emitter) for array in (left, right))
    for k in range(3):
        dims, at = emitter.domain(shape)

        def term(i: int, j: int, at: Index = at) -> Expr:
            pair = arith.cast(a.element((*at, integer(i))), of), arith.cast(b.element((*at, integer(j))), of)
            return Op("mul", pair, of, emitter.span)

        i, j = (k + 1) % 3, (k + 2) % 3
        emitter.assign(dims, buffer.name, (*at, integer(k)), Op("sub", (term(i, j), term(j, i)), of, emitter.span))
    return arrays.of_buffer(buffer)


@native(np.linalg.norm, parameters="x ord axis keepdims", name="norm")
def _norm(call: Bound) -> Value:
    emitter = call.builder.emitter
    array = operand(call, "x")
    if not array.type.dtype.is_inexact:
        source = array
        array = Array(source.shape, F64, lambda at: arith.cast(source.element(at), F64), cost=source.cost)
    given = call.get("ord")
    order = None if given is None else constant(given, emitter)
    keepdims = constant_bool(call.get("keepdims"), emitter)
    axis = constant_axis(call.get("axis"), emitter)
    axes = arrays.normalise_axes(axis, array.rank, emitter)
    if order is None and (axis is None or len(axes) <= 2):
        return _root_of_squares(call, array, axes, keepdims)
    if len(axes) == 1:
        return _vector_norm(call, array, axes[0], order, keepdims)
    if len(axes) == 2 and not keepdims:
        if order in ("fro", "f"):
            return _root_of_squares(call, array, axes, keepdims)
        return _matrix_norm(call, array, axes, order)
    reason = f"np.linalg.norm of order {order!r} along {len(axes)} axes"
    raise Unsupported(emitter.span, reason, "call it for a vector or a matrix")


def _sum(call: Bound, value: Value, axes: tuple[int, ...], keepdims: bool) -> Value:
    assert isinstance(value, Array)
    return arrays.reduce(value, "add", axes, keepdims, call.builder.emitter, "norm", sum_type(value.type))


def _root_of_squares(call: Bound, array: Array, axes: tuple[int, ...], keepdims: bool) -> Value:
    emitter = call.builder.emitter
    if array.type.dtype.is_complex:
        parts = [arrays.apply(name, [array], emitter) for name in ("real", "imag")]
        squares = [arrays.apply("mul", [part, part], emitter) for part in parts]
        square = arrays.apply("add", squares, emitter)
    else:
        square = arrays.apply("mul", [array, array], emitter)
    return elements(call, [_sum(call, square, axes, keepdims)], "sqrt")


def _extreme(call: Bound, value: Value, op: str, axis: int, keepdims: bool) -> Value:
    """The largest or least magnitude; of nothing, the largest is 0."""
    assert isinstance(value, Array)
    result = arrays.reduce(
        value, op, (axis,), keepdims, call.builder.emitter, "norm", value.type, nonempty=op == "maximum"
    )
    if op == "minimum":
        return result
    return elements(call, [result, Scalar(arith.cast(Const(0.0, FLOAT), value.type))], "maximum")


def _vector_norm(call: Bound, array: Array, axis: int, order: object, keepdims: bool) -> Value:
    emitter = call.builder.emitter
    magnitude = arrays.apply("abs", [array], emitter)
    if order in (math.inf, -math.inf):
        return _extreme(call, magnitude, "maximum" if order == math.inf else "minimum", axis, keepdims)
    if order == 1:
        return _sum(call, magnitude, (axis,), keepdims)
    if order == 2:
        return _root_of_squares(call, array, (axis,), keepdims)
    if order == 0:
        real = arith.cast(Const(0, INT), array.type).type
        of = F64 if real.dtype in (DType.F64, DType.C128) else magnitude.type  # type: ignore[union-attr]
        source = array
        flags = Array(
            array.shape,
            of,
            lambda at: arith.cast(arith.condition(source.element(at)), of),
            cost=array.cost + 1,
        )
        return _sum(call, flags, (axis,), keepdims)
    if isinstance(order, bool) or not isinstance(order, (int, float)):
        raise Unsupported(emitter.span, f"np.linalg.norm of order {order!r}", "use a number")
    powers = arrays.apply("pow", [magnitude, Scalar(Const(float(order), FLOAT))], emitter)
    total = _sum(call, powers, (axis,), keepdims)
    return elements(call, [total, Scalar(Const(1.0 / order, FLOAT))], "pow")


def _matrix_norm(call: Bound, array: Array, axes: tuple[int, ...], order: object) -> Value:
    emitter = call.builder.emitter
    if order not in (1, -1, math.inf, -math.inf):
        raise Unsupported(emitter.span, f"np.linalg.norm of order {order!r} of a matrix", "use Frobenius, 1 or inf")
    row, column = axes
    summed, kept = (row, column) if order in (1, -1) else (column, row)
    totals = _sum(call, arrays.apply("abs", [array], emitter), (summed,), False)
    assert isinstance(totals, Array)
    axis = kept - 1 if kept > summed else kept
    return _extreme(call, totals, "maximum" if order in (1, math.inf) else "minimum", axis, False)
