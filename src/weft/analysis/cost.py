"""Cost estimates.  In: expressions, domains and lowered blocks; out: cycles, as numbers or as expressions over the
symbols.

The model of an innermost loop is a roofline: an iteration costs its arithmetic or its memory traffic, whichever is
more; a loop that carries a value from one iteration to the next runs one element at a time.  The rates are those of the
code that weft generates, of data in a core's own caches: a choice by size is made where data is that small.
`benchmarks/cost_model.py` holds the estimates against measured times, and `weft.runtime.machine` measures how far a
machine is from them; what a call compares an estimate with is a `limit`, known only at run time.

Work expressions are of type float: a product of three sizes may leave 64 bits, and an estimate must never raise the
overflow flag that integer arithmetic carries.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import field

from weft.analysis.choices import is_by_size
from weft.ir import index as affine_index
from weft.ir.expr import AnyDim, Cast, CompressedDim, Const, Dim, Expr, Limit, Op, Read, Reduce, Var, integer, real
from weft.ir.index import affine
from weft.ir.ops import OPERATIONS
from weft.ir.program import Block, Call, If, Library, Loop, LoopKind, Node, Stmt, While
from weft.ir.types import FLOAT, INT, PYBOOL, DType
from weft.ir.walk import children, free_vars, reads, subexpressions, substitute
from weft.limits import LIMIT
from weft.records import dataclass

# Data-dependent extents (a row of a sparse matrix, the trips of a while loop) are guessed: wrong guesses cost a little
# time, never a result.
GUESSED_EXTENT = 8
CALL_CYCLES = 20000.0
# Loops of a fixed number of iterations up to this have no loop left.
UNROLLED = 16
# A loop whose work is known to be less never shares it, wherever it runs.
PARALLEL_CYCLES = LIMIT["parallel"].default / 2


@dataclass(frozen=True)
class Rates:
    """Cycles of generated code on float64: `vector` in lanes side by side, `scalar` one element after the other.

    `simple` is an addition, product, comparison or choice; other operations by name, else their cost in the table of
    operations times `factor`.
    """

    bytes_a_cycle: float = 20.0
    gather: float = 1.2  # one element that does not lie beside the one before
    start: float = 12.0  # entering a loop: bounds, remainders, alignment
    step: float = 0.1  # one iteration of a vector loop on top of what it computes, for one element
    vector_simple: float = 0.15
    vector_factor: float = 0.12
    scalar_simple: float = 2.0
    scalar_factor: float = 1.2
    division: float = 10.0  # of integers
    blas_call: float = 300.0
    vector: Mapping[str, float] = field(default_factory=lambda: {"truediv": 1.8, "sqrt": 2.8, "pow": 7.5})
    #: A multiplication and addition of a library routine: a matrix product reuses what it fetches, others do not.
    blas: Mapping[str, float] = field(default_factory=lambda: {"gemm": 0.1, "syrk": 0.05, "gemv": 0.4, "dot": 0.7})


RATES = Rates()


def limit(name: str) -> Expr:
    """A number of `weft.limits` for a condition: known when the code runs, the shipped value until it is measured."""
    assert name in LIMIT, name
    return Limit(name)


def exceeds(size: Expr, least: Expr) -> Expr:
    """size > least, as a choice at run time; for a size that is known now the shipped limit decides for good."""
    if isinstance(size, Const) and isinstance(least, Limit):
        least = real(LIMIT[least.name].default)
    return Op("gt", (size, least), PYBOOL)


def shown(least: Expr) -> str:
    """A limit for people."""
    return f"{LIMIT[least.name].default:.0f}" if isinstance(least, Limit) else f"{evaluate(least, {}) or 0.0:.0f}"


def expr_cycles(expr: Expr) -> int:
    """Cycles of one scalar evaluation: operations by the table, an array read 1, a Reduce as if over one point."""
    if isinstance(expr, Read):
        return 1 if expr.index else 0
    own = OPERATIONS[expr.op].cost if isinstance(expr, Op) else 1 if isinstance(expr, (Cast, Reduce)) else 0
    return own + sum(expr_cycles(child) for child in children(expr))


def extent(dim: AnyDim) -> Expr:
    """The number of points of a dense dimension, as written: negative if its bounds cross."""
    if isinstance(dim, CompressedDim):
        return integer(GUESSED_EXTENT)
    if dim.step == 1:
        return dim.hi if dim.lo == integer(0) else affine_index.sub(dim.hi, dim.lo)
    if dim.step == -1:
        return affine_index.sub(dim.lo, dim.hi)
    span = affine_index.sub(dim.hi, dim.lo) if dim.step > 0 else affine_index.sub(dim.lo, dim.hi)
    size = abs(dim.step)
    return Op("floordiv", (affine_index.add(span, integer(size - 1)), integer(size)), INT)


def constant_extent(dim: AnyDim) -> int | None:
    """The number of points if it is known now."""
    if isinstance(dim, CompressedDim):
        return None
    span = affine_index.difference(dim.hi, dim.lo)
    if span is None:
        return None
    return len(range(0, span, dim.step))


def times(left: Expr, right: Expr) -> Expr:
    if isinstance(left, Const) and isinstance(right, Const):
        return real(float(left.value.real) * float(right.value.real))
    if left == real(1.0):
        return right
    return left if right == real(1.0) else Op("mul", (left, right), FLOAT)


def plus(left: Expr, right: Expr) -> Expr:
    if isinstance(left, Const) and isinstance(right, Const):
        return real(float(left.value.real) + float(right.value.real))
    if left == real(0.0):
        return right
    return left if right == real(0.0) else Op("add", (left, right), FLOAT)


def as_float(size: Expr) -> Expr:
    return real(float(size.value.real)) if isinstance(size, Const) else Cast(size, FLOAT)


def points(dims: Iterable[AnyDim]) -> Expr:
    """The number of points of a domain, as a float expression free of the domain's own variables (triangles halved)."""
    total: Expr = real(1.0)
    middles: dict[str, Expr] = {}
    for dim in dims:
        total = times(total, as_float(outside(extent(dim), middles)))
        middles[dim.var] = middle(dim, middles)
    return total


def middle(dim: AnyDim, middles: Mapping[str, Expr]) -> Expr:
    """A typical value of a dimension's variable, in terms of what is known outside."""
    if isinstance(dim, CompressedDim):
        return integer(0)
    half = Op("floordiv", (affine_index.add(dim.lo, dim.hi), integer(2)), INT)
    return outside(half, middles)


def outside(size: Expr, middles: Mapping[str, Expr]) -> Expr:
    """`size` with inner variables at typical values; a size read from memory is guessed."""
    if any(True for _ in reads(size)):
        return integer(GUESSED_EXTENT)
    return substitute(size, {name: middles[name] for name in free_vars(size) & middles.keys()})


def node_work(node: Node, middles: Mapping[str, Expr], rates: Rates = RATES) -> Expr:
    """Cycles of one execution of a node, free of the variables in `middles`."""
    if isinstance(node, Stmt):
        if not node.domain:
            return real(_iteration((node,), "", False, rates))
        innermost = node.domain[-1].var
        return times(_closed(points(node.domain), middles), real(_iteration((node,), innermost, True, rates)))
    if isinstance(node, Loop):
        return _loop_work(node, middles, rates)
    if isinstance(node, If):
        if is_by_size(node.condition):  # two ways to the same: the first is the better one where it matters
            return block_work(node.then, middles, rates)
        both = plus(block_work(node.then, middles, rates), block_work(node.orelse, middles, rates))
        return plus(real(2.0), times(real(0.5), both))
    if isinstance(node, While):
        once = plus(block_work(node.prelude, middles, rates), block_work(node.body, middles, rates))
        return times(real(float(GUESSED_EXTENT)), once)
    if isinstance(node, Call):
        dims = [dim for e in subexpressions(node.stmt.value) if isinstance(e, Reduce) for dim in e.dims]
        multiplications = _closed(points((*node.stmt.domain, *dims)), middles)
        return plus(real(rates.blas_call), times(real(rates.blas.get(node.routine, 0.7)), multiplications))
    return real(CALL_CYCLES) if isinstance(node, Library) else real(1.0)


def _loop_work(loop: Loop, middles: Mapping[str, Expr], rates: Rates) -> Expr:
    if loop.kind is LoopKind.PARALLEL and loop.work is not None:
        return _closed(loop.work, middles)  # estimated before its blocks had sizes of their own
    trips = as_float(outside(extent(loop.dim), middles))
    stmts = [node for node in loop.body if isinstance(node, Stmt) and not node.domain]
    if len(stmts) == len(loop.body):
        side_by_side = loop.kind is not LoopKind.SEQUENTIAL or bool(loop.accumulators)
        each = real(_iteration(stmts, loop.dim.var, side_by_side, rates))
        few = constant_extent(loop.dim)
        start = 0.0 if few is not None and few <= UNROLLED else rates.start
        return plus(real(start), times(trips, each))
    inner = {**middles, loop.dim.var: middle(loop.dim, middles)}
    return times(trips, block_work(loop.body, inner, rates))


def _closed(size: Expr, middles: Mapping[str, Expr]) -> Expr:
    return substitute(size, {name: middles[name] for name in free_vars(size) & middles.keys()})


def _iteration(stmts: Iterable[Stmt], var: str, vector: bool, rates: Rates) -> float:
    """Cycles of single-point statements in one iteration of the loop over `var`: arithmetic or memory."""
    operations = memory = 0.0
    met: set[Expr] = set()
    for stmt in stmts:
        operations += _operations(stmt.value, vector, rates, met)
        target = Read(stmt.buffer, stmt.index, stmt.value.type)
        for read in (target, *reads(stmt.value), *(inner for e in stmt.index for inner in reads(e))):
            if read.index and read not in met:
                met.add(read)
                memory += _access(read, var, vector, rates)
                operations += sum(_operations(e, vector, rates, met) for e in read.index if affine(e) is None)
    return max(operations, memory) + (rates.step if vector else 1.0)


def _operations(expr: Expr, vector: bool, rates: Rates, met: set[Expr]) -> float:
    """Cycles of the arithmetic of an expression; what was met before is kept in a register, indices are free."""
    if isinstance(expr, (Read, Const)) or expr in met:
        return 0.0
    inner = sum(_operations(child, vector, rates, met) for child in children(expr))
    if not isinstance(expr, (Op, Cast, Reduce)):
        return inner
    met.add(expr)
    return inner + _operation(expr, vector, rates)


def _operation(expr: Op | Cast | Reduce, vector: bool, rates: Rates) -> float:
    own = OPERATIONS[expr.op].cost if isinstance(expr, Op) else 1
    if own <= 1:
        cycles = rates.vector_simple if vector else rates.scalar_simple
    elif expr.type.dtype.is_integer:
        cycles = rates.division  # no vector unit divides integers
    elif vector and isinstance(expr, Op):
        cycles = rates.vector.get(expr.op, rates.vector_factor * own)
    else:
        cycles = rates.scalar_factor * own
    if expr.type.dtype.is_complex:
        return 4.0 * cycles
    half = vector and expr.type.dtype.size <= 4 and expr.type.dtype is not DType.BOOL
    return cycles / 2 if half else cycles


def _access(read: Read, var: str, vector: bool, rates: Rates) -> float:
    """Cycles to fetch or store one element, by how far the next one is: nothing if it is the same."""
    if not any(var in free_vars(e) for e in read.index):
        return 0.0
    adjacent = affine(read.index[-1])
    outer = any(var in free_vars(e) for e in read.index[:-1])
    if adjacent is None or outer or abs(dict(adjacent.terms).get(var, 0)) != 1:
        return rates.gather
    return read.type.dtype.size / rates.bytes_a_cycle if vector else 0.5


def block_work(block: Block, middles: Mapping[str, Expr] | None = None, rates: Rates = RATES) -> Expr:
    total: Expr = real(0.0)
    for node in block:
        total = plus(total, node_work(node, middles or {}, rates))
    return total


def work(node: Stmt | Loop, bounds_known: bool = False) -> Expr:
    """Cycles of a whole statement or loop, as a float expression over what is known before it; `bounds_known`: the
    variables of the program that a loop's bounds are read from belong to that."""
    if bounds_known and isinstance(node, Loop) and (count := variable_extent(node.dim)) is not None:
        guess = node_work(node, {})
        return times(guess, times(as_float(count), real(1.0 / GUESSED_EXTENT)))
    return node_work(node, {})


def variable_extent(dim: AnyDim) -> Expr | None:
    """The number of points of a dimension whose bounds are variables of the program; None if it is another one."""
    size = extent(dim)
    read = list(reads(size))
    return size if read and all(not one.index for one in read) else None


def dense(dim: AnyDim) -> Dim:
    """The dimension, which lowering has already made dense."""
    assert isinstance(dim, Dim)
    return dim


_MEANING: dict[str, Callable[..., float]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "floordiv": lambda a, b: a // b if b else 0.0,
    "truediv": lambda a, b: a / b if b else 0.0,
    "mod": lambda a, b: a % b if b else 0.0,
    "minimum": min,
    "maximum": max,
    "neg": lambda a: -a,
}


def evaluate(size: Expr, values: Mapping[str, float], unknown: float | None = None) -> float | None:
    """The number that an expression over sizes stands for; `unknown` stands in for all that `values` does not tell."""
    if isinstance(size, Const):
        return float(size.value.real)
    if isinstance(size, Limit):
        return LIMIT[size.name].default
    if isinstance(size, Cast):
        return evaluate(size.value, values, unknown)
    if isinstance(size, Op) and size.op in _MEANING:
        parts = [evaluate(part, values, unknown) for part in size.args]
        known = [part for part in parts if part is not None]
        return float(_MEANING[size.op](*known)) if len(known) == len(parts) else None
    return float(values[size.name]) if isinstance(size, Var) and size.name in values else unknown
