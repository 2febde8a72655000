"""Lists of lists of any lengths, as arguments: adjacency lists, rows of tuples.  In: a `Rows` and what Python does with
it; out: views of the one memory that holds the items of all rows, one row after the other.

    for v in adj[u]: ...   -->   for k in range(starts[u + 1] - starts[u]): v = data[starts[u] + k]
"""

from __future__ import annotations

from dataclasses import replace

from weft.errors import Unsupported
from weft.frontend import arith, arrays, indexing
from weft.frontend.emit import Emitter
from weft.frontend.values import Array, Growing, Iterable, Records, Rows, Scalar, Stack, Text, TextType, Value
from weft.frontend.writing import variable
from weft.ir import index as ix
from weft.ir.expr import ONE, Expr, Op, Read
from weft.ir.types import I64, INT, ScalarType


def row(rows: Rows | Stack, key: Value, emitter: Emitter) -> Value:
    """rows[key]"""
    if not isinstance(key, Scalar):
        raise Unsupported(emitter.span, "an index into a list of lists that is no integer", "copy its rows in a loop")
    if isinstance(rows, Stack):
        return _array_at(rows, indexing.position(replace(rows.array, is_list=True), 0, key.expr, emitter))
    starts = arrays.view(emitter.buffers[rows.starts], (rows.count,), lambda at: at, is_list=True)
    return row_at(rows, indexing.position(starts, 0, key.expr, emitter), emitter)


def row_at(rows: Rows, place: Expr, emitter: Emitter) -> Value:
    """The row at a position that is in range: an array of numbers, or a list of tuples of fixed length."""
    begin = Read(rows.starts, (place,), I64)
    end = Read(rows.starts, (ix.add(place, ONE),), I64)
    start = emitter.snapshot(arith.cast(begin, INT), "start")
    length = arith.cast(Op("sub", (end, begin), I64), INT)
    if isinstance(rows.item, TextType):
        return Text(rows.item.kind, emitter.snapshot(length, "count"), rows.data[0], start)
    if isinstance(rows.item, ScalarType):
        count = emitter.snapshot(length, "count")
        data = emitter.buffers[rows.data[0]]
        return arrays.view(data, (count,), lambda at: (ix.add(start, at[0]),), is_list=not rows.of_arrays)
    first = start.buffer if isinstance(start, Read) else variable(emitter, "start", start).name
    held = Growing(rows.data, (), variable(emitter, "count", length).name, "", first)
    return Records(held, rows.item)


def _array_at(stack: Stack, place: Expr) -> Array:
    return arrays.remap(stack.array, stack.array.shape[1:], lambda at: (place, *at))


def length(rows: Rows | Stack) -> Expr:
    return rows.array.shape[0] if isinstance(rows, Stack) else rows.count


def iteration(rows: Rows | Stack, emitter: Emitter) -> Iterable:
    if isinstance(rows, Stack):
        return Iterable(length(rows), lambda q: _array_at(rows, q))
    return Iterable(rows.count, lambda q: row_at(rows, q, emitter))
