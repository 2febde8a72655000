"""Split: a loop whose iterations meet in one of them only is cut there.

    for j in 0 .. n: a[i, j] = min(a[i, j], a[i, k] + a[k, j])
      -->  for j in 0 .. k: ...;   the iteration j = k;   for j in k + 1 .. n: ...

The element a[i, k] that all iterations read is written by one of them; before and behind it they are independent.  In:
a loop and its body; out: the value of its variable to cut it at, and the two ranges around that iteration.
"""

from __future__ import annotations

from weft.analysis.effects import Access, accesses
from weft.analysis.facts import Facts
from weft.ir.expr import Const, Dim, Expr, Op, dim_vars
from weft.ir.index import Affine, affine, expression
from weft.ir.index import add as plus
from weft.ir.program import Block, If, Loop, Stmt
from weft.ir.types import INT, PYBOOL
from weft.ir.walk import walk
from weft.passes.simplifying.algebra import Algebra
from weft.records import dataclass

# A cut writes the body three times: of short bodies only (a loop around them may be cut, too).
MOST_STATEMENTS = 3


@dataclass(frozen=True)
class Cut:
    """The ranges before and behind one iteration; `inside`: whether that iteration is one of the loop's."""

    before: Dim
    at: Expr
    behind: Dim
    inside: Expr


def cut(loop: Loop, body: Block, facts: Facts, algebra: Algebra) -> Cut | str:
    """Where to cut a loop with a body of statements, or why there is no such place."""
    dim = loop.dim
    if not isinstance(dim, Dim) or dim.step != 1:
        return "its variable does not count up by one"
    inside = list(walk(body))
    few = sum(isinstance(node, Stmt) for node in inside) <= MOST_STATEMENTS
    if not few or not all(isinstance(node, (Stmt, If)) for node in inside):
        return "its body is not a few statements"
    places = _meetings(dim.var, body)
    if len(places) != 1:
        return "its iterations do not meet in one of them"
    at = expression(places.pop())
    one = Const(1, INT)

    def simple(expr: Expr) -> Expr:
        return algebra.simplify(expr, facts)

    end = simple(Op("maximum", (dim.lo, Op("minimum", (at, dim.hi), INT)), INT))
    start = simple(Op("maximum", (dim.lo, plus(at, one)), INT))
    within = Op("and", (Op("le", (dim.lo, at), PYBOOL), Op("lt", (at, dim.hi), PYBOOL)), PYBOOL)
    return Cut(Dim(dim.var, dim.lo, end), at, Dim(dim.var, start, dim.hi), simple(within))


def _meetings(variable: str, body: Block) -> set[Affine]:
    """Values of the loop's variable at which an element is written that other iterations touch as well."""
    found = [accesses(node) for node in body]
    writes = [access for one in found for access in one.writes]
    others = [access for one in found for access in one.reads + one.writes]
    inner = {variable}.union(*(dim_vars(access.dims) for access in others))
    return {
        place
        for write in writes
        for other in others
        if write.buffer == other.buffer
        for place in _solutions(variable, write, other, inner)
    }


def _solutions(variable: str, write: Access, other: Access, inner: set[str]) -> list[Affine]:
    """a[.., v + c, ..] is written and a[.., e, ..] touched, e the same in all iterations: v = e - c."""
    found: list[Affine] = []
    for written, seen in zip(write.index, other.index):
        left, right = affine(written), affine(seen)
        if left is None or right is None or left.coefficient(variable) != 1:
            continue
        place = right - left.without(variable)
        if place.names.isdisjoint(inner):
            found.append(place)
    return found


__all__ = ["Cut", "cut"]
