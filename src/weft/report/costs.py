"""Where the time of a call goes, as far as it can be estimated.  In: an optimised program and the sizes of a call;
out: the cycles of each source line, for the arithmetic and traffic of its loops.

The model is that of `analysis.cost`: an estimate for an order of lines, not a measurement.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from weft.analysis import cost
from weft.ir.expr import Expr, Reduce, real
from weft.ir.program import Block, Call, Library, Loop, Program, Stmt, While
from weft.ir.walk import sub_blocks, subexpressions

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
        for body in sub_blocks(node):
            yield from _costs(body, inner, sizes, file)


__all__ = ["cycles"]
