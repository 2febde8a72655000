"""Whole dicts and sets: copies, unions, and variables that get another one.  In: the dicts; out: statements that copy
their entries.

    rank = new    -->    `rank` becomes a copy of `new`, which nobody looks at before it is made anew
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from weft.frontend import growing, tables
from weft.frontend.dicts import Dicts
from weft.frontend.emit import Restart
from weft.frontend.growing import EXTRA_ROOM, Cells
from weft.frontend.items import has_either, row_of, types_in
from weft.frontend.scope import Scope, Slot
from weft.frontend.setorder import Ordered, has_order, table_of, with_order
from weft.frontend.values import Dict, Object, Scalar, Struct, Table, Tuple, Value
from weft.frontend.writing import Variable, loop, when
from weft.ir import index as ix
from weft.ir.expr import ZERO, Const, Op, Read, integer
from weft.ir.program import Alloc
from weft.ir.types import BOOL, INT


class WholeDicts(Dicts):
    """Dicts and sets as wholes."""

    statement: ast.stmt

    # --- copies -----------------------------------------------------------------------------------------------------

    def copied_dict(self, base: Dict, node: ast.AST, is_set: bool | None = None, given: bool = False) -> Dict:
        """dict(base), base.copy(), set(base); `given`: the same set, in memory of the function's own."""
        made = self.new_dict(node, base.is_set if is_set is None else is_set, None)
        if base.table is None or base.key is None:
            return made
        if made.table is None:
            self.emitter.decisions.entries[made.place] = (base.key, None if made.is_set else base.item)
            raise Restart
        if has_either(base.key):
            raise self.unsupported(node, "a copy of a dict with keys of two types", "make it in a loop", base=base)
        if (made.key, made.item) != (base.key, None if made.is_set else base.item):
            raise self.unsupported(node, "a copy of a dict with keys or values of different types", base=base)
        if row_of(made) is not None and given:
            raise self.unsupported(node, "a dict or set that is an argument in a container", "put a copy there")
        if made.is_set and not given:
            self.unlike_additions(made)
            if made.table.order is not None:
                self._merge_set(made, base, node)
                return made
        if row_of(made) is not None:
            self._copy_entries(made, base, node)
            return made
        hashed = table_of(self.emitter, base.table)
        hashed.compact()
        count = hashed.entries.last()
        types = [*types_in(made.key), *types_in(made.item), BOOL]
        entries = growing.make(self.emitter, "copy", types, ix.add(count, integer(EXTRA_ROOM)))
        columns = hashed.entries.growing.data[: len(types) - 1]
        with loop(self.emitter, ZERO, count) as at:
            Cells(self.emitter, entries).write(at, hashed.entries.read(at)[: len(columns)])
        Cells(self.emitter, entries).length.set(count)
        table = tables.filled(self.emitter, "copy", entries, base.table.keys, count, indexed=True)
        if made.table.order is not None:
            table = with_order(self.emitter, table, made.table.order.layout)
            Ordered(self.emitter, table).as_given()
        return Dict(table, made.key, made.item, made.is_set, None, made.place)

    def _copy_entries(self, made: Dict, base: Dict, node: ast.AST) -> None:
        if made.is_set:
            self.add_all(made, self.entries_of(base, "keys", node, ordered=False), node)
        else:
            self._take_entries(made, base, node)

    def share_memory(self, one: Dict, other: Dict) -> None:
        """Two dicts that a variable denotes in turn: both are among others from the start, and of one type."""
        self._settle_entries(one, other)
        for held in (one, other):
            if row_of(held) is None and held.table is not None:
                raise self.among_others(held)

    def _merge_set(self, made: Dict, other: Dict, node: ast.AST) -> None:
        """What another set or dict holds is put into a set whose order is kept."""
        assert made.table is not None
        if other.table is None or other.table == made.table:
            return
        hashed = Ordered(self.emitter, made.table)
        if other.is_set:
            hashed.merge(self.need_order(other, node))
        else:
            if other.default is None and not other.counts:
                hashed.expect(self.dict_length(other))
            self.add_all(made, self.entries_of(other, "keys", node), node)
        self.emitter.mutations += 1

    def _dict_copy(self, base: Dict, args: list[Value], node: ast.AST) -> Value:
        if args or base.default is not None or base.counts:
            raise self.unsupported(node, "this use of copy()", receiver=base)
        return self.copied_dict(base, node)

    def _dict_update(self, base: Dict, args: list[Value], node: ast.AST) -> Value:
        """Entries of another dict, or items of a sequence, are put in."""
        for other in args:
            if base.counts:
                self.count_all(base, other, node)
            elif base.is_set:
                self._update_set(base, other, node)
            elif isinstance(other, Dict) and not other.is_set:
                self._take_entries(base, other, node)
            else:
                raise self.unsupported(node, "update() by this", "store its entries in a loop", other=other)
        return Object(None)

    def _update_set(self, base: Dict, other: Value, node: ast.AST) -> None:
        if not isinstance(other, Dict):
            self.add_all(base, other, node)
            return
        if other.table is None:
            return
        self.will_change(base)
        if self.identity(base) in self.argument_of and has_order(base.key):
            raise self.unsupported(node, "a set that is an argument gets all items of another", "add them in a loop")
        self.unlike_additions(base)
        if base.table is None or base.table.order is None:
            self.add_all(base, self.entries_of(other, "keys", node, ordered=False), node)
        elif base.key != other.key:
            raise self.unsupported(node, "a set of items of different types", "keep one type in it", other=other)
        else:
            self.keep_size(base, Const(False, BOOL))
            self._merge_set(base, other, node)

    def _take_entries(self, base: Dict, other: Dict, node: ast.AST) -> None:
        if other.table is None:
            return
        run = self.iteration(self.entries_of(other, "items", node), node)
        with loop(self.emitter, ZERO, self.emitter.stable(run.trips)) as at:
            entry = run.item(at)
            assert isinstance(entry, Tuple)
            self.store_item(base, entry.items[0], entry.items[1], node)

    def count_all(self, base: Dict, items: Value, node: ast.AST) -> None:
        """Every item of a sequence is counted."""
        if isinstance(items, Dict):
            raise self.unsupported(node, "a Counter of a dict", "count its entries in a loop", items=items)
        if isinstance(items, Tuple):
            for item in items.items:
                self._count_one(base, item, node)
            return
        run = self.iteration(items, node)
        with loop(self.emitter, ZERO, self.emitter.stable(run.trips)) as at:
            self._count_one(base, run.item(at), node)

    def _count_one(self, base: Dict, key: Value, node: ast.AST) -> None:
        if base.table is None:
            self._typed(base, key, Scalar(ZERO), node)
        old = self.item(base, key, node)
        assert isinstance(old, Scalar)
        self.store_item(base, key, Scalar(Op("add", (old.expr, integer(1)), INT)), node)

    # --- sets -------------------------------------------------------------------------------------------------------

    def set_operation(self, op: str, left: Dict, right: Dict, node: ast.AST) -> Value:
        """left | right, left & right, left - right: a new set, in no order that anybody sees."""
        if op == "bitor":
            made = self.copied_dict(left, node)
            self._dict_update(made, [right], node)
            return made
        made = self.new_dict(node, is_set=True)
        if left.table is None or (right.table is None and op == "bitand"):
            return made
        self.unlike_additions(made)
        if made.table is None or made.table.order is None:
            self._chosen_items(made, op, left, right, node, ordered=False)
        elif op == "bitand":
            larger = Op("gt", (self.dict_length(right), self.dict_length(left)), BOOL)
            swapped = self.emitter.snapshot(larger, "swapped")
            with when(self.emitter, swapped):
                self._chosen_items(made, op, left, right, node)
            with when(self.emitter, Op("not", (swapped,), BOOL)):
                self._chosen_items(made, op, right, left, node)
        else:
            self._set_difference(made, left, right, node)
        return made

    def _chosen_items(self, made: Dict, op: str, left: Dict, right: Dict, node: ast.AST, ordered: bool = True) -> None:
        """The items of the first set that are in the second, or are not, are added."""
        run = self.iteration(self.entries_of(left, "keys", node, ordered=ordered), node)
        with loop(self.emitter, ZERO, self.emitter.stable(run.trips)) as at:
            key = run.item(at)
            there = self.contains(right, key, node)
            kept = there if op == "bitand" else Op("not", (there,), BOOL)
            with when(self.emitter, kept):
                self.store_item(made, key, None, node)

    def _set_difference(self, made: Dict, left: Dict, right: Dict, node: ast.AST) -> None:
        """left - right in order: if few items go, CPython takes them out of a copy."""
        emitter = self.emitter
        quarter = Op("shr", (self.dict_length(left), integer(2)), INT)
        few = emitter.snapshot(Op("gt", (quarter, self.dict_length(right)), BOOL), "few")
        with when(emitter, few):
            self._merge_set(made, left, node)
            self._take_away(made, right, node)
        with when(emitter, Op("not", (few,), BOOL)):
            self._chosen_items(made, "sub", left, right, node)

    def augment_dict(self, base: Dict, node: ast.AugAssign, value: Value) -> None:
        """base |= value, base -= value, base &= value: they change the dict or set itself."""
        if not isinstance(value, Dict) or value.is_set != base.is_set:
            raise self.unsupported(node, "an update in place of a dict or set by this", value=value)
        if isinstance(node.op, ast.BitOr) and not base.counts and not value.counts:
            self._dict_update(base, [value], node)
        elif isinstance(node.op, ast.Sub) and base.is_set and value.table != base.table:
            self._take_away(base, value, node)
        elif isinstance(node.op, ast.BitAnd) and base.is_set:
            self._keep_common(base, value, node)
        else:
            raise self.unsupported(node, "an update in place of a dict or set by this", value=value)

    def _keep_common(self, base: Dict, other: Dict, node: ast.AST) -> None:
        """base &= other"""
        self.will_shrink(base, node)
        self.keep_size(base, Const(False, BOOL))
        found = self.set_operation("bitand", base, other, node)
        assert isinstance(found, Dict)
        if base.table is not None and found.table is None:
            self._dict_clear(base, [], node)
        elif row_of(base) is not None and base.table is not None:
            if base.table.order is not None:
                raise self.unsupported(node, "a set in a container, in its order, that becomes an intersection")
            self._dict_clear(base, [], node)
            self.add_all(base, self.entries_of(found, "keys", node, ordered=False), node)
        elif base.table is not None and found.table is not None:
            if base.table.order is not None or found.table.order is not None:
                self.need_order(base, node)
                self.need_order(found, node)
            self._take_over(base.table, found.table, finger=False)
        self.emitter.mutations += 1

    def _take_away(self, base: Dict, other: Dict, node: ast.AST) -> None:
        """base -= other"""
        if other.table is None or base.table is None:
            return
        run = self.iteration(self.entries_of(other, "keys", node, ordered=False), node)
        with loop(self.emitter, ZERO, self.emitter.stable(run.trips)) as at:
            self.delete_entry(base, run.item(at), node, missing_is_fine=True)
        if base.table.order is not None:
            Ordered(self.emitter, base.table).forget_gone()

    # --- variables --------------------------------------------------------------------------------------------------

    def own_copy(self, value: Dict, node: ast.AST) -> Dict:
        """What a variable holds that is an argument at first and gets another dict later."""
        name = self.argument_of.get(self.identity(value) or "")
        if name is None or name in self.emitter.decisions.changing or value.default is not None or value.counts:
            raise self.unsupported(node, "a dict or set that is an argument, changed, and then another one")
        made = self.copied_dict(value, node, given=True)
        self.argument_of[self.identity(made) or ""] = name  # a change of it is one of the argument
        return made

    def move_dict(self, name: str, slot: Slot, current: Dict, value: Dict) -> None:
        """name = value, where it is a dict already: it takes over the other's entries."""
        same_kind = (current.is_set, current.counts, current.movable) == (value.is_set, value.counts, value.movable)
        if not same_kind or current.default != value.default:
            raise self.apart(slot.branch, self._changes_kind(name, current, value))
        if current.table is None or value.table is None:
            self._settle_entries(current, value)
            return
        if (current.key, current.item) != (value.key, value.item) or not current.table.entries.spare:
            raise self.apart(slot.branch, self._changes_kind(name, current, value))
        live = self.scope.liveness.live_after(self.statement)
        for held in (current, value):
            if any(other != name and (other in live or deep) for other, deep in self._holders(held)):
                if self.identity(held) not in self.own and isinstance(current.default, (Scalar, Tuple, type(None))):
                    raise self.among_others(held)
                raise self.unsupported(None, f"{name} gets a dict or set that another name has, too", "use .copy()")
            if self.identity(held) in self.own:
                raise self.unsupported(None, f"{name} gets a dict or set that is an argument", "use .copy()")
        if current.is_set:
            for held in (current, value):
                self.unlike_additions(held)
            if current.table.order is not None or value.table.order is not None:
                self.need_order(current, None)
                self.need_order(value, None)
        if value.table != current.table:
            self._take_over(current.table, value.table)
        self.emitter.mutations += 1

    def _settle_entries(self, one: Dict, other: Dict) -> None:
        """An empty dict holds what the other one does."""
        entries = self.emitter.decisions.entries
        for empty, known in ((one, other), (other, one)):
            if empty.table is None and known.table is not None and known.key is not None:
                entries[empty.place] = (known.key, known.item)
                raise Restart

    def _holders(self, held: Dict) -> Iterator[tuple[str, bool]]:
        """Names of a dict; and whether it is a part of what they denote, or a name elsewhere."""
        wanted = self.identity(held)
        scope: Scope | None = self.scope
        while scope is not None:
            for name, value in scope.values.items():
                if isinstance(value, (Tuple, Struct)):
                    if any(self.identity(part) == wanted for part in _parts(value)):
                        yield name, True
                elif self.identity(value) == wanted:
                    yield name, scope is not self.scope
            scope = scope.parent

    def _take_over(self, one: Table, other: Table, finger: bool = True) -> None:
        """The first table becomes a copy of the second; `finger`: it also pops the items in the same order.

        Its own memory may not be there yet: the name got its first dict in another branch.
        """
        emitter = self.emitter
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
        if one.order is not None:
            Ordered(emitter, one).take_over(Ordered(emitter, other), finger)


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
