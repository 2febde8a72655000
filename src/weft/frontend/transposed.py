"""`zip(*rows)`: the columns of a list of rows.  In: a list of lists, or of tuples; out: a run over its columns, each of
which is run through in turn.

Python makes a tuple of each column, of a length that only the run time knows: one can be run through, added up and made
a list of, but is no value that could be kept as it is.
"""

from __future__ import annotations

import ast
from collections.abc import Callable

from weft.frontend import arrays, ragged
from weft.frontend.building import Building
from weft.frontend.values import Array, Iterable, Object, Records, Rows, Scalar, Tuple, Value
from weft.frontend.writing import loop, pick, variable
from weft.ir.expr import ZERO, Expr, Op
from weft.ir.types import BOOL, INT, ScalarType


class Transposed(Building):
    """Calls with all items of a list as arguments."""

    def _eval_call(self, node: ast.Call) -> Value:
        starred = node.args[0] if len(node.args) == 1 and not node.keywords else None
        if isinstance(starred, ast.Starred) and isinstance(node.func, ast.Name):
            function = self.evaluate(node.func)
            if isinstance(function, Object) and function.value is zip:
                rows = self.evaluate(starred.value)
                self.at(node)
                if isinstance(rows, Tuple):
                    return self.call(function, list(rows.items), {}, node)
                return _columns_of(self, rows, node)
        return super()._eval_call(node)


def _columns_of(builder: Building, rows: Value, node: ast.AST) -> Value:
    emitter = builder.emitter
    if isinstance(rows, Array) and rows.is_list and rows.rank == 2:
        some = Op("gt", (rows.shape[0], ZERO), BOOL)
        trips = emitter.snapshot(pick(some, rows.shape[1], ZERO), "columns")
        return Iterable(trips, lambda q: _column(builder, rows.type, rows.shape[0], lambda k: rows.element((k, q))))
    if isinstance(rows, Rows) and isinstance(rows.item, ScalarType) and not rows.of_arrays:
        return _ragged_columns(builder, rows)
    if isinstance(rows, Records) and isinstance(rows.item, tuple) and not rows.is_deque:
        emitter.hand_back(Op("gt", (rows.growing.size, ZERO), BOOL), "zip(*rows) of no rows")
        return Tuple(tuple(_part_of_rows(builder, rows, place, node) for place in range(len(rows.item))))
    raise builder.unsupported(node, "zip(*rows) of this", "write it as a loop", rows=rows)


def _column(builder: Building, of: ScalarType, count: Expr, element: Callable[[Expr], Expr]) -> Iterable:
    """A column as it is now."""
    view = Array((count,), of, lambda at: element(at[0]), is_list=True, cost=1)
    copy = arrays.materialise(view, builder.emitter, "column")
    return Iterable(count, lambda k: Scalar(copy.element((k,))))


def _ragged_columns(builder: Building, rows: Rows) -> Iterable:
    """As many columns as the shortest row has items."""
    emitter = builder.emitter
    shortest = variable(emitter, "shortest", ZERO)
    with loop(emitter, ZERO, rows.count) as at:
        row = ragged.row_at(rows, at, emitter)
        assert isinstance(row, Array)
        first = Op("eq", (at, ZERO), BOOL)
        less = Op("minimum", (shortest.value, row.shape[0]), INT)
        shortest.set(pick(first, row.shape[0], less))
    trips = emitter.snapshot(shortest.value, "columns")

    def column(q: Expr) -> Iterable:
        assert isinstance(rows.item, ScalarType)
        made = arrays.of_buffer(emitter.allocate("column", rows.item, (rows.count,)), is_list=True)
        assert made.view is not None
        with loop(emitter, ZERO, rows.count) as k:
            row = ragged.row_at(rows, k, emitter)
            assert isinstance(row, Array)
            emitter.assign((), made.view.buffer, (k,), row.element((q,)))
        return Iterable(rows.count, lambda k: Scalar(made.element((k,))))

    return Iterable(trips, column)


def _part_of_rows(builder: Building, rows: Records, place: int, node: ast.AST) -> Iterable:
    """One part of each tuple of a list."""
    run = builder.iteration(rows, node)

    def part(q: Expr) -> Value:
        item = run.item(q)
        assert isinstance(item, Tuple)
        return item.items[place]

    return builder.iteration(builder.listed(Iterable(run.trips, part)), node)
