"""Checks: bounds tests leave the loops.  In: a program with Checks where Python could raise; out: the same with fewer.

    for i in 0 .. n: check i < a_0; a[i] = 0     -->   guard n <= a_0;  for i in 0 .. n: a[i] = 0
    for i in 0 .. a_0: check i < a_0; a[i] = 0   -->   for i in 0 .. a_0: a[i] = 0

A condition that follows from the domains around it, or from the ranges of its numbers, goes.  One that is affine in
dimensions and symbols, and is reached on every way through the function, is replaced by its worst case over the
dimensions, a guard at entry: if that fails, plain Python runs, so a guard may be stronger than the check (on an empty
loop, say), but must be able to hold.
Everything else stays where it is, or moves down within its block (`late.py`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field, replace

from weft.analysis import floats, ranges
from weft.analysis.carried import Carried, wrapped
from weft.analysis.facts import Facts, conjuncts, entry_facts, extreme
from weft.errors import Span
from weft.ir.expr import AnyDim, Const, Expr, Op, Read, dim_vars, integer
from weft.ir.index import Affine
from weft.ir.ops import COMPARISONS
from weft.ir.program import Block, Check, If, Loop, Node, Program, Role, Stmt, While
from weft.ir.types import PYBOOL
from weft.ir.walk import (
    buffers_written,
    expr_buffers,
    expr_size,
    free_vars,
    has_exit,
    map_dim,
    map_node_exprs,
    rewrite,
    subexpressions,
    walk,
)
from weft.passes import Knows, PassContext, declared
from weft.passes.late import late
from weft.records import dataclass

_NAME = "checks"
_LARGE = 100  # parts of an expression that is not looked through any more
_REMEMBERED = 100  # scalars whose computation is remembered, the latest ones: long functions stay cheap


@declared("checks", after=("counters",), knows=Knows.BESIDE)
def run(program: Program, context: PassContext) -> Program:
    """Every check proven, moved to the entry, or left in place."""
    written = {name for node in program.body for name in buffers_written(node)}
    fixed = frozenset(b.name for b in program.buffers if b.role is Role.PARAM and b.rank == 0 and b.name not in written)
    guards, settled = list(program.guards), _settled(program, fixed)
    mover = _Mover(program, fixed, guards, settled, _known_floats(program), _known_integers(program), Carried(program))
    body = mover.block(program.body, _Place(entry_facts(program), (), always=context.guarded))
    kept = _without_implied(program, mover.guards)
    if mover.proven or mover.moved:
        context.done(_NAME, f"{mover.proven} conditions proven, {mover.moved} moved to the entry", program.span)
    for span in mover.kept:
        context.missed(_NAME, "this test stays where it is: it depends on data, or on a branch taken", span)
    program = replace(program, guards=kept, body=body)
    return late(program) if context.guarded and not context.alone else program


@dataclass(frozen=True)
class _Place:
    """Where a node stands: what is known there, the dimensions around it, and whether it is reached on every way."""

    facts: Facts
    dims: tuple[AnyDim, ...]
    always: bool
    values: dict[str, Expr] = field(default_factory=dict)  # scalars by what they were computed from, still unchanged

    def inside(self, dims: Iterable[AnyDim]) -> _Place:
        dims = tuple(dims)
        known = self.facts.with_domain(map_dim(dim, self.resolved) for dim in dims) if self.values else None
        return replace(self, facts=known or self.facts.with_domain(dims), dims=self.dims + dims)

    def after(self, node: Node) -> _Place:
        """What is still known of scalars behind a node."""
        written = buffers_written(node)
        if not written:
            return self
        values = self._without(written)
        if isinstance(node, Stmt) and not (node.domain or node.index or node.reduce):
            value = self.resolved(node.value)
            if node.buffer not in expr_buffers(value) and expr_size(value) < _LARGE:
                values[node.buffer] = value
                while len(values) > _REMEMBERED:
                    del values[next(iter(values))]
        return replace(self, values=values)

    def resolved(self, expr: Expr) -> Expr:
        def visit(part: Expr) -> Expr:
            return self.values.get(part.buffer, part) if isinstance(part, Read) else part

        return rewrite(expr, visit) if self.values else expr

    def within(self, node: Node) -> _Place:
        """Inside a loop, where the scalars that it changes are not what they were before it."""
        return replace(self, values=self._without(buffers_written(node)))

    def _without(self, written: set[str]) -> dict[str, Expr]:
        return {n: v for n, v in self.values.items() if n not in written and not expr_buffers(v) & written}

    def knowing(self, condition: Expr, holds: bool = True) -> _Place:
        return replace(self, facts=self.facts.with_condition(condition, holds))

    def perhaps(self) -> _Place:
        return replace(self, always=False)


def worst_case(condition: Expr, dims: tuple[AnyDim, ...], facts: Facts, fixed: frozenset[str]) -> Expr | None:
    """A condition on symbols alone that makes `condition` hold at every point of `dims`; None if there is none to find.

    Inner dimensions go first, since their bounds may use outer ones.
    """
    variables = set(dim_vars(dims))
    if not any(name in variables for name in free_vars(condition)):
        readable = all(e.buffer in fixed for e in subexpressions(condition) if isinstance(e, Read))
        return condition if readable and not isinstance(condition, Const) else None
    if not isinstance(condition, Op) or condition.op not in COMPARISONS or condition.op in ("eq", "ne"):
        return None
    forms = facts.comparison(condition)
    if not forms:
        return None
    form: Affine | None = forms[0]
    for dim in reversed(dims):
        assert form is not None
        form = extreme(form, dim, facts, largest=False)
        if form is None:
            return None
    assert form is not None
    left = Affine(tuple((n, -c) for n, c in form.terms if c < 0), -form.constant if form.constant < 0 else 0)
    right = Affine(tuple((n, c) for n, c in form.terms if c > 0), form.constant if form.constant > 0 else 0)
    spelt = Op("le", (facts.atoms.expression(left), facts.atoms.expression(right)), PYBOOL)
    if any(name in variables for name in free_vars(spelt)):
        return None  # an atom hides a dimension
    return None if facts.decide(spelt) is False or (not form.terms and form.constant < 0) else spelt


@dataclass
class _Mover:
    program: Program
    fixed: frozenset[str]
    guards: list[Check]
    settled: dict[str, Expr]  # scalars known at entry, by what they are computed from there
    floats: floats.Known
    integers: ranges.Environment
    carried: Carried
    extra: list[Affine] = field(default_factory=list)
    proven: int = 0
    moved: int = 0
    kept: list[Span] = field(default_factory=list)

    def block(self, block: Block, place: _Place) -> Block:
        out: list[Node] = []
        for node in block:
            new = self.node(node, place)
            if new is not None:
                out.append(new)
            place = place.after(node)
            if isinstance(new, Check) and not new.domain:
                place = place.knowing(new.condition)
            if has_exit((node,)):
                if isinstance(node, If) and has_exit(node.then) and not node.orelse:
                    place = place.knowing(node.condition, holds=False) if _leaves(node.then) else place
                place = place.perhaps()
        unchanged = len(out) == len(block) and all(a is b for a, b in zip(out, block))
        return block if unchanged else tuple(out)

    def node(self, node: Node, place: _Place) -> Node | None:
        if isinstance(node, Check):
            return self.check(node, place)
        if isinstance(node, Stmt):
            return map_node_exprs(node, lambda e: rewrite(e, lambda part: self.unwrapped(part, place)))
        if isinstance(node, Loop):
            body = self.block(node.body, place.inside((node.dim,)).within(node))
            return node if body is node.body else replace(node, body=body)
        if isinstance(node, If):
            then = self.block(node.then, place.perhaps().knowing(node.condition))
            orelse = self.block(node.orelse, place.perhaps().knowing(node.condition, holds=False))
            return node if then is node.then and orelse is node.orelse else replace(node, then=then, orelse=orelse)
        if isinstance(node, While):
            prelude, body = (self.block(inner, place.within(node)) for inner in (node.prelude, node.body))
            unchanged = prelude is node.prelude and body is node.body
            return node if unchanged else replace(node, prelude=prelude, body=body)
        return node

    def unwrapped(self, expr: Expr, place: _Place) -> Expr:
        """select(k < 0, k + n, k)  -->  k,  for k always within 0 .. n, or never negative by type or mask"""
        if not isinstance(expr, Op) or expr.op != "select":
            return expr
        told = ranges.decided(expr.args[0], self.integers)
        if told is None and _is_negative(expr.args[0]):
            told = place.facts.decide(place.resolved(expr.args[0]))
        if told is not None:
            return expr.args[1 if told else 2]
        found = wrapped(place.resolved(expr))
        return expr.args[2] if found is not None and self.carried.within(*found, place.facts) else expr

    def in_range(self, part: Expr, place: _Place) -> bool:
        """k >= 0 or k < n for a variable that is always within 0 .. n"""
        part = place.resolved(part)
        if not isinstance(part, Op) or part.op not in ("ge", "lt"):
            return False
        index, bound = part.args
        found = wrapped(index)
        name, size = found if found is not None else (index.buffer if isinstance(index, Read) else "", bound)
        if part.op == "lt":
            return size == bound and self.carried.within(name, size, place.facts)
        return found is not None and bound == integer(0) and self.carried.within(name, size, place.facts)

    def at_entry(self, condition: Expr) -> Expr:
        def visit(expr: Expr) -> Expr:
            return self.settled.get(expr.buffer, expr) if isinstance(expr, Read) else expr

        return rewrite(condition, visit) if self.settled else condition

    def check(self, check: Check, place: _Place) -> Check | None:
        """What is left of a check; None if nothing is."""
        inner = place.inside(check.domain)
        left: list[Expr] = []
        for part in conjuncts(check.condition):
            facts = inner.facts.with_forms(self.extra)
            known = facts.decide(part) is True or ranges.holds(part, self.integers)
            known = known or facts.decide(facts.chosen(place.resolved(part))) is True
            if known or self.floats.holds(place.resolved(part)) or self.in_range(part, inner):
                self.proven += 1
                continue
            entry = worst_case(self.at_entry(part), inner.dims, facts, self.fixed) if place.always else None
            if entry is None:
                left.append(part)
                continue
            self.moved += 1
            guard = replace(check, domain=(), condition=entry, values=(), message="")
            if guard not in self.guards:
                self.guards.append(guard)
            self.extra += Facts(atoms=facts.atoms).with_condition(entry).forms
        if not left:
            return None
        self.kept.append(check.span)
        condition = left[0]
        for part in left[1:]:
            condition = Op("and", (condition, part), check.condition.type)
        return check if condition == check.condition else replace(check, condition=condition)


def _is_negative(condition: Expr) -> bool:
    """Whether a condition asks for a negative index."""
    return isinstance(condition, Op) and condition.op == "lt" and condition.args[1] == integer(0)


def _known_integers(program: Program) -> ranges.Environment:
    tested = any(isinstance(node, Check) for node in walk(program.body))
    return ranges.environment(program) if tested else {}


def _known_floats(program: Program) -> floats.Known:
    tested = any(isinstance(node, Check) for node in walk(program.body))
    return floats.known(program) if tested else floats.Known()


def _settled(program: Program, fixed: frozenset[str]) -> dict[str, Expr]:
    """Scalars that one statement writes, from parameters and symbols alone: `power = dx * dx` is known at entry."""
    symbols = {symbol.name for symbol in program.symbols}
    local = {b.name for b in program.buffers if b.role is Role.LOCAL and b.rank == 0}
    writes: dict[str, list[Stmt]] = {}
    for node in walk(program.body):
        if isinstance(node, Stmt):
            writes.setdefault(node.buffer, []).append(node)
        elif not isinstance(node, (Loop, If, While)):
            local -= buffers_written(node)
    found: dict[str, Expr] = {}
    for name in local:
        statements = writes.get(name, [])
        if len(statements) == 1 and statements[0].reduce is None and not statements[0].domain:
            found[name] = statements[0].value
    return {name: value for name, value in found.items() if _of_entry(value, symbols, fixed)}


def _of_entry(value: Expr, symbols: set[str], fixed: frozenset[str]) -> bool:
    reads = (e.buffer for e in subexpressions(value) if isinstance(e, Read))
    return all(name in symbols for name in free_vars(value)) and all(name in fixed for name in reads)


def _leaves(block: Block) -> bool:
    """Whether the end of a block is never reached."""
    return bool(block) and type(block[-1]).__name__ in ("Return", "Break", "Continue")


def _without_implied(program: Program, guards: list[Check]) -> tuple[Check, ...]:
    """Guards without those that the others imply: all of them only decide whether plain Python runs."""
    kept = list(guards)
    bare = entry_facts(replace(program, guards=()))
    plain = [guard for guard in guards if not guard.domain]
    told = {id(guard): Facts(atoms=bare.atoms).with_condition(guard.condition).forms for guard in plain}
    for guard in reversed(plain):
        others = [other for other in kept if other is not guard]
        known = bare.with_forms(form for other in others for form in told.get(id(other), ()))
        if known.decide(guard.condition) is True:
            kept = others
    return tuple(kept)


__all__ = ["run", "worst_case"]
