"""Dictionaries and sets with keys of integers (or tuples of them).  In: what Python does with them; out: statements
over hash tables (`weft.frontend.tables`).

A dict runs through its keys in the order of their insertion, as CPython's does.  The order of a set is CPython's own:
a set may be asked for what it holds, but is not run through in order.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import replace

from weft.frontend import tables
from weft.frontend.emit import Restart
from weft.frontend.enums import is_member
from weft.frontend.items import has_lists, has_texts, layout_of, numbers_of, types_in
from weft.frontend.lists import Lists
from weft.frontend.strings import is_text
from weft.frontend.tables import Hashed
from weft.frontend.values import Array, Dict, ItemType, Iterable, Object, Scalar, Tuple, Value
from weft.frontend.writing import loop, variable, when
from weft.ir.expr import ZERO, Const, Expr, Op, Read, integer
from weft.ir.types import BOOL, FLOAT, INT, PYBOOL, ScalarType

#: Fewer entries of a display are put in one after the other.
_SINGLY = 2


class Dicts(Lists):
    """Dictionaries and sets."""

    def evaluate_all(self, nodes: Sequence[ast.expr]) -> list[Value]:
        raise NotImplementedError

    # --- making -----------------------------------------------------------------------------------------------------

    def _eval_dict(self, node: ast.Dict) -> Value:
        if any(key is None for key in node.keys):
            raise self.unsupported(node, "a dict made from another by **")
        keys = self.evaluate_all([key for key in node.keys if key is not None])
        values = self.evaluate_all(node.values)
        made = self.new_dict(node)
        self._put_all(made, keys, values, node)
        return made

    def _eval_set(self, node: ast.Set) -> Value:
        items = self.evaluate_all(node.elts)
        made = self.new_dict(node, is_set=True)
        self._put_all(made, items, None, node)
        return made

    def _put_all(self, made: Dict, keys: list[Value], values: list[Value] | None, node: ast.AST) -> None:
        """The entries of a display: many of them are put in by a loop over their numbers."""
        emitter = self.emitter
        held: list[Value | None] = [None] * len(keys) if values is None else list(values)
        if len(keys) < _SINGLY or any(has_lists(self.layout(value)) for value in held if value is not None):
            for key, value in zip(keys, held):
                self.store_item(made, key, value, node)
            return
        entries: list[list[Expr]] = []
        for key, value in zip(keys, held):
            self._typed(made, key, value, node)
            numbers = self._numbers_of_key(made, key, node)
            assert numbers is not None
            entries.append([*numbers, *(() if value is None else self._held(made, value))])
        assert made.table is not None
        columns = [emitter.allocate("entries", number.type, (integer(len(keys)),)) for number in entries[0]]
        for place, entry in enumerate(entries):
            for column, number in zip(columns, entry):
                emitter.assign((), column.name, (integer(place),), number)
        with loop(emitter, ZERO, integer(len(keys))) as at:
            found = [emitter.snapshot(Read(column.name, (at,), column.type), "number") for column in columns]
            Hashed(emitter, made.table).put(found[: made.table.keys], found[made.table.keys :])
        emitter.mutations += 1

    def new_dict(
        self, node: ast.AST, is_set: bool = False, default: Scalar | Tuple | None = None, counts: bool = False
    ) -> Dict:
        """An empty dict; what is put into it first tells its types, and the build starts again with them."""
        span = self.emitter.span
        place = (hash((self.scope.path, span.line, span.column, getattr(node, "col_offset", 0))), "entries")
        known = self.emitter.decisions.entries.get(place)
        if known is None:
            if isinstance(default, Tuple):
                default = replace(default, site=place)
            return Dict(None, None, None, is_set, default, place, counts)
        key, item = known[0], self.resolved(known[1])
        table = tables.make(self.emitter, "set" if is_set else "dict", types_in(key), types_in(item))
        if isinstance(default, Tuple):
            default = replace(default, site=place)
        return Dict(table, key, item, is_set, default, place, counts)

    def _typed(self, base: Dict, key: Value, value: Value | None, node: ast.AST) -> None:
        """The types of a dict from its first entry; or a check that another entry has them, too."""
        self.will_change(base)
        of_key, of_value = self._key_layout(key, node), None if value is None else self.layout(value)
        if of_value is None and not base.is_set:
            raise self.unsupported(node, "a dict of these values", "keep numbers or tuples of numbers in it")
        if isinstance(base.default, Scalar) and not base.is_set:
            of_value = base.default.type
        if base.table is None:
            self.emitter.decisions.entries[base.place] = (of_key, of_value)
            raise Restart
        fits = value is None or (base.item is not None and self.accepts(base.item, value))
        differs = of_key != base.key or not fits
        if differs and base.place in self.emitter.decisions.guessed:
            self.emitter.decisions.guessed.discard(base.place)
            self.emitter.decisions.entries[base.place] = (of_key, of_value)
            raise Restart
        if differs:
            raise self.unsupported(
                node, "a dict with keys or values of different types", "keep one type of each", key=key
            )

    def _key_layout(self, key: Value, node: ast.AST) -> ItemType:
        layout = layout_of(key)
        if layout is None or has_lists(layout) or not all(of.dtype.is_integer for of in types_in(layout)):
            raise self.unsupported(node, "a key of this type", "use integers or tuples of integers as keys", key=key)
        return layout

    def _numbers_of_key(self, base: Dict, key: Value, node: ast.AST) -> list[Expr] | None:
        """The numbers of a key to be looked for; None if it surely is not there."""
        if base.table is None and self.identity(base) in self.own and not base.is_set:
            # An empty dict that is an argument: which values it would have is not known before something is stored.
            self.emitter.decisions.entries[base.place] = (self._key_layout(key, node), FLOAT)
            self.emitter.decisions.guessed.add(base.place)
            raise Restart
        if base.table is None:
            return None
        if not base.table.index:
            self.emitter.decisions.searched.add(base.place)
            raise Restart
        if self._key_layout(key, node) != base.key:
            raise self.unsupported(node, "a key of another type than the others", "keep one type of key", key=key)
        return [self.emitter.snapshot(number, "key") for number in self._key_parts(key)]

    def _key_parts(self, key: Value) -> Iterator[Expr]:
        """The numbers of a key: the same ones for equal strings."""
        if isinstance(key, Tuple):
            for part in key.items:
                yield from self._key_parts(part)
        elif is_text(key):
            yield from self.key_numbers(key)
        elif is_member(key):
            yield self.member(key).code
        else:
            yield from numbers_of(key)

    def add_all(self, base: Dict, items: Value, node: ast.AST) -> None:
        """Add every item of a sequence to a set."""
        if isinstance(items, Tuple):
            for item in items.items:
                self.store_item(base, item, None, node)
            return
        run = self.iteration(items, node)
        with loop(self.emitter, ZERO, run.trips) as position:
            self.store_item(base, run.item(position), None, node)

    def iteration(self, value: Value, node: ast.AST | None) -> Iterable:
        raise NotImplementedError

    # --- single entries ---------------------------------------------------------------------------------------------

    def store_item(self, base: Dict, key: Value, value: Value | None, node: ast.AST) -> None:
        """base[key] = value"""
        self._typed(base, key, value, node)
        assert base.table is not None
        numbers = self._numbers_of_key(base, key, node)
        assert numbers is not None
        held = [] if value is None else self._held(base, value)
        if self.identity(base) in self.run_through:
            _, known = Hashed(self.emitter, base.table).search(numbers)
            self._keep_size(base, Op("ge", (known.value, ZERO), BOOL))
        Hashed(self.emitter, base.table).put(numbers, held)
        self.emitter.mutations += 1

    def _held(self, base: Dict, value: Value) -> list[Expr]:
        """The numbers of a value that is put into a dict."""
        assert base.item is not None
        return [self.emitter.snapshot(number, "value") for number in self.numbers(base.item, value)]

    def item(self, base: Dict, key: Value, node: ast.AST) -> Value:
        """base[key]"""
        if base.table is None and (base.default is not None or base.counts):
            self._typed(base, key, Scalar(Const(0, INT)) if base.default is None else base.default, node)
        numbers = self._numbers_of_key(base, key, node)
        if numbers is None or base.table is None or base.item is None:
            raise self.untyped(node, "a value of a dict to which nothing has been added")
        hashed = Hashed(self.emitter, base.table)
        _, entry = hashed.search(numbers)
        there = Op("ge", (entry.value, ZERO), BOOL)
        if base.counts:
            return self.assembled(base.item, iter(hashed.value_or(entry.value, [Const(0, INT)])))
        if base.default is None:
            self._refuse_missing(base, there, numbers)
            return self.assembled(base.item, iter(hashed.taken(entry.value)))
        self._keep_size(base, there)
        with when(self.emitter, Op("not", (there,), BOOL)):
            entry.set(hashed.entries.length.value)
            hashed.insert(numbers, self._held(base, base.default))
            # Room may have been made: the new entry is the last.
            entry.set(Op("sub", (hashed.entries.length.value, Const(1, INT)), INT))
        self.emitter.mutations += 1
        return self.assembled(base.item, iter(hashed.taken(entry.value)))

    def _refuse_missing(self, base: Dict, there: Expr, numbers: Sequence[Expr]) -> None:
        if has_texts(base.key):
            self.emitter.hand_back(there, "a string that is missing among the keys of a dict")
            return
        if len(numbers) > 3:
            raise self.unsupported(None, "a key of more than three numbers")
        places = ", ".join(f"{{{k}}}" for k in range(len(numbers)))
        text = places if len(numbers) == 1 else f"({places})"
        self.emitter.check(there, "KeyError", text, tuple(numbers))

    def contains(self, base: Dict, key: Value, node: ast.AST) -> Expr:
        """key in base"""
        numbers = self._numbers_of_key(base, key, node)
        if numbers is None or base.table is None:
            return Const(False, PYBOOL)
        _, entry = Hashed(self.emitter, base.table).search(numbers)
        found = Op("ge", (entry.value, ZERO), PYBOOL)
        return self.emitter.snapshot(found, "found")

    def delete_entry(self, base: Dict, key: Value, node: ast.AST, missing_is_fine: bool = False) -> tuple[Expr, ...]:
        """del base[key]; the value it had."""
        self._will_shrink(base, node)
        numbers = self._numbers_of_key(base, key, node)
        if numbers is None or base.table is None:
            if missing_is_fine:
                return ()
            raise self.untyped(node, "an entry taken from a dict to which nothing has been added")
        hashed = Hashed(self.emitter, base.table)
        _, entry = hashed.search(numbers)
        there = Op("ge", (entry.value, ZERO), BOOL)
        self._keep_size(base, Op("not", (there,), BOOL))
        value: tuple[Expr, ...] = ()
        if missing_is_fine:
            with when(self.emitter, there):
                hashed.remove(entry.value)
        else:
            self._refuse_missing(base, there, numbers)
            value = hashed.taken(entry.value)
            hashed.remove(entry.value)
        self.emitter.mutations += 1
        return value

    # --- all entries ------------------------------------------------------------------------------------------------

    def dict_length(self, base: Dict) -> Expr:
        return Const(0, INT) if base.table is None else Read(base.table.live, (), INT)

    def entries_of(self, base: Dict, what: str, node: ast.AST | None, ordered: bool = True) -> Value:
        """base.keys(), .values() or .items(), in order."""
        if base.table is None or base.key is None:
            return Tuple((), is_list=True)
        if base.is_set and ordered:
            raise self.unsupported(node, "a set in its order", "use sorted(...)")
        hashed = Hashed(self.emitter, base.table)
        hashed.compact()
        keys = base.table.keys
        layout = base.key if what == "keys" else base.item
        length = Read(base.table.entries.length, (), INT)
        names = base.table.entries.data[:keys] if what == "keys" else base.table.entries.data[keys:-1]
        if what != "items" and isinstance(layout, ScalarType):
            name, of = names[0], layout
            # Read at once: a name for it would have to follow what happens to the dict later.
            return Array((length,), of, lambda at: Read(name, at, of), is_list=True, borrowed=True)
        key, item = base.key, base.item

        def entry(q: Expr) -> Value:
            taken = [self.emitter.snapshot(number, "entry") for number in hashed.entries.read(q)]
            first = self.assembled(key, iter(taken[:keys]))
            if what == "keys" or item is None:
                return first
            second = self.assembled(item, iter(taken[keys:-1]))
            return second if what == "values" else Tuple((first, second))

        return Iterable(length, entry)

    def entry_columns(self, base: Dict) -> list[Array]:
        """The numbers of all keys, and of all values, each in a list of its own memory."""
        assert base.table is not None
        hashed = Hashed(self.emitter, base.table)
        hashed.compact()
        return self.columns(hashed.entries, len(base.table.entries.data) - 1)

    def added_columns(self, base: Dict, param: str) -> list[Array]:
        """The numbers of the keys that a set which is an argument has got, in order."""
        assert base.table is not None
        (before,) = self.emitter.buffers[param].shape
        return self.columns(Hashed(self.emitter, base.table).entries, len(base.table.entries.data) - 1, before)

    # --- methods ----------------------------------------------------------------------------------------------------

    def dict_method(self, base: Dict, name: str, args: list[Value], node: ast.AST) -> Value:
        run = getattr(self, f"_dict_{name}", None)
        only_sets = name in ("add", "discard", "remove")
        if run is None or (only_sets != base.is_set and name not in ("clear", "pop", "update")):
            raise self.unsupported(node, f"the method {name}", receiver=base)
        result: Value = run(base, args, node)
        return result

    def _dict_keys(self, base: Dict, args: list[Value], node: ast.AST) -> Value:
        return self.entries_of(base, "keys", node)

    def _dict_values(self, base: Dict, args: list[Value], node: ast.AST) -> Value:
        return self.entries_of(base, "values", node)

    def _dict_items(self, base: Dict, args: list[Value], node: ast.AST) -> Value:
        return self.entries_of(base, "items", node)

    def _keep_size(self, base: Dict, keeps: Expr) -> None:
        """What happens to a loop over a dict that gets or loses entries is left to Python."""
        if self.identity(base) in self.run_through:
            self.emitter.hand_back(keeps, "a dict that gets or loses entries while a loop runs through it")

    def _will_shrink(self, base: Dict, node: ast.AST) -> None:
        """The order of a set that has lost an item depends on its past, which only CPython knows."""
        if base.is_set and self.identity(base) in self.argument_of:
            raise self.unsupported(node, "an item taken out of a set that is an argument", "make a copy of it first")
        self.will_change(base)

    def _dict_clear(self, base: Dict, args: list[Value], node: ast.AST) -> Value:
        self._will_shrink(base, node)
        self._keep_size(base, Const(False, BOOL))
        if base.table is not None:
            Hashed(self.emitter, base.table).clear()
        self.emitter.mutations += 1
        return Object(None)

    def _dict_get(self, base: Dict, args: list[Value], node: ast.AST) -> Value:
        if len(args) != 2:
            raise self.unsupported(node, "get() without a default", "give one")
        key, default = args
        if base.table is None or base.item is None:
            return default
        if not self.accepts(base.item, default):
            raise self.unsupported(node, "a default of another type than the values", "", default=default)
        numbers = self._numbers_of_key(base, key, node)
        assert numbers is not None
        hashed = Hashed(self.emitter, base.table)
        _, entry = hashed.search(numbers)
        if has_lists(base.item) or has_texts(base.item):
            return self.assembled(base.item, iter(self._found_or_made(hashed, entry.value, base.item, default)))
        return self.assembled(base.item, iter(hashed.value_or(entry.value, list(numbers_of(default)))))

    def _found_or_made(self, hashed: Hashed, entry: Expr, item: ItemType, default: Value) -> list[Expr]:
        """The value of an entry, or a default in which lists are made only where it is needed."""
        emitter = self.emitter
        of = types_in(item)
        found = [variable(emitter, "value", Const(0, part), part) for part in of]
        with when(emitter, Op("ge", (entry, ZERO), BOOL)):
            for mine, number in zip(found, hashed.value_at(entry)):
                mine.set(number)
        with when(emitter, Op("lt", (entry, ZERO), BOOL)):
            for mine, number in zip(found, self.numbers(item, default)):
                mine.set(number)
        return [emitter.snapshot(mine.value, "value") for mine in found]

    def _dict_setdefault(self, base: Dict, args: list[Value], node: ast.AST) -> Value:
        if len(args) != 2:
            raise self.unsupported(node, "setdefault() without a default", "give one")
        self._typed(base, args[0], args[1], node)
        assert base.table is not None and base.item is not None
        # A list that is only made where it is needed has no name, so that nobody misses it elsewhere.
        held = None if has_lists(base.item) else self._held(base, args[1])
        numbers = self._numbers_of_key(base, args[0], node)
        assert numbers is not None
        hashed = Hashed(self.emitter, base.table)
        _, entry = hashed.search(numbers)
        self._keep_size(base, Op("ge", (entry.value, ZERO), BOOL))
        with when(self.emitter, Op("lt", (entry.value, ZERO), BOOL)):
            hashed.insert(numbers, self._held(base, args[1]) if held is None else held)
            entry.set(Op("sub", (hashed.entries.length.value, Const(1, INT)), INT))
        self.emitter.mutations += 1
        return self.assembled(base.item, iter(hashed.taken(entry.value)))

    def _dict_pop(self, base: Dict, args: list[Value], node: ast.AST) -> Value:
        if len(args) != 1 or base.is_set or base.item is None:
            raise self.unsupported(node, "this use of pop()", receiver=base)
        return self.assembled(base.item, iter(self.delete_entry(base, args[0], node)))

    def _dict_add(self, base: Dict, args: list[Value], node: ast.AST) -> Value:
        if len(args) != 1:
            raise self.unsupported(node, f"add() with {len(args)} arguments")
        self.store_item(base, args[0], None, node)
        return Object(None)

    def _dict_remove(self, base: Dict, args: list[Value], node: ast.AST) -> Value:
        if len(args) != 1:
            raise self.unsupported(node, f"remove() with {len(args)} arguments")
        self.delete_entry(base, args[0], node)
        return Object(None)

    def _dict_discard(self, base: Dict, args: list[Value], node: ast.AST) -> Value:
        if len(args) != 1:
            raise self.unsupported(node, f"discard() with {len(args)} arguments")
        self.delete_entry(base, args[0], node, missing_is_fine=True)
        return Object(None)
