"""Containers that are arguments.  In: the spec of a list of tuples, a list of lists, a dict or a set, or of a list that
the function makes longer; out: the parameters that carry its numbers, one a column, and the value it denotes.

What only reads a list, or writes its elements, works on the columns: the dispatcher copies them back.  A list whose
length changes, and a dict or set, is copied into memory of the function's own; where it is changed, every result tells
what it holds then (`weft.runtime.containers`), and an exception hands the call back, so that what it leaves behind is
Python's.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from weft.frontend import arrays, growing, ragged, tables
from weft.frontend.building import Building
from weft.frontend.changed import is_searched
from weft.frontend.growing import EXTRA_ROOM, Cells
from weft.frontend.items import as_value, types_in
from weft.frontend.lists import started
from weft.frontend.loading import with_lists
from weft.frontend.nested import resolved
from weft.frontend.specs import ArraysSpec, ContainerSpec, TextDictSpec, TextSpec
from weft.frontend.strings import BYTE, key_numbers, text_numbers
from weft.frontend.tables import Hashed
from weft.frontend.textpool import CODE
from weft.frontend.values import (
    Dict,
    Growing,
    ItemType,
    ListOf,
    Records,
    Rows,
    Stack,
    Text,
    TextType,
    Tuple,
    Value,
)
from weft.frontend.writing import loop, variable
from weft.ir import index as ix
from weft.ir import walk
from weft.ir.expr import ONE, ZERO, Expr, Op, Read, integer
from weft.ir.program import HAND_BACK, OF_PLACE, Block, Check, Invoke, Node, Program, Role
from weft.ir.types import BOOL, I64, INT, ScalarType


class Arguments(Building):
    """Lists, dicts and sets among the parameters."""

    def filled_one(self, name: str, kind: ContainerSpec, data: tuple[str, ...], count: Expr) -> Value:
        """The container whose items are in these columns."""
        if kind.kind == "list":
            return _records(self, name, kind.item, data, count)
        if kind.kind == "deque":
            return as_value(_grown_copy(self, name, data, count, is_deque=True), kind.item, True)
        return _filled_dict(self, name, kind, data, count)

    def is_argument(self, name: str, buffer: str, value: Value) -> None:
        """Note that a value stands for an argument, and whether results must tell what becomes of it."""
        self.own[self.identity(value) or buffer] = buffer
        self.argument_of[self.identity(value) or buffer] = name
        if name in self.emitter.decisions.changing:
            self.changed[name] = (buffer, value)


def container(
    builder: Building, name: str, kind: ContainerSpec, sample: Any, nested: bool
) -> tuple[Value, tuple[str, ...]]:
    """The value that a container denotes, and the parameters that carry it."""
    if nested:
        raise builder.unsupported(None, f"the container {name} as an argument of a recursive function")
    if kind.has_lists and not (kind.is_rows and name not in builder.emitter.decisions.changing):
        return with_lists(builder, name, kind, sample)
    if kind.is_rows:
        assert isinstance(kind.item, ListOf)
        return _rows(builder, name, kind.item.item, sample)
    types = [*types_in(kind.item), *types_in(kind.value)]
    count, data = _columns(builder, name, types, None if sample is None else len(sample))
    empty = sample is not None and not sample
    value: Value
    if empty and kind.kind != "list":
        _hold_empty(builder, count)
        value = _empty_one(builder, name, kind)
    else:
        value = builder.filled_one(name, kind, data, count)
    builder.is_argument(name, data[0], value)
    return value, data


def _empty_one(builder: Building, name: str, kind: ContainerSpec) -> Value:
    if kind.kind == "deque":
        return started(builder, name, Tuple((), is_list=True), is_deque=True)
    return _new_dict(builder, name, kind)


def _columns(
    builder: Building, name: str, types: Sequence[ScalarType], size: int | None
) -> tuple[Expr, tuple[str, ...]]:
    """A parameter for each column; the first tells their size."""
    emitter = builder.emitter
    names: list[str] = []
    count: Expr | None = None
    for place, of in enumerate(types):
        title = emitter.fresh(name if len(types) == 1 else f"{name}_{place}")
        emitter.taken.discard(title)
        count = count or emitter.size_symbol(title, 0, size)
        names.append(emitter.declare(title, of, (count,), Role.PARAM).name)
        assert names[-1] == title  # the size is named after the buffer
    assert count is not None
    emitter.params.extend(names)
    return count, tuple(names)


def _rows(builder: Building, name: str, item: ItemType | None, sample: Any) -> tuple[Value, tuple[str, ...]]:
    assert item is not None
    types = types_in(item)
    rows = None if sample is None else len(sample)
    total = None if sample is None else sum(map(len, sample))
    # Positions, not Python's integers: nothing about them can overflow.
    count, starts = _columns(builder, f"{name}_starts", [I64], None if rows is None else rows + 1)
    _, data = _columns(builder, name, types, total)
    value = Rows(starts[0], data, ix.sub(count, ONE), item)
    builder.own[starts[0]] = starts[0]
    builder.argument_of[starts[0]] = name
    builder.rows_of_argument.update(dict.fromkeys(data, name))
    return value, (*starts, *data)


def text_parameter(
    builder: Building, name: str, kind: TextSpec, sample: Any, nested: bool
) -> tuple[Value, tuple[str, ...]]:
    """A string, or a list of strings: its code points."""
    if nested and kind.many:
        raise builder.unsupported(None, f"the strings {name} as an argument of a recursive function")
    of = CODE if kind.kind == "str" else BYTE
    if not kind.many:
        count, data = _columns(builder, name, [of], None if sample is None else len(sample))
        builder.text_kinds[data[0]] = kind.kind
        return Text(kind.kind, count, data[0]), data
    count, starts = _columns(builder, f"{name}_starts", [I64], None if sample is None else len(sample) + 1)
    _, data = _columns(builder, name, [of], None if sample is None else sum(map(len, sample)))
    builder.own[starts[0]] = starts[0]
    rows = Rows(starts[0], data, ix.sub(count, ONE), TextType(kind.kind))
    if name in builder.emitter.decisions.changing:
        made = growing.make(builder.emitter, name, [INT, INT], ix.add(rows.count, integer(EXTRA_ROOM)))
        with loop(builder.emitter, ZERO, rows.count) as at:
            Cells(builder.emitter, made).push(text_numbers(builder, ragged.row_at(rows, at, builder.emitter)))
        value = as_value(made, rows.item, False)
        builder.is_argument(name, starts[0], value)
        return value, (*starts, *data)
    builder.argument_of[starts[0]] = name
    return rows, (*starts, *data)


def text_dict(
    builder: Building, name: str, kind: TextDictSpec, sample: Any, nested: bool
) -> tuple[Value, tuple[str, ...]]:
    """A dict whose keys are strings: its entries are put into a table of the function's own."""
    if nested:
        raise builder.unsupported(None, f"the dict {name} as an argument of a recursive function")
    emitter, value_type = builder.emitter, kind.value
    sizes = None if sample is None else (len(sample), sum(map(len, sample)))
    keys, names = _text_column(builder, f"{name}_keys", sizes)
    held: Rows | None = None
    if isinstance(value_type, TextType):
        total = None if sample is None else (len(sample), sum(map(len, sample.values())))
        held, more = _text_column(builder, f"{name}_values", total)
    else:
        _, more = _columns(builder, f"{name}_values", [value_type], None if sample is None else len(sample))
    table = tables.make(emitter, name, [INT, INT], types_in(value_type))
    with loop(emitter, ZERO, keys.count) as at:
        numbers = key_numbers(builder, ragged.row_at(keys, at, emitter))
        found: list[Expr] = [Read(more[0], (at,), emitter.buffers[more[0]].type)]
        if held is not None:
            found = text_numbers(builder, ragged.row_at(held, at, emitter))
        Hashed(emitter, table).insert(numbers, [emitter.snapshot(number, "value") for number in found])
    value = Dict(table, TextType("str"), value_type, _place_of(builder, name))
    builder.is_argument(name, names[0], value)
    return value, (*names, *more)


def _text_column(builder: Building, name: str, sizes: tuple[int, int] | None) -> tuple[Rows, tuple[str, ...]]:
    """Strings, one after the other: how many there are, and their characters in all."""
    count, starts = _columns(builder, f"{name}_starts", [I64], None if sizes is None else sizes[0] + 1)
    _, data = _columns(builder, name, [CODE], None if sizes is None else sizes[1])
    return Rows(starts[0], data, ix.sub(count, ONE), TextType("str")), (*starts, *data)


def array_list(
    builder: Building, name: str, kind: ArraysSpec, sample: Any, nested: bool
) -> tuple[Value, tuple[str, ...]]:
    """A list of arrays: what they are copied into, one after the other."""
    if nested:
        raise builder.unsupported(None, f"the list {name} as an argument of a recursive function")
    emitter, of = builder.emitter, ScalarType(kind.dtype)
    if kind.unequal:
        count, starts = _columns(builder, f"{name}_starts", [I64], None if sample is None else len(sample) + 1)
        _, data = _columns(builder, name, [of], None if sample is None else sum(map(len, sample)))
        builder.own[starts[0]] = starts[0]
        return Rows(starts[0], data, ix.sub(count, ONE), of, of_arrays=True), (*starts, *data)
    shape = None if sample is None else (len(sample), *sample[0].shape)
    title = emitter.fresh(name)
    emitter.taken.discard(title)
    extents = [emitter.size_symbol(title, k, None if shape is None else shape[k]) for k in range(kind.rank + 1)]
    buffer = emitter.declare(title, of, tuple(extents), Role.PARAM)
    emitter.params.append(buffer.name)
    value = Stack(arrays.of_buffer(buffer))
    builder.own[builder.identity(value) or ""] = buffer.name
    return value, (buffer.name,)


def _records(builder: Building, name: str, item: ItemType, data: tuple[str, ...], count: Expr) -> Value:
    emitter = builder.emitter
    if name not in emitter.decisions.changing:
        return Records(fixed_columns(builder, name, data, count), item)
    return as_value(_grown_copy(builder, name, data, count), item, False)


def _grown_copy(
    builder: Building,
    name: str,
    data: Sequence[str],
    count: Expr,
    more: Sequence[ScalarType] = (),
    is_deque: bool = False,
) -> Growing:
    """The columns in memory that may grow, and room for more of them."""
    emitter = builder.emitter
    types = [emitter.buffers[column].type for column in data]
    made = growing.make(emitter, name, [*types, *more], ix.add(count, integer(EXTRA_ROOM)), is_deque)
    for target, column, of in zip(made.data, data, types):
        dims, at = emitter.domain((count,))
        emitter.assign(dims, target, at, Read(column, at, of))
    Cells(emitter, made).length.set(count)
    return made


def changing_list(builder: Building, name: str, buffer: str, sample: Any) -> Value:
    """A list of numbers that gets longer or shorter; of an empty one the first item tells the type."""
    count, of = builder.emitter.buffers[buffer].shape[0], builder.emitter.buffers[buffer].type
    if isinstance(sample, list) and not sample:
        _hold_empty(builder, count)
        value = started(builder, name, Tuple((), is_list=True), is_deque=False)
    else:
        value = as_value(_grown_copy(builder, name, (buffer,), count), of, False)
    builder.is_argument(name, buffer, value)
    return value


def _filled_dict(builder: Building, name: str, kind: ContainerSpec, data: tuple[str, ...], count: Expr) -> Dict:
    emitter, place = builder.emitter, _place_of(builder, name)
    if name in emitter.decisions.changing:
        entries = _grown_copy(builder, name, data, count, [BOOL])
    else:
        there = emitter.allocate(f"{name}_there", BOOL, (count,))
        entries = fixed_columns(builder, name, (*data, there.name), count)
    spec = builder.scope.source.tree.args
    is_own = any(part.arg == name for part in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs))
    indexed = not is_own or name in emitter.decisions.changing or is_searched(builder.scope.body, name)
    table = tables.filled(emitter, name, entries, len(types_in(kind.item)), count, indexed)
    return Dict(table, kind.item, kind.value, place)


def fixed_columns(builder: Building, name: str, data: tuple[str, ...], count: Expr) -> Growing:
    """Columns that stay as long as they are."""
    length = variable(builder.emitter, f"{name}_length", count)
    builder.emitter._written_once.add(length.name)
    return Growing(data, (), length.name, length.name)


def _new_dict(builder: Building, name: str, kind: ContainerSpec) -> Dict:
    place = _place_of(builder, name)
    known = builder.emitter.decisions.entries.get(place)
    if known is None:
        return Dict(None, None, None, place)
    key, item = known[0], resolved(builder, known[1])
    table = tables.make(builder.emitter, name, types_in(key), types_in(item))
    return Dict(table, key, item, place)


def _place_of(builder: Building, name: str) -> tuple[int, str]:
    return (0, f"argument {name}")


def _hold_empty(builder: Building, count: Expr) -> None:
    """The version is for empty arguments."""
    test = Op("eq", (count, ZERO), BOOL)
    builder.emitter.guards.append(Check((), test, "RuntimeError", "", (), builder.emitter.span))


def hand_exceptions_back(builder: Building, program: Program) -> Program:
    """With containers that only results change, whatever would raise is left to Python from the start."""
    changes = bool(builder.changed) or builder.stores_objects()
    if not changes and not (builder.functions.caught and program.functions):
        return program
    reason = "an exception after which an argument has changed"

    def handed(node: Node) -> Node:
        if isinstance(node, Invoke):
            builder.emitter.handed.append((node.span, reason))  # the stack may end
            return node
        if not isinstance(node, Check):
            return walk.map_sub_blocks(node, block)
        if node.exception == HAND_BACK:
            return node
        builder.emitter.handed.append((node.span, reason))
        of_values = node.exception in ("ZeroDivisionError", "OverflowError")
        return dataclasses.replace(node, exception=HAND_BACK, message="" if of_values else OF_PLACE, values=())

    def block(nodes: Block) -> Block:
        return walk.map_block(nodes, handed)

    functions = tuple(dataclasses.replace(part, body=block(part.body)) for part in program.functions)
    if not changes:  # a call of a recursive function raises where a handler waits
        builder.emitter.handed.append((program.span, reason))
    return dataclasses.replace(program, body=block(program.body) if changes else program.body, functions=functions)
