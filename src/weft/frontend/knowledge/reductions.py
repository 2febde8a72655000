"""Reductions of arrays: sums, extremes, means, tests, with `axis`, `keepdims`, `initial`, `where` and `out`."""

from __future__ import annotations

import numpy as np

from weft.errors import Unsupported
from weft.frontend import arith, arrays, masks
from weft.frontend.constants import constant_axis, constant_bool
from weft.frontend.knowledge import Bound, native
from weft.frontend.knowledge.selecting import operand as sequence
from weft.frontend.knowledge.ufuncs import as_plain, chosen_by, deliver, destination, dtype_of, elements
from weft.frontend.values import Array, Mask, Scalar, Value
from weft.ir import index as ix
from weft.ir.expr import Const, Expr, Op, Var
from weft.ir.ops import REDUCTIONS
from weft.ir.types import BOOL, F64, FLOAT, I64, INT, DType, ScalarType, can_cast
from weft.ir.walk import is_repeatable

_COMMON = "a axis dtype out keepdims initial where"


def operand(call: Bound, name: str = "a") -> Array:
    """The array to reduce; a scalar counts as an array of rank 0."""
    return sequence(call, name)


def masked(call: Bound, op: str, of: ScalarType) -> Value | None:
    """sum(a[mask]) --> sum(a where mask else 0), and so for every reduction with a neutral element.

    None if that will not do.
    """
    value = call.need("a")
    emitter = call.builder.emitter
    if not isinstance(value, Mask) or not masks.is_full(value) or constant_bool(call.get("keepdims"), emitter):
        return None
    if call.given.get("initial") is not None or chosen_by(call) is not None:
        return None
    if constant_axis(call.get("axis"), emitter) not in (None, 0, -1, (0,)):
        return None
    if op in ("minimum", "maximum"):
        some = Op("gt", (masks.counted(value.condition, emitter), Const(0, INT)), BOOL)
        emitter.check(some, "ValueError", arrays.EMPTY.format(op=op))
    whole = masks.neutral(value, op, of)
    return arrays.reduce(whole, op, tuple(range(whole.rank)), False, emitter, op, of, nonempty=True)


def element_type(value: Value) -> ScalarType | None:
    """The element type of an operand, a mask included; None of a sequence that is not an array yet."""
    array = value.array if isinstance(value, Mask) else value
    return array.type.strong if isinstance(array, (Array, Scalar)) else None


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
    """The type named by `dtype=`."""
    return dtype_of(call) or default


def reduced_in(call: Bound, source: ScalarType, default: ScalarType) -> ScalarType:
    """The type a ufunc reduces in: `dtype=`, or that of `out=`, or its own choice."""
    named = dtype_of(call)
    (out,) = destination(call)
    of = named or (default if out is None else out.type.strong)
    if not can_cast(source, of.dtype) or (source.dtype.is_complex and not of.dtype.is_complex):
        reason = f"{call.name}() of {source} in {of}, which NumPy refuses"
        raise Unsupported(call.builder.emitter.span, reason, "convert the array first, with .astype")
    return of


# --- with a neutral element -----------------------------------------------------------------------------------------


def first_value(call: Bound, of: ScalarType) -> Value | None:
    """The value of `initial=` in the type of the reduction."""
    if "initial" not in call.given:
        return None
    value = call.get("initial")
    emitter = call.builder.emitter
    if not isinstance(value, Scalar) or not can_cast(value.type, of.dtype):
        reason = f"initial= of {call.name}() that is not a number of its type"
        raise Unsupported(emitter.span, reason, "pass a number of the array's type")
    arrays.weak_int(value.expr, of, emitter)
    return Scalar(arith.cast(value.expr, of))


def only_where(call: Bound, array: Array, mask: Value, otherwise: Expr) -> Array:
    """The elements that a mask chooses, another value in place of the rest."""
    of = otherwise.type

    def combine(parts: tuple[Expr, ...]) -> Expr:
        return Op("select", (arith.condition(parts[0]), arith.cast(parts[1], of), otherwise), of)

    emitter = call.builder.emitter
    message = f"where= of {call.name}() does not fit the array"
    test = arrays.fitted(arrays.as_array(mask, emitter), array.shape, emitter, message)
    chosen = arrays.elementwise([test, array], combine, emitter)
    assert isinstance(chosen, Array)
    return chosen


def reduced(call: Bound, array: Array, op: str, of: ScalarType, axes: tuple[int, ...], keepdims: bool) -> Value:
    """The reduction by an operation that has a neutral element, with `initial=` and `where=`."""
    first, mask = first_value(call, of), chosen_by(call)
    if mask is not None:
        if op in ("minimum", "maximum") and first is None:
            raise Unsupported(call.builder.emitter.span, f"ValueError: where= of {call.name}() needs initial=")
        array = only_where(call, array, mask, Const(REDUCTIONS[op].identity(of), of))
    result = arrays.reduce(
        array, op, axes, keepdims, call.builder.emitter, op, of, nonempty=first is not None or mask is not None
    )
    return result if first is None else elements(call, [first, result], op)


def total(call: Bound, array: Array, op: str, of: ScalarType) -> Value:
    axes, keepdims = axes_of(call, array)
    return reduced(call, array, op, of, axes, keepdims)


def _sums(op: str, *functions: object, method: str) -> None:
    @native(*functions, parameters=_COMMON, method=method, name=method, masks=True)
    def build(call: Bound) -> Value:
        given = element_type(call.need("a"))
        array = None if given is not None else operand(call)
        source = given if array is None else array.type.strong
        assert source is not None
        of = reduced_in(call, source, sum_type(source))
        found = masked(call, op, of)
        return deliver(call, total(call, operand(call), op, of) if found is None else found, exact=True)


_sums("add", np.sum, method="sum")
_sums("mul", np.prod, method="prod")


def _extreme(op: str, *functions: object, method: str) -> None:
    @native(*functions, parameters="a axis out keepdims initial where", method=method, masks=True)
    def build(call: Bound) -> Value:
        value = call.need("a")
        if isinstance(value, Mask):
            found = masked(call, op, value.array.type.strong)
            if found is not None:
                return deliver(call, found, exact=True)
        array = operand(call)
        return deliver(call, total(call, array, op, reduced_in(call, array.type.strong, array.type.strong)), exact=True)


_extreme("minimum", np.min, np.amin, method="min")
_extreme("maximum", np.max, np.amax, method="max")


@native(np.ptp, parameters="a axis out keepdims")
def _ptp(call: Bound) -> Value:
    array = arrays.evaluated(operand(call), call.builder.emitter)
    high, low = (total(call, array, op, array.type.strong) for op in ("maximum", "minimum"))
    return deliver(call, elements(call, [high, low], "sub"), exact=True)


# --- means ----------------------------------------------------------------------------------------------------------


def mean_type(of: ScalarType) -> ScalarType:
    return of.strong if of.dtype.is_inexact else F64


def _count(array: Array, axes: tuple[int, ...]) -> Expr:
    return arrays.count([array.shape[axis] for axis in axes])


def _chosen_count(call: Bound, array: Array, axes: tuple[int, ...], keepdims: bool) -> Value:
    """How many elements each result is made of."""
    mask = chosen_by(call)
    if mask is None:
        return Scalar(_count(array, axes))
    ones = Array(array.shape, I64, lambda at: Const(1, I64))
    return arrays.reduce(
        only_where(call, ones, mask, Const(0, I64)), "add", axes, keepdims, call.builder.emitter, "count", I64
    )


def _divided(call: Bound, value: Value, by: Value, of: ScalarType) -> Value:
    emitter = call.builder.emitter
    real = ScalarType(of.dtype.real)
    if isinstance(by, Scalar):
        by = Scalar(arith.cast(emitter.snapshot(by.expr, "count"), real))
    else:
        by = arrays.elementwise([by], lambda parts: arith.cast(parts[0], real), emitter)
    result = elements(call, [value, by], "truediv")
    if isinstance(result, Array):
        return arrays.materialise(result, emitter, "mean")
    assert isinstance(result, Scalar)
    return Scalar(emitter.snapshot(result.expr, "mean"))


def _settle(call: Bound, result: Value) -> Value:
    """Through `out=`, which must be of the type of the result: NumPy would compute in another one otherwise."""
    (out,) = destination(call)
    if out is not None and isinstance(result, (Array, Scalar)) and out.type.dtype is not result.type.dtype:
        raise Unsupported(call.builder.emitter.span, f"out= of {call.name}() of another type than its result")
    return deliver(call, result, exact=True)


@native(np.mean, parameters="a axis dtype out keepdims where", method="mean", masks=True)
def _mean(call: Bound) -> Value:
    value = call.need("a")
    if isinstance(value, Mask) and value.array.type.dtype.is_float and call.get("dtype") is None:
        added = masked(call, "add", value.array.type.strong)
        if added is not None:
            count = Scalar(masks.counted(value.condition, call.builder.emitter))
            return _settle(call, _divided(call, added, count, value.array.type.strong))
    array = operand(call)
    axes, keepdims = axes_of(call, array)
    of = wanted_type(call, mean_type(array.type))
    _check_mean_type(call, array, of)
    added = reduced(call, array, "add", of, axes, keepdims)
    return _settle(call, _divided(call, added, _chosen_count(call, array, axes, keepdims), of))


def _check_mean_type(call: Bound, array: Array, of: ScalarType) -> None:
    if not of.dtype.is_inexact or (array.type.dtype.is_complex and not of.dtype.is_complex):
        raise Unsupported(call.builder.emitter.span, f"{call.name}() of {array.type} with dtype={of}")


def variance(call: Bound) -> Value:
    """mean(|a - mean(a)|**2), divided by n - ddof."""
    emitter = call.builder.emitter
    array = arrays.evaluated(operand(call), emitter)
    axes, keepdims = axes_of(call, array)
    of = wanted_type(call, mean_type(array.type))
    _check_mean_type(call, array, of)
    if of.dtype.is_complex and (not array.type.dtype.is_complex or call.get("mean") is not None):
        raise Unsupported(emitter.span, f"{call.name}() of real numbers with a complex dtype, or about a given mean")
    centre = as_plain(call.need("mean")) if call.get("mean") is not None else _centre(call, array, axes, of)
    deviation = elements(call, [array, centre], "sub")
    assert isinstance(deviation, Array)
    square = _squares(deviation, emitter)
    real = ScalarType(of.dtype.real)
    count = _chosen_count(call, array, axes, keepdims)
    ddof = _freedom(call)
    if ddof is not None:
        count = _less(call, count, ddof)
    summed = reduced(call, square, "add", real, axes, keepdims)
    return _divided(call, summed, count, real)


def _centre(call: Bound, array: Array, axes: tuple[int, ...], of: ScalarType) -> Value:
    added = reduced(call, array, "add", of, axes, True)
    return _divided(call, added, _chosen_count(call, array, axes, True), of)


def _squares(deviation: Array, emitter: object) -> Array:
    of = deviation.type
    if not of.dtype.is_complex:
        return Array(
            deviation.shape, of, lambda at: _square(deviation.element(at), of), cost=deviation.cost + 1
        )
    real = ScalarType(of.dtype.real)

    def element(at: tuple[Expr, ...]) -> Expr:
        value = deviation.element(at)
        parts = (_square(Op(name, (value,), real), real) for name in ("real", "imag"))
        return Op("add", tuple(parts), real)

    return Array(deviation.shape, real, element, cost=deviation.cost + 3)


def _square(value: Expr, of: ScalarType) -> Expr:
    return Op("mul", (value, value), of)


def _freedom(call: Bound) -> Scalar | None:
    """The value of ddof= or its other name, correction=."""
    given = [call.get(name) for name in ("ddof", "correction") if call.get(name) is not None]
    if not given:
        return None
    value = given[0]
    if len(given) > 1 or not isinstance(value, Scalar) or value.type.dtype.kind not in "iuf":
        raise Unsupported(call.builder.emitter.span, f"this ddof= of {call.name}()", "pass a number")
    return value


def _less(call: Bound, count: Value, ddof: Scalar) -> Value:
    """max(count - ddof, 0)"""
    if isinstance(count, Scalar) and ddof.type.dtype.is_integer:
        rest = ix.sub(arith.cast(count.expr, INT), arith.cast(ddof.expr, INT))
        return Scalar(Op("maximum", (rest, Const(0, INT)), INT))
    of = FLOAT if ddof.type.dtype.is_float else I64

    def combine(parts: tuple[Expr, ...]) -> Expr:
        rest = Op("sub", (arith.cast(parts[0], of), arith.cast(ddof.expr, of)), of)
        return Op("maximum", (rest, arith.cast(Const(0, INT), of)), of)

    return arrays.elementwise([count], combine, call.builder.emitter)


_MEAN = {"mean": "for real numbers"}
_SPREAD = "a axis dtype out ddof keepdims where mean correction"


@native(np.var, parameters=_SPREAD, only=_MEAN)
def _var(call: Bound) -> Value:
    return _settle(call, variance(call))


@native(parameters="a axis dtype out ddof keepdims where mean", method="var", only=_MEAN)
def _var_method(call: Bound) -> Value:
    return _settle(call, variance(call))


@native(np.std, parameters=_SPREAD, only=_MEAN)
def _std(call: Bound) -> Value:
    return _settle(call, elements(call, [variance(call)], "sqrt"))


@native(parameters="a axis dtype out ddof keepdims where mean", method="std", only=_MEAN)
def _std_method(call: Bound) -> Value:
    return _settle(call, elements(call, [variance(call)], "sqrt"))


# --- tests and positions --------------------------------------------------------------------------------------------


def _tests(op: str, *functions: object, method: str) -> None:
    @native(*functions, parameters="a axis out keepdims where", method=method, masks=True)
    def build(call: Bound) -> Value:
        value = call.need("a")
        if isinstance(value, Mask) and value.array.type == BOOL:
            found = masked(call, op, BOOL)
            if found is not None:
                return _settle(call, found)
        return _settle(call, total(call, masks.truths(operand(call)), op, BOOL))


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
        axes, keepdims = axes_of(call, array)
        if isinstance(constant_axis(call.get("axis"), call.builder.emitter), tuple):
            raise Unsupported(call.builder.emitter.span, f"TypeError: {op} along several axes")
        if array.view is None and not is_repeatable(array.element(tuple(Var(f"?{k}") for k in range(array.rank)))):
            # The place of the best value is looked for by comparing with it: both must come from one computation.
            array = arrays.materialise(array, call.builder.emitter)
        return _settle(call, arrays.reduce(array, op, axes, keepdims, call.builder.emitter, op))


_position("argmin", np.argmin)
_position("argmax", np.argmax)
