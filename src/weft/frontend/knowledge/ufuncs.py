"""Universal functions: element by element, with broadcasting, `out=`, `where=` and `dtype=`.

`MEANINGS` says what each ufunc makes of one element of each operand; the call, `outer`, `reduce`, `accumulate` and `at`
(see `methods`) all build on it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from weft.errors import Span, Unsupported
from weft.frontend import arith, arrays, masks
from weft.frontend.constants import constant
from weft.frontend.knowledge import Bound, native
from weft.frontend.values import Array, Mask, Object, Scalar, Tuple, Value, describe
from weft.frontend.writing import may_share
from weft.ir.expr import Const, Expr, Op
from weft.ir.ops import OPERATIONS
from weft.ir.types import BOOL, INT, PYBOOL, DType, ScalarType, can_cast, from_numpy, promote
from weft.records import dataclass

Combine = Callable[[tuple[Expr, ...], Span], Expr]


@dataclass(frozen=True)
class Meaning:
    """What a ufunc makes of one element of each operand, typed as NumPy types it, and what that costs."""

    combine: Combine
    cost: int = 1


#: Ufuncs that are operations of the IR.
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


def operation(op: str) -> Meaning:
    """An operation of the IR with NumPy's typing."""
    return Meaning(lambda parts, span: arith.function(op, parts, span), OPERATIONS[op].cost)


MEANINGS: dict[np.ufunc, Meaning] = {ufunc: operation(op) for ufunc, op in UFUNCS.items()}


# --- ufuncs composed of operations ----------------------------------------------------------------------------------


def _meaning(*ufuncs: np.ufunc, cost: int = 1) -> Callable[[Combine], Combine]:
    def register(combine: Combine) -> Combine:
        for ufunc in ufuncs:
            MEANINGS[ufunc] = Meaning(combine, cost)
        return combine

    return register


def _floats(parts: tuple[Expr, ...], span: Span) -> tuple[tuple[Expr, ...], ScalarType]:
    """Real operands in the floating type NumPy computes them in."""
    of = parts[0].type
    for part in parts[1:]:
        of = promote(of, part.type)
    if of.dtype.is_complex:
        raise Unsupported(span, "TypeError: this function has no form for complex numbers")
    if any(part.type.weak for part in parts):
        of = arith.computed_in(of, span)
    else:  # the first loop that takes each operand as it is: float32 of int16 and uint16, which are promoted to int32
        halves = (DType.BOOL, DType.I8, DType.U8)
        wide = [arith.floating(part.type) for part in parts if part.type.dtype not in halves]
        of = functools.reduce(promote, wide) if wide else arith.computed_in(parts[0].type, span)
    return tuple(arith.cast(part, of) for part in parts), of


def _pick(test: Expr, then: Expr, orelse: Expr) -> Expr:
    return Op("select", (test, then, orelse), then.type)


def _logical(op: str) -> Combine:
    def combine(parts: tuple[Expr, ...], span: Span) -> Expr:
        left, right = (arith.condition(part) for part in parts)
        return Op("ne" if op == "xor" else op, (left, right), BOOL)

    return combine


for _name in ("and", "or", "xor"):
    MEANINGS[getattr(np, f"logical_{_name}")] = Meaning(_logical(_name))


@_meaning(np.positive)
def _positive(parts: tuple[Expr, ...], span: Span) -> Expr:
    return arith.unary("pos", parts[0], span)


@_meaning(np.fabs)
def _fabs(parts: tuple[Expr, ...], span: Span) -> Expr:
    (x,), of = _floats(parts, span)
    return Op("abs", (x,), of)


@_meaning(np.square)
def _square(parts: tuple[Expr, ...], span: Span) -> Expr:
    x = parts[0]
    if x.type.dtype is DType.BOOL:
        x = arith.cast(x, ScalarType(DType.I8))
    return arith.function("mul", (x, x), span)


def _complex_reciprocal(x: Expr) -> Expr:
    """1 / x as NumPy computes it: by the quotient of the smaller part and the larger one."""
    of = ScalarType(x.type.dtype.real)
    real, imag = (Op(name, (x,), of) for name in ("real", "imag"))
    one = Const(1.0, of)

    def parts(large: Expr, small: Expr) -> tuple[Expr, Expr]:
        ratio = Op("truediv", (small, large), of)
        scale = Op("add", (large, Op("mul", (small, ratio), of)), of)
        return Op("truediv", (one, scale), of), Op("truediv", (ratio, scale), of)

    flat = Op("le", (Op("abs", (imag,), of), Op("abs", (real,), of)), BOOL)
    (first, second), (third, fourth) = parts(real, imag), parts(imag, real)
    result = (
        Op("select", (flat, first, fourth), of),
        Op("neg", (Op("select", (flat, second, third), of),), of),
    )
    return Op("complex", result, x.type)


@_meaning(np.reciprocal, cost=5)
def _reciprocal(parts: tuple[Expr, ...], span: Span) -> Expr:
    x = parts[0]
    if x.type.dtype.is_complex:
        return _complex_reciprocal(x)
    if x.type.dtype.is_inexact:
        return arith.function("truediv", (arith.cast(Const(1, INT), x.type), x), span)
    of = ScalarType(DType.I8) if x.type.dtype is DType.BOOL else x.type.strong
    f64 = ScalarType(DType.F64)
    return arith.cast(Op("truediv", (Const(1.0, f64), arith.cast(x, f64)), f64), of)


def _scaled(top: float, bottom: float) -> Combine:
    def combine(parts: tuple[Expr, ...], span: Span) -> Expr:
        (x,), of = _floats(parts, span)
        kind = of.dtype.numpy.type
        return Op("mul", (x, Const(float(kind(top) / kind(bottom)), of)), of)

    return combine


MEANINGS |= dict.fromkeys((np.deg2rad, np.radians), Meaning(_scaled(np.pi, 180.0)))
MEANINGS |= dict.fromkeys((np.rad2deg, np.degrees), Meaning(_scaled(180.0, np.pi)))


@_meaning(np.float_power, cost=25)
def _float_power(parts: tuple[Expr, ...], span: Span) -> Expr:
    is_complex = any(part.type.dtype.is_complex for part in parts)
    of = ScalarType(DType.C128 if is_complex else DType.F64)
    return Op("pow", tuple(arith.cast(part, of) for part in parts), of, span)


@_meaning(np.heaviside, cost=3)
def _heaviside(parts: tuple[Expr, ...], span: Span) -> Expr:
    (x, middle), of = _floats(parts, span)
    zero, one = Const(0.0, of), Const(1.0, of)
    sides = _pick(Op("lt", (x, zero), BOOL), zero, one)
    level = _pick(Op("eq", (x, zero), BOOL), middle, sides)
    return _pick(Op("isnan", (x,), BOOL), x, level)


def _log_of_sum(grow: str, unit: float, scale: float | None) -> Combine:
    """log(exp(x) + exp(y)) from the larger one, in the base whose power is `grow`."""

    def combine(parts: tuple[Expr, ...], span: Span) -> Expr:
        (x, y), of = _floats(parts, span)
        gap = Op("sub", (x, y), of)
        more = Op("log1p", (Op(grow, (Op("neg", (Op("abs", (gap,), of),), of),), of),), of)
        if scale is not None:
            more = Op("mul", (Const(float(of.dtype.numpy.type(scale)), of), more), of)
        larger = _pick(Op("gt", (x, y), BOOL), x, y)
        apart = _pick(Op("isnan", (gap,), BOOL), gap, Op("add", (larger, more), of))
        unit_of = Const(float(of.dtype.numpy.type(unit)), of)
        return _pick(Op("eq", (x, y), BOOL), Op("add", (x, unit_of), of), apart)

    return combine


MEANINGS[np.logaddexp] = Meaning(_log_of_sum("exp", float(np.log(2.0)), None), 45)
MEANINGS[np.logaddexp2] = Meaning(_log_of_sum("exp2", 1.0, 1.0 / float(np.log(2.0))), 45)


@_meaning(np.spacing, cost=12)
def _spacing(parts: tuple[Expr, ...], span: Span) -> Expr:
    """The gap to the next number away from zero."""
    (x,), of = _floats(parts, span)
    beyond = _pick(Op("lt", (x, Const(0.0, of)), BOOL), Const(-np.inf, of), Const(np.inf, of))
    gap = Op("sub", (Op("nextafter", (x, beyond), of), x), of)
    return _pick(Op("isinf", (x,), BOOL), Const(np.nan, of), gap)


@_meaning(np.ldexp, cost=10)
def _ldexp(parts: tuple[Expr, ...], span: Span) -> Expr:
    mantissa, exponent = parts[0].type, parts[1]
    if mantissa.weak and mantissa.dtype is DType.I64 and not exponent.type.weak:
        raise Unsupported(span, "np.ldexp of a Python integer, of which NumPy makes a float16", "pass a float")
    (x,), of = _floats(parts[:1], span)
    if exponent.type.dtype.kind not in "bi" and exponent.type.dtype not in (DType.U8, DType.U16, DType.U32):
        reason = f"TypeError: np.ldexp with an exponent of {exponent.type}"
        raise Unsupported(span, reason, "pass integers as the exponent")
    return Op("ldexp", (x, arith.cast(exponent, of)), of, span)


def _bits(parts: tuple[Expr, ...], span: Span) -> Expr:
    x = parts[0]
    of = x.type.strong
    if not of.dtype.is_integer:
        if of.dtype is not DType.BOOL:
            raise Unsupported(span, f"TypeError: np.bitwise_count of {of}")
        of = ScalarType(DType.U8)
    return arith.cast(Op("bitcount", (arith.cast(x, of),), of, span), ScalarType(DType.U8))


if hasattr(np, "bitwise_count"):
    MEANINGS[np.bitwise_count] = Meaning(_bits, 3)


# --- calls ----------------------------------------------------------------------------------------------------------


def elements(call: Bound, operands: Sequence[Value], how: str | Meaning) -> Value:
    """The operation on arrays or scalars, as NumPy: Python scalars are strong once they go through a ufunc alone."""
    emitter = call.builder.emitter
    for operand in operands:
        if not isinstance(operand, (Scalar, Array, Mask)):
            raise Unsupported(emitter.span, f"{call.name}() of {describe(operand)}", "pass numbers or arrays")
    values: list[Value] = [as_plain(operand) for operand in operands]
    for value, other in zip(values, values[::-1]):
        if isinstance(value, Scalar) and isinstance(other, (Array, Scalar)) and value is not other:
            arrays.weak_int(value.expr, other.type, emitter)
    meaning = operation(how) if isinstance(how, str) else how
    span = emitter.span
    if all(isinstance(value, Scalar) for value in values):
        arrays.settled(values, lambda parts: meaning.combine(parts, span), emitter)
    if how == "pow" or how is MEANINGS[np.power]:
        values = arrays.powers(values, emitter)
        return strong(arrays.power(values, lambda parts: meaning.combine(parts, span), emitter, meaning.cost))
    return strong(arrays.elementwise(values, lambda parts: meaning.combine(parts, span), emitter, meaning.cost))


def as_plain(value: Value) -> Value:
    """A list argument as the array NumPy would make of it, a Python bool as the np.bool it is to NumPy."""
    if isinstance(value, Scalar) and value.type == PYBOOL:
        return Scalar(arith.cast(value.expr, BOOL))
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


def destination(call: Bound, count: int = 1) -> tuple[Array | None, ...]:
    """The arrays of `out=`, given alone or in a tuple."""
    given = call.get("out")
    emitter = call.builder.emitter
    if given is None:
        return (None,) * count
    items = given.items if isinstance(given, Tuple) and not given.is_list else (given,)
    if len(items) != count:
        reason = f"out= of {call.name}() that is not one array for each result"
        raise Unsupported(emitter.span, reason, "pass one array")
    found: list[Array | None] = []
    for item in items:
        if isinstance(item, Object) and item.value is None:
            found.append(None)
        elif isinstance(item, Array) and item.view is not None and not item.is_list:
            found.append(item)
        else:
            raise Unsupported(emitter.span, f"TypeError: out= of {call.name}() that is not an array", "pass an array")
    return tuple(found)


_NOT_FITTING = "non-broadcastable output operand"


def casting_rule(call: Bound) -> str:
    given = call.get("casting")
    rule = "same_kind" if given is None else constant(given, call.builder.emitter)
    if rule not in ("no", "equiv", "safe", "same_kind", "unsafe"):
        raise Unsupported(call.builder.emitter.span, f"casting={rule!r} of {call.name}()")
    return str(rule)


def deliver(call: Bound, result: Value, exact: bool = False, core: int = 0) -> Value:
    """The result, through `out=` if that was given; `exact`: it must have the very shape of the result, else only the
    last `core` axes must, and the result is stretched along others."""
    (out,) = destination(call)
    return result if out is None else _write(call, result, out, None, exact, core)


def _write(
    call: Bound, result: Value, out: Array, mask: Value | None, exact: bool = False, core: int = 0
) -> Value:
    emitter = call.builder.emitter
    result = masks.settled(result, emitter)
    of = result.type if isinstance(result, (Array, Scalar)) else None
    if of is None or not can_cast(of.strong, out.type.dtype, casting_rule(call)):
        raise Unsupported(emitter.span, f"TypeError: out= of {call.name}() with a dtype that NumPy refuses")
    rank = result.rank if isinstance(result, Array) else 0
    if rank > out.rank or (exact and rank != out.rank):
        raise Unsupported(emitter.span, f"ValueError: out= of {call.name}() with another number of axes")
    if isinstance(result, Array):
        result = arrays.fitted(result, out.shape, emitter, _NOT_FITTING, result.rank if exact else core)
    if mask is not None:
        reads = isinstance(result, Array) and out.view is not None and may_share(result, out.view.buffer, emitter)
        if reads and of.dtype is not out.type.dtype:
            # NumPy computes in a copy of the other type, and writes all of it back.
            raise Unsupported(emitter.span, f"where= of {call.name}() with an out= of another type that it reads, too")
        result = _where_chosen(result, mask, out, call)
    arrays.store(out, result, emitter)
    return out


def _where_chosen(result: Value, mask: Value, out: Array, call: Bound) -> Value:
    """The result where the mask holds, elsewhere what the array has."""
    emitter = call.builder.emitter
    mask = arrays.fitted(arrays.as_array(mask, emitter), out.shape, emitter, _NOT_FITTING)

    def combine(parts: tuple[Expr, ...]) -> Expr:
        test, new, old = parts
        return _pick(arith.condition(test), arrays.storable(new, out.type, emitter), old)

    return arrays.elementwise([mask, result, out], combine, emitter)


def chosen_by(call: Bound) -> Value | None:
    """The mask of `where=`; None if everything is chosen."""
    given = call.get("where")
    if given is None or (isinstance(given, Scalar) and isinstance(given.expr, Const) and given.expr.value is True):
        return None
    if not isinstance(given, (Array, Scalar)) or given.type.dtype is not DType.BOOL:
        reason = f"TypeError: where= of {call.name}() that is not of booleans"
        raise Unsupported(call.builder.emitter.span, reason, "pass an array of bool, as a comparison gives")
    return as_plain(given)


def dtype_of(call: Bound, name: str = "dtype") -> ScalarType | None:
    """The type that `dtype=` names."""
    given = call.get(name)
    if given is None:
        return None
    emitter = call.builder.emitter
    wanted = constant(given, emitter)
    try:
        dtype = from_numpy(wanted)
    except TypeError:
        raise Unsupported(emitter.span, f"TypeError: {name}={wanted!r} of {call.name}()") from None
    if dtype is None:
        raise Unsupported(emitter.span, f"{name}={wanted!r} of {call.name}() has no native form")
    return ScalarType(dtype)


def converted(value: Value, of: ScalarType, call: Bound, alone: bool = False) -> Value:
    """An operand in the type the ufunc is asked to compute in; `alone`: the only one, of which NumPy makes an array."""
    emitter = call.builder.emitter
    value = as_plain(masks.settled(value, emitter))
    if alone:
        value = strong(value)
    if not isinstance(value, (Array, Scalar)) or not can_cast(value.type, of.dtype, casting_rule(call)):
        raise Unsupported(emitter.span, f"TypeError: dtype= of {call.name}() to which NumPy does not cast its operands")
    if value.type.dtype.is_complex and not of.dtype.is_complex:
        raise Unsupported(emitter.span, f"{call.name}() of complex numbers as {of}")
    if isinstance(value, Scalar):
        arrays.weak_int(value.expr, of, emitter)
    return arrays.elementwise([value], lambda parts: arith.cast(parts[0], of), emitter)


_OPTIONS = "out where casting dtype"


def _register(ufunc: np.ufunc, meaning: Meaning) -> None:
    names = ("x1", "x2") if ufunc.nin == 2 else ("x",)
    # Where all loops give one type, `dtype` chooses none of them.
    settled = len({signature[-1] for signature in ufunc.types if "O" not in signature}) == 1

    @native(ufunc, parameters=" ".join((*names, _OPTIONS)), masks=True)
    def build(call: Bound) -> Value:
        emitter = call.builder.emitter
        operands = [call.need(name) for name in names]
        (out,), mask, of = destination(call), chosen_by(call), dtype_of(call)
        if mask is not None:
            operands = [masks.settled(value, emitter) for value in operands]
            if out is None:
                raise Unsupported(emitter.span, f"where= of {call.name}() without out=: elements are left unset")
        if of is not None and not settled:
            operands = [converted(value, of, call, len(names) == 1) for value in operands]
        emitter.delivers, before = out is not None, emitter.delivers
        result = elements(call, operands, meaning)
        emitter.delivers = before
        if of is not None and (not isinstance(result, (Array, Scalar)) or result.type.dtype is not of.dtype):
            raise Unsupported(emitter.span, f"TypeError: dtype= of {call.name}(), which has no such form")
        return result if out is None else _write(call, result, out, mask)


for _ufunc, _how in MEANINGS.items():
    _register(_ufunc, _how)


# --- two results ----------------------------------------------------------------------------------------------------


def _fraction(parts: tuple[Expr, ...], span: Span) -> Expr:
    (x,), of = _floats(parts, span)
    rest = Op("sub", (x, Op("trunc", (x,), of)), of)
    return Op("copysign", (_pick(Op("isinf", (x,), BOOL), Const(0.0, of), rest), x), of)


def _whole(parts: tuple[Expr, ...], span: Span) -> Expr:
    (x,), of = _floats(parts, span)
    return Op("trunc", (x,), of)


def _mantissa(parts: tuple[Expr, ...], span: Span) -> Expr:
    (x,), of = _floats(parts, span)
    return Op("mantissa", (x,), of, span)


def _exponent(parts: tuple[Expr, ...], span: Span) -> Expr:
    (x,), of = _floats(parts, span)
    return arith.cast(Op("exponent", (x,), of, span), ScalarType(DType.I32))


PAIRS: dict[np.ufunc, tuple[Meaning, Meaning]] = {
    np.divmod: (operation("floordiv"), operation("mod")),
    np.modf: (Meaning(_fraction, 3), Meaning(_whole)),
    np.frexp: (Meaning(_mantissa, 10), Meaning(_exponent, 10)),
}


def _register_pair(ufunc: np.ufunc, meanings: tuple[Meaning, Meaning]) -> None:
    names = ("x1", "x2") if ufunc.nin == 2 else ("x",)

    @native(ufunc, parameters=" ".join((*names, "out")))
    def build(call: Bound) -> Value:
        emitter = call.builder.emitter
        operands = [as_plain(call.need(name)) for name in names]
        operands = [arrays.evaluated(v, emitter) if isinstance(v, Array) else v for v in operands]
        results = [elements(call, operands, meaning) for meaning in meanings]
        outs = destination(call, 2)
        if any(out is not None for out in outs):
            # Both results are computed before either array changes.
            results = [arrays.materialise(r, emitter) if isinstance(r, Array) else r for r in results]
        return Tuple(tuple(r if out is None else _write(call, r, out, None) for r, out in zip(results, outs)))


for _ufunc, _both in PAIRS.items():
    _register_pair(_ufunc, _both)
