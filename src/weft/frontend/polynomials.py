"""Sizes as polynomials.  In: integer expressions; out: sums of products that are equal if the numbers are, whatever the
sizes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from weft.ir import index as ix
from weft.ir.expr import ZERO, Const, Expr, Op, Var, integer
from weft.ir.types import INT
from weft.records import dataclass

Monomial = tuple[Expr, ...]


@dataclass(frozen=True)
class Poly:
    """A sum of products of sizes, as coefficients by product: two are equal if they are the same number whatever the
    sizes.
    """

    terms: tuple[tuple[Monomial, int], ...]

    @staticmethod
    def make(terms: Mapping[Monomial, int]) -> Poly:
        return Poly(tuple(sorted(((m, c) for m, c in terms.items() if c), key=repr)))

    def __add__(self, other: Poly) -> Poly:
        terms = dict(self.terms)
        for monomial, c in other.terms:
            terms[monomial] = terms.get(monomial, 0) + c
        return Poly.make(terms)

    def __mul__(self, other: Poly) -> Poly:
        terms: dict[Monomial, int] = {}
        for left, a in self.terms:
            for right, b in other.terms:
                product = tuple(sorted((*left, *right), key=repr))
                terms[product] = terms.get(product, 0) + a * b
        return Poly.make(terms)

    def divides(self, other: Poly) -> bool:
        """Whether one polynomial divides another, whatever the sizes."""
        return bool(self.terms) and other.quotient(self) is not None

    def quotient(self, divisor: Poly) -> Poly | None:
        """What times `divisor` is this polynomial, whatever the sizes; None if nothing is."""
        atoms = sorted({atom for one in (self, divisor) for monomial, _ in one.terms for atom in monomial}, key=repr)

        def leading(one: Poly) -> tuple[Monomial, int]:
            return max(one.terms, key=lambda term: [term[0].count(atom) for atom in atoms])

        rest, found = self, Poly(())
        while rest.terms and divisor.terms:
            (mine, a), (theirs, b) = leading(rest), leading(divisor)
            if a % b or any(theirs.count(atom) > mine.count(atom) for atom in theirs):
                return None
            left = [atom for atom in atoms for _ in range(mine.count(atom) - theirs.count(atom))]
            step = Poly(((tuple(left), a // b),))
            found, rest = found + step, rest + step * divisor * Poly((((), -1),))
        return found if divisor.terms else None

    def expression(self) -> Expr:
        total: Expr = ZERO
        for monomial, c in self.terms:
            product: Expr = integer(c)
            for atom in monomial:
                product = ix.mul(product, atom)
            total = ix.add(total, product)
        return total

    def value(self, sample: Mapping[str, int] | None) -> int | None:
        """The number it is for the arguments at hand, if it is one of sizes known at entry."""
        total = 0
        for monomial, c in self.terms:
            for atom in monomial:
                if sample is None or not isinstance(atom, Var) or atom.name not in sample:
                    return None
                c *= sample[atom.name]
            total += c
        return total


ONE_POLY = Poly((((), 1),))


def poly(expr: Expr) -> Poly:
    """An expression as a polynomial; what is not a sum or product stands for itself."""
    if isinstance(expr, Const):
        return Poly.make({(): int(expr.value.real)})
    if isinstance(expr, Op) and expr.op in ("add", "sub", "mul") and expr.type == INT:
        left, right = (poly(arg) for arg in expr.args)
        if expr.op == "mul":
            return left * right
        return left + (right if expr.op == "add" else right * Poly((((), -1),)))
    return Poly((((expr,), 1),))


def product(extents: Sequence[Poly]) -> Poly:
    total = ONE_POLY
    for extent in extents:
        total = total * extent
    return total
