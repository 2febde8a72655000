"""Shapes: what comments say of the dimensions of a tensor expression, told of its loops.  In: statements with such a
comment on their line; out: the same with dimensions that are named after the comment's, by which the passes that lower
them know the order of loops, blocks and sums in registers; small dimensions as guards.

    #pragma :M=>parallel,block(2) :N=>reduce(sum:y)
    y[i] = sum[k] a[i, k] * x[k]   for i    -->    y[over_M] = sum[over_N] a[over_M, over_N] * x[over_N]   for over_M
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from weft.analysis import cost
from weft.directives import Dimension, Shape
from weft.ir.expr import AnyDim, Dim, Expr, Op, Reduce, Var, integer
from weft.ir.program import Block, Check, Node, Program, Stmt
from weft.ir.types import PYBOOL
from weft.ir.walk import (
    expr_buffers,
    free_vars,
    fresh,
    map_children,
    map_dim,
    map_sub_blocks,
    names_of,
    substitute,
)
from weft.passes import Knows, PassContext, declared
from weft.records import dataclass

PASS = "shapes"


@declared("shapes", knows=Knows.BESIDE)
def run(program: Program, context: PassContext) -> Program:
    """Every statement that a comment describes, with the comment's dimensions."""
    if not context.directives.shapes:
        return program
    shaper = _Shaper(program, context, names_of(program))
    body = shaper.block(program.body)
    return replace(program, body=body, guards=(*program.guards, *dict.fromkeys(shaper.guards)))


@dataclass
class _Shaper:
    program: Program
    context: PassContext
    taken: set[str]

    def __post_init__(self) -> None:
        self.guards: list[Check] = []
        self.symbols = {symbol.name for symbol in self.program.symbols}

    def block(self, block: Block) -> Block:
        return tuple(map(self.node, block))

    def node(self, node: Node) -> Node:
        if not isinstance(node, Stmt):
            return map_sub_blocks(node, self.block)
        shape = self.context.directives.shape_of(node.span.line)
        if shape is None:
            return node
        found = dict(self.dimensions(node, shape))
        for var, dimension in found.items():
            self.limit(node, var, dimension)
        names = {var: fresh(shape.variable(dimension), self.taken) for var, dimension in found.items()}
        return _renamed(node, names)

    def dimensions(self, stmt: Stmt, shape: Shape) -> Iterator[tuple[str, Dimension]]:
        """The variables of a statement that a comment describes."""
        inside = [dim.var for part in _sums(stmt.value) for dim in part.dims if isinstance(dim, Dim)]
        told = set().union(*map(free_vars, stmt.index)) if stmt.index else set()
        own = [dim.var for dim in stmt.domain if isinstance(dim, Dim)]
        inside += [var for var in own if var not in told]
        outside = [var for var in own if var in told]
        taken: set[str] = set()
        for dimension in shape.dimensions:
            among = inside if dimension.reduced else outside
            if dimension.axis is not None:
                used = free_vars(stmt.index[dimension.axis]) if dimension.axis < len(stmt.index) else set()
                among = [var for var in outside[::-1] if var in used]
            var = next((var for var in among if var not in taken), None)
            if var is not None:
                taken.add(var)
                yield var, dimension

    def limit(self, stmt: Stmt, var: str, dimension: Dimension) -> None:
        """le(n) is a guard where the extent is known at entry."""
        dims = [*stmt.domain, *(dim for part in _sums(stmt.value) for dim in part.dims)]
        dim = next(dim for dim in dims if dim.var == var)
        if not dimension.most or not isinstance(dim, Dim):
            return
        extent, known = cost.extent(dim), cost.constant_extent(dim)
        if known is not None and known <= dimension.most:
            return
        if known is not None:
            self.context.missed(PASS, f"le({dimension.most}): {dimension.name} has {known} elements", stmt.span)
            return
        if free_vars(extent) <= self.symbols and not expr_buffers(extent):
            fits = Op("ge", (Op("sub", (integer(dimension.most), extent), extent.type), integer(0)), PYBOOL)
            message = f"dimension {dimension.name} has more than {dimension.most} elements"
            self.guards.append(Check((), fits, "RuntimeError", message, span=stmt.span))
            return
        reason = f"le({dimension.most}): the size of {dimension.name} is not known at entry"
        self.context.missed(PASS, reason, stmt.span)


def _sums(expr: Expr) -> Iterator[Reduce]:
    """The reductions of a value, outermost first."""
    if isinstance(expr, Reduce):
        yield expr
    found: list[Reduce] = []

    def visit(part: Expr) -> Expr:
        found.extend(_sums(part))
        return part

    map_children(expr, visit)
    yield from found


def _renamed(stmt: Stmt, names: dict[str, str]) -> Stmt:
    values: dict[str, Expr] = {var: Var(name) for var, name in names.items()}

    def dim_of(dim: AnyDim) -> AnyDim:
        mapped = map_dim(dim, lambda e: substitute(e, values))
        return replace(mapped, var=names.get(mapped.var, mapped.var))

    def value_of(expr: Expr) -> Expr:
        if isinstance(expr, Var):
            return values.get(expr.name, expr)
        if isinstance(expr, Reduce):
            return replace(expr, dims=tuple(map(dim_of, expr.dims)), value=value_of(expr.value))
        return map_children(expr, value_of)

    domain = tuple(map(dim_of, stmt.domain))
    return replace(stmt, domain=domain, index=tuple(map(value_of, stmt.index)), value=value_of(stmt.value))
