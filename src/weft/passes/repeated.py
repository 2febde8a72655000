"""Repeated: what several statements of an innermost loop compute alike is computed once in an iteration.  In: a lowered
program; out: the same with scalars for such values.

    for p: { g[int(x[p])] = g[int(x[p])] + q[p];  h[int(x[p])] = h[int(x[p])] + q[p] * x[p] }
        -->  for p: { u = x[p];  k = int(u);  v = q[p];  g[k] = g[k] + v;  h[k] = h[k] + v * u }

As in `invariant`, the C compiler does not know that the stores in between leave all of it as it was.  Vectors do not
need it: there the compiler is told that iterations are independent.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field, replace

from weft.ir.expr import Cast, Const, Dim, Expr, Op, Read, Reduce, Var
from weft.ir.program import Block, Buffer, Loop, LoopKind, Node, Program, Stmt
from weft.ir.verify import Stage
from weft.ir.walk import children, expr_size, fresh, map_children, map_sub_blocks, names_of
from weft.passes import Knows, PassContext, declared
from weft.passes.invariant import blocks_sharing
from weft.records import dataclass

_NAME = "repeated"
#: Operations whose later arguments may not be evaluated.
_LAZY = frozenset({"select", "and", "or"})


@declared("repeated", takes=Stage.LOWERED, after=("invariant",), knows=Knows.BESIDE)
def run(program: Program, context: PassContext) -> Program:
    namer = _Namer(program, names_of(program))
    body = namer.block(program.body)
    if body is program.body:
        return program
    context.done(_NAME, "values that several statements of an inner loop need are computed once", program.span)
    return replace(program, body=body, buffers=program.buffers + tuple(namer.made))


@dataclass
class _Namer:
    program: Program
    taken: set[str]
    made: list[Buffer] = field(default_factory=list)

    def block(self, block: Block) -> Block:
        new = tuple(self.node(map_sub_blocks(node, self.block)) for node in block)
        return block if all(a is b for a, b in zip(new, block)) else new

    def node(self, node: Node) -> Node:
        if not isinstance(node, Loop) or node.kind is not LoopKind.SEQUENTIAL or not isinstance(node.dim, Dim):
            return node
        stmts = [inner for inner in node.body if isinstance(inner, Stmt)]
        if len(stmts) < 2 or len(stmts) != len(node.body) or not any(stmt.index for stmt in stmts[:-1]):
            return node
        shared = self.shared(stmts, node)
        if not shared:
            return node
        values: dict[Expr, Read] = {}
        before: list[Node] = []
        for expr in sorted(shared, key=expr_size):
            name = fresh(f"{stmts[0].buffer}_once", self.taken)
            self.made.append(Buffer(name, expr.type, (), span=node.span))
            before.append(Stmt((), name, (), map_children(expr, lambda e: _with(e, values)), span=node.span))
            values[expr] = Read(name, (), expr.type)
        after = [
            replace(s, index=tuple(_with(e, values) for e in s.index), value=_with(s.value, values)) for s in stmts
        ]
        return replace(node, body=(*before, *after))

    def shared(self, stmts: list[Stmt], loop: Loop) -> dict[Expr, int]:
        """Values that at least two statements, or two of these values, use: as large as they can be, with
        how often."""
        having = [dict.fromkeys(_sure_parts(stmt)) for stmt in stmts]
        counts: dict[Expr, int] = {}
        for parts in having:
            counts |= {expr: counts.get(expr, 0) + 1 for expr in parts}
        chosen = {expr: 0 for expr, count in counts.items() if count > 1 and self.is_worth(expr, loop)}
        tops = [e for stmt in stmts for e in (*stmt.index, stmt.value)]
        while chosen:
            chosen = dict.fromkeys(chosen, 0)
            for top in (*tops, *(child for expr in chosen for child in children(expr))):
                for expr in _met(top, chosen):
                    chosen[expr] += 1
            if min(chosen.values()) > 1:
                break
            chosen = {expr: count for expr, count in chosen.items() if count > 1}
        return chosen

    def is_worth(self, expr: Expr, loop: Loop) -> bool:
        element = isinstance(expr, Read) and bool(expr.index)
        number = isinstance(expr, (Cast, Op)) and any(_reads_element(child) for child in children(expr))
        if isinstance(expr, Op) and expr.type.dtype.kind in "iub":
            number = False  # indices are computed without tests, where they stand
        return (element or number) and blocks_sharing(expr, loop, self.program) is None


def _sure_parts(stmt: Stmt) -> Iterator[Expr]:
    """The parts of a statement that it evaluates in any case."""
    stack = [*stmt.index, stmt.value]
    while stack:
        expr = stack.pop()
        if isinstance(expr, (Const, Var, Reduce)):
            continue
        yield expr
        stack += children(expr)[:1] if isinstance(expr, Op) and expr.op in _LAZY else children(expr)


def _reads_element(expr: Expr) -> bool:
    return (isinstance(expr, Read) and bool(expr.index)) or any(_reads_element(child) for child in children(expr))


def _met(expr: Expr, chosen: dict[Expr, int]) -> Iterator[Expr]:
    """The chosen values in an expression that are not inside of others."""
    if expr in chosen:
        yield expr
    else:
        for child in children(expr):
            yield from _met(child, chosen)


def _with(expr: Expr, values: dict[Expr, Read]) -> Expr:
    return values[expr] if expr in values else map_children(expr, lambda e: _with(e, values))
