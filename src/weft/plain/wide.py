"""Integers beyond 64 bits.  In: operands of which one may be such an integer; out: the result, of kind `int` where 64
bits hold it and of kind `big` where they do not.

A function is compiled for integers of the machine first. Where one overflows, the call deoptimises, and the next
version knows the line (`Unit.wide`): what is computed there may be `big`, and so whatever it flows into.
"""

from __future__ import annotations

from typing import Final

from weft.plain.frame import Frame, Value
from weft.plain.types import BIG, Node, scalar_node

WHOLE: Final = frozenset(("int", "bool", "big"))
_INLINE: Final = {"Add": "wp_add_wide", "Sub": "wp_sub_wide", "Mult": "wp_mul_wide"}
_SYMBOLS: Final = {
    "FloorDiv": "_",
    "Mod": "%",
    "Pow": "^",
    "Div": "/",
    "LShift": "<",
    "RShift": ">",
    "BitAnd": "&",
    "BitOr": "|",
    "BitXor": "x",
}


def any_whole() -> Node:
    """What holds integers of any size."""
    node = scalar_node("int")
    node.heads[BIG.key] = BIG
    return node


def binary(cx: Frame, op: str, left: Value, right: Value, exponent: int | None) -> Value | None:
    """left op right, of which all kinds are whole numbers."""
    if op == "MatMult":
        return None
    divides = op == "Div" or (op == "Pow" and exponent is not None and exponent < 0)
    operands = f"{cx.tagged(left)}, {cx.tagged(right)}, {cx.line}"
    code = f"{_INLINE[op]}({operands})" if op in _INLINE else f"wp_wide({ord(_SYMBOLS[op])}, {operands})"
    found = cx.temporary("v", code)
    cx.check()
    if divides:
        with cx.block(f"if ({found}.tag != WP_FLOAT)"):
            cx.deoptimise("a power with another result")
        return cx.scalar("float", f"{found}.u.d")
    if op == "Pow" and exponent is None:
        with cx.block(f"if ({found}.tag == WP_FLOAT)"):
            cx.deoptimise("a power with a negative exponent")
    return Value(any_whole(), found)


def with_float(cx: Frame, op: str, a: Value, b: Value) -> Value:
    """One is a big integer, the other one a float."""
    from weft.plain.operators import SYMBOLS

    spec = cx.writer.spec(scalar_node("float")) if cx.writer else "0"
    operands = f"{cx.tagged(a)}, {cx.tagged(b)}"
    found = cx.temporary("v", f"wp_binary_python({ord(SYMBOLS[op])}, {operands}, {spec}, {cx.line})")
    cx.check()
    return cx.scalar("float", f"{found}.u.d")


def compared(cx: Frame, op: str, a: Value, b: Value) -> Value:
    """A comparison that Python makes: of big integers, or of objects of Python."""
    number = {"Lt": 0, "LtE": 1, "Eq": 2, "NotEq": 3, "Gt": 4, "GtE": 5}[op]
    found = cx.temporary("i", f"wp_compare_python({number}, {cx.tagged(a)}, {cx.tagged(b)}, {cx.line})")
    cx.check()
    return cx.scalar("bool", f"{found} == 1")


def may_be_wide(cx: Frame) -> bool:
    """Whether an integer has overflowed on the current line before."""
    return cx.line in cx.unit.wide
