"""Python's own functions: builtins, methods of numbers, the NumPy scalar types as conversions."""

from __future__ import annotations

import builtins
import enum
import functools
import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from types import UnionType
from typing import Any

import numpy as np

from weft.errors import Unsupported
from weft.frontend import arith, arrays, masks, reads
from weft.frontend.comprehensions import refuse_compensated
from weft.frontend.constants import constant_bool, constant_int
from weft.frontend.dicts import dict_length, entries_of
from weft.frontend.emit import Choosing, Emitter
from weft.frontend.expressions import constant_value, typed_binary
from weft.frontend.keyed import keyed_items
from weft.frontend.knowledge import Bound, native
from weft.frontend.knowledge.compose import mostly
from weft.frontend.knowledge.creation import extent_of
from weft.frontend.knowledge.ufuncs import elements
from weft.frontend.mixed import certain, note_choice, note_computed
from weft.frontend.ragged import length
from weft.frontend.strings import is_text
from weft.frontend.values import (
    MOST_COPIES,
    Array,
    ArrayOf,
    Dict,
    EitherType,
    Iterable,
    Keyed,
    Keywords,
    Mask,
    Object,
    ObjectType,
    Range,
    Records,
    Rows,
    Scalar,
    Slice,
    Stack,
    Struct,
    Text,
    TextType,
    Tuple,
    Value,
    describe,
    told,
)
from weft.ir import index as ix
from weft.ir import walk
from weft.ir.expr import ONE, ZERO, Cast, Const, Dim, Expr, Op, Read, Reduce, Var, integer
from weft.ir.program import If, Loop, Stmt
from weft.ir.types import BOOL, COMPLEX, FLOAT, INT, PYBOOL, DType, ScalarType, from_numpy, join, promote


def number(call: Bound, name: str) -> Expr:
    value = call.need(name)
    if isinstance(value, Array) and value.rank == 0:
        return value.element(())
    if not isinstance(value, Scalar):
        raise Unsupported(call.builder.emitter.span, f"{call.name}() of {describe(value)}", "pass a number")
    return value.expr


@native(len, parameters="obj")
def _len(call: Bound) -> Value:
    value = call.need("obj")
    if isinstance(value, Array) and value.rank:
        return Scalar(value.shape[0])
    if isinstance(value, Tuple):
        return Scalar(Const(len(value.items), INT))
    if isinstance(value, Dict):
        return Scalar(dict_length(call.builder, value))
    if isinstance(value, (Keyed, Keywords)):
        return Scalar(Const(len(keyed_items(call.builder, value, None)), INT))
    if isinstance(value, Records):
        return Scalar(value.growing.size)
    if isinstance(value, (Rows, Stack)):
        return Scalar(length(value))
    if isinstance(value, Range):
        return Scalar(call.builder.trips(value))
    if is_text(value):
        return Scalar(call.builder.text(value).length)
    found = call.builder.special(value, "__len__", [], call.builder.calling)
    if found is not None:
        return found
    if isinstance(value, Object) and isinstance(value.value, type) and issubclass(value.value, enum.Enum):
        return Scalar(Const(len(value.value), INT))
    raise Unsupported(call.builder.emitter.span, f"len() of {describe(value)}", "pass an array or a container")


@native(range, parameters="a b c")
def _range(call: Bound) -> Value:
    return range_of(call)


def range_of(call: Bound) -> Range:
    """range(stop), range(start, stop) or range(start, stop, step)."""

    def whole(name: str) -> Expr:
        expr = number(call, name)
        if not expr.type.dtype.is_integer and expr.type != PYBOOL:
            raise Unsupported(call.builder.emitter.span, f"TypeError: range() of {expr.type}")
        return ix.canonical(as_int(call, expr))

    if "b" not in call.given:
        return Range(ZERO, whole("a"), ONE)
    step = whole("c") if "c" in call.given else ONE
    message = "range() arg 3 must not be zero"
    if isinstance(step, Const) and step.value == 0:
        raise Unsupported(call.builder.emitter.span, f"ValueError: {message}")
    if not isinstance(step, Const):
        call.builder.emitter.check(Op("ne", (step, ZERO), BOOL), "ValueError", message)
    return Range(whole("a"), whole("b"), step)


@native(slice, parameters="a b c")
def _slice(call: Bound) -> Value:
    emitter = call.builder.emitter

    def part(name: str) -> Value | None:
        value = call.get(name)
        # The slice keeps the numbers of now, whatever happens to the variables they came from.
        return Scalar(emitter.snapshot(value.expr, "bound")) if isinstance(value, Scalar) else value

    if "b" not in call.given:
        return Slice(None, part("a"), None)
    return Slice(part("a"), part("b"), part("c"))


def as_int(call: Bound, expr: Expr) -> Expr:
    return certain(call.builder, arith.cast(expr, INT))


@native(enumerate, parameters="iterable start")
def _enumerate(call: Bound) -> Value:
    builder, value = call.builder, call.need("iterable")
    start = number(call, "start") if "start" in call.given else ZERO
    if isinstance(value, Tuple) and len(value.items) <= MOST_COPIES:
        places = (Scalar(ix.add(start, integer(place))) for place in range(len(value.items)))
        return Tuple(tuple(map(Tuple, zip(places, value.items))))
    items = builder.iteration(builder.as_run(value), None)
    return beside([items], items.trips, lambda q: Tuple((Scalar(ix.add(start, q)), items.item(q))))


def beside(parts: Sequence[Iterable], trips: Expr, item: Callable[[Expr], Value]) -> Iterable:
    """An iteration that runs through several others at once."""
    tests = [part.alive for part in parts if part.alive is not None]

    def alive(q: Expr) -> Expr:
        return functools.reduce(arith.conjunction, (test(q) for test in tests))

    return Iterable(trips, item, alive if tests else None, frozenset[str]().union(*(part.watches for part in parts)))


@native(zip, parameters="*iterables strict")
def _zip(call: Bound) -> Value:
    builder = call.builder
    known = [value.items for value in call.rest if isinstance(value, Tuple)]
    if known and len(known) == len(call.rest) and "strict" not in call.given and min(map(len, known)) <= MOST_COPIES:
        return Tuple(tuple(map(Tuple, zip(*known))))
    parts = [builder.iteration(builder.as_run(value), None) for value in call.rest]
    if constant_bool(call.given.get("strict"), builder.emitter):
        for part in parts[1:]:
            same = Op("eq", (builder.emitter.stable(part.trips), builder.emitter.stable(parts[0].trips)), BOOL)
            builder.emitter.hand_back(same, "zip(strict=True) of iterables of different lengths")
    if not parts:
        raise Unsupported(builder.emitter.span, "zip() of nothing")
    trips = parts[0].trips
    for part in parts[1:]:
        if builder.emitter.resolve(part.trips) != builder.emitter.resolve(trips):
            trips = Op("minimum", (trips, part.trips), INT)
    return beside(parts, trips, lambda q: Tuple(tuple(part.item(q) for part in parts)))


@native(reversed, parameters="sequence")
def _reversed(call: Bound) -> Value:
    value = call.need("sequence")
    if isinstance(value, Range) and isinstance(value.step, Const) and abs(int(value.step.value.real)) == 1:
        step = int(value.step.value.real)
        return Range(ix.sub(value.hi, Const(step, INT)), ix.sub(value.lo, Const(step, INT)), Const(-step, INT))
    if isinstance(value, Tuple):
        return Tuple(value.items[::-1])
    items = call.builder.iteration(value, None)
    last = ix.sub(call.builder.emitter.stable(items.trips), ONE)

    def alive(q: Expr) -> Expr:
        """A list that has become shorter ends where it has no item at the next place."""
        return Op("lt", (ix.sub(last, q), items.trips), BOOL)

    trips = ix.add(last, ONE)
    return Iterable(trips, lambda q: items.item(ix.sub(last, q)), alive, frozenset(walk.expr_buffers(items.trips)))


@native(np.ndindex, parameters="*shape")
def _ndindex(call: Bound) -> Value:
    emitter = call.builder.emitter
    rest = call.rest
    if len(rest) == 1 and isinstance(rest[0], Tuple):
        rest = rest[0].items
    shape = tuple(extent_of(item, emitter) for item in rest)
    trips = emitter.stable(arrays.count(shape))

    def item(q: Expr) -> Value:
        parts: list[Value] = []
        left = q
        for extent in reversed(shape[1:]):
            parts.append(Scalar(Op("mod", (left, extent), INT)))
            left = Op("floordiv", (left, extent), INT)
        return Tuple((Scalar(left), *reversed(parts)))

    return Iterable(trips, item)


# --- numbers --------------------------------------------------------------------------------------------------------


@native(abs, parameters="x")
def _abs(call: Bound) -> Value:
    value = call.need("x")
    if isinstance(value, Array) and not value.is_list:
        return arrays.apply("abs", [value], call.builder.emitter)
    found = call.builder.special(value, "__abs__", [], call.builder.calling)
    if found is not None:
        return found
    expr, span = number(call, "x"), call.builder.emitter.span
    result = arith.unary("abs", expr, span)
    return Scalar(note_computed(call.builder, result, [expr], lambda way: arith.unary("abs", way[0], span)))


#: From this version on Python says it in other words.
_OTHER_WORDS = (3, 12)
_WORDS = "iterable argument is empty" if sys.version_info >= _OTHER_WORDS else "arg is an empty sequence"
EMPTY_MIN, EMPTY_MAX = f"min() {_WORDS}", f"max() {_WORDS}"


def _choose(kind: str) -> None:
    @native(getattr(builtins, kind), parameters="*values key default")
    def build(call: Bound) -> Value:
        builder = call.builder
        values = call.rest
        key = call.get("key")
        greatest = Scalar(Const(kind == "max", PYBOOL))
        if len(values) == 1:
            reads.is_python(*_OTHER_WORDS)
        if key is not None and "default" not in call.given and len(values) == 1:
            # Defined over lists, in a module that builds upon this one.
            from weft.frontend.knowledge.sequences import best_by

            return builder.expand(best_by, {"items": values[0], "key": key, "greatest": greatest})
        if key is not None and len(values) == 1 and "default" in call.given:
            from weft.frontend.knowledge.sequences import best_by_or

            given = {"items": values[0], "key": key, "default": call.given["default"], "greatest": greatest}
            return builder.expand(best_by_or, given)
        if key is not None:
            raise Unsupported(builder.emitter.span, f"{kind}() with a key and these arguments", "give it one list")
        if len(values) == 1 and is_text(values[0]) and "default" not in call.given:
            from weft.frontend.knowledge.texts import extreme_of

            return extreme_of(builder, values[0], kind)
        if len(values) == 1 and isinstance(values[0], Dict):
            values = (entries_of(builder, values[0], "keys"),)
        in_rows = isinstance(values[0], Rows) and isinstance(values[0].item, TextType) if values else False
        if len(values) == 1 and (in_rows or isinstance(values[0], Iterable)):
            values = (builder.listed(values[0]),)
        if "default" in call.given and not (len(values) == 1 and isinstance(values[0], Tuple) and values[0].items):
            if len(values) == 1 and isinstance(values[0], Tuple):
                return call.given["default"]
            if len(values) != 1:
                raise Unsupported(builder.emitter.span, f"TypeError: default= of {kind}() of several values")
            from weft.frontend.knowledge.sequences import best_or

            given = {"items": builder.listed(values[0]), "default": call.given["default"], "greatest": greatest}
            return builder.expand(best_or, given)
        if len(values) == 1 and isinstance(values[0], Tuple):
            values = values[0].items
        if (
            len(values) == 1
            and isinstance(values[0], Records)
            and isinstance(values[0].item, (EitherType, tuple, ObjectType, TextType))
        ):
            from weft.frontend.knowledge.sequences import best_of

            return builder.expand(best_of, {"items": values[0], "greatest": greatest})
        if len(values) > 1 and all(isinstance(value, (Tuple, Struct)) or is_text(value) for value in values):
            from weft.frontend.knowledge.sequences import better_of

            best = values[0]
            for value in values[1:]:
                best = builder.expand(better_of, {"one": best, "other": value, "greatest": greatest})
            return best
        if len(values) == 1 and isinstance(values[0], Array) and values[0].rank == 1:
            array = values[0]
            if array.type.dtype.is_float:
                return _scan(call, array, kind)
            _need_items(array, kind, builder.emitter)
            reduction = "minimum" if kind == "min" else "maximum"
            return arrays.reduce(array, reduction, (0,), False, builder.emitter, kind, nonempty=True)
        if not values or not all(isinstance(value, Scalar) for value in values) or call.rest == values[:1]:
            raise Unsupported(builder.emitter.span, f"{kind}() of {told(values)}", f"use np.{kind} for arrays")
        exprs = [value.expr for value in values if isinstance(value, Scalar)]
        result = exprs[0]
        for expr in exprs[1:]:
            # Python keeps the first of equals: max(a, b) is b only if b > a.
            better = arith.compare("gt" if kind == "max" else "lt", expr, result, builder.emitter.span)
            of = join(expr.type, result.type)
            test = arith.cast(better, BOOL)
            chosen = Op("select", (test, arith.cast(expr, of), arith.cast(result, of)), of)
            note_choice(builder, chosen, test, expr, result)
            result = chosen
        return Scalar(result)


def _need_items(array: Array, kind: str, emitter: Emitter) -> None:
    message = EMPTY_MIN if kind == "min" else EMPTY_MAX
    if not emitter.assure(ix.sub(array.shape[0], ONE), "ValueError", message):
        emitter.check(Op("gt", (array.shape[0], ZERO), BOOL), "ValueError", message)


def _scan(call: Bound, array: Array, kind: str) -> Value:
    """min/max of a sequence by Python's comparisons, in order (a NaN behaves as there)."""
    builder = call.builder
    emitter = builder.emitter
    _need_items(array, kind, emitter)
    best = emitter.declare(kind, array.type)
    emitter.assign((), best.name, (), array.element((ZERO,)))
    dim = Dim(emitter.fresh("q"), ONE, array.shape[0])
    item, held = array.element((Var(dim.var),)), Read(best.name, (), array.type)
    better = arith.cast(arith.compare("gt" if kind == "max" else "lt", item, held, emitter.span), BOOL)
    chosen = Op("select", (better, item, held), array.type)
    emitter.emit(Loop(dim, (Stmt((), best.name, (), chosen, None, emitter.span),), span=emitter.span))
    _first_zero(array, best.name, emitter)
    return Scalar(held)


def _first_zero(array: Array, best: str, emitter: Emitter) -> None:
    """If the best is a zero: the first one, of either sign. Passes may change the order in which it was looked for."""
    held = Read(best, (), array.type)
    with emitter.capture() as block:
        dim = Dim(emitter.fresh("q"), ZERO, array.shape[0])
        item, zero = array.element((Var(dim.var),)), arith.cast(ZERO, array.type)
        place = Op("select", (Op("eq", (item, zero), BOOL), Var(dim.var), array.shape[0]), INT)
        first = emitter.snapshot(Reduce("minimum", (dim,), place, emitter.span), "first")
        emitter.assign((), best, (), array.element((first,)))
    emitter.emit(If(Op("eq", (held, arith.cast(ZERO, array.type)), BOOL), tuple(block), span=emitter.span))


_choose("min")
_choose("max")


@native(sum, parameters="iterable start")
def _sum(call: Bound) -> Value:
    builder = call.builder
    value = call.need("iterable")
    start: Value = call.given.get("start") or Scalar(ZERO)
    if isinstance(value, Stack) or (isinstance(value, Records) and isinstance(value.item, ArrayOf)):
        value = arrays.as_array(value, builder.emitter)
    if isinstance(value, Array) and value.rank > 1 and not value.is_list:
        return _sum_of_rows(call, value, start)
    if isinstance(value, Tuple):
        for item in value.items:
            if not isinstance(start, (Scalar, Array)) or not isinstance(item, (Scalar, Array)):
                raise Unsupported(builder.emitter.span, "sum() of a sequence that is not of numbers")
            if isinstance(start, Scalar) and isinstance(item, Scalar):
                start = typed_binary(builder, "add", start, item)
            else:
                start = builder.binary("add", start, item, builder.calling, builder.emitter.span)
        refuse_compensated(builder, start, len(value.items))
        return start
    try:
        return builder.accumulate(value, start)
    except Choosing:
        total = builder.expand(total_of, {"items": value, "start": start})
        refuse_compensated(builder, total)
        return total


def total_of(items, start):  # type: ignore[no-untyped-def]
    total = start
    for item in items:
        total = total + item
    return total


def _sum_of_rows(call: Bound, array: Array, start: Value) -> Value:
    """start + a[0] + a[1] + ...: Python adds whole rows."""
    emitter = call.builder.emitter
    if not emitter.assure(ix.sub(array.shape[0], ONE), "RuntimeError"):
        emitter.hand_back(Op("gt", (array.shape[0], ZERO), BOOL), "sum() of an array that may have no rows")
    of = promote(start.type if isinstance(start, Scalar) else INT, array.type).strong
    rows = arrays.reduce(array, "add", (0,), False, emitter, "sum", of)
    if not isinstance(start, Scalar):
        raise Unsupported(emitter.span, "sum() from a start that is not a number")
    return rows if start.expr == ZERO else arrays.apply("add", [start, rows], emitter)


def _truths(function: Any, op: str) -> None:
    @native(function, parameters="iterable")
    def build(call: Bound) -> Value:
        builder = call.builder
        value = call.need("iterable")
        if isinstance(value, Tuple):
            result: Expr = Const(op == "and", BOOL)
            for item in value.items:
                test = builder.truth(item, None)
                expr = Const(test, BOOL) if isinstance(test, bool) else arith.condition(test.expr)
                result = Op(op, (result, expr), BOOL)
            return Scalar(arith.cast(result, PYBOOL))
        if isinstance(value, Records) and isinstance(value.item, EitherType):
            value = arrays.numbers_in(value, value.item.held, builder.emitter)
        if not isinstance(value, Array) or value.rank != 1:
            raise Unsupported(builder.emitter.span, f"{call.name}() of {describe(value)}", f"use np.{call.name}")
        found = arrays.reduce(masks.truths(value), op, (0,), False, builder.emitter, call.name, BOOL)
        assert isinstance(found, Scalar)
        return Scalar(arith.cast(found.expr, PYBOOL))


_truths(any, "or")
_truths(all, "and")


@native(round, parameters="number ndigits")
def _round(call: Bound) -> Value:
    value = call.need("number")
    if call.builder.emitter.is_boxed(value) or (isinstance(value, Array) and not value.is_list):
        raise Unsupported(call.builder.emitter.span, "TypeError: round() of an array", "use np.round")
    if call.get("ndigits") is not None:
        digits = constant_int(call.need("ndigits"), call.builder.emitter)
        if call.builder.is_choice(value):
            reason = "round() of a number that is either Python's or NumPy's, whose roundings differ"
            raise Unsupported(call.builder.emitter.span, reason, "use float() or np.round")
        if isinstance(value, Scalar) and not value.type.weak:
            return call.builder.expand(_numpy_round, {"value": value, "digits": Scalar(Const(digits, INT))})
        return _round_to(call, number(call, "number"), digits)
    expr = number(call, "number")
    if expr.type.dtype.kind in "biu":
        return Scalar(as_int(call, expr))
    return Scalar(checked_int(call, Op("rint", (expr,), expr.type), "round"))


def _numpy_round(value: Any, digits: Any) -> Any:
    """NumPy's numbers have a rounding of their own."""
    return np.round(value, digits)


def _round_to(call: Bound, expr: Expr, digits: int) -> Value:
    """Python's numbers: to the nearest decimal number, exactly, halves to even."""
    emitter = call.builder.emitter
    if expr.type.dtype.kind in "bi":
        if digits >= 0:
            return Scalar(as_int(call, expr))
        if digits < -18:
            raise Unsupported(emitter.span, "round() to so few digits")
        whole = Scalar(as_int(call, expr))
        return call.builder.expand(_round_to_tens, {"value": whole, "unit": Scalar(Const(10**-digits, INT))})
    if not expr.type.dtype.is_float or not 0 <= digits <= 22:
        raise Unsupported(emitter.span, f"round() of {expr.type} to {digits} digits", "use np.round")
    given = {"value": Scalar(expr), "scale": Scalar(Const(float(10**digits), FLOAT))}
    return call.builder.expand(_round_decimal, given)


def _round_to_tens(value: Any, unit: Any) -> Any:
    rest = value % unit
    base = value - rest
    odd = (base // unit) % 2 == 1
    up = rest > unit - rest or (rest == unit - rest and odd)
    return base + unit if up else base


def _round_decimal(value: Any, scale: Any) -> Any:
    """The product with a power of ten as a sum of two floats, which is exact: so is the decision which way to round."""
    product = value * scale
    if product != product or product - product != 0.0 or value - value != 0.0:
        return value
    mostly(abs(product) < 4503599627370496.0, "round() of a number with so many digits")
    left = value * 134217729.0
    high = left - (left - value)
    low = value - high
    right = scale * 134217729.0
    top = right - (right - scale)
    bottom = scale - top
    error = ((high * top - product) + high * bottom + low * top) + low * bottom
    nearest = np.rint(product)
    gap = product - nearest
    # Halfway as far as the product can tell: what it lacks decides.
    if gap == 0.5 and error > 0.0:
        nearest += 1.0
    if gap == -0.5 and error < 0.0:
        nearest -= 1.0
    return float(math.copysign(nearest / scale, value))


def checked_int(call: Bound, expr: Expr, what: str) -> Expr:
    """A float that is a whole number as a Python int; out of 64 bits Python takes over."""
    message = f"{what}() of a float that is infinite or too large for 64 bits"
    return arrays.whole_number(expr, call.builder.emitter, message)


@native(int, parameters="x base")
def _int(call: Bound) -> Value:
    if "x" not in call.given:
        return Scalar(ZERO)
    text = call.need("x")
    base = 10 if "base" not in call.given else constant_int(call.need("base"), call.builder.emitter)
    if isinstance(text, Object) and isinstance(text.value, str) and text.argument is None and base == 10:
        return _parsed(call, int, text.value)
    if is_text(text):
        # Defined over strings, in a module that builds upon this one.
        from weft.frontend.knowledge.texts import int_of

        return int_of(call.builder, text, base)
    if "base" in call.given:
        raise Unsupported(call.builder.emitter.span, "TypeError: int() of a number with a base")
    expr = number(call, "x")
    if expr.type.dtype.kind in "biu":
        if expr.type.dtype is DType.U64:
            raise Unsupported(call.builder.emitter.span, "int() of uint64")
        return Scalar(as_int(call, expr))
    if expr.type.dtype.is_complex:
        raise _of_complex(call, expr)
    return Scalar(checked_int(call, Op("trunc", (expr,), expr.type), "int"))


def _of_complex(call: Bound, expr: Expr) -> Unsupported:
    """int() or float() of a complex number: NumPy's gives its real part with a warning, Python's is an error."""
    error = "TypeError: " if expr.type.weak else ""
    reason = f"{error}{call.name}() of a complex number"
    return Unsupported(call.builder.emitter.span, reason, "take .real first")


def _parsed(call: Bound, kind: Any, text: str) -> Value:
    """A number from a literal string."""
    try:
        found = constant_value(kind(text))
    except ValueError:
        found = None
    if found is None:
        raise Unsupported(call.builder.emitter.span, f"ValueError: {kind.__name__}({text!r})")
    return found


@native(float, parameters="x")
def _float(call: Bound) -> Value:
    if "x" not in call.given:
        return Scalar(Const(0.0, FLOAT))
    value = call.need("x")
    if isinstance(value, Object) and isinstance(value.value, str) and value.argument is None:
        return _parsed(call, float, value.value)
    if is_text(value):
        from weft.frontend.knowledge.texts import float_of

        return float_of(call.builder, value)
    expr = number(call, "x")
    if expr.type.dtype.is_complex:
        raise _of_complex(call, expr)
    return Scalar(certain(call.builder, arith.cast(expr, FLOAT)))


@native(complex, parameters="real imag")
def _complex(call: Bound) -> Value:
    text = call.given.get("real")
    if isinstance(text, Object) and isinstance(text.value, str) and "imag" not in call.given:
        return _parsed(call, complex, text.value)
    real = number(call, "real") if "real" in call.given else Const(0.0, FLOAT)
    if "imag" not in call.given:
        return Scalar(arith.cast(real, COMPLEX))
    imag = number(call, "imag")
    if real.type.dtype.is_complex or imag.type.dtype.is_complex:
        raise Unsupported(call.builder.emitter.span, "complex() of complex parts")
    return Scalar(Op("complex", (arith.cast(real, FLOAT), arith.cast(imag, FLOAT)), COMPLEX))


@native(bool, parameters="x")
def _bool(call: Bound) -> Value:
    test = call.builder.truth(call.need("x"), None)
    return Scalar(Const(test, PYBOOL) if isinstance(test, bool) else arith.cast(test.expr, PYBOOL))


@native(divmod, parameters="a b")
def _divmod(call: Bound) -> Value:
    if any(isinstance(call.need(name), Array) for name in ("a", "b")):
        return call.builder.expand(_numpy_divmod, call.given)
    left, right = Scalar(number(call, "a")), Scalar(number(call, "b"))
    return Tuple(tuple(typed_binary(call.builder, op, left, right) for op in ("floordiv", "mod")))


def _numpy_divmod(a: Any, b: Any) -> Any:
    return np.divmod(a, b)


@native(pow, parameters="base exp mod", only={"exp": "not negative, for NumPy integers"})
def _pow(call: Bound) -> Value:
    if call.get("mod") is not None:
        return _power_modulo(call)
    if any(isinstance(call.need(name), Array) for name in ("base", "exp")):
        return call.builder.expand(_numpy_power, {name: call.need(name) for name in ("base", "exp")})
    return typed_binary(call.builder, "pow", Scalar(number(call, "base")), Scalar(number(call, "exp")))


def _numpy_power(base: Any, exp: Any) -> Any:
    return base**exp


def _power_modulo(call: Bound) -> Value:
    emitter = call.builder.emitter
    given = {name: number(call, name) for name in ("base", "exp", "mod")}
    if any(expr.type.dtype.kind not in "bi" or not expr.type.weak for expr in given.values()):
        raise Unsupported(emitter.span, "TypeError: pow() with three arguments that are not Python integers")
    if not emitter.assure(as_int(call, given["exp"]), "RuntimeError"):
        emitter.check(Op("ge", (given["exp"], ZERO), BOOL), "RuntimeError", "a negative exponent of pow()")
    return call.builder.expand(_modular, {name: Scalar(as_int(call, expr)) for name, expr in given.items()})


def _modular(base: Any, exp: Any, mod: Any) -> Any:
    if mod == 0:
        raise ValueError("pow() 3rd argument cannot be 0")
    result = 1 % mod
    square = base % mod
    rest = exp
    while rest > 0:
        if rest % 2 == 1:
            result = result * square % mod
        rest = rest // 2
        if rest > 0:
            square = square * square % mod
    return result


@native(tuple, parameters="items")
def _tuple(call: Bound) -> Value:
    return _items(call, is_list=False)


def _items(call: Bound, is_list: bool) -> Value:
    if "items" not in call.given:
        return Tuple((), is_list)
    value = call.need("items")
    if not isinstance(value, Tuple):
        raise Unsupported(call.builder.emitter.span, f"{call.name}() of {describe(value)}", "pass a list or tuple")
    return replace(value, is_list=is_list, named=None)


@native(isinstance, parameters="value kinds")
def _isinstance(call: Bound) -> Value:
    value, kinds = call.need("value"), call.need("kinds")
    wanted = (
        tuple(k.value for k in kinds.items if isinstance(k, Object))
        if isinstance(kinds, Tuple)
        else ((kinds.value,) if isinstance(kinds, Object) else ())
    )
    python = None if isinstance(value, Scalar) and call.builder.is_choice(value) else python_type(value)
    python = np.ndarray if call.builder.emitter.is_boxed(value) else python
    if not all(isinstance(kind, (type, UnionType)) for kind in wanted):
        raise Unsupported(call.builder.emitter.span, f"TypeError: isinstance() by {describe(kinds)}, which is no class")
    if python is None or not wanted:
        raise Unsupported(call.builder.emitter.span, f"isinstance() of {describe(value)}")
    return Scalar(Const(issubclass(python, wanted), PYBOOL))


def python_type(value: Value) -> type | None:
    if isinstance(value, Scalar):
        if value.type.weak:
            return {DType.BOOL: bool, DType.I64: int, DType.F64: float, DType.C128: complex}[value.type.dtype]
        return value.type.dtype.numpy.type
    if isinstance(value, Array):
        return list if value.is_list else np.ndarray
    if isinstance(value, Tuple):
        return list if value.is_list else value.named or tuple
    if isinstance(value, Struct):
        return value.kind
    if isinstance(value, Text):
        return {"str": str, "bytes": bytes, "bytearray": bytearray}[value.kind]
    return type(value.value) if isinstance(value, Object) else None


# --- NumPy scalar types ---------------------------------------------------------------------------------------------


def _register_type(kind: type) -> None:
    dtype = from_numpy(kind)
    if dtype is None:
        return
    of = ScalarType(dtype)

    # The imaginary part is lost with a warning.
    @native(kind, parameters="x", name=f"np.{kind.__name__}", kinds="biufc" if of.dtype.is_complex else "biuf")
    def build(call: Bound) -> Value:
        if "x" not in call.given:
            return Scalar(arith.cast(Const(0, INT), of))
        value = call.need("x")
        if isinstance(value, Array):
            if value.type == of and not value.is_list:
                return value  # the array itself, as NumPy gives it
            return Array(value.shape, of, lambda at: arith.cast(value.element(at), of), cost=value.cost + 1)
        expr = number(call, "x")
        if expr.type.dtype.is_complex and not of.dtype.is_complex:
            raise Unsupported(call.builder.emitter.span, f"{call.name}() of a complex number")
        if expr.type.weak:
            expr = arrays.element(expr, of, call.builder.emitter)
        arrays.weak_int(expr, of, call.builder.emitter)
        return Scalar(arith.cast(expr, of))


for _kind in (np.bool_, np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64, np.float32,
              np.float64, np.complex64, np.complex128, np.intp, np.intc, np.uintc):  # fmt: skip
    _register_type(_kind)


def _conjugate(call: Bound) -> Value:
    value = call.need("a")
    if isinstance(value, Scalar):
        return Scalar(arith.function("conj", (value.expr,), call.builder.emitter.span))
    if isinstance(value, Array) and not value.type.dtype.is_complex:
        return value  # the array itself, as NumPy gives it
    return elements(call, [value], "conj")


native(parameters="a", method="conj")(_conjugate)
native(parameters="a", method="conjugate")(_conjugate)


@native(parameters="x", method="is_integer", kinds="f")
def _is_integer(call: Bound) -> Value:
    expr = number(call, "x")
    if not expr.type.dtype.is_float:
        raise Unsupported(call.builder.emitter.span, f"is_integer() of {expr.type}")
    whole = Op("eq", (Op("trunc", (expr,), expr.type), expr), BOOL)
    return Scalar(arith.cast(Op("and", (whole, Op("isfinite", (expr,), BOOL)), BOOL), PYBOOL))


@native(parameters="x", method="bit_count", kinds="iu")
def _bit_count(call: Bound) -> Value:
    expr = number(call, "x")
    if expr.type.dtype.kind not in "iu":
        raise Unsupported(call.builder.emitter.span, f"bit_count() of {expr.type}")
    return Scalar(arith.cast(Op("bitcount", (expr,), expr.type), INT))


@native(parameters="x", method="bit_length")
def _bit_length(call: Bound) -> Value:
    """The exponent of the number as a float, which rounding up may have made too large by one."""
    expr = number(call, "x")
    emitter = call.builder.emitter
    if expr.type != INT:
        raise Unsupported(emitter.span, f"bit_length() of {expr.type}")
    size = emitter.snapshot(Op("abs", (expr,), INT), "n")
    low = Op("bitand", (size, Const(2**32 - 1, INT)), INT)
    high = Op("shr", (size, Const(32, INT)), INT)
    bits = [Cast(Op("exponent", (arith.cast(part, FLOAT),), FLOAT), INT) for part in (low, high)]
    more = Op("add", (bits[1], Const(32, INT)), INT)
    return Scalar(Op("select", (Op("gt", (high, ZERO), BOOL), more, bits[0]), INT))


@native(np.isscalar, parameters="x")
def _isscalar(call: Bound) -> Value:
    value = call.need("x")
    if isinstance(value, Object):
        return Scalar(Const(bool(np.isscalar(value.value)), PYBOOL))
    if not isinstance(value, (Scalar, Array, Tuple, Mask)) and not is_text(value):
        raise Unsupported(call.builder.emitter.span, f"np.isscalar of {describe(value)}")
    return Scalar(Const(isinstance(value, Scalar) or is_text(value), PYBOOL))


@native(np.ndim, parameters="a")
def _ndim(call: Bound) -> Value:
    return Scalar(Const(arrays.as_array(call.need("a"), call.builder.emitter).rank, INT))


@native(np.shape, parameters="a")
def _shape(call: Bound) -> Value:
    value = arrays.as_array(call.need("a"), call.builder.emitter)
    return Tuple(tuple(Scalar(extent) for extent in value.shape))


@native(np.size, parameters="a axis")
def _size(call: Bound) -> Value:
    value = arrays.as_array(call.need("a"), call.builder.emitter)
    axis = call.get("axis")
    if axis is not None:
        [place] = arrays.normalise_axes(constant_int(axis, call.builder.emitter), value.rank, call.builder.emitter)
        return Scalar(value.shape[place])
    return Scalar(arrays.count(value.shape))
