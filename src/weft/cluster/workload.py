"""How much work and data a step of a plan is.  In: a plan, one of its steps and the values of its sizes; out:
operations and bytes, as numbers.

Operations are counted as additions of real numbers: a division or a root counts as many as the table of operations
says, complex arithmetic four times.  Sums of products, which a library computes from its caches, are counted apart from
all others, which wait for memory.  Bytes are those that must move at least once: each array that a stage reads or
writes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from weft.analysis.cost import GUESSED_EXTENT, evaluate, extent, points
from weft.cluster.access import is_product
from weft.cluster.plan import Plan, Stage, Whole
from weft.ir.expr import AnyDim, Dim, Expr, Op, Read, Reduce
from weft.ir.ops import OPERATIONS
from weft.ir.program import Block, Derived, If, Library, Loop, Node, Operand, Program, Stmt, While
from weft.ir.types import DType
from weft.ir.walk import buffers_read, buffers_written, children
from weft.records import dataclass

Sizes = Mapping[str, float]

#: Operations of a routine for a square matrix of order m, over m^3: what the textbooks say of LAPACK's algorithms.
_CUBIC = {
    "cholesky": 1 / 3, "inv": 2.0, "solve": 2 / 3, "det": 2 / 3, "slogdet": 2 / 3, "eigh": 9.0, "eigvalsh": 4 / 3,
    "eig": 25.0, "eigvals": 10.0, "svd": 21.0, "qr": 4 / 3, "lstsq": 4.0,
}  # fmt: skip
_COMPLEX = 4.0


@dataclass(frozen=True)
class Amount:
    """Operations of matrix products and of everything else."""

    products: float = 0.0
    others: float = 0.0

    def __add__(self, other: Amount) -> Amount:
        return Amount(self.products + other.products, self.others + other.others)

    def times(self, factor: float) -> Amount:
        return Amount(self.products * factor, self.others * factor)

    @property
    def operations(self) -> float:
        return self.products + self.others


NOTHING = Amount()


def derived(program: Program, values: Sizes) -> dict[str, float]:
    """Values of all symbols from those of sizes and arguments."""
    found = dict(values)
    for symbol in program.symbols:
        if isinstance(symbol.source, Derived):
            found[symbol.name] = evaluate(symbol.source.value, found, 1.0) or 0.0
    return found


def number(expr: Expr, sizes: Sizes) -> float:
    """The value of a size, at least 0; what only the run tells is guessed."""
    return max(evaluate(expr, sizes, float(GUESSED_EXTENT)) or 0.0, 0.0)


def bytes_of(program: Program, name: str, sizes: Sizes) -> float:
    """The bytes of a whole array."""
    buffer = program.table[name]
    return buffer.type.dtype.size * math.prod(number(size, sizes) for size in buffer.shape)


def bytes_along(program: Program, name: str, axis: int, sizes: Sizes) -> float:
    """The bytes of the elements of an array at one position along an axis."""
    buffer = program.table[name]
    others = (number(size, sizes) for place, size in enumerate(buffer.shape) if place != axis)
    return buffer.type.dtype.size * math.prod(others)


def named(node: Node) -> set[str]:
    """Buffers that a node or anything inside it names."""
    return buffers_read(node) | buffers_written(node)


def step_work(step: Stage | Whole, sizes: Sizes) -> Amount:
    """The operations of a whole step."""
    return block_work(step.nodes, sizes)


def step_bytes(plan: Plan, step: Stage | Whole, sizes: Sizes) -> float:
    """The bytes that a step reads and writes in memory, each array once."""
    names = {name for node in step.nodes for name in named(node)}
    return sum(bytes_of(plan.program, name, sizes) for name in names)


def block_work(block: Block, sizes: Sizes) -> Amount:
    total = NOTHING
    for node in block:
        total += _node(node, sizes)
    return total


def _node(node: Node, sizes: Sizes) -> Amount:
    if isinstance(node, Stmt):
        return _value(node.value, sizes).times(_points(node.domain, sizes))
    if isinstance(node, Library):
        return Amount(0.0, _library(node, sizes)).times(_points(node.domain, sizes))
    if isinstance(node, Loop):
        middle = 0.0
        if isinstance(node.dim, Dim):
            middle = (number(node.dim.lo, sizes) + number(node.dim.hi, sizes)) / 2
        return block_work(node.body, {**sizes, node.dim.var: middle}).times(number(extent(node.dim), sizes))
    if isinstance(node, If):
        return (block_work(node.then, sizes) + block_work(node.orelse, sizes)).times(0.5)
    if isinstance(node, While):
        return (block_work(node.prelude, sizes) + block_work(node.body, sizes)).times(GUESSED_EXTENT)
    return NOTHING


def _points(dims: Sequence[AnyDim], sizes: Sizes) -> float:
    return max(evaluate(points(dims), sizes, float(GUESSED_EXTENT)) or 0.0, 0.0)


def _value(expr: Expr, sizes: Sizes) -> Amount:
    """Operations of one evaluation; indices are free."""
    if isinstance(expr, Read):
        return NOTHING
    if isinstance(expr, Reduce):
        each = _value(expr.value, sizes)
        own = _factor(expr)
        count = _points(expr.dims, sizes)
        if is_product(expr):
            return Amount((each.operations + own) * count, 0.0)
        return each.times(count) + Amount(0.0, own * count)
    total = NOTHING
    for child in children(expr):
        total += _value(child, sizes)
    if isinstance(expr, Op):
        total += Amount(0.0, OPERATIONS[expr.op].cost * _factor(expr))
    return total


def _factor(expr: Expr) -> float:
    return _COMPLEX if expr.type.dtype in (DType.C64, DType.C128) else 1.0


def _library(node: Library, sizes: Sizes) -> float:
    """Operations of one call of a routine."""
    first: Operand = node.inputs[0]
    lengths = [number(extent(dim), sizes) for dim in first.dims]
    if "fft" in node.routine:
        results = [number(extent(dim), sizes) for dim in node.outputs[0].dims]
        n = max([*lengths, *results, 1.0])
        real = node.routine.startswith(("rfft", "irfft"))
        return (2.5 if real else 5.0) * n * math.log2(max(n, 2.0))
    coefficient = next((value for name, value in _CUBIC.items() if node.routine.startswith(name)), 1.0)
    m = max([*lengths, 1.0])
    other = min([*lengths, m])
    return coefficient * m * other * other
