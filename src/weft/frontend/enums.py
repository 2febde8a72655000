"""Members of enumerations.  In: `Color.RED`, and what Python does with it; out: values.

A member is known when the function is compiled. One that only the run time knows (a variable of a loop that gets
several, an item of a container, an argument of `Color(...)`) is plain Python's alone.
"""

from __future__ import annotations

import ast
import enum
from typing import Any, TypeGuard

from weft.frontend import arith, reads
from weft.frontend.building import Building
from weft.frontend.reasons import left_to_plain
from weft.frontend.values import Object, Scalar, Value
from weft.ir.expr import Const
from weft.ir.types import INT, PYBOOL, ScalarType, type_of_value


def is_member(value: Value | None) -> TypeGuard[Object]:
    return isinstance(value, Object) and isinstance(value.value, enum.Enum)


def _plain(kind: Any) -> bool:
    """Whether members are compared, and are true, as the standard library says."""
    own = [base for base in kind.__mro__ if base.__module__ not in ("enum", "builtins")]
    special = ("__eq__", "__bool__", "__hash__", "__lt__")
    return not any(reads.own(base, name) is not reads.ABSENT for base in own for name in special)


def member_comparison(builder: Building, name: str, left: Value, right: Value, node: ast.AST) -> Value:
    """left == right, where one of them is a member."""
    kinds = [type(value.value) for value in (left, right) if is_member(value)]
    if not all(map(_plain, kinds)):
        raise builder.unsupported(node, "a comparison of members that their class defines")
    if isinstance(left, Object) and isinstance(right, Object) and name in ("eq", "ne"):
        return Scalar(Const(bool(left.value == right.value) == (name == "eq"), PYBOOL))
    numbers = [as_number(value) for value in (left, right)]
    if all(isinstance(value, Scalar) for value in numbers):
        first, second = (value.expr for value in numbers if isinstance(value, Scalar))
        return Scalar(arith.cast(arith.compare(name, first, second, builder.emitter.span), PYBOOL))
    if name not in ("eq", "ne") or any(issubclass(kind, (int, str, float)) for kind in kinds):
        raise left_to_plain(builder.unsupported(node, "this comparison of members", left=left, right=right))
    return Scalar(Const(name == "ne", PYBOOL))


def as_number(value: Value) -> Value:
    """A member that is a number (of an IntEnum) as that number; anything else as it is."""
    if not is_member(value) or not issubclass(type(value.value), int) or not _plain(type(value.value)):
        return value
    of = type_of_value(value.value.value)
    return Scalar(Const(value.value.value, of)) if isinstance(of, ScalarType) else value


def member_of(kind: Any, value: Value) -> Object | None:
    """kind(value) of a member, or of a whole number that is known; None if only the run time knows, or raises."""
    if is_member(value):
        return value if type(value.value) is kind else None
    known = value.expr if isinstance(value, Scalar) else None
    if not isinstance(known, Const) or known.type != INT:
        return None
    return next((Object(member) for member in kind if type(member.value) is int and member.value == known.value), None)
