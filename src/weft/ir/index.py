"""Quasi-affine index expressions.  In: integer expressions; out: linear forms, and back in one canonical order.

The canonical form of an affine expression (terms by name, constant last) is what makes two spellings of an index equal.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from weft.ir.expr import Const, Expr, Op, Var, integer
from weft.ir.types import INT
from weft.records import dataclass


@dataclass(frozen=True)
class Affine:
    """sum(coefficient * variable) + constant."""

    terms: tuple[tuple[str, int], ...]
    constant: int

    @staticmethod
    def make(terms: Mapping[str, int], constant: int) -> Affine:
        return Affine(tuple(sorted((name, c) for name, c in terms.items() if c != 0)), constant)

    def coefficient(self, name: str) -> int:
        for term, coefficient in self.terms:  # few: faster than a table
            if term == name:
                return coefficient
        return 0

    @property
    def names(self) -> frozenset[str]:
        return frozenset(name for name, _ in self.terms)

    @property
    def is_constant(self) -> bool:
        return not self.terms

    def __add__(self, other: Affine) -> Affine:
        if not other.terms:
            return Affine(self.terms, self.constant + other.constant)
        terms = dict(self.terms)
        for name, coefficient in other.terms:
            terms[name] = terms.get(name, 0) + coefficient
        return Affine.make(terms, self.constant + other.constant)

    def __sub__(self, other: Affine) -> Affine:
        return self + other.scaled(-1)

    def scaled(self, factor: int) -> Affine:
        if factor == 1:
            return self
        if factor == 0:
            return Affine((), 0)
        return Affine(tuple([(name, c * factor) for name, c in self.terms]), self.constant * factor)

    def without_constant(self) -> Affine:
        return Affine(self.terms, 0)

    def without(self, name: str) -> Affine:
        """The form with the term of `name` removed."""
        return Affine(tuple(term for term in self.terms if term[0] != name), self.constant)


def affine(expr: Expr, atom: Callable[[Op], Affine | None] | None = None) -> Affine | None:
    """The linear form of an integer expression, None if it has none (a product of variables, a read, a division).

    `atom` may give a form to operations that are not linear.
    """
    if isinstance(expr, Var):
        return Affine(((expr.name, 1),), 0)
    if isinstance(expr, Const):
        return Affine((), int(expr.value)) if isinstance(expr.value, int) else None  # bool is an int: 0 or 1
    if not isinstance(expr, Op) or expr.type != INT:
        return None
    if expr.op == "neg":
        inner = affine(expr.args[0], atom)
        return None if inner is None else inner.scaled(-1)
    if expr.op not in ("add", "sub", "mul"):
        return None if atom is None else atom(expr)
    left, right = affine(expr.args[0], atom), affine(expr.args[1], atom)
    if left is None or right is None:
        return None
    if expr.op == "add":
        return left + right
    if expr.op == "sub":
        return left - right
    if left.is_constant:
        return right.scaled(left.constant)
    if right.is_constant:
        return left.scaled(right.constant)
    return None if atom is None else atom(expr)


def expression(form: Affine) -> Expr:
    """The canonical expression of a linear form: positive terms first, then negative ones, then the constant."""
    result: Expr | None = None
    ordered = [t for t in form.terms if t[1] > 0] + [t for t in form.terms if t[1] < 0]
    for name, coefficient in ordered:
        magnitude = abs(coefficient)
        term: Expr = Var(name) if magnitude == 1 else Op("mul", (integer(magnitude), Var(name)), INT)
        if result is None:
            result = term if coefficient > 0 else Op("neg", (term,), INT)
        else:
            result = Op("add" if coefficient > 0 else "sub", (result, term), INT)
    if result is None:
        return integer(form.constant)
    if form.constant > 0:
        return Op("add", (result, integer(form.constant)), INT)
    if form.constant < 0:
        return Op("sub", (result, integer(-form.constant)), INT)
    return result


def derived_bounds(name: str, value: Expr) -> tuple[Affine, ...]:
    """Linear forms that are not negative because `name` is `value`: for n // c both sides of the rounding."""
    if not isinstance(value, Op) or len(value.args) != 2:
        return ()
    left, right = affine(value.args[0]), affine(value.args[1])
    if left is None or right is None:
        return ()
    own = Affine(((name, 1),), 0)
    if value.op in ("minimum", "maximum"):
        sign = 1 if value.op == "minimum" else -1
        return ((left - own).scaled(sign), (right - own).scaled(sign))
    if not right.is_constant or right.constant <= 0:
        return ()
    limit = Affine((), right.constant - 1)
    if value.op == "floordiv":
        rest = left - own.scaled(right.constant)
        return (rest, limit - rest)
    return (own, limit - own) if value.op == "mod" else ()


def canonical(expr: Expr) -> Expr:
    """`expr` in canonical order if it is affine, else unchanged."""
    form = affine(expr)
    if form is None:
        return expr
    new = expression(form)
    return expr if new == expr else new


def add(left: Expr, right: Expr) -> Expr:
    return canonical(Op("add", (left, right), INT))


def sub(left: Expr, right: Expr) -> Expr:
    return canonical(Op("sub", (left, right), INT))


def mul(left: Expr, right: Expr) -> Expr:
    return canonical(Op("mul", (left, right), INT))


def difference(left: Expr, right: Expr) -> int | None:
    """left - right if that is a known constant, else None."""
    a, b = affine(left), affine(right)
    if a is None or b is None:
        return 0 if left == right else None
    delta = a - b
    return delta.constant if delta.is_constant else None
