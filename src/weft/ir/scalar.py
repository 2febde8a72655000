"""Arithmetic on single values.  In: an operation of the table, operand values and the result type; out: the value.

One owner for the rules that the table in `ops` cannot say alone: Python integers are exact and must fit 64 bits, values
of a weak type are Python scalars and those of a strong one NumPy scalars, conversions are NumPy's `astype`, a reduction
starts from its identity.  The interpreter and constant folding both compute here.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from weft.ir.ops import OPERATIONS, REDUCTIONS
from weft.ir.types import I64, INT, ScalarType

INT_MIN, INT_MAX = -(2**63), 2**63 - 1


class IntegerOverflow(ArithmeticError):
    """A Python integer left 64 bits: weft never shows such a value, it hands the call back to Python."""


def _power(base: int, exponent: int) -> int:
    if exponent < 0:
        return 0  # Python would give a float: a Check stands before; values are total
    if exponent > 64 and abs(base) > 1:
        raise IntegerOverflow(f"{base} ** {exponent}")  # without computing a number of that length
    return int(base**exponent)


def _shift_left(value: int, count: int) -> int:
    if count < 0 or value == 0:
        return 0
    if count > 64:
        raise IntegerOverflow(f"{value} << {count}")
    return value << count


def _truncated_mod(a: int, b: int) -> int:
    """The remainder with the dividend's sign, as C's; 0 for a zero divisor."""
    return 0 if b == 0 else abs(a) % abs(b) * (-1 if a < 0 else 1)


def _sign(value: int) -> int:
    return (value > 0) - (value < 0)


_EXACT: dict[str, Callable[..., int]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "floordiv": lambda a, b: a // b if b else 0,
    "mod": lambda a, b: a % b if b else 0,
    "fmod": _truncated_mod,
    "pow": _power,
    "neg": operator.neg,
    "abs": abs,
    "bitand": operator.and_,
    "bitor": operator.or_,
    "bitxor": operator.xor,
    "invert": operator.invert,
    "shl": _shift_left,
    "shr": lambda value, count: value >> count if count >= 0 else 0,
    "minimum": min,
    "maximum": max,
    "fmin": min,
    "fmax": max,
    "sign": _sign,
    "gcd": math.gcd,
    "lcm": math.lcm,
    "floor": int,
    "ceil": int,
    "trunc": int,
    "rint": int,
    "conj": int,
    "real": int,
    "imag": lambda value: 0,
    "bitcount": lambda value: abs(value).bit_count(),
}


def in_range(value: int) -> int:
    """`value`, if it is a Python integer of 64 bits."""
    if not INT_MIN <= value <= INT_MAX:
        raise IntegerOverflow(f"{value} needs more than 64 bits")
    return value


_STRONG: dict[type, Callable[[Any], np.generic]] = {
    bool: np.bool_,
    int: np.int64,
    float: np.float64,
    complex: np.complex128,
}


def strong(value: Any) -> np.generic:
    """A Python scalar as the NumPy scalar of its dtype; a NumPy scalar unchanged."""
    if type(value) is int and value > INT_MAX:
        largest: np.generic = np.uint64(value)  # the identity of the least of unsigned numbers
        return largest
    return value if isinstance(value, np.generic) else _STRONG[type(value)](value)


def apply(op: str, values: Sequence[Any], of: ScalarType) -> Any:
    """The value of one operation (not `select`, which is lazy and so the evaluator's own affair)."""
    if of == INT:
        return in_range(_EXACT[op](*(int(value) for value in values)))
    operands = [strong(value) for value in values]
    if op == "pow" and operands[1].dtype.kind == "i" and operands[1] < 0:  # type: ignore[operator]
        return of.dtype.numpy.type(0)  # NumPy refuses: a Check stands before; values are total
    result = OPERATIONS[op].evaluate(*operands)
    dtypes = ", ".join(str(operand.dtype) for operand in operands)
    assert result.dtype == of.dtype.numpy, f"{op} of {dtypes} gives {result.dtype}, not {of}"
    return result.item() if of.weak else result


def convert(value: Any, of: ScalarType) -> Any:
    """`value` as type `of`, by NumPy's `astype`; a Python integer that does not fit 64 bits is IntegerOverflow."""
    source = strong(value) if type(value) is not int else value
    if of == INT:
        return in_range(_whole(source))
    source = strong(source)
    if source.dtype.kind == "c" and of.dtype.kind not in "cb":
        source = source.real  # as astype does, without its warning
    with np.errstate(all="ignore"):
        result = source.astype(of.dtype.numpy)
    return result.item() if of.weak else result


def _whole(value: Any) -> int:
    """The integer part of a scalar, exactly."""
    if isinstance(value, np.complexfloating):
        value = value.real
    if isinstance(value, np.floating) and not np.isfinite(value):
        raise IntegerOverflow(f"{value} has no integer value")
    return int(value)


def fold(op: str, values: Iterable[Any], of: ScalarType) -> Any:
    """The reduction of values of type `of`, in order, from the identity (for argmin and argmax: the first position)."""
    reduction = REDUCTIONS[op]
    if reduction.operation is None:
        return I64.dtype.numpy.type(_first_extreme(op == "argmax", values))
    result = convert(reduction.identity(of), of)
    for value in values:
        result = apply(reduction.operation, [result, value], of)
    return result


def _first_extreme(largest: bool, values: Iterable[Any]) -> int:
    """The position of the first extreme value; a NaN is more extreme than any number, as in NumPy."""
    best, where = None, 0
    for position, value in enumerate(values):
        beats = best is None or (value > best if largest else value < best)
        if beats or (value != value and best == best):
            best, where = value, position
    return where


__all__ = ["INT_MAX", "INT_MIN", "IntegerOverflow", "apply", "convert", "fold", "in_range", "strong"]
