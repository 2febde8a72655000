"""Lists that are items of other containers: `adj[u].append(v)`, `groups[key].append(x)`.  In: a list that is put into a
container; out: its number among all lists of its kind, which is what the container holds.

All lists that hold the same type of items share memory (`Heap`): `cells` has the items, and `rows` tells of each list
where it begins, how many items it has, and how many it has room for.  A list that needs more room moves behind all
others.  Two containers that hold one list hold the same number, so a change is seen through both.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from dataclasses import replace

from weft.errors import Unsupported
from weft.frontend import arith, blocks, growing, revisions
from weft.frontend.blocks import array_at, array_layout, array_now, array_number
from weft.frontend.building import Building
from weft.frontend.emit import Emitter, Restart, Untyped, without_guesses
from weft.frontend.growing import Cells
from weft.frontend.items import (
    as_value,
    either,
    layout_of,
    merged,
    name_of,
    numbers_of,
    row_of,
    takes,
    types_in,
    with_name,
)
from weft.frontend.missing import is_none
from weft.frontend.mixed import kinds_of, of_either
from weft.frontend.scope import Scope
from weft.frontend.strings import text_numbers
from weft.frontend.values import (
    Array,
    ArrayOf,
    ArraysOf,
    EitherType,
    Growing,
    Heap,
    HeapKind,
    ItemType,
    ListOf,
    Maybe,
    Object,
    ObjectType,
    OptionOf,
    Records,
    Scalar,
    Struct,
    TextType,
    Tuple,
    Value,
    View,
)
from weft.frontend.writing import loop, variable, when
from weft.ir import index as ix
from weft.ir.expr import ONE, ZERO, Const, Expr, Op, Read, integer
from weft.ir.program import Role
from weft.ir.types import BOOL, FLOAT, INT, ScalarType


def make(emitter: Emitter, item: HeapKind) -> Heap:
    """Memory for lists of such items, without any so far."""
    if isinstance(item, ArraysOf):
        return blocks.make(emitter, item.of)
    cells = growing.make(emitter, "cells", types_in(item), sparse=True)
    return Heap(cells, growing.make(emitter, "rows", [INT, INT, INT]))


def list_at(heap: Heap, row: Expr, item: ItemType) -> Value:
    """The list of this number."""
    return as_value(held_at(heap, row), item, False)


def held_at(heap: Heap, row: Expr) -> Growing:
    start, length, room = heap.rows.data
    return Growing(heap.cells.data, heap.cells.spare, length, room, start, row, heap.cells)


def new_list(emitter: Emitter, heap: Heap, count: Expr) -> tuple[Expr, Expr]:
    """The number of a new list of so many items, and where its cells, not yet written, begin."""
    cells, rows = Cells(emitter, heap.cells), Cells(emitter, heap.rows)
    row = rows.last()
    start: Expr = ZERO
    if count != ZERO:
        start = cells.last()
        cells.make_room(ix.add(start, count))
        cells.length.set(Op("add", (start, count), INT))
    rows.push((start, count, count))
    return row, start


def reserve(emitter: Emitter, heap: Heap, rows: Expr, total: Expr) -> tuple[Expr, Expr]:
    """The first of so many new lists with so many items in all, and where those begin; to be written by the caller."""
    cells, held = Cells(emitter, heap.cells), Cells(emitter, heap.rows)
    base, start = held.last(), cells.last()
    held.make_room(Op("add", (base, rows), INT))
    cells.make_room(Op("add", (start, total), INT))
    held.length.set(Op("add", (base, rows), INT))
    cells.length.set(Op("add", (start, total), INT))
    return base, start


class Nested(Building):
    """Lists in containers."""

    def heap(self, item: HeapKind) -> Heap:
        found = self.heaps.get(item)
        if found is None:
            known = self.emitter.decisions.heaps
            if item in known:
                raise self.unsupported(None, "lists inside containers in a recursive function", "use arrays")
            known.append(item)
            raise Restart
        return found

    def layout(self, value: Value) -> ItemType | None:
        """The type of an item; None if a container of such items has no native form."""
        return resolved(self, _by_kinds(self, value) or layout_of(value))

    def accepts(self, layout: ItemType, value: Value) -> bool:
        """Whether a container of items of this type takes a value; what it tells of empty lists starts a new build."""
        other = self.layout(value)
        _tell_option(self, layout, other)
        if not takes(layout, other):
            return False
        _fill_gaps(self, layout, other)
        _fill_gaps(self, other, layout)
        return True

    def same_rows(self, one: Value, other: Value) -> bool:
        """Whether two lists among others are of one kind."""
        layout = self.layout(one)
        return layout is not None and self.accepts(layout, other) and layout == self.layout(other)

    def site(self, node: ast.AST) -> tuple[int, str]:
        """Where a list is made: the same in every attempt at a build."""
        place = (self.scope.path, getattr(node, "lineno", 0), getattr(node, "col_offset", 0))
        return (hash(place), "made here")

    # --- containers of which nothing is known yet -------------------------------------------------------------------

    pending: Unsupported | None = None

    # --- from values to numbers and back ----------------------------------------------------------------------------

    def numbers(self, layout: ItemType, value: Value) -> list[Expr]:
        """The numbers of an item of a type that it fits: lists in it become lists of their kind."""
        if self.emitter.is_boxed(value):
            raise self.unsupported(None, "an array of rank 0 in a container", "add [()]")
        if isinstance(layout, ListOf):
            return [row_number(self, layout, value)]
        if isinstance(layout, ArrayOf):
            assert isinstance(value, Array)
            return [array_number(self, layout, value)]
        if isinstance(layout, OptionOf):
            return _optional_numbers(self, layout, value)
        if isinstance(layout, tuple):
            assert isinstance(value, Tuple)
            return [number for part, item in zip(layout, value.items) for number in self.numbers(part, item)]
        if isinstance(layout, TextType):
            return text_numbers(self, value)
        if isinstance(layout, ObjectType):
            assert isinstance(value, Struct) and value.row is not None
            return [value.row]
        if isinstance(layout, EitherType):
            (number,) = numbers_of(value)
            return [arith.cast(number, layout.held), self.is_other(number, layout)]
        return list(numbers_of(value))

    def assembled(self, layout: ItemType, numbers: Iterator[Expr], certain: bool = True) -> Value:
        """The item that consists of these numbers; `certain`: it is there, so that its memory may be looked at."""
        if isinstance(layout, tuple):
            return Tuple(tuple(self.assembled(part, numbers, certain) for part in layout), named=name_of(layout))
        number = next(numbers)
        if isinstance(layout, OptionOf):
            held = layout.item
            return Object(None) if held is None else Maybe(number, self.assembled(held, numbers, certain=False))
        if isinstance(layout, ObjectType):
            return Struct(layout.kind, {}, row=number)
        if isinstance(layout, TextType):
            return self.text_of(layout.kind, number, next(numbers))
        if isinstance(layout, EitherType):
            return Scalar(of_either(self, layout, number, next(numbers)))
        if isinstance(layout, ArrayOf):
            return array_at(self, layout, number) if certain else array_now(self, layout, number)
        if not isinstance(layout, ListOf):
            return Scalar(number)
        if layout.item is None:
            return Tuple((), is_list=True, key=layout.site)  # nothing is ever put into it, as far as is known
        return list_at(self.heap(layout.item), number, layout.item)

    def new_row(self, item: ItemType, value: Value) -> Expr:
        """The number of a new list with the items of a value."""
        heap, emitter = self.heap(item), self.emitter
        if isinstance(value, Tuple):
            taken = [[emitter.snapshot(number, "item") for number in self.numbers(item, part)] for part in value.items]
            row, start = new_list(emitter, heap, integer(len(taken)))
            for position, numbers in enumerate(taken):
                _put(self, heap, ix.add(start, integer(position)), numbers)
            return row
        if isinstance(value, Records):
            cells = Cells(emitter, value.growing)
            count = cells.last()
            row, start = new_list(emitter, heap, count)
            with loop(emitter, ZERO, count) as at:
                _put(self, heap, ix.add(start, at), list(cells.taken(at)))
            return row
        assert isinstance(value, Array)
        count = emitter.snapshot(Op("add", (value.shape[0], ZERO), INT), "count")
        row, start = new_list(emitter, heap, count)
        with loop(emitter, ZERO, count) as at:
            _put(self, heap, ix.add(start, at), [emitter.snapshot(_part_number(self, item, value, at), "item")])
        return row

    # --- lists that have names --------------------------------------------------------------------------------------

    def escape(self, value: Value) -> None:
        """A list that is put into a container and has a name is one among others from the start: build again."""
        if isinstance(value, Array) and value.view is not None:
            if self.emitter.buffers[value.view.buffer].rank != value.rank:
                _refuse_parts(self, value)  # a row is known by its place in its list, whatever other name it has
        names = list(names_of(self, value))
        if _in_another(self, value):
            raise self.unsupported(None, "a list of a tuple or object in a container", "put a copy of it there")
        if not names:
            _refuse_parts(self, value)
            return
        known = self.emitter.decisions.escaping
        fresh = [name for name in names if name not in known]
        if not fresh:
            raise self.unsupported(None, "a list with another name in a container", "put a copy of it there")
        revisions.escape(self, fresh)

    #: Generators that wait for what is done with an item of theirs.
    suspended: tuple[Scope, ...] = ()

    def _scopes(self) -> Iterator[Scope]:
        """The scopes that a list may have a name in."""
        for start in (self.scope, *self.suspended):
            scope: Scope | None = start
            while scope is not None:
                yield scope
                scope = scope.parent

    def named(self, value: Value) -> bool:
        """Whether a list has a name, or is part of something that has."""
        return row_of(value) is not None or any(True for _ in names_of(self, value))


def resolved(builder: Building, layout: ItemType | None) -> ItemType | None:
    """A type with what is known by now of lists that were empty at first."""
    if isinstance(layout, tuple):
        parts = tuple(resolved(builder, part) for part in layout)
        return None if None in parts else with_name(parts, name_of(layout))
    if isinstance(layout, OptionOf):
        site = layout.site if layout.item is None else None
        held = layout.item if site is None else builder.emitter.decisions.items.get(site)
        return replace(layout, item=resolved(builder, held))
    if not isinstance(layout, ListOf):
        return layout
    item = layout.item
    if item is None and layout.site is not None:
        item = builder.emitter.decisions.items.get(layout.site)
    return ListOf(resolved(builder, item), layout.site)


def _by_kinds(builder: Building, value: Value) -> ItemType | None:
    """The type of an item with a number in it that is of one of two types; None if there is none such."""
    if isinstance(value, Tuple) and not value.is_list:
        parts = [_by_kinds(builder, item) for item in value.items]
        known = tuple(part or layout_of(item) for part, item in zip(parts, value.items))
        return with_name(known, value.named) if any(parts) and None not in known else None
    if isinstance(value, Struct):
        return builder.object_type(value)
    if isinstance(value, Array) and not value.is_list and value.rank:
        return array_layout(builder, value)
    if not isinstance(value, Scalar):
        return None
    kinds = kinds_of(builder, value.expr)
    if len(kinds) == 1:
        return None
    found = either(set(kinds))
    if found is None and _float_or_back(builder, value.expr):
        return None
    if found is None:
        raise builder.unsupported(None, "an item of one of several types", "convert it to one", item=value)
    return found


def _float_or_back(builder: Building, value: Expr) -> bool:
    """Whether a number is a float or an integer by a known test: Python takes the integers, as of an empty sum."""
    mixed = builder.mixed_exprs.get(id(value))
    if mixed is None or {mixed.then.type, mixed.orelse.type} != {INT, FLOAT} or value.type != FLOAT:
        return False
    if id(mixed.then) in builder.mixed_exprs or id(mixed.orelse) in builder.mixed_exprs:
        return False
    test = mixed.test if mixed.then.type == FLOAT else arith.negate(mixed.test)
    builder.emitter.hand_back(test, "an integer, such as a sum of nothing, among floats")
    return True


def _tell_option(builder: Building, layout: ItemType, other: ItemType | None) -> None:
    """A list that was made of None gets something else: build again with room for that."""
    inner = other.item if isinstance(other, OptionOf) else other
    if not isinstance(layout, OptionOf) or layout.site is None or inner is None:
        return
    known = builder.emitter.decisions.items
    whole = inner if layout.item is None else merged(layout.item, inner)
    if whole is not None and not takes(layout, other) and known.get(layout.site) != whole:
        revisions.holds_items(builder, layout.site, whole)


def _fill_gaps(builder: Building, layout: ItemType | None, other: ItemType | None) -> None:
    if isinstance(layout, tuple) and isinstance(other, tuple):
        for part, more in zip(layout, other):
            _fill_gaps(builder, part, more)
    if not isinstance(layout, ListOf) or not isinstance(other, ListOf) or other.item is None:
        return
    if layout.item is not None:
        _fill_gaps(builder, layout.item, other.item)
    elif layout.site is not None:
        revisions.holds_items(builder, layout.site, other.item)


def untyped(builder: Building, node: ast.AST | None, reason: str) -> Untyped:
    return Untyped(builder.at(node), reason, "put something into it first")


def skips(builder: Building, problem: Unsupported) -> bool:
    """Whether a statement that cannot be built is skipped: a later one may tell what a container holds."""
    if builder.pending is None:
        if not isinstance(problem, Untyped):
            return False
        builder.pending = problem
        builder._before = copy.deepcopy(builder.emitter.decisions)
    return True


def learn(builder: Building) -> None:
    """An attempt with skipped statements has found out something about containers: that alone is kept."""
    if builder.pending is not None:
        without_guesses(builder._before, builder.emitter.decisions)


def _optional_numbers(builder: Building, layout: OptionOf, value: Value) -> list[Expr]:
    nothing: list[Expr] = [Const(0, of) for of in types_in(layout.item)]
    if layout.item is None or is_none(value):
        return [Const(False, BOOL), *nothing]
    if not isinstance(value, Maybe):
        return [Const(True, BOOL), *builder.numbers(layout.item, value)]
    there = builder.emitter.snapshot(value.there, "there")
    held = [variable(builder.emitter, "part", number) for number in nothing]
    with when(builder.emitter, there):
        for part, number in zip(held, builder.numbers(layout.item, value.held)):
            part.set(number)
    return [there, *(part.value for part in held)]


def row_number(builder: Building, layout: ListOf, value: Value) -> Expr:
    """The number of a list among those of its kind; a new list gets one."""
    known = row_of(value)
    if known is not None:
        return known
    builder.escape(value)
    if layout.item is None:
        return integer(-1)
    return builder.new_row(layout.item, value)


def as_row(builder: Building, value: Value) -> Value:
    """A list with memory of its own as one among others; an empty one of which nothing is known stays as it is."""
    layout = builder.layout(value)
    if not isinstance(layout, ListOf):
        raise builder.unsupported(None, "a list of these in a container", "keep numbers in it", value=value)
    if layout.item is None:
        return Tuple((), is_list=True, key=layout.site)
    return list_at(builder.heap(layout.item), builder.new_row(layout.item, value), layout.item)


def _part_number(builder: Building, item: ItemType, value: Array, at: Expr) -> Expr:
    """The number of an item of a list: itself, or that of a new list."""
    if value.rank == 1:
        return value.element((at,))
    assert isinstance(item, ListOf) and item.item is not None
    inner = Array(value.shape[1:], value.type, lambda rest: value.element((at, *rest)), is_list=True)
    return builder.new_row(item.item, inner)


def _put(builder: Building, heap: Heap, place: Expr, numbers: list[Expr]) -> None:
    for name, number in zip(heap.cells.data, numbers):
        builder.emitter.assign((), name, (place,), number)


def index_at_run_time(builder: Building, value: Tuple) -> None:
    """A list that exists at compile time only is indexed by what the run time knows: it needs memory."""
    names = {place for place in names_of(builder, value) if place not in builder.emitter.decisions.indexed}
    if names and value.is_list and builder.layout(value) is not None:
        builder.emitter.decisions.indexed |= names
        raise Restart


def is_indexed(builder: Building, name: str) -> bool:
    return (builder.scope.path, name) in builder.emitter.decisions.indexed


def _refuse_parts(builder: Building, value: Value) -> None:
    """An argument, or a part of another list, would be known under two names."""
    view = value.view if isinstance(value, Array) else None
    buffer = None if view is None else builder.emitter.buffers[view.buffer]
    if buffer is not None and (buffer.role is not Role.LOCAL or buffer.rank != value.rank):  # type: ignore[union-attr]
        rows_change(builder, value)
        raise builder.unsupported(None, "a part of another list, or an argument, in a container", "put a copy there")
    if isinstance(value, Records) and value.growing.head is not None:
        rows_change(builder, value)
        raise builder.unsupported(None, "a part of an argument in a container", "put a copy there")


def _in_another(builder: Building, value: Value) -> bool:
    """Whether a tuple or object that has a name holds a list."""
    identity = _memory_of(builder, value)

    def holds(other: object) -> bool:
        if isinstance(other, Tuple):
            parts: list[object] = list(other.items)
        elif isinstance(other, Struct):
            parts = list(other.fields.values())
        else:
            return False
        return any(
            part is value or holds(part) or (identity is not None and _memory_of(builder, part) == identity)
            for part in parts
        )

    values = [other for scope in builder._scopes() for other in scope.values.values()]
    return any(holds(other) for other in values if other is not value)


def _memory_of(builder: Building, part: object) -> str | None:
    """What two names of one list have in common, also of one that does not fill the memory that it is in."""
    if isinstance(part, Array) and part.is_list and part.view is not None and row_of(part) is None:
        buffer = builder.emitter.buffers[part.view.buffer]
        return buffer.name if buffer.rank == part.rank else None
    return builder.identity(part) if isinstance(part, (Array, Records, Tuple)) else None


def names_of(builder: Building, value: Value) -> Iterator[tuple[int, str]]:
    held = _memory_of(builder, value)
    for scope in builder._scopes():
        for name, other in scope.values.items():
            if other is value or (held is not None and _memory_of(builder, other) == held):
                yield (scope.path, name)


def has_escaped(builder: Building, value: Value) -> bool:
    """Whether all names of a list are known to be put into containers: it is one among others, or still empty."""
    names = set(names_of(builder, value))
    return bool(names) and names <= builder.emitter.decisions.escaping


def escapes(builder: Building, name: str) -> bool:
    return (builder.scope.path, name) in builder.emitter.decisions.escaping


def rows_change(builder: Building, value: Value) -> None:
    """A row of a list of lists gets or loses items, or is put elsewhere: its rows are lists of their own then."""
    names: list[str] = []
    if isinstance(value, Array) and value.view is not None:
        names = [value.view.buffer]
    elif isinstance(value, Records):
        names = list(value.growing.data)
    decisions = builder.emitter.decisions
    for name in names:
        argument, site = builder.rows_of_argument.get(name), builder.row_sites.get(name)
        if argument is not None and argument not in decisions.changing:
            revisions.changes(builder, argument)
        if site is not None and site not in decisions.nested:
            decisions.nested.add(site)
            raise Restart


def share_rows(builder: Building, value: Array) -> None:
    """A list of lists is copied: the copy holds the very rows, which are lists of their own then."""
    if value.is_list and value.rank > 1 and value.view is not None:
        rows_change(builder, value)
        raise builder.unsupported(None, "a copy of a list of lists, which shares its rows", "copy the rows, too")


def keep_rows(builder: Building, value: Value) -> None:
    """Rows that another list gets are lists of their own: Python would tell copies of them from themselves."""
    if isinstance(value, Records) or (isinstance(value, Array) and value.is_list):
        rows_change(builder, value)


def packed(builder: Building, heap: Heap) -> list[Array]:
    """Where each list begins, and where the last one ends; then the items of all, one list after the other."""
    emitter = builder.emitter
    rows, cells = Cells(emitter, heap.rows), Cells(emitter, heap.cells)
    count = rows.last()
    begin, length = heap.rows.data[:2]
    starts = emitter.allocate("starts", INT, (ix.add(count, ONE),))
    emitter.assign((), starts.name, (ZERO,), ZERO)
    with loop(emitter, ZERO, count) as row:
        end = Op("add", (Read(starts.name, (row,), INT), Read(length, (row,), INT)), INT)
        emitter.assign((), starts.name, (ix.add(row, ONE),), end)
    total = emitter.snapshot(Read(starts.name, (count,), INT), "total")
    found = [_list_in(starts.name, INT, ix.add(count, ONE))]
    columns = [emitter.allocate("items", emitter.buffers[name].type, (total,)) for name in cells.growing.data]
    with loop(emitter, ZERO, count) as row:
        first = emitter.snapshot(Read(begin, (row,), INT), "first")
        start = emitter.snapshot(Read(starts.name, (row,), INT), "start")
        many = emitter.snapshot(Read(length, (row,), INT), "many")
        with loop(emitter, ZERO, many) as at:
            for column, name in zip(columns, cells.growing.data):
                value = Read(name, (Op("add", (first, at), INT),), column.type)
                emitter.assign((), column.name, (Op("add", (start, at), INT),), value)
    return found + [_list_in(column.name, column.type, total) for column in columns]


def _list_in(buffer: str, of: ScalarType, count: Expr) -> Array:
    return Array((count,), of, lambda at: Read(buffer, at, of), View(buffer, lambda at: at, whole=True))
