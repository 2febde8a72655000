"""Element-wise functions of NumPy that are no ufuncs: where, clip, round, angle, nan_to_num and their kin."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from weft.errors import Unsupported
from weft.frontend import arith, arrays, masks
from weft.frontend.constants import constant_bool, constant_int
from weft.frontend.knowledge import Bound, native
from weft.frontend.knowledge.compose import composed
from weft.frontend.knowledge.ufuncs import as_plain, copied, deliver, elements, strong
from weft.frontend.values import Array, Scalar, Tuple, Value, describe
from weft.ir.expr import Const, Expr, Op
from weft.ir.types import BOOL, FLOAT, PYBOOL, DType, ScalarType


@native(np.where, parameters="condition x y", boxes=True)
def _where(call: Bound) -> Value:
    if "x" not in call.given and "y" not in call.given:
        found = arrays.as_array(as_plain(call.need("condition")), call.builder.emitter)
        if not found.rank:
            raise Unsupported(call.builder.emitter.span, "ValueError: np.where of a number", "pass an array")
        return Tuple(masks.positions(found, call.builder.emitter))
    operands = [as_plain(call.need(name)) for name in ("condition", "x", "y")]
    for value, other in ((operands[1], operands[2]), (operands[2], operands[1])):
        if isinstance(value, Scalar) and isinstance(other, (Array, Scalar)):
            arrays.weak_int(value.expr, other.type, call.builder.emitter)
    return strong(arrays.elementwise(operands, lambda parts: arith.select(*parts), call.builder.emitter))


@native(np.clip, parameters="a a_min a_max out min max", kinds="iuf")
def _clip_function(call: Bound) -> Value:
    if len({"a_min", "a_max"} & set(call.given)) == 1:
        raise Unsupported(call.builder.emitter.span, "TypeError: clip() without one of its bounds", "pass None for it")
    if "a_min" in call.given and {"min", "max"} & set(call.given):
        raise Unsupported(call.builder.emitter.span, "ValueError: np.clip() with bounds given twice")
    bounds = {"a_min": "min", "a_max": "max"}
    return _clip(replace(call, given={bounds.get(name, name): value for name, value in call.given.items()}))


@native(parameters="a min max out", method="clip", kinds="iuf")
def _clip(call: Bound) -> Value:
    low, high = call.get("min"), call.get("max")
    result = as_plain(call.need("a"))
    if isinstance(result, (Array, Scalar)) and result.type.dtype is DType.BOOL:
        raise Unsupported(call.builder.emitter.span, f"{call.name}() of booleans")
    if low is None and high is None:
        raise Unsupported(call.builder.emitter.span, f"{call.name}() without a bound")
    # Of two zeros the second operand is taken.  Between two numbers NumPy keeps a zero that equals a bound.
    keeps = isinstance(low, Scalar) and isinstance(high, Scalar)
    for bound, op in ((low, "maximum"), (high, "minimum")):
        if bound is not None:
            result = elements(call, [bound, result] if keeps else [result, bound], op)
    return deliver(call, result)


def _part(name: str) -> None:
    @native(getattr(np, name), parameters="val", borrows=True)
    def build(call: Bound) -> Value:
        given = call.need("val")
        value = given if isinstance(given, Scalar) else as_plain(given)  # a Python number has the attribute itself
        return call.builder.attribute(value, name, call.builder.scope.source.tree)


_part("real")
_part("imag")


@native(np.angle, parameters="z deg", kinds="iufc")
def _angle(call: Bound) -> Value:
    value = as_plain(call.need("z"))
    parts = [arrays.apply(name, [value], call.builder.emitter) for name in ("imag", "real")]
    result = elements(call, parts, "arctan2")
    if constant_bool(call.get("deg"), call.builder.emitter):
        result = elements(call, [result, Scalar(Const(180 / np.pi, FLOAT))], "mul")
    return result


@native(
    np.round,
    np.around,
    parameters="a decimals out",
    method="round",
    only={"decimals": "not negative for integers"},
)
def _round(call: Bound) -> Value:
    value = as_plain(call.need("a"))
    emitter = call.builder.emitter
    decimals = call.get("decimals")
    places = 0 if decimals is None else constant_int(decimals, emitter)
    if not isinstance(value, (Array, Scalar)) or value.type.dtype is DType.BOOL:
        raise Unsupported(emitter.span, f"{call.name}() of {describe(value)}")
    if value.type.dtype.is_integer:
        if places < 0:
            raise Unsupported(emitter.span, "rounding of integers to tens")
        return deliver(call, strong(copied(value)), exact=True)
    if value.type.dtype.is_complex:
        parts = [_rounded(call, arrays.apply(name, [value], emitter), places) for name in ("real", "imag")]
        return deliver(call, _joined(call, parts, value.type), exact=True)
    return deliver(call, _rounded(call, value, places), exact=True)


def _rounded(call: Bound, value: Value, places: int) -> Value:
    if places == 0:
        return elements(call, [value], "rint")
    if abs(places) > 300:
        raise Unsupported(call.builder.emitter.span, f"rounding to {places} digits, a power of ten that is no float")
    factor = Scalar(Const(float(10 ** abs(places)), FLOAT))
    scaled = elements(call, [value, factor], "mul" if places > 0 else "truediv")
    return elements(call, [elements(call, [scaled], "rint"), factor], "truediv" if places > 0 else "mul")


def _joined(call: Bound, parts: list[Value], of: ScalarType) -> Value:
    """Complex numbers of their parts."""
    return strong(
        arrays.elementwise(parts, lambda pair: Op("complex", tuple(pair), of.strong), call.builder.emitter)
    )


@native(np.nan_to_num, parameters="x copy nan posinf neginf", only={"copy": ("True",)})
def _nan_to_num(call: Bound) -> Value:
    value = as_plain(call.need("x"))
    emitter = call.builder.emitter
    if not isinstance(value, (Array, Scalar)) or not constant_bool(call.get("copy"), emitter, True):
        raise Unsupported(emitter.span, f"np.nan_to_num of {describe(value)}, or in place")
    if not value.type.dtype.is_inexact:
        return strong(copied(value))
    info = np.finfo(value.type.dtype.numpy.name)
    of = ScalarType(value.type.dtype.real)
    defaults = (("nan", 0.0), ("posinf", float(info.max)), ("neginf", float(info.min)))
    given = [call.get(name) or Scalar(Const(default, of)) for name, default in defaults]
    for number in given:
        if not isinstance(number, Scalar) or number.type.dtype.is_complex:
            reason = "a replacement of np.nan_to_num() that is not one real number"
            raise Unsupported(emitter.span, reason, "pass a float")
    missing, high, low = (arith.cast(number.expr, of) for number in given if isinstance(number, Scalar))

    def combine(parts: tuple[Expr, ...]) -> Expr:
        x = arith.cast(parts[0], of)
        side = Op("select", (Op("gt", (x, Const(0.0, of)), BOOL), high, low), of)
        finite = Op("select", (Op("isinf", (x,), BOOL), side, x), of)
        return Op("select", (Op("isnan", (x,), BOOL), missing, finite), of)

    if not value.type.dtype.is_complex:
        return arrays.elementwise([value], combine, emitter)
    halves = [arrays.apply(name, [value], emitter) for name in ("real", "imag")]
    return _joined(call, [arrays.elementwise([half], combine, emitter) for half in halves], value.type)


def _kind_test(function: object, is_complex: bool) -> None:
    @native(function, parameters="x")
    def build(call: Bound) -> Value:
        value = as_plain(call.need("x"))
        if not isinstance(value, (Array, Scalar)):
            raise Unsupported(call.builder.emitter.span, f"{call.name}() of {describe(value)}")
        return Scalar(Const(value.type.dtype.is_complex is is_complex, PYBOOL))


_kind_test(np.iscomplexobj, True)
_kind_test(np.isrealobj, False)


# --- written as Python over others ----------------------------------------------------------------------------------


@composed(np.isreal)
def isreal(x: Any) -> Any:
    return np.imag(x) == 0


@composed(np.iscomplex)
def iscomplex(x: Any) -> Any:
    return np.not_equal(np.imag(x), 0)


@composed(np.isposinf, kinds="f")
def isposinf(x: Any, out: Any = None) -> Any:
    return np.logical_and(np.isinf(x), ~np.signbit(x), out)


@composed(np.isneginf, kinds="f")
def isneginf(x: Any, out: Any = None) -> Any:
    return np.logical_and(np.isinf(x), np.signbit(x), out)


@composed(np.fix)
def fix(x: Any, out: Any = None) -> Any:
    return np.trunc(x, out=out)


@composed(np.sinc)
def sinc(x: Any) -> Any:
    scaled = np.multiply(np.pi, x)
    if scaled.dtype.kind == "f":
        least = np.finfo(scaled.dtype).eps
    else:
        least = 1e-20
    y = np.where(scaled != 0, scaled, least)
    return np.sin(y) / y


@composed(np.unwrap)
def unwrap(p: Any, discont: Any = None, axis: Any = -1, period: Any = 2 * np.pi) -> Any:
    p = np.asarray(p)
    steps = np.diff(p, axis=axis)
    limit = period / 2 if discont is None else discont
    dtype = np.result_type(steps, period)
    if np.issubdtype(dtype, np.integer):
        high, rest = divmod(period, 2)
        ambiguous = rest == 0
    else:
        high = period / 2
        ambiguous = True
    low = -high
    wrapped = np.mod(steps - low, period) + low
    if ambiguous:
        wrapped = np.where((wrapped == low) & (steps > 0), high, wrapped)
    correction = np.where(np.abs(steps) < limit, 0, wrapped - steps)
    result = p.astype(dtype)
    turned, totals = np.moveaxis(result, axis, 0), np.moveaxis(correction.cumsum(axis), axis, 0)
    turned[1:] = np.moveaxis(p, axis, 0)[1:] + totals
    return result
