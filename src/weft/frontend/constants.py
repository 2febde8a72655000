"""Values that must be known to compile (an axis, a step, a dtype, a flag): read from a literal, or asked for.

Asking is `NeedConstant`: the build starts again with that argument compiled in, behind a guard on its value.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from weft.errors import Unsupported
from weft.frontend.emit import Emitter, NeedConstant
from weft.frontend.values import Object, Scalar, Tuple, Value, describe
from weft.ir import walk
from weft.ir.expr import Cast, Const
from weft.ir.index import affine

_WHOLE: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
    ast.Pow: operator.pow,
}
_LARGEST = 256  # bits of what is computed while compiling


def literal_integer(node: ast.expr) -> int | None:
    """The value of an expression of integers written out (0xCBF29CE484222325 & 0xFFFFFFFF), of any size as CPython
    computes it; None of any other."""
    if isinstance(node, ast.Constant):
        return node.value if type(node.value) is int else None
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        value = literal_integer(node.operand)
        return None if value is None else -value
    if not isinstance(node, ast.BinOp) or type(node.op) not in _WHOLE:
        return None
    left = literal_integer(node.left)
    right = None if left is None else literal_integer(node.right)
    if left is None or right is None or max(left.bit_length(), right.bit_length()) > _LARGEST:
        return None
    if isinstance(node.op, (ast.LShift, ast.RShift, ast.Pow)) and not 0 <= right <= _LARGEST:
        return None
    if isinstance(node.op, (ast.FloorDiv, ast.Mod)) and not right:
        return None
    return _WHOLE[type(node.op)](left, right)


def constant(value: Value, emitter: Emitter) -> Any:
    """The Python value of `value`."""
    if isinstance(value, Object):
        return value.value
    if isinstance(value, Tuple):
        items = [constant(item, emitter) for item in value.items]
        return items if value.is_list else tuple(items)
    if isinstance(value, Scalar):
        expr = value.expr
        if isinstance(expr, Cast):
            expr = expr.value
        if isinstance(expr, Const):
            return expr.value
        form = affine(expr)
        if form is not None:
            for name, _ in form.terms:
                if name in emitter.symbols:
                    raise NeedConstant(name, emitter.span)
        for read in walk.reads(expr):
            if read.buffer in emitter.params:
                raise NeedConstant(read.buffer, emitter.span)
    raise Unsupported(
        emitter.span, f"a value that must be known to compile, but is {describe(value)}", "write it as a literal"
    )


def constant_int(value: Value, emitter: Emitter) -> int:
    found = constant(value, emitter)
    if isinstance(found, bool) or not isinstance(found, int):
        raise Unsupported(emitter.span, f"an integer is needed here, not {found!r}", "use an integer")
    return found


def constant_axis(value: Value | None, emitter: Emitter) -> int | tuple[int, ...] | None:
    found = None if value is None else constant(value, emitter)
    if found is None or (isinstance(found, int) and not isinstance(found, bool)):
        return found
    if isinstance(found, tuple) and all(isinstance(item, int) for item in found):
        return found
    raise Unsupported(emitter.span, f"axis={found!r}", "use an integer")


def constant_bool(value: Value | None, emitter: Emitter, default: bool = False) -> bool:
    """A flag: True, False, or a number in their place."""
    found = default if value is None else constant(value, emitter)
    if not isinstance(found, (int, np.bool_)):
        raise Unsupported(emitter.span, f"True or False is needed here, not {found!r}", "write True or False")
    return bool(found)
