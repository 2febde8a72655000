"""What plain Python refuses, too.  In: an operation and the values it was refused for; out: the exception that Python
raises for values of such types, so that the remedy is to correct it and not to compute it elsewhere.

    "abc" < 3, -[1, 2], [1].foo   -->   TypeError, TypeError, AttributeError
"""

from __future__ import annotations

import ast
import operator
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from weft.frontend.values import Array, Dict, Object, Scalar, Text, Tuple, Value

_BINARY: dict[type[ast.AST], Callable[[Any, Any], object]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.MatMult: operator.matmul,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.In: lambda item, holder: item in holder,
    ast.NotIn: lambda item, holder: item not in holder,
}
_UNARY: dict[type[ast.AST], Callable[[Any], object]] = {
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Invert: operator.invert,
}
_EXTENT = 2


def error_of(node: ast.AST | None, values: Mapping[str, Value]) -> str:
    """The name of the exception that Python raises for such an operation; "" if it may have a result."""
    try:
        given = {role: _stand_in(value) for role, value in values.items()}
    except LookupError:
        return ""
    if isinstance(node, ast.Subscript) and "base" in given:
        needed = "__getitem__" if isinstance(node.ctx, ast.Load) else "__setitem__"
        return "" if hasattr(given["base"], needed) else "TypeError"
    if "value" in given and isinstance(_target(node), (ast.Tuple, ast.List)):
        return "" if np.iterable(given["value"]) else "TypeError"
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and "receiver" in given:
        return "" if hasattr(given["receiver"], node.func.attr) else "AttributeError"
    operation = _operation(node, given)
    if operation is None:
        return ""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            operation()
        except TypeError:
            return "TypeError"
        except Exception:  # of the values that were chosen, not of their types
            return ""
    return ""


def _target(node: ast.AST | None) -> ast.expr | None:
    if isinstance(node, ast.Assign):
        return node.targets[0]
    return node.target if isinstance(node, (ast.For, ast.comprehension)) else None


def _operation(node: ast.AST | None, given: Mapping[str, Any]) -> Callable[[], object] | None:
    """The operation on stand-ins, if it is one of Python's operators."""
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        node = ast.BinOp(node.left, node.ops[0], node.comparators[0])  # type: ignore[arg-type]
    if isinstance(node, (ast.BinOp, ast.AugAssign)) and {"left", "right"} <= given.keys():
        binary = _BINARY.get(type(node.op))
        return None if binary is None else lambda: binary(given["left"], given["right"])
    if isinstance(node, ast.UnaryOp) and "value" in given:
        unary = _UNARY.get(type(node.op))
        return None if unary is None else lambda: unary(given["value"])
    return None


def _stand_in(value: Value) -> Any:
    """A value of Python's of the same type; LookupError if only the run time has one."""
    if isinstance(value, Scalar):
        return value.type.python(1) if value.type.weak else value.type.dtype.numpy.type(1)
    if isinstance(value, Array):
        array = np.ones((_EXTENT,) * value.rank, value.type.dtype.numpy)
        return array.tolist() if value.is_list else array
    if isinstance(value, Text):
        return {"str": "a", "bytes": b"a", "bytearray": bytearray(b"a")}[value.kind]
    if isinstance(value, Tuple) and value.named is None and not value.is_deque:
        items = [_stand_in(item) for item in value.items]
        return items if value.is_list else tuple(items)
    if isinstance(value, Dict):
        return {1: 1}
    if isinstance(value, Object) and (value.value is None or isinstance(value.value, (str, bytes))):
        return value.value
    raise LookupError(value)
