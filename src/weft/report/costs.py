"""Where the time of a call goes, as far as it can be estimated.  In: an optimised program and the sizes of a call;
out: the cycles of each source line, for the arithmetic and traffic of its loops.

The model is that of `analysis.cost`: an estimate for an order of lines, not a measurement.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from weft.analysis import cost
from weft.ir.expr import Const, Expr, Op, Read, Reduce, real
from weft.ir.program import Alloc, Block, Call, If, Library, Loop, Program, Stmt, While
from weft.ir.walk import sub_blocks, subexpressions, walk

#: What a call of a library routine of unknown work counts, in cycles.
_ROUTINE = 1e4


def cycles(program: Program, sizes: Mapping[str, float], file: str) -> dict[int, float]:
    """Source line --> its estimated work, for lines that do some; {} if nothing is known."""
    found: dict[int, float] = {}
    for line, work in _costs(program.body, real(1.0), sizes, file):
        found[line] = found.get(line, 0.0) + work
    return found


def _costs(block: Block, trips: Expr, sizes: Mapping[str, float], file: str) -> Iterator[tuple[int, float]]:
    """The cycles of each statement of a block that runs `trips` times."""
    for node in block:
        inner = trips
        if moves_when_full(node):
            continue
        if isinstance(node, Loop):
            inner = cost.times(trips, cost.as_float(cost.extent(node.dim)))
        elif isinstance(node, While):
            inner = cost.times(trips, real(float(cost.GUESSED_EXTENT)))
        if isinstance(node, (Stmt, Call, Library)) and node.span.file == file and node.span.line > 0:
            each, points, line = _ROUTINE, trips, node.span.line
            if isinstance(node, Stmt):
                each = float(cost.expr_cycles(node.value) + 1)
                points = cost.times(trips, cost.points(node.domain))
                for part in subexpressions(node.value):
                    if isinstance(part, Reduce):
                        line = part.span.line if part.span.file == file and part.span.line > 0 else line
                        points = cost.times(points, cost.points(part.dims))
            count = cost.evaluate(points, sizes, float(cost.GUESSED_EXTENT)) or 1.0
            yield line, each * max(count, 1.0)
        if isinstance(node, (If, While)) and node.span.file == file and node.span.line > 0:
            tests = cost.evaluate(inner, sizes, float(cost.GUESSED_EXTENT)) or 1.0
            yield node.span.line, float(cost.expr_cycles(node.condition) + 1) * max(tests, 1.0)
        for body in sub_blocks(node):
            yield from _costs(body, inner, sizes, file)


def moves_when_full(node: object) -> bool:
    """if length == room: room = 2 * room; new memory; copy  -->  True: so rare that it costs nothing, and how its loops
    run says nothing of the line that appends or puts something into a dict."""
    if not isinstance(node, If):
        return False
    inside = list(walk(node.then))
    if not any(isinstance(each, Alloc) for each in inside):
        return False
    tested = {part.buffer for part in subexpressions(node.condition) if isinstance(part, Read)}
    return any(
        isinstance(each, Stmt) and each.buffer in tested and _is_doubled(each.buffer, each.value) for each in inside
    )


def _is_doubled(buffer: str, value: Expr) -> bool:
    return any(
        isinstance(part, Op)
        and part.op == "mul"
        and any(isinstance(arg, Const) and arg.value == 2 for arg in part.args)
        and any(isinstance(arg, Read) and arg.buffer == buffer for arg in part.args)
        for part in subexpressions(value)
    )


__all__ = ["cycles", "moves_when_full"]
