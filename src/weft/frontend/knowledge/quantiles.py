"""Middle values of sorted lines: median, percentile, quantile, and the same without NaN."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from weft.errors import Unsupported
from weft.frontend import arith, arrays
from weft.frontend.constants import constant, constant_axis, constant_bool
from weft.frontend.emit import Emitter
from weft.frontend.knowledge import Bound, native
from weft.frontend.knowledge.selecting import operand
from weft.frontend.knowledge.shaping import permuted
from weft.frontend.knowledge.sorting import sorted_copy
from weft.frontend.knowledge.ufuncs import deliver, strong
from weft.frontend.values import Array, Index, Scalar, Value
from weft.frontend.writing import both, last, loop, pick
from weft.ir import index as ix
from weft.ir.expr import ONE, ZERO, Cast, Const, Expr, Op, integer
from weft.ir.types import BOOL, F64, I64, INT, DType, ScalarType
from weft.records import dataclass

#: An item of a sorted line by its position.
Items = Callable[[Expr], Expr]


@dataclass(frozen=True)
class Lines:
    """Sorted lines along the last axis; `count` of each line is the number of items that are looked at."""

    ordered: Array
    counts: Array | None  # None: whole lines
    axes: tuple[int, ...]  # the axes of the argument that became the lines
    keepdims: bool
    emitter: Emitter

    @property
    def rest(self) -> tuple[Expr, ...]:
        return self.ordered.shape[:-1]

    def count(self, outer: Index) -> Expr:
        return self.ordered.shape[-1] if self.counts is None else Cast(self.counts.element(outer), INT)

    def each(self, of: ScalarType, value: Callable[[Items, Expr], Expr]) -> Value:
        """One value for every line."""

        def element(outer: Index) -> Expr:
            found = value(lambda k: self.ordered.element((*outer, k)), self.count(outer))
            return arith.cast(found, of)

        if not self.rest:
            return Scalar(self.emitter.snapshot(element(()), "middle"))
        return arrays.materialise(Array(self.rest, of, element, cost=4), self.emitter, "middle")

    def placed(self, result: Value, lead: int = 0) -> Value:
        """The result with axes of extent one in place of the lines, if they are wanted; `lead` axes go before."""
        if not self.keepdims:
            return result
        array = arrays.as_array(result, self.emitter)
        rank = lead + len(self.rest) + len(self.axes)
        dropped = {axis + lead for axis in self.axes}
        extents = iter(array.shape)
        shape = tuple(ONE if axis in dropped else next(extents) for axis in range(rank))
        return arrays.remap(array, shape, lambda at: tuple(i for axis, i in enumerate(at) if axis not in dropped))


def _lines(call: Bound, without_nan: bool) -> Lines:
    emitter = call.builder.emitter
    array = operand(call, "a")
    if array.type.dtype.is_complex:
        raise Unsupported(emitter.span, f"{call.name}() of complex numbers")
    if constant_bool(call.get("overwrite_input"), emitter):
        raise Unsupported(emitter.span, f"overwrite_input= of {call.name}()")
    axes = arrays.normalise_axes(constant_axis(call.get("axis"), emitter), array.rank, emitter)
    kept = [axis for axis in range(array.rank) if axis not in axes]
    turned = permuted(array, (*kept, *axes))
    inner = turned.shape[len(kept) :]
    lines = turned
    if len(axes) != 1:
        length = emitter.snapshot(arrays.count(inner), "n")
        lines = Array(
            (*turned.shape[: len(kept)], length),
            turned.type,
            lambda at: turned.element((*at[:-1], *arrays.unravelled(at[-1], inner))),
            cost=turned.cost + 1,
        )
    ordered = sorted_copy(lines, len(kept), emitter)
    counts = _present(ordered, emitter) if without_nan and ordered.type.dtype.is_float else None
    return Lines(ordered, counts, axes, constant_bool(call.get("keepdims"), emitter), emitter)


def _present(ordered: Array, emitter: Emitter) -> Array:
    """How many items of each line are numbers: they stand first."""

    def element(at: Index) -> Expr:
        return arith.cast(arith.negate(Op("isnan", (ordered.element(at),), BOOL)), I64)

    numbers = Array(ordered.shape, I64, element, cost=1)
    return arrays.as_array(arrays.reduce(numbers, "add", (ordered.rank - 1,), False, emitter, "present"), emitter)


def _or_nan(value: Expr, final: Expr, lines: Lines) -> Expr:
    """The value; NaN if the last of a sorted line is NaN."""
    if not final.type.dtype.is_float or lines.counts is not None:
        return value
    return pick(Op("isnan", (final,), BOOL), arith.cast(final, value.type), value)


# --- median ---------------------------------------------------------------------------------------------------------


def _register_median(function: object, without_nan: bool) -> None:
    limits = {"overwrite_input": ("False",)}

    @native(function, parameters="a axis out overwrite_input keepdims", kinds="biuf", only=limits)
    def build(call: Bound) -> Value:
        lines = _lines(call, without_nan)
        of = lines.ordered.type.strong if lines.ordered.type.dtype.is_float else F64

        def middle(item: Items, n: Expr) -> Expr:
            low, high = (Op("floordiv", (part, integer(2)), INT) for part in (last(n), n))
            pair = [arith.cast(item(position), of) for position in (low, high)]
            mean = Op("truediv", (Op("add", (pair[0], pair[1]), of), Const(2.0, of)), of)
            value = pick(Op("eq", (low, high), BOOL), pair[0], mean)
            return pick(Op("gt", (n, ZERO), BOOL), _or_nan(value, item(last(n)), lines), Const(math.nan, of))

        return deliver(call, lines.placed(lines.each(of, middle)), exact=True)


_register_median(np.median, False)
_register_median(np.nanmedian, True)


# --- quantiles ------------------------------------------------------------------------------------------------------


def _register_quantiles(function: object, scale: float, without_nan: bool, name: str) -> None:
    what = "Percentiles must be in the range [0, 100]" if scale != 1.0 else "Quantiles must be in the range [0, 1]"

    limits = {"overwrite_input": ("False",), "method": ("'linear'",)}

    kinds = "f" if without_nan else "iuf"

    @native(function, parameters="a q axis out overwrite_input method keepdims", name=name, kinds=kinds, only=limits)
    def build(call: Bound) -> Value:
        emitter = call.builder.emitter
        method = call.get("method")
        if method is not None and constant(method, emitter) != "linear":
            raise Unsupported(emitter.span, f"method= of {name}() other than linear")
        lines = _lines(call, without_nan)
        if lines.ordered.type.dtype is DType.BOOL:
            raise Unsupported(emitter.span, f"{name}() of booleans")
        wanted = _wanted(call, lines.ordered.type, scale)
        # A Python number gives way to the type of the array.
        weak = not wanted.rank and wanted.type.weak
        kind = lines.ordered.type.strong if weak and lines.ordered.type.dtype.is_float else F64
        shares = _shares(wanted, kind, scale)
        dims, at = emitter.domain(wanted.shape)
        share = shares(at)
        inside = both(Op("ge", (share, Const(0.0, kind)), BOOL), Op("le", (share, Const(1.0, kind)), BOOL))
        emitter.check(inside, "ValueError", what, (), dims)
        if not without_nan:
            _refuse_empty(lines.ordered.shape[-1], emitter)
        if not wanted.rank:
            found = lines.each(kind, _interpolation(lines, emitter.snapshot(share, "share"), kind, weak))
            return deliver(call, strong(lines.placed(found)), exact=True)
        if without_nan:
            _never_empty(lines.ordered, emitter)
        return deliver(call, _several(lines, wanted, shares, kind), exact=True)


def _wanted(call: Bound, of: ScalarType, scale: float) -> Array:
    """The quantiles asked for."""
    emitter = call.builder.emitter
    wanted = operand(call, "q")
    if wanted.rank > 1 or wanted.type.dtype.is_complex or wanted.type.dtype is DType.BOOL:
        raise Unsupported(
            emitter.span, f"q of {call.name}() that is not a number or a vector", "pass a float, or a vector of float64"
        )
    whole = scale == 1.0 and not wanted.type.dtype.is_float
    if wanted.type.dtype is DType.F32 or (whole and not (wanted.type.weak and of.dtype.is_float)):
        raise Unsupported(
            emitter.span,
            f"q of {call.name}() that is not a Python float or float64",
            "pass a float, or a vector of float64",
        )
    return wanted


def _shares(wanted: Array, kind: ScalarType, scale: float) -> Callable[[Index], Expr]:
    """Each quantile as a number from 0 to 1."""

    def share(at: Index) -> Expr:
        value = arith.cast(wanted.element(at), kind)
        return value if scale == 1.0 else Op("truediv", (value, Const(scale, kind)), kind)

    return share


def _refuse_empty(n: Expr, emitter: Emitter) -> None:
    message = "index -1 is out of bounds for axis 0 with size 0"
    if not emitter.assure(last(n), "IndexError"):
        emitter.check(Op("gt", (n, ZERO), BOOL), "IndexError", message)


def _never_empty(array: Array, emitter: Emitter) -> None:
    """Of nothing at all NumPy gives a mean, without an axis for the quantiles."""
    for extent in array.shape:
        if not emitter.assure(last(extent), "RuntimeError"):
            emitter.rarely_fails(Op("gt", (extent, ZERO), BOOL), "quantiles of an empty array")


def _interpolation(lines: Lines, share: Expr, kind: ScalarType, weak: bool) -> Callable[[Items, Expr], Expr]:
    """Between the two neighbours of position (n - 1) * share, from the nearer one."""
    emitter = lines.emitter
    of = lines.ordered.type

    def value(item: Items, n: Expr) -> Expr:
        final = arith.cast(last(n), kind)
        virtual = Op("mul", (final, share), kind)
        beyond = Op("ge", (virtual, final), BOOL)
        floor = Op("floor", (virtual,), kind)
        low = pick(beyond, last(n), Cast(floor, INT))
        high = pick(beyond, last(n), ix.add(Cast(floor, INT), ONE))
        gamma = Op("sub", (virtual, pick(beyond, Const(-1.0, kind), floor)), kind)
        part = arith.cast(gamma, F64) if not of.dtype.is_float else gamma
        rest = Op("sub", (arith.cast(Const(1.0, F64), part.type), part), part.type)
        left, right = item(low), item(high)
        gap = arith.binary("sub", right, left, emitter.span)
        near = arith.binary("add", left, arith.binary("mul", gap, part, emitter.span), emitter.span)
        far = arith.binary("sub", right, arith.binary("mul", gap, rest, emitter.span), emitter.span)
        result = pick(Op("ge", (gamma, Const(0.5, kind)), BOOL), far, near)
        if lines.counts is not None:
            return pick(Op("gt", (n, ZERO), BOOL), result, Const(math.nan, result.type))
        return _or_nan(result, item(last(n)), lines)

    return value


def _several(lines: Lines, wanted: Array, shares: Callable[[Index], Expr], kind: ScalarType) -> Value:
    """A row of results for every quantile asked for."""
    emitter = lines.emitter
    wanted = arrays.evaluated(wanted, emitter)
    buffer = emitter.allocate("quantiles", F64, (wanted.shape[0], *lines.rest))
    with loop(emitter, ZERO, wanted.shape[0], "q") as q:
        share = emitter.snapshot(shares((q,)), "share")
        row = arrays.as_array(lines.each(F64, _interpolation(lines, share, kind, False)), emitter)
        dims, at = emitter.domain(lines.rest)
        emitter.assign(dims, buffer.name, (q, *at), arith.cast(row.element(at), F64))
    return lines.placed(arrays.of_buffer(buffer), lead=1)


_register_quantiles(np.percentile, 100.0, False, "percentile")
_register_quantiles(np.quantile, 1.0, False, "quantile")
_register_quantiles(np.nanpercentile, 100.0, True, "nanpercentile")
_register_quantiles(np.nanquantile, 1.0, True, "nanquantile")
