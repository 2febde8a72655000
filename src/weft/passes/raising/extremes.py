"""Extremes: the best so far and where it was, kept by comparison, become an arg-reduction.

    for i: test = e(i) < best;  best = select(test, e(i), best);  k = select(test, g(i), k)
        -->  at = argmin[i] e(i);  test = e(at) < best;  k = select(test, g(at), k);  best = select(test, e(at), best)

In: the items of a loop body; out: those that keep an extreme, and the statements that stand for them.  A strict
comparison takes the first of equal values, as argmin does; `<=` takes the last one, which is looked for once the best
value is known.  A NaN is never taken.  A further condition (`if c(i) and e(i) < best`) takes part as a value that is
never taken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from weft.analysis.facts import conjuncts
from weft.ir.expr import Cast, Const, Dim, Expr, Op, Read, Reduce, Var, is_const
from weft.ir.index import add as plus
from weft.ir.index import sub as minus
from weft.ir.ops import REDUCTIONS
from weft.ir.program import Stmt
from weft.ir.types import BOOL, INT, PYBOOL
from weft.ir.walk import buffers_read, buffers_written, expr_buffers, free_vars, is_repeatable, substitute
from weft.passes.raising.definitions import Definitions
from weft.passes.raising.predicate import Item, NewBuffer
from weft.records import dataclass

_KINDS = {"lt": "argmin", "gt": "argmax"}
_LAST = {"le": "minimum", "ge": "maximum"}
_MIRRORED = {"lt": "gt", "gt": "lt", "le": "ge", "ge": "le"}
_FALSE = Const(False, BOOL)


@dataclass(frozen=True)
class Extreme:
    """`best` takes `value` where all `guards` hold and `value op best`; `kept` are set along with it."""

    items: tuple[Item, ...]
    test: str | None  # the scalar that holds the condition
    op: str
    best: Stmt
    value: Expr
    guards: tuple[Expr, ...]
    kept: tuple[Stmt, ...]
    compared: Expr | None = None  # what is compared with, if only the place of the best is kept: its value there

    @property
    def old(self) -> Expr:
        """The best value before the loop."""
        return Read(self.best.buffer, (), self.value.type) if self.compared is None else self.compared

    def resolved(self, visit: Callable[[Expr], Expr]) -> Extreme:
        """The same with expressions rewritten; the items stay those of the body."""
        best, *kept = (replace(stmt, value=_taking(stmt, visit(taken(stmt)))) for stmt in (self.best, *self.kept))
        guards = tuple(visit(guard) for guard in self.guards)
        return replace(self, best=best, value=visit(self.value), guards=guards, kept=tuple(kept))

    @property
    def reads(self) -> set[str]:
        """What decides and what is kept is computed from."""
        exprs = (self.value, *self.guards, *(taken(stmt) for stmt in self.kept))
        return {name for expr in exprs for name in expr_buffers(expr)}

    def statements(self, dim: Dim, new_buffer: NewBuffer, final: Callable[[Expr, Expr], Expr]) -> list[Stmt]:
        """What stands for the loop; `final` gives an expression of the body at an iteration, after the loop."""
        hit = new_buffer("found", BOOL, ()).name
        find = self._first if self.op in _KINDS else self._last
        out = find(dim, new_buffer, final, hit)
        there, test = Read(out[-2].buffer, (), INT), Read(hit, (), BOOL)
        for stmt in (*self.kept, self.best):
            old = Read(stmt.buffer, (), stmt.value.type)
            value = Op("select", (test, final(taken(stmt), there), old), stmt.value.type)
            out.append(Stmt((), stmt.buffer, (), value, span=stmt.span))
        return out

    def _key(self, op: str, here: Expr, final: Callable[[Expr, Expr], Expr]) -> Expr:
        """What takes part in the comparison at an iteration: never what a guard excludes, never a NaN."""
        never = Const(REDUCTIONS[op].identity(self.value.type), self.value.type)
        key = final(self.value, here)
        if key.type.dtype.is_inexact:
            key = Op("select", (Op("isnan", (key,), BOOL), never, key), key.type)
        for guard in reversed(self.guards):
            key = Op("select", (final(guard, here), key, never), key.type)
        return key

    def _guarded(self, test: Expr, at: Expr, final: Callable[[Expr, Expr], Expr]) -> Expr:
        for guard in reversed(self.guards):
            test = Op("select", (final(guard, at), test, _FALSE), BOOL)
        return test

    def _first(self, dim: Dim, new_buffer: NewBuffer, final: Callable[[Expr, Expr], Expr], hit: str) -> list[Stmt]:
        """at = argmin[i] e(i);  hit = e(at) < best"""
        span, kind = self.best.span, _KINDS[self.op]
        at = new_buffer("at", INT, ()).name
        there = Read(at, (), INT)
        key = self._key(_PLAIN[kind], Var(dim.var), final)
        better = Op(self.op, (final(self.value, there), self.old), BOOL)
        place = plus(dim.lo, Cast(Reduce(kind, (dim,), key, span), INT))
        some = Op("lt", (dim.lo, dim.hi), PYBOOL)
        found = Op("select", (some, self._guarded(better, there, final), _FALSE), BOOL)
        return [Stmt((), at, (), place, span=span), Stmt((), hit, (), found, span=span)]

    def _last(self, dim: Dim, new_buffer: NewBuffer, final: Callable[[Expr, Expr], Expr], hit: str) -> list[Stmt]:
        """top = min[i] e(i);  at = max[i] (i if e(i) == top else before all);  hit = one was found, top <= best"""
        span, op, here = self.best.span, _LAST[self.op], Var(dim.var)
        top = new_buffer("top", self.value.type, ()).name
        at = new_buffer("at", INT, ()).name
        best = Read(top, (), self.value.type)
        before = minus(dim.lo, Const(1, INT))
        equal = self._guarded(Op("eq", (final(self.value, here), best), BOOL), here, final)
        place = Reduce("maximum", (dim,), Op("select", (equal, here, before), INT), span)
        some = Op("and", (Op("lt", (dim.lo, dim.hi), PYBOOL), Op("ge", (Read(at, (), INT), dim.lo), PYBOOL)), PYBOOL)
        better = Op(self.op, (best, self.old), BOOL)
        return [
            Stmt((), top, (), Reduce(op, (dim,), self._key(op, here, final), span), span=span),
            Stmt((), at, (), Op("maximum", (place, before), INT), span=span),
            Stmt((), hit, (), Op("select", (some, better, _FALSE), BOOL), span=span),
        ]


_PLAIN = {"argmin": "minimum", "argmax": "maximum"}


def taken(stmt: Stmt) -> Expr:
    """What `x = select(test, value, x)` takes."""
    assert isinstance(stmt.value, Op)
    return stmt.value.args[1]


def _taking(stmt: Stmt, value: Expr) -> Expr:
    assert isinstance(stmt.value, Op)
    test, _, old = stmt.value.args
    return replace(stmt.value, args=(test, value, old))


def _extreme(items: list[Item], variable: str) -> Extreme | None:
    """The items that keep an extreme and what belongs to it; None if there are none, or others look at them."""
    for item in items:
        found = _of_best(item, items) or _of_place(item, items, variable)
        if found is not None:
            return found
    return None


def _of_best(item: Item, items: list[Item]) -> Extreme | None:
    """The extreme that `item` sets."""
    best = item.node
    if not isinstance(best, Stmt) or not isinstance(best.value, Op) or not _takes(best, best.value.args[0]):
        return None
    condition = best.value.args[0]
    setters = [other for other in items if isinstance(condition, Read) and _sets(other.node, condition.buffer)]
    users = [other for other in items if _takes(other.node, condition)]
    mine = [*setters, *users]
    if len(setters) > 1 or any(one.within for one in mine) or len({_target(one) for one in mine}) != len(mine):
        return None
    if not setters and users[-1] is not item:
        return None  # the others would compare with what has just been taken
    own = {_target(one) for one in mine}
    if any((buffers_read(o.node) | buffers_written(o.node)) & own for o in items if all(o is not m for m in mine)):
        return None
    test = setters[0].node if setters else None
    parts = _parts(test.value if isinstance(test, Stmt) else condition)
    comparisons = [(op, part) for part in parts if (op := _compares(part, best)) is not None]
    if len(comparisons) != 1 or len(users) == 1:
        return None  # the extreme alone is a plain reduction
    op, comparison = comparisons[0]
    guards = tuple(part for part in parts if part is not comparison)
    kept = tuple(user.node for user in users if user is not item and isinstance(user.node, Stmt))
    name = condition.buffer if setters and isinstance(condition, Read) else None
    found = Extreme(tuple(mine), name, op, best, taken(best), guards, kept)
    if op in _LAST and not is_repeatable(found.value):
        return None  # the last of equal values is found by comparing each with the best
    return None if found.reads & own else found


def _of_place(item: Item, items: list[Item], variable: str) -> Extreme | None:
    """k = select(e(i) < e(k), i, k): only where the best is is kept."""
    place = item.node
    if not isinstance(place, Stmt) or item.within or not _takes(place, _condition(place)):
        return None
    if taken(place) != Var(variable) or any(place.buffer in buffers_read(o.node) for o in items if o is not item):
        return None
    if any(o is not item and place.buffer in buffers_written(o.node) for o in items):
        return None
    old = Read(place.buffer, (), INT)
    parts = _parts(_condition(place))
    for part in parts:
        if not isinstance(part, Op) or part.op not in _MIRRORED or part.args[0].type.dtype.is_complex:
            continue
        left, right = part.args
        for op, value, best in ((part.op, left, right), (_MIRRORED[part.op], right, left)):
            if variable in free_vars(value) and substitute(value, {variable: old}) == best and is_repeatable(value):
                guards = tuple(other for other in parts if other is not part)
                if place.buffer in {name for guard in guards for name in expr_buffers(guard)}:
                    return None
                return Extreme((item,), None, op, place, value, guards, (), best)
    return None


def _condition(stmt: Stmt) -> Expr:
    return stmt.value.args[0] if isinstance(stmt.value, Op) and stmt.value.op == "select" else _FALSE


def _target(item: Item) -> str:
    assert isinstance(item.node, Stmt)
    return item.node.buffer


def _sets(node: object, name: str) -> bool:
    return isinstance(node, Stmt) and node.buffer == name


def _sets_scalar(node: object) -> bool:
    return isinstance(node, Stmt) and not (node.index or node.domain or node.reduce)


def _parts(condition: Expr) -> list[Expr]:
    """a and b, also where b is only looked at if a holds."""
    if isinstance(condition, Op) and condition.op == "select" and is_const(condition.args[2], False):
        return _parts(condition.args[0]) + _parts(condition.args[1])
    found = conjuncts(condition)
    return found if len(found) == 1 else [part for one in found for part in _parts(one)]


def _takes(stmt: object, test: Expr) -> bool:
    """x = select(test, value, x)"""
    if not isinstance(stmt, Stmt) or not _sets_scalar(stmt):
        return False
    value = stmt.value
    if not isinstance(value, Op) or value.op != "select" or value.args[0] != test:
        return False
    return value.args[2] == Read(stmt.buffer, (), value.args[2].type)


def _compares(part: Expr, best: Stmt) -> str | None:
    """lt, le, gt or ge, if the condition compares what `best` would take with what it has."""
    if not isinstance(part, Op) or part.op not in _MIRRORED or part.args[0].type.dtype.is_complex:
        return None
    old, new = Read(best.buffer, (), best.value.type), taken(best)
    if part.args == (new, old):
        return part.op
    return _MIRRORED[part.op] if part.args == (old, new) else None


def kept_extremes(work: list[Item], private: set[str], variable: str) -> list[Extreme]:
    """The extremes that a loop over `variable` keeps by comparison, if nothing else in its body, or behind it, has to
    do with them."""
    found: list[Extreme] = []
    rest = work
    while (kept := _kept(rest, private, variable)) is not None:
        found.append(kept)
        rest = without(rest, kept)
    own = {name for one in found for item in one.items for name in buffers_written(item.node)}
    return [] if any(one.reads & own for one in found) else found


def _kept(work: list[Item], private: set[str], variable: str) -> Extreme | None:
    kept = _extreme(work, variable)
    if kept is None or (kept.test is not None and kept.test not in private):
        return None
    known = Definitions(work)
    for item in without(work, kept):
        known.take(item)
    known.values = {name: value for name, value in known.values.items() if name in private}
    kept = kept.resolved(known.resolved)
    changed = {name for item in work for name in buffers_written(item.node)} - private
    return None if kept.reads & changed else kept


def without(items: Iterable[Item], found: Extreme) -> list[Item]:
    return [item for item in items if all(item is not mine for mine in found.items)]


__all__ = ["Extreme", "kept_extremes", "without"]
