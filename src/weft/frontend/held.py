"""Containers that a recursive function shares with its caller.  In: a list, deque, dict or set with memory of its own;
out: what kind of container it is, the buffers and scalars that it consists of, and, in the function, the same container
over parameters of role HELD: whatever becomes of these, also new memory, the caller has it after the call.  The memory
of all lists and objects that containers hold goes along with every call, so that one of them is passed and returned as
its number.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace

from weft.frontend.emit import Emitter
from weft.frontend.items import as_value, types_in
from weft.frontend.textpool import PoolMemory
from weft.frontend.values import (
    Array,
    ArrayOf,
    Dict,
    Growing,
    Heap,
    HeapKind,
    ItemType,
    ListOf,
    ObjectType,
    OptionOf,
    Records,
    Table,
    TextType,
    Value,
)
from weft.ir.expr import Read
from weft.ir.program import Buffer, Role
from weft.ir.types import BOOL, INT, ScalarType
from weft.records import dataclass

_NUMBERS = (ScalarType, ListOf, ArrayOf, ObjectType, TextType)


@dataclass(frozen=True)
class Held:
    """A kind of container: `like` is one of its kind, of which the memory is not compared."""

    item: ItemType | None
    key: ItemType | None  # of a dict
    is_deque: bool
    spare: bool  # it may change
    like: Array | Records | Dict

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Held) and self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash((self.is_deque, self.spare))

    def _identity(self) -> tuple[object, ...]:
        return self.item, self.key, self.is_deque, self.spare


@dataclass(frozen=True)
class Row:
    """One of the lists, arrays or objects of a kind that containers hold, by its number."""

    layout: ListOf | ArrayOf | ObjectType


@dataclass(frozen=True)
class PoolText:
    """A string of the pool that all functions share."""

    kind: str


@dataclass(frozen=True)
class Parts:
    """A tuple, by the kinds of its items."""

    items: tuple[object, ...]
    named: type | None = None


def memories(heap: Heap) -> list[tuple[str, Growing]]:
    """The memory of all lists of a kind, part by part."""
    parts = [(part.name, getattr(heap, part.name)) for part in fields(heap)]
    return [(name, memory) for name, memory in parts if isinstance(memory, Growing)]


def lent_names(memory: Growing) -> list[str]:
    """The buffers of a memory, the numbers that others depend on first."""
    scalars = [memory.length, memory.capacity, *([] if memory.head is None else [memory.head])]
    return [*scalars, *memory.data, *memory.spare]


def lent(emitter: Emitter, name: str, memory: Growing, table: Mapping[str, Buffer]) -> Growing:
    """The memory of a caller, of which `table` has the buffers, as parameters of the function that is being built."""

    def declare(title: str, like: str, extent: str | None = None) -> str:
        shape = () if extent is None else (Read(extent, (), INT),)
        return emitter.declare(f"{name}_{title}", table[like].type, shape, Role.HELD).name

    length, room = declare("length", memory.length), declare("room", memory.capacity)
    head = None if memory.head is None else declare("head", memory.head)
    data = tuple(declare("items", column, room) for column in memory.data)
    spare = tuple(declare("spare", column, room) for column in memory.spare)
    return replace(memory, length=length, capacity=room, head=head, data=data, spare=spare)


def held(value: Value) -> Held | None:
    """What kind of container a value is; None if it is none that can be shared."""
    memory = _memory(value)
    if memory is None or memory.row is not None or memory.shared is not None:
        return None
    if isinstance(value, Dict):
        parts = (value.key, value.item)
        made = Held(value.item, value.key, False, bool(memory.spare), value)
    else:
        assert isinstance(value, (Array, Records))
        item = value.item if isinstance(value, Records) else value.type
        parts, is_deque = (item, None), isinstance(value, Records) and value.is_deque
        made = Held(item, None, is_deque, bool(memory.spare), value)
    return made if all(part is None or _of_numbers(part) for part in parts) else None


def with_texts(layout: HeapKind | None) -> bool:
    """Whether there are strings in it, at any depth."""
    if isinstance(layout, (ListOf, OptionOf)):
        return with_texts(layout.item)
    return any(map(with_texts, layout)) if isinstance(layout, tuple) else isinstance(layout, TextType)


def lent_pool(emitter: Emitter, memory: PoolMemory, table: Mapping[str, Buffer]) -> PoolMemory:
    """The pool of strings of a caller as parameters of the function that is being built."""
    characters = lent(emitter, "text", memory.characters, table)
    keys = lent(emitter, "keys", memory.keys, table)
    places = emitter.declare("key_places", INT, (), Role.HELD).name
    index = emitter.declare("key_index", INT, (Read(places, (), INT),), Role.HELD).name
    return PoolMemory(characters, keys, places, index)


def pool_names(memory: PoolMemory) -> list[str]:
    """The buffers of a pool, the numbers that others depend on first."""
    return [*lent_names(memory.characters), *lent_names(memory.keys), memory.places, memory.index]


def _of_numbers(layout: ItemType) -> bool:
    """Whether items are numbers and strings, or those of lists and objects: their memory goes along with every call."""
    if isinstance(layout, OptionOf):
        return layout.item is not None and _of_numbers(layout.item)
    return all(map(_of_numbers, layout)) if isinstance(layout, tuple) else isinstance(layout, _NUMBERS)


def _memory(value: Value) -> Growing | None:
    if isinstance(value, Dict):
        return None if value.table is None else value.table.entries
    return value.growing if isinstance(value, (Array, Records)) else None


def names_in(value: Array | Records | Dict) -> list[str]:
    """The buffers that a container consists of, those of numbers that others depend on first."""
    memory = _memory(value)
    assert memory is not None
    scalars = [memory.length, memory.capacity, *([] if memory.head is None else [memory.head])]
    arrays = [*memory.data, *memory.spare]
    if isinstance(value, Dict):
        assert value.table is not None
        scalars += [value.table.places, value.table.live]
        arrays.append(value.table.index)
    return scalars + arrays


def parameter(emitter: Emitter, name: str, kind: Held) -> tuple[Value, tuple[str, ...]]:
    """A container of that kind whose memory is the caller's, and the names of the parameters."""
    like = kind.like
    memory = _memory(like)
    assert memory is not None

    def declare(title: str, of: ScalarType, extent: str | None = None) -> str:
        shape = () if extent is None else (Read(extent, (), INT),)
        return emitter.declare(f"{name}_{title}", of, shape, Role.HELD).name

    length, room = declare("length", INT), declare("room", INT)
    head = None if memory.head is None else declare("head", INT)
    places = live = ""
    types = types_in(kind.item) if kind.item is not None else []
    if isinstance(like, Dict):
        places, live = declare("places", INT), declare("live", INT)
        assert kind.key is not None
        types = [*types_in(kind.key), *types, BOOL]
    data = tuple(declare("items", of, room) for of in types)
    spare = tuple(declare("spare", of, room) for of in types) if kind.spare else ()
    made = Growing(data, spare, length, room, head, sparse=memory.sparse)
    if isinstance(like, Dict):
        assert like.table is not None
        table = Table(made, declare("index", INT, places), places, live, like.table.keys)
        value: Array | Records | Dict = replace(like, table=table)
    else:
        assert kind.item is not None
        found = as_value(made, kind.item, kind.is_deque)
        assert isinstance(found, (Array, Records))
        value = found
    parameters = tuple(names_in(value))
    emitter.params.extend(parameters)
    return value, parameters
