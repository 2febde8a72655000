"""Operators on two Python literals, as Python computes them.  In: an operator and two constants; out: the constant, or
None where it is computed when the program runs, since it may raise.
"""

from __future__ import annotations

import ast
import operator
from typing import Any

from weft.errors import Span, Unsupported
from weft.frontend import arith
from weft.ir.expr import Const
from weft.ir.types import INT, DType, ScalarType, type_of_value

#: Operators by their names in the IR.
BINARY = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.Div: "truediv",
    ast.FloorDiv: "floordiv",
    ast.Mod: "mod",
    ast.Pow: "pow",
    ast.BitAnd: "bitand",
    ast.BitOr: "bitor",
    ast.BitXor: "bitxor",
    ast.LShift: "shl",
    ast.RShift: "shr",
}
_OPERATORS = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "truediv": operator.truediv,
    "floordiv": operator.floordiv,
    "mod": operator.mod,
    "pow": operator.pow,
    "bitand": operator.and_,
    "bitor": operator.or_,
    "bitxor": operator.xor,
    "shl": operator.lshift,
    "shr": operator.rshift,
}
#: Operators that may leave 64 bits.
_SIGNS = {"add": "+", "sub": "-", "mul": "*", "pow": "**", "shl": "<<"}


def fold(op: str, a: Const, b: Const, span: Span) -> Const | None:
    """a OP b; an integer beyond 64 bits is refused before anything has been written."""
    if _leaves_range(op, a.value, b.value):
        raise Unsupported(span, f"the constant {a.value!r} {_SIGNS[op]} {b.value!r} does not fit into 64 bits")
    if op in ("pow", "shl") and isinstance(b.value, int) and abs(b.value) > 1024:
        return None
    try:
        value = _OPERATORS[op](a.value, b.value)
    except (ArithmeticError, ValueError, TypeError):
        return None
    of: ScalarType | None = type_of_value(value)
    if of is None or (of == INT and not arith.fits(value, DType.I64)):
        return None
    return Const(value, of)


def _leaves_range(op: str, a: Any, b: Any) -> bool:
    """Whether an operator on two Python integers gives one that 64 bits do not hold."""
    if op not in _SIGNS or not (isinstance(a, int) and isinstance(b, int)) or (op in ("pow", "shl") and b < 0):
        return False
    if op in ("pow", "shl") and b > 64:
        return abs(a) > (op == "pow")
    return not arith.fits(int(_OPERATORS[op](a, b)), DType.I64)
