"""Complex numbers.  In: operators, methods and attributes; out: calls of the run time."""

from __future__ import annotations

from typing import Any, Final

from weft.plain.builtin import called_back, native
from weft.plain.frame import Frame, Value
from weft.plain.types import scalar_node
from weft.plain.values import exactly, given, register

_OPERATORS: Final = {"Add": "+", "Sub": "-", "Mult": "*", "Div": "/", "Pow": "^"}


def binary(cx: Frame, op: str, a: Value, b: Value) -> Value | None:
    if op not in _OPERATORS:
        return None
    code = f"wp_complex_op({ord(_OPERATORS[op])}, {cx.tagged(a)}, {cx.tagged(b)}, {cx.line})"
    return cx.scalar("complex", code, check=True)


def negated(cx: Frame, a: Value) -> Value:
    return cx.scalar("complex", f"wp_complex_new(-{part(a, 'real')}, -{part(a, 'imag')})")


def part(a: Value, name: str) -> str:
    return f"((wp_complex *){a.code})->{name}"


@register("complex", "conjugate")
def conjugate(cx: Frame, owner: Value, arguments: list[Any], keywords: dict[str, Value]) -> Value:
    exactly(cx, "complex.conjugate", arguments, keywords, 0)
    return cx.scalar("complex", f"wp_complex_new({part(owner, 'real')}, -{part(owner, 'imag')})")


def magnitude(cx: Frame, a: Value) -> Value:
    return cx.scalar("float", f"wp_complex_abs({a.code}, {cx.line})", check=True)


@native(complex)
def _complex(cx: Frame, arguments: list[Any], keywords: dict[str, Value]) -> Value:
    """complex(real, imag): of numbers inline, of anything else by Python."""
    from weft.plain.expressions import python_value
    from weft.plain.operators import as_float

    real, imag = given(cx, "complex", arguments, keywords, "real imag")
    real = real or python_value(cx, 0.0)
    imag = imag or python_value(cx, 0.0)
    numbers = {"int", "float", "bool"}

    def one(x: Value, y: Value) -> Value | None:
        if x.head().kind in numbers and y.head().kind in numbers:
            return cx.scalar("complex", f"wp_complex_new({as_float(cx, x)}, {as_float(cx, y)})")
        alone = len(arguments) + len(keywords) == 1
        if x.head().kind == "complex" and alone:
            return x
        if {x.head().kind, y.head().kind} <= numbers | {"complex", "str", "big"}:
            return called_back(cx, complex, [x] if alone else [x, y], scalar_node("complex"))
        return None

    return cx.cases([real, imag], one, "complex")
