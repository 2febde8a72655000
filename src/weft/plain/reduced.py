"""Integers that are cut down at once.  In: a mask or a remainder around sums and products of integers; out: the same
number, without those in between that may be beyond 64 bits.

    (a * b + c) & 0x7FFF    the low bits of sums and products depend on the low bits of their operands alone
    (a * b + c) % 32768     likewise, for a power of two
    a * b % m               in 128 bits, on lines where 64 were too few
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from weft.plain import operators, wide
from weft.plain.frame import Frame, Value

_SYMBOLS: Final = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^"}
_FOLDED: Final = (ast.LShift, ast.Pow, ast.Sub)
_WORD: Final = 1 << 64
_MOST: Final = 1 << 127


def binary(cx: Frame, e: ast.BinOp) -> Value | None:
    """The value of a masked or divided expression; None if it is none of these, and nothing has been evaluated."""
    tree, mask = _masked(cx, e)
    if tree is None or not _is_inner(cx, tree):
        return None
    if mask is None and (not wide.may_be_wide(cx) or _size(cx, tree) >= _MOST):
        return None
    known: dict[int, Value] = {}
    for leaf in _leaves(cx, tree):
        if _constant(cx, leaf) is None:
            known[id(leaf)] = _value(cx, leaf)
            if not _is_of_machine(known[id(leaf)]):
                break
    else:
        if mask is not None:
            return cx.scalar("int", f"(int64_t)({_low_bits(cx, tree, known)} & {mask}u)")
        right = _value(cx, e.right)
        if _is_of_machine(right):
            code = f"wp_mod_128({_in_128_bits(cx, tree, known)}, {right.code}, {cx.line})"
            return cx.scalar("int", code, check=True)
        return operators.binary(cx, "Mod", _rebuilt(cx, tree, known), right)
    # What was evaluated before the operand that is no integer were integers: operations on them have no effect.
    if tree is e.right:
        return operators.binary(cx, type(e.op).__name__, _value(cx, e.left), _rebuilt(cx, tree, known))
    left = _rebuilt(cx, tree, known)
    return operators.binary(cx, type(e.op).__name__, left, _value(cx, e.right))


def _masked(cx: Frame, e: ast.BinOp) -> tuple[ast.expr | None, int | None]:
    """What is masked or divided, and the mask, if one is known."""
    left, right = _constant(cx, e.left), _constant(cx, e.right)
    if isinstance(e.op, ast.BitAnd):
        if right is not None and 0 <= right < _WORD // 2:
            return e.left, right
        if left is not None and 0 <= left < _WORD // 2:
            return e.right, left
        return None, None
    if not isinstance(e.op, ast.Mod):
        return None, None
    if right is not None and 0 < right <= _WORD // 2 and right & (right - 1) == 0:
        return e.left, right - 1
    return e.left, None


def _constant(cx: Frame, e: ast.expr) -> int | None:
    """An integer that is known while compiling: written there, a global that nobody writes, or made of such ones."""
    from weft.plain.expressions import outside, written_variable

    held: object = None
    if isinstance(e, ast.Constant):
        held = e.value
    elif isinstance(e, ast.Name):
        is_variable = e.id not in cx.info.global_names and cx.instance.variable(e.id) is not None
        held = None if is_variable or written_variable(cx, e.id) is not None else outside(cx, e.id)
    elif isinstance(e, ast.BinOp) and type(e.op) in _FOLDED:
        left, right = _constant(cx, e.left), _constant(cx, e.right)
        if left is not None and right is not None and 0 <= right < _WORD:
            held = _folded(type(e.op), left, right)
    return held if type(held) is int else None


def _folded(op: type[ast.operator], left: int, right: int) -> int | None:
    if op is ast.Sub:
        return left - right
    if right > 64 or not 0 <= left <= _WORD:
        return None
    return left << right if op is ast.LShift else left**right


def _is_inner(cx: Frame, e: ast.expr) -> bool:
    """Whether the low bits of an operation depend on those of its operands alone; not if it has a mask of its own."""
    if not isinstance(e, ast.BinOp) or _masked(cx, e)[1] is not None:
        return False
    if isinstance(e.op, ast.LShift):
        count = _constant(cx, e.right)
        return count is not None and 0 <= count < 64
    return type(e.op) in _SYMBOLS


def _leaves(cx: Frame, e: ast.expr) -> Iterator[ast.expr]:
    """Operands in the order of evaluation."""
    if _is_inner(cx, e):
        assert isinstance(e, ast.BinOp)
        yield from _leaves(cx, e.left)
        yield from _leaves(cx, e.right)
    else:
        yield e


def _value(cx: Frame, e: ast.expr) -> Value:
    from weft.plain.expressions import value

    return value(cx, e)


def _is_of_machine(held: Value) -> bool:
    return len(held.node) == 1 and held.kinds() <= operators.WHOLE


def _low_bits(cx: Frame, e: ast.expr, known: dict[int, Value]) -> str:
    """The C of an operation, modulo 2**64."""
    if isinstance(e, ast.BinOp) and _is_inner(cx, e):
        if isinstance(e.op, ast.LShift):
            return f"({_low_bits(cx, e.left, known)} << {_constant(cx, e.right)})"
        return f"({_low_bits(cx, e.left, known)} {_SYMBOLS[type(e.op)]} {_low_bits(cx, e.right, known)})"
    whole = _constant(cx, e)
    return f"(uint64_t){known[id(e)].code}" if whole is None else f"(uint64_t){whole % _WORD}u"


def _size(cx: Frame, e: ast.expr) -> int:
    """The largest absolute value that the sums and products of an expression can have."""
    if isinstance(e, ast.BinOp) and _is_inner(cx, e):
        left, right = _size(cx, e.left), _size(cx, e.right)
        if isinstance(e.op, ast.Mult):
            return left * right
        return left + right if isinstance(e.op, (ast.Add, ast.Sub)) else _MOST
    whole = _constant(cx, e)
    return _WORD // 2 if whole is None else abs(whole) if abs(whole) < _WORD // 2 else _MOST


def _in_128_bits(cx: Frame, e: ast.expr, known: dict[int, Value]) -> str:
    if isinstance(e, ast.BinOp) and _is_inner(cx, e):
        return f"({_in_128_bits(cx, e.left, known)} {_SYMBOLS[type(e.op)]} {_in_128_bits(cx, e.right, known)})"
    whole = _constant(cx, e)
    return f"(__int128){known[id(e)].code}" if whole is None else f"(__int128)({whole})"


def _rebuilt(cx: Frame, e: ast.expr, known: dict[int, Value]) -> Value:
    """The value of an expression of which some operands have been evaluated already."""
    if id(e) in known:
        return known[id(e)]
    if not isinstance(e, ast.BinOp) or not _is_inner(cx, e):
        return _value(cx, e)
    with cx.at(e):
        left = _rebuilt(cx, e.left, known)
        right = _rebuilt(cx, e.right, known)
        return operators.binary(cx, type(e.op).__name__, left, right)
