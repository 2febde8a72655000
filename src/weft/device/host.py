"""Expressions that the host evaluates between launches: loop bounds, grids, extents, choices by size.

In: integer, boolean and plain float expressions over symbols, loop variables and scalars that the host knows; out: a
Python function of their values.  Integers are Python's own, so that nothing overflows.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Collection, Mapping
from typing import Any

from weft import limits
from weft.ir.expr import Cast, Const, Expr, Limit, Op, Read, Var
from weft.ir.types import DType

Values = Mapping[str, Any]

_INFIX = {"add": "+", "sub": "-", "mul": "*", "eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
_INFIX |= {"and": "and", "or": "or"}
_CALLS = {"floordiv": "_floordiv", "mod": "_mod", "minimum": "min", "maximum": "max"}
_CALLS |= {"truediv": "_divide", "ratio": "_divide"}


def _floordiv(a: int, b: int) -> int:
    return a // b if b else 0


def _mod(a: int, b: int) -> int:
    return a % b if b else 0


def _divide(a: float, b: float) -> float:
    if b:
        return a / b
    return math.nan if a == 0 or a != a else math.copysign(math.inf, a) * math.copysign(1.0, b)


_NAMES: dict[str, Any] = {"_floordiv": _floordiv, "_mod": _mod, "_divide": _divide, "min": min, "max": max}
_NAMES |= {"int": int, "float": float, "bool": bool, "__builtins__": {}}


def evaluable(expr: Expr, known: Collection[str]) -> bool:
    """Whether the host can compute an expression; `known`: the rank-0 buffers whose values it has."""
    return text(expr, known) is not None


def function(expr: Expr, known: Collection[str]) -> Callable[[Values], Any]:
    """The Python function of an expression that the host can compute."""
    return _function(expr, frozenset(known))


@functools.lru_cache(maxsize=4096)
def _function(expr: Expr, known: frozenset[str]) -> Callable[[Values], Any]:
    found = text(expr, known)
    assert found is not None
    return _compiled(found)


@functools.lru_cache(maxsize=4096)
def _compiled(text: str) -> Callable[[Values], Any]:
    made: Callable[[Values], Any] = eval(f"lambda v: {text}", _NAMES)  # text of our own making: numbers and names
    return made


def text(expr: Expr, known: Collection[str]) -> str | None:
    if isinstance(expr, Const):
        return _constant(expr)
    if isinstance(expr, Var):
        return f"v[{expr.name!r}]"
    if isinstance(expr, Limit):
        return repr(float(limits.LIMIT[expr.name].default))
    if isinstance(expr, Read):
        return f"v[{expr.buffer!r}]" if not expr.index and expr.buffer in known and _plain(expr) else None
    if not _plain(expr):
        return None
    if isinstance(expr, Cast):
        inner = text(expr.value, known)
        if inner is None or not (_plain(expr.value) and (expr.value.type.dtype.is_integer or _widens(expr))):
            return None
        name = "bool" if expr.of.dtype is DType.BOOL else "int" if expr.of.dtype.is_integer else "float"
        return f"{name}({inner})"
    return _operation(expr, known) if isinstance(expr, Op) else None


def _widens(expr: Cast) -> bool:
    """A conversion that needs no rounding of its own."""
    return not expr.of.dtype.is_integer or expr.value.type.dtype is DType.BOOL


def _plain(expr: Expr) -> bool:
    """Types that Python has itself: wrapping integers are the device's business."""
    dtype = expr.type.dtype
    return dtype is DType.BOOL or dtype is DType.F64 or (dtype is DType.I64 and expr.type.weak)


def _constant(expr: Const) -> str | None:
    if not isinstance(expr.value, (bool, int, float)):
        return None
    if isinstance(expr.value, float) and not math.isfinite(expr.value):
        return f"float({str(expr.value)!r})"
    return repr(expr.value)


def _operation(expr: Op, known: Collection[str]) -> str | None:
    parts = [text(arg, known) for arg in expr.args]
    if None in parts:
        return None
    # Floats order differently where a NaN takes part, and only integers are certain to be none.
    floats = any(arg.type.dtype.is_float for arg in expr.args)
    if expr.op in _INFIX:
        return f"({f' {_INFIX[expr.op]} '.join(map(str, parts))})"
    if expr.op in ("floordiv", "mod") and floats:
        return None
    if expr.op in _CALLS:
        return f"{_CALLS[expr.op]}({', '.join(map(str, parts))})"
    if expr.op == "neg":
        return f"(-{parts[0]})"
    if expr.op == "not":
        return f"(not {parts[0]})"
    if expr.op == "select":
        return f"({parts[1]} if {parts[0]} else {parts[2]})"
    return None
