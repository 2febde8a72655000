"""Versions.  In: a lowered Program; out: the same with every assumption it makes written down as an entry guard, and
remarks on what runs in parallel and in vectors.  `report/tree.py` shows the decisions of all versions as one tree.

    parallel i: a[i] = b[i]   -->   the same, and a guard: a and b share no memory
"""

from __future__ import annotations

from dataclasses import replace

from weft.errors import Span
from weft.ir.program import Block, Call, Loop, LoopKind, Program, Role, Stmt
from weft.ir.verify import Stage
from weft.ir.walk import buffers_read, buffers_written, sub_blocks, walk
from weft.passes import Knows, PassContext, declared

PASS = "version"


@declared("version", takes=Stage.LOWERED, after=("store",), optional=False, knows=Knows.CALLS | Knows.TASKS)
def run(program: Program, context: PassContext) -> Program:
    """Complete the pairs of parameters taken to be disjoint, and tell what the loops of each line became."""
    pairs = missing_pairs(program)
    for line_span, message in _kinds_by_line(program.body):
        context.done(PASS, message, line_span)
    return replace(program, disjoint=(*program.disjoint, *pairs)) if pairs else program


def missing_pairs(program: Program) -> tuple[tuple[str, str], ...]:
    """Pairs that loops run in parallel or in vectors, and calls, need disjoint, and that no guard holds apart yet."""
    arrays = [buffer.name for buffer in program.buffers if buffer.role is Role.PARAM and buffer.rank]
    known = {frozenset(pair) for pair in program.disjoint}
    found: list[tuple[str, str]] = []
    for node in walk(program.body):
        if not isinstance(node, Call) and not (isinstance(node, Loop) and node.kind is not LoopKind.SEQUENTIAL):
            continue
        inner = node.stmt if isinstance(node, Call) else node
        written = buffers_written(inner)
        touched = buffers_read(inner) | written
        for target in (name for name in arrays if name in written):
            for other in (name for name in arrays if name in touched and name != target):
                if frozenset((target, other)) not in known:
                    known.add(frozenset((target, other)))
                    found.append((target, other))
    return tuple(found)


def _kinds_by_line(body: Block) -> list[tuple[Span, str]]:
    """For each source line the best that happened to it."""
    lines: dict[int, tuple[Span, set[str]]] = {}

    def visit(block: Block, around: tuple[LoopKind, ...]) -> None:
        for node in block:
            if isinstance(node, Stmt) and node.span.line > 0:
                words = lines.setdefault(node.span.line, (node.span, set()))[1]
                if LoopKind.PARALLEL in around:
                    words.add("parallel")
                if LoopKind.VECTOR in around:
                    words.add("vectorised")
            inside = (*around, node.kind) if isinstance(node, Loop) else around
            for inner in sub_blocks(node):
                visit(inner, inside)

    visit(body, ())
    return [(span, " and ".join(sorted(words))) for _, (span, words) in sorted(lines.items()) if words]
