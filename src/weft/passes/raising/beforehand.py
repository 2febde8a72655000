"""Beforehand: a test of all iterations of a loop, made before it, at less cost than the loop.

    all[i, j: p[i] <= j < p[i + 1]] (0 <= j < n and c[j] < m)
        -->  first = min[i] p[i];  last = max[i] p[i + 1]
             0 <= first and last <= n  and  all[j: first <= j < last] c[j] < m

In: the check that a loop would make in each iteration; out: statements that must run first, and conditions to be looked
at one after the other.  What only bounds the innermost variable is tested at its ends.  Rows that follow each other
in memory are tested as one range.  The conditions together imply the check, and are that check but for odd cases (rows
out of order), in which the loop as it was written decides.
"""

from __future__ import annotations

from dataclasses import field, replace

from weft.analysis.facts import Facts, conjuncts
from weft.ir.expr import AnyDim, Const, Dim, Domain, Expr, Op, Read, Reduce, Var, dim_vars, integer, is_const
from weft.ir.index import Affine, affine, canonical, expression
from weft.ir.index import add as plus
from weft.ir.program import Check, Stmt
from weft.ir.types import BOOL, INT, PYBOOL
from weft.ir.walk import dim_children, expr_buffers, free_vars, rewrite, substitute
from weft.passes.raising.predicate import NewBuffer, bounds_on
from weft.passes.rename import renamed_expr
from weft.records import dataclass

# Sizes are smaller than this.
_FAR = 2**40


@dataclass
class Beforehand:
    """The tests of one loop: `before` are statements, `conditions` in the order in which they guard each other."""

    new_buffer: NewBuffer
    taken: set[str]
    before: list[Stmt] = field(default_factory=list)
    conditions: list[Expr] = field(default_factory=list)

    def add(self, check: Check) -> None:
        if not check.domain:
            self.conditions.append(check.condition)
            return
        names = set(dim_vars(check.domain))
        parts = in_order(check.condition)
        # What no iteration changes is tested once: also for a loop without iterations, which may then run as written.
        fixed = [part for part in parts if not free_vars(part) & names and not expr_buffers(part)]
        self.conditions += fixed
        parts = [part for part in parts if part not in fixed]
        if not parts:
            return
        for group in _by_dimensions(check.domain, parts):
            known = len(self.conditions)
            self._add_group(check, group)
            if group[0] is not parts[0]:  # another one has bound the names of the dimensions
                self.conditions[known:] = [renamed_expr(one, self.taken) for one in self.conditions[known:]]

    def _add_group(self, check: Check, parts: list[Expr]) -> None:
        check = replace(check, domain=_looked_at(check.domain, parts))
        *outer, inner = check.domain
        ends: list[Affine] = []
        rest: list[Expr] = []
        facts = Facts()
        for part in parts:
            forms = bounds_on(part, True, inner.var, facts) if isinstance(inner, Dim) and inner.step == 1 else ()
            if forms:
                ends += forms
            else:
                rest.append(part)
        if not isinstance(inner, Dim) or not ends:
            self.conditions.append(Reduce("and", check.domain, in_turn(parts)))
            return
        whole = self._as_one(tuple(outer), inner, ends, rest)
        domain: Domain = (whole,) if whole is not None else check.domain
        dim, around = (inner, tuple(outer)) if whole is None else (whole, ())
        test = at_ends(dim, ends, facts)
        self.conditions.append(Reduce("and", around, test) if around else test)
        if rest:
            # The test at the ends has bound the names of the outer dimensions.
            others = Reduce("and", domain, in_turn(rest))
            self.conditions.append(renamed_expr(others, self.taken) if around else others)

    def _as_one(self, outer: Domain, inner: Dim, ends: list[Affine], rest: list[Expr]) -> Dim | None:
        """All rows as one range of the inner variable, if each begins where the one before it ends."""
        if len(outer) != 1 or not isinstance(outer[0], Dim) or outer[0].step != 1 or not rest:
            return None
        row = outer[0]
        following = _canonical(substitute(inner.lo, {row.var: plus(Var(row.var), integer(1))}))
        if row.var not in free_vars(inner.lo) or following != _canonical(inner.hi):
            return None
        if any(row.var in free_vars(part) for part in rest) or any(row.var in form.names for form in ends):
            return None
        bounds: list[Expr] = []
        # Without rows the range is empty, with ends whose difference is a number of 64 bits.
        for name, op, bound, most in (("first", "minimum", inner.lo, _FAR), ("last", "maximum", inner.hi, -_FAR)):
            held = self.new_buffer(name, INT, ()).name
            end = Op(op, (Reduce(op, (row,), bound), integer(most)), INT)
            self.before.append(Stmt((), held, (), end))
            bounds.append(Read(held, (), INT))
        return Dim(inner.var, bounds[0], bounds[1])


def _by_dimensions(domain: Domain, parts: list[Expr]) -> list[list[Expr]]:
    """all[i, j] (c[i] and d[j])  -->  all[i] c[i];  all[j] d[j]

    What reads memory stays behind all that may guard it.
    """
    groups: list[tuple[set[str], list[Expr]]] = []
    for part in parts:
        used = set(dim_vars(_looked_at(domain, [part])))
        reads = bool(expr_buffers(part))
        fitting = groups[-1:] if reads else groups
        home = next((group for names, group in fitting if names == used), None)
        if home is None:
            groups.append((used, [part]))
        else:
            home.append(part)
    return [group for _, group in groups]


def _looked_at(domain: Domain, parts: list[Expr]) -> Domain:
    """all[i, k] c[i]  -->  all[i] c[i]: loops that the conditions do not speak of, nor bounds of others, do not count.

    If such a loop never runs the test says more than it must; what it looks at is there all the same.  A loop around
    those that tell where memory is looked at is kept: without iterations it guards them.
    """
    used = {name for part in parts for name in free_vars(part)}
    if any(expr_buffers(part) for part in parts):
        while len(domain) > 1 and not used & set(dim_vars(domain[-1:])):
            domain = domain[:-1]
        return domain
    kept: list[AnyDim] = []
    for dim in reversed(domain):
        if used & set(dim_vars((dim,))):
            kept.insert(0, dim)
            used |= {name for bound in dim_children(dim) for name in free_vars(bound)}
    return tuple(kept) or domain[:1]


def in_turn(conditions: list[Expr]) -> Expr:
    """All conditions, each once; one that reads memory is only looked at when those before it hold."""
    parts = strongest(list(dict.fromkeys(part for condition in conditions for part in conjuncts(condition))))
    result = parts[0]
    for part in parts[1:]:
        if expr_buffers(part):
            result = Op("select", (result, part, Const(False, part.type)), part.type)
        else:
            result = Op("and", (result, part), part.type)
    return result


def strongest(parts: list[Expr]) -> list[Expr]:
    """e >= 0, e < n, e + 1 >= 0, e + 1 < n   -->   e >= 0, e < n - 1

    Of conditions that bound the same value on one side only the strongest is left, where the first of them stands: it
    reads what that one reads.
    """
    kept: list[Expr] = []
    places: dict[tuple[object, ...], tuple[int, int]] = {}
    for part in parts:
        bound = _bound(part)
        key = None if bound is None else (bound.value, bound.op, bound.limit.terms)
        if bound is None or key not in places:
            if bound is not None:
                places[(bound.value, bound.op, bound.limit.terms)] = (len(kept), bound.limit.constant)
            kept.append(part)
            continue
        at, constant = places[key]
        if (bound.limit.constant > constant) == (bound.op == "ge") and bound.limit.constant != constant:
            places[key] = (at, bound.limit.constant)
            kept[at] = Op(bound.op, (bound.value, expression(bound.limit)), part.type)
    return kept


@dataclass(frozen=True)
class _Bound:
    """A value that is at least (`ge`) or below (`lt`) a limit."""

    value: Expr
    op: str
    limit: Affine


def _bound(part: Expr) -> _Bound | None:
    if not isinstance(part, Op) or part.op not in ("ge", "lt") or part.args[0].type != INT:
        return None
    value, limit = part.args[0], affine(part.args[1])
    if limit is None:
        return None
    while isinstance(value, Op) and value.op in ("add", "sub") and isinstance(value.args[1], Const):
        moved = value.args[1].value
        if not isinstance(moved, int):
            return None
        limit = limit - Affine((), moved if value.op == "add" else -moved)
        value = value.args[0]
    return _Bound(value, part.op, limit)


def in_order(condition: Expr) -> list[Expr]:
    """The conditions that must all hold, each behind those that guard it."""
    if isinstance(condition, Op) and condition.op == "select" and is_const(condition.args[2], False):
        return in_order(condition.args[0]) + in_order(condition.args[1])
    found = conjuncts(condition)
    return found if len(found) == 1 else [part for one in found for part in in_order(one)]


def at_ends(dim: Dim, forms: list[Affine], facts: Facts) -> Expr:
    """Affine conditions for all values of a dimension: they hold at its ends, or it has none."""
    test: Expr | None = None
    for form in dict.fromkeys(forms):
        rest = form.without(dim.var)
        if form.coefficient(dim.var) > 0:
            one = Op("ge", (dim.lo, facts.atoms.expression(rest.scaled(-1))), PYBOOL)
        else:
            one = Op("le", (dim.hi, facts.atoms.expression(rest + Affine((), 1))), PYBOOL)
        test = one if test is None else Op("and", (test, one), PYBOOL)
    assert test is not None
    return Op("or", (Op("le", (dim.hi, dim.lo), PYBOOL), test), BOOL)


def _canonical(expr: Expr) -> Expr:
    """The expression with its indices in one form."""

    def visit(part: Expr) -> Expr:
        return Read(part.buffer, tuple(canonical(p) for p in part.index), part.of) if isinstance(part, Read) else part

    return rewrite(expr, visit)


__all__ = ["Beforehand", "at_ends", "in_order", "in_turn", "strongest"]
