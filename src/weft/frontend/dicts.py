"""Dictionaries with keys of integers (or tuples of them).  In: what Python does with them, entry by entry; out:
statements over hash tables (`weft.frontend.tables`).

A dict runs through its keys in the order of their insertion, as CPython's does.  Dicts as wholes (copies, unions,
comparisons), sets, Counters and defaultdicts are the compiler of plain Python's: they are refused here.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from weft.frontend import arith, revisions, tables
from weft.frontend.building import Building
from weft.frontend.items import (
    compared,
    has_either,
    has_lists,
    has_objects,
    has_texts,
    merged,
    numbers_of,
    takes,
    types_in,
)
from weft.frontend.missing import is_none
from weft.frontend.mixed import note_choice
from weft.frontend.nested import resolved, untyped
from weft.frontend.reasons import left_to_plain
from weft.frontend.strings import is_text, key_numbers
from weft.frontend.tables import Hashed
from weft.frontend.values import (
    Array,
    Dict,
    EitherType,
    ItemType,
    Iterable,
    Maybe,
    Object,
    Scalar,
    Tuple,
    Value,
)
from weft.frontend.writing import loop, pick, variable, when
from weft.ir.expr import ZERO, Const, Expr, Op, Read, integer
from weft.ir.types import BOOL, FLOAT, INT, PYBOOL, DType, ScalarType, join

#: Integers up to this one are floats, too.
_EXACT = 1 << 53
#: Fewer entries of a display are put in one after the other.
_SINGLY = 2


class Dicts(Building):
    """Dictionaries."""

    # --- making -----------------------------------------------------------------------------------------------------

    def _eval_dict(self, node: ast.Dict) -> Value:
        if None in node.keys:
            reason = "a dict made of others by **"
            raise left_to_plain(self.unsupported(node, reason, "store their entries in a loop"), apart=True)
        pairs = [part for key, value in zip(node.keys, node.values) if key is not None for part in (key, value)]
        parts = self.evaluate_all(pairs)
        return dict_display(self, parts[::2], parts[1::2], node)

    def _eval_set(self, node: ast.Set) -> Value:
        raise left_to_plain(self.unsupported(node, "a set"), apart=True)

    def _eval_setcomp(self, node: ast.SetComp) -> Value:
        raise left_to_plain(self.unsupported(node, "a set"), apart=True)

    def new_dict(self, node: ast.AST) -> Dict:
        """An empty dict; what is put into it first tells its types, and the build starts again with them."""
        place = place_of_entries(self, node)
        known = self.emitter.decisions.entries.get(place)
        if known is None:
            return Dict(None, None, None, place)
        key, item = known[0], resolved(self, known[1])
        unseen = tuple(place for place, counts in enumerate(compared(key)) if not counts)
        table = tables.make(self.emitter, "dict", types_in(key), types_in(item), unseen)
        return Dict(table, key, item, place)

    # --- single entries ---------------------------------------------------------------------------------------------

    def item(self, base: Dict, key: Value, node: ast.AST) -> Value:
        """base[key]"""
        numbers = numbers_of_key(self, base, key, node)
        if numbers is None or base.table is None or base.item is None:
            raise untyped(self, node, "a value of a dict to which nothing has been added")
        hashed = Hashed(self.emitter, base.table)
        _, entry = hashed.search(numbers)
        refuse_missing(self, base, Op("ge", (entry.value, ZERO), BOOL), numbers)
        return self.assembled(base.item, iter(hashed.taken(entry.value)))

    def contains(self, base: Dict, key: Value, node: ast.AST) -> Expr:
        """key in base"""
        numbers = numbers_of_key(self, base, key, node)
        if numbers is None or base.table is None:
            return Const(False, PYBOOL)
        _, entry = Hashed(self.emitter, base.table).search(numbers)
        found = Op("ge", (entry.value, ZERO), PYBOOL)
        return self.emitter.snapshot(found, "found")

    # --- methods ----------------------------------------------------------------------------------------------------

    def dict_method(self, base: Dict, name: str, args: list[Value], node: ast.AST) -> Value:
        run = getattr(self, f"_dict_{name}", None)
        if run is None:
            raise self.unsupported(node, f"the method {name}", receiver=base)
        result: Value = run(base, args, node)
        return result

    def _dict_keys(self, base: Dict, args: list[Value], node: ast.AST) -> Value:
        return entries_of(self, base, "keys")

    def _dict_values(self, base: Dict, args: list[Value], node: ast.AST) -> Value:
        return entries_of(self, base, "values")

    def _dict_items(self, base: Dict, args: list[Value], node: ast.AST) -> Value:
        return entries_of(self, base, "items")

    def _dict_clear(self, base: Dict, args: list[Value], node: ast.AST) -> Value:
        self.will_change(base)
        keep_size(self, base, Const(False, BOOL))
        if base.table is not None:
            Hashed(self.emitter, base.table).clear()
        self.emitter.mutations += 1
        return Object(None)

    def _dict_get(self, base: Dict, args: list[Value], node: ast.AST) -> Value:
        if len(args) == 1 or (len(args) == 2 and is_none(args[1])):
            return self._found(base, args[0], node)
        if len(args) != 2:
            raise self.unsupported(node, f"TypeError: get() with {len(args)} arguments")
        key, default = args
        if base.table is None or base.item is None:
            return default
        if not self.accepts(base.item, default):
            found = _either_default(self, base, key, default, node)
            if found is not None:
                return found
            raise self.unsupported(node, "a default of another type than the values", "", default=default)
        numbers = numbers_of_key(self, base, key, node)
        assert numbers is not None
        hashed = Hashed(self.emitter, base.table)
        _, entry = hashed.search(numbers)
        if has_lists(base.item) or has_texts(base.item):
            return self.assembled(base.item, iter(_found_or_made(self, hashed, entry.value, base.item, default)))
        return self.assembled(base.item, iter(hashed.value_or(entry.value, self.numbers(base.item, default))))

    def _found(self, base: Dict, key: Value, node: ast.AST) -> Value:
        """The value of an entry, or None."""
        numbers = numbers_of_key(self, base, key, node)
        if numbers is None or base.table is None or base.item is None:
            return Object(None)
        hashed = Hashed(self.emitter, base.table)
        _, entry = hashed.search(numbers)
        there = self.emitter.snapshot(Op("ge", (entry.value, ZERO), BOOL), "found")
        found = [variable(self.emitter, "value", Const(0, part), part) for part in types_in(base.item)]
        with when(self.emitter, there):
            for mine, number in zip(found, hashed.value_at(entry.value)):
                mine.set(number)
        numbers = [self.emitter.snapshot(mine.value, "value") for mine in found]
        return Maybe(there, self.assembled(base.item, iter(numbers)))

    def _dict_setdefault(self, base: Dict, args: list[Value], node: ast.AST) -> Value:
        if len(args) != 2:
            raise self.unsupported(node, "setdefault() without a default", "give one")
        typed(self, base, args[0], args[1], node)
        assert base.table is not None and base.item is not None
        # A list that is only made where it is needed has no name, so that nobody misses it elsewhere.
        held = None if has_lists(base.item) else _held(self, base, args[1])
        numbers = numbers_of_key(self, base, args[0], node)
        assert numbers is not None
        hashed = Hashed(self.emitter, base.table)
        place, entry = hashed.search(numbers)
        keep_size(self, base, Op("ge", (entry.value, ZERO), BOOL))
        with when(self.emitter, Op("lt", (entry.value, ZERO), BOOL)):
            hashed.insert(numbers, _held(self, base, args[1]) if held is None else held, place if held else None)
            entry.set(Op("sub", (hashed.entries.length.value, Const(1, INT)), INT))
        self.emitter.mutations += 1
        return self.assembled(base.item, iter(hashed.taken(entry.value)))

    def _dict_pop(self, base: Dict, args: list[Value], node: ast.AST) -> Value:
        if len(args) != 1 or base.item is None:
            raise self.unsupported(node, "this use of pop()", receiver=base)
        return self.assembled(base.item, iter(delete_entry(self, base, args[0], node)))


def dict_display(builder: Building, keys: list[Value], values: list[Value], node: ast.AST) -> Value:
    """{key: value, ...}"""
    known = builder.keyed_display(node, keys, values)
    if known is not None:
        return known
    made = builder.new_dict(node)
    _put_all(builder, made, keys, values, node)
    return made


def _put_all(builder: Building, made: Dict, keys: list[Value], values: list[Value], node: ast.AST) -> None:
    """The entries of a display: many of them are put in by a loop over their numbers."""
    emitter = builder.emitter
    if len(keys) < _SINGLY or any(has_lists(builder.layout(value)) for value in values):
        for key, value in zip(keys, values):
            store_item(builder, made, key, value, node)
        return
    entries: list[list[Expr]] = []
    for key, value in zip(keys, values):
        typed(builder, made, key, value, node)
        numbers = numbers_of_key(builder, made, key, node)
        assert numbers is not None
        entries.append([*numbers, *_held(builder, made, value)])
    assert made.table is not None
    columns = [emitter.allocate("entries", number.type, (integer(len(keys)),)) for number in entries[0]]
    for place, entry in enumerate(entries):
        for column, number in zip(columns, entry):
            emitter.assign((), column.name, (integer(place),), number)
    with loop(emitter, ZERO, integer(len(keys))) as at:
        found = [emitter.snapshot(Read(column.name, (at,), column.type), "number") for column in columns]
        Hashed(emitter, made.table).put(found[: made.table.keys], found[made.table.keys :])
    emitter.mutations += 1


def place_of_entries(builder: Building, node: ast.AST) -> tuple[int, str]:
    """What tells one dict in the source from another."""
    span = builder.emitter.span
    return hash((builder.scope.path, span.line, span.column, getattr(node, "col_offset", 0))), "entries"


def typed(builder: Building, base: Dict, key: Value, value: Value, node: ast.AST) -> None:
    """The types of a dict from its first entry; or a check that another entry has them, too."""
    builder.will_change(base)
    of_key, of_value = _key_layout(builder, key, node), builder.layout(value)
    if of_value is None:
        builder.keyed_instead(base, key)
        raise builder.unsupported(node, "a dict of these values", "keep numbers or tuples of numbers in it", dict=base)
    if base.table is None:
        revisions.holds_entries(builder, base.place, of_key, of_value)
    fits = base.item is not None and builder.accepts(base.item, value)
    differs = not takes(base.key, of_key) or not fits
    if differs and base.place in builder.emitter.decisions.guessed:
        builder.emitter.decisions.guessed.discard(base.place)
        revisions.holds_entries(builder, base.place, of_key, of_value)
    if differs:
        builder.keyed_instead(base, key)
        _hold_both(builder, base, of_key, of_value)
        raise builder.unsupported(
            node, "a dict with keys or values of different types", "keep one type of each", key=key
        )


def _hold_both(builder: Building, base: Dict, key: ItemType, item: ItemType | None) -> None:
    """A dict gets numbers of another type than those in it: build again with one that holds both."""
    keys, items = merged(base.key, key), merged(base.item, item)
    made_here = base.place in builder.emitter.decisions.entries and builder.identity(base) not in builder.own
    if keys is not None and items is not None and made_here:
        if builder.emitter.decisions.entries[base.place] != (keys, items):
            revisions.holds_entries(builder, base.place, keys, items)


def _key_layout(builder: Building, key: Value, node: ast.AST) -> ItemType:
    layout = builder.layout(key)
    of_numbers = layout is not None and not has_lists(layout) and not has_objects(layout)
    if of_numbers and layout is not None:
        of_numbers = all(_may_be_key(of) for of, counts in zip(types_in(layout), compared(layout)) if counts)
    if layout is None or not of_numbers:
        raise builder.unsupported(node, "a key of this type", "use numbers, strings or tuples of them", key=key)
    return layout


def numbers_of_key(builder: Building, base: Dict, key: Value, node: ast.AST) -> list[Expr] | None:
    """The numbers of a key to be looked for; None if it surely is not there."""
    if base.table is None and builder.identity(base) in builder.own:
        # An empty dict that is an argument: which values it would have is not known before something is stored.
        builder.emitter.decisions.guessed.add(base.place)
        revisions.holds_entries(builder, base.place, _key_layout(builder, key, node), FLOAT)
    if base.table is None:
        return None
    if not base.table.index:
        raise builder.unsupported(node, "a key of a dict that is only run through", receiver=base)
    if base.key is None or not _comparable(base.key, _key_layout(builder, key, node)):
        raise builder.unsupported(node, "a key of another type than the others", "keep one type of key", key=key)
    numbers = [builder.emitter.snapshot(number, "key") for number in _key_parts(builder, base.key, key)]
    for number in numbers:
        if number.type.dtype.is_inexact:
            # Whether CPython finds a NaN depends on which object it is.
            builder.emitter.hand_back(Op("eq", (number, number), BOOL), "NaN as a key")
    return numbers


def _key_parts(builder: Building, layout: ItemType, key: Value) -> Iterator[Expr]:
    """The numbers of a key: the same ones for equal strings."""
    if isinstance(key, Tuple):
        assert isinstance(layout, tuple)
        for part, item in zip(layout, key.items):
            yield from _key_parts(builder, part, item)
    elif is_text(key):
        yield from key_numbers(builder, key)
    elif isinstance(layout, ScalarType):
        yield from (_as_key(builder, number, layout) for number in numbers_of(key))
    else:
        yield from builder.numbers(layout, key)


def _as_key(builder: Building, number: Expr, layout: ScalarType) -> Expr:
    """A number among keys of this type: an integer among floats is that float, if there is one."""
    if layout.dtype.is_inexact and number.type.dtype.is_integer:
        whole = builder.emitter.snapshot(arith.cast(number, INT), "key")
        tests = (Op("le", (whole, Const(_EXACT, INT)), BOOL), Op("ge", (whole, Const(-_EXACT, INT)), BOOL))
        builder.emitter.hand_back(Op("and", tests, BOOL), "an integer of more than 53 bits among keys that are floats")
    return arith.cast(number, layout)


def store_item(builder: Building, base: Dict, key: Value, value: Value, node: ast.AST) -> None:
    """base[key] = value"""
    typed(builder, base, key, value, node)
    assert base.table is not None
    numbers = numbers_of_key(builder, base, key, node)
    assert numbers is not None
    held = _held(builder, base, value)
    if builder.identity(base) in builder.run_through:
        _, known = Hashed(builder.emitter, base.table).search(numbers)
        keep_size(builder, base, Op("ge", (known.value, ZERO), BOOL))
    Hashed(builder.emitter, base.table).put(numbers, held)
    builder.emitter.mutations += 1


def _held(builder: Building, base: Dict, value: Value) -> list[Expr]:
    """The numbers of a value that is put into a dict."""
    assert base.item is not None
    return [builder.emitter.snapshot(number, "value") for number in builder.numbers(base.item, value)]


def refuse_missing(builder: Building, base: Dict, there: Expr, numbers: Sequence[Expr]) -> None:
    if has_either(base.key) or not all(number.type.dtype.is_integer for number in numbers):
        builder.emitter.hand_back(there, "a number that is missing among the keys of a dict")
        return
    if has_texts(base.key):
        builder.emitter.hand_back(there, "a string that is missing among the keys of a dict")
        return
    if len(numbers) > 3:
        raise builder.unsupported(None, "a key of more than three numbers")
    places = ", ".join(f"{{{k}}}" for k in range(len(numbers)))
    text = places if len(numbers) == 1 else f"({places})"
    builder.emitter.check(there, "KeyError", text, tuple(numbers))


def delete_entry(builder: Building, base: Dict, key: Value, node: ast.AST) -> tuple[Expr, ...]:
    """del base[key]; the value it had."""
    builder.will_change(base)
    numbers = numbers_of_key(builder, base, key, node)
    if numbers is None or base.table is None:
        raise untyped(builder, node, "an entry taken from a dict to which nothing has been added")
    hashed = Hashed(builder.emitter, base.table)
    _, entry = hashed.search(numbers)
    there = Op("ge", (entry.value, ZERO), BOOL)
    keep_size(builder, base, Op("not", (there,), BOOL))
    refuse_missing(builder, base, there, numbers)
    value = hashed.taken(entry.value)
    hashed.remove(entry.value)
    builder.emitter.mutations += 1
    return value


def dict_length(builder: Building, base: Dict) -> Expr:
    return Const(0, INT) if base.table is None else Hashed(builder.emitter, base.table).live.value


def entries_of(builder: Building, base: Dict, what: str) -> Value:
    """base.keys(), .values() or .items(), in order."""
    if base.table is None or base.key is None:
        return Tuple((), is_list=True)
    hashed = Hashed(builder.emitter, base.table)
    hashed.compact()
    keys = base.table.keys
    layout = base.key if what == "keys" else base.item
    length = hashed.entries.length.value
    names = base.table.entries.data[:keys] if what == "keys" else base.table.entries.data[keys:-1]
    if what != "items" and isinstance(layout, ScalarType):
        name, of = names[0], layout
        # Read at once: a name for it would have to follow what happens to the dict later.
        return Array(
            (length,), of, lambda at: Read(name, (hashed.entries.place(at[0]),), of), is_list=True, borrowed=True
        )
    key, item = base.key, base.item
    assert key is not None

    def entry(q: Expr) -> Value:
        taken = [builder.emitter.snapshot(number, "entry") for number in hashed.entries.read(q)]
        first = builder.assembled(key, iter(taken[:keys]))
        if what == "keys" or item is None:
            return first
        second = builder.assembled(item, iter(taken[keys:-1]))
        return second if what == "values" else Tuple((first, second))

    return Iterable(length, entry)


def entry_columns(builder: Building, base: Dict) -> list[Array]:
    """The numbers of all keys, and of all values, each in a list of its own memory."""
    assert base.table is not None
    hashed = Hashed(builder.emitter, base.table)
    hashed.compact()
    return builder.columns(hashed.entries, len(base.table.entries.data) - 1)


def keep_size(builder: Building, base: Dict, keeps: Expr) -> None:
    """What happens to a loop over a dict that gets or loses entries is left to Python."""
    reason = "a dict that gets or loses entries while a loop runs through it"
    if builder.identity(base) in builder.run_through:
        builder.emitter.hand_back(keeps, reason)


def _either_default(builder: Building, base: Dict, key: Value, default: Value, node: ast.AST) -> Value | None:
    """The value of an entry, or a number of another type; None if there is no such number."""
    if isinstance(base.item, ScalarType) and isinstance(default, Scalar) and base.table is not None:
        return _number_or_default(builder, base, base.item, key, default, node)
    both = merged(base.item, builder.layout(default))
    if not isinstance(both, EitherType) or base.table is None:
        return None
    numbers = numbers_of_key(builder, base, key, node)
    assert numbers is not None and base.item is not None
    hashed = Hashed(builder.emitter, base.table)
    _, entry = hashed.search(numbers)
    there = Op("maximum", (entry.value, ZERO), INT)
    mine = builder.numbers(both, builder.assembled(base.item, iter(hashed.value_at(there))))
    other = builder.numbers(both, default)
    found = Op("ge", (entry.value, ZERO), BOOL)
    chosen = [builder.emitter.snapshot(pick(found, *pair), "value") for pair in zip(mine, other)]
    return builder.assembled(both, iter(chosen))


def _number_or_default(
    builder: Building, base: Dict, item: ScalarType, key: Value, default: Scalar, node: ast.AST
) -> Value:
    """The same of numbers, which keep their types."""
    numbers = numbers_of_key(builder, base, key, node)
    assert numbers is not None and base.table is not None
    hashed = Hashed(builder.emitter, base.table)
    _, entry = hashed.search(numbers)
    found = builder.emitter.snapshot(Op("ge", (entry.value, ZERO), BOOL), "found")
    (mine,) = hashed.value_or(entry.value, [Const(0, item)])
    other = builder.emitter.snapshot(default.expr, "default")
    both = join(item, default.type)
    for number in (mine, other):
        if number.type == INT and both == FLOAT:
            near = Const(2**53, INT)
            fits = Op("le", (Op("abs", (number,), INT), near), BOOL)
            builder.emitter.rarely_fails(fits, "an integer beyond 53 bits beside a float")
    chosen = Op("select", (found, arith.cast(mine, both), arith.cast(other, both)), both)
    note_choice(builder, chosen, found, mine, other)
    return Scalar(chosen)


def _found_or_made(builder: Building, hashed: Hashed, entry: Expr, item: ItemType, default: Value) -> list[Expr]:
    """The value of an entry, or a default in which lists are made only where it is needed."""
    emitter = builder.emitter
    of = types_in(item)
    found = [variable(emitter, "value", Const(0, part), part) for part in of]
    with when(emitter, Op("ge", (entry, ZERO), BOOL)):
        for mine, number in zip(found, hashed.value_at(entry)):
            mine.set(number)
    with when(emitter, Op("lt", (entry, ZERO), BOOL)):
        for mine, number in zip(found, builder.numbers(item, default)):
            mine.set(number)
    return [emitter.snapshot(mine.value, "value") for mine in found]


def _comparable(layout: ItemType, other: ItemType) -> bool:
    """Whether a key of the second type can be looked for among those of the first: integers are equal by value."""
    if isinstance(layout, tuple) and isinstance(other, tuple):
        return len(layout) == len(other) and all(map(_comparable, layout, other))
    if takes(layout, other):
        return True
    room = isinstance(layout, ScalarType) and layout.dtype in (DType.I64, DType.F64)
    return room and (isinstance(other, ScalarType) and (other.dtype.is_integer and other.dtype is not DType.U64))


def _may_be_key(of: ScalarType) -> bool:
    """Whether equal numbers of a type have one hash that can be computed."""
    return of.dtype.is_integer or of.dtype in (DType.F64, DType.BOOL)
