"""Domains from inequalities.  In: dimensions and affine forms that are not negative at their points; out: the same
points, dimension by dimension in the order given, each with bounds as narrow as the inner ones allow.

    j >= 0,  i - j - 1 >= 0,  n - i - 1 >= 0,  in the order j, i   -->   j: 0 <= j < n - 1, i: j + 1 <= i < n
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from weft.ir.domain import Context, holds
from weft.ir.expr import Dim, Domain, Expr, Op, integer
from weft.ir.index import Affine, affine, expression
from weft.ir.types import INT, PYBOOL
from weft.ir.walk import expr_buffers

_ONE = Affine((), 1)


def plain(dims: Domain) -> bool:
    """Whether dimensions count by one between affine bounds."""
    return all(
        isinstance(dim, Dim)
        and dim.step == 1
        and affine(dim.lo) is not None
        and affine(dim.hi) is not None
        and not any(expr_buffers(bound) for bound in (dim.lo, dim.hi))
        for dim in dims
    )


def inside(dim: Dim) -> Iterator[Affine]:
    """What is not negative between the bounds of a plain dimension."""
    lo, hi, own = affine(dim.lo), affine(dim.hi), Affine(((dim.var, 1),), 0)
    assert lo is not None and hi is not None
    yield own - lo
    yield hi - own - _ONE


def bounded(names: Sequence[str], forms: Iterable[Affine], around: Domain = ()) -> tuple[Dim, ...] | None:
    """Dimensions of these names where the forms are not negative; `around` are the loops outside.

    None if a dimension counts double in a form, or if a form without any of the names may be negative.
    """
    left = list(dict.fromkeys(forms))
    if not all(form.names & set(names) or not_negative(form, around) for form in left):
        return None
    made: list[Dim] = []
    for name in reversed(names):
        if any(abs(form.coefficient(name)) > 1 for form in left):
            return None
        lows = [form.without(name).scaled(-1) for form in left if form.coefficient(name) == 1]
        highs = [form.without(name) for form in left if form.coefficient(name) == -1]
        # Between every lower and every upper bound there is room: what that says of the outer dimensions.
        room = [high - low for low in lows for high in highs]
        left = list(dict.fromkeys((*(form for form in left if not form.coefficient(name)), *room)))
        known = tuple(_at_least_zero(form) for form in left if not form.is_constant)
        lo = _extreme("maximum", lows, around, known)
        made.append(Dim(name, lo, _extreme("minimum", [high + _ONE for high in highs], around, known)))
    return tuple(reversed(made))


def _extreme(op: str, forms: list[Affine], around: Domain, known: Context) -> Expr:
    """The greatest of lower bounds or the least of upper ones, without those that others make needless."""

    def needless(form: Affine, other: Affine) -> bool:
        return not_negative(other - form if op == "maximum" else form - other, around, known)

    needed: list[Affine] = []
    for form in forms:
        if not any(needless(form, other) for other in needed):
            needed = [other for other in needed if not needless(other, form)] + [form]
    result = expression(needed[0])
    for form in needed[1:]:
        result = Op(op, (result, expression(form)), INT)
    return result


def not_negative(form: Affine, around: Domain, known: Context = ()) -> bool:
    """Whether a form is not negative in any iteration of the loops around, where what is `known` holds."""
    if form.is_constant:
        return form.constant >= 0
    return holds(_at_least_zero(form), around, known)


def _at_least_zero(form: Affine) -> Expr:
    return Op("ge", (expression(form), integer(0)), PYBOOL)


__all__ = ["bounded", "inside", "not_negative", "plain"]
