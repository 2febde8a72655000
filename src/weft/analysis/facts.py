"""What is known of integers at a place of a program.  In: the domains, conditions and guards around it; out: proofs.

A fact is an affine form that is never negative.  `prove` looks for a non-negative combination of facts that gives the
wanted form: variables are eliminated one after the other, innermost dimension first, each by a fact that bounds it from
the right side.  Divisions by constants, minima and maxima of index expressions take part as *atoms*, names with facts
of their own, as do products of two variables; any other pure integer expression is an atom without.  Everything is
syntactic: no integer-set library.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field
from math import gcd

from weft.ir.expr import ZERO, AnyDim, Cast, Const, Dim, Expr, Op, Read, Reduce, Var, is_const
from weft.ir.index import Affine, affine, derived_bounds, expression
from weft.ir.ops import COMPARISONS
from weft.ir.program import Derived, Program, SizeOf
from weft.ir.types import BOOL, INT, DType
from weft.ir.walk import rewrite, subexpressions, substitute
from weft.records import dataclass

_MAX_STEPS = 120
_MAX_FACTORS = 3
_MAX_DEPTH = 9
NEGATED = {"lt": "ge", "ge": "lt", "gt": "le", "le": "gt", "eq": "ne", "ne": "eq"}


@dataclass
class Atoms:
    """Names for integer expressions that are not affine, shared by all facts of one program."""

    names: dict[Expr, str] = field(default_factory=dict)
    facts: dict[str, tuple[Affine, ...]] = field(default_factory=dict)
    products: set[str] = field(default_factory=set)

    def linear(self, expr: Expr) -> Affine | None:
        """The linear form of an integer expression over variables and atoms; None if it reads memory or is no index."""
        return affine(expr, self.atom)

    def atom(self, expr: Op) -> Affine | None:
        if expr.op == "mul" and (expanded := self.product(*(self.linear(arg) for arg in expr.args))) is not None:
            return expanded
        name = self.names.get(expr)
        if name is None:
            if any(isinstance(e, (Read, Reduce)) for e in subexpressions(expr)):
                return None  # memory changes: the same text need not be the same value
            name = self.names[expr] = f"@{len(self.names)}"
            self.facts[name] = tuple(self._facts_of(expr, Affine(((name, 1),), 0)))
        return Affine(((name, 1),), 0)

    def product(self, left: Affine | None, right: Affine | None) -> Affine | None:
        """(i + 1) * (k + 2) as i*k + 2*i + k + 2, in which i*k is an atom; None for what is not that simple."""
        if left is None or right is None or max(len(left.terms), len(right.terms)) > _MAX_FACTORS:
            return None
        names = left.names | right.names
        if any(name.startswith("@") for name in names):
            return None
        result = right.scaled(left.constant) + left.without_constant().scaled(right.constant)
        for one, times in left.terms:
            for other, factor in right.terms:
                result += self._of_two(*sorted((one, other))).scaled(times * factor)
        return result

    def _of_two(self, one: str, other: str) -> Affine:
        expr = Op("mul", (Var(one), Var(other)), INT)
        name = self.names.get(expr)
        if name is None:
            name = self.names[expr] = f"@{len(self.names)}"
            self.products.add(name)
            self.facts[name] = (Affine(((name, 1),), 0),) if one == other else ()
        return Affine(((name, 1),), 0)

    def expression(self, form: Affine) -> Expr:
        """The canonical expression of a form, its atoms spelt out."""
        spelt = {name: expr for expr, name in self.names.items() if name in form.names}
        return substitute(expression(form), spelt)

    def _facts_of(self, expr: Op, atom: Affine) -> Iterable[Affine]:
        forms = [self.linear(argument) for argument in expr.args]
        if expr.op in ("floordiv", "mod") and forms[1] is not None and forms[1].is_constant and forms[1].constant > 0:
            divisor = forms[1].constant
            if expr.op == "mod":
                yield atom
                yield Affine((), divisor - 1) - atom
            elif forms[0] is not None:
                yield forms[0] - atom.scaled(divisor)
                yield atom.scaled(divisor) - forms[0] + Affine((), divisor - 1)
        elif expr.op in ("minimum", "maximum"):
            for form in forms:
                if form is not None:
                    yield form - atom if expr.op == "minimum" else atom - form


def _normal(form: Affine) -> Affine:
    """An equivalent form for `>= 0` over integers: divided by the common factor, constant rounded down."""
    factor = 0
    for _, coefficient in form.terms:
        factor = gcd(factor, coefficient)
    if factor <= 1:
        return form
    return Affine(tuple((name, c // factor) for name, c in form.terms), form.constant // factor)


@dataclass(frozen=True)
class Facts:
    """Forms known to be >= 0, in the order in which they became known, the variables in order, and the dimensions."""

    forms: tuple[Affine, ...] = ()
    ranks: dict[str, int] = field(default_factory=dict)
    atoms: Atoms = field(default_factory=Atoms)
    dims: frozenset[str] = frozenset()

    def linear(self, expr: Expr) -> Affine | None:
        return self.atoms.linear(expr)

    # --- more facts ---

    def with_forms(self, forms: Iterable[Affine]) -> Facts:
        new = tuple(form for form in forms if not form.is_constant)
        return Facts(self.forms + new, self.ranks, self.atoms, self.dims) if new else self

    def with_dim(self, dim: AnyDim) -> Facts:
        """Inside a loop or domain over `dim`, where the variable lies between its bounds."""
        ranks = {**self.ranks, dim.var: len(self.ranks)}
        dims = self.dims | {dim.var}
        if not isinstance(dim, Dim):
            return Facts(self.forms, {**ranks, dim.position: len(ranks)}, self.atoms, dims | {dim.position})
        variable = Affine(((dim.var, 1),), 0)
        one = Affine((), 1)
        forms: list[Affine] = []
        lo, hi = self._alternatives(dim.lo, "maximum"), self._alternatives(dim.hi, "minimum")
        if dim.step > 0:
            forms += [variable - form for form in lo] + [form - one - variable for form in hi]
            forms += self._of_strides(dim, variable)
        else:
            lo, hi = self._alternatives(dim.lo, "minimum"), self._alternatives(dim.hi, "maximum")
            forms += [form - variable for form in lo] + [variable - form - one for form in hi]
        return Facts(self.forms + tuple(forms), ranks, self.atoms, dims)

    def with_domain(self, domain: Iterable[AnyDim]) -> Facts:
        facts = self
        for dim in domain:
            facts = facts.with_dim(dim)
        return facts

    def _of_strides(self, dim: Dim, variable: Affine) -> list[Affine]:
        """Where a step is not known now: q < a // s, for s >= 1, is s * q <= a - s.  That it is not negative, either.

        Only of an `a` that is no product: one that leaves 64 bits would be noticed too late.
        """
        quotient = dim.hi
        if isinstance(quotient, Op) and quotient.op == "maximum" and dim.lo in quotient.args:
            quotient = quotient.args[0 if quotient.args[1] == dim.lo else 1]
        if not isinstance(quotient, Op) or quotient.op != "floordiv" or not is_const(dim.lo, 0):
            return []
        whole, step = (self.linear(argument) for argument in quotient.args)
        if whole is None or step is None or step.is_constant or not self.prove(step - Affine((), 1)):
            return []
        if (whole.names | step.names) & self.atoms.products:
            return []
        jumps = self.atoms.product(step, variable)
        return [] if jumps is None else [whole - jumps - step, jumps - variable]

    def _alternatives(self, expr: Expr, op: str) -> list[Affine]:
        """The forms that all bound, if `expr` is a minimum (maximum) of several."""
        if isinstance(expr, Op) and expr.op == op and expr.type == INT:
            return [form for argument in expr.args for form in self._alternatives(argument, op)]
        form = self.linear(expr)
        return [] if form is None else [form]

    def with_condition(self, condition: Expr, holds: bool = True) -> Facts:
        """Where a condition is known to hold (or known not to)."""
        return self.with_forms(self._forms_of(condition, holds))

    def _forms_of(self, condition: Expr, holds: bool) -> list[Affine]:
        if isinstance(condition, Cast) and condition.type.dtype is condition.value.type.dtype is DType.BOOL:
            return self._forms_of(condition.value, holds)
        if not isinstance(condition, Op):
            return []
        if condition.op == "not":
            return self._forms_of(condition.args[0], not holds)
        if condition.op == ("and" if holds else "or"):
            return self._forms_of(condition.args[0], holds) + self._forms_of(condition.args[1], holds)
        if condition.op in COMPARISONS:
            return self.comparison(condition if holds else Op(NEGATED[condition.op], condition.args, condition.of))
        return []

    def comparison(self, condition: Op) -> list[Affine]:
        """The forms whose being >= 0 is the meaning of an integer comparison; [] if it has none (`ne`, not affine)."""
        left, right = self.linear(condition.args[0]), self.linear(condition.args[1])
        if left is None or right is None or condition.op == "ne":
            return []
        one = Affine((), 1)
        if condition.op in ("lt", "le"):
            return [right - left if condition.op == "le" else right - left - one]
        if condition.op in ("gt", "ge"):
            return [left - right if condition.op == "ge" else left - right - one]
        return [left - right, right - left]

    # --- proofs ---

    def chosen(self, expr: Expr) -> Expr:
        """The expression with the larger or smaller of two integers in place of the choice, where it is known."""

        def visit(part: Expr) -> Expr:
            if not isinstance(part, Op) or part.op not in ("minimum", "maximum") or part.type != INT:
                return part
            forms = [self.linear(argument) for argument in part.args]
            if len(forms) != 2 or forms[0] is None or forms[1] is None:
                return part
            above = forms[0] - forms[1] if part.op == "maximum" else forms[1] - forms[0]
            return part.args[0] if self.prove(above) else part.args[1] if self.prove(above.scaled(-1)) else part

        return rewrite(expr, visit)

    def decide(self, condition: Expr) -> bool | None:
        """True or False if the condition is proven so, None if it is not known."""
        if isinstance(condition, Const):
            return bool(condition.value)
        if isinstance(condition, Cast) and condition.type.dtype is condition.value.type.dtype is DType.BOOL:
            return self.decide(condition.value)
        if not isinstance(condition, Op):
            return None
        if condition.op == "not":
            inner = self.decide(condition.args[0])
            return None if inner is None else not inner
        if condition.op in ("and", "or"):
            left, right = self.decide(condition.args[0]), self.decide(condition.args[1])
            absorbing = condition.op == "or"
            if absorbing in (left, right):
                return absorbing
            if absorbing and left is None and (otherwise := self._forms_of(condition.args[0], False)):
                return True if self.with_forms(otherwise).decide(condition.args[1]) else None
            return None if left is None or right is None else not absorbing
        if condition.op in COMPARISONS and condition.args[0].type == INT == condition.args[1].type:
            return self._decide_comparison(condition)
        return None

    def _decide_comparison(self, condition: Op) -> bool | None:
        if condition.op in ("eq", "ne"):
            left, right = self.linear(condition.args[0]), self.linear(condition.args[1])
            if left is None or right is None:
                return None
            delta, one = left - right, Affine((), 1)
            if self.prove(delta) and self.prove(delta.scaled(-1)):
                return condition.op == "eq"
            if self.prove(delta - one) or self.prove(delta.scaled(-1) - one):
                return condition.op == "ne"
            return None
        forms = self.comparison(condition)
        if not forms:
            return None
        if all(self.prove(form) for form in forms):
            return True
        return False if self.prove(forms[0].scaled(-1) - Affine((), 1)) else None

    def prove(self, form: Affine) -> bool:
        """Whether `form >= 0` follows from the facts; False means: not found."""
        if form.is_constant:
            return form.constant >= 0
        # What is known of an atom is known when it gets its name, so that an answer stays right.
        answers: dict[Affine, bool] = self.__dict__.setdefault("_answers", {})
        if form not in answers:
            answers[form] = _Search(self).follows(form)
        return answers[form]


@dataclass
class _Search:
    facts: Facts
    steps: int = 0
    seen: set[Affine] = field(default_factory=set)
    known: dict[str, list[Affine]] | None = None  # facts by the names they speak of, the latest first

    def about(self, name: str) -> list[Affine]:
        if self.known is None:
            self.known = {}
            for fact in reversed(self.facts.forms):
                for term, _ in fact.terms:
                    self.known.setdefault(term, []).append(fact)
        return self.known.get(name, [])

    def follows(self, form: Affine, depth: int = 0) -> bool:
        form = _normal(form)
        if form.is_constant:
            return form.constant >= 0
        self.steps += 1
        if form in self.seen or depth > _MAX_DEPTH or self.steps > _MAX_STEPS:
            return False
        self.seen.add(form)
        ranks = self.facts.ranks
        # An atom stands for an expression over dimensions, so it goes first; then the innermost dimension.
        name, coefficient = max(form.terms, key=lambda term: (term[0][0] == "@", ranks.get(term[0], -1), term[0]))
        own = self.facts.atoms.facts.get(name, ())
        for fact in (*own, *self.about(name)):
            other = fact.coefficient(name)
            if other * coefficient > 0:
                # Over the integers g >= 0 is k*g + (k - 1) >= 0: scaling leaves room for the remainder.
                room = Affine((), abs(other) - 1)
                rest = form.scaled(abs(other)) + room - fact.scaled(abs(coefficient))
                if self.follows(rest, depth + 1):
                    return True
        return False


def entry_facts(program: Program) -> Facts:
    """What holds everywhere in a program: sizes are not negative, guards hold."""
    sizes = [symbol.name for symbol in program.symbols if isinstance(symbol.source, SizeOf)]
    ranks = {symbol.name: position for position, symbol in enumerate(program.symbols)}
    facts = Facts(tuple(Affine(((name, 1),), 0) for name in sizes), ranks)
    for symbol in program.symbols:
        if isinstance(symbol.source, Derived):
            value, name = facts.linear(symbol.source.value), Affine(((symbol.name, 1),), 0)
            facts = facts if value is None else facts.with_forms((name - value, value - name))
    for symbol in program.symbols:
        if isinstance(symbol.source, Derived):
            for bound in derived_bounds(symbol.name, symbol.source.value):
                facts = facts.with_condition(Op("ge", (expression(bound), ZERO), BOOL))
    for guard in program.guards:
        if not guard.domain:
            facts = facts.with_condition(guard.condition)
    return facts


def conjuncts(condition: Expr) -> list[Expr]:
    """`a and b and c` as [a, b, c]."""
    if isinstance(condition, Op) and condition.op == "and":
        return [part for argument in condition.args for part in conjuncts(argument)]
    return [condition]


def extreme(form: Affine, dim: AnyDim, facts: Facts, largest: bool) -> Affine | None:
    """The least (largest) value of `form` over a non-empty dense dimension, None if its bounds are not affine."""
    coefficient = form.coefficient(dim.var)
    if coefficient == 0:
        return form
    if not isinstance(dim, Dim):
        return None
    at_start = ((coefficient > 0) is largest) is (dim.step < 0)
    start, end = facts.linear(dim.lo), facts.linear(dim.hi)
    if start is None or end is None:
        return None
    bound = start
    if not at_start:
        sign, stride = (1, dim.step) if dim.step > 0 else (-1, -dim.step)
        bound = end - Affine((), sign)
        if stride != 1:
            span = facts.atoms.expression((bound - start).scaled(sign))
            jumps = facts.linear(Op("floordiv", (span, Const(stride, INT)), INT))
            if jumps is None:
                return None
            bound = start + jumps.scaled(dim.step)
    return form.without(dim.var) + bound.scaled(coefficient)
