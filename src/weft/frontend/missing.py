"""Values that may be None.  In: variables that hold None on one path and a number on another; out: a flag beside the
number, and the names that are known not to be None at some place of the program.

    best = None                              best_there = False; best = 0.0
    for x in xs:                             for x in xs:
        if best is None or x < best:  -->        if not best_there or x < best:
            best = x                                 best_there = True; best = x

Whatever is done with such a value but to ask for None, to hand it on or to return it needs the number: where no test
around it says that there is one, the call is handed back to Python, which raises what it raises.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from weft.errors import Unsupported
from weft.frontend import arith
from weft.frontend.building import Building
from weft.frontend.core import (
    assign_parts,
    changes_kind,
    kept_items,
    part_name,
    part_slots,
    slot_type,
    write_number,
)
from weft.frontend.emit import Restart
from weft.frontend.items import all_numbers, has_gaps, types_in
from weft.frontend.liveness import assigned
from weft.frontend.scope import Scope, Slot
from weft.frontend.slots import apart, assign_array, held_now, note_late, open_late
from weft.frontend.source import parsed
from weft.frontend.strings import kept_text
from weft.frontend.values import Array, ItemType, Maybe, Object, Scalar, Text, Tuple, Value, describe
from weft.frontend.writing import when
from weft.ir.expr import Const, Expr, Read
from weft.ir.types import BOOL, PYBOOL


def is_none(value: Value | None) -> bool:
    return isinstance(value, Object) and value.value is None


def implied(test: ast.expr, holds: bool) -> set[str]:
    """The names that are not None if a test holds, or if it does not."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return implied(test.operand, not holds)
    if isinstance(test, ast.BoolOp):
        parts = [implied(part, holds) for part in test.values]
        each = isinstance(test.op, ast.And) == holds
        return set.union(*parts) if each else set.intersection(*parts)
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        right = test.comparators[0]
        told = isinstance(test.ops[0], (ast.IsNot, ast.NotEq)) if holds else isinstance(test.ops[0], (ast.Is, ast.Eq))
        return _named(test.left) if told and isinstance(right, ast.Constant) and right.value is None else set()
    return _named(test) if holds else set()


def _named(node: ast.expr) -> set[str]:
    if isinstance(node, ast.NamedExpr):
        node = node.target
    return {node.id} if isinstance(node, ast.Name) else set()


class Missing(Building):
    """Variables that hold None or a number."""

    # --- what is known of names -------------------------------------------------------------------------------------

    @contextmanager
    def assuming(self, names: set[str]) -> Iterator[None]:
        """The names are not None in a part of an expression."""
        known = set(self.scope.known)
        self.scope.known |= names - self.scope.shared
        yield
        self.scope.known &= known

    def bind(self, name: str, value: Value) -> None:
        if isinstance(value, Maybe):
            value = self.kept_maybe(value, name)
        super().bind(name, value)
        if isinstance(value, Maybe) or is_none(value):
            self.scope.known.discard(name)
        elif name not in self.scope.shared and name not in self.scope.outer:
            self.scope.known.add(name)

    # --- values -----------------------------------------------------------------------------------------------------

    def present(self, value: Value) -> Value:
        """A value of which more is wanted than whether it is None."""
        if isinstance(value, Maybe):
            self.emitter.hand_back(value.there, "None where a value is needed")
            return value.held
        if isinstance(value, Tuple) and any(isinstance(item, (Maybe, Tuple)) for item in value.items):
            items = tuple(map(self.present, value.items))
            return value if all(new is old for new, old in zip(items, value.items)) else replace(value, items=items)
        return value

    def kept_maybe(self, value: Maybe, name: str) -> Maybe:
        """The value as it is now, whatever becomes of the variables that it comes from."""
        there = self.emitter.snapshot(value.there, f"{name}_there")
        held = value.held
        if isinstance(held, Scalar):
            return Maybe(there, Scalar(self._kept(held.expr, name)))
        if isinstance(held, Text):
            return Maybe(there, kept_text(self, held, name))
        return Maybe(there, kept_items(self, held))

    def truth(self, value: Value, node: ast.AST | None) -> Scalar | bool:
        if not isinstance(value, Maybe):
            return super().truth(value, node)
        holds = super().truth(value.held, node)
        if isinstance(holds, bool):
            return Scalar(value.there) if holds else False
        return Scalar(arith.conjunction(value.there, arith.condition(holds.expr)))

    # --- variables --------------------------------------------------------------------------------------------------

    def maybe_instead(self, slot: Slot, old: Value | None, new: Value, error: Unsupported) -> Exception:
        """What to raise where a variable is None on one path and something else on another."""
        other = new if is_none(old) else old
        problem = apart(self, slot.branch, error)
        if isinstance(problem, Restart) or not (is_none(old) or is_none(new)):
            return problem
        if other is None or slot.key in self.emitter.decisions.missing or not note_missing(self, slot, other):
            return problem
        return Restart()

    def _assign_slot(self, name: str, slot: Slot, value: Value) -> None:
        if slot.key in self.emitter.decisions.missing:
            assign_maybe(self, name, slot, value)
        elif isinstance(value, Maybe):
            if not note_missing(self, slot, value.held):
                reason = f"{name} is None or {describe(value.held)}, in a loop or branch"
                raise Unsupported(self.emitter.span, reason, "use a name of its own")
            raise Restart
        else:
            super()._assign_slot(name, slot, value)

    def open_maybe(self, name: str, slot: Slot, value: Value | None) -> bool:
        """The first contents of a slot that may hold None; False if it is another."""
        missing = self.emitter.decisions.missing
        if isinstance(value, Maybe) and slot.key not in missing:
            note_missing(self, slot, value.held)
        if slot.key not in missing or value is None:
            return False
        assign_maybe(self, name, slot, value)
        return True

    def _number(self, name: str, slot: Slot, value: Scalar) -> Value:
        of = slot_type(self, slot, value.type)
        slot.history.append(value.type)
        if slot.buffer is None:
            slot.buffer = self.emitter.declare(name, of)
        if value.type.weak and not of.weak:
            self.undecided.add(slot.buffer.name)
        write_number(self, name, slot, slot.buffer, value.expr)
        return self.scope.values[name]


def suppose(builder: Building, names: set[str]) -> None:
    """The names are not None from here on."""
    builder.scope.known |= names - builder.scope.shared


def forget(builder: Building, nodes: list[ast.stmt]) -> None:
    """What the statements assign to may be None where they may have been left anywhere, or run more than once."""
    if builder.scope.known:
        builder.scope.known -= assigned(nodes)


def name_value(builder: Building, scope: Scope, name: str) -> Value:
    """What a name denotes, as far as is known here."""
    value = scope.values[name]
    if isinstance(value, Maybe) and name in scope.known:
        return value.held
    if name not in builder.emitter.decisions.unset or not _is_outermost(scope):
        return value
    if is_none(value):
        raise Unsupported(builder.emitter.span, f"{name} may be unset here", f"give {name} a value on every path")
    if isinstance(value, Maybe):
        builder.emitter.rarely_fails(value.there, f"{name} may be unset here")
        return value.held
    return value


def may_be_unset(builder: Building, scope: Scope, node: ast.Name) -> Exception:
    """A variable may have no value where it is read: it starts as None, and Python takes over where it still is."""
    name = node.id
    if not may_start_unset(builder, scope, name):
        return builder.unsupported(node, f"{name} may be unset here", f"give {name} a value on every path")
    start = parsed(f"{name} = None")[0]
    for part in ast.walk(start):
        ast.copy_location(part, node)
    builder.emitter.decisions.unset[name] = start
    return Restart()


def may_start_unset(builder: Building, scope: Scope, name: str) -> bool:
    """Whether a variable can start as None, which tells that it has no value."""
    return _is_outermost(scope) and name not in builder.emitter.decisions.unset and not builder.lent


def none_comparison(builder: Building, left: Value, right: Value, same: bool) -> Value | None:
    """`left is right`, or is not, where one of them is None and the other may be."""
    for mine, other in ((left, right), (right, left)):
        if isinstance(mine, Maybe) and is_none(other):
            there = arith.cast(mine.there, PYBOOL)
            return Scalar(arith.negate(there) if same else there)
    return None


def note_missing(builder: Building, slot: Slot, value: Value) -> bool:
    """Note that a slot holds None or such a value; False if there is no native form of that."""
    if isinstance(value, Scalar):
        builder.emitter.decisions.missing[slot.key] = 0
        builder.emitter.decisions.slot_types.setdefault(slot.key, value.type)
        return True
    if isinstance(value, Array) and not value.is_list and value.rank:
        builder.emitter.decisions.missing[slot.key] = 0
        note_late(builder, slot, value)
        return True
    if not isinstance(value, Tuple) or value.is_list or value.named or not all_numbers(value):
        layout = None if isinstance(value, (Array, Object)) else builder.layout(value)
        if layout is None or has_gaps(layout):
            return False
        builder.emitter.decisions.missing[slot.key] = 0
        builder.emitter.decisions.absent[slot.key] = layout
        return True
    builder.emitter.decisions.missing[slot.key] = len(value.items)
    for part, item in zip(part_slots(slot, len(value.items)), value.items):
        if isinstance(item, Scalar):
            builder.emitter.decisions.slot_types.setdefault(part.key, item.type)
    return True


def assign_maybe(builder: Building, name: str, slot: Slot, value: Value) -> None:
    """name = value, where a flag tells whether it is None."""
    there: Expr = Const(not is_none(value), BOOL)
    if isinstance(value, Maybe):
        there, value = builder.emitter.snapshot(value.there, "there"), value.held
    count = builder.emitter.decisions.missing[slot.key]
    layout = builder.emitter.decisions.absent.get(slot.key)
    if layout is not None:
        held = _of_type(builder, name, slot, layout, value)
    elif slot.key in builder.emitter.decisions.late:
        held = _array_or_none(builder, name, slot, value, there)
    elif is_none(value):
        held = _nothing(builder, name, slot, count)
    elif isinstance(value, Scalar) and not count:
        held = builder._number(name, slot, value)
    elif isinstance(value, Tuple) and len(value.items) == count and all_numbers(value) and not value.is_list:
        assign_parts(builder, name, slot, replace(value, named=None))
        held = builder.scope.values[name]
    else:
        raise apart(builder, slot.branch, changes_kind(builder, name, Object(None), value))
    if slot.there is None:
        slot.there = builder.emitter.declare(f"{name}_there", BOOL)
    builder.emitter.assign((), slot.there.name, (), there)
    builder.scope.values[name] = Maybe(Read(slot.there.name, (), BOOL), held)


def _array_or_none(builder: Building, name: str, slot: Slot, value: Value, there: Expr) -> Value:
    """An array in memory that is there from the start."""
    if slot.buffer is None:
        open_late(builder, name, slot)
    if isinstance(value, Array):
        current = builder.scope.values.get(name)
        builder.scope.values[name] = current.held if isinstance(current, Maybe) else Object(None)
        if isinstance(there, Const):
            assign_array(builder, name, slot, value)
            return builder.scope.values[name]
        with when(builder.emitter, there):  # what is not there must not be looked at
            assign_array(builder, name, slot, value)
        return held_now(builder, name, slot)
    if not is_none(value):
        raise apart(builder, slot.branch, changes_kind(builder, name, Object(None), value))
    return held_now(builder, name, slot)


def _of_type(builder: Building, name: str, slot: Slot, layout: ItemType, value: Value) -> Value:
    """Anything that is made of numbers, as an item of a container is."""
    if is_none(value):
        numbers: list[Expr] = [Const(0, of) for of in types_in(layout)]
    elif builder.accepts(layout, value):
        numbers = [builder.emitter.snapshot(number, name) for number in builder.numbers(layout, value)]
    else:
        raise apart(builder, slot.branch, changes_kind(builder, name, Object(None), value))
    if slot.parts is None:
        slot.parts = part_slots(slot, len(numbers))
    reads: list[Expr] = []
    for part, number in zip(slot.parts, numbers):
        if part.buffer is None:
            part.buffer = builder.emitter.declare(f"{name}_part", number.type)
        builder.emitter.assign((), part.buffer.name, (), number)
        reads.append(Read(part.buffer.name, (), number.type))
    return builder.assembled(layout, iter(reads))


def _nothing(builder: Building, name: str, slot: Slot, count: int) -> Value:
    """The memory of what there is not: zeros."""
    if count:
        slot.parts = slot.parts or part_slots(slot, count)
        return Tuple(tuple(_no_part(builder, part_name(name, part), part) for part in slot.parts))
    of = builder.emitter.decisions.slot_types[slot.key]
    if slot.buffer is None:
        slot.buffer = builder.emitter.declare(name, of)
    builder.emitter.assign((), slot.buffer.name, (), Const(0, of))
    return Scalar(Read(slot.buffer.name, (), slot.buffer.type))


def _no_part(builder: Building, name: str, part: Slot) -> Value:
    if part.key in builder.emitter.decisions.missing:
        assign_maybe(builder, name, part, Object(None))
        return builder.scope.values[name]
    known = part.key in builder.emitter.decisions.slot_types
    return _nothing(builder, name, part, 0) if known else Object(None)


def _is_outermost(scope: Scope) -> bool:
    """Whether a scope is that of the compiled function itself."""
    return scope.parent is None and not scope.inlined
