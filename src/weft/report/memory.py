"""Memory of a compiled version.  In: its program as optimised and as lowered; out: the bytes it holds at the worst
moment, as an expression over the sizes, and what became of each array that the function itself makes.

A kernel keeps scratch memory until it returns (memory of dead temporaries is used again by others, see passes/store);
pieces of a parallel loop give theirs back at the end of the piece, one on each thread.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from weft.analysis import cost
from weft.ir.expr import Const, Expr, Op, Var, real
from weft.ir.program import Alloc, Block, Buffer, If, Loop, LoopKind, Program, Role, While
from weft.ir.types import FLOAT
from weft.ir.walk import buffers_read, buffers_written, sub_blocks
from weft.records import dataclass
from weft.report.texts import bytes_text, polynomial, size_text

THREADS = "threads"


@dataclass(frozen=True)
class Temporary:
    """One array of the function's own: its bytes (None: it has no memory) and what became of it."""

    name: str
    fate: str
    bytes: Expr | None = None


@dataclass(frozen=True)
class MemoryReport:
    """`peak`: bytes of temporaries at the worst moment; `results`: of new arrays for the caller; each as text over the
    sizes, and for the sizes of the last call (None without one)."""

    peak: str
    results: str
    last_peak: float | None
    last_results: float | None
    temporaries: tuple[tuple[str, str, str], ...]  # name, what became of it, bytes as text

    def to_json(self) -> dict[str, Any]:
        return {
            "peak": {"bytes": self.peak, "last_call": self.last_peak},
            "results": {"bytes": self.results, "last_call": self.last_results},
            "temporaries": [{"name": name, "fate": fate, "bytes": size} for name, fate, size in self.temporaries],
        }

    def text(self) -> Iterator[str]:
        """A row for the whole and one for each temporary."""
        results = "" if self.results == "0" else f"; new arrays {_both(self.results, self.last_results)}"
        yield f"memory: temporaries {_both(self.peak, self.last_peak)}{results}"
        for name, fate, size in self.temporaries:
            yield f"  {name}: {fate}" + (f" ({size} bytes)" if size else "")


def report(
    built: Program | None, optimised: Program, lowered: Program, sizes: Mapping[str, int], threads: int
) -> MemoryReport:
    """What a version does with memory; `sizes` are the symbols of its last call."""
    values = {**sizes, THREADS: threads}
    peak, results = peak_bytes(lowered), result_bytes(lowered)
    rows = tuple(
        (one.name, one.fate, "" if one.bytes is None else size_text(lowered, one.bytes))
        for one in temporaries(built or optimised, optimised, lowered)
    )
    known = bool(sizes) or not lowered.symbols
    return MemoryReport(
        size_text(lowered, peak),
        size_text(lowered, results),
        cost.evaluate(peak, values) if known else None,
        cost.evaluate(results, values) if known else None,
        rows,
    )


def _both(formula: str, count: float | None) -> str:
    """The formula, and what it was in the last call."""
    if formula == "0":
        return "none"
    last = "" if count is None or formula.isdigit() else f" ({bytes_text(count)} in the last call)"
    return f"{formula} bytes{last}"


# --- how much --------------------------------------------------------------------------------------------------------


def buffer_bytes(buffer: Buffer) -> Expr:
    """The bytes of a buffer; a size that is read from memory is guessed."""
    total: Expr = real(float(buffer.type.dtype.size))
    for extent in buffer.shape:
        total = cost.times(total, cost.as_float(cost.outside(extent, {})))
    return total


def peak_bytes(program: Program) -> Expr:
    """Bytes of scratch memory at the worst moment of a call."""
    held, worst = _held(program.body, program, set())
    return _larger(program, held, worst)


def result_bytes(program: Program) -> Expr:
    total: Expr = real(0.0)
    for buffer in program.buffers:
        if buffer.role is Role.RESULT and buffer.rank:
            total = cost.plus(total, buffer_bytes(buffer))
    return total


def _held(block: Block, program: Program, met: set[str]) -> tuple[Expr, Expr]:
    """Bytes that are still held after a block, and the most inside it."""
    held: Expr = real(0.0)
    worst: Expr = real(0.0)
    for node in block:
        if isinstance(node, Alloc):
            buffer = program.table[node.buffer]
            if buffer.rank and buffer.role is Role.LOCAL and node.buffer not in met:
                met.add(node.buffer)
                held = cost.plus(held, buffer_bytes(buffer))
            continue
        if isinstance(node, If):
            (left, first), (right, second) = (_held(inner, program, met) for inner in (node.then, node.orelse))
            after, inside = _larger(program, left, right), _larger(program, first, second)
        elif isinstance(node, Loop) and node.kind is LoopKind.PARALLEL:
            own, deeper = _held(node.body, program, met)
            after, inside = real(0.0), _on_each_thread(_larger(program, own, deeper))
        elif isinstance(node, (Loop, While)):
            parts = [_held(inner, program, met) for inner in sub_blocks(node)]
            after, inside = real(0.0), real(0.0)
            for own, deeper in parts:
                after, inside = cost.plus(after, own), _larger(program, inside, deeper)
        else:
            continue
        worst = _larger(program, worst, cost.plus(held, inside))
        held = cost.plus(held, after)
    return held, worst


def _on_each_thread(size: Expr) -> Expr:
    return size if size == real(0.0) else cost.times(cost.as_float(Var(THREADS)), size)


def _larger(program: Program, left: Expr, right: Expr) -> Expr:
    """The larger of two numbers of bytes: one of them if every term of it is as large as the other's."""
    one, other = polynomial(program, left), polynomial(program, right)
    for mine, others, answer in ((one, other, left), (other, one, right)):
        if all(mine.get(key, 0.0) >= number for key, number in others.items()) and min(mine.values(), default=0) >= 0:
            return answer
    return Op("maximum", (left, right), FLOAT)


# --- what became of each ---------------------------------------------------------------------------------------------


def temporaries(built: Program, optimised: Program, lowered: Program) -> list[Temporary]:
    """Arrays of the function's own, in the order of their names in the source; then those that the compiler added."""
    found: list[Temporary] = []
    used = _used(lowered)
    before, after = _depths(optimised.body), _depths(lowered.body)
    for buffer in built.buffers:
        if buffer.role is Role.LOCAL and buffer.rank:
            found.append(_became(buffer, optimised, lowered, used, before, after))
    known = {buffer.name for buffer in built.buffers}
    for buffer in lowered.buffers:
        if buffer.role is Role.LOCAL and buffer.rank and buffer.name not in known and buffer.name in used:
            where = _place(buffer, before, after)
            found.append(Temporary(buffer.name, f"added by the compiler{where}", buffer_bytes(buffer)))
    return found


def _became(
    old: Buffer,
    optimised: Program,
    lowered: Program,
    used: set[str],
    before: Mapping[str, int],
    after: Mapping[str, int],
) -> Temporary:
    new = lowered.table.get(old.name)
    if new is None or old.name not in used:
        reused = old.name in _used(optimised) and (new is None)
        return Temporary(old.name, "in the memory of another" if reused else "no memory: computed where it is used")
    if not new.rank:
        return Temporary(old.name, "one number at a time")
    where = _place(new, before, after)
    if new.rank < old.rank:
        words = {1: "one row at a time", 2: "one plane at a time"}
        part = words.get(new.rank, f"{new.rank} of {old.rank} dimensions")
        return Temporary(old.name, part + where, buffer_bytes(new))
    if new.shape != old.shape and all(isinstance(extent, Const) for extent in new.shape):
        return Temporary(old.name, "one tile at a time" + where, buffer_bytes(new))
    return Temporary(old.name, "a whole array" + where, buffer_bytes(new))


def _used(program: Program) -> set[str]:
    names: set[str] = set()
    for node in program.body:
        names |= buffers_read(node) | buffers_written(node)
    return names


def _place(buffer: Buffer, before: Mapping[str, int], after: Mapping[str, int]) -> str:
    if after.get(buffer.name, 0) < before.get(buffer.name, 0):
        return ", allocated once outside the loop"
    return ", one for each thread" if after.get(buffer.name, 0) >= _PARALLEL else ""


_PARALLEL = 1000


def _depths(block: Block, depth: int = 0) -> dict[str, int]:
    """How many loops stand around each allocation; a parallel one counts more than all others."""
    found: dict[str, int] = {}
    for node in block:
        if isinstance(node, Alloc):
            found[node.buffer] = depth
        looped = isinstance(node, (Loop, While))
        parallel = isinstance(node, Loop) and node.kind is LoopKind.PARALLEL
        for inner in sub_blocks(node):
            found |= _depths(inner, depth + (_PARALLEL if parallel else int(looped)))
    return found
