"""Calls that do not fit a device's memory.  In: a version whose rows do not need each other, and a call; out: the same
result from several calls on some rows each, or None: then the CPU does it.

    c = a * 2 @ b    -->    for rows in tiles of a: c[rows] = a[rows] * 2 @ b

Rows are the first axis of all arrays of one size.  They are independent where every statement reads and writes them at
its own row alone, and nothing else asks for the size or for the number of a row.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from weft.cluster.function import Call, Version, _holds, _sample_sizes
from weft.device import engine
from weft.device.array import DeviceArray
from weft.device.plan import NoRoom
from weft.ir.expr import ZERO, Dim, Expr, Read, Reduce, Var
from weft.ir.program import (
    REGIONS,
    Alloc,
    Argument,
    ArrayOut,
    Block,
    Check,
    If,
    Loop,
    LoopKind,
    NoneOut,
    Out,
    Program,
    Rebind,
    Return,
    Role,
    ScalarOut,
    Stmt,
    TupleOut,
    While,
)
from weft.ir.walk import children, dim_children, free_vars, leaves, mentions
from weft.records import dataclass

#: Tiles of one call, at most: beyond that the CPU is faster.
MOST_TILES = 256


@dataclass(frozen=True)
class Rows:
    """The size that counts rows, and the arrays that have them."""

    size: str
    arrays: frozenset[str]


def of(program: Program) -> Rows | None:
    """The rows of an optimised program, if they are independent."""
    sizes = dict.fromkeys(b.shape[0].name for b in program.buffers if b.shape and isinstance(b.shape[0], Var))
    for size in sizes:
        arrays = frozenset(b.name for b in program.buffers if b.shape and b.shape[0] == Var(size))
        inner = [extent for b in program.buffers for extent in b.shape[1 if b.name in arrays else 0 :]]
        derived = [s for s in program.symbols if s.name != size and size in _names(s.source)]
        if program.functions or derived or any(size in free_vars(extent) for extent in inner):
            continue
        rows = Rows(size, arrays)
        if _Walk(rows, program).block(program.body, "") and all(_is_cut(out, rows) for out in program.results):
            return rows
    return None


def _names(source: object) -> set[str]:
    value = getattr(source, "value", None)
    return free_vars(value) if isinstance(value, Expr) else set()


def _is_cut(out: Out, rows: Rows) -> bool:
    kinds = (ArrayOut, ScalarOut, NoneOut)
    return all(isinstance(leaf, kinds) and not getattr(leaf, "as_list", False) for leaf in leaves(out))


@dataclass(frozen=True)
class _Walk:
    """Asks of code whether it keeps to its row; `row` is the variable that runs over rows, "" outside of them."""

    rows: Rows
    program: Program
    #: What one iteration of a loop over rows has for itself.
    private: frozenset[str] = frozenset()

    def block(self, block: Block, row: str) -> bool:
        return all(self.node(node, row) for node in block)

    def node(self, node: Any, row: str) -> bool:
        if isinstance(node, (Stmt, Check)):
            inner = self._own(node.domain, row)
            if inner is None:
                return False
            exprs = (node.value,) if isinstance(node, Stmt) else (node.condition, *node.values)
            stores = not isinstance(node, Stmt) or self._store(node, inner)
            return stores and all(self.expr(expr, inner) for expr in (*exprs, *_bounds(node.domain, inner)))
        if isinstance(node, Loop):
            inner = self._own((node.dim,), row)
            free = node.kind in (LoopKind.PARALLEL, LoopKind.ASSERTED) and not node.accumulators
            if inner is None or node.kind in REGIONS or (inner != row and not free):
                return False
            inside = self if inner == row else replace(self, private=self._only_in(node))
            return all(self.expr(e, row) for e in _bounds((node.dim,), inner)) and inside.block(node.body, inner)
        if isinstance(node, If):
            kept = self.expr(node.condition, row)
            return kept and self.block(node.then, row) and self.block(node.orelse, row)
        if isinstance(node, While):
            kept = self.expr(node.condition, row)
            return kept and self.block(node.prelude, row) and self.block(node.body, row)
        if isinstance(node, Rebind):
            pairs = zip(node.targets, node.sources)
            return all((to in self.rows.arrays) == (by in self.rows.arrays) for to, by in pairs)
        return isinstance(node, (Alloc, Return))

    def _own(self, domain: Any, row: str) -> str | None:
        """The variable of rows inside a domain; None if it runs over some of the rows, or over rows in rows."""
        over = [dim for dim in domain if self.rows.size in set().union(*map(free_vars, dim_children(dim)))]
        if not over:
            return row
        whole = Dim(over[0].var, ZERO, Var(self.rows.size))
        return over[0].var if len(over) == 1 and over[0] == whole and not row else None

    def _store(self, stmt: Stmt, row: str) -> bool:
        if stmt.buffer not in self.rows.arrays:
            return (not row or stmt.buffer in self.private) and all(self.expr(part, row) for part in stmt.index)
        return self._at_row(stmt.index, row) and all(self.expr(part, row) for part in stmt.index[1:])

    def _only_in(self, loop: Loop) -> frozenset[str]:
        """What nothing but a loop uses."""
        everywhere, inside = mentions(self.program.body), mentions((loop,))
        own = {b.name for b in self.program.buffers if b.role is Role.LOCAL and inside.get(b.name)}
        seen = {name for out in self.program.results for leaf in leaves(out) for name in [getattr(leaf, "buffer", "")]}
        return frozenset(name for name in own - seen if everywhere[name] == inside[name])

    def _at_row(self, index: tuple[Expr, ...], row: str) -> bool:
        return bool(row) and bool(index) and index[0] == Var(row)

    def expr(self, expr: Expr, row: str) -> bool:
        """Whether a value needs nothing of other rows, nor the number of its own."""
        if isinstance(expr, Var):
            return expr.name not in (row, self.rows.size)
        if isinstance(expr, Read) and expr.buffer in self.rows.arrays:
            return self._at_row(expr.index, row) and all(self.expr(part, row) for part in expr.index[1:])
        if isinstance(expr, Reduce) and self._own(expr.dims, row) != row:
            return False
        return all(self.expr(part, row) for part in children(expr))


def _bounds(domain: Any, row: str) -> Iterator[Expr]:
    for dim in domain:
        if dim.var != row:
            yield from dim_children(dim)


def in_tiles(version: Version, call: Call) -> tuple[bool, Any]:
    """A call on ever smaller tiles of rows until one fits: whether it was computed, and its result."""
    rows = of(version.programs)
    if rows is None or any(isinstance(value, DeviceArray) for value in call.given.values()):
        return False, None
    count, tiles = call.numbers[rows.size], 2
    while tiles <= min(MOST_TILES, count):
        try:
            return _Tiled(version, call, rows).result(-(-count // tiles))
        except NoRoom:
            tiles *= 2
    return False, None


@dataclass(frozen=True)
class _Tiled:
    version: Version
    call: Call
    rows: Rows

    def run(self, part: Call) -> tuple[engine.Run, int | None]:
        """A tile, and the number of the result that it came to."""
        made = self.version.extra
        with made.device.lock:
            run = engine.Run(made.prepared, made.kernels, made.device, part.numbers)
            run.take(part.given, made.changed)
            return run, run.run()

    def result(self, size: int) -> tuple[bool, Any]:
        """Tiles of so many rows, one after the other; the caller's arrays change when all have ended."""
        count, changed = self.call.numbers[self.rows.size], self.version.extra.changed
        values: list[Any] = []
        pieces: list[tuple[int, int, Mapping[str, Any]]] = []
        total, number = engine.Counts(), None
        for low in range(0, count, size):
            high = min(low + size, count)
            part = self._part(low, high)
            if part is None:
                return False, None
            run, came = self.run(part)
            if came is None or (number is not None and came != number):
                return False, None
            number = came
            values.append(run.result(number, part.given))
            pieces.append((low, high, {name: run.fetched(name) for name in changed}))
            total.launches += run.counts.launches
            total.sent += run.counts.sent
            total.fetched += run.counts.fetched
            del run  # its memory is the next one's
        assert number is not None
        for low, high, piece in pieces:
            for name, array in piece.items():
                whole = self.call.given[name]
                if name in self.rows.arrays:
                    whole[low:high] = array
                elif high == count:
                    whole[...] = array
        self.version.last = total
        return True, self._joined(self.version.plan.program.results[number], values)

    def _part(self, low: int, high: int) -> Call | None:
        """The call on some rows; None if the version does not take it."""
        program = self.version.plan.program
        given = {n: v[low:high] if n in self.rows.arrays else v for n, v in self.call.given.items()}
        source = next(symbol.source for symbol in program.symbols if symbol.name == self.rows.size)
        if isinstance(source, Argument):
            given[source.name] = high - low
        numbers = _sample_sizes(program, given)
        scalars = {name: given[name] for name in self.call.scalars}
        if len(numbers) < len(program.symbols) or not _holds(self.version.plan, given, numbers, scalars):
            return None
        return Call(given, numbers, scalars)

    def _joined(self, out: Out, values: list[Any]) -> Any:
        if isinstance(out, TupleOut):
            parts = [self._joined(item, [value[n] for value in values]) for n, item in enumerate(out.items)]
            return type(values[0])(parts)
        if isinstance(out, ArrayOut) and out.buffer in self.call.given:
            return self.call.given[out.buffer]
        if not isinstance(out, ArrayOut) or out.buffer not in self.rows.arrays:
            return values[-1]
        first, count = values[0], self.call.numbers[self.rows.size]
        shape = (count, *first.shape[1:])
        in_columns = first.flags.f_contiguous and not first.flags.c_contiguous
        whole = np.empty(shape[::-1], first.dtype).T if in_columns else np.empty(shape, first.dtype)
        return np.concatenate(values, out=whole)
