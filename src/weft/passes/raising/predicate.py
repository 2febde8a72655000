"""Predicate: branches of a loop body become statements.  In: a block; out: items, statements with conditions inside.

if c: a[i] = v                 -->   a[i] = select(c, v, a[i])
if 0 < i: a[i] = a[i - 1]      -->   a[i] = a[i - 1]  within 0 < i        (the loop's bounds will take it up)
if c: t = x; y = t  (t dead)   -->   t = select(c, x, 0); y = select(c, t, y)
if c: h[k[i]] = h[k[i]] + e    -->   p = select(c, k[i], 0); h[p] = h[p] + select(c, e, -0.0)     (h is not empty)
if e < h[k[i]]: h[k[i]] = e    -->   h[k[i]] = select(e < h[k[i]], e, h[k[i]])        (the test has read that element)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field, replace

from weft.analysis.effects import Liveness
from weft.analysis.facts import NEGATED, Facts, conjuncts
from weft.errors import NOWHERE
from weft.ir.expr import Cast, Const, Expr, Op, Read, Reduce
from weft.ir.index import Affine
from weft.ir.ops import COMPARISONS, REDUCTIONS
from weft.ir.program import Alloc, Block, Buffer, Check, If, Loop, Node, Stmt
from weft.ir.types import BOOL, ScalarType
from weft.ir.walk import (
    buffers_read,
    buffers_written,
    domain_buffers,
    expr_buffers,
    rewrite,
    sub_blocks,
    subexpressions,
    walk,
)
from weft.passes.raising.reductions import accumulation, unchanging
from weft.records import dataclass

_MOST_CONDITIONS = 16  # branches inside each other (`elif` too) of which each statement tests all
NewBuffer = Callable[[str, ScalarType, tuple[Expr, ...]], Buffer]


@dataclass(frozen=True)
class Item:
    """A node of a loop body and the affine conditions (forms >= 0) on the loop variable under which it runs."""

    node: Node
    within: tuple[Affine, ...] = ()


@dataclass(frozen=True)
class _Condition:
    """A branch condition: an expression, the side taken, and its affine forms if it bounds the loop variable."""

    expr: Expr
    holds: bool
    forms: tuple[Affine, ...]
    meant: Expr  # the source's own condition, in terms of what the loop does not change


@dataclass
class Flattening:
    """The branches of one loop's body; `variable` is the loop's, `facts` hold inside it."""

    buffers: Callable[[str], Buffer]
    live: Liveness
    variable: str
    facts: Facts
    new_buffer: NewBuffer
    wanted: list[Item] = field(default_factory=list)  # checks of what the next item takes for granted
    writes: dict[str, int] = field(default_factory=dict)  # how often the body writes what
    values: dict[str, Expr] = field(default_factory=dict)  # variables set so far that mean the same from then on
    own: set[str] = field(default_factory=set)  # variables that are dead behind the branch that sets them
    passed: set[Expr] = field(default_factory=set)  # conditions that every iteration has tested before it gets here

    def items(self, block: Block) -> list[Item] | str:
        """The block as items, or the reason why a branch must stay a branch."""
        for node in walk(block):
            for name in () if sub_blocks(node) else buffers_written(node):
                self.writes[name] = self.writes.get(name, 0) + 1
        found = self._block(block, (), frozenset())
        return found if isinstance(found, str) else self._without_unused(found)

    def _without_unused(self, items: list[Item]) -> list[Item]:
        """The items without variables of a branch whose readers use what they mean instead."""
        used: set[str] = set()
        out: list[Item] = []
        for item in reversed(items):
            node = item.node
            if isinstance(node, Stmt) and not node.index and node.buffer in self.own - used:
                continue
            used |= buffers_read(node)
            out.append(item)
        return out[::-1]

    def _note(self, node: Node) -> None:
        """What a variable means, if nothing else sets it and the loop does not change what it is made of."""
        if not isinstance(node, Stmt) or node.index or node.domain or node.reduce is not None:
            return
        value = self._meant(node.value)
        if self.writes.get(node.buffer) == 1 and expr_buffers(value).isdisjoint(self.writes):
            self.values[node.buffer] = value

    def _is_passed(self, check: Check, always: bool) -> bool:
        """Whether a test was made before in the same iteration; one that all of them make counts from here on."""
        condition = self._meant(check.condition)
        if condition in self.passed:
            return True
        if always and expr_buffers(condition).isdisjoint(self.writes):
            self.passed.add(condition)
        return False

    def _meant(self, expr: Expr) -> Expr:
        if self.values.keys().isdisjoint(expr_buffers(expr)):
            return expr
        return rewrite(expr, lambda e: self.values.get(e.buffer, e) if isinstance(e, Read) else e)

    def _block(self, block: Block, conditions: tuple[_Condition, ...], temporaries: frozenset[str]) -> list[Item] | str:
        if len(conditions) > _MOST_CONDITIONS:
            return f"more than {_MOST_CONDITIONS} branches inside each other: to test them one by one is cheaper"
        out: list[Item] = []
        for node in block:
            self._note(node)
            if isinstance(node, Check) and not node.domain and self._is_passed(node, not conditions):
                continue
            if isinstance(node, If):
                found = self._branch(node, conditions, temporaries)
                if isinstance(found, str):
                    return found
                out += found
            elif not conditions or isinstance(node, Alloc):
                out.append(Item(node))
            elif isinstance(node, Stmt):
                item = self._statement(node, conditions, temporaries)
                if isinstance(item, str):
                    return item
                out += [*self.wanted, item]
                self.wanted = []
            elif isinstance(node, Check):
                always = Const(True, node.condition.type)
                out.append(Item(replace(node, condition=_choose(conditions, node.condition, always))))
            elif isinstance(node, Loop):
                return "a loop inside a branch cannot be turned into a statement"
            else:
                return "a branch holds something other than assignments"
        return out

    def _branch(self, node: If, conditions: tuple[_Condition, ...], temporaries: frozenset[str]) -> list[Item] | str:
        out: list[Item] = []
        condition = node.condition
        meant = self._meant(condition)
        inside = node.then + node.orelse
        # Each statement tests anew, the last one together with what it writes.
        before = inside[:-1] if inside and isinstance(inside[-1], Stmt) else inside
        written = {name for inner in before for name in buffers_written(inner)}
        if expr_buffers(condition) & written and len(inside) > 1:
            kept = self.new_buffer("test", BOOL, ())
            value = condition if condition.type == BOOL else Op("and", (condition, condition), BOOL)
            zero = Const(False, BOOL)
            out.append(Item(Stmt((), kept.name, (), _choose(conditions, value, zero), span=node.span)))
            condition = Read(kept.name, (), BOOL)
        merged = _merged(node, condition)
        if merged is not None:
            found = self._block(merged, conditions, temporaries)
            return found if isinstance(found, str) else out + found
        for block, holds in ((node.then, True), (node.orelse, False)):
            if not block:
                continue
            forms = bounds_on(condition, holds, self.variable, self.facts)
            # A scalar set in the branch and dead behind it needs no old value when the branch is not taken.  One that
            # is dead only behind a branch around this one does: the rest of that one still reads it.
            after = self.live.after.get(id(block[-1]), frozenset(self.live.program.table))
            dead = {name for inner in block for name in buffers_written(inner) if name not in after}
            self.own |= {name for name in dead if self.writes.get(name) == 1}
            found = self._block(block, (*conditions, _Condition(condition, holds, forms, meant)), frozenset(dead))
            if isinstance(found, str):
                return found
            out += found
        return out

    def _statement(self, stmt: Stmt, conditions: tuple[_Condition, ...], temporaries: frozenset[str]) -> Item | str:
        if domain_buffers(stmt.domain):
            return "the extent of a statement inside a branch is read from memory"
        if not stmt.index:
            kept: Expr = Read(stmt.buffer, (), self._type(stmt))
            if stmt.buffer in temporaries and stmt.reduce is None:
                kept = _zero(stmt.value.type)
            return Item(replace(stmt, value=_choose(conditions, stmt.value, self._neutral(stmt, kept))))
        chosen = tuple(c for c in conditions if not c.forms)
        within = tuple(form for c in conditions for form in c.forms)
        known = self._read_by(stmt, chosen[0].meant) if chosen else None
        stmt = stmt if known is None else replace(stmt, index=known)
        old = self._neutral(stmt, Read(stmt.buffer, stmt.index, self._type(stmt)))
        if chosen and known is None and not self._in_bounds(stmt, within):
            elsewhere = self._nothing_added(stmt, chosen, within)
            if elsewhere is None:
                return "a branch writes at an index that may be out of bounds when the branch is not taken"
            return Item(elsewhere, within)
        return Item(replace(stmt, value=_choose(chosen, stmt.value, old)), within)

    def _read_by(self, stmt: Stmt, condition: Expr) -> tuple[Expr, ...] | None:
        """Where a statement writes, if a condition always reads that element: in bounds whether it holds or not."""
        index = tuple(self._meant(part) for part in stmt.index)
        return index if not stmt.domain and _always_reads(condition, stmt.buffer, index) else None

    def _nothing_added(self, stmt: Stmt, chosen: tuple[_Condition, ...], within: tuple[Affine, ...]) -> Stmt | None:
        """An accumulation whose branch is not taken adds what changes nothing, to the first element of its target."""
        facts = self.facts.with_forms(within)
        tests: list[Item] = []
        for size in self.buffers(stmt.buffer).shape:
            extent = facts.linear(size)
            if extent is None:
                return None
            if not facts.prove(extent - Affine((), 1)):
                some = Op("ge", (size, Const(1, size.type)), BOOL)
                tests.append(Item(Check((), some, "IndexError", span=stmt.span)))
        index = tuple(_choose(chosen, part, Const(0, part.type)) for part in stmt.index)
        if stmt.reduce is not None:
            nothing = unchanging(stmt.reduce, stmt.value.type)
            self.wanted = tests
            return replace(stmt, index=index, value=_choose(chosen, stmt.value, nothing))
        found = accumulation(stmt)
        if found is None:
            return None
        self.wanted = tests
        term = _choose(chosen, found.term, unchanging(found.op, found.term.type, found.subtracted))
        target = Read(stmt.buffer, index, self._type(stmt))
        op = "sub" if found.subtracted else found.op
        return replace(stmt, index=index, value=Op(op, (target, term), stmt.value.type, stmt.span))

    def _neutral(self, stmt: Stmt, old: Expr) -> Expr:
        if stmt.reduce is None:
            return old
        return Const(REDUCTIONS[stmt.reduce].identity(stmt.value.type), stmt.value.type)

    def _type(self, stmt: Stmt) -> ScalarType:
        return self.buffers(stmt.buffer).type

    def _in_bounds(self, stmt: Stmt, within: tuple[Affine, ...]) -> bool:
        facts = self.facts.with_domain(stmt.domain).with_forms(within)
        shape = self.buffers(stmt.buffer).shape
        for part, size in zip(stmt.index, shape):
            place, extent = facts.linear(part), facts.linear(size)
            if place is None or extent is None:
                return False
            if not (facts.prove(place) and facts.prove(extent - Affine((), 1) - place)):
                return False
        return True


def _merged(node: If, condition: Expr) -> Block | None:
    """if c: x = a; else: x = b   -->   x = select(c, a, b),  if both branches set the same things in the same order."""
    if len(node.then) != len(node.orelse):
        return None
    out: list[Node] = []
    for a, b in zip(node.then, node.orelse):
        if not isinstance(a, Stmt) or not isinstance(b, Stmt) or a.domain or b.domain or a.reduce or b.reduce:
            return None
        if a.buffer != b.buffer or a.index != b.index or a.value.type.dtype is not b.value.type.dtype:
            return None
        out.append(replace(a, value=Op("select", (condition, a.value, b.value), a.value.type, a.span)))
    return tuple(out)


def _always_reads(expr: Expr, buffer: str, index: tuple[Expr, ...]) -> bool:
    if isinstance(expr, Read):
        return expr.buffer == buffer and expr.index == index
    if not isinstance(expr, (Op, Cast)):
        return False
    always = expr.args if isinstance(expr, Op) else (expr.value,)
    if isinstance(expr, Op) and expr.op == "select":
        always = expr.args[:1]
    return any(_always_reads(part, buffer, index) for part in always)


def _zero(of: ScalarType) -> Const:
    return Const({"b": False, "f": 0.0, "c": 0j}.get(of.dtype.kind, 0), of)


def _choose(conditions: tuple[_Condition, ...], value: Expr, otherwise: Expr) -> Expr:
    """`value` where all conditions hold; the outermost is tested first, since it may guard the reads of the others."""
    for condition in reversed(conditions):
        pair = (value, otherwise) if condition.holds else (otherwise, value)
        value = Op("select", (condition.expr, *pair), value.type, NOWHERE)
    return value


def bounds_on(condition: Expr, holds: bool, variable: str, facts: Facts) -> tuple[Affine, ...]:
    """The forms of a condition that only bounds one variable, each with coefficient 1 or -1 in it; () if it is more."""
    if isinstance(condition, Op) and condition.op == "not":
        return bounds_on(condition.args[0], not holds, variable, facts)
    parts = conjuncts(condition)
    if not holds and len(parts) > 1:
        return ()
    found: list[Affine] = []
    for part in parts:
        if not isinstance(part, Op) or part.op not in COMPARISONS:
            return ()
        if any(isinstance(e, (Read, Reduce)) for e in subexpressions(part)):
            return ()
        forms = facts.comparison(part if holds else replace(part, op=NEGATED[part.op]))
        if not forms or any(abs(form.coefficient(variable)) != 1 for form in forms):
            return ()
        if any(name.startswith("@") for form in forms for name in form.names):
            return ()
        found += forms
    return tuple(found)


__all__ = ["Flattening", "Item", "bounds_on"]
