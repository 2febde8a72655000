"""Dictionaries and sets with keys of integers (or tuples of them).  In: what Python does with them; out: statements
over hash tables (`weft.frontend.tables`).

A dict runs through its keys in the order of their insertion, as CPython's does.  The order of a set is that of its
table of hashes in CPython, which only CPython and the compiler of plain Python know: it is refused here.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Union

from weft.errors import Unsupported
from weft.frontend import arith, revisions, tables
from weft.frontend.building import Building
from weft.frontend.enums import is_member
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
    Closure,
    Dict,
    EitherType,
    ItemType,
    Iterable,
    Maybe,
    Object,
    PythonFunction,
    Scalar,
    Tuple,
    Value,
)
from weft.frontend.writing import loop, pick, variable, when
from weft.ir.expr import ZERO, Const, Expr, Op, Read, integer
from weft.ir.types import BOOL, FLOAT, INT, PYBOOL, DType, ScalarType, join

#: What a defaultdict makes its values of: a number, an empty list, or a function that makes one.
Default = Union[Scalar, Tuple, Object, Closure, PythonFunction]
#: Methods of sets that are operators as well.
_OPERATIONS = {"union": "bitor", "intersection": "bitand", "difference": "sub"}
#: Integers up to this one are floats, too.
_EXACT = 1 << 53
#: Fewer entries of a display are put in one after the other.
_SINGLY = 2


class Dicts(Building):
    """Dictionaries and sets."""

    # --- making -----------------------------------------------------------------------------------------------------

    def _eval_dict(self, node: ast.Dict) -> Value:
        pairs = [part for key, value in zip(node.keys, node.values) if key is not None for part in (key, value)]
        parts = self.evaluate_all(pairs)
        return dict_display(self, parts[::2], parts[1::2], node)

    def _eval_set(self, node: ast.Set) -> Value:
        items = self.evaluate_all(node.elts)
        made = self.new_dict(node, is_set=True)
        if all(map(_may_be_constant, node.elts)):
            unlike_additions(self, made)
        _put_all(self, made, items, None, node)
        return made

    def new_dict(
        self, node: ast.AST, is_set: bool = False, default: Default | None = None, counts: bool = False
    ) -> Dict:
        """An empty dict; what is put into it first tells its types, and the build starts again with them."""
        place = place_of_entries(self, node)
        known = self.emitter.decisions.entries.get(place)
        if known is None:
            if isinstance(default, Tuple):
                default = replace(default, site=place)
            return Dict(None, None, None, is_set, default, place, counts)
        key, item = known[0], resolved(self, known[1])
        unseen = tuple(place for place, counts in enumerate(compared(key)) if not counts)
        table = tables.make(self.emitter, "set" if is_set else "dict", types_in(key), types_in(item), unseen)
        if isinstance(default, Tuple):
            default = replace(default, site=place)
        return Dict(table, key, item, is_set, default, place, counts)

    # --- single entries ---------------------------------------------------------------------------------------------

    def item(self, base: Dict, key: Value, node: ast.AST) -> Value:
        """base[key]"""
        if base.table is None and (base.default is not None or base.counts):
            first = Scalar(Const(0, INT)) if base.default is None else default_value(self, base, node)
            typed(self, base, key, first, node)
        numbers = numbers_of_key(self, base, key, node)
        if numbers is None or base.table is None or base.item is None:
            raise untyped(self, node, "a value of a dict to which nothing has been added")
        hashed = Hashed(self.emitter, base.table)
        place, entry = hashed.search(numbers)
        there = Op("ge", (entry.value, ZERO), BOOL)
        if base.counts:
            return self.assembled(base.item, iter(hashed.value_or(entry.value, [Const(0, INT)])))
        if base.default is None:
            refuse_missing(self, base, there, numbers)
            return self.assembled(base.item, iter(hashed.taken(entry.value)))
        self.will_change(base)
        keep_size(self, base, there)
        with when(self.emitter, Op("not", (there,), BOOL)):
            entry.set(hashed.entries.length.value)
            value = _held(self, base, default_value(self, base, node))
            hashed.insert(numbers, value, place if isinstance(base.default, Scalar) else None)
            # Room may have been made: the new entry is the last.
            entry.set(Op("sub", (hashed.entries.length.value, Const(1, INT)), INT))
        self.emitter.mutations += 1
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
        only_sets = name in ("add", "discard", "remove", *_OPERATIONS)
        if base.is_set and name in _OPERATIONS and len(args) == 1 and isinstance(args[0], Dict) and args[0].is_set:
            return self.set_operation(_OPERATIONS[name], base, args[0], node)
        if run is None or (only_sets != base.is_set and name not in ("clear", "copy", "pop", "update")):
            raise self.unsupported(node, f"the method {name}", receiver=base)
        result: Value = run(base, args, node)
        return result

    def _dict_keys(self, base: Dict, args: list[Value], node: ast.AST) -> Value:
        return entries_of(self, base, "keys", node)

    def _dict_values(self, base: Dict, args: list[Value], node: ast.AST) -> Value:
        return entries_of(self, base, "values", node)

    def _dict_items(self, base: Dict, args: list[Value], node: ast.AST) -> Value:
        return entries_of(self, base, "items", node)

    def _dict_clear(self, base: Dict, args: list[Value], node: ast.AST) -> Value:
        will_shrink(self, base, node)
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

    def _set_pop(self, base: Dict, node: ast.AST) -> Value:
        will_shrink(self, base, node)
        if base.table is None or base.key is None:
            raise untyped(self, node, "an item of a set to which nothing has been added")
        raise in_its_order(self, node)

    def _dict_pop(self, base: Dict, args: list[Value], node: ast.AST) -> Value:
        if base.is_set and not args:
            return self._set_pop(base, node)
        if len(args) != 1 or base.is_set or base.item is None:
            raise self.unsupported(node, "this use of pop()", receiver=base)
        return self.assembled(base.item, iter(delete_entry(self, base, args[0], node)))

    def _dict_add(self, base: Dict, args: list[Value], node: ast.AST) -> Value:
        if len(args) != 1:
            raise self.unsupported(node, f"TypeError: add() with {len(args)} arguments")
        store_item(self, base, args[0], None, node)
        return Object(None)

    def _dict_remove(self, base: Dict, args: list[Value], node: ast.AST) -> Value:
        if len(args) != 1:
            raise self.unsupported(node, f"TypeError: remove() with {len(args)} arguments")
        delete_entry(self, base, args[0], node)
        return Object(None)

    def _dict_discard(self, base: Dict, args: list[Value], node: ast.AST) -> Value:
        if len(args) != 1:
            raise self.unsupported(node, f"TypeError: discard() with {len(args)} arguments")
        delete_entry(self, base, args[0], node, missing_is_fine=True)
        return Object(None)


def dict_display(builder: Building, keys: list[Value], values: list[Value], node: ast.AST) -> Value:
    """{key: value, ...}"""
    known = builder.keyed_display(node, keys, values)
    if known is not None:
        return known
    made = builder.new_dict(node)
    _put_all(builder, made, keys, values, node)
    return made


def _put_all(builder: Building, made: Dict, keys: list[Value], values: list[Value] | None, node: ast.AST) -> None:
    """The entries of a display: many of them are put in by a loop over their numbers."""
    emitter = builder.emitter
    held: list[Value | None] = [None] * len(keys) if values is None else list(values)
    if len(keys) < _SINGLY or any(has_lists(builder.layout(value)) for value in held if value is not None):
        for key, value in zip(keys, held):
            store_item(builder, made, key, value, node)
        return
    entries: list[list[Expr]] = []
    for key, value in zip(keys, held):
        typed(builder, made, key, value, node)
        numbers = numbers_of_key(builder, made, key, node)
        assert numbers is not None
        entries.append([*numbers, *(() if value is None else _held(builder, made, value))])
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


def typed(builder: Building, base: Dict, key: Value, value: Value | None, node: ast.AST) -> None:
    """The types of a dict from its first entry; or a check that another entry has them, too."""
    builder.will_change(base)
    of_key, of_value = _key_layout(builder, key, node), None if value is None else builder.layout(value)
    if of_value is None and not base.is_set:
        builder.keyed_instead(base, key)
        raise builder.unsupported(node, "a dict of these values", "keep numbers or tuples of numbers in it", dict=base)
    if isinstance(base.default, Scalar) and not base.is_set:
        of_value = base.default.type
    if base.table is None:
        revisions.holds_entries(builder, base.place, of_key, of_value)
    fits = value is None or (base.item is not None and builder.accepts(base.item, value))
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
    keys, items = merged(base.key, key), None if base.is_set else merged(base.item, item)
    made_here = base.place in builder.emitter.decisions.entries and builder.identity(base) not in builder.own
    if keys is not None and (base.is_set or items is not None) and base.default is None and made_here:
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
    if base.table is None and builder.identity(base) in builder.own and not base.is_set:
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
    elif is_member(key):
        yield builder.member(key).code
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


def add_all(builder: Building, base: Dict, items: Value, node: ast.AST) -> None:
    """Add every item of a sequence to a set."""
    if isinstance(items, Tuple):
        for item in items.items:
            store_item(builder, base, item, None, node)
        return
    run = builder.iteration(items, node)
    with loop(builder.emitter, ZERO, run.trips) as position:
        store_item(builder, base, run.item(position), None, node)


def store_item(builder: Building, base: Dict, key: Value, value: Value | None, node: ast.AST) -> None:
    """base[key] = value"""
    typed(builder, base, key, value, node)
    assert base.table is not None
    numbers = numbers_of_key(builder, base, key, node)
    assert numbers is not None
    held = [] if value is None else _held(builder, base, value)
    if builder.identity(base) in builder.run_through:
        _, known = Hashed(builder.emitter, base.table).search(numbers)
        keep_size(builder, base, Op("ge", (known.value, ZERO), BOOL))
    Hashed(builder.emitter, base.table).put(numbers, held)
    builder.emitter.mutations += 1


def _held(builder: Building, base: Dict, value: Value) -> list[Expr]:
    """The numbers of a value that is put into a dict."""
    assert base.item is not None
    return [builder.emitter.snapshot(number, "value") for number in builder.numbers(base.item, value)]


def default_value(builder: Building, base: Dict, node: ast.AST) -> Value:
    """What a defaultdict adds."""
    assert base.default is not None
    if isinstance(base.default, (Scalar, Tuple)):
        return base.default
    made = builder.call(base.default, [], {}, node)
    if base.item is not None and not builder.accepts(base.item, made):
        raise builder.unsupported(node, "a default of another type than the values", "", default=made)
    return made


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


def delete_entry(
    builder: Building, base: Dict, key: Value, node: ast.AST, missing_is_fine: bool = False
) -> tuple[Expr, ...]:
    """del base[key]; the value it had."""
    will_shrink(builder, base, node)
    numbers = numbers_of_key(builder, base, key, node)
    if numbers is None or base.table is None:
        if missing_is_fine:
            return ()
        raise untyped(builder, node, "an entry taken from a dict to which nothing has been added")
    hashed = Hashed(builder.emitter, base.table)
    _, entry = hashed.search(numbers)
    there = Op("ge", (entry.value, ZERO), BOOL)
    keep_size(builder, base, Op("not", (there,), BOOL))
    value: tuple[Expr, ...] = ()
    if missing_is_fine:
        with when(builder.emitter, there):
            hashed.remove(entry.value)
    else:
        refuse_missing(builder, base, there, numbers)
        value = hashed.taken(entry.value)
        hashed.remove(entry.value)
    builder.emitter.mutations += 1
    return value


def dict_length(builder: Building, base: Dict) -> Expr:
    return Const(0, INT) if base.table is None else Hashed(builder.emitter, base.table).live.value


def entries_of(builder: Building, base: Dict, what: str, node: ast.AST | None, ordered: bool = True) -> Value:
    """base.keys(), .values() or .items(), in order."""
    if base.table is None or base.key is None:
        return Tuple((), is_list=True)
    if base.is_set and ordered and base.table.entries.spare:
        raise in_its_order(builder, node)  # but for the items of an argument that does not change
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


def in_its_order(builder: Building, node: ast.AST | None) -> Unsupported:
    """A set that is run through, or popped from: only CPython and the compiler of plain Python know its order."""
    return left_to_plain(builder.unsupported(node, "a set in its order", "use sorted(...)"))


def unlike_additions(builder: Building, base: Dict) -> None:
    """A set gets or loses items otherwise than one after the other: as a result it would have another order."""
    decisions = builder.emitter.decisions
    decisions.uneven.add(base.place)
    if base.is_set and base.place in decisions.returned:
        _refuse_result(builder, base)


def keep_result_order(builder: Building, base: Dict) -> None:
    """A set for the caller is made by adding its items as they came, which gives the order that it has in CPython."""
    decisions = builder.emitter.decisions
    decisions.returned.add(base.place)
    if base.place in decisions.uneven:
        _refuse_result(builder, base)


def _refuse_result(builder: Building, base: Dict) -> None:
    if has_order(base.key):
        reason = "a set for the caller that has lost items, or that is made of others"
        raise left_to_plain(builder.unsupported(None, reason, "return sorted(...)"))


def has_order(layout: ItemType | None) -> bool:
    """Whether the order of a set of such items is always the same: strings have other hashes in every process."""
    if isinstance(layout, tuple):
        return all(map(has_order, layout))
    return isinstance(layout, ScalarType)


def _may_be_constant(node: ast.expr) -> bool:
    """Whether CPython's compiler may compute an item of a display: such sets are copied from a constant."""
    kinds = (ast.Constant, ast.UnaryOp, ast.BinOp, ast.Tuple, ast.operator, ast.unaryop, ast.expr_context)
    return all(isinstance(part, kinds) for part in ast.walk(node))


def entry_columns(builder: Building, base: Dict) -> list[Array]:
    """The numbers of all keys, and of all values, each in a list of its own memory."""
    assert base.table is not None
    hashed = Hashed(builder.emitter, base.table)
    hashed.compact()
    return builder.columns(hashed.entries, len(base.table.entries.data) - 1)


def added_columns(builder: Building, base: Dict, param: str) -> list[Array]:
    """The numbers of the keys that a set which is an argument has got, in order."""
    assert base.table is not None
    (before,) = builder.emitter.buffers[param].shape
    return builder.columns(Hashed(builder.emitter, base.table).entries, len(base.table.entries.data) - 1, before)


def keep_size(builder: Building, base: Dict, keeps: Expr) -> None:
    """What happens to a loop over a dict that gets or loses entries is left to Python."""
    reason = "a dict that gets or loses entries while a loop runs through it"
    if builder.identity(base) in builder.run_through:
        builder.emitter.hand_back(keeps, reason)


def will_shrink(builder: Building, base: Dict, node: ast.AST) -> None:
    """The order of a set that has lost an item depends on its past, which only CPython knows."""
    if base.is_set and builder.identity(base) in builder.argument_of:
        raise builder.unsupported(node, "an item taken out of a set that is an argument", "make a copy of it first")
    builder.will_change(base)
    unlike_additions(builder, base)


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
