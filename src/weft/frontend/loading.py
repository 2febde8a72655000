"""Arguments that hold lists: `graph: dict[int, list[int]]`, rows that change their length.  In: the spec of such a
container; out: its parameters, one a column, and the statements that put its lists among the others of their kind.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Union

from weft.frontend import arith, arrays, revisions
from weft.frontend.building import Building
from weft.frontend.core import written_by
from weft.frontend.nested import reserve
from weft.frontend.specs import ContainerSpec
from weft.frontend.values import HeapKind, ItemType, ListOf, Loaded, Value
from weft.ir import index as ix
from weft.ir.expr import ONE, ZERO, Expr, Op, Read
from weft.ir.program import Role
from weft.ir.types import I64, INT, ScalarType
from weft.records import dataclass

#: A column of an argument: of numbers, by its name; or of lists, where they begin and the columns of their items.
_Part = Union[str, tuple["_Part", ...], "_Lists"]


@dataclass(frozen=True)
class _Lists:
    starts: str
    count: Expr
    item: ItemType
    inner: _Part
    total: Expr


def with_lists(builder: Building, name: str, kind: ContainerSpec, sample: Any) -> tuple[Value, tuple[str, ...]]:
    """A container that holds lists: these go to the others of their kind."""
    given = Given(builder, name)
    layouts = [kind.item] if kind.value is None else [kind.item, kind.value]
    samples: list[Any] = [None, None]
    if sample is not None:
        samples = [list(sample), list(sample.values()) if kind.value is not None else None]
    parts = [given.declared(layout, items) for layout, items in zip(layouts, samples)]
    count = given.count(parts[0])
    data = tuple(column for part in parts for column in given.numbers(part))
    value = builder.filled_one(name, kind, data, count)
    names = tuple(given.names)
    builder.is_argument(name, names[0], value)
    builder.loaded.append(Loaded(name, names[0], kind.template, tuple(given.first), given.first))
    builder.emitter.params.extend(names)
    return value, names


def rows_list(builder: Building, name: str, buffer: str) -> Value:
    """A list of lists, all of one length, whose rows change: each becomes a list among others."""
    shape, of = builder.emitter.buffers[buffer].shape, builder.emitter.buffers[buffer].type
    first: dict[HeapKind, Expr] = {}
    layout: ItemType = of
    column = buffer
    for axis in reversed(range(1, len(shape))):
        column = _load_rows(builder, layout, column, shape[: axis + 1], first)
        layout = ListOf(layout)
    spec = ContainerSpec("list", layout)
    value = builder.filled_one(name, spec, (column,), shape[0])
    builder.is_argument(name, buffer, value)
    builder.loaded.append(Loaded(name, buffer, spec.template, tuple(first), first))
    return value


def _load_rows(
    builder: Building, item: ItemType, column: str, shape: tuple[Expr, ...], first: dict[HeapKind, Expr]
) -> str:
    """The rows along the last axis of an array become lists: their numbers, in an array of the other axes."""
    emitter, heap = builder.emitter, builder.heap(item)
    outer, width = shape[:-1], shape[-1]
    rows = emitter.snapshot(arrays.count(outer), "rows")
    base, start = reserve(emitter, heap, rows, emitter.snapshot(Op("mul", (rows, width), INT), "total"))
    first[item] = base
    dims, at = emitter.domain(shape)
    source = Read(column, at, emitter.buffers[column].type)
    emitter.assign(dims, heap.cells.data[0], (Op("add", (start, _place(at, shape)), INT),), source)
    for target in heap.rows.data:
        dims, (row,) = emitter.domain((rows,))
        begin = Op("add", (start, Op("mul", (row, width), INT)), INT)
        value = begin if target == heap.rows.data[0] else width
        emitter.assign(dims, target, (Op("add", (base, row), INT),), value)
    numbers = emitter.allocate("numbers", INT, outer)
    dims, at = emitter.domain(outer)
    emitter.assign(dims, numbers.name, at, Op("add", (base, _place(at, outer)), INT))
    return numbers.name


def check_loaded(builder: Building) -> None:
    """Arguments whose lists may have been changed tell what they hold in the end: the build starts again."""
    written = written_by(builder, builder.emitter.blocks[0][builder.loaded_until :]) if builder.loaded else set()
    for given in builder.loaded:
        names: set[str] = set()
        for kind in given.kinds:
            heap = builder.heap(kind)
            names.update((*heap.cells.data, *heap.rows.data[:2]))
        if names & written and given.name not in builder.emitter.decisions.changing:
            revisions.changes(builder, given.name)


def _place(at: tuple[Expr, ...], shape: tuple[Expr, ...]) -> Expr:
    """Where an element lies in C order."""
    place: Expr = ZERO
    for index, extent in zip(at, shape):
        place = Op("add", (Op("mul", (place, extent), INT), index), INT)
    return place


class Given:
    """The columns of one argument that holds lists."""

    def __init__(self, builder: Building, name: str) -> None:
        self.builder, self.name = builder, name
        self.names: list[str] = []
        self.first: dict[HeapKind, Expr] = {}

    def _column(self, of: ScalarType, size: int | None) -> tuple[str, Expr]:
        emitter = self.builder.emitter
        title = emitter.fresh(f"{self.name}_{len(self.names)}")
        emitter.taken.discard(title)
        count = emitter.size_symbol(title, 0, size)
        declared = emitter.declare(title, of, (count,), Role.PARAM)
        assert declared.name == title  # the size is named after the buffer
        self.names.append(title)
        return title, count

    def declared(self, layout: ItemType, samples: list[Any] | None) -> _Part:
        """Parameters for the columns of an item, in order."""
        if isinstance(layout, tuple):
            return tuple(
                self.declared(part, None if samples is None else [sample[at] for sample in samples])
                for at, part in enumerate(layout)
            )
        if isinstance(layout, ListOf):
            assert layout.item is not None
            starts, count = self._column(I64, None if samples is None else len(samples) + 1)
            items = None if samples is None else [item for sample in samples for item in sample]
            inner = self.declared(layout.item, items)
            return _Lists(starts, ix.sub(count, ONE), layout.item, inner, self.count(inner))
        assert isinstance(layout, ScalarType)
        return self._column(layout, None if samples is None else len(samples))[0]

    def count(self, part: _Part) -> Expr:
        if isinstance(part, tuple):
            return self.count(part[0])
        return part.count if isinstance(part, _Lists) else self.builder.emitter.buffers[part].shape[0]

    def numbers(self, part: _Part) -> list[str]:
        """The columns of the numbers of an item; lists are put among the others of their kind."""
        if isinstance(part, tuple):
            return [name for inner in part for name in self.numbers(inner)]
        if isinstance(part, str):
            return [part]
        emitter, heap = self.builder.emitter, self.builder.heap(part.item)
        data = self.numbers(part.inner)
        base, start = reserve(emitter, heap, part.count, part.total)
        self._note_first(part.item, base)
        self._fill(heap.cells.data, data, start, part.total)
        self._fill_rows(heap.rows.data, part, base, start)
        return [self._numbered(base, part.count)]

    def _note_first(self, kind: HeapKind, base: Expr) -> None:
        if kind in self.first:
            raise self.builder.unsupported(None, f"two places of {self.name} that hold lists of one kind")
        self.first[kind] = base

    def _fill(self, targets: Sequence[str], data: Sequence[str], start: Expr, total: Expr) -> None:
        """The columns of all items are copied, one list after the other."""
        emitter = self.builder.emitter
        for target, column in zip(targets, data):
            dims, (at,) = emitter.domain((total,))
            number = Read(column, (at,), emitter.buffers[column].type)
            emitter.assign(dims, target, (Op("add", (start, at), INT),), number)

    def _fill_rows(self, targets: Sequence[str], part: _Lists, base: Expr, start: Expr) -> None:
        """Where each begins, and how many items it has and has room for."""
        emitter = self.builder.emitter

        def begin(at: Expr) -> Expr:
            return arith.cast(Read(part.starts, (at,), I64), INT)

        for place, target in enumerate(targets):
            dims, (at,) = emitter.domain((part.count,))
            value = Op("add", (start, begin(at)), INT)
            if place:
                value = Op("sub", (begin(ix.add(at, ONE)), begin(at)), INT)
            emitter.assign(dims, target, (Op("add", (base, at), INT),), value)

    def _numbered(self, base: Expr, count: Expr) -> str:
        emitter = self.builder.emitter
        numbers = emitter.allocate("numbers", INT, (count,))
        dims, (at,) = emitter.domain((count,))
        emitter.assign(dims, numbers.name, (at,), Op("add", (base, at), INT))
        return numbers.name
