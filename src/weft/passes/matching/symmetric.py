"""Triangles of a symmetric product.  In: a statement over a triangle, with a sum of products of one array's rows with
each other; out: the square of which it is a half, as the library's routine for such a half computes it.

    c[i, j] = f(sum[k] a[i, k] * a[j, k])   for i: 0 <= i < n, j: i + 1 <= j < n
      -->  syrk: t[i, j] = sum[k] a[i, k] * a[j, k]   for i: 0 <= i < n, j: i <= j < n
           c[i, j] = f(t[i, j])                       for i: 0 <= i < n, j: i + 1 <= j < n

Every row of the square is read by the statement itself, as one factor or as the other.
"""

from __future__ import annotations

from dataclasses import replace

from weft.ir.expr import Const, Dim, Domain, Expr, Op, Read, Reduce, Var, integer
from weft.ir.index import add as plus
from weft.ir.index import affine, difference
from weft.ir.program import Buffer, Stmt
from weft.ir.types import DType
from weft.ir.walk import free_vars, map_children, subexpressions, substitute
from weft.passes.matching.bounds import plain
from weft.passes.matching.products import Product, axes_of, with_kept
from weft.passes.matching.triangles import why_not_in_order
from weft.records import dataclass

DTYPES = (DType.F32, DType.F64)


@dataclass(frozen=True)
class Symmetric:
    """The sum, and its factor as a function of the row; `rows`: those of the square; `columns`: the half of a row with
    its diagonal; `whole`: whether the statement is over all of that half."""

    total: Reduce
    factor: Expr
    rows: Dim
    columns: Dim
    whole: bool

    @property
    def domain(self) -> Domain:
        return (self.rows, self.columns)

    def product(self, factor: Read) -> Reduce:
        """The sum, of the products of the factor in memory with itself."""
        assert isinstance(self.total.value, Op)
        return replace(self.total, value=replace(self.total.value, args=self._both(factor)))

    def as_product(self, factor: Read) -> Product:
        summed = tuple(dim for dim in self.total.dims if isinstance(dim, Dim))
        return Product("syrk", self._both(factor), None, None, (), (self.rows, self.columns), summed)

    def _both(self, factor: Read) -> tuple[Read, Read]:
        other = substitute(factor, {self.rows.var: Var(self.columns.var)})
        assert isinstance(other, Read)
        return factor, other


def symmetric(stmt: Stmt) -> Symmetric | str:
    """The half of a symmetric product that a statement computes, or why it computes none."""
    totals = [part for part in subexpressions(stmt.value) if isinstance(part, Reduce)]
    if stmt.reduce is not None or len(stmt.domain) != 2 or not plain(stmt.domain) or len(totals) != 1:
        return "not a statement over two dimensions with one sum"
    total = totals[0]
    if total.op != "add" or len(total.dims) != 1 or not plain(total.dims) or total.type.dtype not in DTYPES:
        return "not a sum over one dimension of a type that the library has"
    outer, inner = (dim for dim in stmt.domain if isinstance(dim, Dim))
    if {outer.var, inner.var} & free_vars(replace(total, value=integer(0))):
        return "the terms of the sum depend on the point"
    factor = _factor(total, outer.var, inner.var)
    if factor is None:
        return "the factors are not rows of one array"
    reason = why_not_in_order(stmt)
    return reason if reason is not None else _half(total, factor, outer, inner)


def _factor(total: Reduce, row: str, column: str) -> Expr | None:
    """What is multiplied with itself, as a function of the row."""
    value = total.value
    if not isinstance(value, Op) or value.op != "mul":
        return None
    for one, other in (value.args, value.args[::-1]):
        if column not in free_vars(one) and row in free_vars(one) and row not in free_vars(other):
            return one if substitute(one, {row: Var(column)}) == other else None
    return None


def _half(total: Reduce, factor: Expr, outer: Dim, inner: Dim) -> Symmetric | str:
    lo, hi = affine(inner.lo), affine(inner.hi)
    assert lo is not None and hi is not None
    here = Var(outer.var)
    if (lo.coefficient(outer.var), hi.coefficient(outer.var)) == (1, 0):
        beside, short = difference(inner.lo, here), difference(inner.hi, outer.hi)
        rows, columns = replace(outer, hi=inner.hi), replace(inner, lo=here)
    elif (lo.coefficient(outer.var), hi.coefficient(outer.var)) == (0, 1):
        beside, short = difference(plus(here, integer(1)), inner.hi), difference(outer.lo, inner.lo)
        rows, columns = replace(outer, lo=inner.lo), replace(inner, hi=plus(here, integer(1)))
    else:
        return "not exactly one bound moves with the row"
    # With the diagonal or without; then the outermost row may be missing, which has nothing else.
    if beside not in (0, 1) or short not in (0, 1):
        return "not half of a square"
    return Symmetric(total, factor, rows, columns, beside == 0 and short == 0)


def in_place(
    stmt: Stmt, half: Symmetric, table: dict[str, Buffer]
) -> tuple[Expr | None, Expr | None] | None:
    """The factors of the product and of the old contents, if the routine does all that the statement does."""
    names = {dim.var for dim in stmt.domain}
    sums = with_kept(stmt, names) if half.whole else None
    axes = axes_of(stmt.index, names)
    if sums is None or axes is None or len(axes) != 2 or table[stmt.buffer].type.dtype is not half.total.type.dtype:
        return None
    constant = [factor.value for factor in sums[1:] if isinstance(factor, Const)]
    return None if 0 in constant else (sums[1], sums[2])


def with_total(stmt: Stmt, total: Reduce, value: Expr) -> Stmt:
    """The statement with another value in the place of its sum."""

    def visit(expr: Expr) -> Expr:
        return value if expr is total else map_children(expr, visit)

    return replace(stmt, value=visit(stmt.value))


__all__ = ["Symmetric", "in_place", "symmetric", "with_total"]
