"""Complex numbers.  In: operators, methods and attributes; out: calls of the run time."""

from __future__ import annotations

from typing import Any, Final

from weft.plain.builtin import called_back, native
from weft.plain.frame import SCALAR_NODES, Frame, Value
from weft.plain.types import scalar_node
from weft.plain.values import exactly, given, register


class Parts(Value):
    """A complex number of two C variables: an object is made of it where something else than arithmetic needs one."""

    __slots__ = ("_cx", "imag", "real")

    def __init__(self, cx: Frame, real: str, imag: str) -> None:
        self._cx = cx
        self.real, self.imag = (cx.scalar("float", part).code for part in (real, imag))
        super().__init__(SCALAR_NODES["complex"], "")

    @property
    def code(self) -> str:
        return self._cx.scalar("complex", f"wp_complex_new({self.real}, {self.imag})").code

    @code.setter
    def code(self, text: str) -> None:
        pass


_OPERATORS: Final = {"Add": "+", "Sub": "-", "Mult": "*", "Div": "/", "Pow": "^"}


def binary(cx: Frame, op: str, a: Value, b: Value) -> Value | None:
    if op not in _OPERATORS:
        return None
    if op in _INLINE and a.head().kind == b.head().kind == "complex":
        return _INLINE[op](cx, a, b)
    code = f"wp_complex_op({ord(_OPERATORS[op])}, {cx.tagged(a)}, {cx.tagged(b)}, {cx.line})"
    return cx.scalar("complex", code, check=True)


def _sum(cx: Frame, a: Value, b: Value) -> Value:
    return Parts(cx, f"{part(a, 'real')} + {part(b, 'real')}", f"{part(a, 'imag')} + {part(b, 'imag')}")


def _difference(cx: Frame, a: Value, b: Value) -> Value:
    return Parts(cx, f"{part(a, 'real')} - {part(b, 'real')}", f"{part(a, 'imag')} - {part(b, 'imag')}")


def _product(cx: Frame, a: Value, b: Value) -> Value:
    values = ", ".join(cx.scalar("float", part(x, name)).code for x in (a, b) for name in ("real", "imag"))
    return Parts(cx, f"wp_complex_mul_real({values})", f"wp_complex_mul_imag({values})")


_INLINE: Final = {"Add": _sum, "Sub": _difference, "Mult": _product}


def negated(cx: Frame, a: Value) -> Value:
    return Parts(cx, f"-{part(a, 'real')}", f"-{part(a, 'imag')}")


def part(a: Value, name: str) -> str:
    if isinstance(a, Parts):
        return a.real if name == "real" else a.imag
    return f"((wp_complex *){a.code})->{name}"


@register("complex", "conjugate")
def conjugate(cx: Frame, owner: Value, arguments: list[Any], keywords: dict[str, Value]) -> Value:
    exactly(cx, "complex.conjugate", arguments, keywords, 0)
    return Parts(cx, part(owner, "real"), f"-{part(owner, 'imag')}")


def magnitude(cx: Frame, a: Value) -> Value:
    return cx.scalar("float", f"wp_complex_magnitude({part(a, 'real')}, {part(a, 'imag')}, {cx.line})", check=True)


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
            return Parts(cx, as_float(cx, x), as_float(cx, y))
        alone = len(arguments) + len(keywords) == 1
        if x.head().kind == "complex" and alone:
            return x
        if {x.head().kind, y.head().kind} <= numbers | {"complex", "str", "big"}:
            return called_back(cx, complex, [x] if alone else [x, y], scalar_node("complex"))
        return None

    return cx.cases([real, imag], one, "complex")
