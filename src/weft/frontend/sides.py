"""Inequalities with a minimum or maximum in them.  In: an expression e of which 0 <= e is asked; out: expressions
without that minimum, and whether all of them or any one must be 0 or more.

    0 <= min(n, i + 64) - i   <=   0 <= n - i   and   0 <= 64
    0 <= n - min(m, i + 64)   <=   0 <= n - m   or    0 <= n - i - 64
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from weft.ir import index as ix
from weft.ir import walk
from weft.ir.expr import Cast, Expr, Op, Var, integer
from weft.ir.index import affine
from weft.records import dataclass

#: Stands for the extreme while its factor is looked for.
_MARK = "@extreme"


@dataclass(frozen=True)
class Sides:
    holds: Callable[[Iterable[object]], bool]
    parts: tuple[Expr, Expr]


def either_side(expr: Expr) -> Sides | None:
    """The two cases of the first minimum or maximum in a linear form; None if there is none."""
    found = next((part for part in walk.subexpressions(expr) if _extreme(part) is not None), None)
    if found is None:
        return None
    name, args = _extreme(found)  # type: ignore[misc]

    def with_(value: Expr) -> Expr:
        return walk.rewrite(expr, lambda part: value if part == found else part)

    whole = with_(Var(_MARK))
    # What is left beside it may have an extreme of its own: its factor is that of its first two values.
    factor = ix.difference(with_(integer(1)), with_(integer(0)))
    form = affine(whole)
    if form is not None:
        factor = form.coefficient(_MARK)
    if not factor:
        return None
    smallest = (name == "minimum") == (factor > 0)
    return Sides(all if smallest else any, (with_(args[0]), with_(args[1])))


def _extreme(expr: Expr) -> tuple[str, tuple[Expr, Expr]] | None:
    """`minimum(a, b)`, also where it is spelled `a if a < b else b`."""
    if not isinstance(expr, Op):
        return None
    if expr.op in ("minimum", "maximum"):
        return expr.op, (expr.args[0], expr.args[1])
    if expr.op != "select":
        return None
    test, then, orelse = expr.args
    while isinstance(test, Cast):
        test = test.value
    if not isinstance(test, Op) or set(test.args) != {then, orelse} or test.op not in _LESS:
        return None
    first_if_less = test.args[0] == then
    return ("minimum" if _LESS[test.op] == first_if_less else "maximum"), (then, orelse)


#: Whether the first of two compared numbers is the smaller one.
_LESS = {"lt": True, "le": True, "gt": False, "ge": False}
