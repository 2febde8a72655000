"""Library calls in C.  In: a Call with the statement it stands for; out: a call through the runtime's BLAS table, and
plain loops for the sizes and strides BLAS does not take (and for machines without it).

Which operand index is which is read off the index maps: an operand's stride along a dimension is what one step of it
adds to the address, so that slices, transposes and offsets need no case of their own.
"""

from __future__ import annotations

from dataclasses import replace

from weft.codegen import c_ops, c_support
from weft.codegen import syntax as C
from weft.codegen.c_expr import RT, Storage
from weft.codegen.c_loops import Loops
from weft.ir.expr import Const, Dim, Expr, Op, Read, Reduce, Var
from weft.ir.ops import REDUCTIONS
from weft.ir.program import Accumulator, Block, Buffer, Call, Layout, Loop, LoopKind, Node, Stmt
from weft.ir.types import INT, ScalarType
from weft.ir.walk import free_vars, fresh, rewrite, subexpressions, substitute
from weft.records import dataclass


@dataclass(frozen=True)
class Operand:
    """An operand of a routine: the address of its first element, and its stride along each dimension."""

    address: C.CExpr
    strides: dict[str, C.CExpr]


def call(node: Call, statements: Loops) -> list[C.CStmt]:
    """if (!blas(...)) { loops }"""
    fallback = tuple(loops(node.stmt, statements))
    attempt = _attempt(node, statements)
    if attempt is None:
        return list(fallback)
    return [C.IfElse(C.Prefix("!", attempt), fallback)]


def _attempt(node: Call, statements: Loops) -> C.CExpr | None:
    """The call of a wrapper that answers whether BLAS did it; None if this routine is none of its own."""
    element = statements.expressions.ctype(node.stmt.value.type)
    dims = _dimensions(node if node.routine != "syrk" else _squared(node))
    if dims is None or element not in c_support.BLAS_TYPES.get(node.routine, ()):
        return None
    arguments = _ARGUMENTS[node.routine](node, dims, statements)
    if arguments is None:
        return None
    attempt: C.CExpr | None = None
    for routine in (*_special_cases(node, element), node.routine):
        for text in c_support.blas(routine, element):
            statements.unit.used.text(text)
        one = C.Invoke(f"{routine}_{element}", (C.Name(RT), *arguments))
        attempt = one if attempt is None else C.Infix("||", attempt, one)
    return attempt


def _special_cases(node: Call, element: str) -> tuple[str, ...]:
    """Routines to try first: a product of parts of one array may be one of a matrix with its own transpose."""
    left, right = (read.buffer for read in node.operands)
    square = node.routine == "gemm" and left == right and node.keep is None
    return ("mirrored",) if square and element in c_support.BLAS_TYPES["mirrored"] else ()


def _squared(node: Call) -> Call:
    """The call over the whole square of which its statement is a half: strides are the same in both."""
    rows, columns = node.stmt.domain
    assert isinstance(rows, Dim) and isinstance(columns, Dim)
    square = replace(columns, lo=rows.lo, hi=rows.hi)
    return replace(node, stmt=replace(node.stmt, domain=(rows, square)))


def _dimensions(node: Call) -> dict[str, Dim] | None:
    """The dimensions of the statement and of its reduction by name; None if one is not dense with step 1."""
    found: dict[str, Dim] = {}
    all_dims = list(node.stmt.domain)
    for expr in subexpressions(node.stmt.value):
        if isinstance(expr, Reduce):
            all_dims += expr.dims
    for dim in all_dims:
        if not isinstance(dim, Dim) or dim.step != 1:
            return None
        found[dim.var] = dim
    # A bound that depends on another dimension makes the domain no rectangle.
    for dim in found.values():
        for bound in (dim.lo, dim.hi):
            if free_vars(bound) & set(found):
                return None
    return found


def operand(read: Read, dims: dict[str, Dim], statements: Loops) -> Operand:
    """Where an operand begins and its stride, in elements, along each dimension its index follows."""
    storage = statements.expressions.storages[read.buffer]
    start: dict[str, Expr] = {name: dim.lo for name, dim in dims.items()}

    def place(values: dict[str, Expr]) -> C.CExpr:
        return storage.offset(tuple(statements.expressions.index(substitute(e, values)) for e in read.index))

    strides: dict[str, C.CExpr] = {}
    for name, dim in dims.items():
        if any(name in _names(e) for e in read.index):
            moved = {**start, name: Op("add", (dim.lo, Const(1, INT)), INT)}
            strides[name] = C.Infix("-", place(moved), place(start))
    pointer: C.CExpr = C.Name(storage.name) if read.index else C.Prefix("&", C.Name(storage.name))
    return Operand(C.plus(pointer, place(start)) if read.index else pointer, strides)


def _names(expr: Expr) -> set[str]:
    return {e.name for e in subexpressions(expr) if isinstance(e, Var)}


def _extent(name: str, dims: dict[str, Dim], statements: Loops) -> C.CExpr:
    return statements.trips(dims[name])


def _target(node: Call) -> Read:
    return Read(node.stmt.buffer, node.stmt.index, node.stmt.value.type)


def _factor(value: Expr | None, of: ScalarType, default: int, statements: Loops) -> C.CExpr:
    if value is None:
        return c_ops.literal(default if of.dtype.is_integer else float(default), of.dtype)
    return c_ops.cast(statements.expressions.value(value), value.type.dtype, of.dtype, statements.unit.used)


def _common(node: Call, statements: Loops) -> tuple[C.CExpr, C.CExpr, C.CExpr]:
    """Scale, keep, and whether the old contents count at all."""
    of = node.stmt.value.type
    keep = C.number(0 if node.keep is None else 1)
    return _factor(node.scale, of, 1, statements), _factor(node.keep, of, 0, statements), keep


def _shared(one: Operand, other: Operand) -> str | None:
    common = set(one.strides) & set(other.strides)
    return next(iter(common)) if len(common) == 1 else None


def _gemm(node: Call, dims: dict[str, Dim], statements: Loops) -> tuple[C.CExpr, ...] | None:
    a, b = (operand(read, dims, statements) for read in node.operands)
    c = operand(_target(node), dims, statements)
    left, right = node.operands
    i, j, k = _group(left, a, c, b), _group(right, b, c, a), _group(left, a, b, c)
    if not i or not j or not k or len({*i, *j, *k}) != len(dims):
        return None
    scale, keep, kept = _common(node, statements)
    # Several dimensions that lie in memory as one: the stride of the last, and all of their points.
    sizes = tuple(_points(names, dims, statements) for names in (i, j, k))
    first = (a.address, a.strides[i[-1]], a.strides[k[-1]])
    second = (b.address, b.strides[k[-1]], b.strides[j[-1]])
    return (*sizes, scale, *first, *second, keep, kept, c.address, c.strides[i[-1]], c.strides[j[-1]])


def _group(read: Read, own: Operand, other: Operand, without: Operand) -> tuple[str, ...]:
    """The dimensions that two operands share and a third has not, in the order of the first one's axes."""
    names = (set(own.strides) & set(other.strides)) - set(without.strides)
    return tuple(sorted(names, key=lambda name: [name in _names(part) for part in read.index].index(True)))


def _points(names: tuple[str, ...], dims: dict[str, Dim], statements: Loops) -> C.CExpr:
    size = _extent(names[0], dims, statements)
    for name in names[1:]:
        size = C.Infix("*", size, _extent(name, dims, statements))
    return size


def _gemv(node: Call, dims: dict[str, Dim], statements: Loops) -> tuple[C.CExpr, ...] | None:
    a, x = (operand(read, dims, statements) for read in node.operands)
    y = operand(_target(node), dims, statements)
    i, k = _shared(a, y), _shared(a, x)
    if i is None or k is None or len(dims) != 2:
        return None
    scale, keep, kept = _common(node, statements)
    sizes = (_extent(i, dims, statements), _extent(k, dims, statements))
    matrix = (a.address, a.strides[i], a.strides[k])
    return (*sizes, scale, *matrix, x.address, x.strides[k], keep, kept, y.address, y.strides[i])


def _dot(node: Call, dims: dict[str, Dim], statements: Loops) -> tuple[C.CExpr, ...] | None:
    x, y = (operand(read, dims, statements) for read in node.operands)
    target = operand(_target(node), dims, statements)
    k = _shared(x, y)
    if k is None or len(dims) != 1:
        return None
    scale, keep, kept = _common(node, statements)
    vectors = (x.address, x.strides[k], y.address, y.strides[k])
    return (_extent(k, dims, statements), scale, *vectors, keep, kept, target.address)


def _ger(node: Call, dims: dict[str, Dim], statements: Loops) -> tuple[C.CExpr, ...] | None:
    x, y = (operand(read, dims, statements) for read in node.operands)
    a = operand(_target(node), dims, statements)
    i, j = _shared(x, a), _shared(y, a)
    # BLAS only ever adds to the old contents, unscaled.
    adds = node.keep is not None and isinstance(node.keep, Const) and node.keep.value == 1
    if i is None or j is None or len(dims) != 2 or not adds:
        return None
    scale, _, _ = _common(node, statements)
    sizes = (_extent(i, dims, statements), _extent(j, dims, statements))
    vectors = (x.address, x.strides[i], y.address, y.strides[j])
    return (*sizes, scale, *vectors, a.address, a.strides[i], a.strides[j])


def _syrk(node: Call, dims: dict[str, Dim], statements: Loops) -> tuple[C.CExpr, ...] | None:
    a, c = operand(node.operands[0], dims, statements), operand(_target(node), dims, statements)
    rows, columns = node.stmt.domain
    assert isinstance(columns, Dim)
    inner = [name for name in a.strides if name != rows.var]
    if len(dims) != 3 or len(inner) != 1 or rows.var not in a.strides or len(c.strides) != 2:
        return None
    scale, keep, kept = _common(node, statements)
    upper = C.number(int(rows.var in free_vars(columns.lo)))
    sizes = (_extent(rows.var, dims, statements), _extent(inner[0], dims, statements))
    matrix = (a.address, a.strides[rows.var], a.strides[inner[0]])
    return (upper, *sizes, scale, *matrix, keep, kept, c.address, c.strides[rows.var], c.strides[columns.var])


_ARGUMENTS = {"gemm": _gemm, "syrk": _syrk, "gemv": _gemv, "dot": _dot, "ger": _ger}


# --- the same statement as loops ------------------------------------------------------------------------------------


def loops(stmt: Stmt, statements: Loops) -> list[C.CStmt]:
    """for each point: the reductions of the value into scalars of their own, then the assignment."""
    names = statements.unit.names
    prepared: list[Node] = []
    declared: list[C.CStmt] = []

    def variable(of: ScalarType) -> str:
        name = fresh("sum", set(statements.expressions.storages))
        buffer = Buffer(name, of, ())
        storage = Storage(buffer, names.own("sum"), Layout.C)
        statements.expressions.storages[name] = storage
        statements.unit.types[storage.name] = storage.type
        declared.append(C.Declare(storage.type, storage.name))
        return name

    def visit(expr: Expr) -> Expr:
        if not isinstance(expr, Reduce):
            return expr
        of = expr.value.type
        operation = REDUCTIONS[expr.op].operation
        assert operation is not None, "a library call has no positions to find"
        name = variable(of)
        total = Read(name, (), of)
        prepared.append(Stmt((), name, (), Const(REDUCTIONS[expr.op].identity(of), of)))
        body: Block = (Stmt((), name, (), Op(operation, (total, expr.value), of)),)
        for depth, dim in enumerate(reversed(expr.dims)):
            innermost = depth == 0
            kind = LoopKind.VECTOR if innermost else LoopKind.SEQUENTIAL
            body = (Loop(dim, body, kind, (Accumulator(name, expr.op),) if innermost else ()),)
        prepared.extend(body)
        return total

    value = rewrite(stmt.value, visit)
    if stmt.reduce is not None:
        operation = REDUCTIONS[stmt.reduce].operation
        assert operation is not None
        value = Op(operation, (Read(stmt.buffer, stmt.index, stmt.value.type), value), stmt.value.type)
    point: Block = (*prepared, replace(stmt, domain=(), reduce=None, value=value))
    # These nodes have no place in the program: no declaration of its own belongs to their path.
    body = (*declared, *statements.block(point, (-1,)))
    return statements.nest(stmt.domain, list(body))
