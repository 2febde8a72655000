"""What dicts and sets are asked for as wholes: comparisons, unions of dicts, symmetric differences, the first or last
entry.  In: the dicts; out: statements over their entries, in whatever order these lie where nobody sees it.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from weft.frontend import arith
from weft.frontend.items import has_lists, has_objects, has_texts, takes
from weft.frontend.setorder import table_of
from weft.frontend.values import Array, Dict, Iterable, Object, Records, Scalar, Tuple, Value
from weft.frontend.whole import WholeDicts
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


class DictMethods(WholeDicts):
    """Dicts and sets compared and combined."""

    calling: ast.AST

    def expand(self, function: Callable[..., Any], given: Mapping[str, Value], args: Sequence[Value] = ()) -> Value:
        raise NotImplementedError

    def _eval_dict(self, node: ast.Dict) -> Value:
        """{**a, key: value, **b}"""
        if None not in node.keys:
            return super()._eval_dict(node)
        made = self.new_dict(node)
        for key, item in zip(node.keys, node.values):
            *keys, value = self.evaluate_all([item] if key is None else [key, item])
            if keys:
                self.store_item(made, keys[0], value, node)
            elif isinstance(value, Dict) and not value.is_set:
                self._take_entries(made, value, node)  # as it is now, whatever later parts do to it
            else:
                raise self.unsupported(node, "a dict made from this by **", other=value)
        return made

    # --- comparisons ------------------------------------------------------------------------------------------------

    def dict_comparison(self, name: str, left: Dict, right: Dict, node: ast.AST) -> Value:
        """left == right; of sets also left <= right and so on: one is a part of the other."""
        if left.is_set != right.is_set:
            if name in ("eq", "ne"):
                return Scalar(Const(name == "ne", PYBOOL))
            raise self.unsupported(node, "this comparison", left=left, right=right)
        if left.movable and right.movable:
            raise self.unsupported(node, "a comparison of two OrderedDicts", "compare their items")
        if name in ("eq", "ne"):
            if left.counts or right.counts:
                raise self.unsupported(node, "a comparison of Counters", "compare their entries", left=left)
            counts = Op("eq", (self.dict_length(left), self.dict_length(right)), BOOL)
            same = self._is_part(left, right, counts, node)
            return Scalar(arith.cast(same if name == "eq" else Op("not", (same,), BOOL), PYBOOL))
        if not left.is_set:
            raise self.unsupported(node, "this comparison", left=left, right=right)
        if name in ("ge", "gt"):
            left, right = right, left
        fewer = "lt" if name in ("lt", "gt") else "le"
        counts = Op(fewer, (self.dict_length(left), self.dict_length(right)), BOOL)
        return Scalar(arith.cast(self._is_part(left, right, counts, node), PYBOOL))

    def _is_part(self, left: Dict, right: Dict, counts: Expr, node: ast.AST) -> Expr:
        """Whether every entry of the first is one of the second, if their numbers allow it."""
        if left.table is None or right.table is None:
            return self.emitter.snapshot(counts, "counts")
        values = left.item is not None
        if values and (has_lists(left.item) or has_texts(left.item) or has_objects(left.item)):
            raise self.unsupported(node, "a comparison of dicts of such values", left=left, right=right)

        def there(key: Value, value: Value | None) -> Expr:
            if value is None:
                return self.contains(right, key, node)
            numbers = self._numbers_of_key(right, key, node)
            assert numbers is not None and right.table is not None and right.item is not None
            hashed = table_of(self.emitter, right.table)
            _, entry = hashed.search(numbers)
            found = variable(self.emitter, "found", Op("ge", (entry.value, ZERO), BOOL))
            with when(self.emitter, found.value):
                other = self.assembled(right.item, iter(hashed.taken(entry.value)))
                found.set(self._equal_items(value, other, node))
            return found.value

        return self._holds_of_all(left, counts, there, node)

    def _holds_of_all(
        self, base: Dict, first: Expr, test: Callable[[Value, Value | None], Expr], node: ast.AST
    ) -> Expr:
        """Whether something holds, and then of all entries, too."""
        emitter = self.emitter
        holds = variable(emitter, "holds", arith.cast(first, BOOL))
        what = "keys" if base.item is None else "items"
        run = self.iteration(self.entries_of(base, what, node, ordered=False), node)
        with loop(emitter, ZERO, emitter.stable(run.trips)) as at, when(emitter, holds.value):
            entry = run.item(at)
            key, value = entry.items if isinstance(entry, Tuple) and base.item is not None else (entry, None)
            holds.set(arith.cast(test(key, value), BOOL))
        return emitter.snapshot(holds.value, "holds")

    def _disjoint(self, left: Dict, right: Dict, node: ast.AST) -> Value:
        if left.table is None or right.table is None:
            return Scalar(Const(True, PYBOOL))
        apart = self._holds_of_all(
            left, Const(True, BOOL), lambda key, _: Op("not", (self.contains(right, key, node),), BOOL), node
        )
        return Scalar(arith.cast(apart, PYBOOL))

    # --- operators --------------------------------------------------------------------------------------------------

    def dict_operation(self, op: str, left: Dict, right: Dict, node: ast.AST) -> Value | None:
        """left OP right of two dicts or sets; None if there is no such operator."""
        if left.is_set and right.is_set:
            if op == "bitxor":
                made = self.copied_dict(right, node)
                self._toggle(made, left, node)
                return made
            return self.set_operation(op, left, right, node) if op in ("bitor", "bitand", "sub") else None
        if left.counts and right.counts:
            # Defined over entries, in a module that builds upon this one.
            from weft.frontend.knowledge.counters import OPERATORS

            self.calling = node
            return self.expand(OPERATORS[op], {"left": left, "right": right}) if op in OPERATORS else None
        plain = not any(one.is_set or one.counts or one.movable for one in (left, right))
        if op != "bitor" or not plain or left.default is not None or right.default is not None:
            return None
        made = self.copied_dict(left, node)
        self._dict_update(made, [right], node)
        return made

    def size_of_operation(self, op: str, left: Dict, right: Dict, node: ast.AST) -> Value:
        """len(left | right), len(left & right), len(left - right)"""
        emitter = self.emitter
        sizes = [emitter.snapshot(Op("add", (self.dict_length(held), ZERO), INT), "size") for held in (left, right)]
        common = variable(emitter, "common", ZERO)
        if left.table is not None and right.table is not None:
            smaller = emitter.snapshot(Op("le", (sizes[0], sizes[1]), BOOL), "smaller")
            for wanted, one, other in ((smaller, left, right), (Op("not", (smaller,), BOOL), right, left)):
                with when(emitter, wanted):
                    run = self.iteration(self.entries_of(one, "keys", node, ordered=False), node)
                    with loop(emitter, ZERO, emitter.stable(run.trips)) as at:
                        found = self.contains(other, run.item(at), node)
                        common.set(Op("add", (common.value, Op("select", (found, ONE, ZERO), INT)), INT))
        both_ways = emitter.snapshot(common.value, "common")
        if op == "bitand":
            return Scalar(both_ways)
        first = sizes[0] if op == "sub" else Op("add", (sizes[0], sizes[1]), INT)
        return Scalar(emitter.snapshot(Op("sub", (first, both_ways), INT), "size"))

    def _toggle(self, base: Dict, other: Dict, node: ast.AST) -> None:
        """base ^= other: the items of the other one go if they are there, else they come."""
        if other.table is None:
            return
        self.will_shrink(base, node)
        if base.table is None and other.key is not None:
            self._settle_entries(base, other)
        ordered = base.table is not None and base.table.order is not None
        run = self.iteration(self.entries_of(other, "keys", node, ordered=ordered), node)
        with loop(self.emitter, ZERO, self.emitter.stable(run.trips)) as at:
            key = run.item(at)
            there = self.emitter.snapshot(self.contains(base, key, node), "there")
            with when(self.emitter, there):
                self.delete_entry(base, key, node, missing_is_fine=True)
            with when(self.emitter, Op("not", (there,), BOOL)):
                self.store_item(base, key, None, node)

    def augment_dict(self, base: Dict, node: ast.AugAssign, value: Value) -> None:
        if isinstance(node.op, ast.BitXor) and base.is_set and isinstance(value, Dict) and value.is_set:
            self._change_by(ast.BitXor, base, value, node)
            return
        super().augment_dict(base, node, value)

    def _change_by(self, op: type[ast.operator], base: Dict, value: Dict, node: ast.AST) -> None:
        if value.table is not None and value.table == base.table:
            if op is not ast.BitAnd:
                self._dict_clear(base, [], node)
        elif op is ast.BitXor:
            self._toggle(base, value, node)
        elif op is ast.Sub:
            self._take_away(base, value, node)
        else:
            self._keep_common(base, value, node)

    # --- methods ----------------------------------------------------------------------------------------------------

    def dict_method(self, base: Dict, name: str, args: list[Value], node: ast.AST) -> Value:
        other = args[0] if len(args) == 1 else None
        if base.is_set and isinstance(other, Dict) and other.is_set:
            if name in _UPDATES:
                self._change_by(_UPDATES[name], base, other, node)
                return Object(None)
            if name in _COMPARISONS:
                return self.dict_comparison(_COMPARISONS[name], base, other, node)
            if name == "isdisjoint":
                return self._disjoint(base, other, node)
            if name == "symmetric_difference":
                made = self.dict_operation("bitxor", base, other, node)
                assert made is not None
                return made
        if base.is_set and name == "union" and (other is None or not isinstance(other, Dict)):
            united = self.copied_dict(base, node)
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
                self._take_items(base, other, node)
                return Object(None)
        return super().dict_method(base, name, args, node)

    def _take_items(self, base: Dict, items: Value, node: ast.AST) -> None:
        """Every item of a sequence is taken out of a set."""
        if isinstance(items, Tuple):
            for item in items.items:
                self.delete_entry(base, item, node, missing_is_fine=True)
        else:
            run = self.iteration(items, node)
            with loop(self.emitter, ZERO, self.emitter.stable(run.trips)) as at:
                self.delete_entry(base, run.item(at), node, missing_is_fine=True)
        if base.table is not None and base.table.order is not None:
            raise self.unsupported(node, "a set in its order that loses the items of a sequence", "use a loop")

    def _dict_popitem(self, base: Dict, args: list[Value], node: ast.AST) -> Value:
        if args or base.is_set:
            raise self.unsupported(node, "this use of popitem()", receiver=base)
        self.will_shrink(base, node)
        if base.table is None or base.key is None or base.item is None:
            raise self.untyped(node, "an entry of a dict to which nothing has been added")
        emitter, hashed = self.emitter, table_of(self.emitter, base.table)
        self.keep_size(base, Const(False, BOOL))
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
            self.will_shrink(base, node)
            if self._numbers_of_key(base, key, node) is None:
                return default
        assert base.item is not None
        if not isinstance(default, Scalar) or not takes(base.item, self.layout(default)):
            raise self.unsupported(node, "a default of another type than the values", default=default)
        numbers = [self.emitter.snapshot(number, "default") for number in self.numbers(base.item, default)]
        found = [variable(self.emitter, "value", number) for number in numbers]
        there = self.emitter.snapshot(self.contains(base, key, node), "there")
        with when(self.emitter, both(there)):
            for mine, number in zip(found, self.delete_entry(base, key, node)):
                mine.set(number)
        return self.assembled(base.item, iter([self.emitter.snapshot(mine.value, "value") for mine in found]))
