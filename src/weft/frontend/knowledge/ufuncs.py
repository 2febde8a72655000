"""Universal functions: element by element, with broadcasting and `out=`."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from weft.errors import Unsupported
from weft.frontend import arith, arrays, masks
from weft.frontend.constants import constant_int
from weft.frontend.knowledge import Bound, native
from weft.frontend.values import Array, Mask, Scalar, Tuple, Value
from weft.ir.expr import Const, Expr, Op
from weft.ir.ops import OPERATIONS
from weft.ir.types import BOOL, FLOAT, INT, DType, ScalarType, can_cast

UFUNCS: dict[np.ufunc, str] = {
    np.add: "add",
    np.subtract: "sub",
    np.multiply: "mul",
    np.true_divide: "truediv",
    np.floor_divide: "floordiv",
    np.remainder: "mod",
    np.fmod: "fmod",
    np.power: "pow",
    np.negative: "neg",
    np.absolute: "abs",
    np.fabs: "abs",
    np.equal: "eq",
    np.not_equal: "ne",
    np.less: "lt",
    np.less_equal: "le",
    np.greater: "gt",
    np.greater_equal: "ge",
    np.logical_not: "not",
    np.bitwise_and: "bitand",
    np.bitwise_or: "bitor",
    np.bitwise_xor: "bitxor",
    np.invert: "invert",
    np.left_shift: "shl",
    np.right_shift: "shr",
    np.minimum: "minimum",
    np.maximum: "maximum",
    np.fmin: "fmin",
    np.fmax: "fmax",
    np.floor: "floor",
    np.ceil: "ceil",
    np.trunc: "trunc",
    np.rint: "rint",
    np.arctan2: "arctan2",
    np.hypot: "hypot",
    np.copysign: "copysign",
    np.nextafter: "nextafter",
    np.sign: "sign",
    np.isnan: "isnan",
    np.isinf: "isinf",
    np.isfinite: "isfinite",
    np.signbit: "signbit",
    np.conjugate: "conj",
    np.gcd: "gcd",
    np.lcm: "lcm",
} | {getattr(np, name): name for name in arith.ELEMENTARY}


def elements(call: Bound, operands: list[Value], op: str) -> Value:
    """The operation on arrays or scalars, as NumPy: Python scalars are strong once they go through a ufunc alone."""
    builder = call.builder
    for operand in operands:
        if not isinstance(operand, (Scalar, Array, Mask)):
            raise Unsupported(builder.emitter.span, f"{call.name}() of this argument", "pass numbers or arrays")
    values: list[Value] = [as_plain(operand) for operand in operands]
    for value, other in zip(values, values[::-1]):
        if isinstance(value, Scalar) and isinstance(other, (Array, Scalar)) and value is not other:
            arrays.weak_int(value.expr, other.type, builder.emitter)
    span = builder.emitter.span
    cost = OPERATIONS[op].cost
    return strong(arrays.elementwise(values, lambda parts: arith.function(op, parts, span), builder.emitter, cost))


def as_plain(value: Value) -> Value:
    """A list argument as the array NumPy would make of it."""
    if isinstance(value, Array) and value.is_list:
        of = value.type.strong
        return Array(value.shape, of, lambda at: arith.cast(value.element(at), of), None, False, value.cost)
    return value


def copied(value: Value) -> Value:
    """The same elements as a new array, not as a view."""
    return replace(value, view=None, cost=value.cost + 1) if isinstance(value, Array) else value


def strong(value: Value) -> Value:
    """What NumPy returns is a NumPy scalar, never a Python one."""
    if isinstance(value, Scalar) and value.type.weak:
        return Scalar(arith.cast(value.expr, value.type.strong))
    return value


def deliver(call: Bound, result: Value) -> Value:
    """The result, through `out=` if that was given."""
    out = call.get("out")
    if out is None:
        return result
    emitter = call.builder.emitter
    result = masks.settled(result, emitter)
    if not isinstance(out, Array) or out.view is None:
        raise Unsupported(emitter.span, f"out= of {call.name}() that is not an array")
    of = result.type if isinstance(result, (Array, Scalar)) else None
    if of is None or not can_cast(of.strong, out.type.dtype):
        raise Unsupported(emitter.span, f"out= of {call.name}() with a dtype that NumPy refuses")
    if isinstance(result, Array) and result.rank > out.rank:
        raise Unsupported(emitter.span, f"out= of {call.name}() with too few axes")
    arrays.store(out, result, emitter)
    return out


def _register(ufunc: np.ufunc, op: str) -> None:
    names = "x1 x2 out" if ufunc.nin == 2 else "x out"

    @native(ufunc, parameters=names, masks=True)
    def build(call: Bound) -> Value:
        operands = [call.need(n) for n in names.split()[:-1]]
        if op == "abs" and ufunc is np.fabs:
            operands = [_floating(masks.settled(operands[0], call.builder.emitter))]
        return deliver(call, elements(call, operands, op))


def _floating(value: Value) -> Value:
    if isinstance(value, Scalar) and not value.type.dtype.is_inexact:
        return Scalar(arith.cast(value.expr, FLOAT))
    if isinstance(value, Array) and not value.type.dtype.is_inexact:
        of = arith.floating(value.type)
        return Array(value.shape, of, lambda at: arith.cast(value.element(at), of), cost=value.cost)
    return value


for _ufunc, _op in UFUNCS.items():
    _register(_ufunc, _op)


def _logical(op: str) -> None:
    @native(getattr(np, f"logical_{op}"), parameters="x1 x2 out")
    def build(call: Bound) -> Value:
        def combine(parts: tuple[Expr, ...]) -> Expr:
            left, right = (arith.condition(part) for part in parts)
            return Op("ne" if op == "xor" else op, (left, right), BOOL)

        return deliver(
            call,
            arrays.elementwise([as_plain(call.need("x1")), as_plain(call.need("x2"))], combine, call.builder.emitter),
        )


for _name in ("and", "or", "xor"):
    _logical(_name)


@native(np.square, parameters="x out")
def _square(call: Bound) -> Value:
    value = as_plain(call.need("x"))
    if isinstance(value, (Array, Scalar)) and value.type.dtype is DType.BOOL:
        i8 = ScalarType(DType.I8)
        value = arrays.elementwise([value], lambda parts: arith.cast(parts[0], i8), call.builder.emitter)
    return deliver(call, elements(call, [value, value], "mul"))


@native(np.reciprocal, parameters="x out")
def _reciprocal(call: Bound) -> Value:
    value = call.need("x")
    if isinstance(value, (Array, Scalar)) and not value.type.dtype.is_inexact:
        raise Unsupported(call.builder.emitter.span, "np.reciprocal of integers")
    return deliver(call, elements(call, [Scalar(Const(1, INT)), value], "truediv"))


def _scaled(function: np.ufunc, factor: float) -> None:
    @native(function, parameters="x out")
    def build(call: Bound) -> Value:
        return deliver(call, elements(call, [call.need("x"), Scalar(Const(factor, FLOAT))], "mul"))


_scaled(np.deg2rad, np.pi / 180.0)
_scaled(np.radians, np.pi / 180.0)
_scaled(np.rad2deg, 180.0 / np.pi)
_scaled(np.degrees, 180.0 / np.pi)


@native(np.where, parameters="condition x y")
def _where(call: Bound) -> Value:
    if "x" not in call.given and "y" not in call.given:
        found = arrays.as_array(as_plain(call.need("condition")), call.builder.emitter)
        return Tuple(masks.positions(found, call.builder.emitter))
    operands = [as_plain(call.need(name)) for name in ("condition", "x", "y")]
    for value, other in ((operands[1], operands[2]), (operands[2], operands[1])):
        if isinstance(value, Scalar) and isinstance(other, (Array, Scalar)):
            arrays.weak_int(value.expr, other.type, call.builder.emitter)
    return strong(arrays.elementwise(operands, lambda parts: arith.select(*parts), call.builder.emitter))


@native(np.clip, parameters="a a_min a_max out min max", method="clip")
def _clip(call: Bound) -> Value:
    low, high = call.get("a_min") or call.get("min"), call.get("a_max") or call.get("max")
    result = as_plain(call.need("a"))
    if low is not None:
        result = elements(call, [result, low], "maximum")
    if high is not None:
        result = elements(call, [result, high], "minimum")
    return deliver(call, result)


def _part(name: str) -> None:
    @native(getattr(np, name), parameters="val")
    def build(call: Bound) -> Value:
        value = as_plain(call.need("val"))
        return call.builder.attribute(value, name, call.builder.scope.source.tree)


_part("real")
_part("imag")


@native(np.angle, parameters="z")
def _angle(call: Bound) -> Value:
    value = call.need("z")
    parts = [arrays.apply(name, [value], call.builder.emitter) for name in ("imag", "real")]
    return elements(call, parts, "arctan2")


@native(np.round, np.around, parameters="a decimals out", method="round")
def _round(call: Bound) -> Value:
    value = as_plain(call.need("a"))
    decimals = call.get("decimals")
    places = 0 if decimals is None else constant_int(decimals, call.builder.emitter)
    if isinstance(value, (Array, Scalar)) and not value.type.dtype.is_inexact:
        if places < 0:
            raise Unsupported(call.builder.emitter.span, "rounding of integers to tens")
        return deliver(call, copied(value))
    if isinstance(value, (Array, Scalar)) and value.type.dtype.is_complex:
        raise Unsupported(call.builder.emitter.span, "rounding of complex numbers")
    if places == 0:
        return deliver(call, elements(call, [value], "rint"))
    factor = Scalar(Const(float(10 ** abs(places)), FLOAT))
    scaled = elements(call, [value, factor], "mul" if places > 0 else "truediv")
    rounded = elements(call, [scaled], "rint")
    return deliver(call, elements(call, [rounded, factor], "truediv" if places > 0 else "mul"))


@native(np.nan_to_num, parameters="x")
def _nan_to_num(call: Bound) -> Value:
    value = as_plain(call.need("x"))
    if not isinstance(value, (Array, Scalar)) or not value.type.dtype.is_float:
        raise Unsupported(call.builder.emitter.span, "np.nan_to_num of this")
    of = value.type
    info = np.finfo(of.dtype.numpy.name)

    def combine(parts: tuple[Expr, ...]) -> Expr:
        x = parts[0]
        limit = [Const(float(v), of) for v in (info.max, info.min, 0.0)]
        zero = Op("gt", (x, limit[2]), BOOL)
        finite = Op("select", (Op("isinf", (x,), BOOL), Op("select", (zero, limit[0], limit[1]), of), x), of)
        return Op("select", (Op("isnan", (x,), BOOL), limit[2], finite), of)

    return arrays.elementwise([value], combine, call.builder.emitter)
