"""Lists of lists of any lengths, as arguments: adjacency lists, rows of tuples.  In: a `Rows` and what Python does with
it; out: views of the one memory that holds the items of all rows, one row after the other.

    for v in adj[u]: ...   -->   for k in range(starts[u + 1] - starts[u]): v = data[starts[u] + k]
"""

from __future__ import annotations

from weft.errors import Unsupported
from weft.frontend import arith, arrays, indexing
from weft.frontend.emit import Emitter
from weft.frontend.values import Growing, Iterable, Records, Rows, Scalar, Value
from weft.frontend.writing import variable
from weft.ir import index as ix
from weft.ir.expr import ONE, Expr, Op, Read
from weft.ir.types import I64, INT, ScalarType


def row(rows: Rows, key: Value, emitter: Emitter) -> Value:
    """rows[key]"""
    if not isinstance(key, Scalar):
        raise Unsupported(emitter.span, "an index into a list of lists that is no integer", "copy its rows in a loop")
    starts = arrays.view(emitter.buffers[rows.starts], (rows.count,), lambda at: at, is_list=True)
    return row_at(rows, indexing.position(starts, 0, key.expr, emitter), emitter)


def row_at(rows: Rows, place: Expr, emitter: Emitter) -> Value:
    """The row at a position that is in range: an array of numbers, or a list of tuples of fixed length."""
    begin = Read(rows.starts, (place,), I64)
    end = Read(rows.starts, (ix.add(place, ONE),), I64)
    start = emitter.snapshot(arith.cast(begin, INT), "start")
    length = arith.cast(Op("sub", (end, begin), I64), INT)
    if isinstance(rows.item, ScalarType):
        count = emitter.snapshot(length, "count")
        return arrays.view(emitter.buffers[rows.data[0]], (count,), lambda at: (ix.add(start, at[0]),), is_list=True)
    first = start.buffer if isinstance(start, Read) else variable(emitter, "start", start).name
    held = Growing(rows.data, (), variable(emitter, "count", length).name, "", first)
    return Records(held, rows.item)


def iteration(rows: Rows, emitter: Emitter) -> Iterable:
    return Iterable(rows.count, lambda q: row_at(rows, q, emitter))
