"""Reductions of arrays: sums, extremes, means, tests, with `axis` and `keepdims`."""

from __future__ import annotations

import numpy as np

from weft.errors import Unsupported
from weft.frontend import arith, arrays, masks
from weft.frontend.constants import constant, constant_axis, constant_bool
from weft.frontend.knowledge import Bound, native
from weft.frontend.knowledge.ufuncs import as_plain, deliver, elements
from weft.frontend.values import Array, Mask, Scalar, Value
from weft.ir import index as ix
from weft.ir.expr import Const, Expr, Op
from weft.ir.types import BOOL, I64, INT, DType, ScalarType, from_numpy

_COMMON = "a axis dtype out keepdims"


def operand(call: Bound, name: str = "a") -> Array:
    """The array to reduce; a scalar counts as an array of rank 0."""
    return arrays.as_array(as_plain(call.need(name)), call.builder.emitter)


def masked(call: Bound, op: str, of: ScalarType) -> Value | None:
    """sum(a[mask]) --> sum(a where mask else 0), and so for every reduction with a neutral element.

    None if that will not do.
    """
    value = call.need("a")
    emitter = call.builder.emitter
    if not isinstance(value, Mask) or not masks.is_full(value) or constant_bool(call.get("keepdims"), emitter):
        return None
    if constant_axis(call.get("axis"), emitter) not in (None, 0, -1, (0,)):
        return None
    if op in ("minimum", "maximum"):
        some = Op("gt", (masks.counted(value.condition, emitter), Const(0, INT)), BOOL)
        emitter.check(some, "ValueError", arrays.EMPTY.format(op=op))
    whole = masks.neutral(value, op, of)
    return arrays.reduce(whole, op, tuple(range(whole.rank)), False, emitter, op, of, nonempty=True)


def element_type(value: Value) -> ScalarType:
    """The element type of an operand, a mask included."""
    array = value.array if isinstance(value, Mask) else value
    assert isinstance(array, (Array, Scalar))
    return array.type.strong


def axes_of(call: Bound, array: Array) -> tuple[tuple[int, ...], bool]:
    emitter = call.builder.emitter
    axis = constant_axis(call.get("axis"), emitter)
    return arrays.normalise_axes(axis, array.rank, emitter), constant_bool(call.get("keepdims"), emitter)


def sum_type(of: ScalarType) -> ScalarType:
    """NumPy adds and multiplies small integers in 64 bits."""
    if of.dtype is DType.BOOL or of.dtype.kind == "i":
        return I64
    return ScalarType(DType.U64) if of.dtype.kind == "u" else of.strong


def wanted_type(call: Bound, default: ScalarType) -> ScalarType:
    given = call.get("dtype")
    if given is None:
        return default
    dtype = from_numpy(constant(given, call.builder.emitter))
    if dtype is None:
        raise Unsupported(call.builder.emitter.span, "a dtype that has no native form")
    return ScalarType(dtype)


def total(call: Bound, array: Array, op: str, of: ScalarType) -> Value:
    axes, keepdims = axes_of(call, array)
    return arrays.reduce(array, op, axes, keepdims, call.builder.emitter, op, of)


def _sums(op: str, *functions: object, method: str) -> None:
    @native(*functions, parameters=_COMMON, method=method, name=method, masks=True)
    def build(call: Bound) -> Value:
        value = call.need("a")
        of = wanted_type(call, sum_type(element_type(value))) if isinstance(value, (Array, Scalar, Mask)) else I64
        found = masked(call, op, of)
        return deliver(call, total(call, operand(call), op, of) if found is None else found)


_sums("add", np.sum, method="sum")
_sums("mul", np.prod, method="prod")


def _extreme(op: str, *functions: object, method: str) -> None:
    @native(*functions, parameters="a axis out keepdims", method=method, masks=True)
    def build(call: Bound) -> Value:
        value = call.need("a")
        if isinstance(value, (Array, Scalar, Mask)) and element_type(value).dtype.is_complex:
            raise Unsupported(call.builder.emitter.span, f"{call.name}() of complex numbers")
        found = masked(call, op, element_type(value)) if isinstance(value, Mask) else None
        if found is not None:
            return deliver(call, found)
        array = operand(call)
        return deliver(call, total(call, array, op, array.type.strong))


_extreme("minimum", np.min, np.amin, method="min")
_extreme("maximum", np.max, np.amax, method="max")


@native(np.ptp, parameters="a axis out keepdims")
def _ptp(call: Bound) -> Value:
    array = arrays.evaluated(operand(call), call.builder.emitter)
    high, low = (total(call, array, op, array.type.strong) for op in ("maximum", "minimum"))
    return elements(call, [high, low], "sub")


def mean_value(call: Bound, array: Array, axes: tuple[int, ...], keepdims: bool) -> Value:
    of = array.type.strong if array.type.dtype.is_inexact else ScalarType(DType.F64)
    added = arrays.reduce(array, "add", axes, keepdims, call.builder.emitter, "mean", of)
    return _divided(call, added, _count(array, axes), of)


def _count(array: Array, axes: tuple[int, ...]) -> Expr:
    return arrays.count([array.shape[axis] for axis in axes])


def _divided(call: Bound, value: Value, by: Expr, of: ScalarType) -> Value:
    divisor = Scalar(arith.cast(call.builder.emitter.snapshot(by, "count"), ScalarType(of.dtype.real)))
    result = elements(call, [value, divisor], "truediv")
    if isinstance(result, Array):
        return arrays.materialise(result, call.builder.emitter, "mean")
    assert isinstance(result, Scalar)
    return Scalar(call.builder.emitter.snapshot(result.expr, "mean"))


@native(np.mean, parameters=_COMMON, method="mean", masks=True)
def _mean(call: Bound) -> Value:
    value = call.need("a")
    if isinstance(value, Mask) and value.array.type.dtype.is_float and call.get("dtype") is None:
        added = masked(call, "add", value.array.type.strong)
        if added is not None:
            count = masks.counted(value.condition, call.builder.emitter)
            return deliver(call, _divided(call, added, count, value.array.type.strong))
    array = operand(call)
    if call.get("dtype") is not None:
        of = wanted_type(call, array.type)
        source = array
        array = Array(array.shape, of, lambda at: arith.cast(source.element(at), of), cost=source.cost)
    axes, keepdims = axes_of(call, array)
    return deliver(call, mean_value(call, array, axes, keepdims))


def variance(call: Bound) -> Value:
    """mean(|a - mean(a)|**2), divided by n - ddof."""
    emitter = call.builder.emitter
    array = arrays.evaluated(operand(call), emitter)
    if array.type.dtype.is_complex:
        raise Unsupported(emitter.span, f"{call.name}() of complex numbers")
    axes, keepdims = axes_of(call, array)
    centre = mean_value(call, array, axes, True)
    deviation = elements(call, [array, centre], "sub")
    square = elements(call, [deviation, deviation], "mul")
    assert isinstance(square, Array)
    ddof = call.get("ddof")
    count = _count(array, axes)
    if ddof is not None:
        if not isinstance(ddof, Scalar) or not ddof.type.dtype.is_integer:
            raise Unsupported(emitter.span, "a ddof that is not an integer")
        count = ix.sub(count, arith.cast(ddof.expr, INT))
        count = Op("maximum", (count, Const(0, INT)), INT)
    summed = arrays.reduce(square, "add", axes, keepdims, emitter, "var", square.type)
    return _divided(call, summed, count, square.type)


@native(np.var, parameters="a axis dtype out ddof keepdims", method="var")
def _var(call: Bound) -> Value:
    return deliver(call, variance(call))


@native(np.std, parameters="a axis dtype out ddof keepdims", method="std")
def _std(call: Bound) -> Value:
    return deliver(call, elements(call, [variance(call)], "sqrt"))


def _tests(op: str, *functions: object, method: str) -> None:
    @native(*functions, parameters="a axis out keepdims", method=method, masks=True)
    def build(call: Bound) -> Value:
        value = call.need("a")
        if isinstance(value, Mask) and value.array.type == BOOL:
            found = masked(call, op, BOOL)
            if found is not None:
                return deliver(call, found)
        source = operand(call)
        array = Array(source.shape, BOOL, lambda at: arith.condition(source.element(at)), cost=source.cost)
        return deliver(call, total(call, array, op, BOOL))


_tests("and", np.all, method="all")
_tests("or", np.any, method="any")


_COUNTS_AS_INT = not isinstance(np.count_nonzero(np.ones(1)), np.generic)


@native(np.count_nonzero, parameters="a axis keepdims")
def _count_nonzero(call: Bound) -> Value:
    source = operand(call)
    array = Array(source.shape, I64, lambda at: arith.cast(arith.condition(source.element(at)), I64), cost=source.cost)
    result = total(call, array, "add", I64)
    if isinstance(result, Scalar):
        # Older versions of NumPy give a Python int here.
        return Scalar(arith.cast(result.expr, INT)) if _COUNTS_AS_INT else result
    return result


def _position(op: str, function: object) -> None:
    @native(function, parameters="a axis out keepdims", method=op)
    def build(call: Bound) -> Value:
        array = operand(call)
        if array.type.dtype.is_complex:
            raise Unsupported(call.builder.emitter.span, f"{op} of complex numbers")
        axes, keepdims = axes_of(call, array)
        if len(axes) != 1 and call.get("axis") is not None:
            raise Unsupported(call.builder.emitter.span, f"{op} along several axes")
        return deliver(call, arrays.reduce(array, op, axes, keepdims, call.builder.emitter, op))


_position("argmin", np.argmin)
_position("argmax", np.argmax)
