"""The index tree of a version with sparse operands.  In: its program as built, optimised and lowered, and the source's
text; out: its nests over rows, entries and columns as a tree, and what became of each array that the operators of the
source would have made one by one.

    i: rows, parallel
      p: entries of row i, by indptr
        k: 0 .. A_1, vector: add_of
      writes entries
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from weft.errors import Span
from weft.ir.expr import Cast, CompressedDim, Dim, Expr, Read
from weft.ir.program import Block, Call, If, Loop, LoopKind, Program, Stmt
from weft.ir.text import show_expr
from weft.ir.walk import levels, reads, sub_blocks, walk
from weft.report import memory

_KINDS = {LoopKind.PARALLEL: ", parallel", LoopKind.VECTOR: ", vector"}


def index_tree(lowered: Program) -> tuple[str, ...]:
    """The nests that go through entries of rows; nothing for a program without."""
    return tuple(row for node in _outermost(lowered.body) for row in _nest(node, 0))


def _outermost(block: Block) -> Iterator[Loop]:
    for node in block:
        if isinstance(node, Loop) and any(isinstance(one, Loop) and _pointer(one) for one in walk((node,))):
            yield node
        elif isinstance(node, If):
            for inner in sub_blocks(node):
                yield from _outermost(inner)


def _pointer(loop: Loop) -> Read | None:
    """The element of an array of offsets that a loop over entries begins at."""
    bound: Expr | None = loop.dim.lo if isinstance(loop.dim, Dim) else None
    while isinstance(bound, Cast):
        bound = bound.value
    return bound if isinstance(bound, Read) and len(bound.index) == 1 else None


def _nest(loop: Loop, depth: int) -> Iterator[str]:
    indent = "  " * depth
    yield f"{indent}{loop.dim.var}: {_range(loop)}{_KINDS.get(loop.kind, '')}"
    written: list[str] = []
    for node in _flat(loop.body):
        if isinstance(node, Loop):
            yield from _nest(node, depth + 1)
        elif isinstance(node, Stmt):
            written.append(node.buffer)
        elif isinstance(node, Call):
            written.append(f"{node.stmt.buffer} (library routine {node.routine})")
    if written:
        yield f"{indent}  writes {', '.join(dict.fromkeys(written))}"


def _flat(block: Block) -> Iterator[object]:
    for node in block:
        if isinstance(node, If):
            for inner in sub_blocks(node):
                yield from _flat(inner)
        else:
            yield node


def _range(loop: Loop) -> str:
    pointer = _pointer(loop)
    if pointer is not None:
        return f"entries of {show_expr(pointer.index[0])}, by {pointer.buffer}"
    dim = loop.dim
    if isinstance(dim, CompressedDim):
        return f"entries of {show_expr(dim.parent)}, by {dim.pointer}"
    long = any(True for bound in (dim.lo, dim.hi) for _ in reads(bound))
    return "a block" if long else f"{show_expr(dim.lo)} .. {show_expr(dim.hi)}"


def formed(
    built: Program, optimised: Program, lowered: Program, lines: Sequence[str], first_line: int
) -> tuple[tuple[str, str], ...]:
    """For each array that an operator of the source would have made: the operator's text and what became of it."""
    if not levels(built.body):
        return ()
    spans = {buffer.name: buffer.span for buffer in built.buffers}
    rows: list[tuple[str, str]] = []
    for one in memory.temporaries(built, optimised, lowered):
        text = _snippet(spans[one.name], lines, first_line) if one.name in spans else ""
        if text:
            rows.append((f"{text} ({one.name})", _FATES.get(one.fate, one.fate)))
    return tuple(rows)


_FATES = {"no memory: computed where it is used": "never formed", "one number at a time": "a scalar"}


def _snippet(span: Span, lines: Sequence[str], first_line: int) -> str:
    """The text of a place on one line of the function."""
    at = span.line - first_line
    if span.line != span.end_line or not 0 <= at < len(lines):
        return ""
    return lines[at].encode()[span.column : span.end_column].decode(errors="replace").strip()
