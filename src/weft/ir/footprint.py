"""What a block of a statement touches.  In: a statement, ranges of some of its dimensions; out: slices of each buffer.

    c[i, j] = sum[k: 0 <= k < N] d[k, i] * d[k, j]   for i: 0 <= i < M - 1, j: i + 1 <= j < M
    block i in i0 .. i1  -->  writes c[i0:i1, i0 + 1:M], reads d[0:N, i0:M]

The slices follow from the index maps by interval arithmetic: dimensions are eliminated from the innermost outwards, so
a bound that depends on an outer dimension keeps its relation to it.  A slice is a hull: it holds every element touched,
and perhaps others between them.  An index that is data gives the whole axis.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from weft.ir import index
from weft.ir.expr import ONE, ZERO, AnyDim, Cast, CompressedDim, Dim, Domain, Expr, Op, Read, Reduce, Var, integer
from weft.ir.index import Affine, affine
from weft.ir.program import Buffer, Program, Stmt
from weft.ir.types import INT, DType
from weft.ir.walk import children, dim_children
from weft.records import dataclass


@dataclass(frozen=True)
class Range:
    """The elements lo, lo+step, ... below hi along one axis."""

    lo: Expr
    hi: Expr
    step: int = 1


@dataclass(frozen=True)
class Footprint:
    """One slice of each buffer read and written, an axis each."""

    reads: dict[str, tuple[Range, ...]]
    writes: dict[str, tuple[Range, ...]]


@dataclass(frozen=True)
class _Extent:
    """The least value of an index, the first one above them all, and what its values differ by."""

    least: Expr
    past: Expr
    step: int


@dataclass(frozen=True)
class Touch:
    """One access and the dimensions around it; `unsure` if a choice may skip it, so its index may leave the buffer."""

    buffer: str
    index: tuple[Expr, ...]
    dims: Domain
    unsure: bool = False
    write: bool = False


Block = Mapping[str, tuple[Expr, Expr]]


def footprint(program: Program | Mapping[str, Buffer], stmt: Stmt, block: Block) -> Footprint:
    """The slices that the points of `stmt` with `lo <= var < hi` for each `var: (lo, hi)` of `block` read and write.

    The block is taken to lie inside the domain and not to be empty.  Dimensions that the block does not name run
    over their whole range.
    """
    table = program.table if isinstance(program, Program) else program
    hull = _Hull(table, stmt.domain, block)
    target = Touch(stmt.buffer, stmt.index, stmt.domain)
    touched = list(_reads(stmt))
    if stmt.reduce is not None:
        touched.append(target)
    return Footprint(hull.over(touched), hull.over([target]))


# --- the accesses of a statement --------------------------------------------------------------------------------------


def _reads(stmt: Stmt) -> Iterator[Touch]:
    yield from domain_touches(stmt.domain, (), False)
    for e in (*stmt.index, stmt.value):
        yield from expr_touches(e, stmt.domain, False)


def domain_touches(domain: Domain, outer: Domain, unsure: bool) -> Iterator[Touch]:
    """What the bounds and the compressed levels of dimensions read."""
    for position, dim in enumerate(domain):
        around = outer + domain[:position]
        for e in dim_children(dim):
            yield from expr_touches(e, around, unsure)
        if isinstance(dim, CompressedDim):
            yield Touch(dim.pointer, (dim.parent,), around, unsure)
            yield Touch(dim.pointer, (index.add(dim.parent, ONE),), around, unsure)
            yield Touch(dim.coordinate, (Var(dim.position),), (*around, dim), unsure)


def expr_touches(expr: Expr, dims: Domain, unsure: bool) -> Iterator[Touch]:
    """What an expression reads."""
    if isinstance(expr, Reduce):
        yield from domain_touches(expr.dims, dims, unsure)
        yield from expr_touches(expr.value, dims + expr.dims, unsure)
        return
    if isinstance(expr, Read):
        yield Touch(expr.buffer, expr.index, dims, unsure)
    lazy = isinstance(expr, Op) and expr.op == "select"
    for position, child in enumerate(children(expr)):
        yield from expr_touches(child, dims, unsure or (lazy and position > 0))


# --- intervals --------------------------------------------------------------------------------------------------------


class _Hull:
    """Ranges of the block's dimensions, and what is known of the block's bounds."""

    def __init__(self, table: Mapping[str, Buffer], domain: Domain, block: Block) -> None:
        self.table = table
        self.block = block
        self.facts: list[Affine] = []  # forms known to be >= 0
        for dim in domain:
            if isinstance(dim, Dim) and dim.var in block:
                lo, hi = block[dim.var]
                least, greatest = (dim.lo, dim.hi) if dim.step > 0 else (index.add(dim.hi, ONE), index.add(dim.lo, ONE))
                for low, high, gap in ((least, lo, 0), (hi, greatest, 0), (lo, hi, 1)):
                    form = affine(index.sub(index.sub(high, low), integer(gap)))
                    if form is not None:
                        self.facts.append(form)

    def over(self, touched: list[Touch]) -> dict[str, tuple[Range, ...]]:
        found: dict[str, tuple[Range, ...]] = {}
        for touch in touched:
            ranges = tuple(self.axis(touch, axis) for axis in range(len(touch.index)))
            old = found.get(touch.buffer)
            found[touch.buffer] = ranges if old is None else tuple(self.union(a, b) for a, b in zip(old, ranges))
        return found

    def axis(self, touch: Touch, axis: int) -> Range:
        """The slice of one access along one axis."""
        size = self.table[touch.buffer].shape[axis]
        extent = self.extent(touch.index[axis], touch.dims)
        if extent is None:
            return Range(ZERO, index.canonical(size))
        lo, hi = extent.least, extent.past
        if touch.unsure:
            clipped = self.larger(lo, ZERO)
            return Range(clipped, self.smaller(hi, size), extent.step if clipped == lo else 1)
        return Range(lo, hi, extent.step)

    def union(self, one: Range, other: Range) -> Range:
        apart = index.difference(one.lo, other.lo)
        step = 1 if apart is None else math.gcd(_width(one), _width(other), apart) or 1
        return Range(self.smaller(one.lo, other.lo), self.larger(one.hi, other.hi), step)

    def extent(self, expr: Expr, dims: Domain) -> _Extent | None:
        """The interval of an index over the block; None if it is data."""
        form = affine(expr)
        if form is not None:
            least, greatest = self.eliminate(form, dims, False), self.eliminate(form, dims, True)
            if least is not None and greatest is not None:
                past = greatest + Affine((), 1)
                return _Extent(index.expression(least), index.expression(past), self.stride(form, dims))
        position = self.positions(expr, dims)
        if position is not None:
            return position
        both = self.interval(expr, dims)
        return None if both is None else _Extent(index.canonical(both[0]), index.add(both[1], ONE), 1)

    def bounds(self, dim: AnyDim) -> tuple[Expr, Expr] | None:
        """The least and the greatest value of a dimension, by outer ones; None for a compressed level."""
        if dim.var in self.block:
            lo, hi = self.block[dim.var]
            return lo, index.sub(hi, ONE)
        if not isinstance(dim, Dim):
            return None
        return (dim.lo, index.sub(dim.hi, ONE)) if dim.step > 0 else (index.add(dim.hi, ONE), dim.lo)

    def eliminate(self, form: Affine, dims: Domain, largest: bool) -> Affine | None:
        """The extreme of a linear form: each dimension, innermost first, goes to the end that its sign asks for."""
        for dim in reversed(dims):
            coefficient = form.coefficient(dim.var)
            if isinstance(dim, CompressedDim) and form.coefficient(dim.position):
                return None
            if coefficient == 0:
                continue
            bounds = self.bounds(dim)
            end = None if bounds is None else affine(bounds[1] if (coefficient > 0) == largest else bounds[0])
            if end is None:
                return None
            form = form.without(dim.var) + end.scaled(coefficient)
        return form

    def stride(self, form: Affine, dims: Domain) -> int:
        """The greatest common distance of the values of a linear form, 1 if they do not vary."""
        distance = 0
        for dim in reversed(dims):
            coefficient = form.coefficient(dim.var)
            if coefficient == 0 or not isinstance(dim, Dim):
                continue
            distance = math.gcd(distance, coefficient * dim.step)
            first = affine(self.block[dim.var][0] if dim.var in self.block else dim.lo)
            # A stepped range is counted from its first value; going down, the least is not known to be on the grid.
            if first is None or (dim.step != 1 and (dim.step < 0 or dim.var in self.block or coefficient < 0)):
                return 1
            form = form.without(dim.var) + first.scaled(coefficient)
        return distance or 1

    def positions(self, expr: Expr, dims: Domain) -> _Extent | None:
        """The stored entries of the parents in the block: pointer[first] .. pointer[last + 1]."""
        for number, dim in enumerate(dims):
            if isinstance(dim, CompressedDim) and expr == Var(dim.position):
                parents = self.extent(dim.parent, dims[:number])
                if parents is None:
                    return None
                begin, end = (
                    Cast(Read(dim.pointer, (row,), self.table[dim.pointer].type), INT)
                    for row in (parents.least, parents.past)
                )
                return _Extent(begin, end, 1)
        return None

    def interval(self, expr: Expr, dims: Domain) -> tuple[Expr, Expr] | None:
        """Interval arithmetic operation by operation, for what is not affine but monotone in its operands."""
        if isinstance(expr, Var):
            for number, dim in enumerate(dims):
                if isinstance(dim, CompressedDim) and dim.position == expr.name:
                    return None
                if dim.var == expr.name:
                    bounds = self.bounds(dim)
                    if bounds is None:
                        return None
                    low, high = self.interval(bounds[0], dims[:number]), self.interval(bounds[1], dims[:number])
                    return None if low is None or high is None else (low[0], high[1])
            return expr, expr
        if isinstance(expr, Cast) and expr.of.dtype is DType.I64 and expr.value.type.dtype is DType.I64:
            return self.interval(expr.value, dims)
        if not isinstance(expr, Op):
            return None if isinstance(expr, (Read, Reduce, Cast)) else (expr, expr)
        return self.operation(expr, dims) if expr.type == INT else None

    def operation(self, expr: Op, dims: Domain) -> tuple[Expr, Expr] | None:
        args = [self.interval(arg, dims) for arg in expr.args]
        if any(arg is None for arg in args):
            return None
        low = [arg[0] for arg in args if arg is not None]
        high = [arg[1] for arg in args if arg is not None]
        if expr.op in ("add", "minimum", "maximum"):
            return _op(expr.op, *low), _op(expr.op, *high)
        if expr.op == "sub":
            return index.sub(low[0], high[1]), index.sub(high[0], low[1])
        if expr.op == "neg":
            return index.sub(ZERO, high[0]), index.sub(ZERO, low[0])
        last = affine(expr.args[-1])
        constant = last.constant if last is not None and last.is_constant else 0
        if expr.op == "mul" and constant:
            ends = _op("mul", low[0], high[1]), _op("mul", high[0], high[1])
            return ends if constant > 0 else (ends[1], ends[0])
        if expr.op == "floordiv" and constant > 0:
            return _op("floordiv", low[0], high[1]), _op("floordiv", high[0], high[1])
        return (ZERO, integer(constant - 1)) if expr.op == "mod" and constant > 0 else None

    # --- comparing bounds ---

    def at_most(self, one: Expr, other: Expr) -> bool:
        """Whether one <= other follows from the block lying inside the domain: a sum of at most two facts shows it."""
        left, right = affine(one), affine(other)
        if left is None or right is None:
            return one == other or self.parts_at_most(one, other)
        gap = right - left
        known = [Affine((), 0), *self.facts]
        return any(
            (rest := gap - first - second).is_constant and rest.constant >= 0 for first in known for second in known
        )

    def parts_at_most(self, one: Expr, other: Expr) -> bool:
        """The same for a minimum or maximum on either side."""
        if isinstance(one, Op) and one.op in ("minimum", "maximum"):
            left = [self.at_most(arg, other) for arg in one.args]
            return any(left) if one.op == "minimum" else all(left)
        if isinstance(other, Op) and other.op in ("minimum", "maximum"):
            right = [self.at_most(one, arg) for arg in other.args]
            return all(right) if other.op == "minimum" else any(right)
        return False

    def smaller(self, one: Expr, other: Expr) -> Expr:
        if self.at_most(one, other):
            return one
        return other if self.at_most(other, one) else Op("minimum", (one, other), INT)

    def larger(self, one: Expr, other: Expr) -> Expr:
        if self.at_most(one, other):
            return other
        return one if self.at_most(other, one) else Op("maximum", (one, other), INT)


def _width(one: Range) -> int:
    """The step of a slice for a union; a single element has any step."""
    return 0 if index.difference(one.hi, one.lo) == 1 else one.step


def _op(op: str, *args: Expr) -> Expr:
    """An operation on bounds, in canonical order where it is affine."""
    if op in ("minimum", "maximum") and args[0] == args[1]:
        return args[0]
    return index.canonical(Op(op, args, INT))
