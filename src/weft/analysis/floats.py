"""Intervals of floating-point expressions.  In: a program and a condition on floats; out: whether it certainly holds,
so that the test of it can go.

    s = s + d * d; check not (s < 0.0)      holds if s starts at 0.0: squares are not negative, and a NaN is not below 0

Rounding is monotonic, so the ends of an interval may be computed in floating point.  Functions whose last places differ
from one implementation to another have their ends moved a little outwards.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import field, replace

import numpy as np

from weft.analysis import ranges
from weft.ir.expr import Cast, Const, Expr, Op, Read, Reduce
from weft.ir.ops import COMPARISONS
from weft.ir.program import Alloc, If, Loop, Program, Role, Stmt, While
from weft.ir.types import DType
from weft.ir.walk import buffers_written, walk
from weft.records import dataclass

_SLACK = 1e-6  # more than any implementation is wrong by


@dataclass(frozen=True)
class Floats:
    """Every number from low to high, infinities included, and NaN if `nan`."""

    low: float = -math.inf
    high: float = math.inf
    nan: bool = True

    def union(self, other: Floats) -> Floats:
        return Floats(min(self.low, other.low), max(self.high, other.high), self.nan or other.nan)

    def within(self, other: Floats) -> bool:
        return other.low <= self.low and self.high <= other.high and (other.nan or not self.nan)

    def both(self, other: Floats) -> Floats:
        return Floats(max(self.low, other.low), min(self.high, other.high), self.nan and other.nan)

    @property
    def bounded(self) -> bool:
        return -math.inf < self.low and self.high < math.inf

    @property
    def negated(self) -> Floats:
        return Floats(-self.high, -self.low, self.nan)

    @property
    def magnitude(self) -> Floats:
        low = 0.0 if self.low <= 0.0 <= self.high else min(abs(self.low), abs(self.high))
        return Floats(low, max(abs(self.low), abs(self.high)), self.nan)


ANYTHING = Floats()
NOT_NEGATIVE = Floats(0.0, math.inf)
FINITE = Floats(-1.7976931348623157e308, 1.7976931348623157e308, False)
_UNIT = Floats(-1.0 - _SLACK, 1.0 + _SLACK)
_AT_MOST: dict[str, Floats] = {
    **dict.fromkeys(("sin", "cos", "tanh", "erf", "sign"), _UNIT),
    **dict.fromkeys(("arctan", "arctan2", "arcsin", "arccos"), Floats(-3.2, 3.2)),
    "exp": NOT_NEGATIVE,
    "exp2": NOT_NEGATIVE,
    **dict.fromkeys(("hypot", "norm2", "norm3"), NOT_NEGATIVE),
    "cosh": Floats(1.0 - _SLACK, math.inf),
    "erfc": Floats(-_SLACK, 2.0 + _SLACK),
}


def _outwards(low: float, high: float, nan: bool) -> Floats:
    """Ends that an implementation may miss by some last places; the sign of a low end is certain."""
    return Floats(low * (1.0 - math.copysign(_SLACK, low)), high * (1.0 + math.copysign(_SLACK, high)), nan)


def _sum(a: Floats, b: Floats) -> Floats:
    low, high = a.low + b.low, a.high + b.high
    nan = a.nan or b.nan or not (a.bounded or b.bounded)
    return Floats(-math.inf if math.isnan(low) else low, math.inf if math.isnan(high) else high, nan)


def _product(a: Floats, b: Floats) -> Floats:
    corners = [0.0 if 0.0 in (x, y) else x * y for x in (a.low, a.high) for y in (b.low, b.high)]
    return Floats(min(corners), max(corners), a.nan or b.nan or not (a.bounded and b.bounded))


def _quotient(a: Floats, b: Floats) -> Floats:
    if b.high < 0.0:
        return _quotient(a.negated, b.negated)
    if not 0.0 < b.low <= b.high:  # zero may be among them, or none is possible at all
        return ANYTHING
    corners = [0.0 if math.isinf(y) else x / y for x in (a.low, a.high) for y in (b.low, b.high)]
    return Floats(min(corners), max(corners), a.nan or b.nan or not (a.bounded or b.bounded))


def _power(a: Floats, b: Expr) -> Floats:
    exponent = b.value if isinstance(b, Const) else None
    if isinstance(exponent, (int, float)) and exponent > 0 and exponent % 2 == 0:
        a = a.magnitude
    if a.low < 0.0:
        return ANYTHING
    if not isinstance(exponent, (int, float)) or not exponent > 0 or a.low == 0.0:
        return replace(NOT_NEGATIVE, nan=True)
    try:
        return _outwards(a.low**exponent, math.inf, a.nan)
    except OverflowError:
        return NOT_NEGATIVE


def _root(a: Floats) -> Floats:
    return Floats(math.sqrt(max(a.low, 0.0)), math.sqrt(max(a.high, 0.0)), a.nan or a.low < 0.0)


_UNARY: dict[str, Callable[[Floats], Floats]] = {
    "neg": lambda a: a.negated,
    "abs": lambda a: a.magnitude,
    "sqrt": _root,
    "floor": lambda a: replace(a, low=math.floor(a.low) if math.isfinite(a.low) else a.low),
    "ceil": lambda a: replace(a, high=math.ceil(a.high) if math.isfinite(a.high) else a.high),
    "real": lambda a: a,
}
_BINARY: dict[str, Callable[[Floats, Floats], Floats]] = {
    "add": _sum,
    "sub": lambda a, b: _sum(a, b.negated),
    "mul": _product,
    "truediv": _quotient,
    "minimum": lambda a, b: Floats(min(a.low, b.low), min(a.high, b.high), a.nan or b.nan),
    "maximum": lambda a, b: Floats(max(a.low, b.low), max(a.high, b.high), a.nan or b.nan),
}


@dataclass(frozen=True)
class Known:
    """What is known of variables and of all elements of arrays, of integers, and (`assumed`) of expressions under a
    condition."""

    buffers: Mapping[str, Floats] = field(default_factory=dict)
    integers: Mapping[str, ranges.Interval] = field(default_factory=dict)
    assumed: Mapping[Expr, Floats] = field(default_factory=dict)

    def of(self, expr: Expr) -> Floats:
        """An interval of a real expression."""
        found = self._of(expr)
        if expr.type.dtype is DType.F32:
            with np.errstate(over="ignore"):
                found = replace(found, low=float(np.float32(found.low)), high=float(np.float32(found.high)))
        return found.both(self.assumed[expr]) if expr in self.assumed else found

    def _of(self, expr: Expr) -> Floats:
        if expr.type.dtype.kind in "biu":
            whole = ranges.interval(expr, self.integers)
            return Floats(float(whole.low), float(whole.high), False)
        if expr.type.dtype.is_complex:
            return ANYTHING
        if isinstance(expr, Const):
            value = float(expr.value.real)
            return ANYTHING if math.isnan(value) else Floats(value, value, False)
        if isinstance(expr, Read):
            return self.buffers.get(expr.buffer, ANYTHING)
        if isinstance(expr, Cast):
            return ANYTHING if expr.value.type.dtype.is_complex else self.of(expr.value)
        if isinstance(expr, Reduce):
            terms = self.of(expr.value) if expr.op == "add" else ANYTHING
            return NOT_NEGATIVE if terms.low >= 0.0 else ANYTHING
        return self._operation(expr) if isinstance(expr, Op) else ANYTHING

    def _operation(self, expr: Op) -> Floats:
        if expr.op == "select":
            return self.of(expr.args[1]).union(self.of(expr.args[2]))
        if expr.op == "pow":
            return _power(self.of(expr.args[0]), expr.args[1])
        if expr.op == "mul" and expr.args[0] == expr.args[1]:
            side = self.of(expr.args[0]).magnitude
            return Floats(side.low * side.low, side.high * side.high, side.nan)
        if expr.op == "truediv" and self._counts(expr.args[1]) and self.of(expr.args[0]).low >= 0.0:
            return NOT_NEGATIVE
        if expr.op == "abs" and expr.args[0].type.dtype.is_complex:
            return replace(NOT_NEGATIVE, nan=True)  # of finite parts as well: their squares add up beyond the floats
        if expr.op in _UNARY:
            return _UNARY[expr.op](self.of(expr.args[0]))
        if expr.op in _BINARY:
            return _BINARY[expr.op](self.of(expr.args[0]), self.of(expr.args[1]))
        return _AT_MOST.get(expr.op, ANYTHING)

    def _counts(self, expr: Expr) -> bool:
        """Whether a number was an integer of at least zero: it is not the zero below zero."""
        of = expr.value.type.dtype if isinstance(expr, Cast) else None
        return of is not None and of.kind in "biu" and self.of(expr).low >= 0.0

    # --- conditions ---

    def holds(self, condition: Expr) -> bool:
        """Whether a condition is certainly true; False means: not known."""
        return self._is(condition, True)

    def _is(self, condition: Expr, value: bool) -> bool:
        if isinstance(condition, Cast) and condition.value.type.dtype is DType.BOOL:
            return self._is(condition.value, value)
        if isinstance(condition, Const):
            return bool(condition.value) is value
        if not isinstance(condition, Op):
            return False
        if condition.op == "not":
            return self._is(condition.args[0], not value)
        if condition.op in ("and", "or"):
            return self._joined(condition, value)
        if condition.op in COMPARISONS and condition.args[0].type.dtype.is_float:
            left, right = (self.of(argument) for argument in condition.args)
            return _compared(condition.op, left, right, value)
        if condition.op in ("isfinite", "isinf", "isnan") and condition.args[0].type.dtype.is_float:
            found = self.of(condition.args[0])
            if condition.op == "isfinite":
                return value and found.bounded and not found.nan
            return not value and (found.bounded if condition.op == "isinf" else not found.nan)
        return False

    def _joined(self, condition: Op, value: bool) -> bool:
        """a or b is true if either is, or if one is wherever the other is not; a and b likewise."""
        first, second = condition.args
        either = value is (condition.op == "or")
        if not either:
            return self._is(first, value) and self._is(second, value)
        for this, other in ((first, second), (second, first)):
            if self._is(this, value) or self.where(other, not value)._is(this, value):
                return True
        return False

    def where(self, condition: Expr, value: bool) -> Known:
        """What is known where a condition has a value: that some expressions are finite, or no NaN."""
        if isinstance(condition, Cast) and condition.value.type.dtype is DType.BOOL:
            return self.where(condition.value, value)
        if not isinstance(condition, Op):
            return self
        if condition.op == "not":
            return self.where(condition.args[0], not value)
        if condition.op in ("and", "or") and value is (condition.op == "and"):
            return self.where(condition.args[0], value).where(condition.args[1], value)
        if (condition.op == "isfinite" and value) or (condition.op == "isnan" and not value):
            number = FINITE if value else replace(ANYTHING, nan=False)
            return replace(self, assumed={**self.assumed, condition.args[0]: number})
        return self


def _compared(op: str, left: Floats, right: Floats, value: bool) -> bool:
    """Whether a comparison certainly has a value; one with a NaN is false, `!=` true."""
    if op in ("gt", "ge"):
        return _compared({"gt": "lt", "ge": "le"}[op], right, left, value)
    nan = left.nan or right.nan
    if op in ("eq", "ne"):
        apart = left.high < right.low or right.high < left.low
        return apart if value is (op == "ne") else False
    if value:
        return not nan and (left.high < right.low if op == "lt" else left.high <= right.low)
    return left.low >= right.high if op == "lt" else left.low > right.high


def without_nan(value: Expr) -> Expr | None:
    """e, if the value is select(isnan(e), x, e) for a literal x: it is never NaN."""
    if not isinstance(value, Op) or value.op != "select" or not isinstance(value.args[1], Const):
        return None
    test, other = value.args[0], value.args[2]
    return other if isinstance(test, Op) and test.op == "isnan" and test.args == (other,) else None


def known(program: Program) -> Known:
    """What holds everywhere of a program's own variables and arrays, from everything that is ever assigned to them."""
    writers: dict[str, list[Stmt]] = {
        b.name: []
        for b in program.buffers
        if b.role is not Role.PARAM and b.type.dtype.is_float and b.name not in program.params
    }
    for node in walk(program.body):
        if isinstance(node, Stmt):
            if node.buffer in writers:
                writers[node.buffer].append(node)
        elif not isinstance(node, (Loop, If, While, Alloc)):
            for name in buffers_written(node):
                writers.pop(name, None)
    facts = Known(integers=ranges.environment(program))
    for _ in range(2):
        facts = replace(facts, buffers={name: _assigned(writers[name], facts) for name in writers})
    # What no assignment breaks, if it holds before, holds always: an accumulator of squares is not negative.
    hopeful = set(writers)
    while True:
        found = {n: f.both(NOT_NEGATIVE) if n in hopeful else f for n, f in facts.buffers.items()}
        trial = replace(facts, buffers=found)
        broken = {name for name in hopeful if not _assigned(writers[name], trial).within(NOT_NEGATIVE)}
        if not broken:
            return trial
        hopeful -= broken


def _assigned(writers: list[Stmt], facts: Known) -> Floats:
    found: Floats | None = None
    for stmt in writers:
        value = facts.of(stmt.value)
        if stmt.reduce is not None:
            value = NOT_NEGATIVE if stmt.reduce == "add" and value.low >= 0.0 else ANYTHING
        found = value if found is None else found.union(value)
    return ANYTHING if found is None else found


__all__ = ["ANYTHING", "FINITE", "Floats", "Known", "known", "without_nan"]
