"""The order of a set: that of CPython's table of hashes.  In: a hash table (`weft.frontend.tables`) whose set is run
through somewhere, popped from, or returned after it has lost items; out: statements that keep beside it the places that
CPython gives to its items.

`slots[p]` is the entry at place p of CPython's table, or says that there is none, or none any more.  Keys are looked up
in the other table, so that here only emptiness counts, never equality.  How CPython hashes and looks for a place is not
promised to anybody: it is tried out on the interpreter at hand before it is relied upon (`weft.frontend.setmodel`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from weft.errors import Unsupported
from weft.frontend import arith, growing
from weft.frontend.emit import Emitter
from weft.frontend.setmodel import (
    FREE,
    GONE,
    HASH_OF_INFINITY,
    LARGE,
    LINEAR_PROBES,
    MODULUS,
    PERTURB_SHIFT,
    SMALLEST,
    TUPLE_LANE,
    TUPLE_LENGTH,
    TUPLE_START,
    TUPLE_TURN,
)
from weft.frontend.tables import GROWN, MADE_HERE, Hashed
from weft.frontend.values import Heap, ItemType, SlotTable, Table
from weft.frontend.writing import Variable, both, loop, pick, repeat, variable, when
from weft.ir import index as ix
from weft.ir.expr import ONE, ZERO, Const, Expr, Op, Read, integer
from weft.ir.program import Alloc
from weft.ir.types import BOOL, I64, INT, DType, ScalarType
from weft.records import dataclass

#: Every place that adds to such a set is written out, some hundred nodes: more would be slow to compile.
_MOST_SITES = 8
_U64 = ScalarType(DType.U64)
_ALL = 2**64 - 1
#: Fill of a set that stands in the order of an argument: which places its items have is not known.
AS_GIVEN = -1


def has_order(layout: ItemType | None) -> bool:
    """Whether hashes of such keys can be computed: strings have others in every process."""
    if isinstance(layout, tuple):
        return all(map(has_order, layout))
    if layout is None or not isinstance(layout, ScalarType):
        return False
    return (layout.dtype.is_integer and layout.dtype is not DType.U64) or layout.dtype in (DType.BOOL, DType.F64)


def table_of(emitter: Emitter, table: Table) -> Hashed:
    """The entries of a dict or set, with the order of those whose order is looked at."""
    return Hashed(emitter, table) if table.order is None else Ordered(emitter, table)


def _u64(value: int) -> Const:
    return Const(value, _U64)


def _op(name: str, left: Expr, right: Expr) -> Expr:
    return Op(name, (left, right), _U64)


@dataclass(frozen=True)
class Ordered(Hashed):
    """The entries of a set whose order is known."""

    @property
    def _order(self) -> SlotTable:
        assert self.table.order is not None
        return self.table.order

    @property
    def size(self) -> Variable:
        """How many places there are: a power of two."""
        return self.number(self._order.size)

    @property
    def fill(self) -> Variable:
        """How many places are not free: those of items, and those of items that are gone."""
        return self.number(self._order.fill)

    @property
    def finger(self) -> Variable:
        """Where pop() begins to look."""
        return self.number(self._order.finger)

    def _in_slots(self, place: Expr) -> Expr:
        """Where a place lies in memory."""
        if self._order.shared is None:
            return place
        return Op("add", (self.number(self._order.start).value, place), INT)

    def _slot(self, place: Expr) -> Expr:
        return Read(self._order.slots, (self._in_slots(place),), INT)

    def _set_slot(self, place: Expr, entry: Expr) -> None:
        self.emitter.assign((), self._order.slots, (self._in_slots(place),), entry)

    # --- places -----------------------------------------------------------------------------------------------------

    def _hash_of(self, key: Sequence[Expr]) -> Expr:
        return self._hash(self._order.layout, iter(key))

    def _hash(self, layout: ItemType, numbers: Iterator[Expr]) -> Expr:
        keep = self.emitter.snapshot
        if not isinstance(layout, tuple):
            return self._hash_number(next(numbers))
        mixed: Expr = _u64(TUPLE_START)
        for part in layout:
            lane = _op("mul", self._hash(part, numbers), _u64(TUPLE_LANE))
            mixed = keep(_op("add", mixed, lane), "mixed")
            turned = _op("bitor", _op("shl", mixed, _u64(31)), _op("shr", mixed, _u64(33)))
            mixed = keep(_op("mul", turned, _u64(TUPLE_TURN)), "mixed")
        mixed = keep(_op("add", mixed, _u64(len(layout) ^ TUPLE_START ^ TUPLE_LENGTH)), "mixed")
        return keep(pick(Op("eq", (mixed, _u64(_ALL)), BOOL), _u64(1546275796), mixed), "hash")

    def _hash_float(self, number: Expr) -> Expr:
        """The mantissa times a power of two, modulo the prime: 61 bits, turned around."""
        keep, of = self.emitter.snapshot, number.type
        finite = Op("isfinite", (number,), ScalarType(DType.BOOL, of.weak))
        mantissa = Op("mul", (Op("abs", (Op("mantissa", (number,), of),), of), Const(float(1 << 56), of)), of)
        whole = keep(arith.cast(arith.cast(pick(finite, mantissa, Const(0.0, of)), I64), _U64), "mantissa")
        exponent = arith.cast(Op("exponent", (number,), of), I64)
        # 61 * 20 is more than the least exponent is below 0.
        power = Op("mod", (Op("add", (exponent, Const(61 * 20 - 56, I64)), I64), Const(61, I64)), I64)
        by = keep(arith.cast(power, _U64), "power")
        turned = _op("bitor", _op("shl", whole, by), _op("shr", whole, _op("sub", _u64(61), by)))
        size = keep(pick(finite, _op("bitand", turned, _u64(MODULUS)), _u64(HASH_OF_INFINITY)), "hash")
        negative = Op("lt", (number, Const(0.0, of)), ScalarType(DType.BOOL, of.weak))
        found = keep(pick(negative, _op("sub", _u64(0), size), size), "hash")
        return keep(pick(Op("eq", (found, _u64(_ALL)), BOOL), _u64(_ALL - 1), found), "hash")

    def _hash_number(self, number: Expr) -> Expr:
        if number.type.dtype.is_inexact:
            return self._hash_float(number)
        keep = self.emitter.snapshot
        whole = keep(arith.cast(number, I64), "number")
        negative = Op("lt", (whole, Const(0, I64)), BOOL)
        bits = keep(arith.cast(whole, _U64), "bits")
        size = keep(pick(negative, _op("sub", _u64(0), bits), bits), "magnitude")
        rest = keep(_op("add", _op("bitand", size, _u64(MODULUS)), _op("shr", size, _u64(61))), "rest")
        rest = keep(pick(Op("ge", (rest, _u64(MODULUS)), BOOL), _op("sub", rest, _u64(MODULUS)), rest), "rest")
        found = keep(pick(negative, _op("sub", _u64(0), rest), rest), "hash")
        return keep(pick(Op("eq", (found, _u64(_ALL)), BOOL), _u64(_ALL - 1), found), "hash")

    def _walk(self, start: Expr, ends: Callable[[Expr], Expr], visit: Callable[[Expr], None] | None = None) -> Variable:
        """The first place at which `ends` holds of what is there, on the way that CPython goes from a hash.

        Some neighbours are looked at before the way leads elsewhere, where that many are left.
        """
        emitter = self.emitter
        mask = emitter.snapshot(arith.cast(Op("sub", (self.size.value, ONE), INT), _U64), "mask")
        perturb = variable(emitter, "perturb", start)
        first = variable(emitter, "first", _op("bitand", start, mask))
        place = variable(emitter, "place", arith.cast(arith.cast(first.value, I64), INT))

        def neighbours() -> Expr:
            many = Op("le", (_op("add", first.value, _u64(LINEAR_PROBES)), mask), BOOL)
            return pick(many, integer(LINEAR_PROBES), ZERO)

        left = variable(emitter, "left", neighbours())
        with repeat(emitter, Op("not", (ends(self._slot(place.value)),), BOOL)):
            if visit is not None:
                visit(place.value)
            near = emitter.snapshot(Op("gt", (left.value, ZERO), BOOL), "near")
            with when(emitter, near):
                left.advance(-1)
                place.advance()
            with when(emitter, Op("not", (near,), BOOL)):
                perturb.set(_op("shr", perturb.value, _u64(PERTURB_SHIFT)))
                far = _op("add", _op("mul", first.value, _u64(5)), _op("add", _u64(1), perturb.value))
                first.set(_op("bitand", far, mask))
                place.set(arith.cast(arith.cast(first.value, I64), INT))
                left.set(neighbours())
        return place

    def in_order(self) -> tuple[str, Expr]:
        """The numbers of all entries as CPython runs through them: a buffer, and how many there are."""
        emitter = self.emitter
        count = emitter.snapshot(Op("add", (self.live.value, ZERO), INT), "count")
        order = emitter.allocate("order", INT, (count,)).name
        at = variable(emitter, "at", ZERO)
        size = emitter.snapshot(Op("add", (self.size.value, ZERO), INT), "size")
        with loop(emitter, ZERO, size) as place:
            entry = emitter.snapshot(self._slot(place), "entry")
            with when(emitter, Op("ge", (entry, ZERO), BOOL)):
                emitter.assign((), order, (at.value,), entry)
                at.advance()
        if self.table.past:
            # There are no places: the entries themselves stand in order, until one is added.
            keeps_entry_order(self)
            given = emitter.snapshot(Op("not", (self._made_here(),), BOOL), "given")
            many = emitter.snapshot(pick(given, self.entries.length.value, ZERO), "many")
            with loop(emitter, ZERO, many) as entry, when(emitter, self._there(entry)):
                emitter.assign((), order, (at.value,), entry)
                at.advance()
        return order, count

    def _made_here(self) -> Expr:
        """Whether there are places: not of a set in an argument."""
        return Op("eq", (self.number(self.table.past).value, integer(MADE_HERE)), BOOL)

    # --- items ------------------------------------------------------------------------------------------------------

    def insert(self, key: Sequence[Expr], value: Sequence[Expr], place: Variable | None = None) -> None:
        self._append(key, place)
        if not self.table.past:
            self._give_place(key)
            return
        with when(self.emitter, self._made_here()):
            self._give_place(key)

    def _append(self, key: Sequence[Expr], place: Variable | None = None) -> None:
        Hashed.insert(self, key, (), place)

    def _last(self) -> Expr:
        return Op("sub", (self.entries.length.value, ONE), INT)

    def _give_place(self, key: Sequence[Expr]) -> None:
        """A place for the entry that has just been added: the last of those on the way whose item is gone, or free."""
        emitter = self.emitter
        emitter.order_sites += 1
        if emitter.order_sites > _MOST_SITES:
            reason = f"more than {_MOST_SITES} places that add to sets whose order matters"
            raise Unsupported(emitter.span, reason, "sort what the loops run over, or split the function")
        again = variable(emitter, "again", integer(FREE))

        def visit(place: Expr) -> None:
            with when(emitter, Op("eq", (self._slot(place), integer(GONE)), BOOL)):
                again.set(place)

        place = self._walk(self._hash_of(key), lambda slot: Op("eq", (slot, integer(FREE)), BOOL), visit)
        reused = emitter.snapshot(Op("ge", (again.value, ZERO), BOOL), "reused")
        self._set_slot(pick(reused, again.value, place.value), self._last())
        with when(emitter, Op("not", (reused,), BOOL)):
            self.fill.advance()
            self._grow(self.fill.value, self._grown)

    def _grown(self) -> Expr:
        large = Op("gt", (self.live.value, integer(LARGE)), BOOL)
        return Op("mul", (self.live.value, pick(large, integer(2), integer(4))), INT)

    def _grow(self, wanted: Expr, minimum: Callable[[], Expr]) -> None:
        """A larger table if so many places that are not free are too many."""
        mask = Op("sub", (self.size.value, ONE), INT)
        full = Op("ge", (ix.mul(integer(5), wanted), ix.mul(integer(3), mask)), BOOL)
        with when(self.emitter, full):
            self.resize(minimum())

    def resize(self, minimum: Expr) -> None:
        """A table of more places than `minimum`, into which the items go in their order."""
        emitter = self.emitter
        minimum = emitter.snapshot(minimum, "minimum")
        order, count = self.in_order()
        self.size.set(integer(SMALLEST))
        with repeat(emitter, Op("le", (self.size.value, minimum), BOOL)):
            self.size.set(ix.mul(integer(2), self.size.value))
        self._empty()
        with loop(emitter, ZERO, count) as at:
            entry = emitter.snapshot(Read(order, (at,), INT), "entry")
            start = self._hash_of([emitter.snapshot(number, "key") for number in self._key_at(entry)])
            place = self._walk(start, lambda slot: Op("eq", (slot, integer(FREE)), BOOL))
            self._set_slot(place.value, entry)
        self.fill.set(self.live.value)

    def _empty(self) -> None:
        """New places, as many as `size` tells, all free."""
        emitter = self.emitter
        size = emitter.snapshot(Op("add", (self.size.value, ZERO), INT), "size")
        if self._order.shared is not None:
            start, room = self.number(self._order.start), self.number(self._order.room)
            with when(emitter, Op("gt", (size, room.value), BOOL)):
                start.set(growing.taken_behind(emitter, self._order.shared, size))
                room.set(size)
            with loop(emitter, ZERO, size) as place:
                self._set_slot(place, integer(FREE))
            return
        emitter.emit(Alloc(self._order.slots, False, emitter.span))
        dims, at = emitter.domain((size,))
        emitter.assign(dims, self._order.slots, at, integer(FREE))

    def remove(self, entry: Expr) -> None:
        if self.table.past:
            with when(self.emitter, self._made_here()):
                self._leave_place(entry)
        else:
            self._leave_place(entry)
        Hashed.remove(self, entry)

    def _leave_place(self, entry: Expr) -> None:
        key = [self.emitter.snapshot(number, "key") for number in self._key_at(entry)]
        place = self._walk(self._hash_of(key), lambda slot: Op("eq", (slot, entry), BOOL))
        self._set_slot(place.value, integer(GONE))

    def pop(self) -> tuple[Expr, ...]:
        """The first item from the finger on, taken away; there is one."""
        emitter = self.emitter
        self.need_own_places()
        mask = emitter.snapshot(Op("sub", (self.size.value, ONE), INT), "mask")
        place = variable(emitter, "place", Op("bitand", (self.finger.value, mask), INT))
        with repeat(emitter, Op("lt", (self._slot(place.value), ZERO), BOOL)):
            place.set(Op("bitand", (Op("add", (place.value, ONE), INT), mask), INT))
        entry = emitter.snapshot(self._slot(place.value), "entry")
        key = tuple(emitter.snapshot(number, "item") for number in self._key_at(entry))
        self._set_slot(place.value, integer(GONE))
        self.finger.set(Op("add", (place.value, ONE), INT))
        Hashed.remove(self, entry)
        return key

    def clear(self) -> None:
        self.need_own_places()
        Hashed.clear(self)
        self.size.set(integer(SMALLEST))
        self.fill.set(ZERO)
        self._empty()

    def tidy(self) -> None:
        """Entries move up: their places lead to where they are then."""
        emitter, entries = self.emitter, self.entries
        moved = emitter.allocate("moved", INT, (entries.last(),)).name
        to = variable(emitter, "to", ZERO)
        with loop(emitter, ZERO, entries.last()) as entry:
            emitter.assign((), moved, (entry,), to.value)
            with when(emitter, self._there(entry)):
                to.advance()
        size = emitter.snapshot(Op("add", (self.size.value, ZERO), INT), "size")
        with loop(emitter, ZERO, size) as place:
            held = emitter.snapshot(self._slot(place), "entry")
            with when(emitter, Op("ge", (held, ZERO), BOOL)):
                self._set_slot(place, Read(moved, (held,), INT))
        Hashed.tidy(self)

    # --- whole sets -------------------------------------------------------------------------------------------------

    def expect(self, more: Expr) -> None:
        """Room for so many items at once, before those of another set or dict are put in."""
        self.need_own_places()
        more = self.emitter.snapshot(more, "more")
        with when(self.emitter, Op("gt", (more, ZERO), BOOL)):
            wanted = Op("add", (self.fill.value, more), INT)
            self._grow(wanted, lambda: ix.mul(integer(2), Op("add", (self.live.value, more), INT)))

    def merge(self, other: Ordered) -> None:
        """The items of another set are put in: an empty set of the same size becomes a copy of it, place by place."""
        emitter = self.emitter
        other.need_places()
        self.expect(other.live.value)
        same = emitter.snapshot(
            both(
                Op("eq", (self.fill.value, ZERO), BOOL),
                Op("eq", (self.size.value, other.size.value), BOOL),
                Op("eq", (other.fill.value, other.live.value), BOOL),
            ),
            "same",
        )
        size = emitter.snapshot(Op("add", (other.size.value, ZERO), INT), "size")
        with loop(emitter, ZERO, size) as place:
            entry = emitter.snapshot(other._slot(place), "entry")
            with when(emitter, Op("ge", (entry, ZERO), BOOL)):
                key = [emitter.snapshot(number, "key") for number in other._key_at(entry)]
                _, found = self.search(key)
                with when(emitter, Op("lt", (found.value, ZERO), BOOL)):
                    self._append(key)
                    with when(emitter, same):
                        self._set_slot(place, self._last())
                        self.fill.advance()
                    with when(emitter, Op("not", (same,), BOOL)):
                        self._give_place(key)

    def forget_gone(self) -> None:
        """Places of items that are gone become free if they are more than a quarter: after a difference in place."""
        self.need_own_places()
        gone = Op("sub", (self.fill.value, self.live.value), INT)
        quarter = Op("shr", (Op("sub", (self.size.value, ONE), INT), integer(2)), INT)
        with when(self.emitter, Op("gt", (gone, quarter), BOOL)):
            self.resize(self._grown())

    def need_places(self) -> None:
        """Where only the order of the items is known, Python goes on."""
        known = Op("ge", (self.fill.value, ZERO), BOOL)
        self.emitter.hand_back(known, "a copy of a set that is an argument")

    def need_own_places(self) -> None:
        """What a set in an argument does with its places is left to Python."""
        if self.table.past:
            self.emitter.hand_back(self._made_here(), "a set in an argument that changes as a whole")

    def without_places(self) -> None:
        """A set in an argument: the entries themselves stand in order."""
        for name in (self._order.size, self._order.finger, self._order.start, self._order.room):
            self.number(name).set(ZERO)
        self.fill.set(integer(AS_GIVEN))

    def as_given(self) -> None:
        """The entries stand in the order in which they are run through."""
        count = self.entries.last()
        self.size.set(Op("maximum", (count, ONE), INT))
        self._empty()
        with loop(self.emitter, ZERO, count) as entry:
            self._set_slot(entry, entry)
        self.fill.set(integer(AS_GIVEN))

    def take_over(self, other: Ordered, finger: bool) -> None:
        """The places of another set, whose entries this one has taken over."""
        emitter = self.emitter
        self.size.set(other.size.value)
        self._empty()
        size = emitter.snapshot(Op("add", (self.size.value, ZERO), INT), "size")
        with loop(emitter, ZERO, size) as place:
            self._set_slot(place, other._slot(place))
        self.fill.set(other.fill.value)
        if finger:
            self.finger.set(other.finger.value)


def with_order(emitter: Emitter, table: Table, layout: ItemType) -> Table:
    """A table, empty so far, that keeps its order."""
    size = variable(emitter, "set_size", integer(SMALLEST))
    fill, finger = variable(emitter, "set_fill", ZERO), variable(emitter, "set_finger", ZERO)
    slots = emitter.declare("set_slots", INT, (size.value,))
    order = SlotTable(slots.name, size.name, fill.name, finger.name, layout)
    made = Table(table.entries, table.index, table.places, table.live, table.keys, order)
    Ordered(emitter, made)._empty()
    return made


def keeps_entry_order(hashed: Hashed) -> None:
    """The entries of a set in an argument stand in its order; Python goes on if one has been added since."""
    past = hashed.number(hashed.table.past).value
    hashed.emitter.hand_back(Op("ne", (past, integer(GROWN)), BOOL), "a set in an argument that has got an item")


#: What a row tells of the order of a set: how many places there are, how many are not free, where pop() goes on, where
#: they begin, and for how many there is room.
ORDER_COLUMNS = 5


def in_rows(table: Table, memory: Heap, columns: Sequence[str], layout: ItemType) -> Table:
    """A set in a container, with its order."""
    size, fill, finger, start, room = columns
    assert memory.slots is not None
    order = SlotTable(memory.slots.data[0], size, fill, finger, layout, start, room, memory.slots)
    return replace(table, order=order)


def start_row(emitter: Emitter, table: Table) -> None:
    """A new set in a container, without items, gets its places."""
    hashed = Ordered(emitter, table)
    hashed.size.set(integer(SMALLEST))
    hashed._empty()


def replays(emitter: Emitter, table: Table, fresh: Table) -> None:
    """Python goes on unless a set made by adding the items one after the other stands in the same order.

    That is how a set is made for the caller: `fresh`, which is empty so far, is made in the same way.
    """
    mine, other = Ordered(emitter, table), Ordered(emitter, fresh)
    mine.need_places()
    mine.compact()
    with loop(emitter, ZERO, mine.entries.last()) as entry:
        other.insert([emitter.snapshot(number, "key") for number in mine._key_at(entry)], ())
    order, count = mine.in_order()
    again, _ = other.in_order()
    same = variable(emitter, "same", Op("eq", (mine.size.value, other.size.value), BOOL))
    with loop(emitter, ZERO, count) as at:
        same.set(both(same.value, Op("eq", (Read(order, (at,), INT), Read(again, (at,), INT)), BOOL)))
    emitter.hand_back(same.value, "a set that only its past puts in order")


