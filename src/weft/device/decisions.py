"""What decides about launches.  In: a lowered program; out: one whose conditions and bounds around kernels are numbers
that the host has or can fetch.

    if a[n] > 0: parallel i: ...   -->   decided = a[n] > 0          a kernel of one work-item
                                         if decided: parallel i: ...

So is a condition of `break` or `continue` in a loop around kernels.
"""

from __future__ import annotations

from dataclasses import replace

from weft.device import host
from weft.device.lanes import leaving
from weft.ir.expr import Cast, Dim, Expr, Read
from weft.ir.program import (
    Alloc,
    Block,
    Break,
    Buffer,
    Call,
    Continue,
    If,
    Library,
    Loop,
    LoopKind,
    Node,
    Program,
    Rebind,
    Return,
    Stmt,
    While,
)
from weft.ir.types import FLOAT, INT, PYBOOL
from weft.ir.walk import map_sub_blocks, sub_blocks, walk
from weft.records import dataclass


def around_libraries(program: Program) -> Program:
    """parallel i: fft(a[i])   -->   for i: fft(a[i])

    A kernel calls no library: the host runs such a loop, and what is inside of it is launched again in each iteration.
    """

    def visit(node: Node) -> Node:
        if not any(isinstance(inner, Library) for inner in walk((node,))):
            return node
        node = map_sub_blocks(node, lambda block: tuple(map(visit, block)))
        return replace(node, kind=LoopKind.SEQUENTIAL, accumulators=()) if isinstance(node, Loop) else node

    return replace(program, body=tuple(map(visit, program.body)))


def on_host(node: Node) -> bool:
    """Whether a node is control around kernels: it holds a parallel loop, or something only the host can do."""
    if _is_parallel(node):
        return False
    for block in sub_blocks(node):
        for inner in block:
            if isinstance(inner, (Return, Rebind, Alloc, Call, Library)) or _is_parallel(inner) or on_host(inner):
                return True
    return False


def _is_parallel(node: Node) -> bool:
    return isinstance(node, Loop) and node.kind is LoopKind.PARALLEL


def decided(program: Program) -> Program:
    """The program with every decision of the host's in scalars."""
    maker = _Maker({buffer.name for buffer in program.buffers}, {b.name for b in program.buffers if not b.rank})
    body = maker.block(program.body)
    return program if not maker.added else replace(program, body=body, buffers=(*program.buffers, *maker.added))


@dataclass
class _Maker:
    names: set[str]
    scalars: set[str]

    def __post_init__(self) -> None:
        self.added: list[Buffer] = []

    def block(self, block: Block) -> Block:
        out: list[Node] = []
        for node in block:
            out += self.node(node)
        return tuple(out)

    def node(self, node: Node) -> Block:
        before: list[Node] = []
        if isinstance(node, Loop) and (_is_parallel(node) or on_host(node)) and isinstance(node.dim, Dim):
            lo, hi = (self.number(bound, node, before) for bound in (node.dim.lo, node.dim.hi))
            dim = replace(node.dim, lo=lo, hi=hi)
            body = node.body if _is_parallel(node) else self.block(node.body)
            return (*before, replace(node, dim=dim, body=body))
        jumps = isinstance(node, If) and any(isinstance(inner, (Break, Continue)) for inner in leaving(node))
        if not jumps and not on_host(node):
            return (node,)
        if isinstance(node, If):
            condition = self.number(node.condition, node, before)
            then, orelse = self.block(node.then), self.block(node.orelse)
            return (*before, replace(node, condition=condition, then=then, orelse=orelse))
        if isinstance(node, While):
            prelude = [*self.block(node.prelude)]
            condition = self.number(node.condition, node, prelude)
            return (replace(node, prelude=tuple(prelude), condition=condition, body=self.block(node.body)),)
        return (node,)

    def number(self, expr: Expr, node: Node, before: list[Node]) -> Expr:
        """The expression, or the scalar that a statement in `before` puts it into."""
        if host.evaluable(expr, self.scalars):
            return expr
        dtype = expr.type.dtype
        of = PYBOOL if dtype is PYBOOL.dtype else FLOAT if dtype.is_float else INT
        name = next(name for name in (f"decided_{n}" for n in range(len(self.names) + 1)) if name not in self.names)
        self.names.add(name)
        self.scalars.add(name)
        self.added.append(Buffer(name, of, (), span=node.span))
        value = expr if expr.type == of else Cast(expr, of)
        before.append(Stmt((), name, (), value, span=node.span))
        return Read(name, (), of) if expr.type == of else Cast(Read(name, (), of), expr.type)
