"""Whole dicts and sets: copies, unions, and variables that get another one.  In: the dicts; out: statements that copy
their entries.

    rank = new    -->    `rank` becomes a copy of `new`, which nobody looks at before it is made anew
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from weft.frontend import growing, revisions, tables
from weft.frontend.building import Building
from weft.frontend.core import changes_kind
from weft.frontend.dicts import (
    add_all,
    delete_entry,
    entries_of,
    has_order,
    keep_size,
    store_item,
    typed,
    unlike_additions,
    will_shrink,
)
from weft.frontend.growing import EXTRA_ROOM, Cells
from weft.frontend.items import has_either, row_of, types_in
from weft.frontend.scope import Scope, Slot
from weft.frontend.slots import apart
from weft.frontend.tables import Hashed
from weft.frontend.values import Dict, Object, Scalar, Struct, Table, Tuple, Value
from weft.frontend.writing import Variable, loop, when
from weft.ir import index as ix
from weft.ir.expr import ZERO, Const, Op, Read, integer
from weft.ir.program import Alloc
from weft.ir.types import BOOL, INT


class WholeDicts(Building):
    """Dicts and sets as wholes."""

    # --- copies -----------------------------------------------------------------------------------------------------

    def _dict_copy(self, base: Dict, args: list[Value], node: ast.AST) -> Value:
        if args or base.default is not None or base.counts:
            raise self.unsupported(node, "this use of copy()", receiver=base)
        return copied_dict(self, base, node)

    def _dict_update(self, base: Dict, args: list[Value], node: ast.AST) -> Value:
        """Entries of another dict, or items of a sequence, are put in."""
        for other in args:
            if base.counts:
                count_all(self, base, other, node)
            elif base.is_set:
                _update_set(self, base, other, node)
            elif isinstance(other, Dict) and not other.is_set:
                take_entries(self, base, other, node)
            else:
                raise self.unsupported(node, "update() by this", "store its entries in a loop", other=other)
        return Object(None)

    # --- sets -------------------------------------------------------------------------------------------------------

    def set_operation(self, op: str, left: Dict, right: Dict, node: ast.AST) -> Value:
        """left | right, left & right, left - right: a new set, in no order that anybody sees."""
        if op == "bitor":
            made = copied_dict(self, left, node)
            self._dict_update(made, [right], node)
            return made
        made = self.new_dict(node, is_set=True)
        if left.table is None or (right.table is None and op == "bitand"):
            return made
        unlike_additions(self, made)
        _chosen_items(self, made, op, left, right, node)
        return made

    def augment_dict(self, base: Dict, node: ast.AugAssign, value: Value) -> None:
        """base |= value, base -= value, base &= value: they change the dict or set itself."""
        if not isinstance(value, Dict) or value.is_set != base.is_set:
            raise self.unsupported(node, "an update in place of a dict or set by this", value=value)
        if isinstance(node.op, ast.BitOr) and not base.counts and not value.counts:
            self._dict_update(base, [value], node)
        elif isinstance(node.op, ast.Sub) and base.is_set and value.table != base.table:
            take_away(self, base, value, node)
        elif isinstance(node.op, ast.BitAnd) and base.is_set:
            keep_common(self, base, value, node)
        else:
            raise self.unsupported(node, "an update in place of a dict or set by this", value=value)

    # --- variables --------------------------------------------------------------------------------------------------

    def own_copy(self, value: Dict, node: ast.AST) -> Dict:
        """What a variable holds that is an argument at first and gets another dict later."""
        name = self.argument_of.get(self.identity(value) or "")
        if name is None or name in self.emitter.decisions.changing or value.default is not None or value.counts:
            raise self.unsupported(node, "a dict or set that is an argument, changed, and then another one")
        made = copied_dict(self, value, node, given=True)
        self.argument_of[self.identity(made) or ""] = name  # a change of it is one of the argument
        return made

    def move_dict(self, name: str, slot: Slot, current: Dict, value: Dict) -> None:
        """name = value, where it is a dict already: it takes over the other's entries."""
        same_kind = (current.is_set, current.counts) == (value.is_set, value.counts)
        if not same_kind or current.default != value.default:
            raise apart(self, slot.branch, changes_kind(self, name, current, value))
        if current.table is None or value.table is None:
            settle_entries(self, current, value)
            return
        if (current.key, current.item) != (value.key, value.item) or not current.table.entries.spare:
            raise apart(self, slot.branch, changes_kind(self, name, current, value))
        live = self.scope.liveness.live_after(self.statement)
        for held in (current, value):
            if any(other != name and (other in live or deep) for other, deep in _holders(self, held)):
                reason = f"{name} gets a dict or set that another name has, too"
                raise self.unsupported(None, reason, "use .copy()", value=value)
            if self.identity(held) in self.own:
                raise self.unsupported(None, f"{name} gets a dict or set that is an argument", "use .copy()")
        if current.is_set:
            for held in (current, value):
                unlike_additions(self, held)
        if value.table != current.table:
            _take_over(self, current.table, value.table)
        self.emitter.mutations += 1


def copied_dict(builder: Building, base: Dict, node: ast.AST, is_set: bool | None = None, given: bool = False) -> Dict:
    """dict(base), base.copy(), set(base); `given`: the same set, in memory of the function's own."""
    made = builder.new_dict(node, base.is_set if is_set is None else is_set, None)
    if base.table is None or base.key is None:
        return made
    if made.table is None:
        revisions.holds_entries(builder, made.place, base.key, None if made.is_set else base.item)
    if has_either(base.key):
        raise builder.unsupported(node, "a copy of a dict with keys of two types", "make it in a loop", base=base)
    if (made.key, made.item) != (base.key, None if made.is_set else base.item):
        raise builder.unsupported(node, "a copy of a dict with keys or values of different types", base=base)
    if row_of(made) is not None and given:
        raise builder.unsupported(node, "a dict or set that is an argument in a container", "put a copy there")
    if made.is_set and not given:
        unlike_additions(builder, made)
    if row_of(made) is not None:
        _copy_entries(builder, made, base, node)
        return made
    hashed = Hashed(builder.emitter, base.table)
    hashed.compact()
    count = hashed.entries.last()
    types = [*types_in(made.key), *types_in(made.item), BOOL]
    entries = growing.make(builder.emitter, "copy", types, ix.add(count, integer(EXTRA_ROOM)))
    columns = hashed.entries.growing.data[: len(types) - 1]
    with loop(builder.emitter, ZERO, count) as at:
        Cells(builder.emitter, entries).write(at, hashed.entries.read(at)[: len(columns)])
    Cells(builder.emitter, entries).length.set(count)
    table = tables.filled(builder.emitter, "copy", entries, base.table.keys, count, indexed=True)
    return Dict(table, made.key, made.item, made.is_set, None, made.place)


def _copy_entries(builder: Building, made: Dict, base: Dict, node: ast.AST) -> None:
    if made.is_set:
        add_all(builder, made, entries_of(builder, base, "keys", node, ordered=False), node)
    else:
        take_entries(builder, made, base, node)


def _update_set(builder: Building, base: Dict, other: Value, node: ast.AST) -> None:
    if not isinstance(other, Dict):
        add_all(builder, base, other, node)
        return
    if other.table is None:
        return
    builder.will_change(base)
    if builder.identity(base) in builder.argument_of and has_order(base.key):
        raise builder.unsupported(node, "a set that is an argument gets all items of another", "add them in a loop")
    unlike_additions(builder, base)
    add_all(builder, base, entries_of(builder, other, "keys", node, ordered=False), node)


def take_entries(builder: Building, base: Dict, other: Dict, node: ast.AST) -> None:
    if other.table is None:
        return
    run = builder.iteration(entries_of(builder, other, "items", node), node)
    with loop(builder.emitter, ZERO, builder.emitter.stable(run.trips)) as at:
        entry = run.item(at)
        assert isinstance(entry, Tuple)
        store_item(builder, base, entry.items[0], entry.items[1], node)


def count_all(builder: Building, base: Dict, items: Value, node: ast.AST) -> None:
    """Every item of a sequence is counted."""
    if isinstance(items, Dict):
        raise builder.unsupported(node, "a Counter of a dict", "count its entries in a loop", items=items)
    if isinstance(items, Tuple):
        for item in items.items:
            _count_one(builder, base, item, node)
        return
    run = builder.iteration(items, node)
    with loop(builder.emitter, ZERO, builder.emitter.stable(run.trips)) as at:
        _count_one(builder, base, run.item(at), node)


def _count_one(builder: Building, base: Dict, key: Value, node: ast.AST) -> None:
    if base.table is None:
        typed(builder, base, key, Scalar(ZERO), node)
    old = builder.item(base, key, node)
    assert isinstance(old, Scalar)
    store_item(builder, base, key, Scalar(Op("add", (old.expr, integer(1)), INT)), node)


def _chosen_items(builder: Building, made: Dict, op: str, left: Dict, right: Dict, node: ast.AST) -> None:
    """The items of the first set that are in the second, or are not, are added."""
    run = builder.iteration(entries_of(builder, left, "keys", node, ordered=False), node)
    with loop(builder.emitter, ZERO, builder.emitter.stable(run.trips)) as at:
        key = run.item(at)
        there = builder.contains(right, key, node)
        kept = there if op == "bitand" else Op("not", (there,), BOOL)
        with when(builder.emitter, kept):
            store_item(builder, made, key, None, node)


def keep_common(builder: Building, base: Dict, other: Dict, node: ast.AST) -> None:
    """base &= other"""
    will_shrink(builder, base, node)
    keep_size(builder, base, Const(False, BOOL))
    found = builder.set_operation("bitand", base, other, node)
    assert isinstance(found, Dict)
    if base.table is not None and found.table is None:
        builder._dict_clear(base, [], node)
    elif row_of(base) is not None and base.table is not None:
        builder._dict_clear(base, [], node)
        add_all(builder, base, entries_of(builder, found, "keys", node, ordered=False), node)
    elif base.table is not None and found.table is not None:
        _take_over(builder, base.table, found.table)
    builder.emitter.mutations += 1


def take_away(builder: Building, base: Dict, other: Dict, node: ast.AST) -> None:
    """base -= other"""
    if other.table is None or base.table is None:
        return
    run = builder.iteration(entries_of(builder, other, "keys", node, ordered=False), node)
    with loop(builder.emitter, ZERO, builder.emitter.stable(run.trips)) as at:
        delete_entry(builder, base, run.item(at), node, missing_is_fine=True)


def settle_entries(builder: Building, one: Dict, other: Dict) -> None:
    """An empty dict holds what the other one does."""
    for empty, known in ((one, other), (other, one)):
        if empty.table is None and known.table is not None and known.key is not None:
            revisions.holds_entries(builder, empty.place, known.key, known.item)


def _holders(builder: Building, held: Dict) -> Iterator[tuple[str, bool]]:
    """Names of a dict; and whether it is a part of what they denote, or a name elsewhere."""
    wanted = builder.identity(held)
    scope: Scope | None = builder.scope
    while scope is not None:
        for name, value in scope.values.items():
            if isinstance(value, (Tuple, Struct)):
                if any(builder.identity(part) == wanted for part in _parts(value)):
                    yield name, True
            elif builder.identity(value) == wanted:
                yield name, scope is not builder.scope
        scope = scope.parent


def _take_over(builder: Building, one: Table, other: Table) -> None:
    """The first table becomes a copy of the second.

    Its own memory may not be there yet: the name got its first dict in another branch.
    """
    emitter = builder.emitter
    mine, yours = Cells(emitter, one.entries), Cells(emitter, other.entries)
    count = yours.last()
    mine.start_again(count)
    for target, source in zip(one.entries.data, other.entries.data):
        dims, at = emitter.domain((count,))
        emitter.assign(dims, target, at, Read(source, at, emitter.buffers[source].type))
    places = emitter.snapshot(Op("add", (Read(other.places, (), INT), ZERO), INT), "places")
    Variable(emitter, one.places, INT).set(places)
    emitter.emit(Alloc(one.index, False, emitter.span))
    dims, at = emitter.domain((places,))
    emitter.assign(dims, one.index, at, Read(other.index, at, INT))
    mine.length.set(count)
    Variable(emitter, one.live, INT).set(Read(other.live, (), INT))


def _parts(value: Value) -> Iterator[Value]:
    if isinstance(value, Tuple):
        for item in value.items:
            yield from _parts(item)
    elif isinstance(value, Struct):
        for held in value.fields.values():
            if not isinstance(held, Slot):
                yield from _parts(held)
    else:
        yield value
