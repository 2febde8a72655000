"""The characters of all strings that a function makes.  In: code points; out: statements that put them behind those
that are there, in one memory that grows.  A string is then two numbers: where it begins, and how many characters it
has.

Nothing in the pool ever changes, so strings may share characters: a slice is a part of another string, and what is
appended to the last string of the pool lies right behind it.  A variable that grows (`s += c`, `s = c + s`) has room of
its own before and behind its string (`_Spare`), so that a loop copies each character a few times at most.

    0 .. 255      the characters of Latin-1: strings of one of them need no new memory
    256 .. end    the literals of the program
    end .. length what the program makes

Equal strings that are keys get one place (`intern`), so that a dict compares two numbers.

Where strings pass between recursive functions, all functions of the program work on one pool: the outermost makes it,
with the literals of all of them (`Literals`), and every call is lent it (`PoolMemory`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field

from weft.errors import Unsupported
from weft.frontend import arith
from weft.frontend.emit import Emitter
from weft.frontend.growing import Cells
from weft.frontend.values import Growing
from weft.frontend.writing import Variable, both, loop, variable, when
from weft.ir import index as ix
from weft.ir.expr import ONE, ZERO, Cast, Const, Expr, Op, Read, integer
from weft.ir.program import Alloc, Break, Node, While
from weft.ir.types import BOOL, I64, INT, DType, ScalarType
from weft.records import dataclass

#: One character of the pool.
CODE = ScalarType(DType.I32)
LATIN = 256
_LITERALS = 4096
_ROOM = 1024
_SPARE = 16
#: Beyond so many characters, or so many of strings longer than `_LONG` copied to be continued, Python runs the call.
_MOST = 2**26
_MOST_COPIED = 2**21
_LONG = 256
_PLACES = 64
_NUMBERS = 3
_U64 = ScalarType(DType.U64)
#: 2**64 over the golden ratio: multiples of it spread over all 64 bits.
_SPREAD = 0x9E3779B97F4A7C15

#: The code point of the character at a position.
Element = Callable[[Expr], Expr]


@dataclass(frozen=True)
class _Spare:
    """Room that is kept for the string of one variable: it lies from `head` to `tail`, and whatever else there is from
    `floor` to `top` nobody else uses.  A string that ends at `tail` may be continued there."""

    floor: Variable
    head: Variable
    tail: Variable
    top: Variable


@dataclass
class Literals:
    """What a pool starts with: where each literal begins, and which of them are keys."""

    places: dict[str, int] = field(default_factory=dict)
    keys: list[str] = field(default_factory=list)
    end: int = LATIN
    shared: bool = False  # strings pass between functions, which have one pool


@dataclass(frozen=True)
class PoolMemory:
    """The memory of a pool and of the index of its keys, as every function that shares it gets it."""

    characters: Growing
    keys: Growing
    places: str
    index: str


class TextPool:
    """The pool of one program.  What it starts with is known when the build is done: `prelude` makes it."""

    def __init__(
        self,
        emitter: Emitter,
        literals: Literals | None = None,
        borrowed: PoolMemory | None = None,
        outermost: bool = True,
    ) -> None:
        self.emitter = emitter
        self._outermost = outermost  # not in a recursive function
        self._copied: Variable | None = None  # how many characters of long strings have been copied
        self._literals = Literals() if literals is None else literals
        self._borrowed = borrowed
        self._index: _Index | None = None
        self._spares: dict[str, _Spare] = {}
        if borrowed is not None:
            self.held = borrowed.characters
            return
        room = emitter.declare("text_room", INT)
        shape = (Read(room.name, (), INT),)
        data, spare = (emitter.declare(name, CODE, shape).name for name in ("text_pool", "text_spare"))
        length = emitter.declare("text_length", INT)
        self.held = Growing((data,), (spare,), length.name, room.name)

    @property
    def cells(self) -> Cells:
        return Cells(self.emitter, self.held)

    @property
    def buffer(self) -> str:
        return self.held.data[0]

    def code(self, place: Expr) -> Expr:
        return Cast(Read(self.buffer, (place,), CODE), INT)

    # --- putting in -------------------------------------------------------------------------------------------------

    def literal(self, text: str) -> Expr:
        """Where a literal begins; it is there from the start."""
        if len(text) == 1 and ord(text) < LATIN:
            return integer(ord(text))
        known = self._literals
        if text not in known.places:
            if known.end + len(text) > _LITERALS:
                raise Unsupported(self.emitter.span, "so much text in the source", "pass it as an argument")
            known.places[text] = known.end
            known.end += len(text)
        return integer(known.places[text])

    def append(self, count: Expr, element: Element) -> Expr:
        """So many characters behind all others; where they begin."""
        emitter, cells = self.emitter, self.cells
        start = cells.last()
        if count == ONE:
            cells.push((arith.cast(element(ZERO), CODE),))
            return start
        count = emitter.snapshot(count, "count")
        end = emitter.snapshot(Op("add", (start, count), INT), "end")
        self._make_room(end)
        with loop(emitter, ZERO, count) as at:
            emitter.assign((), self.buffer, (ix.add(start, at),), arith.cast(element(at), CODE))
        cells.length.set(end)
        return start

    def character(self, code: Expr) -> Expr:
        """Where a string of one character begins."""
        if isinstance(code, Const):
            return self.literal(chr(int(code.value.real)))
        start = variable(self.emitter, "start", code)
        with when(self.emitter, Op("ge", (code, integer(LATIN)), BOOL)):
            start.set(self.append(ONE, lambda at: code))
        return self.emitter.snapshot(start.value, "start")

    def joined(self, start: Expr, length: Expr, count: Expr, element: Element) -> Expr:
        """The string of the pool with more characters behind it; it stays where it is if it is the last one."""
        emitter = self.emitter
        place = variable(emitter, "start", start)
        last = Op("eq", (Op("add", (start, length), INT), self.cells.length.value), BOOL)
        with when(emitter, Op("not", (last,), BOOL)):
            self._count_copy(length)
            place.set(self.append(length, lambda at: self.code(ix.add(start, at))))
        self.append(count, element)
        return emitter.snapshot(place.value, "start")

    def _make_room(self, end: Expr) -> None:
        cells = self.cells
        if self._limited:
            with when(self.emitter, Op("gt", (end, cells.room.value), BOOL)):
                self.emitter.rarely_fails(Op("le", (end, integer(_MOST)), BOOL), "strings of this size")
        cells.make_room(end)

    def _count_copy(self, length: Expr) -> None:
        """A string that grows and is copied each time is Python's: it copies faster, and frees what is not needed."""
        if not self._limited:
            return
        if self._copied is None:
            self._copied = Variable(self.emitter, self.emitter.declare("text_copied", INT).name, INT)
        copied = self._copied
        with when(self.emitter, Op("gt", (length, integer(_LONG)), BOOL)):
            copied.set(Op("add", (copied.value, length), INT))
            self.emitter.rarely_fails(Op("le", (copied.value, integer(_MOST_COPIED)), BOOL), "a string that grows")

    @property
    def _limited(self) -> bool:
        """Whether Python can begin again."""
        return self._outermost and not self.emitter.decisions.unrepeatable

    # --- variables that grow ----------------------------------------------------------------------------------------

    def _spare(self, name: str) -> _Spare:
        if name not in self._spares:
            parts = ("floor", "head", "tail", "top")
            made = (Variable(self.emitter, self.emitter.declare(f"{name}_{part}", INT).name, INT) for part in parts)
            self._spares[name] = _Spare(*made)
        return self._spares[name]

    def extended(self, name: str, start: Expr, length: Expr, count: Expr, element: Element) -> Expr:
        """The string of the variable `name` with more characters behind it: where it then begins."""
        emitter, spare, cells = self.emitter, self._spare(name), self.cells
        count, end = emitter.snapshot(count, "count"), emitter.snapshot(Op("add", (start, length), INT), "end")
        place = variable(emitter, "start", start)
        new = Op("add", (end, count), INT)
        fits = both(Op("eq", (end, spare.tail.value), BOOL), Op("le", (new, spare.top.value), BOOL))
        with when(emitter, Op("not", (fits,), BOOL)):
            base = cells.last()
            last = emitter.snapshot(Op("eq", (end, base), BOOL), "last")
            before = Op("sub", (spare.head.value, spare.floor.value), INT)
            front = Op("select", (Op("eq", (start, spare.head.value), BOOL), before, ZERO), INT)
            begin = emitter.snapshot(Op("select", (last, start, Op("add", (base, front), INT)), INT), "begin")
            spare.floor.set(Op("select", (last, start, base), INT))
            self._move(spare, start, length, begin, ix.add(ix.add(begin, length), self._room(length, count)), last)
            place.set(begin)
        self._write(emitter.snapshot(Op("add", (spare.tail.value, ZERO), INT), "tail"), count, element)
        spare.tail.set(Op("add", (spare.tail.value, count), INT))
        return emitter.snapshot(place.value, "start")

    def preceded(self, name: str, start: Expr, length: Expr, count: Expr, element: Element) -> Expr:
        """The string of the variable `name` with more characters before it: where it then begins."""
        emitter, spare = self.emitter, self._spare(name)
        count = emitter.snapshot(count, "count")
        first = Op("sub", (spare.head.value, count), INT)
        fits = both(Op("eq", (start, spare.head.value), BOOL), Op("ge", (first, spare.floor.value), BOOL))
        with when(emitter, Op("not", (fits,), BOOL)):
            base = self.cells.last()
            behind = Op("sub", (spare.top.value, spare.tail.value), INT)
            ends = Op("eq", (Op("add", (start, length), INT), spare.tail.value), BOOL)
            back = emitter.snapshot(Op("select", (ends, behind, ZERO), INT), "back")
            begin = emitter.snapshot(ix.add(base, self._room(length, count)), "begin")
            spare.floor.set(base)
            self._move(spare, start, length, begin, ix.add(ix.add(begin, length), back), Const(False, BOOL))
        spare.head.set(Op("sub", (spare.head.value, count), INT))
        place = emitter.snapshot(Op("add", (spare.head.value, ZERO), INT), "start")
        self._write(place, count, element)
        return place

    def _room(self, length: Expr, count: Expr) -> Expr:
        """Room for so many characters more, and as many as there are then."""
        total = Op("add", (length, count), INT)
        return Op("add", (count, Op("maximum", (total, integer(_SPARE)), INT)), INT)

    def _move(self, spare: _Spare, start: Expr, length: Expr, begin: Expr, top: Expr, stays: Expr) -> None:
        """The string to where the room that is kept for it begins, unless it is there."""
        emitter, cells = self.emitter, self.cells
        top = emitter.snapshot(top, "top")
        self._make_room(top)
        with when(emitter, Op("not", (stays,), BOOL)), loop(emitter, ZERO, length) as at:
            emitter.assign((), self.buffer, (ix.add(begin, at),), Read(self.buffer, (ix.add(start, at),), CODE))
        cells.length.set(top)
        for part, value in ((spare.head, begin), (spare.tail, ix.add(begin, length)), (spare.top, top)):
            part.set(value)

    def _write(self, place: Expr, count: Expr, element: Element) -> None:
        if count == ONE:
            self.emitter.assign((), self.buffer, (place,), arith.cast(element(ZERO), CODE))
            return
        with loop(self.emitter, ZERO, count) as at:
            self.emitter.assign((), self.buffer, (ix.add(place, at),), arith.cast(element(at), CODE))

    # --- keys -------------------------------------------------------------------------------------------------------

    def intern_literal(self, text: str) -> Expr:
        """The one place of a literal that is a key."""
        start = self.literal(text)
        if not (len(text) == 1 and ord(text) < LATIN):
            self._known()
            if text not in self._literals.keys:
                self._literals.keys.append(text)
        return start

    def intern_character(self, code: Expr) -> Expr:
        start = variable(self.emitter, "start", code)
        with when(self.emitter, Op("ge", (code, integer(LATIN)), BOOL)):
            start.set(self._known().place(ONE, lambda at: code, None))
        return self.emitter.snapshot(start.value, "start")

    def intern(self, count: Expr, element: Element, start: Expr | None) -> Expr:
        """The one place of all equal strings; `start`: where this one is, if that is in the pool."""
        emitter = self.emitter
        found = variable(emitter, "start", integer(-1))
        with when(emitter, Op("eq", (count, ONE), BOOL)):
            code = emitter.snapshot(element(ZERO), "code")
            with when(emitter, Op("lt", (code, integer(LATIN)), BOOL)):
                found.set(code)
        with when(emitter, Op("lt", (found.value, ZERO), BOOL)):
            found.set(self._known().place(count, element, start))
        return emitter.snapshot(found.value, "start")

    def _known(self) -> _Index:
        if self._index is None:
            self._index = _Index(self, self._borrowed)
        return self._index

    def memory(self) -> PoolMemory:
        """What a function that is called must be lent."""
        index = self._known()
        return PoolMemory(self.held, index.held, index.places.name, index.index)

    # --- the start --------------------------------------------------------------------------------------------------

    def prelude(self) -> list[Node]:
        """What the program begins with."""
        emitter, cells, known = self.emitter, self.cells, self._literals
        with emitter.capture() as block:
            if self._copied is not None:
                self._copied.set(ZERO)
            for spare in self._spares.values():
                for part, value in ((spare.floor, 0), (spare.head, -1), (spare.tail, -1), (spare.top, 0)):
                    part.set(integer(value))
            if self._borrowed is not None:
                return block
            cells.length.set(integer(known.end))
            cells.room.set(integer(max(_ROOM, 2 * known.end)))
            for name in (*self.held.data, *self.held.spare):
                emitter.emit(Alloc(name, False, emitter.span))
            dims, at = emitter.domain((integer(LATIN),))
            emitter.assign(dims, self.buffer, at, arith.cast(at[0], CODE))
            for text, start in known.places.items():
                for place, letter in enumerate(text):
                    emitter.assign((), self.buffer, (integer(start + place),), Const(ord(letter), CODE))
            if self._index is not None:
                self._index.begin({text: known.places[text] for text in known.keys})
        return block


def hash_of(text: str) -> int:
    """The hash of a literal, as the program computes it."""
    mixed = 0
    for letter in text:
        mixed = (mixed ^ ord(letter)) * _SPREAD % 2**64
        mixed ^= mixed >> 29
    return mixed - 2**64 if mixed >= 2**63 else mixed


class _Index:
    """Which strings of the pool are keys, found by open addressing: the hash of each, where it begins, and its length,
    one behind the other, so that they share a cache line.
    """

    def __init__(self, pool: TextPool, borrowed: PoolMemory | None) -> None:
        self.pool, self.emitter = pool, pool.emitter
        emitter = self.emitter
        if borrowed is not None:
            self.held, self.index = borrowed.keys, borrowed.index
            self.places = Variable(emitter, borrowed.places, INT)
            return
        room = emitter.declare("keys_room", INT)
        shape = (Read(room.name, (), INT),)
        data, spare = (emitter.declare(name, I64, shape).name for name in ("keys", "keys_spare"))
        length = emitter.declare("keys_length", INT)
        self.held = Growing((data,), (spare,), length.name, room.name)
        self.places = Variable(emitter, emitter.declare("key_places", INT).name, INT)
        self.index = emitter.declare("key_index", INT, (self.places.value,)).name

    @property
    def entries(self) -> Cells:
        return Cells(self.emitter, self.held)

    def _numbers(self, entry: Expr) -> tuple[Expr, ...]:
        """Hash, start and length of a key."""
        first = ix.mul(integer(_NUMBERS), entry)
        return tuple(Read(self.held.data[0], (ix.add(first, integer(k)),), I64) for k in range(_NUMBERS))

    def begin(self, keys: dict[str, int]) -> None:
        """With these literals as keys, which are at these places of the pool."""
        emitter = self.emitter
        places = _PLACES
        while places < 4 * len(keys):
            places *= 2
        self.entries.length.set(integer(_NUMBERS * len(keys)))
        self.entries.room.set(integer(_NUMBERS * places))
        self.places.set(integer(places))
        for name in (*self.held.data, *self.held.spare):
            emitter.emit(Alloc(name, False, emitter.span))
        self._free()
        taken: set[int] = set()
        for entry, (text, start) in enumerate(keys.items()):
            number = hash_of(text)
            place = number % places
            while place in taken:
                place = (place + 1) % places
            taken.add(place)
            for k, value in enumerate((number, start, len(text))):
                emitter.assign((), self.held.data[0], (integer(_NUMBERS * entry + k),), Const(value, I64))
            emitter.assign((), self.index, (integer(place),), integer(entry))

    def _free(self) -> None:
        emitter = self.emitter
        emitter.emit(Alloc(self.index, False, emitter.span))
        count = emitter.snapshot(Op("add", (self.places.value, ZERO), INT), "places")
        dims, at = emitter.domain((count,))
        emitter.assign(dims, self.index, at, integer(-1))

    def _within(self, place: Expr) -> Expr:
        return Op("bitand", (place, Op("sub", (self.places.value, ONE), INT)), INT)

    def _hash(self, count: Expr, element: Element) -> Expr:
        emitter = self.emitter
        mixed = variable(emitter, "hash", Const(0, _U64))
        with loop(emitter, ZERO, count) as at:
            code = arith.cast(arith.cast(element(at), I64), _U64)
            product = Op("mul", (Op("bitxor", (mixed.value, code), _U64), Const(_SPREAD, _U64)), _U64)
            spread = emitter.snapshot(product, "spread")
            mixed.set(Op("bitxor", (spread, Op("shr", (spread, Const(29, _U64)), _U64)), _U64))
        return emitter.snapshot(arith.cast(mixed.value, I64), "hash")

    def place(self, count: Expr, element: Element, start: Expr | None) -> Expr:
        """Where the string begins that is equal to this one, which becomes a key if none is."""
        emitter = self.emitter
        count = emitter.snapshot(count, "count")
        number = self._hash(count, element)
        place = variable(emitter, "place", self._within(arith.cast(number, INT)))
        entry = variable(emitter, "entry", Read(self.index, (place.value,), INT))
        self._search(place, entry, number, count, element)
        found = variable(emitter, "found", ZERO)
        with when(emitter, Op("ge", (entry.value, ZERO), BOOL)):
            found.set(self._numbers(entry.value)[1])
        with when(emitter, Op("lt", (entry.value, ZERO), BOOL)):
            found.set(self.pool.append(count, element) if start is None else start)
            new = self.entries.last()
            end = emitter.snapshot(Op("add", (new, integer(_NUMBERS)), INT), "end")
            self.entries.make_room(end)
            emitter.assign((), self.index, (place.value,), Op("floordiv", (new, integer(_NUMBERS)), INT))
            for k, value in enumerate((number, found.value, count)):
                emitter.assign((), self.held.data[0], (ix.add(new, integer(k)),), arith.cast(value, I64))
            self.entries.length.set(end)
            self._make_places()
        return emitter.snapshot(found.value, "start")

    def _search(self, place: Variable, entry: Variable, number: Expr, count: Expr, element: Element) -> None:
        """On to the entry of an equal string, or to a free place."""
        emitter = self.emitter
        with emitter.capture() as prelude:
            same = variable(emitter, "same", Const(False, BOOL))
            with when(emitter, Op("ge", (entry.value, ZERO), BOOL)):
                hashed, first, length = self._numbers(entry.value)
                begin = arith.cast(first, INT)
                same.set(both(Op("eq", (hashed, number), BOOL), Op("eq", (length, arith.cast(count, I64)), BOOL)))
                with when(emitter, same.value), loop(emitter, ZERO, count) as at:
                    differs = Op("ne", (self.pool.code(ix.add(begin, at)), element(at)), BOOL)
                    with when(emitter, differs):
                        same.set(Const(False, BOOL))
                        emitter.emit(Break(emitter.span))
        with emitter.capture() as block:
            place.set(self._within(Op("add", (place.value, ONE), INT)))
            entry.set(Read(self.index, (place.value,), INT))
        going = both(Op("ge", (entry.value, ZERO), BOOL), Op("not", (same.value,), BOOL))
        emitter.emit(While(tuple(prelude), going, tuple(block), emitter.span))

    def _make_places(self) -> None:
        """A larger index as soon as half of it is taken."""
        emitter, entries = self.emitter, self.entries
        crowded = ix.mul(integer(_NUMBERS), self.places.value)
        with when(emitter, Op("ge", (ix.mul(integer(2), entries.length.value), crowded), BOOL)):
            self.places.set(ix.mul(integer(4), self.places.value))
            self._free()
            count = emitter.snapshot(Op("floordiv", (entries.length.value, integer(_NUMBERS)), INT), "count")
            with loop(emitter, ZERO, count) as entry:
                hashed = self._numbers(entry)[0]
                place = variable(emitter, "place", self._within(arith.cast(hashed, INT)))
                with emitter.capture() as block:
                    place.set(self._within(Op("add", (place.value, ONE), INT)))
                taken = Op("ge", (Read(self.index, (place.value,), INT), ZERO), BOOL)
                emitter.emit(While((), taken, tuple(block), emitter.span))
                emitter.assign((), self.index, (place.value,), entry)
