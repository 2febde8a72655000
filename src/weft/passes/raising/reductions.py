"""Reductions: `x = x op e` recognised.  In: a statement; out: the operation and the term, if it has that form.

s = s + a[i] * b[i]             add, a[i] * b[i]
s = s - a - b                   add, a + b, subtracted
s = select(c, s + e, s)         add, select(c, e, 0)
f = select(c, True, f)          or, c
m = select(a[i] < m, a[i], m)   minimum, a[i]          (integers; a float that is NaN or a signed zero tells them apart)
"""

from __future__ import annotations

from dataclasses import replace

from weft.ir.expr import Cast, Const, Expr, Op, Read
from weft.ir.ops import REDUCTIONS
from weft.ir.program import Stmt
from weft.ir.types import DType, ScalarType
from weft.ir.walk import subexpressions
from weft.passes.simplifying.algebra import as_type
from weft.records import dataclass

_CHAINS = frozenset({"mul", "minimum", "maximum", "and", "or", "bitand", "bitor", "bitxor"})


@dataclass(frozen=True)
class Accumulation:
    """The target is combined by `op` with `term`; `subtracted` for `x - term` (op is then add); `keeps` if of two
    equal floats (zeros of both signs) the one stays that the target has, and not the term as in NumPy's minimum."""

    op: str
    term: Expr
    subtracted: bool = False
    keeps: bool = False


def accumulation(stmt: Stmt) -> Accumulation | None:
    """The statement as an accumulation into its own target, None if it is none; the term never reads that element."""
    found = _match(stmt.value, stmt)
    if found is None or any(_is_target(part, stmt) for part in subexpressions(found.term)):
        return None
    return found


def unchanging(op: str, of: ScalarType, subtracted: bool = False) -> Const:
    """What leaves any value as it is when it is combined with it, the sign of a zero included: x + -0.0 is x."""
    if op == "add" and of.dtype.is_inexact and not subtracted:
        return Const(complex(-0.0, -0.0) if of.dtype.is_complex else -0.0, of)
    return Const(REDUCTIONS[op].identity(of), of)


def reorders(found: Accumulation, of: ScalarType) -> bool:
    """Whether another order of the terms may change the value (so that strict floating point forbids it)."""
    return reorders_sum(found.op, of)


def reorders_sum(op: str, of: ScalarType) -> bool:
    """The same of a reduction by `op` of values of a type."""
    return of.dtype.is_inexact and op in ("add", "mul", "minimum", "maximum")


def in_order(op: str, of: ScalarType, term: Expr) -> bool:
    """Whether a sum has the order of the source in every mode: one of Python's floats, which CPython adds up so.

    Terms that come from arrays may go in another order, as NumPy's own do, and so may those of lists of lists.
    """
    if op not in ("add", "mul") or not of.weak or not of.dtype.is_inexact:
        return False
    read = (part for part in subexpressions(term) if isinstance(part, Read) and part.index)
    return all(part.of.weak and len(part.index) == 1 for part in read)


def _is_target(expr: Expr, stmt: Stmt) -> bool:
    return isinstance(expr, Read) and expr.buffer == stmt.buffer and expr.index == stmt.index


def _match(value: Expr, stmt: Stmt) -> Accumulation | None:
    if isinstance(value, Cast) and value.of.dtype is value.value.type.dtype:
        return _match(value.value, stmt)
    if not isinstance(value, Op):
        return None
    if value.op in ("add", "sub") and value.of.dtype is not DType.BOOL:
        return _sum(value, stmt)
    if value.op in _CHAINS:
        return _chain(value, stmt)
    if value.op == "select":
        return _conditional(value, stmt)
    return None


def _sum(value: Op, stmt: Stmt) -> Accumulation | None:
    """A chain of additions and subtractions with the target once, positive."""
    terms: list[tuple[int, Expr]] = []
    _collect(value, 1, terms)
    mine = [sign for sign, term in terms if _is_target(term, stmt)]
    if mine != [1]:
        return None
    others = [(sign, term) for sign, term in terms if not _is_target(term, stmt)]
    subtracted = all(sign < 0 for sign, _ in others)
    if not subtracted and others[0][0] < 0:
        others.sort(key=lambda item: -item[0])  # start from a term that is added
    total: Expr | None = None
    for sign, term in others:
        if total is None:
            total = as_type(term, value.of)
        else:
            op = "add" if sign > 0 or subtracted else "sub"
            total = Op(op, (total, term), value.of, value.span)
    return None if total is None else Accumulation("add", total, subtracted)


def _collect(expr: Expr, sign: int, terms: list[tuple[int, Expr]]) -> None:
    """The left spine of a sum: only what the source adds to the target one after the other is separated."""
    if isinstance(expr, Op) and expr.op in ("add", "sub"):
        _collect(expr.args[0], sign, terms)
        terms.append((sign if expr.op == "add" else -sign, expr.args[1]))
    else:
        terms.append((sign, expr))


def _chain(value: Op, stmt: Stmt) -> Accumulation | None:
    """A chain of one operation with the target once: x * a * b."""
    parts: list[Expr] = []
    stack: list[Expr] = [value]
    while stack:
        part = stack.pop()
        if isinstance(part, Op) and part.op == value.op:
            stack.extend(reversed(part.args))
        else:
            parts.append(part)
    others = [part for part in parts if not _is_target(part, stmt)]
    if len(others) != len(parts) - 1 or not others:
        return None
    total = as_type(others[0], value.of)
    for part in others[1:]:
        total = Op(value.op, (total, part), value.of, value.span)
    if any(part.type.dtype is not value.of.dtype for part in others):
        return None
    return Accumulation(value.op, total)


def _conditional(value: Op, stmt: Stmt) -> Accumulation | None:
    condition, then, orelse = value.args
    if _is_target(orelse, stmt) or _is_target(then, stmt):
        extreme = _compare_and_take(condition, then, orelse, stmt)
        if extreme is not None:
            return extreme
        changed = then if _is_target(orelse, stmt) else orelse
        if isinstance(changed, Const) and value.of.dtype is DType.BOOL:
            return _flag(condition if changed is then else _not(condition), bool(changed.value), value.of)
        inner = _match(changed, stmt)
        if inner is None:
            return None
        neutral = Const(REDUCTIONS[inner.op].identity(inner.term.type), inner.term.type)
        pair: tuple[Expr, ...] = (inner.term, neutral) if changed is then else (neutral, inner.term)
        return replace(inner, term=Op("select", (condition, *pair), inner.term.type, value.span))
    first, second = _match(then, stmt), _match(orelse, stmt)
    if first is None or second is None or first.op != second.op or first.term.type != second.term.type:
        return None
    both = first.subtracted and second.subtracted
    pair = tuple(found.term if both or not found.subtracted else _negated(found.term) for found in (first, second))
    keeps = first.keeps or second.keeps
    return Accumulation(first.op, Op("select", (condition, *pair), first.term.type, value.span), both, keeps)


def _flag(condition: Expr, raised: bool, of: ScalarType) -> Accumulation:
    """A flag that is raised (or lowered) wherever the condition holds."""
    return Accumulation("or" if raised else "and", as_type(condition if raised else _not(condition), of))


def _not(condition: Expr) -> Expr:
    return Op("not", (condition,), condition.type)


def _negated(term: Expr) -> Expr:
    return Op("neg", (term,), term.type)


def _compare_and_take(condition: Expr, then: Expr, orelse: Expr, stmt: Stmt) -> Accumulation | None:
    """select(e < x, e, x) as minimum.

    A float that is NaN compares false, so it must be the kept side that is taken then.
    """
    if isinstance(condition, Cast) and condition.of.dtype is DType.BOOL:
        condition = condition.value
    if not isinstance(condition, Op) or condition.op not in ("lt", "le", "gt", "ge"):
        return None
    if {condition.args[0], condition.args[1]} != {then, orelse}:
        return None
    smaller = (condition.op in ("lt", "le")) is (condition.args[0] == then)
    op = "minimum" if smaller else "maximum"
    term = orelse if _is_target(then, stmt) else then
    if not term.type.dtype.is_inexact:
        return Accumulation(op, term)
    if term.type.dtype.is_complex or not _is_target(orelse, stmt):
        return None
    never = Const(REDUCTIONS[op].identity(term.type), term.type)
    test = Op("isnan", (term,), ScalarType(DType.BOOL, term.type.weak))
    keeps = condition.op in ("lt", "gt")
    return Accumulation(op, Op("select", (test, never, term), term.type), keeps=keeps)
