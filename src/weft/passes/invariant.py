"""Invariant: what no iteration of an innermost loop changes is computed before it.  In: a lowered program; out: the
same with scalars for such values.

    for j in lo .. hi: x[c[j]] = x[c[j]] + r[i] / d[i]
        -->  if lo < hi: { t = r[i] / d[i];  for j in lo .. hi: x[c[j]] = x[c[j]] + t }

The C compiler does this itself for what it can keep in registers, but not for what it reads from memory that a store of
the loop might change, as far as it knows.  Here the arrays are known to be different ones.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field, replace

from weft.analysis.cost import constant_extent
from weft.analysis.effects import flops
from weft.ir.expr import Cast, Const, Dim, Expr, Op, Read, Reduce, Var
from weft.ir.program import Block, Buffer, If, Loop, LoopKind, Node, Program, Role, Stmt
from weft.ir.types import BOOL, PYBOOL
from weft.ir.verify import Stage
from weft.ir.walk import (
    buffers_written,
    children,
    expr_buffers,
    free_vars,
    fresh,
    kept,
    map_children,
    map_sub_blocks,
    names_of,
    reads,
)
from weft.passes import Knows, PassContext, declared
from weft.passes.hoist import candidates
from weft.passes.simplifying.algebra import as_type
from weft.records import dataclass

_NAME = "invariant"
#: Cycles from which on a value is worth a register: a division and what it divides.
_DEAR = 6
_KINDS = (LoopKind.SEQUENTIAL, LoopKind.VECTOR)


@declared("invariant", takes=Stage.LOWERED, after=("store", "lanes", "jam", "trapezoid"), knows=Knows.BESIDE)
def run(program: Program, context: PassContext) -> Program:
    mover = _Mover(program, names_of(program))
    body = mover.block(program.body)
    if body is program.body:
        return program
    context.done(_NAME, "values that do not change are computed before an inner loop", program.span)
    return replace(program, body=body, buffers=program.buffers + tuple(mover.made))


def blocks_moving(expr: Expr, loop: Loop, program: Program) -> str | None:
    """Why a value of a loop's statement cannot be computed before the loop; None if it can."""
    if loop.dim.var in free_vars(expr):
        return "it depends on the loop's variable"
    return blocks_sharing(expr, loop, program)


def blocks_sharing(expr: Expr, loop: Loop, program: Program) -> str | None:
    """Why an iteration of a loop may change what a value is made of; None if it cannot."""
    written = set().union(*(buffers_written(node) for node in loop.body))
    names = expr_buffers(expr)
    if names & written:
        return "the loop changes what it reads"
    table = program.table
    known = {frozenset(pair) for pair in program.disjoint}
    given = {name for name in names | written if name in table and table[name].role is Role.PARAM and table[name].rank}
    pairs = {frozenset((one, other)) for one in given & names for other in given & written}
    return None if pairs <= known else "arguments may share memory"


def _rows_told(value: Expr, kind: LoopKind) -> Iterator[Expr]:
    """Elements of an index array that tell which row of another array a vector loop goes along: the C compiler takes
    the rows of all lanes to be different ones."""
    if kind is not LoopKind.VECTOR:
        return
    for read in reads(value):
        for position in read.index[:-1]:
            inner = position.value if isinstance(position, Cast) else position
            if isinstance(inner, Read) and inner.index:
                yield position


def _with(value: Expr, values: dict[Expr, Read]) -> Expr:
    """A value with those that are computed before instead; the whole of an expression before its parts."""
    return values[value] if value in values else map_children(value, lambda e: _with(e, values))


@dataclass
class _Mover:
    program: Program
    taken: set[str]
    made: list[Buffer] = field(default_factory=list)

    def block(self, block: Block) -> Block:
        new = tuple(one for node in block for one in self.node(map_sub_blocks(node, self.block)))
        return block if len(new) == len(block) and all(a is b for a, b in zip(new, block)) else new

    def node(self, node: Node) -> Block:
        if not isinstance(node, Loop) or node.kind not in _KINDS or not isinstance(node.dim, Dim) or node.dim.step < 1:
            return (node,)
        if not all(isinstance(inner, Stmt) for inner in node.body):
            return (node,)
        values: dict[Expr, Read] = {}
        for stmt in node.body:
            assert isinstance(stmt, Stmt)
            for expr in candidates(stmt.value, (), lambda e, _: self.is_worth(e, node)):
                if expr not in values:
                    values[expr] = self.variable(expr, stmt)
            for expr in _rows_told(stmt.value, node.kind):
                if expr not in values and blocks_moving(expr, node, self.program) is None:
                    values[expr] = self.variable(expr, stmt)
        if not values:
            return (node,)
        before = tuple(Stmt((), read.buffer, (), expr, span=node.span) for expr, read in values.items())
        body = tuple(
            replace(stmt, value=_with(stmt.value, values))
            for stmt in node.body
            if isinstance(stmt, Stmt)
        )
        if (constant_extent(node.dim) or 0) > 0:
            return (*before, replace(node, body=body))
        runs = as_type(Op("lt", (node.dim.lo, node.dim.hi), PYBOOL), BOOL)
        return (If(runs, (*before, replace(node, body=body)), span=node.span),)

    def is_worth(self, expr: Expr, loop: Loop) -> bool:
        if isinstance(expr, (Const, Var, Read, Reduce)) or flops(expr) < _DEAR:
            return False
        if not _reads_elements(expr):
            return False
        return blocks_moving(expr, loop, self.program) is None

    def variable(self, expr: Expr, stmt: Stmt) -> Read:
        name = fresh(f"{stmt.buffer}_part", self.taken)
        self.made.append(Buffer(name, expr.type, (), span=stmt.span))
        return Read(name, (), expr.type)


def _reads_elements(expr: Expr) -> bool:
    """Whether a part of an expression is an element of an array."""
    return (isinstance(expr, Read) and bool(expr.index)) or any(
        kept(child, "_elements", _reads_elements) for child in children(expr)
    )


__all__ = ["blocks_moving", "blocks_sharing", "run"]
