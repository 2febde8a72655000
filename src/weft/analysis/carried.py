"""Ranges of integer variables that loops carry.  In: a program; out: for each such variable all that it is ever set to,
by which a bound of it is proved: it holds for every value, where that value is set, or for what never changes, where
the question is asked.

    k = 0;  for i in 1 .. n: if a[i] < a[k]: k = i        0 <= k < n, since 0 <= i < n; and n > 0 inside the loop
"""

from __future__ import annotations

from dataclasses import field

from weft.analysis.facts import Facts, entry_facts
from weft.ir.expr import Const, Expr, Op, Read
from weft.ir.index import Affine
from weft.ir.program import Block, If, Loop, Program, Role, Stmt
from weft.ir.types import INT
from weft.ir.walk import buffers_written, expr_buffers, free_vars, sub_blocks
from weft.records import dataclass


@dataclass
class Carried:
    """`values` are what the scalars of type int are set to, with what is known there; others are not among them."""

    program: Program
    values: dict[str, list[tuple[Expr, Facts]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._symbols = {symbol.name for symbol in self.program.symbols}
        buffers = self.program.buffers
        local = {b.name for b in buffers if b.role is Role.LOCAL and b.rank == 0 and b.type == INT}
        self.values = {name: [] for name in local}
        if local:
            self._collect(self.program.body, entry_facts(self.program))

    def _collect(self, block: Block, facts: Facts) -> None:
        for node in block:
            if isinstance(node, Stmt):
                if node.buffer in self.values:
                    if node.reduce is not None or expr_buffers(node.value):
                        del self.values[node.buffer]
                    else:
                        self.values[node.buffer].append((node.value, facts))
            elif isinstance(node, If):
                self._collect(node.then, facts.with_condition(node.condition))
                self._collect(node.orelse, facts.with_condition(node.condition, holds=False))
            elif sub_blocks(node):
                inner = facts.with_dim(node.dim) if isinstance(node, Loop) else facts
                for nested in sub_blocks(node):
                    self._collect(nested, inner)
            else:
                for name in buffers_written(node) & self.values.keys():
                    del self.values[name]

    def within(self, name: str, size: Expr, facts: Facts) -> bool:
        """Whether 0 <= variable < size wherever it has a value; `facts` are those of the place that asks."""
        values = self.values.get(name)
        if not values or expr_buffers(size) or not free_vars(size) <= self._symbols:
            return False
        return all(self._between(value, size, facts, there) for value, there in values)

    def _between(self, value: Expr, size: Expr, here: Facts, there: Facts) -> bool:
        fixed = isinstance(value, Const) or free_vars(value) <= self._symbols
        for known in (there, here) if fixed else (there,):
            place, extent = known.linear(value), known.linear(size)
            if place is None or extent is None:
                continue
            if known.prove(place) and known.prove(extent - place - Affine((), 1)):
                return True
        return False


def wrapped(expr: Expr) -> tuple[str, Expr] | None:
    """select(k < 0, k + size, k) for a variable k: its name and the size."""
    if not isinstance(expr, Op) or expr.op != "select":
        return None
    condition, moved, kept = expr.args
    if not isinstance(kept, Read) or kept.index or not isinstance(condition, Op) or condition.op != "lt":
        return None
    if condition.args[0] != kept or not (isinstance(condition.args[1], Const) and condition.args[1].value == 0):
        return None
    if not isinstance(moved, Op) or moved.op != "add" or kept not in moved.args:
        return None
    size = moved.args[1] if moved.args[0] == kept else moved.args[0]
    return kept.buffer, size


__all__ = ["Carried", "wrapped"]
