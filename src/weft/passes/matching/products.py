"""Products by their meaning.  In: a statement; out: the matrix, matrix-vector or inner product that it is, with its
operands and dimensions, or the reason why it is none.

    c[i, j] = beta * c[i, j] + alpha * sum[k] a[i, k] * b[k, j]   -->   gemm of a and b, scale alpha, keep beta
    c[l, i, j] = sum[k, m] a[l, i, k, m] * b[k, m, j]   -->   gemm over (l, i), j, (k, m), which lie in memory as one
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from weft.ir import index as affine_index
from weft.ir.expr import Const, Dim, Expr, Op, Read, Reduce, Var
from weft.ir.index import affine, difference
from weft.ir.program import Buffer, Layout, Role, Stmt
from weft.ir.types import DType
from weft.ir.walk import dim_children, expr_buffers, free_vars, map_children, reads, subexpressions
from weft.passes.matching.triangles import operands_apart
from weft.records import dataclass

DTYPES = (DType.F32, DType.F64, DType.C64, DType.C128)


@dataclass(frozen=True)
class Product:
    """scale * sum[k] left * right [+ keep * target]: which routine, its operands, the dimensions m, n, k that it runs
    over, each of them one or several that lie in memory as one.

    `batch` are outer dimensions that both operands and the target share, and further ones that do not lie so.
    """

    routine: str
    operands: tuple[Read, Read]
    scale: Expr | None
    keep: Expr | None
    batch: tuple[Dim, ...]
    free: tuple[Dim, ...]
    summed: tuple[Dim, ...]


def product_of(stmt: Stmt, table: dict[str, Buffer]) -> Product | str:
    """The product that a statement is, or why it is none."""
    if stmt.reduce is not None or not all(isinstance(dim, Dim) for dim in stmt.domain):
        return "it scatters"
    target = table[stmt.buffer]
    if target.type.dtype not in DTYPES or stmt.value.type.dtype is not target.type.dtype:
        return f"no routine for {target.type}"
    names = {dim.var for dim in stmt.domain}
    sums = with_kept(stmt, names)
    if sums is None:
        return "not a sum of products"
    reduce, scale, keep = sums
    summed = tuple(dim for dim in reduce.dims if isinstance(dim, Dim))
    if reduce.op != "add" or len(reduce.dims) != len(summed):
        return "not a sum over dense dimensions"
    factors = list(_factors(reduce.value))
    varying = [f for f in factors if not _fixed(f, names.union(dim.var for dim in summed))]
    if len(varying) != 2 or not all(isinstance(f, Read) for f in varying):
        return "not a product of two arrays"
    if len(factors) != 2:
        # Moving a factor out of the sum changes which intermediate results overflow.
        return "a factor of every term"
    if _zero(scale) or _zero(keep):
        return "a factor is zero: the library would not read what it multiplies"
    left, right = (f for f in varying if isinstance(f, Read))
    if stmt.buffer in {left.buffer, right.buffer} and not operands_apart(stmt):
        return "an operand is the target"
    if any(table[f.buffer].type.dtype is not target.type.dtype for f in (left, right)):
        return "the operands have another type"
    return _shaped(stmt, (left, right), summed, (scale, keep), table)


def with_kept(stmt: Stmt, names: set[str]) -> tuple[Reduce, Expr | None, Expr | None] | None:
    """keep * target + scale * Reduce, taken apart."""
    value = stmt.value
    single = _scaled(value, names)
    if single is not None:
        return (*single, None)
    if not isinstance(value, Op) or value.op not in ("add", "sub"):
        return None
    pairs = [(value.args[0], value.args[1])]
    if value.op == "add":
        pairs.append((value.args[1], value.args[0]))
    for old, new in pairs:
        scaled = _scaled(new, names)
        keep = _kept(old, stmt, names)
        if scaled is None or keep is None:
            continue
        reduce, scale = scaled
        if value.op == "sub":
            minus = Const(-1.0 if not value.type.dtype.is_complex else complex(-1.0), value.type)
            scale = minus if scale is None else Op("neg", (scale,), scale.type)
        return reduce, scale, keep
    return None


def _scaled(expr: Expr, names: set[str]) -> tuple[Reduce, Expr | None] | None:
    if isinstance(expr, Reduce):
        return expr, None
    if isinstance(expr, Op) and expr.op == "mul":
        for factor, rest in (expr.args, expr.args[::-1]):
            inner = _scaled(rest, names) if _fixed(factor, names) else None
            if inner is not None:
                reduce, scale = inner
                return reduce, factor if scale is None else Op("mul", (factor, scale), factor.type)
    return None


def _kept(expr: Expr, stmt: Stmt, names: set[str]) -> Expr | None:
    """The factor of the old contents in `factor * target`."""
    if isinstance(expr, Read) and expr.buffer == stmt.buffer and expr.index == stmt.index:
        return Const(complex(1.0) if expr.type.dtype.is_complex else 1.0, expr.type)
    if isinstance(expr, Op) and expr.op == "mul":
        for factor, rest in (expr.args, expr.args[::-1]):
            if (
                isinstance(rest, Read)
                and rest.buffer == stmt.buffer
                and rest.index == stmt.index
                and _fixed(factor, names)
            ):
                return factor
    return None


def with_operands(stmt: Stmt, reduce: Reduce, sides: list[Expr]) -> Stmt:
    """The statement with other factors in its sum."""
    assert isinstance(reduce.value, Op)
    changed = replace(reduce, value=replace(reduce.value, args=tuple(sides)))

    def visit(expr: Expr) -> Expr:
        return changed if expr is reduce else map_children(expr, visit)

    return replace(stmt, value=visit(stmt.value))


def _fixed(expr: Expr, names: set[str]) -> bool:
    """Whether a factor is the same at every point."""
    return not free_vars(expr) & names and not any(isinstance(e, Reduce) for e in subexpressions(expr))


def _factors(expr: Expr) -> Iterator[Expr]:
    if isinstance(expr, Op) and expr.op == "mul":
        for arg in expr.args:
            yield from _factors(arg)
    else:
        yield expr


def axes_of(index: tuple[Expr, ...], names: set[str]) -> dict[str, int] | None:
    """The axis along which each dimension runs, one dimension an axis and with step 1; None if it is otherwise."""
    axes: dict[str, int] = {}
    for axis, position in enumerate(index):
        form = affine(position)
        if form is None:
            if free_vars(position) & names:
                return None
            continue
        own = sorted(form.names & names)
        if len(own) > 1 or (own and (form.coefficient(own[0]) != 1 or own[0] in axes)):
            return None
        if own:
            axes[own[0]] = axis
    return axes


def _shaped(
    stmt: Stmt,
    operands: tuple[Read, Read],
    summed: tuple[Dim, ...],
    factors: tuple[Expr | None, Expr | None],
    table: dict[str, Buffer],
) -> Product | str:
    domain = [dim for dim in stmt.domain if isinstance(dim, Dim)]
    terms = {dim.var for dim in summed}
    names = {dim.var for dim in domain} | terms
    for dim in (*domain, *summed):
        if dim.step != 1 or any(free_vars(bound) & names or expr_buffers(bound) for bound in dim_children(dim)):
            return "the domain is not a rectangle of known size"
    left, right = operands
    a, b, c = (axes_of(index, names) for index in (left.index, right.index, stmt.index))
    if a is None or b is None or c is None or set(c) != names - terms:
        return "an index is not a plain dimension"
    if not terms <= set(a) or not terms <= set(b):
        return "an operand does not vary with the sum"
    # The terms in the order in which they lie in memory.
    summed = tuple(sorted(summed, key=lambda dim: a[dim.var]))
    places = _Place(table[left.buffer], a), _Place(table[right.buffer], b), _Place(table[stmt.buffer], c)
    if not all(place.together(summed) for place in places[:2]):
        return "the terms do not lie side by side"
    batch = tuple(dim for dim in domain if dim.var in a and dim.var in b)
    free = sorted((dim for dim in domain if dim not in batch), key=lambda dim: c[dim.var])
    if len(a) + len(b) != 2 * (len(batch) + len(terms)) + len(free):
        return "an operand has further dimensions"
    sides = [[dim for dim in free if dim.var in axes] for axes in (a, b)]
    scale, keep = factors
    if sides[0] and sides[1]:
        # The last dimensions of an operand make the matrices, as many as lie side by side; others are looped over.
        ends = [_last_together(side, (place, places[2])) for side, place in zip(sides, places)]
        loops = (*batch, *(dim for side, end in zip(sides, ends) for dim in side[: len(side) - len(end)]))
        rows, columns = ends
        if c[rows[-1].var] < c[columns[-1].var]:
            return Product("gemm", (left, right), scale, keep, loops, (*rows, *columns), summed)
        return Product("gemm", (right, left), scale, keep, loops, (*columns, *rows), summed)
    if batch or len(free) > 1 or len(summed) > 1:
        return "a product of another shape"
    if scale is not None and not _unit(scale):
        return "the routine would scale an operand instead of the result"
    if free:
        operands = (left, right) if sides[0] else (right, left)
        return Product("gemv", operands, scale, keep, (), tuple(free), summed)
    return Product("dot", (left, right), scale, keep, (), (), summed) if keep is None else "an inner product added to"


@dataclass(frozen=True)
class _Place:
    """An operand or target: its memory, and the axis along which each dimension runs."""

    buffer: Buffer
    axes: dict[str, int]

    def together(self, dims: tuple[Dim, ...]) -> bool:
        """Whether the dimensions, in this order, lie in memory like a single one."""
        if len(dims) < 2:
            return True
        axes = [self.axes[dim.var] for dim in dims]
        if self.buffer.layout is not Layout.C or axes != list(range(axes[0], axes[0] + len(axes))):
            return False
        # All of an inner axis, or there are gaps.
        return all(
            difference(affine_index.sub(dim.hi, dim.lo), self.buffer.shape[axis]) == 0
            for dim, axis in zip(dims[1:], axes[1:])
        )


def _last_together(dims: list[Dim], places: tuple[_Place, _Place]) -> tuple[Dim, ...]:
    """As many of the last dimensions as are like one in both places."""
    for first in range(len(dims)):
        if all(place.together(tuple(dims[first:])) for place in places):
            return tuple(dims[first:])
    return ()


def why_not_in_place(stmt: Stmt, reduce: Reduce, table: dict[str, Buffer]) -> str | None:
    """Why a product over the whole domain of a statement may not use the statement's target for its result."""
    target = table[stmt.buffer]
    if target.type.dtype is not reduce.type.dtype:
        return "the target has another type"
    if target.role is Role.PARAM and target.layout is Layout.STRIDED:
        return "the library may not take the target's strides"
    exprs = (stmt.value, *stmt.index, *(bound for dim in stmt.domain for bound in dim_children(dim)))
    if any(read.buffer == stmt.buffer for expr in exprs for read in reads(expr)):
        return "the target is read"
    axes = axes_of(stmt.index, {dim.var for dim in stmt.domain})
    return None if axes is not None and len(axes) == len(stmt.domain) else "points share an element"


def outer_dims(stmt: Stmt) -> tuple[Dim, ...]:
    """a[r, i] = sum[k] a[r, k] * b[k, i]: r, since each r reads what it overwrites and nothing that another one does.

    The product then needs memory for one r alone.  Empty if the target is not read, or if no product is left.
    """
    dims = tuple(dim for dim in stmt.domain if isinstance(dim, Dim))
    own = [read for read in reads(stmt.value) if read.buffer == stmt.buffer]
    names = {dim.var for dim in dims}
    plain = len(dims) == len(stmt.domain) and not any(
        free_vars(bound) & names or expr_buffers(bound) for dim in dims for bound in dim_children(dim)
    )
    if not own or not plain or any(read.buffer == stmt.buffer for part in stmt.index for read in reads(part)):
        return ()
    apart = {
        position.name
        for axis, position in enumerate(stmt.index)
        if isinstance(position, Var) and all(read.index[axis] == position for read in own)
    }
    # The last two dimensions, at most, are those of a matrix.
    return tuple(dim for dim in dims[:-2] if dim.var in apart)


def _zero(factor: Expr | None) -> bool:
    return isinstance(factor, Const) and factor.value == 0


def _unit(factor: Expr) -> bool:
    return isinstance(factor, Const) and factor.value in (1, -1)
