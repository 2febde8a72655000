"""Matrix products on a device.  In: a `Call` of gemm, alone or as the body of a parallel loop; out: its kernel.

    C[i, j] = sum[k] A[i, k] * B[k, j]   -->   a work-group computes a block of C: strips of A and B go through local
                                               memory, and each work-item has a few elements of the block in registers

A processor has no local memory of its own and pays for barriers: there one work-item has a block, in vector registers.
The terms of one element are added in the order of k, whatever the blocks.
"""

from __future__ import annotations

import itertools
from dataclasses import replace

from weft.analysis import cost
from weft.codegen import c_ops
from weft.codegen import syntax as C
from weft.codegen.c_expr import Storage
from weft.device.dialect import ALONE, BARRIER, BLOCK, ITEMS
from weft.device.kernels import Unit, arguments_of, loaded_scalars, resident_scalars
from weft.device.plan import Kernel, Mapping, Refused, Routine
from weft.ir.expr import Dim, Op, Read, Reduce, real
from weft.ir.program import Block, Buffer, Call, Layout, Loop, LoopKind, Program
from weft.ir.walk import free_vars, map_sub_blocks, rewrite, subexpressions
from weft.records import dataclass

ROWS, COLUMNS, DEPTH = BLOCK
ACROSS, DOWN = ITEMS
_X, _Y, _SUM, _A, _B = (C.Name(f"k_{name}") for name in ("x", "y", "sum", "a", "b"))


@dataclass(frozen=True)
class _Product:
    """The parts of a product: the sum in its statement, the factor with rows and the factor with columns."""

    call: Call
    total: Reduce
    rows: Dim
    columns: Dim
    terms: Dim
    left: Read
    right: Read


def why_not(call: Call) -> str | None:
    """Why a product is not computed block by block."""
    return None if _product(call) is not None else "not a plain product of two matrices"


def _product(call: Call) -> _Product | None:
    sums = [part for part in subexpressions(call.stmt.value) if isinstance(part, Reduce)]
    dims = [dim for dim in call.stmt.domain if isinstance(dim, Dim)]
    if call.routine != "gemm" or len(sums) != 1 or len(dims) != 2 or len(call.stmt.domain) != 2:
        return None
    total = sums[0]
    factors = total.value.args if isinstance(total.value, Op) and total.value.op == "mul" else ()
    terms = total.dims[0]
    reads = [factor for factor in factors if isinstance(factor, Read)]
    if total.op != "add" or len(total.dims) != 1 or not isinstance(terms, Dim) or len(reads) != 2:
        return None
    used = [set().union(*map(free_vars, read.index)) for read in reads]
    for (rows, columns), (left, right) in itertools.product((dims, dims[::-1]), ((0, 1), (1, 0))):
        if rows.var in used[left] - used[right] and columns.var in used[right] - used[left]:
            return _Product(call, total, rows, columns, terms, reads[left], reads[right])
    return None


def routine(call: Call, batch: Dim | None) -> Routine:
    """The product as a call of a library."""
    product = _product(call)
    assert product is not None
    work = cost.times(real(2.0), cost.points((*((batch,) if batch is not None else ()), *_dims(product))))
    return Routine(call, batch, _dims(product), (product.left, product.right), work)


def _dims(product: _Product) -> tuple[Dim, ...]:
    return product.rows, product.columns, product.terms


def only_products(program: Program) -> Program:
    """Library calls that have no kernel become the statements that they stand for, before the schedule sees them."""

    def visit(block: Block) -> Block:
        return tuple(
            node.stmt if isinstance(node, Call) and why_not(node) is not None else map_sub_blocks(node, visit)
            for node in block
        )

    return replace(program, body=visit(program.body))


def product_of(node: object) -> tuple[Call, Dim | None] | None:
    """The product that a node is: a call, or a parallel loop over one."""
    if isinstance(node, Call):
        return node, None
    if isinstance(node, Loop) and node.kind is LoopKind.PARALLEL and len(node.body) == 1:
        only = node.body[0]
        if isinstance(only, Call) and isinstance(node.dim, Dim):
            return only, node.dim
    return None


def kernel(call: Call, batch: Dim | None, unit: Unit, stop: list[C.CStmt]) -> Kernel:
    """The kernel of a product; `stop`: what stands first in a kernel that others may have told to do nothing."""
    product = _product(call)
    if product is None:
        raise Refused(f"the product of line {call.span.line} is {why_not(call)}")
    grid = (*((batch,) if batch is not None else ()), product.rows, product.columns)
    if unit.barriers:
        code = (*_head(product, unit), *stop, *_place(product, batch, unit), *_strips(product, unit))
        code = (*code, *_tail(product, unit))
    else:
        code = (*stop, *_alone(product, batch, unit))
    size = product.total.type.dtype.size if unit.barriers else 0
    resident = resident_scalars(code, unit)
    code = (*loaded_scalars(resident, unit), *code)
    return Kernel(
        name=unit.names.own(f"kernel{len(unit.kernels)}"),
        mapping=Mapping.BLOCKS if unit.barriers else Mapping.ITEMS,
        item=(1, 1) if unit.barriers else ALONE,
        grid=grid,
        arguments=arguments_of(code, unit, resident),
        body="".join(f"{line}\n" for line in C.lines(code, "  ")),
        local_bytes=DEPTH * (ROWS + COLUMNS) * size,
        work=cost.times(real(2.0), cost.points((*grid, product.terms))),
        span=call.span,
    )


def _head(product: _Product, unit: Unit) -> list[C.CStmt]:
    element = unit.expressions.ctype(product.total.type)
    return [
        C.Declare(f"K_LOCAL {element}", _A.text, extent=DEPTH * ROWS),
        C.Declare(f"K_LOCAL {element}", _B.text, extent=DEPTH * COLUMNS),
        C.Declare("const i64", _X.text, C.call("k_local", C.Number("0"))),
        C.Declare("const i64", _Y.text, C.call("k_local", C.Number("1"))),
        C.Declare(element, _SUM.text, extent=_RESULTS),
    ]


#: Elements of the result of one work-item.
_RESULTS = ROWS * COLUMNS // (ACROSS * DOWN)


def _place(product: _Product, batch: Dim | None, unit: Unit) -> list[C.CStmt]:
    out = _batch(batch, C.call("k_block", C.Number("2")), unit)
    zero = C.Assign(C.Subscript(_SUM, C.Name("k_r")), c_ops.literal(0, product.total.type.dtype, pairs=True))
    return [*out, C.For("k_r", C.Number("0"), C.number(_RESULTS), 1, (zero,))]


def _batch(batch: Dim | None, number: C.CExpr, unit: Unit) -> list[C.CStmt]:
    if batch is None:
        return []
    return [C.Declare("const i64", unit.names.of(batch.var), _at(batch, number, unit))]


def _at(dim: Dim, count: C.CExpr, unit: Unit) -> C.CExpr:
    """The value of a dimension at its n-th point."""
    return C.plus(unit.expressions.bound(dim.lo), C.times(count, C.number(dim.step)))


def _inside(dim: Dim, unit: Unit) -> C.CExpr:
    sign = "<" if dim.step > 0 else ">"
    return C.Infix(sign, C.Name(unit.names.of(dim.var)), unit.expressions.bound(dim.hi))


def _strips(product: _Product, unit: Unit) -> list[C.CStmt]:
    """for k in strips: both operands into local memory; barrier; multiply; barrier"""
    dtype = product.total.type.dtype
    first = C.Name("k_first")
    barrier = C.Evaluate(C.call(BARRIER))
    row, column = (C.times(C.call("k_block", C.number(axis)), C.number(BLOCK[1 - axis])) for axis in (1, 0))
    # Neighbouring lanes fetch neighbours along the terms of the left factor and along the columns of the right one.
    left = _fetched(product.left, _A, product.rows, row, ROWS, True, product, unit)
    right = _fetched(product.right, _B, product.columns, column, COLUMNS, False, product, unit)
    depth, r, c = C.Name("k_k"), C.Name("k_r"), C.Name("k_c")
    mine = C.Subscript(_SUM, C.plus(C.times(r, C.number(COLUMNS // ACROSS)), c))
    a = C.Subscript(_A, C.plus(C.plus(C.times(depth, C.number(ROWS)), _Y), C.times(r, C.number(DOWN))))
    b = C.Subscript(_B, C.plus(C.plus(C.times(depth, C.number(COLUMNS)), _X), C.times(c, C.number(ACROSS))))
    term = c_ops.build("mul", dtype, (a, b), unit.used)
    add = C.Assign(mine, c_ops.build("add", dtype, (mine, term), unit.used))
    unroll = ("#pragma unroll",)
    columns = C.For("k_c", C.Number("0"), C.number(COLUMNS // ACROSS), 1, (add,), unroll)
    rows = C.For("k_r", C.Number("0"), C.number(ROWS // DOWN), 1, (columns,), unroll)
    multiply = C.For("k_k", C.Number("0"), C.number(DEPTH), 1, (rows,))
    trips = unit.expressions.bound(cost.extent(product.terms))
    strips = C.For(first.text, C.Number("0"), trips, DEPTH, (*left, *right, barrier, multiply, barrier))
    return [strips]


def _fetched(
    read: Read, strip: C.Name, dim: Dim, start: C.CExpr, width: int, terms_adjacent: bool, product: _Product, unit: Unit
) -> list[C.CStmt]:
    """A strip of an operand into local memory, zeros beyond its end."""
    names, number = unit.names, C.Name("k_n")
    along = DEPTH if terms_adjacent else width
    fast, slow = C.Infix("%", number, C.number(along)), C.Infix("/", number, C.number(along))
    term, other = (fast, slow) if terms_adjacent else (slow, fast)
    place = C.Subscript(strip, C.plus(C.times(term, C.number(width)), other))
    k, own = names.of(product.terms.var), names.of(dim.var)
    element = unit.expressions.element(read.buffer, read.index)
    inside = C.Infix("&&", _inside(product.terms, unit), _inside(dim, unit))
    zero = c_ops.literal(0, read.type.dtype, pairs=True)
    body: tuple[C.CStmt, ...] = (
        C.Declare("const i64", k, _at(product.terms, C.plus(C.Name("k_first"), term), unit)),
        C.Declare("const i64", own, _at(dim, C.plus(start, other), unit)),
        C.Assign(place, C.Ternary(inside, element, zero)),
    )
    lane = C.plus(C.times(_Y, C.number(ACROSS)), _X)
    return [C.For(number.text, lane, C.number(DEPTH * width), ACROSS * DOWN, body)]


def _tail(product: _Product, unit: Unit) -> list[C.CStmt]:
    """The block of the result into memory, with whatever the statement does to a sum."""
    block = [C.times(C.call("k_block", C.number(axis)), C.number(BLOCK[1 - axis])) for axis in (1, 0)]
    row = C.plus(C.plus(block[0], _Y), C.times(C.Name("k_r"), C.number(DOWN)))
    column = C.plus(C.plus(block[1], _X), C.times(C.Name("k_c"), C.number(ACROSS)))
    return _stored(product, row, column, (ROWS // DOWN, COLUMNS // ACROSS), unit)


def _stored(product: _Product, row: C.CExpr, column: C.CExpr, shape: tuple[int, int], unit: Unit) -> list[C.CStmt]:
    """The sums of one work-item, which are for `row` and `column` of its k_r and k_c."""
    r, c = C.Name("k_r"), C.Name("k_c")
    stmt = product.call.stmt
    variable, of = "k_total", product.total.type
    unit.storages[variable] = Storage(Buffer(variable, of, ()), variable, Layout.C)
    value = rewrite(stmt.value, lambda part: Read(variable, (), of) if part == product.total else part)
    store = C.Assign(unit.expressions.element(stmt.buffer, stmt.index), unit.expressions.value(value))
    total = C.Subscript(_SUM, C.plus(C.times(r, C.number(shape[1])), c))
    body: tuple[C.CStmt, ...] = (
        C.Declare("const i64", unit.names.of(product.rows.var), _at(product.rows, row, unit)),
        C.Declare("const i64", unit.names.of(product.columns.var), _at(product.columns, column, unit)),
        C.Declare(f"const {unit.expressions.ctype(of)}", variable, total),
        C.IfElse(C.Infix("&&", _inside(product.rows, unit), _inside(product.columns, unit)), (store,)),
    )
    columns = C.For(c.text, C.Number("0"), C.number(shape[1]), 1, body)
    return [C.For(r.text, C.Number("0"), C.number(shape[0]), 1, (columns,))]


def _alone(product: _Product, batch: Dim | None, unit: Unit) -> list[C.CStmt]:
    """A block by one work-item: whole blocks without a test, those at the edges with one for each element."""
    rows, columns = ALONE
    element = unit.expressions.ctype(product.total.type)
    first = [C.Name(f"k_first_{axis}") for axis in ("row", "column")]
    out = _batch(batch, C.call("k_item", C.Number("2")), unit)
    for axis, (name, size) in enumerate(zip(first, ALONE)):
        position = C.times(C.call("k_item", C.number(1 - axis)), C.number(size))
        out.append(C.Declare("const i64", name.text, position))
    out.append(C.Declare(element, _SUM.text, extent=rows * columns))
    zero = C.Assign(C.Subscript(_SUM, C.Name("k_r")), c_ops.literal(0, product.total.type.dtype, pairs=True))
    out.append(C.For("k_r", C.Number("0"), C.number(rows * columns), 1, (zero,)))
    trips = [unit.expressions.bound(cost.extent(dim)) for dim in (product.rows, product.columns)]
    ends = [C.Infix("<=", C.plus(name, C.number(size)), trip) for name, size, trip in zip(first, ALONE, trips)]
    whole = C.Infix("&&", *ends)
    out.append(C.IfElse(whole, _multiplied(product, first, False, unit), _multiplied(product, first, True, unit)))
    row, column = C.plus(first[0], C.Name("k_r")), C.plus(first[1], C.Name("k_c"))
    return [*out, *_stored(product, row, column, ALONE, unit)]


def _multiplied(product: _Product, first: list[C.Name], edge: bool, unit: Unit) -> C.CBlock:
    """for k: every row of the block times every column; at an edge, only where there are such rows and columns."""
    names, (rows, columns), dtype = unit.names, ALONE, product.total.type.dtype
    r, c = C.Name("k_r"), C.Name("k_c")
    mine = C.Subscript(_SUM, C.plus(C.times(r, C.number(columns)), c))
    left = unit.expressions.element(product.left.buffer, product.left.index)
    right = unit.expressions.element(product.right.buffer, product.right.index)
    term = c_ops.build("mul", dtype, (C.Name("k_factor"), right), unit.used)
    add: C.CStmt = C.Assign(mine, c_ops.build("add", dtype, (mine, term), unit.used))
    if edge:
        add = C.IfElse(_inside(product.columns, unit), (add,))
    column = C.Declare("const i64", names.of(product.columns.var), _at(product.columns, C.plus(first[1], c), unit))
    across = C.For(c.text, C.Number("0"), C.number(columns), 1, (column, add))
    own: C.CBlock = (C.Declare(f"const {unit.expressions.ctype(product.total.type)}", "k_factor", left), across)
    if edge:
        own = (C.IfElse(_inside(product.rows, unit), own),)
    row = C.Declare("const i64", names.of(product.rows.var), _at(product.rows, C.plus(first[0], r), unit))
    down = C.For(r.text, C.Number("0"), C.number(rows), 1, (row, *own), ("#pragma unroll",))
    terms = product.terms
    bounds = (unit.expressions.bound(terms.lo), unit.expressions.bound(terms.hi))
    return (C.For(names.of(terms.var), *bounds, terms.step, (down,)),)
