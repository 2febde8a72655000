"""Set displays of constants.  In: a display; out: its items, in the order in which they must be put into a table.

CPython makes a frozenset of such a display while it compiles, and sets and loops take over the order of its table. A
module that is loaded from a .pyc file has put the items into that table in another order than one that was compiled
from its source: the constant that the function holds decides.
"""

from __future__ import annotations

import ast
import copy
import types
from typing import Any

from weft.plain.frame import Frame
from weft.plain.unit import FunctionInfo

#: Displays with fewer items are built one by one, unless a loop runs through them at once.
FOLDED_FROM = 3


def folded(cx: Frame, e: ast.expr, least: int = 1) -> list[ast.expr] | None:
    """The items of a display of constants in order of insertion; None for what CPython does not fold."""
    if not isinstance(e, ast.Set) or len(e.elts) < least or not all(_is_constant(item) for item in e.elts):
        return None
    values = [_evaluated(item) for item in e.elts]
    first = list(frozenset(values))
    held = _held(cx.instance.info, frozenset(values))
    if held is None or list(held) == first:
        return e.elts
    if list(frozenset(first)) != list(held):
        raise cx.refuse(f"the order of the set `{ast.unparse(e)[:60]}`", "fill it with add()")
    return [e.elts[values.index(item)] for item in first]  # from a .pyc file: the first table's items one by one


def _is_constant(e: ast.expr) -> bool:
    if isinstance(e, ast.Tuple):
        return all(_is_constant(item) for item in e.elts)
    if isinstance(e, ast.BinOp):
        return _is_constant(e.left) and _is_constant(e.right) and not isinstance(e.op, ast.Pow)
    if isinstance(e, ast.UnaryOp):
        return _is_constant(e.operand)
    return isinstance(e, ast.Constant)


def _evaluated(e: ast.expr) -> Any:
    return eval(compile(ast.fix_missing_locations(ast.Expression(copy.deepcopy(e))), "<constant>", "eval"), {})


def _held(info: FunctionInfo, wanted: frozenset[Any]) -> frozenset[Any] | None:
    """The constant of the function's code that equals a set."""
    at: FunctionInfo | None = info
    while at is not None and at.function is None:
        at = at.outer
    codes = [] if at is None else [at.function.__code__]
    while codes:
        for constant in codes.pop().co_consts:
            if isinstance(constant, types.CodeType):
                codes.append(constant)
            elif isinstance(constant, frozenset) and constant == wanted:
                return constant
    return None
