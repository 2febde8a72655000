"""The memory order of new arrays.  In: a program whose own arrays are all in C order; out: those that are made of
arrays in Fortran order lie as these do, with their axes in reverse.

    c[i, j] = a[i, j] + b[i, j]   (a, b in Fortran order)
      -->  c'[j, i] = a[i, j] + b[i, j],  each c[x, y] is c'[y, x], and a result c is the transposed view of c'

So do NumPy's operators, and no access of the loop is transposed.  A local array may lie as it likes.  A result does so
only if a single statement over the whole of it makes it, of such arrays: anything else is in C order in NumPy too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from weft.analysis.effects import sets_all
from weft.ir.expr import Dim, Expr, Read, Var, integer
from weft.ir.index import affine
from weft.ir.program import (
    Alloc,
    ArrayOut,
    Block,
    Check,
    If,
    Layout,
    Loop,
    Node,
    Out,
    Program,
    Return,
    Role,
    Space,
    Stmt,
    TupleOut,
    ViewOut,
    While,
)
from weft.ir.walk import (
    buffers_written,
    free_vars,
    fresh,
    leaves,
    map_block,
    map_node_exprs,
    map_sub_blocks,
    names_of,
    reads,
    rewrite,
    sub_blocks,
    touched,
    walk,
)
from weft.passes import Knows, PassContext, declared

PASS = "arrange"
Orders = dict[str, Layout]
Access = tuple[str, tuple[Expr, ...]]


@declared("arrange", after=("tidy",), knows=Knows.CALLS | Knows.TASKS)
def run(program: Program, context: PassContext) -> Program:
    """Reverse the axes of every array that only meets arrays in Fortran order."""
    if not any(buffer.layout is Layout.F for buffer in program.buffers):
        return program
    turned = sorted(name for name, order in chosen(program).items() if order is Layout.F)
    for name in turned:
        context.done(PASS, f"{name} in Fortran order, as what it is made of", program.table[name].span)
    return in_reverse(program, frozenset(turned)) if turned else program


def chosen(program: Program) -> Orders:
    """The order of each new array about which others tell something."""
    open_ = free_to_choose(program)
    pairs = [pair for node in walk(program.body) if isinstance(node, Stmt) for pair in _pairs(node)]
    decided: Orders = {b.name: b.layout for b in program.buffers if b.name not in open_ and b.rank > 1}
    found: Orders = {}
    while True:
        told: dict[str, set[Layout]] = {}
        for one, other in pairs:
            for (name, index), (beside, along) in ((one, other), (other, one)):
                order = _told(index, _adjacent(along, decided.get(beside))) if name in open_ else None
                if order is not None:
                    told.setdefault(name, set()).add(order)
        new = {name: Layout.C if Layout.C in orders else Layout.F for name, orders in told.items()}
        new = {name: order for name, order in new.items() if name not in found}
        if not new:
            return found
        found |= new
        decided |= new


def free_to_choose(program: Program) -> set[str]:
    """Arrays whose order nobody but loops can see: all others are a library's, a call's or part of a view."""
    found = {b.name for b in program.buffers if b.rank > 1 and b.layout is Layout.C and b.space is Space.HOST}
    found -= {b.name for b in program.buffers if b.role not in (Role.LOCAL, Role.RESULT)}
    plain = (Stmt, Alloc, If, Loop, While, Check, Return)
    found -= {name for node in walk(program.body) if not isinstance(node, plain) for name in touched(node)}
    handed = [leaf for out in program.results for leaf in leaves(out)]
    found -= {leaf.buffer for leaf in handed if isinstance(leaf, ViewOut)} | set(program.ordered)
    whole = {leaf.buffer for leaf in handed if isinstance(leaf, ArrayOut) and not leaf.as_list}
    results = {name for name in found if program.table[name].role is Role.RESULT}
    return found - {name for name in results if name not in whole or not _follows_operands(program, name)}


def _follows_operands(program: Program, name: str) -> bool:
    """Whether the first statement after each allocation of a result gives it all its elements, of arrays in Fortran
    order alone."""
    makers = list(_makers(program.body, name))
    return bool(makers) and all(_is_made_of_fortran(node, program) for node in makers)


def _makers(block: Block, name: str) -> Iterator[Node]:
    allocated = False
    for node in block:
        if isinstance(node, Alloc):
            allocated = allocated or node.buffer == name
        elif allocated and name in buffers_written(node):
            yield node
            allocated = False
        else:
            for inner in sub_blocks(node):
                yield from _makers(inner, name)


def _is_made_of_fortran(node: Node, program: Program) -> bool:
    if not isinstance(node, Stmt) or not sets_all(node, program.table[node.buffer].shape):
        return False
    table = program.table
    operands = [read for read in reads(node.value) if len(read.index) > 1]
    lying = [table[read.buffer] for read in operands]
    same = all(read.index == node.index for read in operands)
    return bool(operands) and same and all(b.layout is Layout.F or b.role is Role.LOCAL for b in lying)


def _pairs(stmt: Stmt) -> Iterator[tuple[Access, Access]]:
    """What a statement writes, beside each array that it reads meanwhile."""
    if len(stmt.index) > 1:
        for read in reads(stmt.value):
            if len(read.index) > 1:
                yield (stmt.buffer, stmt.index), (read.buffer, read.index)


def _adjacent(index: tuple[Expr, ...], order: Layout | None) -> str | None:
    """The dimension along which an access goes to neighbours in memory, if it is a single one."""
    if order is None or order is Layout.STRIDED:
        return None
    form = affine(index[-1] if order is Layout.C else index[0])
    return form.terms[0][0] if form is not None and len(form.terms) == 1 and abs(form.terms[0][1]) == 1 else None


def _told(index: tuple[Expr, ...], var: str | None) -> Layout | None:
    """The order in which an access goes to neighbours along a dimension."""
    places = [axis for axis, part in enumerate(index) if var is not None and var in free_vars(part)]
    if len(places) != 1 or places[0] not in (0, len(index) - 1):
        return None
    return Layout.C if places[0] else Layout.F


def in_reverse(program: Program, names: frozenset[str]) -> Program:
    """The program with the axes of these arrays in reverse."""

    def visit(expr: Expr) -> Expr:
        turned = isinstance(expr, Read) and expr.buffer in names
        return replace(expr, index=expr.index[::-1]) if turned and isinstance(expr, Read) else expr

    def change(node: Node) -> Node:
        if isinstance(node, Stmt) and node.buffer in names:
            node = replace(node, index=node.index[::-1])
        return map_sub_blocks(node, lambda block: map_block(block, change))

    body = map_block(program.body, lambda node: map_node_exprs(change(node), lambda e: rewrite(e, visit)))
    taken = names_of(program)
    buffers = tuple(replace(b, shape=b.shape[::-1]) if b.name in names else b for b in program.buffers)

    def handed(out: Out) -> Out:
        if isinstance(out, TupleOut):
            return replace(out, items=tuple(handed(item) for item in out.items))
        if not isinstance(out, ArrayOut) or out.buffer not in names:
            return out
        shape = program.table[out.buffer].shape
        dims = tuple(Dim(fresh(f"d{axis}", taken), integer(0), size) for axis, size in enumerate(shape))
        return ViewOut(out.buffer, dims, tuple(Var(dim.var) for dim in reversed(dims)))

    return replace(program, body=body, buffers=buffers, results=tuple(handed(out) for out in program.results))
