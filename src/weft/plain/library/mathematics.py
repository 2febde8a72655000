"""Functions of `math`.  In: calls; out: C that gives CPython's own bits."""

from __future__ import annotations

import math
import re
from typing import Any, Final

from weft.plain import builtin, operators, wide
from weft.plain.builtin import Function
from weft.plain.frame import Frame, Value
from weft.plain.library import callbacks
from weft.plain.types import NUMPY_SCALARS
from weft.plain.values import as_int, exactly

_NUMBERS: Final = frozenset(("int", "float", "bool", *NUMPY_SCALARS))
#: Functions of one float that are the C library's own in CPython, and cannot fail for finite arguments.
_LIBM: Final = {
    math.sin: "sin",
    math.cos: "cos",
    math.tan: "tan",
    math.atan: "atan",
    math.asinh: "asinh",
    math.tanh: "tanh",
}


def number(cx: Frame, value: Value, what: str) -> Value:
    """A number as a float."""

    def one(x: Value) -> Value | None:
        kind = x.head().kind
        return cx.scalar("float", operators.as_float(cx, x)) if kind in _NUMBERS else None

    if value.kinds() == {"float"}:
        return value
    return cx.settled(cx.cases([value], one, ("number", what)), "float")


def function_for(callee: Any) -> Function | None:
    rule = _RULES.get(getattr(callee, "__name__", ""))
    if rule is None or getattr(math, getattr(callee, "__name__", ""), None) != callee:
        return None
    return rule


def _register() -> dict[str, Function]:
    rules: dict[str, Function] = {}

    def add(name: str, function: Function) -> None:
        rules[name] = function

    for callee, c_name in _LIBM.items():

        def libm(cx: Frame, arguments: list[Any], keywords: dict[str, Value], c_name: str = c_name) -> Value:
            exactly(cx, f"math.{c_name}", arguments, keywords, 1)
            x = number(cx, arguments[0], c_name)
            with cx.block(f"if (WP_UNLIKELY(__builtin_isinf({x.code})))"):
                if c_name in ("sin", "cos", "tan"):
                    cx.raises("WP_VALUE_ERROR", "math domain error")
            return cx.scalar("float", f"__builtin_{c_name}({x.code})")

        add(callee.__name__, libm)
    add("sqrt", _sqrt)
    add("fabs", _fabs)
    add("floor", _floor)
    add("ceil", _ceil)
    add("trunc", _trunc)
    add("isnan", _isnan)
    add("isinf", _isinf)
    add("isfinite", _isfinite)
    add("gcd", _gcd)
    add("radians", _radians)
    add("degrees", _degrees)
    for name, least, most, kind in _BY_PYTHON:

        def python(
            cx: Frame,
            arguments: list[Any],
            keywords: dict[str, Value],
            name: str = name,
            bounds: tuple[int, int, str] = (least, most, kind),
        ) -> Value:
            exactly(cx, f"math.{name}", arguments, keywords, bounds[0], bounds[1])
            for argument in arguments:
                if argument.kinds() - _NUMBERS - {"big"}:
                    raise cx.refuse(f"`math.{name}` of a value of type {argument.node!r}")
            whole = any("big" in argument.kinds() for argument in arguments)
            if name in _DIRECTLY and len(arguments) == _DIRECTLY[name][0] and not whole:
                return _directly(cx, name, arguments)
            return builtin.by_python(cx, getattr(math, name), arguments, bounds[2])

        add(name, python)
    return rules


#: Functions that are the C library's own in CPython where this holds: how many operands, and the test (r: the result).
_DIRECTLY: Final = {
    "exp": (1, "__builtin_isfinite(r)"),
    "expm1": (1, "x != 0.0 && __builtin_isfinite(r)"),
    "log": (1, "x > 0.0 && __builtin_isfinite(x)"),
    "log2": (1, "x > 0.0 && __builtin_isfinite(x)"),
    "log10": (1, "x > 0.0 && __builtin_isfinite(x)"),
    "log1p": (1, "x > -1.0 && x != 0.0 && __builtin_isfinite(x)"),
    "sinh": (1, "__builtin_isfinite(r)"),
    "cosh": (1, "__builtin_isfinite(r)"),
    "asin": (1, "__builtin_fabs(x) <= 1.0"),
    "acos": (1, "__builtin_fabs(x) <= 1.0"),
    "atan2": (2, "x != 0.0 && y != 0.0 && __builtin_isfinite(x) && __builtin_isfinite(y)"),
    "pow": (2, "x != 0.0 && r != 0.0 && __builtin_isfinite(x) && __builtin_isfinite(y) && __builtin_isfinite(r)"),
    "fmod": (2, "y != 0.0 && __builtin_isfinite(x) && __builtin_isfinite(y)"),
}


def _directly(cx: Frame, name: str, arguments: list[Any]) -> Value:
    """A function of the C library; of what it may see otherwise than CPython, Python decides."""
    operands = [number(cx, argument, name) for argument in arguments]
    result = cx.declared("d")
    codes = [operand.code for operand in operands]
    cx.write(f"{result} = wp_{name}({', '.join(codes)});")
    test = re.sub(
        r"\b[rxy]\b", lambda found: {"r": result, "x": codes[0], "y": codes[-1]}[found[0]], _DIRECTLY[name][1]
    )
    with cx.block(f"if (WP_UNLIKELY(!({test})))"):
        found = builtin.by_python(cx, getattr(math, name), operands, "float")
        cx.write(f"{result} = {found.code};")
    return cx.literal("float", result)


_BY_PYTHON: Final = (
    ("exp", 1, 1, "float"),
    ("log", 1, 2, "float"),
    ("log2", 1, 1, "float"),
    ("log10", 1, 1, "float"),
    ("log1p", 1, 1, "float"),
    ("expm1", 1, 1, "float"),
    ("pow", 2, 2, "float"),
    ("asin", 1, 1, "float"),
    ("acos", 1, 1, "float"),
    ("atan2", 2, 2, "float"),
    ("sinh", 1, 1, "float"),
    ("cosh", 1, 1, "float"),
    ("hypot", 1, 4, "float"),
    ("fmod", 2, 2, "float"),
    ("copysign", 2, 2, "float"),
    ("gamma", 1, 1, "float"),
    ("lgamma", 1, 1, "float"),
    ("erf", 1, 1, "float"),
    ("erfc", 1, 1, "float"),
    ("ldexp", 2, 2, "float"),
    ("factorial", 1, 1, "int"),
    ("comb", 2, 2, "int"),
    ("perm", 1, 2, "int"),
    ("isqrt", 1, 1, "int"),
    ("lcm", 2, 4, "int"),
    ("remainder", 2, 2, "float"),
    ("acosh", 1, 1, "float"),
    ("atanh", 1, 1, "float"),
    ("isclose", 2, 2, "bool"),
)


def _sqrt(cx: Frame, arguments: list[Any], keywords: dict[str, Value]) -> Value:
    exactly(cx, "math.sqrt", arguments, keywords, 1)
    x = number(cx, arguments[0], "sqrt")
    with cx.block(f"if (WP_UNLIKELY({x.code} < 0.0))"):
        cx.raises("WP_VALUE_ERROR")
    return cx.scalar("float", f"__builtin_sqrt({x.code})")


def _fabs(cx: Frame, arguments: list[Any], keywords: dict[str, Value]) -> Value:
    exactly(cx, "math.fabs", arguments, keywords, 1)
    return cx.scalar("float", f"__builtin_fabs({number(cx, arguments[0], 'fabs').code})")


def _whole(name: str, c_name: str) -> Any:
    def rule(cx: Frame, arguments: list[Any], keywords: dict[str, Value]) -> Value:
        exactly(cx, f"math.{name}", arguments, keywords, 1)

        def one(x: Value) -> Value | None:
            if x.head().kind in ("int", "bool"):
                return cx.scalar("int", x.code)
            if x.head().kind == "py":
                return callbacks.special_method(cx, x, f"__{name}__")
            if x.head().kind in ("float", "np.float64") and wide.may_be_wide(cx):
                return builtin.called_back(cx, getattr(math, name), [x], wide.any_whole())
            if x.head().kind in ("float", "np.float64"):
                rounded = f"__builtin_{c_name}({operators.payload(x)})"
                return cx.scalar("int", f"wp_int_of_d({rounded}, {cx.line})", check=True)
            return None

        return cx.cases([arguments[0]], one, name)

    return rule


_floor, _ceil, _trunc = _whole("floor", "floor"), _whole("ceil", "ceil"), _whole("trunc", "trunc")


def _asks(name: str, c_name: str) -> Any:
    def rule(cx: Frame, arguments: list[Any], keywords: dict[str, Value]) -> Value:
        exactly(cx, f"math.{name}", arguments, keywords, 1)
        return cx.scalar("bool", f"!!__builtin_{c_name}({number(cx, arguments[0], name).code})")

    return rule


_isnan, _isinf, _isfinite = _asks("isnan", "isnan"), _asks("isinf", "isinf"), _asks("isfinite", "isfinite")


def _gcd(cx: Frame, arguments: list[Any], keywords: dict[str, Value]) -> Value:
    from weft.plain import calls
    from weft.plain.models import sequences as models

    exactly(cx, "math.gcd", arguments, keywords, 2)
    if any("big" in argument.kinds() for argument in arguments):
        return builtin.called_back(cx, math.gcd, arguments, wide.any_whole())
    return calls.call_function(cx, models.gcd, [as_int(cx, a, "an operand of gcd") for a in arguments])


def _radians(cx: Frame, arguments: list[Any], keywords: dict[str, Value]) -> Value:
    exactly(cx, "math.radians", arguments, keywords, 1)
    return cx.scalar("float", f"{number(cx, arguments[0], 'radians').code} * ({(math.pi / 180.0).hex()})")


def _degrees(cx: Frame, arguments: list[Any], keywords: dict[str, Value]) -> Value:
    exactly(cx, "math.degrees", arguments, keywords, 1)
    return cx.scalar("float", f"{number(cx, arguments[0], 'degrees').code} * ({(180.0 / math.pi).hex()})")


_RULES: Final = _register()
