"""Algebra: the rewrite rules of expressions.  In: an expression and what is known of its variables; out: an equal one.

Every rule keeps the value bit for bit (NaN, signed zeros, wrapping) and the type; a Python integer is never folded to a
value outside 64 bits.  The exceptions are stated: `x**3` and `x**4` by products and nested sums merged, neither under
strict floating point.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from weft.analysis.effects import flops
from weft.analysis.facts import NEGATED, Facts
from weft.ir.expr import ZERO, Cast, CompressedDim, Const, Dim, Domain, Expr, Op, Reduce, is_const
from weft.ir.index import Affine, affine, expression
from weft.ir.ops import COMPARISONS, REDUCTIONS
from weft.ir.scalar import IntegerOverflow, apply, convert
from weft.ir.types import BOOL, INT, DType, ScalarType
from weft.ir.walk import map_children, map_dim, rewrite, subexpressions, substitute
from weft.passes.simplifying.recentre import recentred_reduce
from weft.records import dataclass

# Operations whose value is exactly determined (correctly rounded or discrete): folding them is not a matter of library.
_ARITHMETIC = frozenset(
    {"add", "sub", "mul", "truediv", "ratio", "floordiv", "mod", "neg", "abs", "sqrt", "copysign", "sign"}
)
_ROUNDING = frozenset({"floor", "ceil", "trunc", "rint", "conj", "real", "imag", "complex"})
_CHOICES = frozenset(
    {"minimum", "maximum", "fmin", "fmax", "isnan", "isinf", "isfinite", "signbit", "and", "or", "not"}
)
_BITS = frozenset({"bitand", "bitor", "bitxor", "invert", "shl", "shr"})
EXACT = _ARITHMETIC | _ROUNDING | _CHOICES | _BITS | COMPARISONS
_DIVISIONS = frozenset({"truediv", "floordiv", "mod", "fmod"})
_LARGEST_COEFFICIENT = 2**20  # times a variable below 2**40: far from 64 bits
_CHEAP_TO_REPEAT = 12


def is_exact(expr: Expr) -> bool:
    """Whether every operation is exactly determined, so that computed again, in any loop, it gives the same bits."""
    return all(not isinstance(part, Op) or part.op == "select" or part.op in EXACT for part in subexpressions(expr))


def as_type(expr: Expr, of: ScalarType) -> Expr:
    """`expr` as a value of type `of`: itself, a literal of that type, or a cast."""
    if expr.type == of:
        return expr
    if isinstance(expr, Const):
        return fold_cast(expr, of) or Cast(expr, of)
    return Cast(expr, of)


def constant(value: object, of: ScalarType) -> Const:
    plain = value.item() if isinstance(value, np.generic) else value
    assert isinstance(plain, (bool, int, float, complex))
    return Const(plain, of)


def fold_cast(value: Const, of: ScalarType) -> Const | None:
    """The literal converted; None where the conversion is not defined (a NaN to an integer, an integer too large)."""
    try:
        converted = convert(convert(value.value, value.of), of)
    except IntegerOverflow:
        return None
    if of.dtype.is_integer and value.of.dtype.is_inexact:
        whole = complex(value.value).real
        if not (math.isfinite(whole) and int(whole) == int(converted)):
            return None
    return constant(converted, of)


def holds_all(source: DType, target: DType) -> bool:
    """Whether every value of `source` is a value of `target`, so that a cast there and on loses nothing."""
    if source is target or source is DType.BOOL:
        return True
    if source.is_integer and target.is_inexact:
        return source.size * 8 <= (24 if target.real is DType.F32 else 53)
    return bool(np.can_cast(source.numpy, target.numpy, "safe"))


def _extreme_of(condition: Expr, then: Expr, orelse: Expr) -> str | None:
    """`minimum` for select(x < y, x, y), `maximum` for select(x > y, x, y): forms that bounds are understood in."""
    while isinstance(condition, Cast):
        condition = condition.value
    if not isinstance(condition, Op) or condition.op not in ("lt", "le", "gt", "ge"):
        return None
    smaller = condition.op in ("lt", "le")
    if condition.args == (then, orelse):
        return "minimum" if smaller else "maximum"
    if condition.args == (orelse, then):
        return "maximum" if smaller else "minimum"
    return None


@dataclass(frozen=True)
class Algebra:
    """The rules; `strict` forbids those that change the order or the library of a floating-point computation."""

    strict: bool = False

    def simplify(self, expr: Expr, facts: Facts) -> Expr:
        """`expr` with every rule applied, operands first."""
        form = affine(expr) if isinstance(expr, Op) and expr.type == INT else None
        if form is not None and _small(form):
            new = expression(form)
            return expr if new == expr else new
        if isinstance(expr, Reduce):
            return self._reduce(expr, facts)
        if isinstance(expr, Op) and expr.op == "select":
            return self._select(expr, facts)
        expr = map_children(expr, lambda e: self.simplify(e, facts))
        if isinstance(expr, Cast):
            return self._cast(expr)
        if isinstance(expr, Op):
            return self._operation(expr, facts)
        return expr

    # --- casts ---

    def _cast(self, expr: Cast) -> Expr:
        value = expr.value
        if value.type == expr.of:
            return value
        if isinstance(value, Const):
            return fold_cast(value, expr.of) or expr
        if isinstance(value, Cast) and holds_all(value.value.type.dtype, value.of.dtype):
            return self._cast(Cast(value.value, expr.of, expr.span))
        return expr

    # --- operations ---

    def _operation(self, expr: Op, facts: Facts) -> Expr:
        folded = self._fold(expr)
        if folded is not None:
            return folded
        if expr.op in COMPARISONS:
            return self._comparison(expr, facts)
        if expr.op in ("and", "or", "not"):
            return self._logic(expr)
        if expr.of == INT and expr.op in ("minimum", "maximum"):
            return self._extreme(expr, facts)
        if expr.of == INT and expr.op in ("floordiv", "mod"):
            return self._integer_division(expr, facts)
        if expr.op == "neg" and isinstance(expr.args[0], Op) and expr.args[0].op == "neg":
            return as_type(expr.args[0].args[0], expr.of)
        if len(expr.args) == 2:
            left, right = expr.args
            if expr.op == "pow" and isinstance(right, Const):
                return self._power(expr, left, right)
            if isinstance(right, Const):
                return self._right_literal(expr, left, right)
            if isinstance(left, Const):
                return self._left_literal(expr, left, right)
        return expr

    def _fold(self, expr: Op) -> Const | None:
        if expr.op not in EXACT or not all(isinstance(argument, Const) for argument in expr.args):
            return None
        literals = [argument for argument in expr.args if isinstance(argument, Const)]
        if expr.op in _DIVISIONS and literals[1].value == 0:
            return None  # a check stands before it; the value is never seen
        try:
            return constant(apply(expr.op, [convert(c.value, c.of) for c in literals], expr.of), expr.of)
        except IntegerOverflow:
            return None

    def _right_literal(self, expr: Op, left: Expr, right: Const) -> Expr:
        exact = not expr.of.dtype.is_inexact
        value = right.value
        if expr.op == "add" and ((value == 0 and exact) or _is_negative_zero(right)):
            return as_type(left, expr.of)
        if expr.op == "add" and _starts_from(left, "add", right):
            return as_type(left, expr.of)
        if expr.op == "sub" and (value == 0 and (exact or _is_positive_zero(right))):
            return as_type(left, expr.of)
        if expr.op == "mul" and _is_one(right):
            return as_type(left, expr.of)
        if expr.op in ("mul", "bitand") and value == 0 and exact:
            return constant(convert(0, expr.of), expr.of)
        if expr.op == "truediv" and expr.of.dtype.is_float:
            if value == 1:
                return as_type(left, expr.of)
            reciprocal = _exact_reciprocal(right)
            if reciprocal is not None:
                return replace(expr, op="mul", args=(left, reciprocal))
        if expr.op in ("shl", "shr", "bitor", "bitxor") and value == 0 and left.type.dtype is expr.of.dtype:
            return as_type(left, expr.of)
        if expr.op in ("minimum", "maximum", "mul") and _starts_from(left, expr.op, right):
            return as_type(left, expr.of)
        return expr

    def _left_literal(self, expr: Op, left: Const, right: Expr) -> Expr:
        exact = not expr.of.dtype.is_inexact
        if expr.op == "add" and ((left.value == 0 and exact) or _is_negative_zero(left)):
            return as_type(right, expr.of)
        if expr.op in REDUCTIONS and _starts_from(right, expr.op, left):
            return as_type(right, expr.of)
        if expr.op == "mul" and _is_one(left):
            return as_type(right, expr.of)
        if expr.op in ("mul", "bitand") and left.value == 0 and exact:
            return constant(convert(0, expr.of), expr.of)
        return expr

    def _power(self, expr: Op, base: Expr, exponent: Const) -> Expr:
        if exponent.value == 1:
            return as_type(base, expr.of)
        if exponent.value == 0:
            return constant(convert(1, expr.of), expr.of)
        if expr.of.weak and expr.of.dtype.is_float:
            return expr  # Python's own floats have the bits of libm's pow: code generation knows when products have
        if expr.of.dtype.is_float and exponent.value == -1:
            return replace(expr, op="truediv", args=(constant(convert(1.0, base.type), base.type), base))
        if expr.of.dtype.is_complex or flops(base) > _CHEAP_TO_REPEAT:
            return expr
        square = replace(expr, op="mul", args=(base, base))
        if exponent.value == 2:
            return square
        inexact_may_differ = expr.of.dtype.is_inexact and self.strict
        if exponent.value == 3 and not inexact_may_differ:
            return replace(expr, op="mul", args=(as_type(square, base.type), base))
        if exponent.value == 4 and not inexact_may_differ and flops(base) <= _CHEAP_TO_REPEAT // 2:
            half = as_type(square, base.type)
            return replace(expr, op="mul", args=(half, half))
        return expr

    def _comparison(self, expr: Op, facts: Facts) -> Expr:
        known = facts.decide(expr)
        if known is not None:
            return Const(known, expr.of)
        left, right = expr.args
        if left == right and not left.type.dtype.is_inexact and not isinstance(left, Reduce):
            return Const(expr.op in ("eq", "le", "ge"), expr.of)
        return expr

    def _logic(self, expr: Op) -> Expr:
        if expr.op == "not":
            inner = expr.args[0]
            if isinstance(inner, Op) and inner.op == "not" and inner.args[0].type.dtype is DType.BOOL:
                return as_type(inner.args[0], expr.of)
            if isinstance(inner, Op) and inner.op in COMPARISONS and not inner.args[0].type.dtype.is_inexact:
                return replace(inner, op=NEGATED[inner.op], of=expr.of)
            return expr
        absorbing = expr.op == "or"
        for position, argument in enumerate(expr.args):
            other = expr.args[1 - position]
            if isinstance(argument, Const):
                if bool(argument.value) is absorbing:
                    return Const(absorbing, expr.of)
                if other.type.dtype is DType.BOOL:
                    return as_type(other, expr.of)
        if expr.args[0] == expr.args[1] and expr.args[0].type.dtype is DType.BOOL:
            return as_type(expr.args[0], expr.of)
        return expr

    def _select(self, expr: Op, facts: Facts) -> Expr:
        condition = self.simplify(expr.args[0], facts)
        known = facts.decide(condition)
        if known is not None:
            return as_type(self.simplify(expr.args[1] if known else expr.args[2], facts), expr.of)
        then = self._branch(expr.args[1], condition, True, facts)
        orelse = self._branch(expr.args[2], condition, False, facts)
        if then == orelse:
            return as_type(then, expr.of)
        if isinstance(condition, Op) and condition.op == "not" and condition.args[0].type.dtype is DType.BOOL:
            condition, then, orelse = condition.args[0], orelse, then
        if expr.of.dtype is DType.BOOL and is_const(then, True) and is_const(orelse, False):
            return as_type(condition, expr.of)
        whole = expr.of.dtype.is_integer and then.type == orelse.type == expr.of  # no NaN, which a comparison forgets
        if whole and (extreme := _extreme_of(condition, then, orelse)) is not None:
            found = Op(extreme, (then, orelse), expr.of, expr.span)
            return self._extreme(found, facts) if expr.of == INT else found
        args = (condition, then, orelse)
        return expr if all(a is b for a, b in zip(args, expr.args)) else replace(expr, args=args)

    def _branch(self, expr: Expr, condition: Expr, holds: bool, facts: Facts) -> Expr:
        facts = facts.with_condition(condition, holds)
        simple = self.simplify(expr, facts)
        known = assuming(simple, condition, holds)
        return simple if known is simple else self.simplify(known, facts)

    def _extreme(self, expr: Op, facts: Facts) -> Expr:
        left, right = facts.linear(expr.args[0]), facts.linear(expr.args[1])
        if left is not None and right is not None:
            smaller = expr.op == "minimum"
            if facts.prove(right - left):
                return as_type(expr.args[0 if smaller else 1], expr.of)
            if facts.prove(left - right):
                return as_type(expr.args[1 if smaller else 0], expr.of)
        return expr

    def _integer_division(self, expr: Op, facts: Facts) -> Expr:
        divisor = expr.args[1]
        form = facts.linear(expr.args[0])
        if form is not None and expr.op == "mod" and not isinstance(divisor, Const):
            return self._near_remainder(expr, form, facts)
        if form is None or not isinstance(divisor, Const) or not isinstance(divisor.value, int) or divisor.value <= 0:
            return expr
        size = divisor.value
        whole = Affine(tuple((name, c // size) for name, c in form.terms if c % size == 0), form.constant // size)
        if len(whole.terms) == len(form.terms):  # every coefficient is a multiple: only the constant leaves a rest
            if expr.op == "floordiv":
                return facts.atoms.expression(whole)
            return Const(form.constant % size, INT)
        if facts.prove(form) and facts.prove(Affine((), size - 1) - form):
            return Const(0, INT) if expr.op == "floordiv" else as_type(expr.args[0], INT)
        return expr

    def _near_remainder(self, expr: Op, form: Affine, facts: Facts) -> Expr:
        """e % m within a period of the range of remainders, as in (i + 1) % n: e, or e moved by m once."""
        value, divisor = expr.args
        size = facts.linear(divisor)
        one = Affine((), 1)
        if size is None or not _small(form) or not facts.prove(size - one):
            return expr
        result = as_type(value, INT)
        if not facts.prove(size - one - form):
            if not facts.prove(size.scaled(2) - one - form):
                return expr
            moved = facts.atoms.expression(form - size)
            result = Op("select", (Op("lt", (value, divisor), BOOL), result, moved), INT)
        if not facts.prove(form):
            if not facts.prove(form + size):
                return expr
            result = Op("select", (Op("lt", (value, ZERO), BOOL), facts.atoms.expression(form + size), result), INT)
        return result

    # --- reductions ---

    def _reduce(self, expr: Reduce, facts: Facts) -> Expr:
        reduction = REDUCTIONS[expr.op]
        centred = recentred_reduce(expr, facts.dims)
        values: dict[str, Expr] = {}
        dims: Domain = ()
        for dim in centred.dims:
            dim = map_dim(dim, lambda e, known=facts: self.simplify(substitute(e, values), known))  # type: ignore[misc]
            extent = _extent(dim, facts)
            if extent is not None and isinstance(dim, Dim):
                if facts.prove(extent.scaled(-1)):
                    return constant(convert(reduction.identity(expr.value.type), expr.type), expr.type)
                if extent.is_constant and 1 <= extent.constant <= abs(dim.step):
                    values[dim.var] = dim.lo
                    continue
            dims += (dim,)
            facts = facts.with_dim(dim)
        value = self.simplify(substitute(centred.value, values), facts)
        if not dims:
            return self._single(expr, value, facts)
        if isinstance(value, Reduce) and value.op == expr.op and reduction.operation is not None:
            if not (self.strict and value.type.dtype.is_inexact):
                return replace(expr, dims=dims + value.dims, value=value.value)
        if value is expr.value and len(dims) == len(expr.dims) and all(a is b for a, b in zip(dims, expr.dims)):
            return expr
        return replace(expr, dims=dims, value=value)

    def _single(self, expr: Reduce, value: Expr, facts: Facts) -> Expr:
        """A reduction of one term: the term, but a sum starts from +0.0, which turns -0.0 into 0.0."""
        operation = REDUCTIONS[expr.op].operation
        if operation is None:
            return Const(0, expr.type)
        if expr.op in ("minimum", "maximum"):
            return value
        identity = constant(convert(REDUCTIONS[expr.op].identity(value.type), value.type), value.type)
        return self._operation(Op(operation, (identity, value), expr.type, expr.span), facts)


def assuming(expr: Expr, condition: Expr, holds: bool) -> Expr:
    """`expr` where a condition is known: its own occurrences become literals."""
    if not any(part == condition for part in subexpressions(expr)):
        return expr
    return rewrite(expr, lambda part: Const(holds, part.type) if part == condition else part)


def _extent(dim: Dim | CompressedDim, facts: Facts) -> Affine | None:
    """hi - lo in the direction of the step."""
    if not isinstance(dim, Dim):
        return None
    lo, hi = facts.linear(dim.lo), facts.linear(dim.hi)
    if lo is None or hi is None:
        return None
    return hi - lo if dim.step > 0 else lo - hi


def _small(form: Affine) -> bool:
    return all(abs(c) <= _LARGEST_COEFFICIENT for _, c in form.terms) and abs(form.constant) < 2**62


def _starts_from(expr: Expr, op: str, literal: Const) -> bool:
    """Whether `literal op expr` is `expr`, because it is a reduction by op that starts from that very literal."""
    if not isinstance(expr, Reduce) or expr.op != op or REDUCTIONS[op].operation is None:
        return False
    return Const(REDUCTIONS[op].identity(expr.type), expr.type) == replace(literal, of=expr.type)


def _is_one(literal: Const) -> bool:
    # A complex one has a zero imaginary part, whose product with infinity is NaN.
    return literal.value == 1 and not literal.of.dtype.is_complex and literal.of.dtype is not DType.BOOL


def _is_positive_zero(literal: Const) -> bool:
    return isinstance(literal.value, float) and literal.value == 0 and math.copysign(1.0, literal.value) > 0


def _is_negative_zero(literal: Const) -> bool:
    return isinstance(literal.value, float) and literal.value == 0 and math.copysign(1.0, literal.value) < 0


def _exact_reciprocal(literal: Const) -> Const | None:
    """1/c if c is a power of two whose reciprocal is a normal number: then x/c and x*(1/c) are the same."""
    if not isinstance(literal.value, float) or not math.isfinite(literal.value) or literal.value == 0:
        return None
    mantissa, exponent = math.frexp(literal.value)
    limit = 120 if literal.of.dtype is DType.F32 else 1000
    if abs(mantissa) != 0.5 or abs(exponent) > limit:
        return None
    return Const(1.0 / literal.value, literal.of)
