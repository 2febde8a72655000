"""Memory that grows: what a list or a deque is made of.  In: items as tuples of expressions, one for each buffer; out:
the statements that put them into the buffers, move everything into larger ones when those are full, and take items out.

Item k lies at `head + k` of every buffer (a list has no head: it begins at 0), and k runs to `length`.
"""

from __future__ import annotations

from collections.abc import Sequence

from weft.frontend.emit import Emitter
from weft.frontend.values import Growing
from weft.frontend.writing import Variable, loop, variable, when
from weft.ir import index as ix
from weft.ir.expr import ONE, ZERO, Expr, Op, Read, integer
from weft.ir.program import Alloc, Rebind
from weft.ir.types import BOOL, INT, ScalarType
from weft.records import dataclass

_FIRST_ROOM = 16
#: Room of a list among others when it gets its first item.
_ROW_ROOM = 4
#: Room for items that a list with some in it may get.
EXTRA_ROOM = 16


@dataclass(frozen=True)
class Cells:
    """The items of one list or deque."""

    emitter: Emitter
    growing: Growing

    @property
    def length(self) -> Variable:
        return self._variable(self.growing.length)

    @property
    def room(self) -> Variable:
        return self._variable(self.growing.capacity)

    @property
    def head(self) -> Variable | None:
        return None if self.growing.head is None else self._variable(self.growing.head)

    def _variable(self, name: str) -> Variable:
        return Variable(self.emitter, name, INT, () if self.growing.row is None else (self.growing.row,))

    def place(self, position: Expr) -> Expr:
        """Where the item at a position lies."""
        head = self.head
        return position if head is None else Op("add", (head.value, position), INT)

    def read(self, position: Expr) -> tuple[Expr, ...]:
        at = self.place(position)
        return tuple(Read(name, (at,), self.emitter.buffers[name].type) for name in self.growing.data)

    def write(self, position: Expr, item: Sequence[Expr]) -> None:
        at = self.place(position)
        for name, value in zip(self.growing.data, item):
            self.emitter.assign((), name, (at,), value)

    def taken(self, position: Expr) -> tuple[Expr, ...]:
        """The item, kept from later changes."""
        return tuple(self.emitter.snapshot(value, "item") for value in self.read(position))

    def last(self) -> Expr:
        """The length as it is now."""
        return self.emitter.snapshot(Op("add", (self.length.value, ZERO), INT), "length")

    # --- at the ends ------------------------------------------------------------------------------------------------

    def push(self, item: Sequence[Expr]) -> None:
        """After the last item."""
        length, room = self.length, self.room
        if self.growing.shared is not None:
            with when(self.emitter, Op("eq", (length.value, room.value), BOOL)):
                self._make_shared_room(Cells(self.emitter, self.growing.shared))
        else:
            with when(self.emitter, Op("eq", (self.place(length.value), room.value), BOOL)):
                room.set(ix.mul(integer(2), room.value))
                self._move(ZERO)
        self.write(length.value, item)
        length.set(Op("add", (length.value, ONE), INT))

    def _make_shared_room(self, memory: Cells) -> None:
        """Room for as many items again, behind all other lists of the shared memory; the last one stays in place."""
        emitter, head = self.emitter, self.head
        assert head is not None
        count = self.last()
        wanted = emitter.snapshot(Op("maximum", (ix.mul(integer(2), count), integer(_ROW_ROOM)), INT), "wanted")
        end = emitter.snapshot(Op("add", (head.value, self.room.value), INT), "end")
        is_last = emitter.snapshot(Op("eq", (end, memory.length.value), BOOL), "is_last")
        start = emitter.snapshot(Op("select", (is_last, head.value, memory.length.value), INT), "start")
        memory.make_room(ix.add(start, wanted))
        with when(emitter, Op("not", (is_last,), BOOL)), loop(emitter, ZERO, count) as item:
            for name in self.growing.data:
                value = Read(name, (ix.add(head.value, item),), emitter.buffers[name].type)
                emitter.assign((), name, (ix.add(start, item),), value)
        head.set(start)
        self.room.set(wanted)
        memory.length.set(Op("add", (start, wanted), INT))

    def make_room(self, wanted: Expr) -> None:
        """Room for so many items."""
        room = self.room
        with when(self.emitter, Op("gt", (wanted, room.value), BOOL)):
            room.set(Op("maximum", (ix.mul(integer(2), room.value), wanted), INT))
            self._move(ZERO)

    def start_again(self, wanted: Expr) -> None:
        """New memory with room for so many items, whether there was any before or not; what it held is gone."""
        self.room.set(Op("maximum", (wanted, integer(_FIRST_ROOM)), INT))
        for name in (*self.growing.data, *self.growing.spare):
            self.emitter.emit(Alloc(name, self.growing.sparse, self.emitter.span))

    def push_front(self, item: Sequence[Expr]) -> None:
        """Before the first item of a deque."""
        head, length, room = self.head, self.length, self.room
        assert head is not None
        with when(self.emitter, Op("eq", (head.value, ZERO), BOOL)):
            before = self.emitter.snapshot(Op("add", (room.value, ZERO), INT), "before")
            room.set(ix.mul(integer(2), room.value))
            self._move(before)
        head.set(Op("sub", (head.value, ONE), INT))
        self.write(ZERO, item)
        length.set(Op("add", (length.value, ONE), INT))

    def _move(self, start: Expr) -> None:
        """Everything into new buffers of the size that `room` now tells, the first item at `start`."""
        emitter = self.emitter
        count = self.last()
        for data, spare in zip(self.growing.data, self.growing.spare):
            emitter.emit(Alloc(spare, self.growing.sparse, emitter.span))
            dims, at = emitter.domain((count,))
            value = Read(data, (self.place(at[0]),), emitter.buffers[data].type)
            emitter.assign(dims, spare, (ix.add(start, at[0]),), value)
        for data, spare in zip(self.growing.data, self.growing.spare):
            emitter.emit(Rebind((data, spare), (spare, data), emitter.span))
        head = self.head
        if head is not None:
            head.set(start)

    def pop(self) -> tuple[Expr, ...]:
        """The last item, taken away."""
        self.length.set(Op("sub", (self.length.value, ONE), INT))
        return self.taken(self.length.value)

    def pop_front(self) -> tuple[Expr, ...]:
        """The first item of a deque, taken away."""
        head = self.head
        assert head is not None
        item = self.taken(ZERO)
        self.length.set(Op("sub", (self.length.value, ONE), INT))
        head.set(Op("add", (head.value, ONE), INT))
        return item

    def keep_within(self, limit: Expr, at_front: bool) -> None:
        """A deque that has got more items than it may have loses those at its other end."""
        extra = self.emitter.snapshot(Op("maximum", (Op("sub", (self.length.value, limit), INT), ZERO), INT), "extra")
        self.length.set(Op("sub", (self.length.value, extra), INT))
        head = self.head
        if not at_front and head is not None:
            head.set(Op("add", (head.value, extra), INT))

    def clear(self) -> None:
        self.length.set(ZERO)
        head = self.head
        if head is not None and self.growing.shared is None:  # a list among others keeps its place
            head.set(ZERO)

    # --- in between -------------------------------------------------------------------------------------------------

    def close_gap(self, position: Expr) -> None:
        """Take away the item at a position: those after it move up."""
        self.length.set(Op("sub", (self.length.value, ONE), INT))
        with loop(self.emitter, position, self.last()) as to:
            self.write(to, self.read(ix.add(to, ONE)))

    def insert(self, position: Expr, item: Sequence[Expr]) -> None:
        """Before the item at a position: those from there on move down."""
        self.push(item)
        end = self.emitter.snapshot(Op("sub", (self.length.value, ONE), INT), "end")
        moved = self.emitter.snapshot(Op("sub", (end, position), INT), "moved")
        with loop(self.emitter, ZERO, moved) as step:
            to = ix.sub(end, step)
            self.write(to, self.read(ix.sub(to, ONE)))
        self.write(position, item)


def taken_behind(emitter: Emitter, memory: Growing, count: Expr) -> Expr:
    """Where so many cells begin that are taken behind all others of some memory, for the caller to write."""
    cells = Cells(emitter, memory)
    count = emitter.snapshot(Op("add", (count, ZERO), INT), "count")
    start = cells.last()
    cells.make_room(ix.add(start, count))
    cells.length.set(Op("add", (start, count), INT))
    return start


def make(
    emitter: Emitter,
    name: str,
    types: Sequence[ScalarType],
    room: Expr | None = None,
    is_deque: bool = False,
    sparse: bool = False,
) -> Growing:
    """An empty list or deque."""
    length = variable(emitter, f"{name}_length", ZERO)
    capacity = variable(emitter, f"{name}_room", room if room is not None else integer(_FIRST_ROOM))
    head = variable(emitter, f"{name}_head", ZERO).name if is_deque else None
    data: list[str] = []
    spare: list[str] = []
    for of in types:
        for names, title in ((data, name), (spare, f"{name}_spare")):
            buffer = emitter.declare(title, of, (capacity.value,))
            emitter.emit(Alloc(buffer.name, sparse, emitter.span))
            names.append(buffer.name)
    return Growing(tuple(data), tuple(spare), length.name, capacity.name, head, sparse=sparse)
