"""Counts and middle values: bincount, histogram, median, percentile, quantile."""

from __future__ import annotations

import math

import numpy as np

from weft.errors import Unsupported
from weft.frontend import arith, arrays
from weft.frontend.constants import constant, constant_bool
from weft.frontend.emit import Emitter
from weft.frontend.knowledge import Bound, native
from weft.frontend.knowledge.selecting import axis_of, operand
from weft.frontend.knowledge.reshaping import flattened
from weft.frontend.knowledge.sorting import sorted_copy
from weft.frontend.knowledge.ufuncs import strong
from weft.frontend.values import Array, Index, Scalar, Tuple, Value
from weft.frontend.writing import axis_index, bisect, both, counter, last, less, loop, others, pick, when
from weft.ir import index as ix
from weft.ir.expr import ONE, ZERO, Cast, Const, Expr, Op, Reduce, integer
from weft.ir.types import BOOL, F64, FLOAT, I64, INT, DType, ScalarType, promote


def _real_numbers(call: Bound, name: str) -> Array:
    array = operand(call, name)
    if array.type.dtype.is_complex or array.type.dtype is DType.BOOL:
        raise Unsupported(call.builder.emitter.span, f"{call.name}() of {array.type}")
    return array


@native(np.bincount, parameters="x weights minlength")
def _bincount(call: Bound) -> Value:
    emitter = call.builder.emitter
    array = arrays.evaluated(operand(call, "x"), emitter)
    if array.rank != 1 or array.type.dtype is DType.U64 or array.type.dtype.is_inexact:
        raise Unsupported(emitter.span, f"np.bincount of {array.type} of rank {array.rank}")
    least = _length_argument(call, "minlength", ZERO, "'minlength' must not be negative")
    n = array.shape[0]
    dims, at = emitter.domain((n,))
    number = arith.cast(array.element(at), INT)
    emitter.check(
        Op("ge", (number, ZERO), BOOL), "ValueError", "'list' argument must have no negative elements", (), dims
    )
    weights = None
    if call.get("weights") is not None:
        weights = arrays.evaluated(operand(call, "weights"), emitter)
        if weights.rank != 1 or weights.type.dtype.is_complex:
            raise Unsupported(emitter.span, "weights of np.bincount that are not a vector of real numbers")
        message = "The weights and list don't have the same length."
        emitter.same_size(n, weights.shape[0], "ValueError", message)
    dims, at = emitter.domain((n,))
    greatest = emitter.snapshot(Reduce("maximum", dims, arith.cast(array.element(at), I64), emitter.span), "greatest")
    # Of no numbers at all the greatest is the least integer there is.
    size = Op("maximum", (Op("add", (arith.cast(greatest, INT), ONE), INT), least), INT)
    of = I64 if weights is None else F64
    whole = _zeros(emitter.snapshot(size, "size"), of, emitter)
    assert whole.view is not None
    with loop(emitter, ZERO, n, "k") as k:
        place = arith.cast(array.element((k,)), INT)
        more = Const(1, I64) if weights is None else arith.cast(weights.element((k,)), F64)
        emitter.assign((), whole.view.buffer, (place,), Op("add", (whole.element((place,)), more), of))
    return whole


def _length_argument(call: Bound, name: str, default: Expr, message: str) -> Expr:
    value = call.get(name)
    if value is None:
        return default
    emitter = call.builder.emitter
    if not isinstance(value, Scalar) or not value.type.dtype.is_integer:
        raise Unsupported(emitter.span, f"{name}= of {call.name}() that is not an integer")
    expr = emitter.snapshot(arith.cast(value.expr, INT), "n")
    if not emitter.assure(expr, "ValueError", message):
        emitter.check(Op("ge", (expr, ZERO), BOOL), "ValueError", message)
    return expr


def _zeros(extent: Expr, of: ScalarType, emitter: Emitter) -> Array:
    zero = arith.cast(Const(0, INT), of)
    return arrays.materialise(Array((extent,), of, lambda at: zero), emitter, "counts")


# --- histogram ------------------------------------------------------------------------------------------------------


@native(np.histogram, parameters="a bins range density weights")
def _histogram(call: Bound) -> Value:
    emitter = call.builder.emitter
    array = arrays.evaluated(flattened(_real_numbers(call, "a"), emitter), emitter)
    bins = call.get("bins")
    weights = None
    if call.get("weights") is not None:
        weights = arrays.evaluated(flattened(operand(call, "weights"), emitter), emitter)
        if weights.type != F64:
            raise Unsupported(emitter.span, "weights of np.histogram that are not float64")
        message = "weights should have the same shape as a."
        emitter.same_size(array.shape[0], weights.shape[0], "ValueError", message)
    if bins is None or isinstance(bins, Scalar):
        counts, edges = _equal_bins(call, array, weights)
    else:
        counts, edges = _given_bins(call, array, weights)
    if constant_bool(call.get("density"), emitter):
        dims, at = emitter.domain(counts.shape)
        total = emitter.snapshot(Reduce("add", dims, arith.cast(counts.element(at), F64), emitter.span), "total")
        raw = counts

        def element(at: Index) -> Expr:
            width = Op("sub", (edges.element((ix.add(at[0], ONE),)), edges.element(at)), edges.type)
            share = Op("truediv", (arith.cast(raw.element(at), F64), arith.cast(width, F64)), F64)
            return Op("truediv", (share, total), F64)

        counts = arrays.materialise(Array(raw.shape, F64, element, cost=4), emitter, "density")
    return Tuple((counts, edges))


def _tally(counts: Array, place: Expr, weights: Array | None, k: Expr, emitter: Emitter) -> None:
    assert counts.view is not None
    more = Const(1, I64) if weights is None else weights.element((k,))
    emitter.assign((), counts.view.buffer, (place,), Op("add", (counts.element((place,)), more), counts.type))


def _given_bins(call: Bound, array: Array, weights: Array | None) -> tuple[Array, Array]:
    emitter = call.builder.emitter
    edges = _real_numbers(call, "bins")
    if edges.rank != 1 or (call.get("range") is not None and edges.rank != 1):
        raise Unsupported(emitter.span, "ValueError: `bins` must be 1d, when an array")
    edges = arrays.evaluated(edges, emitter)
    n = last(edges.shape[0])
    if not emitter.assure(n, "RuntimeError"):
        raise Unsupported(emitter.span, "np.histogram without bins")
    dims, at = emitter.domain((n,))
    rising = Op("le", (edges.element(at), edges.element((ix.add(at[0], ONE),))), BOOL)
    emitter.check(rising, "ValueError", "`bins` must increase monotonically, when an array", (), dims)
    counts = _zeros(n, I64 if weights is None else F64, emitter)
    common = promote(array.type.strong, edges.type.strong)
    with loop(emitter, ZERO, array.shape[0], "k") as k:
        value = emitter.snapshot(arith.cast(array.element((k,)), common), "value")

        def edge(position: Expr) -> Expr:
            return arith.cast(edges.element((position,)), common)

        with when(emitter, both(Op("ge", (value, edge(ZERO)), BOOL), Op("le", (value, edge(n)), BOOL))):
            after = bisect(emitter, n, lambda p: Op("le", (edge(p), value), BOOL))
            _tally(counts, ix.sub(after, ONE), weights, k, emitter)
    return counts, edges


def _equal_bins(call: Bound, array: Array, weights: Array | None) -> tuple[Array, Array]:
    emitter = call.builder.emitter
    n = _length_argument(call, "bins", integer(10), "`bins` must be positive, when an integer")
    if not emitter.assure(last(n), "ValueError", "`bins` must be positive, when an integer"):
        emitter.check(Op("gt", (n, ZERO), BOOL), "ValueError", "`bins` must be positive, when an integer")
    of = array.type.strong if array.type.dtype.is_float else F64
    first, final, computed = _outer_edges(call, array)
    edges = _edges(first, final, n, computed, of, emitter)
    dims, at = emitter.domain((n,))
    rising = Op("lt", (edges.element(at), edges.element((ix.add(at[0], ONE),))), BOOL)
    message = "Too many bins for data range. Cannot create {0} finite-sized bins."
    emitter.check(rising, "ValueError", message, (n,), dims)
    counts = _zeros(n, I64 if weights is None else F64, emitter)
    width = emitter.snapshot(Op("sub", (arith.cast(final, F64), arith.cast(first, F64)), F64), "width")
    with loop(emitter, ZERO, array.shape[0], "k") as k:
        raw = array.element((k,))
        inside = both(
            *(arith.condition(arith.compare(op, raw, end, emitter.span)) for op, end in (("ge", first), ("le", final)))
        )
        with when(emitter, inside):
            value = emitter.snapshot(arith.cast(raw, of), "value")
            distance = Op("sub", (arith.cast(value, F64), arith.cast(first, F64)), F64)
            scaled = Op("mul", (Op("truediv", (distance, width), F64), arith.cast(n, F64)), F64)
            guess = counter(emitter, "bin")
            guess.set(Op("minimum", (Cast(scaled, I64), arith.cast(last(n), I64)), I64))
            # Rounding may have put a value beside its bin: the edges decide.
            below = less(value, edges.element((guess.index,)))
            guess.set(Op("sub", (guess.value, arith.cast(below, I64)), I64))
            above = Op("ge", (value, edges.element((ix.add(guess.index, ONE),))), BOOL)
            inner = Op("ne", (guess.index, last(n)), BOOL)
            guess.set(Op("add", (guess.value, arith.cast(both(above, inner), I64)), I64))
            _tally(counts, guess.index, weights, k, emitter)
    return counts, edges


def _outer_edges(call: Bound, array: Array) -> tuple[Expr, Expr, ScalarType]:
    """The first and the last edge, and the type in which the edges between are computed."""
    emitter = call.builder.emitter
    given = call.get("range")
    if given is not None:
        if not isinstance(given, Tuple) or len(given.items) != 2 or not all(isinstance(i, Scalar) for i in given.items):
            raise Unsupported(emitter.span, "range= of np.histogram that is not a pair of numbers")
        ends = [emitter.snapshot(i.expr, "end") for i in given.items if isinstance(i, Scalar)]
        if any(not end.type.weak and end.type != F64 for end in ends):
            raise Unsupported(emitter.span, "range= of np.histogram of narrow numbers", "pass Python floats")
        low, high = (emitter.snapshot(arith.cast(end, F64), "end") for end in ends)
        message = "max must be larger than min in range parameter."
        emitter.check(Op("not", (Op("gt", (low, high), BOOL),), BOOL), "ValueError", message)
        computed = F64
    else:
        n = array.shape[0]
        found = [_extreme(array, op, emitter) for op in ("minimum", "maximum")]
        computed = array.type.strong if array.type.dtype.is_float else F64
        empty = Op("eq", (n, ZERO), BOOL)
        low, high = (
            emitter.snapshot(
                pick(empty, Const(default, computed), arith.cast(emitter.snapshot(value, "end"), computed)), "end"
            )
            for value, default in zip(found, (0.0, 1.0))
        )
    finite = both(Op("isfinite", (low,), BOOL), Op("isfinite", (high,), BOOL))
    emitter.check(finite, "ValueError", "the range of np.histogram is not finite")
    level = emitter.snapshot(Op("eq", (low, high), BOOL), "level")
    half = Const(0.5, computed)
    first = emitter.snapshot(pick(level, Op("sub", (low, half), computed), low), "first")
    final = emitter.snapshot(pick(level, Op("add", (high, half), computed), high), "final")
    return first, final, computed


def _extreme(array: Array, op: str, emitter: Emitter) -> Expr:
    dims, at = emitter.domain(array.shape)
    return Reduce(op, dims, arith.cast(array.element(at), array.type.strong), emitter.span)


def _edges(first: Expr, final: Expr, n: Expr, computed: ScalarType, of: ScalarType, emitter: Emitter) -> Array:
    """n + 1 points at equal distances, as np.linspace computes them."""
    parts = arith.cast(arith.cast(n, F64), computed)
    step = emitter.snapshot(Op("truediv", (Op("sub", (final, first), computed), parts), computed), "step")

    def element(at: Index) -> Expr:
        point = Op("add", (Op("mul", (arith.cast(at[0], computed), step), computed), first), computed)
        return arith.cast(pick(Op("eq", (at[0], n), BOOL), final, point), of)

    return arrays.materialise(Array((ix.add(n, ONE),), of, element, cost=3), emitter, "edges")


# --- middle values --------------------------------------------------------------------------------------------------


def _ordered(call: Bound) -> tuple[Array, int, int | None, bool]:
    """The sorted lines, their axis, the axis of the argument (None: all), and whether its place is kept."""
    emitter = call.builder.emitter
    array = operand(call, "a")
    if array.type.dtype.is_complex:
        raise Unsupported(emitter.span, f"{call.name}() of complex numbers")
    keepdims = constant_bool(call.get("keepdims"), emitter)
    axis = axis_of(call, array.rank)
    if axis is None and keepdims:
        raise Unsupported(emitter.span, f"{call.name}() of all elements with keepdims")
    line = sorted_copy(flattened(array, emitter), 0, emitter) if axis is None else sorted_copy(array, axis, emitter)
    return line, axis or 0, axis, keepdims


def _kept(result: Value, axis: int | None, keepdims: bool) -> Value:
    if axis is None or not keepdims or not isinstance(result, Array):
        return result
    shape = (*result.shape[:axis], ONE, *result.shape[axis:])
    return arrays.remap(result, shape, lambda at: (*at[:axis], *at[axis + 1 :]))


def _each_line(ordered: Array, axis: int, of: ScalarType, emitter: Emitter, value: object) -> Value:
    """One value for every line of a sorted array."""
    assert callable(value)
    rest = others(ordered.shape, axis)

    def element(outer: Index) -> Expr:
        found = value(lambda k: ordered.element(axis_index(outer, axis, k)))
        assert isinstance(found, Expr)
        return arith.cast(found, of)

    if not rest:
        return Scalar(emitter.snapshot(element(()), "middle"))
    return arrays.materialise(Array(rest, of, element, cost=4), emitter, "middle")


def _or_nan(value: Expr, final: Expr) -> Expr:
    """The value; NaN if the last of a sorted line is NaN."""
    if not final.type.dtype.is_float:
        return value
    return pick(Op("isnan", (final,), BOOL), arith.cast(final, value.type), value)


@native(np.median, parameters="a axis out overwrite_input keepdims")
def _median(call: Bound) -> Value:
    emitter = call.builder.emitter
    if call.get("out") is not None or constant_bool(call.get("overwrite_input"), emitter):
        raise Unsupported(emitter.span, "out= or overwrite_input= of np.median()")
    ordered, axis, wanted, keepdims = _ordered(call)
    of = ordered.type.strong if ordered.type.dtype.is_float else F64
    n = ordered.shape[axis]
    low, high = (emitter.snapshot(Op("floordiv", (part, integer(2)), INT), "middle") for part in (last(n), n))

    def middle(at: object) -> Expr:
        assert callable(at)
        pair = [arith.cast(at(position), of) for position in (low, high)]
        mean = Op("truediv", (Op("add", (pair[0], pair[1]), of), Const(2.0, of)), of)
        value = pick(Op("eq", (low, high), BOOL), pair[0], mean)
        return pick(Op("gt", (n, ZERO), BOOL), _or_nan(value, at(last(n))), Const(math.nan, of))

    return _kept(_each_line(ordered, axis, of, emitter, middle), wanted, keepdims)


def _quantiles(function: object, scale: float, name: str, message: str) -> None:
    @native(function, parameters="a q axis out overwrite_input method keepdims", name=name)
    def build(call: Bound) -> Value:
        emitter = call.builder.emitter
        method = call.get("method")
        if method is not None and constant(method, emitter) != "linear":
            raise Unsupported(emitter.span, f"method= of {name}() other than linear")
        if call.get("out") is not None or constant_bool(call.get("overwrite_input"), emitter):
            raise Unsupported(emitter.span, f"out= or overwrite_input= of {name}()")
        wanted = operand(call, "q")
        if wanted.rank > 1 or wanted.type.dtype.is_complex or wanted.type.dtype is DType.BOOL:
            raise Unsupported(emitter.span, f"q of {name}() that is not a number or a vector")
        if wanted.type.dtype is DType.F32 or (scale == 1.0 and not wanted.type.dtype.is_float):
            raise Unsupported(emitter.span, f"q of {name}() that is not a Python float or float64")
        dims, at = emitter.domain(wanted.shape)
        share = Op("truediv", (arith.cast(wanted.element(at), F64), Const(scale, F64)), F64)
        inside = both(Op("ge", (share, Const(0.0, F64)), BOOL), Op("le", (share, Const(1.0, F64)), BOOL))
        emitter.check(inside, "ValueError", message, (), dims)
        ordered, axis, own, keepdims = _ordered(call)
        if ordered.type.dtype is DType.BOOL:
            raise Unsupported(emitter.span, f"{name}() of booleans")
        n = ordered.shape[axis]
        if not emitter.assure(last(n), "IndexError"):
            empty = "index -1 is out of bounds for axis 0 with size 0"
            emitter.check(Op("gt", (n, ZERO), BOOL), "IndexError", empty)
        weak = not wanted.rank and wanted.type.weak
        if not wanted.rank:
            found = _quantile(ordered, axis, emitter.snapshot(share, "share"), weak, emitter)
            return strong(_kept(found, own, keepdims))
        return _several(ordered, axis, own, keepdims, wanted, scale, emitter)


def _quantile(ordered: Array, axis: int, share: Expr, weak: bool, emitter: Emitter) -> Value:
    of = _interpolated_type(ordered, weak)
    return _each_line(
        ordered, axis, of, emitter, lambda at: _interpolated(at, ordered.shape[axis], share, weak, emitter)
    )


def _interpolated_type(ordered: Array, weak: bool) -> ScalarType:
    return ordered.type.strong if ordered.type.dtype.is_float and weak else F64


def _interpolated(at: object, n: Expr, share: Expr, weak: bool, emitter: Emitter) -> Expr:
    """Between the two neighbours of position (n - 1) * share, from the nearer one."""
    assert callable(at)
    virtual = emitter.snapshot(Op("mul", (arith.cast(last(n), F64), share), F64), "virtual")
    beyond = Op("ge", (virtual, arith.cast(last(n), F64)), BOOL)
    floor = Op("floor", (virtual,), F64)
    low = emitter.snapshot(pick(beyond, last(n), Cast(floor, INT)), "low")
    high = emitter.snapshot(pick(beyond, last(n), ix.add(Cast(floor, INT), ONE)), "high")
    gamma = emitter.snapshot(Op("sub", (virtual, pick(beyond, Const(-1.0, F64), floor)), F64), "gamma")
    part = arith.cast(gamma, FLOAT) if weak else gamma
    rest = Op("sub", (arith.cast(Const(1.0, F64), part.type), part), part.type)
    left, right = at(low), at(high)
    span = emitter.span
    gap = arith.binary("sub", right, left, span)
    near = arith.binary("add", left, arith.binary("mul", gap, part, span), span)
    far = arith.binary("sub", right, arith.binary("mul", gap, rest, span), span)
    value = pick(Op("ge", (gamma, Const(0.5, F64)), BOOL), far, near)
    return _or_nan(value, at(last(n)))


def _several(
    ordered: Array, axis: int, own: int | None, keepdims: bool, wanted: Array, scale: float, emitter: Emitter
) -> Value:
    """A row of results for every quantile asked for."""
    rest = others(ordered.shape, axis)
    of = _interpolated_type(ordered, False)
    buffer = emitter.allocate("quantiles", of, (wanted.shape[0], *rest))
    with loop(emitter, ZERO, wanted.shape[0], "q") as q:
        share = Op("truediv", (arith.cast(wanted.element((q,)), F64), Const(scale, F64)), F64)
        row = _quantile(ordered, axis, emitter.snapshot(share, "share"), False, emitter)
        dims, at = emitter.domain(rest)
        element = row.element(at) if isinstance(row, Array) else arrays.as_array(row, emitter).element(())
        emitter.assign(dims, buffer.name, (q, *at), arith.cast(element, of))
    result: Value = arrays.of_buffer(buffer)
    return _kept(result, None if own is None else own + 1, keepdims)


_quantiles(np.percentile, 100.0, "percentile", "Percentiles must be in the range [0, 100]")
_quantiles(np.quantile, 1.0, "quantile", "Quantiles must be in the range [0, 1]")
