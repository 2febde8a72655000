"""Counts: bincount, histogram, histogram2d."""

from __future__ import annotations

import builtins
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from weft.errors import Unsupported
from weft.frontend import arith, arrays
from weft.frontend.constants import constant_bool
from weft.frontend.emit import Emitter
from weft.frontend.knowledge import Bound, native
from weft.frontend.knowledge.compose import at_least, composed
from weft.frontend.knowledge.reshaping import flattened
from weft.frontend.knowledge.selecting import operand
from weft.frontend.searching import search_each
from weft.frontend.values import Array, Index, Scalar, Tuple, Value
from weft.frontend.writing import both, counter, last, less, loop, pick, when
from weft.ir import index as ix
from weft.ir.expr import ONE, ZERO, Cast, Const, Expr, Op, Reduce, integer
from weft.ir.types import BOOL, F64, I64, INT, DType, ScalarType, promote


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
        reason = f"np.bincount of {array.type} of rank {array.rank}"
        raise Unsupported(emitter.span, reason, "pass a vector of integers")
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
            reason = "weights of np.bincount that are not a vector of real numbers"
            raise Unsupported(emitter.span, reason, "pass a vector of real numbers")
        message = "The weights and list don't have the same length."
        emitter.same_size(n, weights.shape[0], "ValueError", message)
        if not emitter.assure(ix.sub(n, ONE), "RuntimeError"):
            emitter.rarely_fails(Op("gt", (n, ZERO), BOOL), "np.bincount of no numbers gives integers")
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
        raise Unsupported(emitter.span, f"TypeError: {name}= of {call.name}() that is not an integer", "use an integer")
    expr = emitter.snapshot(arith.cast(value.expr, INT), "n")
    if not emitter.assure(expr, "ValueError", message):
        emitter.check(Op("ge", (expr, ZERO), BOOL), "ValueError", message)
    return expr


def _zeros(extent: Expr, of: ScalarType, emitter: Emitter) -> Array:
    zero = arith.cast(Const(0, INT), of)
    return arrays.materialise(Array((extent,), of, lambda at: zero), emitter, "counts")


# --- histogram ------------------------------------------------------------------------------------------------------


@native(np.histogram, parameters="a bins range density weights", kinds="iuf", only={"weights": "float64"})
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

    def edge(position: Expr) -> Expr:
        return arith.cast(edges.element((position,)), common)

    def tally(k: Expr, value: Expr, after: Expr) -> None:
        with when(emitter, both(Op("ge", (value, edge(ZERO)), BOOL), Op("le", (value, edge(n)), BOOL))):
            _tally(counts, ix.sub(after, ONE), weights, k, emitter)

    search_each(array, common, n, lambda p, value: Op("le", (edge(p), value), BOOL), tally, emitter)
    return counts, edges


def _equal_bins(call: Bound, array: Array, weights: Array | None) -> tuple[Array, Array]:
    emitter = call.builder.emitter
    n = _length_argument(call, "bins", integer(10), "`bins` must be positive, when an integer")
    if not emitter.assure(last(n), "ValueError", "`bins` must be positive, when an integer"):
        emitter.check(Op("gt", (n, ZERO), BOOL), "ValueError", "`bins` must be positive, when an integer")
    of = array.type.strong if array.type.dtype.is_float else F64
    first, final, computed = _outer_edges(call, array)
    inner = _inner_edge(first, final, n, computed, of, emitter)
    edges = _edges(inner, final, n, of, emitter)
    dims, at = emitter.domain((n,))
    rising = Op("lt", (edges.element(at), edges.element((ix.add(at[0], ONE),))), BOOL)
    message = "Too many bins for data range. Cannot create {0} finite-sized bins."
    emitter.check(rising, "ValueError", message, (n,), dims)
    counts = _zeros(n, I64 if weights is None else F64, emitter)
    width = emitter.snapshot(Op("sub", (arith.cast(final, F64), arith.cast(first, F64)), F64), "width")
    with loop(emitter, ZERO, array.shape[0], "k") as k:
        raw = array.element((k,))
        # The ends of a range are Python's numbers: narrow floats are compared with them as narrow floats.
        ends = (("ge", arith.cast(first, of)), ("le", arith.cast(final, of)))
        inside = both(*(arith.condition(arith.compare(op, raw, end, emitter.span)) for op, end in ends))
        # What is outside stands for the first edge, so that no step waits for a branch; it is not counted.
        value = emitter.snapshot(pick(inside, arith.cast(raw, of), arith.cast(first, of)), "value")
        distance = Op("sub", (arith.cast(value, F64), arith.cast(first, F64)), F64)
        scaled = Op("mul", (Op("truediv", (distance, width), F64), arith.cast(n, F64)), F64)
        guess = counter(emitter, "bin")
        guess.set(Op("minimum", (Cast(scaled, I64), arith.cast(last(n), I64)), I64))
        # Rounding may have put a value beside its bin: the edges decide, computed again rather than looked up.
        below = less(value, inner(guess.value))
        guess.set(Op("sub", (guess.value, arith.cast(below, I64)), I64))
        above = Op("ge", (value, inner(Op("add", (guess.value, Const(1, I64)), I64))), BOOL)
        further = Op("ne", (guess.index, last(n)), BOOL)
        guess.set(Op("add", (guess.value, arith.cast(both(above, further), I64)), I64))
        with when(emitter, inside):
            _tally(counts, guess.index, weights, k, emitter)
    return counts, edges


def _outer_edges(call: Bound, array: Array) -> tuple[Expr, Expr, ScalarType]:
    """The first and the last edge, and the type in which the edges between are computed."""
    emitter = call.builder.emitter
    given = call.get("range")
    if given is not None:
        if not isinstance(given, Tuple) or len(given.items) != 2 or not all(isinstance(i, Scalar) for i in given.items):
            reason = "TypeError: range= of np.histogram that is not a pair of numbers"
            raise Unsupported(emitter.span, reason, "pass a pair of numbers")
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


def _inner_edge(
    first: Expr, final: Expr, n: Expr, computed: ScalarType, of: ScalarType, emitter: Emitter
) -> Callable[[Expr], Expr]:
    """One of the points at equal distances but the last, as np.linspace computes them."""
    parts = arith.cast(arith.cast(n, F64), computed)
    step = emitter.snapshot(Op("truediv", (Op("sub", (final, first), computed), parts), computed), "step")

    def point(at: Expr) -> Expr:
        return arith.cast(Op("add", (Op("mul", (arith.cast(at, computed), step), computed), first), computed), of)

    return point


def _edges(inner: Callable[[Expr], Expr], final: Expr, n: Expr, of: ScalarType, emitter: Emitter) -> Array:
    """n + 1 points at equal distances."""

    def element(at: Index) -> Expr:
        return pick(Op("eq", (at[0], n), BOOL), arith.cast(final, of), inner(at[0]))

    return arrays.materialise(Array((ix.add(n, ONE),), of, element, cost=3), emitter, "edges")


# --- two variables --------------------------------------------------------------------------------------------------


@composed(np.histogram_bin_edges, kinds="iuf")
def histogram_bin_edges(a: Any, bins: Any = 10, range: Any = None) -> Any:
    return np.histogram(a, bins, range)[1]


@composed(np.histogram2d, kinds="iuf", only={"x": "not empty"})
def histogram2d(
    x: Any, y: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None
) -> Any:
    x, y = np.asarray(x), np.asarray(y)
    if len(x) != len(y):
        raise ValueError("x and y must have the same length.")
    if weights is not None and len(weights) != len(x):
        raise ValueError("The weights and list don't have the same length.")
    both_bins = bins if isinstance(bins, (list, tuple)) else (bins, bins)
    ranges = (None, None) if range is None else range
    of = np.promote_types(x.dtype, y.dtype)  # both are columns of one array
    rows, columns = _outer_bins(x, both_bins[0], ranges[0], of), _outer_bins(y, both_bins[1], ranges[1], of)
    n, m = len(rows) - 1, len(columns) - 1
    counts = np.zeros((n, m))
    for k in builtins.range(len(x)):
        # The last bin has its upper edge, too.
        i = np.searchsorted(rows, x[k], side="right") - (1 if x[k] == rows[n] else 0)
        j = np.searchsorted(columns, y[k], side="right") - (1 if y[k] == columns[m] else 0)
        if 1 <= i <= n and 1 <= j <= m:
            counts[i - 1, j - 1] += 1.0 if weights is None else weights[k]
    if density:
        counts = counts / np.diff(rows)[:, None] / np.diff(columns) / np.sum(counts)
    return counts, rows, columns


def _outer_bins(values: Any, bins: Any, range: Any, of: Any) -> Any:
    """The edges of the bins of one variable, given or at equal distances."""
    if not isinstance(bins, (int, np.integer)):
        return np.asarray(bins)
    if bins < 1:
        raise ValueError("`bins[0]` must be positive, when an integer")
    at_least(len(values), 1)
    low, high = (float(np.min(values)), float(np.max(values))) if range is None else (float(range[0]), float(range[1]))
    if low > high:
        raise ValueError("max must be larger than min in range parameter.")
    if not (math.isfinite(low) and math.isfinite(high)):
        raise ValueError("the range of np.histogram2d is not finite")
    half = 0.5 if low == high else 0.0
    if range is None and of == np.float32:
        return np.linspace(np.float32(low) - np.float32(half), np.float32(high) + np.float32(half), bins + 1)
    return np.linspace(low - half, high + half, bins + 1)
