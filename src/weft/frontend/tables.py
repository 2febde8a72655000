"""Hash tables: what a dict or a set is made of.  In: keys and values as numbers; out: statements that look them up, put
them in and take them out.

The entries stand in memory that grows, in the order of their insertion, as in CPython: the numbers of the key, those of
the value, and whether the entry is still there.  `index` leads from the hash of a key to its entry: a power of two of
places, -1 where none leads anywhere, searched one after the other.

    find(k):  p = hash(k) & mask; while index[p] >= 0 and entry[index[p]] is not k: p = (p + 1) & mask
"""

from __future__ import annotations

from collections.abc import Sequence

from weft.frontend import arith, growing
from weft.frontend.emit import Emitter
from weft.frontend.growing import Cells
from weft.frontend.values import Growing, Table
from weft.frontend.writing import Variable, both, loop, pick, repeat, small, variable, when
from weft.ir import index as ix
from weft.ir import walk
from weft.ir.expr import ONE, ZERO, Const, Expr, Op, Read, integer
from weft.ir.program import Alloc, Node
from weft.ir.types import BOOL, I64, INT, DType, ScalarType
from weft.records import dataclass

_PLACES = 32
_U64 = ScalarType(DType.U64)
#: 2**64 over the golden ratio: multiples of it spread over all 64 bits.
_SPREAD = 0x9E3779B97F4A7C15


@dataclass(frozen=True)
class _Searched:
    """Where a key was found: after so many nodes of a block, as long as none of the buffers changes."""

    block: list[Node]
    since: int
    names: frozenset[str]
    place: Variable
    entry: Variable


@dataclass(frozen=True)
class Hashed:
    """The entries of one dict or set."""

    emitter: Emitter
    table: Table

    @property
    def entries(self) -> Cells:
        return Cells(self.emitter, self.table.entries)

    @property
    def live(self) -> Variable:
        """How many entries are there."""
        return Variable(self.emitter, self.table.live, INT, ())

    @property
    def places(self) -> Variable:
        return Variable(self.emitter, self.table.places, INT, ())

    def _led_to(self, place: Expr) -> Expr:
        return Read(self.table.index, (place,), INT)

    def _lead(self, place: Expr, entry: Expr) -> None:
        self.emitter.assign((), self.table.index, (place,), entry)

    def _key_at(self, entry: Expr) -> tuple[Expr, ...]:
        return self.entries.read(entry)[: self.table.keys]

    def _seen(self, key: Sequence[Expr]) -> list[Expr]:
        """The numbers of a key by which it is found."""
        return [number for place, number in enumerate(key) if place not in self.table.unseen]

    def value_at(self, entry: Expr) -> tuple[Expr, ...]:
        return self.entries.read(entry)[self.table.keys : -1]

    def _there(self, entry: Expr) -> Expr:
        return self.entries.read(entry)[-1]

    def _first_place(self, key: Sequence[Expr]) -> Expr:
        """Where the search for a key begins."""
        mixed: Expr = Const(0, _U64)
        for number in [whole for seen in self._seen(key) for whole in _whole(seen)]:
            mixed = Op("bitxor", (mixed, arith.cast(arith.cast(number, I64), _U64)), _U64)
            mixed = Op("mul", (mixed, Const(_SPREAD, _U64)), _U64)
            mixed = Op("bitxor", (mixed, Op("shr", (mixed, Const(29, _U64)), _U64)), _U64)
        return self._within(arith.cast(arith.cast(mixed, I64), INT))

    def _within(self, place: Expr) -> Expr:
        return small("bitand", place, small("sub", self.places.value, ONE))

    def search(self, key: Sequence[Expr]) -> tuple[Variable, Variable]:
        """The place that leads to a key's entry, or the first free one; and the entry, -1 if there is none.

        What was looked for on the way here, as in `if k in d: d[k] += 1`, is not looked for again.
        """
        emitter, what = self.emitter, (self.table.index, tuple(self._seen(key)))
        known = emitter.searches.get(what)
        if isinstance(known, _Searched) and emitter.unchanged(known.block, known.since, known.names):
            # Variables of their own: whoever looked first may still ask what it found.
            return variable(emitter, "place", known.place.value), variable(emitter, "entry", known.entry.value)
        place, entry = self._searched(key)
        names = frozenset({place.name, entry.name, *self._searched_in(key)})
        emitter.searches[what] = _Searched(emitter.blocks[-1], len(emitter.blocks[-1]), names, place, entry)
        return place, entry

    def _searched_in(self, key: Sequence[Expr]) -> set[str]:
        """Everything that tells where a key is found."""
        table, entries = self.table, self.table.entries
        names = {table.index, table.places, entries.head, *entries.data[: table.keys], entries.data[-1]}
        return {name for name in names if name} | {name for expr in key for name in walk.expr_buffers(expr)}

    def _searched(self, key: Sequence[Expr]) -> tuple[Variable, Variable]:
        emitter = self.emitter
        place = variable(emitter, "place", self._first_place(key))
        entry = variable(emitter, "entry", self._led_to(place.value))
        # Entries are read also when there is none: at 0, since a comparison reads both of its sides.
        at = Op("maximum", (entry.value, ZERO), INT)
        pairs = zip(self._seen(self._key_at(at)), self._seen(key))
        same = both(self._there(at), *(Op("eq", (mine, other), BOOL) for mine, other in pairs))
        going = both(Op("ge", (entry.value, ZERO), BOOL), Op("not", (same,), BOOL))
        with repeat(emitter, going, brief=True):
            place.set(self._within(small("add", place.value, ONE)))
            entry.set(self._led_to(place.value))
        return place, entry

    def put(self, key: Sequence[Expr], value: Sequence[Expr]) -> None:
        """table[key] = value"""
        emitter = self.emitter
        place, entry = self.search(key)
        with when(emitter, Op("ge", (entry.value, ZERO), BOOL)):
            self._set_value(entry.value, value)
        with when(emitter, Op("lt", (entry.value, ZERO), BOOL)):
            self.insert(key, value, place)

    def _set_value(self, entry: Expr, value: Sequence[Expr]) -> None:
        at = self.entries.place(entry)
        for name, number in zip(self.table.entries.data[self.table.keys :], value):
            self.emitter.assign((), name, (at,), number)

    def insert(self, key: Sequence[Expr], value: Sequence[Expr], place: Variable | None = None) -> None:
        """A new entry for a key that is not there; `place`: where the search for it ended, if nothing came between."""
        emitter = self.emitter
        entries, places = self.entries, self.places
        if place is None:
            place, _ = self.search(key)
        threefold = small("mul", integer(3), entries.length.value)
        with when(emitter, Op("ge", (threefold, small("mul", integer(2), places.value)), BOOL)):
            self.tidy()
            crowded = Op("gt", (ix.mul(integer(3), entries.length.value), places.value), BOOL)
            with when(emitter, crowded):
                places.set(ix.mul(integer(4), places.value))
            self._rebuild()
            place.set(self.search(key)[0].value)
        self._lead(place.value, entries.length.value)
        entries.push((*key, *value, Const(True, BOOL)))
        self.live.set(Op("add", (self.live.value, ONE), INT))

    def remove(self, entry: Expr) -> None:
        """The entry stays where it is, marked: searches for other keys go past it."""
        at = self.entries.place(entry)
        self.emitter.assign((), self.table.entries.data[-1], (at,), Const(False, BOOL))
        self.live.set(Op("sub", (self.live.value, ONE), INT))

    def compact(self) -> None:
        """Afterwards there are no marked entries, and entry k is the k-th in the order of insertion."""
        if not self.table.entries.spare:
            return  # nothing is ever taken out
        gone = Op("ne", (self.live.value, self.entries.length.value), BOOL)
        with when(self.emitter, gone):
            self.tidy()
            if self.table.index:
                self._rebuild()

    def tidy(self) -> None:
        """Entries that are there move up over those that are not."""
        emitter, entries = self.emitter, self.entries
        kept = variable(emitter, "kept", ZERO)
        with loop(emitter, ZERO, entries.last()) as entry, when(emitter, self._there(entry)):
            entries.write(kept.value, entries.read(entry))
            kept.set(Op("add", (kept.value, ONE), INT))
        entries.length.set(kept.value)

    def _rebuild(self) -> None:
        """A new index over the entries, all of which are there."""
        emitter, entries = self.emitter, self.entries
        emitter.emit(Alloc(self.table.index, False, emitter.span))
        self._free_places()
        with loop(emitter, ZERO, entries.last()) as entry:
            place = variable(emitter, "place", self._first_place(self._key_at(entry)))
            with repeat(emitter, Op("ge", (self._led_to(place.value), ZERO), BOOL), brief=True):
                place.set(self._within(small("add", place.value, ONE)))
            self._lead(place.value, entry)

    def _free_places(self) -> None:
        count = self.emitter.snapshot(Op("add", (self.places.value, ZERO), INT), "places")
        dims, at = self.emitter.domain((count,))
        self.emitter.assign(dims, self.table.index, at, integer(-1))

    def clear(self) -> None:
        self.entries.clear()
        self.live.set(ZERO)
        if self.table.index:
            self._free_places()

    def taken(self, entry: Expr) -> tuple[Expr, ...]:
        """The value of an entry, kept from later changes."""
        return tuple(self.emitter.snapshot(number, "value") for number in self.value_at(entry))

    def value_or(self, entry: Expr, default: Sequence[Expr]) -> tuple[Expr, ...]:
        """The value of an entry, or another one if there is none."""
        at = Op("maximum", (entry, ZERO), INT)
        found = Op("ge", (entry, ZERO), BOOL)
        pairs = zip(self.value_at(at), default)
        return tuple(self.emitter.snapshot(pick(found, mine, other), "value") for mine, other in pairs)


def _whole(number: Expr) -> list[Expr]:
    """Integers that equal numbers have in common: of a float its mantissa and its exponent."""
    if not number.type.dtype.is_inexact:
        return [number]
    of = number.type
    shifted = Op("mul", (Op("mantissa", (number,), of), Const(float(1 << 53), of)), of)
    finite = Op("isfinite", (number,), ScalarType(DType.BOOL, of.weak))
    return [pick(finite, shifted, Op("sign", (number,), of)), Op("exponent", (number,), of)]


def filled(emitter: Emitter, name: str, entries: Growing, keys: int, count: Expr, indexed: bool) -> Table:
    """A table of entries that are there already: the first `keys` columns are the numbers of their keys.

    A last column tells of each that it is there.  What is only run through needs no index.
    """
    dims, at = emitter.domain((count,))
    emitter.assign(dims, entries.data[-1], at, Const(True, BOOL))
    live = variable(emitter, f"{name}_live", count)
    if not indexed:
        return Table(entries, "", "", live.name, keys)
    places = variable(emitter, f"{name}_places", integer(_PLACES))
    with repeat(emitter, Op("lt", (places.value, ix.mul(integer(2), count)), BOOL)):
        places.set(ix.mul(integer(2), places.value))
    index = emitter.declare(f"{name}_index", INT, (places.value,))
    table = Table(entries, index.name, places.name, live.name, keys)
    Hashed(emitter, table)._rebuild()
    return table


def make(
    emitter: Emitter,
    name: str,
    keys: Sequence[ScalarType],
    values: Sequence[ScalarType],
    unseen: tuple[int, ...] = (),
) -> Table:
    """An empty table."""
    entries = growing.make(emitter, name, [*keys, *values, BOOL])
    live = variable(emitter, f"{name}_live", ZERO)
    places = variable(emitter, f"{name}_places", integer(_PLACES))
    index = emitter.declare(f"{name}_index", INT, (places.value,))
    emitter.emit(Alloc(index.name, False, emitter.span))
    table = Table(entries, index.name, places.name, live.name, len(keys), unseen=unseen)
    Hashed(emitter, table)._free_places()
    return table
