"""Doubt: a test of values whose last places are not certain must hold by a margin.

    half = sin(x) * sin(x) + y;  ok = ok and not (1.0 - half < 0.0)
        -->  ok = ok and not (1.0 - half < 0.0) and not (|1.0 - half| < 2**-44 * error)

A sine in a vector register and CPython's differ in the last places, so a comparison near its boundary could come out
otherwise than in CPython.  In: the condition of a flag, and the definitions of the scalars it reads; out: a condition
that fails where a comparison is in doubt: then the loop is repeated exactly, and decides.  The error of a function is
taken to be its value, that of products too, that of a sum the errors of its terms; the unit leaves room for many steps.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from weft.ir.expr import Cast, Const, Expr, Op, Read, Reduce
from weft.ir.ops import COMPARISONS
from weft.ir.types import BOOL, DType, ScalarType
from weft.ir.walk import subexpressions
from weft.passes.simplifying.algebra import EXACT
from weft.records import dataclass

_UNIT = {DType.F64: 2.0**-44, DType.F32: 2.0**-16}
#: Functions that change by no more than their argument does.
_FLAT = frozenset({"sin", "cos", "tanh", "arctan", "arcsinh", "erf"})


@dataclass(frozen=True)
class Error:
    """How much a value may be off, in units; `relative`: the value's own size."""

    size: Expr
    relative: bool = False


@dataclass(frozen=True)
class Doubt:
    """`definitions` tells what the scalars of a loop body were set to, each once."""

    definitions: Mapping[str, Expr]

    def certain(self, condition: Expr) -> Expr:
        """The condition, made to fail where the comparisons in it are in doubt."""
        doubts: list[Expr] = []
        self._comparisons(condition, doubts)
        for doubt in dict.fromkeys(doubts):
            condition = Op("and", (condition, Op("not", (doubt,), BOOL)), BOOL)
        return condition

    def _comparisons(self, condition: Expr, doubts: list[Expr]) -> None:
        if isinstance(condition, Cast):
            self._comparisons(condition.value, doubts)
        elif isinstance(condition, Op) and condition.op in ("and", "or", "not"):
            for argument in condition.args:
                self._comparisons(argument, doubts)
        elif isinstance(condition, Op) and condition.op in COMPARISONS and condition.args[0].type.dtype in _UNIT:
            left, right = condition.args
            gap = Op("sub", (left, right), left.type)
            error = self._sum(gap, self.error(left), self.error(right))
            # What is right but for its last places is certainly on its side of zero.
            if error is not None and not (error.relative and isinstance(right, Const) and right.value == 0):
                margin = Op("mul", (Const(_UNIT[gap.of.dtype], gap.of), error.size), gap.of)
                doubts.append(Op("lt", (_size(gap), margin), BOOL))

    def error(self, expr: Expr, within: frozenset[str] = frozenset()) -> Error | None:
        """By how much a value may be off; None if it is exactly determined, or a sum in any order.

        `within` are the scalars whose definitions are being looked at: one that is met again comes from an earlier
        iteration, and is as exact as everything else that it is made of.
        """
        if expr.type.dtype not in _UNIT or isinstance(expr, (Const, Reduce)):
            return None
        if isinstance(expr, Read):
            return self._scalar(expr, within)
        if isinstance(expr, Cast):
            inner = self.error(expr.value, within)
            return None if inner is None else Error(_as(inner.size, expr.of), inner.relative)
        assert isinstance(expr, Op)
        if expr.op == "select":
            return self._either(expr, self.error(expr.args[1], within), self.error(expr.args[2], within))
        errors = [self.error(argument, within) for argument in expr.args]
        if expr.op in EXACT:
            return None if all(error is None for error in errors) else self._operation(expr, errors)
        changed = next((error for error in errors if error is not None), None)
        if changed is None or (changed.relative and expr.op in ("pow", "cbrt")):
            return Error(_size(expr), True)
        if expr.op in _FLAT:
            return Error(Op("add", (_size(expr), _as(changed.size, expr.of)), expr.of))
        share = Op("truediv", (_as(changed.size, expr.of), _size(_as(expr.args[0], expr.of))), expr.of)
        return Error(Op("mul", (_size(expr), Op("add", (Const(1.0, expr.of), share), expr.of)), expr.of))

    def _scalar(self, read: Read, within: frozenset[str]) -> Error | None:
        value = None if read.index or read.buffer in within else self.definitions.get(read.buffer)
        found = None if value is None else self.error(value, within | {read.buffer})
        if found is not None and self._carried(read.buffer):
            return Error(Const(math.inf, read.type))  # it adds up over the iterations: nothing is certain
        # What was just computed need not be computed again to know its size.
        return Error(_size(read), True) if found is not None and found.relative else found

    def _carried(self, name: str) -> bool:
        """Whether a scalar's definition comes back to the scalar itself."""
        met: set[str] = set()
        open_names = [name]
        while open_names:
            value = self.definitions.get(open_names.pop())
            for part in () if value is None else subexpressions(value):
                if isinstance(part, Read) and part.buffer not in met:
                    met.add(part.buffer)
                    open_names.append(part.buffer)
        return name in met

    def _operation(self, expr: Op, errors: list[Error | None]) -> Error | None:
        of = expr.of
        if expr.op in ("add", "sub"):
            return self._sum(expr, *errors)
        if expr.op in ("neg", "abs"):
            return errors[0]
        if expr.op in ("minimum", "maximum", "fmin", "fmax"):
            return self._either(expr, *errors)
        if all(error is None or error.relative for error in errors):
            return Error(_size(expr), True)
        if expr.op == "sqrt":
            assert errors[0] is not None
            return Error(Op("add", (_size(expr), Op("truediv", (errors[0].size, _size(expr)), of)), of))
        # a * b or a / b: each error times what stands beside it.
        total: Expr = _size(expr)
        for error, argument in zip(errors, expr.args):
            if error is not None and not error.relative:
                beside = Op("truediv", (_size(expr), _size(argument)), of)
                total = Op("add", (total, Op("mul", (error.size, beside), of)), of)
        return Error(total)

    def _sum(self, expr: Op, left: Error | None, right: Error | None) -> Error | None:
        sides = [error for error in (left, right) if error is not None]
        if not sides:
            return None
        if len(sides) == 2:
            return Error(Op("add", (sides[0].size, sides[1].size), expr.of))
        if any(isinstance(argument, Const) and argument.value == 0 for argument in expr.args):
            return sides[0]
        return Error(Op("add", (sides[0].size, _size(expr)), expr.of))

    def _either(self, expr: Op, left: Error | None, right: Error | None) -> Error | None:
        if left is not None and right is not None and left.relative and right.relative:
            return Error(_size(expr), True)
        if left is None or right is None:
            return left if right is None else right
        return Error(Op("add", (left.size, right.size), expr.of))


def _size(expr: Expr) -> Expr:
    if isinstance(expr, Op) and expr.op == "mul" and expr.args[0] == expr.args[1]:
        return expr
    return Op("abs", (expr,), expr.type)


def _as(expr: Expr, of: ScalarType) -> Expr:
    return expr if expr.type == of else Cast(expr, of)


__all__ = ["Doubt"]
