"""What dicts and sets are asked for as wholes: comparisons, unions of dicts, symmetric differences, the first or last
entry.  In: the dicts; out: statements over their entries, in whatever order these lie where nobody sees it.
"""

from __future__ import annotations

import ast
from collections.abc import Callable

from weft.frontend import arith
from weft.frontend.building import Building
from weft.frontend.dicts import (
    delete_entry,
    dict_length,
    entries_of,
    keep_size,
    numbers_of_key,
    store_item,
    will_shrink,
)
from weft.frontend.items import has_lists, has_objects, has_texts, takes
from weft.frontend.listparts import equal_items
from weft.frontend.nested import untyped
from weft.frontend.tables import Hashed
from weft.frontend.values import Array, Dict, Iterable, Object, Records, Scalar, Tuple, Value
from weft.frontend.whole import copied_dict, keep_common, settle_entries, take_away, take_entries
from weft.frontend.writing import both, loop, variable, when
from weft.ir.expr import ONE, ZERO, Const, Expr, Op
from weft.ir.types import BOOL, INT, PYBOOL

#: Methods of sets that change the set as an operator in place does.
_UPDATES = {
    "intersection_update": ast.BitAnd,
    "difference_update": ast.Sub,
    "symmetric_difference_update": ast.BitXor,
}
_COMPARISONS = {"issubset": "le", "issuperset": "ge"}


class DictMethods(Building):
    """Dicts and sets compared and combined."""

    def _eval_dict(self, node: ast.Dict) -> Value:
        """{**a, key: value, **b}"""
        if None not in node.keys:
            return super()._eval_dict(node)
        made = self.new_dict(node)
        for key, item in zip(node.keys, node.values):
            *keys, value = self.evaluate_all([item] if key is None else [key, item])
            if keys:
                store_item(self, made, keys[0], value, node)
            elif isinstance(value, Dict) and not value.is_set:
                take_entries(self, made, value, node)  # as it is now, whatever later parts do to it
            else:
                raise self.unsupported(node, "a dict made from this by **", "make a dict of it first", other=value)
        return made

    # --- operators --------------------------------------------------------------------------------------------------

    def augment_dict(self, base: Dict, node: ast.AugAssign, value: Value) -> None:
        if isinstance(node.op, ast.BitXor) and base.is_set and isinstance(value, Dict) and value.is_set:
            _change_by(self, ast.BitXor, base, value, node)
            return
        super().augment_dict(base, node, value)

    # --- methods ----------------------------------------------------------------------------------------------------

    def dict_method(self, base: Dict, name: str, args: list[Value], node: ast.AST) -> Value:
        other = args[0] if len(args) == 1 else None
        if base.is_set and isinstance(other, Dict) and other.is_set:
            if name in _UPDATES:
                _change_by(self, _UPDATES[name], base, other, node)
                return Object(None)
            if name in _COMPARISONS:
                return dict_comparison(self, _COMPARISONS[name], base, other, node)
            if name == "isdisjoint":
                return _disjoint(self, base, other, node)
            if name == "symmetric_difference":
                made = dict_operation(self, "bitxor", base, other, node)
                assert made is not None
                return made
        if base.is_set and name == "union" and (other is None or not isinstance(other, Dict)):
            united = copied_dict(self, base, node)
            for one in args:
                self._dict_update(united, [one], node)
            return united
        if base.is_set and name == "intersection" and len(args) > 1:
            common: Value = base
            for one in args:
                assert isinstance(common, Dict)
                common = self.dict_method(common, name, [one], node)
            return common
        if base.is_set and name in _UPDATES and isinstance(other, (Array, Records, Tuple, Iterable)):
            if name == "difference_update":
                _take_items(self, base, other, node)
                return Object(None)
        return super().dict_method(base, name, args, node)

    def _dict_popitem(self, base: Dict, args: list[Value], node: ast.AST) -> Value:
        if args or base.is_set:
            raise self.unsupported(node, "this use of popitem()", receiver=base)
        will_shrink(self, base, node)
        if base.table is None or base.key is None or base.item is None:
            raise untyped(self, node, "an entry of a dict to which nothing has been added")
        emitter, hashed = self.emitter, Hashed(self.emitter, base.table)
        keep_size(self, base, Const(False, BOOL))
        emitter.check(Op("gt", (hashed.live.value, ZERO), BOOL), "KeyError", "'popitem(): dictionary is empty'")
        hashed.compact()
        last = emitter.snapshot(Op("sub", (hashed.entries.length.value, ONE), INT), "last")
        taken = hashed.entries.taken(last)
        hashed.remove(last)
        emitter.mutations += 1
        keys = base.table.keys
        return Tuple((self.assembled(base.key, iter(taken[:keys])), self.assembled(base.item, iter(taken[keys:-1]))))

    def _dict_pop(self, base: Dict, args: list[Value], node: ast.AST) -> Value:
        """base.pop(key, default)"""
        if base.is_set or len(args) != 2:
            return super()._dict_pop(base, args, node)
        key, default = args
        if base.table is None or base.item is None:
            will_shrink(self, base, node)
            if numbers_of_key(self, base, key, node) is None:
                return default
        assert base.item is not None
        if not isinstance(default, Scalar) or not takes(base.item, self.layout(default)):
            raise self.unsupported(node, "a default of another type than the values", default=default)
        numbers = [self.emitter.snapshot(number, "default") for number in self.numbers(base.item, default)]
        found = [variable(self.emitter, "value", number) for number in numbers]
        there = self.emitter.snapshot(self.contains(base, key, node), "there")
        with when(self.emitter, both(there)):
            for mine, number in zip(found, delete_entry(self, base, key, node)):
                mine.set(number)
        return self.assembled(base.item, iter([self.emitter.snapshot(mine.value, "value") for mine in found]))


def dict_comparison(builder: Building, name: str, left: Dict, right: Dict, node: ast.AST) -> Value:
    """left == right; of sets also left <= right and so on: one is a part of the other."""
    if left.is_set != right.is_set:
        if name in ("eq", "ne"):
            return Scalar(Const(name == "ne", PYBOOL))
        raise builder.unsupported(node, "this comparison", left=left, right=right)
    if name in ("eq", "ne"):
        if left.counts or right.counts:
            raise builder.unsupported(node, "a comparison of Counters", "compare their entries", left=left)
        counts = Op("eq", (dict_length(builder, left), dict_length(builder, right)), BOOL)
        same = _is_part(builder, left, right, counts, node)
        return Scalar(arith.cast(same if name == "eq" else Op("not", (same,), BOOL), PYBOOL))
    if not left.is_set:
        raise builder.unsupported(node, "this comparison", left=left, right=right)
    if name in ("ge", "gt"):
        left, right = right, left
    fewer = "lt" if name in ("lt", "gt") else "le"
    counts = Op(fewer, (dict_length(builder, left), dict_length(builder, right)), BOOL)
    return Scalar(arith.cast(_is_part(builder, left, right, counts, node), PYBOOL))


def _is_part(builder: Building, left: Dict, right: Dict, counts: Expr, node: ast.AST) -> Expr:
    """Whether every entry of the first is one of the second, if their numbers allow it."""
    if left.table is None or right.table is None:
        return builder.emitter.snapshot(counts, "counts")
    values = left.item is not None
    if values and (has_lists(left.item) or has_texts(left.item) or has_objects(left.item)):
        raise builder.unsupported(node, "a comparison of dicts of such values", left=left, right=right)

    def there(key: Value, value: Value | None) -> Expr:
        if value is None:
            return builder.contains(right, key, node)
        numbers = numbers_of_key(builder, right, key, node)
        assert numbers is not None and right.table is not None and right.item is not None
        hashed = Hashed(builder.emitter, right.table)
        _, entry = hashed.search(numbers)
        found = variable(builder.emitter, "found", Op("ge", (entry.value, ZERO), BOOL))
        with when(builder.emitter, found.value):
            other = builder.assembled(right.item, iter(hashed.taken(entry.value)))
            found.set(equal_items(builder, value, other, node))
        return found.value

    return _holds_of_all(builder, left, counts, there, node)


def _holds_of_all(
    builder: Building, base: Dict, first: Expr, test: Callable[[Value, Value | None], Expr], node: ast.AST
) -> Expr:
    """Whether something holds, and then of all entries, too."""
    emitter = builder.emitter
    holds = variable(emitter, "holds", arith.cast(first, BOOL))
    what = "keys" if base.item is None else "items"
    run = builder.iteration(entries_of(builder, base, what, node, ordered=False), node)
    with loop(emitter, ZERO, emitter.stable(run.trips)) as at, when(emitter, holds.value):
        entry = run.item(at)
        key, value = entry.items if isinstance(entry, Tuple) and base.item is not None else (entry, None)
        holds.set(arith.cast(test(key, value), BOOL))
    return emitter.snapshot(holds.value, "holds")


def _disjoint(builder: Building, left: Dict, right: Dict, node: ast.AST) -> Value:
    if left.table is None or right.table is None:
        return Scalar(Const(True, PYBOOL))
    apart = _holds_of_all(
        builder, left, Const(True, BOOL), lambda key, _: Op("not", (builder.contains(right, key, node),), BOOL), node
    )
    return Scalar(arith.cast(apart, PYBOOL))


def dict_operation(builder: Building, op: str, left: Dict, right: Dict, node: ast.AST) -> Value | None:
    """left OP right of two dicts or sets; None if there is no such operator."""
    if left.is_set and right.is_set:
        if op == "bitxor":
            made = copied_dict(builder, right, node)
            _toggle(builder, made, left, node)
            return made
        return builder.set_operation(op, left, right, node) if op in ("bitor", "bitand", "sub") else None
    if left.counts and right.counts:
        # Defined over entries, in a module that builds upon this one.
        from weft.frontend.knowledge.counters import OPERATORS

        builder.calling = node
        return builder.expand(OPERATORS[op], {"left": left, "right": right}) if op in OPERATORS else None
    plain = not any(one.is_set or one.counts for one in (left, right))
    if op != "bitor" or not plain or left.default is not None or right.default is not None:
        return None
    made = copied_dict(builder, left, node)
    builder._dict_update(made, [right], node)
    return made


def size_of_operation(builder: Building, op: str, left: Dict, right: Dict, node: ast.AST) -> Value:
    """len(left | right), len(left & right), len(left - right)"""
    emitter = builder.emitter
    sizes = [emitter.snapshot(Op("add", (dict_length(builder, held), ZERO), INT), "size") for held in (left, right)]
    common = variable(emitter, "common", ZERO)
    if left.table is not None and right.table is not None:
        smaller = emitter.snapshot(Op("le", (sizes[0], sizes[1]), BOOL), "smaller")
        for wanted, one, other in ((smaller, left, right), (Op("not", (smaller,), BOOL), right, left)):
            with when(emitter, wanted):
                run = builder.iteration(entries_of(builder, one, "keys", node, ordered=False), node)
                with loop(emitter, ZERO, emitter.stable(run.trips)) as at:
                    found = builder.contains(other, run.item(at), node)
                    common.set(Op("add", (common.value, Op("select", (found, ONE, ZERO), INT)), INT))
    both_ways = emitter.snapshot(common.value, "common")
    if op == "bitand":
        return Scalar(both_ways)
    first = sizes[0] if op == "sub" else Op("add", (sizes[0], sizes[1]), INT)
    return Scalar(emitter.snapshot(Op("sub", (first, both_ways), INT), "size"))


def _toggle(builder: Building, base: Dict, other: Dict, node: ast.AST) -> None:
    """base ^= other: the items of the other one go if they are there, else they come."""
    if other.table is None:
        return
    will_shrink(builder, base, node)
    if base.table is None and other.key is not None:
        settle_entries(builder, base, other)
    run = builder.iteration(entries_of(builder, other, "keys", node, ordered=False), node)
    with loop(builder.emitter, ZERO, builder.emitter.stable(run.trips)) as at:
        key = run.item(at)
        there = builder.emitter.snapshot(builder.contains(base, key, node), "there")
        with when(builder.emitter, there):
            delete_entry(builder, base, key, node, missing_is_fine=True)
        with when(builder.emitter, Op("not", (there,), BOOL)):
            store_item(builder, base, key, None, node)


def _change_by(builder: Building, op: type[ast.operator], base: Dict, value: Dict, node: ast.AST) -> None:
    if value.table is not None and value.table == base.table:
        if op is not ast.BitAnd:
            builder._dict_clear(base, [], node)
    elif op is ast.BitXor:
        _toggle(builder, base, value, node)
    elif op is ast.Sub:
        take_away(builder, base, value, node)
    else:
        keep_common(builder, base, value, node)


def _take_items(builder: Building, base: Dict, items: Value, node: ast.AST) -> None:
    """Every item of a sequence is taken out of a set."""
    if isinstance(items, Tuple):
        for item in items.items:
            delete_entry(builder, base, item, node, missing_is_fine=True)
    else:
        run = builder.iteration(items, node)
        with loop(builder.emitter, ZERO, builder.emitter.stable(run.trips)) as at:
            delete_entry(builder, base, run.item(at), node, missing_is_fine=True)
