"""Running totals, differences, sliding products, interpolation: what each element makes of those before or beside it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from weft.errors import Unsupported
from weft.frontend import arith, arrays
from weft.frontend.constants import constant, constant_axis, constant_int
from weft.frontend.emit import Emitter
from weft.frontend.expressions import scalar_binary
from weft.frontend.knowledge import Bound, native
from weft.frontend.knowledge.compose import at_least
from weft.frontend.knowledge.reductions import reduced_in, sum_type
from weft.frontend.knowledge.reshaping import flattened
from weft.frontend.knowledge.selecting import axis_of, operand
from weft.frontend.knowledge.shaping import joined
from weft.frontend.knowledge.ufuncs import Meaning, as_plain, deliver, operation
from weft.frontend.searching import places_of
from weft.frontend.values import Array, Index, Scalar, Tuple, Value, told
from weft.frontend.writing import (
    at_least_one,
    both,
    last,
    loop,
    nest,
    pick,
    shortened,
    small,
)
from weft.ir import index as ix
from weft.ir.expr import ONE, ZERO, Const, Dim, Expr, Op, Reduce, Var, integer
from weft.ir.types import BOOL, F64, FLOAT, INT, DType, ScalarType, promote


def scan(array: Array, meaning: Meaning, axis: int, of: ScalarType, emitter: Emitter) -> Array:
    """out[0] = a[0]; out[k] = out[k - 1] OP a[k], along one axis."""
    buffer = emitter.allocate("scan", of, array.shape)
    whole = arrays.of_buffer(buffer)
    extent = array.shape[axis]
    first = (*array.shape[:axis], at_least_one(extent, emitter), *array.shape[axis + 1 :])
    dims, at = emitter.domain(first)
    emitter.assign(dims, buffer.name, at, arith.cast(array.element(at), of))
    with nest(emitter, array.shape[:axis]) as outer, loop(emitter, ONE, extent, "k") as k:
        dims, inner = emitter.domain(array.shape[axis + 1 :], "lmnpqrst")
        place = (*outer, k, *inner)
        before = whole.element((*outer, ix.sub(k, ONE), *inner))
        value = meaning.combine((before, arith.cast(array.element(place), of)), emitter.span)
        emitter.assign(dims, buffer.name, place, arith.cast(value, of))
    return whole


def _running(op: str, function: object, method: str) -> None:
    @native(function, parameters="a axis dtype out", method=method, name=method)
    def build(call: Bound) -> Value:
        emitter = call.builder.emitter
        array = operand(call, "a")
        axis = axis_of(call, array.rank)
        if axis is None:
            array, axis = flattened(array, emitter), 0
        of = reduced_in(call, array.type.strong, sum_type(array.type))
        return deliver(call, scan(arrays.evaluated(array, emitter), operation(op), axis, of, emitter), exact=True)


_running("add", np.cumsum, "cumsum")
_running("mul", np.cumprod, "cumprod")


# --- differences ----------------------------------------------------------------------------------------------------


def part(array: Array, axis: int, start: Expr, length: Expr) -> Array:
    """array[start : start + length] along one axis."""
    shape = (*array.shape[:axis], length, *array.shape[axis + 1 :])

    def index(at: Index) -> Index:
        return (*at[:axis], ix.add(at[axis], start), *at[axis + 1 :])

    return arrays.remap(array, shape, index)


def difference(array: Array, axis: int, emitter: Emitter) -> Array:
    """a[1:] - a[:-1] along one axis; of booleans, whether they differ."""
    length = shortened(array.shape[axis], 1, emitter)
    op = "ne" if array.type.dtype is DType.BOOL else "sub"
    result = arrays.apply(op, [part(array, axis, ONE, length), part(array, axis, ZERO, length)], emitter)
    assert isinstance(result, Array)
    return result


@native(np.diff, parameters="a n axis prepend append")
def _diff(call: Bound) -> Value:
    emitter = call.builder.emitter
    array = operand(call, "a")
    times = 1 if call.get("n") is None else constant_int(call.need("n"), emitter)
    if not array.rank or times < 0:
        raise Unsupported(emitter.span, "ValueError: np.diff of a number, or of a negative order")
    axis = axis_of(call, array.rank, default=-1)
    if axis is None:
        raise Unsupported(emitter.span, "TypeError: np.diff without an axis")
    if times == 0:
        return array
    pieces = [array]
    for name in ("prepend", "append"):
        given = call.get(name)
        if given is not None:
            extra = operand(call, name)
            if not extra.rank:
                shape = (*array.shape[:axis], ONE, *array.shape[axis + 1 :])
                extra = arrays.broadcast_to(replace(extra, type=extra.type.strong), shape, emitter)
            pieces.insert(0 if name == "prepend" else len(pieces), extra)
    if len(pieces) > 1:
        array = joined(pieces, axis, emitter)
    for step in range(times):
        array = difference(array if step % 2 == 0 else arrays.evaluated(array, emitter), axis, emitter)
    return array


@native(np.gradient, parameters="f *spacing axis edge_order")
def _gradient(call: Bound) -> Value:
    emitter = call.builder.emitter
    array = operand(call, "f")
    given = constant_axis(call.get("axis"), emitter)
    axes = arrays.normalise_axes(given, array.rank, emitter)
    order = 1 if call.get("edge_order") is None else constant_int(call.need("edge_order"), emitter)
    if order not in (1, 2):
        raise Unsupported(emitter.span, "ValueError: np.gradient with this edge_order", "use 1 or 2")
    if array.type.dtype.is_integer:
        source = array
        array = Array(source.shape, F64, lambda at: arith.cast(source.element(at), F64), cost=source.cost)
    array = arrays.evaluated(array, emitter)
    steps: list[Value] = list(call.rest) or [Scalar(Const(1.0, FLOAT))]
    if len(steps) == 1 and axes:
        steps *= len(axes)
    if not axes:
        raise Unsupported(emitter.span, "np.gradient of a number, or along no axis")
    if len(steps) != len(axes):
        raise Unsupported(emitter.span, "TypeError: np.gradient with a spacing that does not fit the axes")
    results = tuple(_along(call, array, axis, step, order) for axis, step in zip(axes, steps))
    return results[0] if len(results) == 1 else Tuple(results)


def _along(call: Bound, array: Array, axis: int, step: Value, order: int) -> Value:
    """The gradient along one axis: `step` is the distance of the points, or says where they are."""
    if isinstance(step, Scalar):
        return _slope(call, array, axis, step, order)
    emitter = call.builder.emitter
    places = arrays.as_array(as_plain(_as_sequence(call, step)), emitter)
    if places.rank != 1 or places.type.dtype.kind not in "if" or places.type.dtype is DType.F32:
        raise Unsupported(emitter.span, "np.gradient with this spacing")
    numbers = {"axis": Scalar(integer(axis)), "edge_order": Scalar(integer(order))}
    given: dict[str, Value] = {"f": array, "x": places, **numbers}
    return call.builder.expand(_gradient_between, given)


def _as_sequence(call: Bound, value: Value) -> Value:
    return call.builder.array_of(value, None) if isinstance(value, Tuple) else value


def _gradient_between(f: Any, x: Any, axis: Any, edge_order: Any) -> Any:
    """The gradient between points at any distance, of second order inside."""
    if len(x) != f.shape[axis]:
        raise ValueError("when 1d, distances must match the length of the corresponding dimension")
    at_least(f.shape[axis], edge_order + 1)
    result = np.empty(f.shape, dtype=np.result_type(f, 1.0) if f.dtype.kind in ("f", "c") else np.float64)
    value, slope = np.moveaxis(f, axis, 0), np.moveaxis(result, axis, 0)
    gaps = np.diff(x)
    if np.all(gaps == gaps[0]):
        step = gaps[0]
        slope[1:-1] = (value[2:] - value[:-2]) / (2.0 * step)
        if edge_order == 1:
            slope[0] = (value[1] - value[0]) / step
            slope[-1] = (value[-1] - value[-2]) / step
        else:
            slope[0] = -1.5 / step * value[0] + 2.0 / step * value[1] + -0.5 / step * value[2]
            slope[-1] = 0.5 / step * value[-3] + -2.0 / step * value[-2] + 1.5 / step * value[-1]
    else:
        d, e = gaps[:-1].reshape((-1,) + (1,) * (f.ndim - 1)), gaps[1:].reshape((-1,) + (1,) * (f.ndim - 1))
        a, b, c = -e / (d * (d + e)), (e - d) / (d * e), d / (e * (d + e))
        slope[1:-1] = a * value[:-2] + b * value[1:-1] + c * value[2:]
        p, q, r, s = gaps[0], gaps[1], gaps[-2], gaps[-1]
        if edge_order == 1:
            slope[0] = (value[1] - value[0]) / p
            slope[-1] = (value[-1] - value[-2]) / s
        else:
            slope[0] = (
                -(2.0 * p + q) / (p * (p + q)) * value[0] + (p + q) / (p * q) * value[1] - p / (q * (p + q)) * value[2]
            )
            slope[-1] = (
                s / (r * (r + s)) * value[-3]
                - (s + r) / (r * s) * value[-2]
                + (2.0 * s + r) / (s * (r + s)) * value[-1]
            )
    return result


def _slope(call: Bound, array: Array, axis: int, step: Scalar, order: int) -> Array:
    """Central differences inside, one-sided ones at both ends."""
    emitter = call.builder.emitter
    extent = array.shape[axis]
    message = (
        "Shape of array too small to calculate a numerical gradient, at least (edge_order + 1) elements are required."
    )
    if not emitter.assure(ix.sub(extent, integer(order + 1)), "ValueError", message):
        emitter.check(Op("gt", (extent, integer(order)), BOOL), "ValueError", message)
    of = array.type.strong if array.type.dtype.is_inexact else F64
    whole = arrays.of_buffer(emitter.allocate("gradient", of, array.shape))
    inside = ix.sub(extent, integer(2))

    def at(position: Expr) -> Array:
        return part(array, axis, position, ONE)

    double = scalar_binary(call.builder, "mul", Scalar(Const(2.0, FLOAT)), step)
    central = _combined(emitter, "sub", part(array, axis, integer(2), inside), part(array, axis, ZERO, inside))
    arrays.store(part(whole, axis, ONE, inside), _combined(emitter, "truediv", central, double), emitter, fresh=True)
    edges = ((ZERO, (0, 1, 2), (-1.5, 2.0, -0.5)), (last(extent), (-3, -2, -1), (0.5, -2.0, 1.5)))
    for where, near, weights in edges:
        spots = [integer(k) if k >= 0 else ix.add(extent, integer(k)) for k in near]
        if order == 1:
            pair = (spots[1], spots[0]) if where == ZERO else (spots[2], spots[1])
            value = _combined(emitter, "truediv", _combined(emitter, "sub", at(pair[0]), at(pair[1])), step)
        else:
            terms = [
                _combined(
                    emitter, "mul", scalar_binary(call.builder, "truediv", Scalar(Const(w, FLOAT)), step), at(spot)
                )
                for w, spot in zip(weights, spots)
            ]
            value = _combined(emitter, "add", _combined(emitter, "add", terms[0], terms[1]), terms[2])
        arrays.store(part(whole, axis, where, ONE), value, emitter, fresh=True)
    return whole


def _combined(emitter: Emitter, op: str, left: Value, right: Value) -> Value:
    return arrays.apply(op, [left, right], emitter)


def _trapezoid(call: Bound) -> Value:
    """sum(d * (y[1:] + y[:-1]) / 2), d the spacing or the differences of x."""
    emitter = call.builder.emitter
    y = arrays.evaluated(operand(call, "y"), emitter)
    axis = axis_of(call, y.rank, default=-1)
    if axis is None:
        raise Unsupported(emitter.span, f"{call.name}() without an axis")
    length = shortened(y.shape[axis], 1, emitter)
    pairs = _combined(emitter, "add", part(y, axis, ONE, length), part(y, axis, ZERO, length))
    width: Value = call.get("dx") or Scalar(Const(1.0, FLOAT))
    if call.get("x") is not None:
        x = operand(call, "x")
        if not 0 < x.rank <= y.rank:
            raise Unsupported(emitter.span, f"{call.name}() over x of rank {x.rank} and y of rank {y.rank}")
        if x.rank == 1:
            gaps = difference(x, 0, emitter)
            shape = tuple(gaps.shape[0] if k == axis else ONE for k in range(y.rank))
            width = arrays.remap(gaps, shape, lambda at: (at[axis],))
        else:
            width = difference(x, axis if x.rank == y.rank else x.rank + axis - y.rank, emitter)
    areas = _combined(emitter, "truediv", _combined(emitter, "mul", width, pairs), Scalar(Const(2.0, FLOAT)))
    assert isinstance(areas, Array)
    return arrays.reduce(areas, "add", (axis,), False, emitter, "area", sum_type(areas.type))


for _name in ("trapezoid", "trapz"):
    if hasattr(np, _name):
        native(getattr(np, _name), parameters="y x dx axis")(_trapezoid)


# --- sliding products -----------------------------------------------------------------------------------------------


def _sliding(call: Bound, left: Array, right: Array, mode: str, reverse: bool) -> Value:
    """out[n] = sum over k of long[n - k] * short[k], for the positions n of the mode: three pieces, linear bounds."""
    emitter = call.builder.emitter
    of = promote(left.type.strong, right.type.strong)
    left, right = (arrays.evaluated(array, emitter) for array in (left, right))
    for array, name in ((left, "a"), (right, "v")):
        which = "first" if name == "a" else "second"
        message = f"{name} cannot be empty" if call.name == "convolve" else f"{which} array argument cannot be empty"
        if not emitter.assure(last(array.shape[0]), "ValueError", message):
            emitter.check(Op("gt", (array.shape[0], ZERO), BOOL), "ValueError", message)
    swapped = not emitter.assure(ix.sub(left.shape[0], right.shape[0]), "RuntimeError")
    if swapped and not emitter.assure(ix.sub(right.shape[0], left.shape[0]), "RuntimeError"):
        raise Unsupported(emitter.span, f"{call.name}() of arrays whose lengths are computed", "pass them as arguments")
    long, short = (right, left) if swapped else (left, right)
    n, m = long.shape[0], short.shape[0]
    half = m if reverse and swapped else last(m)
    middle = emitter.derived(Op("floordiv", (half, integer(2)), INT)) if mode == "same" else ZERO
    if isinstance(half, Const):
        middle = integer(int(half.value.real) // 2) if mode == "same" else ZERO
    offset = {"full": ZERO, "same": middle, "valid": last(m)}[mode]
    length = {"full": last(ix.add(n, m)), "same": n, "valid": ix.add(ix.sub(n, m), ONE)}[mode]
    buffer = emitter.allocate(call.name, of, (length,))
    is_bool = of.dtype is DType.BOOL

    def piece(lo: Expr, hi: Expr, first: tuple[int, Expr], limit: tuple[int, Expr]) -> None:
        """Positions lo <= n < hi, terms first <= k < limit; each bound is a multiple of n and a constant."""
        p = emitter.fresh("p")
        q = emitter.fresh("q")
        dims = (Dim(p, lo, hi),)
        start, stop = (ix.add(ix.mul(integer(c), Var(p)), extra) for c, extra in (first, limit))
        index = ix.sub(Var(p), Var(q))
        factors = arith.cast(long.element((index,)), of), arith.cast(short.element((Var(q),)), of)
        product = Op("and" if is_bool else "mul", factors, of, emitter.span)
        value = Reduce("or" if is_bool else "add", (Dim(q, start, stop),), product, emitter.span)
        emitter.assign(dims, buffer.name, (ix.sub(Var(p), offset),), value)

    if mode != "valid":
        piece(offset, last(m), (0, ZERO), (1, ONE))
    piece(last(m), n, (0, ZERO), (0, m))
    if mode != "valid":
        piece(n, ix.add(offset, length), (1, ix.sub(ONE, n)), (0, m))
    return arrays.of_buffer(buffer)


def _vectors(call: Bound, default: str) -> tuple[Array, Array, str]:
    emitter = call.builder.emitter
    given = call.get("mode")
    mode = default if given is None else constant(given, emitter)
    left, right = operand(call, "a"), operand(call, "v")
    if mode not in ("full", "same", "valid") or left.rank != 1 or right.rank != 1:
        raise Unsupported(
            emitter.span,
            f"{call.name}() of {told((left, right))}, mode {mode!r}",
            "pass vectors and a mode by its name",
        )
    return left, right, mode


@native(np.convolve, parameters="a v mode")
def _convolve(call: Bound) -> Value:
    return _sliding(call, *_vectors(call, "full"), reverse=False)


@native(np.correlate, parameters="a v mode")
def _correlate(call: Bound) -> Value:
    left, right, mode = _vectors(call, "valid")
    if right.type.dtype.is_complex:
        conjugate = arrays.apply("conj", [right], call.builder.emitter)
        assert isinstance(conjugate, Array)
        right = conjugate
    return _sliding(call, left, arrays.flip(right, 0), mode, reverse=True)


# --- interpolation --------------------------------------------------------------------------------------------------


@native(np.interp, parameters="x xp fp left right period")
def _interp(call: Bound) -> Value:
    emitter = call.builder.emitter
    if call.get("period") is not None:
        given = {name: value for name, value in call.given.items() if name not in ("left", "right")}
        return call.builder.expand(_interp_periodic, given)
    x, points, values = (operand(call, name) for name in ("x", "xp", "fp"))
    if points.rank != 1 or values.rank != 1 or any(a.type.dtype.is_complex for a in (x, points, values)):
        raise Unsupported(emitter.span, "np.interp of matrices or complex numbers", "pass vectors of real numbers")
    points, values = (_as_floats(array, emitter) for array in (points, values))
    n = points.shape[0]
    emitter.same_size(n, values.shape[0], "ValueError", "fp and xp are not of the same length.")
    if not emitter.assure(last(n), "ValueError", "array of sample points is empty"):
        emitter.check(Op("gt", (n, ZERO), BOOL), "ValueError", "array of sample points is empty")
    dims, at = emitter.domain((shortened(n, 1, emitter),))
    rising = Op("le", (points.element(at), points.element((ix.add(at[0], ONE),))), BOOL)
    emitter.check(rising, "RuntimeError", "np.interp with sample points that do not increase", (), dims)
    ends = [
        values.element((where,)) if call.get(name) is None else arith.cast(_number(call, name), F64)
        for name, where in (("left", ZERO), ("right", last(n)))
    ]
    left, right = (emitter.snapshot(end, "end") for end in ends)

    def at_point(point: Expr, after: Expr) -> Expr:
        return _between(point, small("sub", after, ONE), n, points, values, left, right, emitter)

    def goes_before(k: Expr, point: Expr) -> Expr:
        return Op("ge", (point, points.element((k,))), BOOL)

    return places_of(x, F64, F64, n, goes_before, at_point, emitter, "interp")


def _interp_periodic(x: Any, xp: Any, fp: Any, period: Any) -> Any:
    """The points of one period, and one more at either end."""
    if period == 0:
        raise ValueError("period must be a non-zero value")
    length = abs(period)
    places = np.asarray(xp, dtype=np.float64) % length
    order = np.argsort(places)
    places, values = places[order], np.asarray(fp)[order]
    places = np.concatenate((places[-1:] - length, places, places[:1] + length))
    return np.interp(np.float64(x) % length, places, np.concatenate((values[-1:], values, values[:1])))


def _between(
    x: Expr, j: Expr, n: Expr, points: Array, values: Array, left: Expr, right: Expr, emitter: Emitter
) -> Expr:
    """The value at x, which lies between points j and j + 1."""

    def line(slope: Expr, k: Expr) -> Expr:
        return Op(
            "add", (Op("mul", (slope, Op("sub", (x, points.element((k,))), F64)), F64), values.element((k,))), F64
        )

    following = small("add", j, ONE)
    rise = Op("sub", (values.element((following,)), values.element((j,))), F64)
    run = Op("sub", (points.element((following,)), points.element((j,))), F64)
    slope = Op("truediv", (rise, run), F64)
    here, there = line(slope, j), line(slope, following)
    level = Op("eq", (values.element((j,)), values.element((following,))), BOOL)
    missing = Op("isnan", (here,), BOOL)
    other = pick(both(Op("isnan", (there,), BOOL), level), values.element((j,)), there)
    inside = pick(missing, other, here)
    exact = Op("or", (Op("eq", (j, last(n)), BOOL), Op("eq", (points.element((j,)), x), BOOL)), BOOL)
    known = pick(exact, values.element((j,)), inside)
    beyond = Op("gt", (x, points.element((last(n),))), BOOL)
    result = pick(Op("lt", (j, ZERO), BOOL), left, pick(beyond, right, known))
    # Of a single point NumPy asks only whether x is below or above it.
    at_one = pick(Op("eq", (n, ONE), BOOL), values.element((ZERO,)), x)
    return pick(Op("isnan", (x,), BOOL), at_one, result)


def _as_floats(array: Array, emitter: Emitter) -> Array:
    if array.type == F64 and array.view is not None:
        return array
    return arrays.materialise(
        Array(array.shape, F64, lambda at: arith.cast(array.element(at), F64), cost=array.cost + 1), emitter
    )


def _number(call: Bound, name: str) -> Expr:
    value = call.need(name)
    if not isinstance(value, Scalar):
        raise Unsupported(call.builder.emitter.span, f"{name}= of {call.name}() that is not a number")
    return value.expr
