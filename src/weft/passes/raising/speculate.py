"""Speculate: the tests of a loop are made along with its work, not before it.  In: the items of a loop body; out: the
items with tests as flags, and what undoes the work should a flag say that some iteration must raise.

    for i: check x[i] > 0; y[i] = log(x[i])
        -->  ok = True;  for i: ok = ok and x[i] > 0; y[i] = log(x[i]);  check ok else GuardFailed
        -->  old = y; ok = True;  for i: ...;  if not ok: y = old; for i: check x[i] > 0; y[i] = log(x[i])

Values are total, so that work behind a test that fails does no harm as long as no index depends on the test.  The first
form is that of a program without visible effects: plain Python repeats the call and raises.  Otherwise the memory of
the caller is put back and the loop runs as it was written, up to the iteration that raises; so it does where a test
that fails need not mean an exception (`doubt.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from weft.analysis.intervals import box
from weft.ir.expr import TRUE, Const, Expr, Op, Read, Reduce, Var
from weft.ir.index import sub as minus
from weft.ir.ops import COMPARISONS
from weft.ir.program import HAND_BACK, OF_PLACE, Alloc, Block, Buffer, Check, If, Node, Role, Stmt
from weft.ir.types import BOOL, INT
from weft.ir.walk import buffers_read, buffers_written, domain_buffers, expr_buffers, subexpressions, walk
from weft.passes.raising.doubt import Doubt
from weft.passes.raising.predicate import Item, NewBuffer
from weft.passes.rename import renamed
from weft.passes.simplifying.algebra import as_type
from weft.records import dataclass

#: Exceptions whose tests guard a value and never an access to memory.
_OF_VALUES = frozenset({"ZeroDivisionError", "OverflowError", HAND_BACK})


def is_speculable(check: Check) -> bool:
    """Whether what follows a check may run although it fails: it looks at values, not at places or sizes."""
    if check.exception in _OF_VALUES:
        return check.message != OF_PLACE
    if check.exception == "IndexError":
        return False
    floats = (part for part in subexpressions(check.condition) if part.type.dtype.is_inexact)
    return any(True for _ in floats)


def flagged(items: list[Item], flag: str) -> tuple[list[Item], bool]:
    """check c   -->   flag = flag and c,  where c holds beyond doubt; and whether there is room for doubt at all"""
    writers = [name for item in items for name in buffers_written(item.node)]
    scalars = (item.node for item in items if isinstance(item.node, Stmt) and not (item.node.index or item.node.domain))
    doubt = Doubt({stmt.buffer: stmt.value for stmt in scalars if writers.count(stmt.buffer) == 1 and not stmt.reduce})
    tests = [item.node.condition for item in items if isinstance(item.node, Check) and is_speculable(item.node)]
    doubtful = any(doubt.certain(test) is not test for test in tests)
    return [_flagged(item, flag, doubt) for item in items], doubtful


def _flagged(item: Item, flag: str, doubt: Doubt) -> Item:
    check = item.node
    if not isinstance(check, Check) or not is_speculable(check):
        return item
    condition = doubt.certain(as_type(check.condition, BOOL))
    if check.domain:
        condition = Reduce("and", check.domain, condition, check.span)
    value = Op("and", (Read(flag, (), BOOL), condition), BOOL, check.span)
    return replace(item, node=Stmt((), flag, (), value, span=check.span))


def set_flags(flags: Iterable[str], value: bool = True) -> Block:
    return tuple(Stmt((), flag, (), replace(TRUE, value=value)) for flag in flags)


def all_set(flags: tuple[str, ...]) -> Expr:
    condition: Expr = Read(flags[0], (), BOOL)
    for flag in flags[1:]:
        condition = Op("and", (condition, Read(flag, (), BOOL)), BOOL)
    return condition


# --- undoing --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Recovery:
    """What keeps the caller's memory before the work, and what puts it back."""

    save: Block
    restore: Block


@dataclass
class Recoverer:
    """Finds for statements what must be kept of the state before them."""

    buffers: Callable[[str], Buffer]
    new_buffer: NewBuffer
    taken: set[str]

    def why_not(self, nodes: Block) -> str | None:
        """Why work cannot be undone, None if it can."""
        found = self._regions(nodes)
        return found if isinstance(found, str) else None

    def recovery(self, nodes: Block) -> Recovery:
        found = self._regions(nodes)
        assert not isinstance(found, str), found
        save: list[Node] = []
        restore: list[Node] = []
        for stmt in found:
            copies = self._copies(stmt)
            save += copies.save
            restore += copies.restore
        return Recovery(tuple(save), tuple(restore))

    def _regions(self, nodes: Block) -> list[Stmt] | str:
        """One statement for each region that must be kept."""
        inner = list(walk(nodes))
        if not all(isinstance(node, (Stmt, Alloc, If)) for node in inner):
            return "a part of the loop that may raise stays sequential"
        made = {node.buffer for node in inner if isinstance(node, Alloc)}
        written = {name for node in nodes for name in buffers_written(node)}
        stmts = [node for node in inner if isinstance(node, Stmt)]
        if any(_may_overflow(part) for stmt in stmts for part in subexpressions(stmt.value)):
            return "integers that may leave 64 bits are computed behind a test"
        regions: dict[tuple[object, ...], Stmt] = {}
        for stmt in stmts:
            if stmt.buffer in made or self._is_set_first(stmt.buffer, stmts):
                continue
            if self.buffers(stmt.buffer).role is not Role.PARAM and stmt.index:
                return f"`{stmt.buffer}` holds what a test that fails would have to find again"
            why_not = self._blocks_saving(stmt, written)
            if why_not is not None:
                return why_not
            regions.setdefault((stmt.buffer, stmt.index, stmt.domain), stmt)
        return list(regions.values())

    def _is_set_first(self, name: str, stmts: list[Stmt]) -> bool:
        """Whether a local is never looked at before the work has set all that is looked at."""
        buffer = self.buffers(name)
        if buffer.role is Role.PARAM:
            return False
        touching = [stmt for stmt in stmts if stmt.buffer == name or name in buffers_read(stmt)]
        if not any(name in buffers_read(stmt) or stmt.reduce for stmt in touching):
            return True
        first = touching[0]
        if first.reduce is not None or name in buffers_read(first):
            return False
        if not buffer.rank:
            return True
        whole = tuple((Var(dim.var), size) for dim, size in zip(first.domain, buffer.shape))
        bounds = tuple((place, getattr(dim, "hi", None)) for place, dim in zip(first.index, first.domain))
        begins = all(getattr(dim, "lo", None) == Const(0, INT) and getattr(dim, "step", 0) == 1 for dim in first.domain)
        return len(first.domain) == buffer.rank and begins and bounds == whole

    def _blocks_saving(self, stmt: Stmt, written: set[str]) -> str | None:
        if stmt.reduce is not None and stmt.domain:
            return f"elements of `{stmt.buffer}` are accumulated behind a test"
        places = domain_buffers(stmt.domain).union(*(expr_buffers(part) for part in stmt.index))
        if places & written:
            return f"where `{stmt.buffer}` is written depends on what the loop computes"
        return None if box(stmt.domain) is not None else f"what is written of `{stmt.buffer}` has no simple size"

    def _copies(self, stmt: Stmt) -> Recovery:
        of = self.buffers(stmt.buffer).type
        boxes = box(stmt.domain) or {}
        old = self.new_buffer(f"{stmt.buffer}_before", of, tuple(part.size for part in boxes.values()))
        place = tuple(minus(Var(name), part.lo) for name, part in boxes.items())
        keep = Stmt(stmt.domain, old.name, place, Read(stmt.buffer, stmt.index, of), span=stmt.span)
        back = Stmt(stmt.domain, stmt.buffer, stmt.index, Read(old.name, place, of), span=stmt.span)
        alloc: Block = (Alloc(old.name),) if old.shape else ()
        return Recovery((*alloc, *renamed((keep,), self.taken)), renamed((back,), self.taken))


def _may_overflow(expr: Expr) -> bool:
    """Arithmetic of Python integers on data: its overflow would be noticed although the loop is undone."""
    if not isinstance(expr, Op) or expr.type != INT or expr.op in COMPARISONS | {"select", "minimum", "maximum"}:
        return False
    return any(isinstance(part, Read) for part in subexpressions(expr))


__all__ = ["Recoverer", "Recovery", "all_set", "flagged", "is_speculable", "set_flags"]
