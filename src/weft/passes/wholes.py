"""Wholes: tests of parts of an array, in a loop that does not change it, as a test of the whole before the loop.

    for k: if all[i: p[k] <= i < q[k]] (0 <= i < n and c[i] < m): A  else: B
        -->  w = all[j: 0 <= j < n] c[j] < m
             for k: { if w: t = q[k] <= p[k] or (0 <= p[k] and q[k] <= n)  else: t = all[i] ...;  if t: A  else: B }

In: a condition, and what the loop around changes; out: the conditions of whole arrays, and what is left to be tested if
they hold.  Where they do not hold, the condition is tested as it was.
"""

from __future__ import annotations

from collections.abc import Callable

from weft.analysis.facts import Facts
from weft.ir.expr import TRUE, ZERO, Const, Dim, Expr, Op, Read, Reduce, Var
from weft.ir.index import Affine
from weft.ir.types import BOOL, PYBOOL
from weft.ir.walk import expr_buffers, free_vars, rewrite, subexpressions, substitute
from weft.passes.raising.beforehand import at_ends, in_order, in_turn
from weft.passes.raising.predicate import bounds_on
from weft.passes.rename import renamed_expr
from weft.passes.simplifying.algebra import as_type
from weft.records import dataclass


@dataclass(frozen=True)
class Split:
    """`rest` is the condition where all of `wholes` hold."""

    wholes: tuple[Expr, ...]
    rest: Expr


@dataclass(frozen=True)
class Splitter:
    """`changing` are the buffers that the loop writes, `symbols` the variables that are known at entry."""

    shape: Callable[[str], tuple[Expr, ...]]
    symbols: frozenset[str]
    changing: frozenset[str]
    taken: set[str]

    def split(self, condition: Expr) -> Split | None:
        """None if nothing in it is a test of parts of an array that stays as it is."""
        wholes: dict[Expr, None] = {}

        def visit(expr: Expr) -> Expr:
            if not isinstance(expr, Reduce) or expr.op != "and":
                return expr
            found = self._parts(expr)
            if found is None:
                return expr
            wholes.update(dict.fromkeys(found.wholes))
            return found.rest

        rest = rewrite(condition, visit)
        if not wholes:
            return None
        own = tuple(renamed_expr(whole, self.taken) for whole in wholes)
        return Split(own, as_type(renamed_expr(rest, self.taken), BOOL))

    def _parts(self, test: Reduce) -> Split | None:
        *outer, inner = test.dims
        if not isinstance(inner, Dim) or inner.step != 1:
            return None
        facts = Facts()
        wholes: list[Expr] = []
        kept: list[Expr] = []
        ends: list[Affine] = []
        for part in in_order(test.value):
            if inner.var not in free_vars(part):
                kept.append(part)
            elif forms := bounds_on(part, True, inner.var, facts):
                ends += forms
            elif (whole := self._whole(part, inner)) is not None:
                wholes.append(whole)
            else:
                return None
        if not wholes:
            return None
        if ends:
            kept.append(at_ends(inner, ends, facts))
        empty = Op("le", (inner.hi, inner.lo), PYBOOL)
        left = as_type(in_turn(kept), BOOL) if kept else TRUE
        rest: Expr = Op("select", (as_type(empty, BOOL), Const(True, BOOL), left), BOOL)
        return Split(tuple(wholes), Reduce("and", tuple(outer), rest, test.span) if outer else rest)

    def _whole(self, part: Expr, inner: Dim) -> Expr | None:
        """A condition on an element of an array, of all elements; None if it looks at anything else that varies."""
        varying = free_vars(part) - self.symbols
        if varying != {inner.var} or expr_buffers(part) & self.changing:
            return None
        reads = {e for e in subexpressions(part) if isinstance(e, Read) and inner.var in free_vars(e)}
        if len(reads) != 1 or any(isinstance(e, Reduce) for e in subexpressions(part)):
            return None
        (read,) = reads
        if read.index != (Var(inner.var),):
            return None
        everywhere = Dim("k", ZERO, self.shape(read.buffer)[0])
        return Reduce("and", (everywhere,), as_type(substitute(part, {inner.var: Var("k")}), BOOL))


__all__ = ["Split", "Splitter"]
