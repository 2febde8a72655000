"""Dicts and sets that are items of other containers: `graph[u].add(v)`, `counts[a][b] += 1`.  In: a dict that is put
into a container; out: its number among all dicts of its type, which is what the container holds.

All dicts (or sets) of one type share memory (`weft.frontend.tables`): their entries, the places of their indices, and a
row for each that tells where its own begin.  A dict that is put into a container anywhere is one among others from the
start: the build begins again with that.  Of a set the row also tells what has become of it since the call began, if it
is part of an argument, since only CPython knows the places of its items.
"""

from __future__ import annotations

from dataclasses import replace

from weft.frontend import revisions, tables
from weft.frontend.building import Building
from weft.frontend.emit import Emitter, Restart
from weft.frontend.items import compared, row_of, types_in
from weft.frontend.tables import AS_IT_WAS, MADE_HERE, Hashed
from weft.frontend.values import Dict, DictOf, Heap, TablesOf, Value
from weft.ir.expr import Expr, integer


def place_of(layout: DictOf) -> tuple[int, str]:
    """What stands for all dicts of a type where decisions are made about one."""
    return (hash(layout), "tables")


def make(emitter: Emitter, layout: DictOf) -> Heap:
    """Memory for dicts of a type, without any so far."""
    return tables.heap(emitter, types_in(layout.key), types_in(layout.item), int(layout.is_set))


class InnerDicts(Building):
    """Dicts and sets in containers."""

    def will_change(self, value: Value) -> None:
        if isinstance(value, Dict) and row_of(value) is not None:
            _alter(self, value.place)
        super().will_change(value)


def dict_at(builder: Building, layout: DictOf, row: Expr) -> Dict:
    """The dict of this number."""
    if layout.key is None:
        site = layout.site or place_of(layout)
        return Dict(None, None, None, layout.is_set, layout.default, site, layout.counts)
    memory = builder.heap(TablesOf(layout))
    unseen = tuple(place for place, counts in enumerate(compared(layout.key)) if not counts)
    indexed = place_of(layout) in builder.emitter.decisions.searched
    table = tables.table_at(memory, row, len(types_in(layout.key)), unseen, indexed)
    if layout.is_set:
        table = replace(table, past=memory.rows.data[-1])
    return Dict(table, layout.key, layout.item, layout.is_set, layout.default, place_of(layout), layout.counts)


def new_table(builder: Building, layout: DictOf) -> Dict:
    """A new dict of a type that is known, without entries."""
    memory = builder.heap(TablesOf(layout))
    _alter(builder, place_of(layout))
    more = [integer(MADE_HERE)] if layout.is_set else []
    made = dict_at(builder, layout, tables.new_row(builder.emitter, memory, more))
    assert made.table is not None
    if made.table.index:
        Hashed(builder.emitter, made.table).start_index()
    return made


def index_given(builder: Building, layout: DictOf, row: Expr) -> None:
    """A dict of an argument, whose entries are there, gets its index; the places of a set's items are not known."""
    table = dict_at(builder, layout, row).table
    assert table is not None
    if table.index:
        tables.index_row(builder.emitter, table)
    if table.past:
        Hashed(builder.emitter, table).number(table.past).set(integer(AS_IT_WAS))


def _alter(builder: Building, place: tuple[int, str]) -> None:
    """Dicts of a type do not stay what arguments bring: the build starts again if that was not known."""
    if place not in builder.emitter.decisions.altered:
        builder.emitter.decisions.altered.add(place)
        raise Restart


def table_number(builder: Building, layout: DictOf, value: Dict) -> Expr:
    """The number of a dict that is put into a container."""
    row = row_of(value)
    if row is not None:
        return row
    if layout.key is None:
        return integer(-1)  # nothing is ever put into it, as far as is known
    if value.table is None:
        builder.emitter.decisions.tabled.add(value.place)
        revisions.holds_entries(builder, value.place, layout.key, layout.item)
    raise among_others(builder, value)


def among_others(builder: Building, value: Dict) -> Exception:
    """A dict is to be one among others from where it is made on: the build starts again."""
    rows = builder.emitter.decisions.tabled
    if builder.identity(value) in builder.own or value.place in rows:
        reason = "a dict or set that is an argument, in a container or under several names"
        raise builder.unsupported(None, reason, "put a copy of it there")
    rows.add(value.place)
    return Restart()
