"""What stages cost.  In: a plan and the sizes of a call; out: seconds and bytes of each stage, and how large tiles are.

The rates are those of one ordinary core and compiled in: the size of a tile must be the same wherever a function runs,
since sums are cut where tiles are.  Only the choice between here and the cluster looks at what was measured.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from weft.analysis.cost import evaluate
from weft.analysis.effects import operation_cost
from weft.cluster.plan import Again, Choice, Plan, Repeat, Stage, Step, stages_of
from weft.cluster.sweeps import Sweep
from weft.ir.expr import AnyDim, Dim, Expr, Op, Read, Reduce
from weft.ir.program import Check, If, Library, Loop, Node, Stmt, While
from weft.ir.walk import children, sub_blocks
from weft.records import dataclass

#: Operations and bytes in a second, on one core.
OPERATIONS = 8e9
TRAFFIC = 1.6e10
#: A task should take at least so long; more than MANY tasks are made only of tasks longer than LONG.
SHORT, LONG, MANY = 0.005, 0.1, 8
#: A stage that takes less than this is one task, however finely others along its axis are cut.
TRIVIAL = 1e-4
#: Operations that the interpreter does sooner than a kernel is called for them.
_FEW = 200
#: Operations for one element of a library routine.
_ROUTINE = 40.0
#: Operations for one term of a sum of products.
_PRODUCT = 0.4
_GUESS = 100.0


@dataclass(frozen=True)
class Cost:
    """Of one execution of a stage: seconds on one core, bytes of what its tiles read and write."""

    seconds: float
    bytes_read: Mapping[str, float]
    bytes_written: Mapping[str, float]


def _extent(dim: AnyDim, sizes: Mapping[str, float]) -> float:
    if not isinstance(dim, Dim):
        return _GUESS
    first, past = evaluate(dim.lo, sizes), evaluate(dim.hi, sizes)
    if first is None or past is None:
        return _GUESS
    return max((past - first) / dim.step, 0.0)


def _points(dims: Iterable[AnyDim], sizes: Mapping[str, float]) -> float:
    return math.prod(_extent(dim, sizes) for dim in dims)


def _is_product(expr: Reduce) -> bool:
    """A sum of products of elements, as matrix products are: the library computes it from its caches."""
    value = expr.value
    return expr.op == "add" and isinstance(value, Op) and value.op == "mul" and all(
        isinstance(argument, Read) for argument in value.args
    )


def _operations(expr: Expr, sizes: Mapping[str, float]) -> float:
    if isinstance(expr, Reduce) and _is_product(expr):
        return _points(expr.dims, sizes) * _PRODUCT
    if isinstance(expr, Reduce):
        return _points(expr.dims, sizes) * (1.0 + _operations(expr.value, sizes))
    own = float(operation_cost(expr)) if isinstance(expr, Op) else 0.0
    return own + sum(_operations(child, sizes) for child in children(expr))


def node_operations(node: Node, sizes: Mapping[str, float]) -> float:
    """Elementary operations of one execution of a node."""
    if isinstance(node, Stmt):
        return _points(node.domain, sizes) * (1.0 + _operations(node.value, sizes))
    if isinstance(node, Check):
        return _points(node.domain, sizes) * _operations(node.condition, sizes)
    if isinstance(node, Library):
        elements = sum(_points(operand.dims, sizes) for operand in (*node.inputs, *node.outputs))
        return _points(node.domain, sizes) * elements * _ROUTINE
    inner = sum(node_operations(part, sizes) for block in sub_blocks(node) for part in block)
    if isinstance(node, Loop):
        return _extent(node.dim, sizes) * inner
    if isinstance(node, While):
        return _GUESS * inner
    return inner if isinstance(node, If) else 1.0


def array_bytes(plan: Plan, name: str, sizes: Mapping[str, float]) -> float:
    buffer = plan.program.table[name]
    extents = [evaluate(extent, sizes, None) for extent in buffer.shape]
    return buffer.type.dtype.numpy.itemsize * math.prod(_GUESS if extent is None else extent for extent in extents)


def stage_cost(plan: Plan, stage: Stage, sizes: Mapping[str, float]) -> Cost:
    """What one execution of all tiles of a stage takes on one core."""
    operations = sum(node_operations(node, sizes) for node in stage.nodes)
    read = {piece.buffer: array_bytes(plan, piece.buffer, sizes) for piece in stage.reads}
    written = {write.buffer: array_bytes(plan, write.buffer, sizes) for write in stage.writes}
    moved = sum(read.values()) + sum(written.values())
    return Cost(max(operations / OPERATIONS, moved / TRAFFIC), read, written)


def plan_seconds(plan: Plan, sizes: Mapping[str, float]) -> float:
    """Seconds of a whole call on one core."""

    def total(steps: tuple[Step, ...], known: Mapping[str, float]) -> float:
        seconds = 0.0
        for step in steps:
            if isinstance(step, Sweep):
                seconds += _extent(step.dim, known) * stage_cost(plan, step, known).seconds
            elif isinstance(step, Stage):
                seconds += stage_cost(plan, step, known).seconds
            elif isinstance(step, Repeat):
                first = evaluate(step.dim.lo, known, 0.0) or 0.0
                seconds += _extent(step.dim, known) * total(step.steps, {**known, step.dim.var: first})
            elif isinstance(step, Choice):
                seconds += max(total(step.then, known), total(step.orelse, known))
            elif isinstance(step, Again):
                seconds += _GUESS * (total(step.prelude, known) + total(step.body, known))
        return seconds

    return total(plan.steps, sizes)


def block_sizes(plan: Plan, sizes: Mapping[str, float], extent_of: Mapping[str, int], rows: int = 0) -> dict[int, int]:
    """How many elements along its axis a tile has, for each extent that stages are cut along.

    `extent_of`: the extent of each stage by its name; `rows`: what the user has asked for along the axis that takes
    most time, 0 for nothing. Other axes are cut into as many tiles as that one.
    """
    seconds: dict[int, float] = {}
    for stage in stages_of(plan.steps):
        extent = extent_of[stage.name]
        seconds[extent] = max(seconds.get(extent, 0.0), stage_cost(plan, stage, sizes).seconds)
    if not rows or not seconds:
        return {extent: block_size(extent, needed) for extent, needed in seconds.items()}
    longest = max(seconds, key=lambda extent: (seconds[extent], extent))
    count = max(1, -(-longest // rows))
    return {extent: rows if extent == longest else max(1, -(-extent // count)) for extent in seconds}


def trivial_stages(plan: Plan, sizes: Mapping[str, float]) -> frozenset[str]:
    """The stages that are not worth more than one task."""
    return frozenset(
        stage.name for stage in stages_of(plan.steps) if stage_cost(plan, stage, sizes).seconds < TRIVIAL
    )


def is_few(nodes: Iterable[Node], sizes: Mapping[str, float]) -> bool:
    """Whether nodes are so little work that interpreting them costs less than calling a kernel."""
    return sum(node_operations(node, sizes) for node in nodes) < _FEW


def block_size(extent: int, seconds: float) -> int:
    """The size of tiles of work that takes so long on one core."""
    count = max(1, int(min(seconds / SHORT, max(MANY, seconds / LONG))))
    return max(1, -(-extent // count))
