"""`math` and `cmath`: functions of Python's numbers, which raise where NumPy would give NaN or infinity."""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from weft.errors import Unsupported
from weft.frontend import arith
from weft.frontend.expressions import scalar_binary
from weft.frontend.knowledge import Bound, native
from weft.frontend.knowledge.compose import composed
from weft.frontend.knowledge.python import as_int, checked_int, number
from weft.frontend.values import Scalar, Tuple, Value
from weft.ir.expr import Cast, Const, Expr, Op
from weft.ir.types import BOOL, COMPLEX, FLOAT, I64, INT, PYBOOL

_DOMAIN = "math domain error"

# Functions of one float, with the domain in which Python does not raise: "all", "overflow" (an infinite result from a
# finite argument raises), or a test.
_MATH = {
    "sqrt": ("sqrt", "nonnegative"),
    "exp": ("exp", "overflow"),
    "expm1": ("expm1", "overflow"),
    "log": ("log", "positive"),
    "log2": ("log2", "positive"),
    "log10": ("log10", "positive"),
    "log1p": ("log1p", "above -1"),
    "sin": ("sin", "finite"),
    "cos": ("cos", "finite"),
    "tan": ("tan", "finite"),
    "asin": ("arcsin", "unit"),
    "acos": ("arccos", "unit"),
    "atan": ("arctan", "all"),
    "sinh": ("sinh", "overflow"),
    "cosh": ("cosh", "overflow"),
    "tanh": ("tanh", "all"),
    "asinh": ("arcsinh", "all"),
    "acosh": ("arccosh", "above 1"),
    "atanh": ("arctanh", "inside 1"),
    "fabs": ("abs", "all"),
    "erf": ("erf", "all"),
    "erfc": ("erfc", "all"),
    "gamma": ("gamma", "no pole"),
    "lgamma": ("lgamma", "no finite pole"),
    "cbrt": ("cbrt", "all"),
    "exp2": ("exp2", "overflow"),
}


def _compare(op: str, left: Expr, right: float) -> Expr:
    return Op(op, (left, Const(right, FLOAT)), BOOL)


#: The largest arguments whose results are finite: a test of the argument costs less than one of the result.
_LARGEST = {
    "exp": 709.782712893384,
    "expm1": 709.782712893384,
    "exp2": 1023.9999999999999,
    "sinh": 710.4758600739439,
    "cosh": 710.4758600739439,
}


def _outside(kind: str, x: Expr) -> Expr | None:
    """Whether Python raises ValueError; a NaN compares false, as it should."""
    tests: dict[str, Callable[[], Expr]] = {
        "nonnegative": lambda: _compare("lt", x, 0.0),
        "positive": lambda: _compare("le", x, 0.0),
        "above -1": lambda: _compare("le", x, -1.0),
        "above 1": lambda: _compare("lt", x, 1.0),
        "unit": lambda: _compare("gt", Op("abs", (x,), FLOAT), 1.0),
        "inside 1": lambda: _compare("ge", Op("abs", (x,), FLOAT), 1.0),
        "finite": lambda: Op("isinf", (x,), BOOL),
        "no pole": lambda: _is_pole(x),
        "no finite pole": lambda: Op("and", (_is_pole(x), Op("isfinite", (x,), BOOL)), BOOL),
    }
    outside = tests.get(kind)
    return None if outside is None else outside()


def _is_pole(x: Expr) -> Expr:
    """Whether x is 0 or a negative whole number (minus infinity among them)."""
    return Op("and", (_compare("le", x, 0.0), Op("eq", (Op("floor", (x,), FLOAT), x), BOOL)), BOOL)


def _real(call: Bound, name: str) -> Expr:
    """A real argument as Python converts it to a float."""
    expr = number(call, name)
    if expr.type.dtype.is_complex:
        raise Unsupported(call.builder.emitter.span, f"{call.name}() of a complex number", "take .real first")
    return arith.cast(expr, FLOAT)


def _within(call: Bound, kind: str, op: str, name: str, argument: Expr) -> Expr:
    """The value of a function, after the tests that Python makes."""
    emitter = call.builder.emitter
    if name in ("gamma", "lgamma") and emitter.decisions.strict:
        raise Unsupported(emitter.span, f'math.{name}() with the bits of Python, under fp="strict"', 'use fp="numpy"')
    x = emitter.snapshot(argument, "x")
    outside = _outside(kind, x)
    if outside is not None:
        emitter.check(Op("not", (outside,), BOOL), "ValueError", _DOMAIN)
    result: Expr = Op(op, (x,), FLOAT, emitter.span)
    if name in _LARGEST:
        size = Op("abs", (x,), FLOAT) if name in ("sinh", "cosh") else x
        over = Op("and", (_compare("gt", size, _LARGEST[name]), _compare("lt", size, math.inf)), BOOL)
        emitter.check(Op("not", (over,), BOOL), "OverflowError", "math range error")
    elif kind in ("overflow", "no pole", "no finite pole"):
        result = emitter.snapshot(result, name)
        fine = Op("or", (Op("isfinite", (result,), BOOL), Op("not", (Op("isfinite", (x,), BOOL),), BOOL)), BOOL)
        emitter.check(fine, "OverflowError", "math range error")
    return result


def _register_math(name: str, op: str, kind: str) -> None:
    function = getattr(math, name, None)
    if function is None:
        return

    @native(function, parameters="x" if name != "log" else "x base", name=f"math.{name}")
    def build(call: Bound) -> Value:
        result = _within(call, kind, op, name, _real(call, "x"))
        if name == "log" and "base" in call.given:
            base = _within(call, kind, op, name, _real(call, "base"))
            return scalar_binary(call.builder, "truediv", Scalar(result), Scalar(base))
        return Scalar(result)


for _name, (_op, _inside) in _MATH.items():
    _register_math(_name, _op, _inside)


def _register_pair(name: str, op: str) -> None:
    function = getattr(math, name, None)
    if function is None:
        return

    @native(function, parameters="x y", name=f"math.{name}")
    def build(call: Bound) -> Value:
        return Scalar(Op(op, (_real(call, "x"), _real(call, "y")), FLOAT, call.builder.emitter.span))


for _name, _op in (("atan2", "arctan2"), ("copysign", "copysign"), ("nextafter", "nextafter")):
    _register_pair(_name, _op)


@native(math.pow, parameters="x y", name="math.pow")
def _math_pow(call: Bound) -> Value:
    return scalar_binary(call.builder, "pow", *(Scalar(_real(call, n)) for n in ("x", "y")))


def _register_remainder(name: str, op: str) -> None:
    @native(getattr(math, name), parameters="x y", name=f"math.{name}")
    def build(call: Bound) -> Value:
        emitter = call.builder.emitter
        x, y = (emitter.snapshot(_real(call, n), n) for n in ("x", "y"))
        fine = arith.conjunction(_compare("ne", y, 0.0), Op("not", (Op("isinf", (x,), BOOL),), BOOL))
        missing = Op("or", (Op("isnan", (x,), BOOL), Op("isnan", (y,), BOOL)), BOOL)
        emitter.check(Op("or", (fine, missing), BOOL), "ValueError", _DOMAIN)
        return Scalar(Op(op, (x, y), FLOAT))


_register_remainder("fmod", "fmod")
_register_remainder("remainder", "remainder")


def _register_rounding(name: str, op: str) -> None:
    @native(getattr(math, name), parameters="x", name=f"math.{name}")
    def build(call: Bound) -> Value:
        expr = number(call, "x")
        if expr.type.dtype.kind in "biu":
            return Scalar(as_int(call, expr))
        if expr.type.dtype.is_complex:
            raise Unsupported(call.builder.emitter.span, f"TypeError: {call.name}() of a complex number")
        if name == "trunc" and not hasattr(expr.type.dtype.numpy.type, "__trunc__"):
            raise Unsupported(call.builder.emitter.span, f"TypeError: {call.name}() of {expr.type}")
        return Scalar(checked_int(call, Op(op, (expr,), expr.type), name))


for _name in ("floor", "ceil", "trunc"):
    _register_rounding(_name, _name)


def _register_test(name: str) -> None:
    @native(getattr(math, name), parameters="x", name=f"math.{name}")
    def build(call: Bound) -> Value:
        return Scalar(Op(name, (_real(call, "x"),), PYBOOL))


for _name in ("isnan", "isinf", "isfinite"):
    _register_test(_name)


def _register_angle(name: str, factor: float) -> None:
    @native(getattr(math, name), parameters="x", name=f"math.{name}")
    def build(call: Bound) -> Value:
        return Scalar(Op("mul", (_real(call, "x"), Const(factor, FLOAT)), FLOAT))


_register_angle("radians", math.pi / 180.0)
_register_angle("degrees", 180.0 / math.pi)


def _register_parts(name: str) -> None:
    """math.frexp and math.modf: the two parts of a number."""

    @native(getattr(math, name), parameters="x", name=f"math.{name}")
    def build(call: Bound) -> Value:
        x = call.builder.emitter.snapshot(_real(call, "x"), "x")
        if name == "frexp":
            exponent = Cast(Op("exponent", (x,), FLOAT), INT)
            return Tuple((Scalar(Op("mantissa", (x,), FLOAT)), Scalar(exponent)))
        whole = Op("trunc", (x,), FLOAT)
        rest = Op("select", (Op("isinf", (x,), BOOL), Const(0.0, FLOAT), Op("sub", (x, whole), FLOAT)), FLOAT)
        return Tuple((Scalar(Op("copysign", (rest, x), FLOAT)), Scalar(whole)))


_register_parts("frexp")
_register_parts("modf")


@native(math.ldexp, parameters="x i", name="math.ldexp")
def _ldexp(call: Bound) -> Value:
    emitter = call.builder.emitter
    exponent = number(call, "i")
    if exponent.type.dtype.kind not in "bi" or not exponent.type.weak:
        raise Unsupported(emitter.span, "TypeError: math.ldexp with an exponent that is not an integer")
    x = emitter.snapshot(_real(call, "x"), "x")
    result = emitter.snapshot(Op("ldexp", (x, arith.cast(exponent, FLOAT)), FLOAT), "ldexp")
    fine = Op("or", (Op("isfinite", (result,), BOOL), Op("not", (Op("isfinite", (x,), BOOL),), BOOL)), BOOL)
    emitter.check(fine, "OverflowError", "math range error")
    return Scalar(result)


# --- integers -------------------------------------------------------------------------------------------------------


def _integers(call: Bound) -> list[Expr]:
    values = []
    for value in call.rest:
        if not isinstance(value, Scalar) or value.type.dtype.kind not in "biu":
            raise Unsupported(call.builder.emitter.span, f"TypeError: {call.name}() of what is not an integer")
        values.append(as_int(call, value.expr))
    return values


def _register_divisor(name: str, nothing: int) -> None:
    @native(getattr(math, name), parameters="*integers", name=f"math.{name}")
    def build(call: Bound) -> Value:
        values = _integers(call)
        result = Op("abs", (values[0],), INT) if values else Const(nothing, INT)
        for value in values[1:]:
            result = Op(name, (result, value), INT)
        return Scalar(result)


_register_divisor("gcd", 0)
_register_divisor("lcm", 1)


@composed(math.factorial, name="math.factorial")
def factorial(n: Any) -> Any:
    if not isinstance(n, (int, np.integer)):
        raise TypeError("'float' object cannot be interpreted as an integer")
    if n < 0:
        raise ValueError("factorial() not defined for negative values")
    result = 1
    for k in range(2, int(n) + 1):
        result *= k
    return result


@composed(math.perm, name="math.perm")
def perm(n: Any, k: Any = None) -> Any:
    if k is None:
        return math.factorial(n)
    if not isinstance(n, (int, np.integer)) or not isinstance(k, (int, np.integer)):
        raise TypeError("'float' object cannot be interpreted as an integer")
    if n < 0:
        raise ValueError("n must be a non-negative integer")
    if k < 0:
        raise ValueError("k must be a non-negative integer")
    result = 1
    for j in range(int(k)):
        result *= n - j
    return result


@composed(math.comb, name="math.comb")
def comb(n: Any, k: Any) -> Any:
    if not isinstance(n, (int, np.integer)) or not isinstance(k, (int, np.integer)):
        raise TypeError("'float' object cannot be interpreted as an integer")
    if n < 0:
        raise ValueError("n must be a non-negative integer")
    if k < 0:
        raise ValueError("k must be a non-negative integer")
    steps = min(int(k), int(n) - int(k))
    result = 1 if steps >= 0 else 0
    for j in range(1, steps + 1):
        # result * factor // j without a product that is larger than the quotient.
        factor = int(n) - steps + j
        result = result // j * factor + result % j * factor // j
    return result


@native(math.isqrt, parameters="n", name="math.isqrt")
def _isqrt(call: Bound) -> Value:
    """The root as a float is off by one at most: squares decide."""
    emitter = call.builder.emitter
    expr = number(call, "n")
    if expr.type.dtype.kind not in "bi":
        raise Unsupported(emitter.span, "TypeError: math.isqrt() of something that is not an integer")
    n = emitter.snapshot(as_int(call, expr), "n")
    if not emitter.assure(n, "ValueError", "isqrt() argument must be nonnegative"):
        emitter.check(Op("ge", (n, Const(0, INT)), BOOL), "ValueError", "isqrt() argument must be nonnegative")
    number_of = arith.cast(n, I64)
    root: Expr = Cast(Op("sqrt", (arith.cast(n, FLOAT),), FLOAT), I64)
    root = emitter.snapshot(Op("minimum", (root, Const(3037000499, I64)), I64), "root")
    one = Const(1, I64)
    above = Op("gt", (Op("mul", (root, root), I64), number_of), BOOL)
    root = emitter.snapshot(Op("sub", (root, arith.cast(above, I64)), I64), "root")
    next_root = Op("minimum", (Op("add", (root, one), I64), Const(3037000499, I64)), I64)
    below = Op("le", (Op("mul", (next_root, next_root), I64), number_of), BOOL)
    more = Op("and", (below, Op("gt", (next_root, root), BOOL)), BOOL)
    return Scalar(arith.cast(Op("add", (root, arith.cast(more, I64)), I64), INT))


# --- several numbers ------------------------------------------------------------------------------------------------


@native(math.hypot, parameters="*coordinates", name="math.hypot")
def _hypot(call: Bound) -> Value:
    numbers = []
    for value in call.rest:
        if not isinstance(value, Scalar) or value.type.dtype.is_complex:
            raise Unsupported(call.builder.emitter.span, "math.hypot() of something that is not a real number")
        numbers.append(arith.cast(value.expr, FLOAT))
    return _length(numbers, call)


def _length(numbers: list[Expr], call: Bound) -> Scalar:
    """The length of a vector with Python's own bits: in twice the precision, then rounded once."""
    if len(numbers) > 3:
        reason = f"the length of a vector of {len(numbers)} numbers, which Python adds up in its own way"
        raise Unsupported(call.builder.emitter.span, reason, "use math.sqrt of the sum of the squares")
    if not numbers:
        return Scalar(Const(0.0, FLOAT))
    if len(numbers) == 1:
        return Scalar(Op("abs", (numbers[0],), FLOAT))
    return Scalar(Op(f"norm{len(numbers)}", tuple(numbers), FLOAT))


@native(math.dist, parameters="p q", name="math.dist")
def _dist(call: Bound) -> Value:
    left, right = call.need("p"), call.need("q")
    if not isinstance(left, Tuple) or not isinstance(right, Tuple) or len(left.items) != len(right.items):
        raise Unsupported(call.builder.emitter.span, "math.dist() of anything but two literal points")
    gaps = [scalar_binary(call.builder, "sub", *pair) for pair in zip(*(_floats(p, call) for p in (left, right)))]
    return _length([gap.expr for gap in gaps], call)


def _floats(point: Tuple, call: Bound) -> list[Scalar]:
    if any(not isinstance(item, Scalar) or item.type.dtype.is_complex for item in point.items):
        raise Unsupported(call.builder.emitter.span, "TypeError: math.dist() of points that are not of real numbers")
    return [Scalar(arith.cast(item.expr, FLOAT)) for item in point.items if isinstance(item, Scalar)]


@composed(math.prod, name="math.prod")
def prod(iterable: Any, start: Any = 1) -> Any:
    result = start
    for item in iterable:
        result = result * item
    return result


@composed(math.isclose, name="math.isclose")
def isclose(a: Any, b: Any, rel_tol: Any = 1e-09, abs_tol: Any = 0.0) -> Any:
    if rel_tol < 0 or abs_tol < 0:
        raise ValueError("tolerances must be non-negative")
    x, y = float(a), float(b)
    distance = abs(x - y)
    near = distance <= abs(rel_tol * y) or distance <= abs(rel_tol * x) or distance <= abs_tol
    return x == y or (near and not math.isinf(x) and not math.isinf(y))


@composed(math.ulp, name="math.ulp")
def ulp(x: Any) -> Any:
    size = abs(float(x))
    above = math.nextafter(size, math.inf)
    beyond = size - math.nextafter(size, 0.0)
    return size if math.isinf(size) or math.isnan(size) else (beyond if math.isinf(above) else above - size)


# --- complex numbers ------------------------------------------------------------------------------------------------

_CMATH = {
    "exp": "exp", "log": "log", "sqrt": "sqrt", "sin": "sin", "cos": "cos", "tan": "tan", "sinh": "sinh",
    "cosh": "cosh", "tanh": "tanh", "asin": "arcsin", "acos": "arccos", "atan": "arctan", "asinh": "arcsinh",
    "acosh": "arccosh", "atanh": "arctanh", "log10": "log10",
}  # fmt: skip
_POLES = {"log": (0.0,), "log10": (0.0,), "atanh": (1.0, -1.0)}


def _complex(call: Bound, name: str) -> Expr:
    return call.builder.emitter.snapshot(arith.cast(number(call, name), COMPLEX), "z")


def _checked_complex(call: Bound, name: str, z: Expr) -> Expr:
    """A function of cmath where Python does not raise: of finite numbers, away from poles, with a finite result."""
    emitter = call.builder.emitter
    for pole in _POLES.get(name, ()):
        emitter.check(Op("ne", (z, Const(complex(pole), COMPLEX)), BOOL), "ValueError", _DOMAIN)
    if name == "atan":
        for sign in (1.0, -1.0):
            emitter.check(Op("ne", (z, Const(complex(0.0, sign), COMPLEX)), BOOL), "ValueError", _DOMAIN)
    finite = Op("isfinite", (z,), BOOL)
    emitter.rarely_fails(finite, f"cmath.{name} of infinities or NaN")
    result = emitter.snapshot(Op(_CMATH[name], (z,), COMPLEX, emitter.span), name)
    emitter.check(Op("isfinite", (result,), BOOL), "OverflowError", "math range error")
    return result


def _register_cmath(name: str) -> None:
    @native(getattr(cmath, name), parameters="z base" if name == "log" else "z", name=f"cmath.{name}")
    def build(call: Bound) -> Value:
        result = _checked_complex(call, name, _complex(call, "z"))
        if name == "log" and "base" in call.given:
            base = _checked_complex(call, name, _complex(call, "base"))
            return scalar_binary(call.builder, "truediv", Scalar(result), Scalar(base))
        return Scalar(result)


for _name in _CMATH:
    _register_cmath(_name)


def _register_complex_test(name: str) -> None:
    @native(getattr(cmath, name), parameters="z", name=f"cmath.{name}")
    def build(call: Bound) -> Value:
        return Scalar(Op(name, (_complex(call, "z"),), PYBOOL))


for _name in ("isnan", "isinf", "isfinite"):
    _register_complex_test(_name)


@composed(cmath.phase, name="cmath.phase")
def phase(z: Any) -> Any:
    whole = complex(z)
    return math.atan2(whole.imag, whole.real)


@composed(cmath.polar, name="cmath.polar")
def polar(z: Any) -> Any:
    whole = complex(z)
    return math.hypot(whole.real, whole.imag), math.atan2(whole.imag, whole.real)


@composed(cmath.rect, name="cmath.rect")
def rect(r: Any, phi: Any) -> Any:
    if phi == 0.0 and r != r:
        return complex(r, phi)
    return complex(r * math.cos(phi), r * math.sin(phi))


@composed(cmath.isclose, name="cmath.isclose")
def complex_isclose(a: Any, b: Any, rel_tol: Any = 1e-09, abs_tol: Any = 0.0) -> Any:
    if rel_tol < 0 or abs_tol < 0:
        raise ValueError("tolerances must be non-negative")
    x, y = complex(a), complex(b)
    distance = abs(x - y)
    near = distance <= rel_tol * abs(y) or distance <= rel_tol * abs(x) or distance <= abs_tol
    return x == y or (near and not cmath.isinf(x) and not cmath.isinf(y))
