"""Definitions: what the scalars of a loop body are computed from.  In: items, one after the other; out: expressions
with such scalars replaced by their definitions.

    s = f(a[i]); check s > 0      -->      check f(a[i]) > 0, if f is cheap to repeat and comes out the same
"""

from __future__ import annotations

from dataclasses import field
from itertools import islice

from weft.ir.expr import Expr, Read, Reduce
from weft.ir.program import Stmt
from weft.ir.walk import buffers_written, rewrite, subexpressions
from weft.passes.raising.predicate import Item
from weft.passes.simplifying.algebra import is_exact
from weft.records import dataclass

_MOST_REPEATED = 60  # parts of an expression that may be computed again


@dataclass
class Definitions:
    """What scalars set once in a body are computed from, if it is cheap to repeat and comes out the same."""

    items: list[Item]
    values: dict[str, Expr] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._writers = [name for item in self.items for name in buffers_written(item.node)]

    def resolved(self, expr: Expr) -> Expr:
        def visit(part: Expr) -> Expr:
            return self.values.get(part.buffer, part) if isinstance(part, Read) else part

        return rewrite(expr, visit)

    def take(self, item: Item) -> None:
        """Remember an item's definition."""
        node = item.node
        if isinstance(node, Stmt) and not (node.index or node.domain or item.within or node.reduce):
            value = self.resolved(node.value)
            parts = list(islice(subexpressions(value), _MOST_REPEATED + 1))
            cheap = len(parts) <= _MOST_REPEATED and not any(isinstance(part, Reduce) for part in parts)
            if cheap and is_exact(value) and self._writers.count(node.buffer) == 1:
                self.values[node.buffer] = value
