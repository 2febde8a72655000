"""Tiles on diagonals.  In: a nest of two loops, its skew and the size of a tile; out: the loops over tiles, and where a
tile lies.

A tile is a strip of rows, positions p0 .. p0 + rows of the outer loop, and a piece of s0 .. s0 + columns of the skewed
inner one, s = q + skew * (p - p0).  Strip a and piece b are on diagonal w = b + lag * a; the diagonals run one after
the other, the tiles of each in parallel.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field

from weft.analysis.waves import Axis, Nest, by_position, extreme
from weft.errors import Span
from weft.ir import index as affine_index
from weft.ir.expr import Dim, Expr, Op, Var, integer
from weft.ir.index import Affine
from weft.ir.program import Block, Loop, LoopKind
from weft.ir.types import INT, PYBOOL
from weft.records import dataclass

# Positions stay below this: a range that is not limited on one side ends there.
_FAR = 1 << 41


def constant(value: int) -> Affine:
    return Affine((), value)


def name(text: str) -> Affine:
    return Affine(((text, 1),), 0)


def pick(op: str, parts: Iterable[Expr]) -> Expr:
    """The minimum or maximum of some expressions, each named once."""
    result: Expr | None = None
    for part in dict.fromkeys(parts):
        result = part if result is None else Op(op, (result, part), INT)
    assert result is not None
    return result


def quotient(form: Affine, divisor: int) -> Expr:
    """form // divisor."""
    value = affine_index.expression(form)
    return value if divisor == 1 else Op("floordiv", (value, integer(divisor)), INT)


def upwards(expr: Expr, size: int) -> Expr:
    """How many pieces of this size hold so many."""
    return Op("floordiv", (affine_index.add(expr, integer(size - 1)), integer(size)), INT)


def between(var: str, forms: Iterable[Affine]) -> tuple[Expr, Expr]:
    """The values of a variable, from the first up to but not including the second, at which no form is negative."""
    low: list[Expr] = []
    high: list[Expr] = []
    for form in forms:
        slope, rest = form.coefficient(var), form.without(var)
        if slope > 0:  # x >= ceil(-rest / slope)
            low.append(quotient(rest.scaled(-1) + constant(slope - 1), slope))
        else:
            assert slope < 0, "a form that does not limit the variable"
            high.append(quotient(rest + constant(-slope), -slope))
    return pick("maximum", low or [integer(-_FAR)]), pick("minimum", high or [integer(_FAR)])


#: Rows and columns of a tile.
Size = tuple[int, int]


@dataclass(frozen=True)
class Grid:
    """The tiles of one nest; all forms are of positions."""

    nest: Nest
    outer: Axis
    inner: Axis
    skew: int
    lag: int
    rows: int
    columns: int
    diagonal: str
    strip: str
    signs: dict[str, int] = field(compare=False)

    @staticmethod
    def of(nest: Nest, axes: tuple[Axis, Axis], skew: int, lag: int, size: Size, names: tuple[str, str]) -> Grid:
        outer, inner = axes
        signs = {outer.var: outer.sign, inner.var: inner.sign}
        lows, highs = (
            sorted((by_position(form, signs) for form in forms), key=lambda form: outer.var in form.names)
            for forms in (inner.lows, inner.highs)
        )
        inner = Axis(inner.var, inner.sign, tuple(lows), tuple(highs))
        return Grid(nest, outer, inner, skew, lag, *size, *names, signs)

    @property
    def span(self) -> Span:
        return self.nest.loop.span

    @property
    def first_row(self) -> Affine:
        """p0."""
        return self.outer.lo + name(self.strip).scaled(self.rows)

    @property
    def first_column(self) -> Affine:
        """s0."""
        piece = name(self.diagonal) - name(self.strip).scaled(self.lag)
        return self.ends[0] + piece.scaled(self.columns)

    @property
    def height(self) -> Affine:
        return self.outer.hi - self.outer.lo

    @property
    def ends(self) -> tuple[Affine, Affine]:
        """Between which positions the inner loop stays, whatever the outer one."""
        return extreme(self.inner.lo, self.outer, False), extreme(self.inner.hi, self.outer, True)

    @property
    def width(self) -> Affine:
        low, high = self.ends
        return high - low

    def loops(self, body: Block, work: Expr) -> Loop:
        """for each diagonal: parallel strip: body."""
        strips = upwards(affine_index.expression(self.height), self.rows)
        pieces = upwards(affine_index.expression(self.width + constant(self.skew * (self.rows - 1))), self.columns)
        here = Var(self.diagonal)
        before = affine_index.add(affine_index.sub(here, pieces), integer(self.lag))
        first = Op("maximum", (integer(0), _divided(before, self.lag)), INT)
        last = affine_index.add(_divided(here, self.lag), integer(1))
        tiles = Dim(self.strip, first, Op("minimum", (strips, last), INT))
        parallel = Loop(tiles, body, LoopKind.PARALLEL, work=work, span=self.span)
        latest = affine_index.mul(affine_index.sub(strips, integer(1)), integer(self.lag))
        return Loop(Dim(self.diagonal, integer(0), affine_index.add(latest, pieces)), (parallel,), span=self.span)

    def large(self, least: int) -> Expr:
        """Whether there is enough of the nest in both directions to be worth cutting."""
        sizes = (affine_index.expression(form) for form in (self.height, self.width))
        tests = [Op("ge", (size, integer(least)), PYBOOL) for size in sizes]
        return Op("and", (tests[0], tests[1]), PYBOOL)

    def rows_range(self) -> tuple[Expr, Expr]:
        """The positions of the outer loop in a tile."""
        end = self.first_row + constant(self.rows)
        stop = pick("minimum", (affine_index.expression(end), affine_index.expression(self.outer.hi)))
        return affine_index.expression(self.first_row), stop

    def columns_range(self, sign: int = 1) -> tuple[Expr, Expr]:
        """The positions of the inner loop in one row of a tile; the row by `sign` times its position."""
        begin = self.first_column - (name(self.outer.var) - self.first_row).scaled(self.skew)
        lows, highs = (*self.inner.lows, begin), (*self.inner.highs, begin + constant(self.columns))
        low, high = (
            pick(op, (affine_index.expression(by_position(form, {self.outer.var: sign})) for form in forms))
            for op, forms in (("maximum", lows), ("minimum", highs))
        )
        return low, high

    def rows_dim(self) -> Dim:
        """The outer loop over the rows of a tile, in its own direction."""
        return directed(self.outer, *self.rows_range())

    def columns_dim(self) -> Dim:
        """The inner loop over the columns of a tile in one row, in its own direction."""
        return directed(self.inner, *self.columns_range(self.outer.sign))

    def within(self, form: Affine) -> Affine:
        """The least value of a form of positions p and q anywhere in a tile."""
        margin = self.skew * (self.rows - 1)
        p, q = form.coefficient(self.outer.var), form.coefficient(self.inner.var)
        row = self.first_row + constant(self.rows - 1 if p < 0 else 0)
        column = self.first_column + constant(self.columns - 1 if q < 0 else -margin)
        rest = form.without(self.outer.var).without(self.inner.var)
        return rest + row.scaled(p) + column.scaled(q)


def _divided(expr: Expr, divisor: int) -> Expr:
    return expr if divisor == 1 else Op("floordiv", (expr, integer(divisor)), INT)


def directed(axis: Axis, low: Expr, high: Expr) -> Dim:
    """A loop over positions low .. high, counting as the loop of the source does."""
    if axis.sign > 0:
        return Dim(axis.var, low, high)
    return Dim(axis.var, _negative(low), _negative(high), -1)


def _negative(expr: Expr) -> Expr:
    form = affine_index.affine(expr)
    return Op("neg", (expr,), INT) if form is None else affine_index.expression(form.scaled(-1))
