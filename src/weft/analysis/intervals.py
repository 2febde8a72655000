"""Interval arithmetic over affine index expressions.  In: an expression and the dense dimensions around it; out: its
least and greatest value as expressions free of those dimensions, boxes around domains, and cheap proofs that two
accesses never meet.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field

from weft.ir import index as affine_index
from weft.ir.expr import AnyDim, Const, Dim, Expr, Op, Var, integer
from weft.ir.index import Affine, affine
from weft.ir.types import INT
from weft.ir.walk import free_vars, reads
from weft.records import dataclass

_ONE = Affine((), 1)


@dataclass(frozen=True)
class Interval:
    """The values from `least` to `greatest`, both included (none, if they cross)."""

    least: Affine
    greatest: Affine

    def scaled(self, factor: int) -> Interval:
        ends = self.least.scaled(factor), self.greatest.scaled(factor)
        return Interval(*ends) if factor >= 0 else Interval(ends[1], ends[0])

    def __add__(self, other: Interval) -> Interval:
        return Interval(self.least + other.least, self.greatest + other.greatest)


@dataclass
class Ranges:
    """What is known of the variables of a domain: their intervals, and those (`unknown`) that have none.

    Every other name is fixed: a symbol, or the variable of a loop around the whole domain.
    """

    known: dict[str, Interval] = field(default_factory=dict)
    unknown: set[str] = field(default_factory=set)

    def of(self, form: Affine | None) -> Interval | None:
        """The interval of a linear form; None if it names an unknown variable."""
        if form is None or not self.unknown.isdisjoint(form.names):
            return None
        fixed = Affine.make({n: c for n, c in form.terms if n not in self.known}, form.constant)
        total = Interval(fixed, fixed)
        for name, coefficient in form.terms:
            if name in self.known:
                total = total + self.known[name].scaled(coefficient)
        return total

    def enter(self, dim: AnyDim) -> None:
        """Take in the next inner dimension."""
        own = self._interval(dim) if isinstance(dim, Dim) else None
        if own is None:
            self.unknown.add(dim.var)
        else:
            self.known[dim.var] = own

    def _interval(self, dim: Dim) -> Interval | None:
        lo, hi = self.of(affine(dim.lo)), self.of(affine(dim.hi))
        if lo is None or hi is None:
            return None
        if dim.step > 0:
            return Interval(lo.least, hi.greatest - _ONE)
        return Interval(hi.least + _ONE, lo.greatest)


def ranges_of(dims: Iterable[AnyDim]) -> Ranges:
    """The ranges of a domain's variables, outer dimensions first."""
    ranges = Ranges()
    for dim in dims:
        ranges.enter(dim)
    return ranges


@dataclass(frozen=True)
class Box:
    """One dimension of a box around a domain: the variable runs within lo .. lo + size."""

    lo: Expr
    size: Expr


def _not_negative(size: Expr) -> Expr:
    """max(size, 0), written plainly where the size is a symbol or a literal."""
    if isinstance(size, Const):
        return integer(max(int(size.value.real), 0))
    return size if isinstance(size, Var) else Op("maximum", (size, integer(0)), INT)


def box(dims: Iterable[AnyDim]) -> dict[str, Box] | None:
    """A rectangular box around a domain, for the shape of a temporary indexed by its points; None if sizes are unknown.

    A bound that is not affine may stay if it names no dimension of the domain and reads no array.
    """
    boxes: dict[str, Box] = {}
    ranges = Ranges()
    for dim in dims:
        if not isinstance(dim, Dim):
            return None
        outer = set(boxes)
        ranges.enter(dim)
        if dim.var in ranges.known:
            own = ranges.known[dim.var]
            lo, size = own.least, own.greatest - own.least + _ONE
            boxes[dim.var] = Box(affine_index.expression(lo), _not_negative(affine_index.expression(size)))
        elif outer.isdisjoint(free_vars(dim.lo) | free_vars(dim.hi)) and _reads_no_array(dim):
            first, last = (dim.lo, dim.hi) if dim.step > 0 else (dim.hi, dim.lo)
            start = first if dim.step > 0 else affine_index.add(first, integer(1))
            boxes[dim.var] = Box(start, _not_negative(affine_index.sub(last, first)))
        else:
            return None
    return boxes


def _reads_no_array(dim: Dim) -> bool:
    return not any(read.index for bound in (dim.lo, dim.hi) for read in reads(bound))


def apart(left: Interval | None, right: Interval | None) -> bool:
    """Whether two ranges provably never meet, whatever the symbols."""
    if left is None or right is None:
        return False
    for low, high in ((left, right), (right, left)):
        gap = high.least - low.greatest
        if gap.is_constant and gap.constant > 0:
            return True
    return False


def never_meet(left: tuple[Expr, ...], left_ranges: Ranges, right: tuple[Expr, ...], right_ranges: Ranges) -> bool:
    """Whether two accesses to one buffer never touch the same element: some index position keeps them apart."""
    return any(apart(left_ranges.of(affine(one)), right_ranges.of(affine(other))) for one, other in zip(left, right))
