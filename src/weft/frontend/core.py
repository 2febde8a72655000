"""What the parts of the builder share: the emitter, the scope, assignment to names, merging of branches.

The operations themselves are in `statements`, `expressions` and `calls`; `building` declares what they share.
"""

from __future__ import annotations

import ast
import enum
from collections.abc import Iterable
from dataclasses import replace

from weft import errors
from weft.errors import Span, Unsupported
from weft.frontend import arith, arrays, masks, mistakes, reasons, revisions
from weft.frontend.blocks import renumbered_array
from weft.frontend.building import Building
from weft.frontend.foreseen import number_types
from weft.frontend.items import all_parts, as_value, is_plain_text, row_of
from weft.frontend.mixed import (
    benign,
    from_either,
    held_choice,
    hold_whole,
    may_be_python,
    note_held,
    note_other,
    type_may_differ,
)
from weft.frontend.scope import Slot
from weft.frontend.slots import apart, arrays_in, assign_array, open_late
from weft.frontend.values import (
    Array,
    Dict,
    Flat,
    Instance,
    Maybe,
    Object,
    Range,
    Records,
    Rows,
    Scalar,
    Slice,
    Stack,
    Struct,
    Tuple,
    Value,
    describe,
)
from weft.ir import walk
from weft.ir.expr import Const, Expr, Read
from weft.ir.index import affine
from weft.ir.program import Buffer, Node
from weft.ir.types import INT, ScalarType, join

SYNTHETIC = "__weft"


class Core(Building):
    """State and helpers of a build."""

    # --- places -----------------------------------------------------------------------------------------------------

    def at(self, node: ast.AST | None) -> Span:
        """Remember where we are: errors, checks and statements emitted next carry this place; None keeps the last."""
        if node is not None and hasattr(node, "lineno"):
            self.emitter.span = self.scope.source.span(node)
        return self.emitter.span

    def unsupported(self, node: ast.AST | None, reason: str, remedy: str = "", **values: Value) -> Unsupported:
        types = reasons.by_source(node, {name: describe(value) for name, value in values.items()})
        error = "" if remedy or errors.is_mistake(reason) else mistakes.error_of(node, values)
        told = f"{error}: {reason}" if error else reason
        problem = Unsupported(self.at(node), reasons.named(told, node, types), remedy, types)
        if any(map(_is_container, values.values())):
            return reasons.left_to_plain(problem, apart=True)
        return problem

    # --- names ------------------------------------------------------------------------------------------------------

    def bind(self, name: str, value: Value) -> None:
        """name = value"""
        value = value if isinstance(value, Flat) else masks.settled(value, self.emitter)
        if name in self.scope.outer:
            _bind_outside(self, name, value)
            return
        self.scope.unbound.discard(name)
        self.scope.stale.discard(name)
        self.scope.bound_in[name] = self.emitter.blocks[-1]
        slot = self.scope.slots.get(name)
        if slot is not None:
            if slot.last is not None and slot.buffer is None:
                self.scope.values.setdefault(name, slot.last)  # set on a path that has left the loop
            self._assign_slot(name, slot, value)
            slot.last = self.scope.values.get(name)
        elif isinstance(value, Scalar):
            self.scope.values[name] = Scalar(self._kept(value.expr, name))
        elif isinstance(value, Array) and value.view is None and value.origin is None:
            arrays.keepable(value, self.emitter)
            made = arrays.materialise(value, self.emitter, name)
            self.scope.values[name] = arrays.read_only(made) if value.fixed else made
        else:
            self.scope.values[name] = steady(self, self.made_arrays(value))

    def _kept(self, expr: Expr, name: str) -> Expr:
        """The value in a scalar of its own; a choice between types stays one."""
        kept = self.emitter.snapshot(expr, name)
        choice = self.mixed_exprs.get(id(expr))
        lost = self.lost(expr)
        if isinstance(kept, Read) and kept.buffer in self.emitter.buffers:
            note_held(self, expr, self.emitter.buffers[kept.buffer])
        if isinstance(kept, Read) and choice is not None:
            for side in (choice.then, choice.orelse):
                hold_whole(self, side, kept.type)
            kept = held_choice(self, kept, choice)
        elif isinstance(kept, Read) and lost is not None:
            self.widened[kept.buffer] = self.widened[lost]
        return kept

    def _assign_slot(self, name: str, slot: Slot, value: Value) -> None:
        if _holds_row(self, name, slot, value):
            _assign_row(self, name, slot, value)
        elif isinstance(value, Scalar):
            assign_scalar_slot(self, name, slot, value)
        elif isinstance(value, Array):
            _assign_array_slot(self, name, slot, value)
        else:
            current = self.scope.values.get(name)
            numbers = isinstance(value, Tuple) and not value.is_list and all_parts(value)
            if numbers and isinstance(value, Tuple) and slot.key in self.emitter.decisions.tupled:
                assign_parts(self, name, slot, value)
                return
            if slot.buffer is None and (current is None or current == value):
                if not _lasting(self, value):
                    if numbers:
                        revisions.is_parted(self, slot)
                    raise Unsupported(
                        self.emitter.span,
                        f"{name} is a {type(value).__name__.lower()} made in a loop or branch and used after it",
                        "use a name of its own for each number in it",
                    )
                self.scope.values[name] = value
                return
            if isinstance(current, Dict) and isinstance(value, Dict) and current != value:
                reason = f"{name} gets another dict or set"
                raise apart(self, slot.branch, self.unsupported(None, reason, "give it another name", value=value))
            if isinstance(current, Struct) and isinstance(value, Struct) and current is not value:
                self.layout(value)  # objects of the class are side by side from the start, if they can be
            if current != value:
                place = (self.scope.path, name)
                if is_list(current) and is_list(value) and place not in self.emitter.decisions.escaping:
                    revisions.escape(self, [place])
                fits = isinstance(current, Tuple) and isinstance(value, Tuple) and all_parts(current)
                if numbers and fits and len(current.items) == len(value.items):  # type: ignore[union-attr]
                    revisions.is_parted(self, slot)
                first = describe(current) if current else "unset"
                error = Unsupported(
                    self.emitter.span,
                    f"{name} is {first} on one path and {describe(value)} on another",
                    "use a variable of its own for each type",
                )
                raise self.maybe_instead(slot, current, value, error)

    def _part_from(self, name: str, buffer: Buffer) -> None:
        """Other names of a slot's memory keep its contents, in memory of their own, when `name` gets a new array."""
        for scope in self.other_scopes():
            for other, value in list(scope.values.items()):
                if other == name and scope is self.scope:
                    continue
                if not any(_shows(array, buffer) for array in arrays_in(value)):
                    continue
                if scope.bound_in.get(other) is self.emitter.blocks[-1] and not isinstance(value, Struct):
                    scope.values[other] = _parted(self, value, buffer, other)
                else:
                    scope.stale.add(other)  # a copy made here would exist on one path only, or not be the object's

    def open_slots(self, names: Iterable[str], owner: ast.AST) -> list[str]:
        """Make `names` slots until `close_slots`; values they have now are the slots' first contents."""
        opened = []
        names = sorted(name for name in names if name not in self.scope.slots)
        types = number_types(self, names, owner)
        for name in names:
            slot = Slot((hash((self.scope.path, id(owner))), name))
            if name in types:
                self.emitter.decisions.slot_types.setdefault(slot.key, types[name])
            slot.branch = (self.scope.path, id(owner)) if id(owner) in self.scope.followed else None
            value = self.scope.values.get(name)
            if self.open_maybe(name, slot, value):
                pass
            elif value is not None and _row_in_slot(self, name, value):
                _assign_row(self, name, slot, value)
            elif isinstance(value, Scalar):
                _open_scalar(self, name, slot, value)
            elif isinstance(value, Array):
                self.open_array(name, slot, value)
            elif isinstance(value, Tuple) and slot.key in self.emitter.decisions.tupled:
                _open_parts(self, name, slot, value)
            elif isinstance(value, Dict) and self.identity(value) in self.own:
                reason = f"{name}, a dict or set that is an argument, becomes another one"
                raise self.unsupported(owner, reason, "give the new one another name", value=value)
            elif value is None:
                open_late(self, name, slot)
            self.scope.slots[name] = slot
            opened.append(name)
        return opened

    # A list among others that a loop carries: its number is in a slot.

    # A tuple of numbers that a loop carries: each number is a slot of its own.

    def close_slots(self, names: Iterable[str]) -> None:
        for name in names:
            del self.scope.slots[name]

    # --- values -----------------------------------------------------------------------------------------------------

    def truth(self, value: Value, node: ast.AST | None) -> Scalar | bool:
        """bool(value): a Python bool if it is known now."""
        if isinstance(value, Scalar):
            if isinstance(value.expr, Const):
                return bool(value.expr.value)
            return Scalar(arith.truth(value.expr))
        if isinstance(value, Object):
            return bool(value.value)
        if isinstance(value, Tuple):
            return bool(value.items)
        if isinstance(value, Array) and value.is_list:
            return Scalar(arith.truth(value.shape[0]))
        if isinstance(value, Dict):
            return False if value.table is None else Scalar(arith.truth(Read(value.table.live, (), INT)))
        if isinstance(value, Records):
            return Scalar(arith.truth(value.growing.size))
        if isinstance(value, (Rows, Stack)):
            return Scalar(arith.truth(value.array.shape[0] if isinstance(value, Stack) else value.count))
        if isinstance(value, Array) and not value.rank:
            return Scalar(arith.truth(value.element(())))
        raise self.unsupported(node, "the truth value of an array", "use .any() or .all()", value=value)

    #: Dicts that loops around here run through.
    run_through: frozenset[str | None] = frozenset()

    def identity(self, value: Value) -> str | None:
        """What two names of one container have in common."""
        if row_of(value) is not None:
            return None
        if isinstance(value, Array) and value.is_list and value.view is not None:
            return value.view.buffer if value.view.whole or value.growing is not None else None
        if isinstance(value, Records):
            return value.growing.data[0] if value.growing.head is None or value.is_deque else None
        if isinstance(value, (Rows, Stack)):
            return value.starts if isinstance(value, Rows) else f"list {value.array.view and value.array.view.buffer}"
        if isinstance(value, Dict):
            return repr(value.place) if value.table is None else value.table.live
        return repr(value.key) if isinstance(value, Tuple) and value.key is not None else None

    def will_change(self, value: Value) -> None:
        """A container gets or loses items: an argument then has memory of its own, and the build starts again."""
        name = self.argument_of.get(self.identity(value) or "")
        if name is not None and name not in self.emitter.decisions.changing:
            revisions.changes(self, name)


def _is_container(value: Value) -> bool:
    """Whether a value is a dict, a member of an enumeration, or an argument of containers in containers."""
    kinds = (list, dict, set, frozenset)
    if isinstance(value, Object):
        return isinstance(value.value, enum.Enum)
    return isinstance(value, Dict) or (isinstance(value, Instance) and isinstance(value.sample, kinds))


def _bind_outside(builder: Building, name: str, value: Value) -> None:
    """name = value in the function that the name is a variable of."""
    inner, owner = builder.scope, builder.scope.parent
    while owner is not None and (name in owner.outer or name not in owner.slots):
        owner = owner.parent
    if owner is None:
        raise Unsupported(builder.emitter.span, f"an assignment to {name} of an enclosing function")
    builder.scope = owner
    try:
        builder.bind(name, value)
    finally:
        builder.scope = inner
    builder.emitter.mutations += 1  # operands to the left of the call have the value from before


def steady(builder: Building, value: Value) -> Value:
    """A list or object among others, whatever becomes of the variable that tells which it is."""
    row = row_of(value)
    if row is None:
        return value
    kept = builder.emitter.snapshot(row, "number")
    return value if kept == row else renumbered(builder, value, kept)


def kept_items(builder: Building, value: Value) -> Value:
    """A tuple, list or range whose numbers stay what they are now, whatever becomes of variables they come from."""
    if isinstance(value, Range):
        stable = builder.emitter.stable
        return replace(value, lo=stable(value.lo), hi=stable(value.hi), step=stable(value.step))
    if not isinstance(value, Tuple) or not value.items:
        return steady(builder, value)
    made = builder.made_arrays(value)
    assert isinstance(made, Tuple)
    value = made
    items = tuple(_kept_item(builder, item) for item in value.items)
    same = all(new == old for new, old in zip(items, value.items))
    return value if same else replace(value, items=items)


def _kept_item(builder: Building, item: Value) -> Value:
    return Scalar(builder._kept(item.expr, "item")) if isinstance(item, Scalar) else kept_items(builder, item)


def kept_for(builder: Building, value: Value, body: Iterable[ast.AST]) -> Value:
    """A tuple that a loop runs through once for each item: the items are what they were before the first trip.

    Arrays that are computed stay so, for each trip to fuse with, unless the body may change what they come from.
    """
    if not isinstance(value, Tuple):
        return value
    quiet = any(isinstance(item, Array) for item in value.items) and not any(map(_may_change, body))
    if not quiet:
        return kept_items(builder, value)
    items = (item if isinstance(item, Array) else _kept_item(builder, item) for item in value.items)
    return replace(value, items=tuple(items))


def _may_change(tree: ast.AST) -> bool:
    """Whether something may write memory, itself or in a function that it calls."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.Call, ast.Delete, ast.NamedExpr)):
            return True
        if isinstance(node, (ast.Subscript, ast.Attribute)) and isinstance(node.ctx, ast.Store):
            return True
        if isinstance(node, ast.AugAssign):  # an array changes in place
            return True
    return False


def changes_type(builder: Building, slot: Slot) -> bool:
    """Whether an earlier attempt found that a slot holds values of different types."""
    known = builder.emitter.decisions.slot_types.get(slot.key)
    return known is not None and (slot.entry is None or slot.entry != known)


def _lasting(builder: Building, value: Value) -> bool:
    """Whether a tuple or slice holds only what means the same outside the loop or branch that made it."""
    if isinstance(value, (Tuple, Slice)):
        parts = value.items if isinstance(value, Tuple) else (value.lo, value.hi, value.step)
        return all(part is None or _lasting(builder, part) for part in parts)
    if not isinstance(value, Scalar) or isinstance(value.expr, Const):
        return True
    form = affine(value.expr)
    return form is not None and all(symbol in builder.emitter.symbols for symbol, _ in form.terms)


def slot_type(builder: Building, slot: Slot, of: ScalarType) -> ScalarType:
    """The type of a slot that also holds an `of`; a wider type than before starts the build again."""
    known = builder.emitter.decisions.slot_types.get(slot.key)
    joined = of if known is None else join(known, of)
    if slot.key in builder.emitter.decisions.roomy and joined.dtype.is_integer:
        joined = INT
    if (known is not None and joined != known) or (slot.buffer is not None and joined != slot.buffer.type):
        if not builder.widens(slot, joined):
            revisions.has_type(builder, slot.key, joined)
    builder.emitter.decisions.slot_types[slot.key] = joined
    return joined


def assign_scalar_slot(builder: Building, name: str, slot: Slot, value: Scalar) -> None:
    current = builder.scope.values.get(name)
    if current is not None and not isinstance(current, Scalar):
        raise builder.maybe_instead(slot, current, value, changes_kind(builder, name, current, value))
    of = slot_type(builder, slot, value.type)
    if slot.buffer is None:
        slot.buffer = builder.emitter.declare(name, of)
    slot.history.append(value.type)
    if value.type.weak and not of.weak:
        builder.undecided.add(slot.buffer.name)
    write_number(builder, name, slot, slot.buffer, value.expr)


def write_number(builder: Building, name: str, slot: Slot, buffer: Buffer, value: Expr) -> None:
    """A number written to its slot, and what its Python type was."""
    held = Read(buffer.name, (), buffer.type)
    if slot.key in builder.emitter.decisions.tagged:
        builder._tag(slot, value, held)
    elif from_either(builder, value):
        builder.emitter.decisions.roomy.add(slot.key)
        revisions.is_tagged(builder, slot.key)
    elif not benign(builder, value.type, buffer.type) or type_may_differ(builder, value, buffer.type):
        builder.widened[buffer.name] = slot.key
        note_other(builder, slot.key, value, buffer.type)
    slot.doubtful = slot.doubtful or may_be_python(builder, value) or type_may_differ(builder, value, value.type)
    hold_whole(builder, value, buffer.type)
    note_held(builder, value, buffer, slot)
    builder.emitter.assign((), buffer.name, (), arith.cast(value, buffer.type))
    builder.scope.values[name] = Scalar(held)


def _assign_array_slot(builder: Building, name: str, slot: Slot, value: Array) -> None:
    current = builder.scope.values.get(name)
    if slot.buffer is None and current is not None and not isinstance(current, Array):
        raise builder.maybe_instead(slot, current, value, changes_kind(builder, name, current, value))
    assign_array(builder, name, slot, value)


def _parted(builder: Building, value: Value, buffer: Buffer, name: str) -> Value:
    if isinstance(value, Tuple):
        return replace(value, items=tuple(_parted(builder, item, buffer, name) for item in value.items))
    if isinstance(value, Maybe):
        return replace(value, held=_parted(builder, value.held, buffer, name))
    if isinstance(value, Array) and _shows(value, buffer):
        return arrays.materialise(value, builder.emitter, name)
    return value


def changes_kind(builder: Building, name: str, old: Value, new: Value) -> Unsupported:
    reason = f"{name} is {describe(old)} first and {describe(new)} later, in one loop or branch"
    problem = Unsupported(builder.emitter.span, reason, "use two names")
    if _is_container(old) or _is_container(new):
        return reasons.left_to_plain(problem, apart=True)
    return problem


def _open_scalar(builder: Building, name: str, slot: Slot, value: Scalar) -> None:
    of = slot_type(builder, slot, value.type)
    slot.buffer = builder.emitter.declare(name, of)
    slot.entry = value.type
    if value.type.weak and not of.weak:
        builder.undecided.add(slot.buffer.name)
    write_number(builder, name, slot, slot.buffer, value.expr)


def _row_in_slot(builder: Building, name: str, value: Value | None) -> bool:
    """Whether a slot holds the number of a value; an array is copied as long as nobody could tell."""
    is_array = isinstance(value, Array) and not value.is_list
    shared = not is_array or (builder.scope.path, name) in builder.emitter.decisions.escaping
    return shared and row_of(value) is not None


def _holds_row(builder: Building, name: str, slot: Slot, value: Value) -> bool:
    """Whether a variable denotes a list among others; a list of its own becomes one if both are assigned to it."""
    current = builder.scope.values.get(name)
    rows = _row_in_slot(builder, name, value), _row_in_slot(builder, name, current)
    if not any(rows) or (all(rows) and current is not None and builder.same_rows(current, value)):
        return all(rows)
    if slot.parts is None and slot.buffer is None and current is None:
        return rows[0]
    place = (builder.scope.path, name)
    if place not in builder.emitter.decisions.escaping and not isinstance(current, Object):
        revisions.escape(builder, [place])
    raise builder.maybe_instead(slot, current, value, changes_kind(builder, name, current or value, value))


def renumbered(builder: Building, value: Value, row: Expr) -> Value:
    """The list of another number among those of its kind."""
    if isinstance(value, Struct):
        return replace(value, row=row)
    if isinstance(value, Array) and not value.is_list:
        return renumbered_array(builder, value, row)
    assert isinstance(value, (Array, Records)) and value.growing is not None
    return as_value(replace(value.growing, row=row), value.type if isinstance(value, Array) else value.item, False)


def _assign_row(builder: Building, name: str, slot: Slot, value: Value) -> None:
    row = row_of(value)
    assert row is not None
    if slot.parts is None:
        slot.parts = part_slots(slot, 1)
        slot.parts[0].buffer = builder.emitter.declare(f"{name}_number", INT)
    buffer = slot.parts[0].buffer
    assert buffer is not None
    builder.emitter.assign((), buffer.name, (), row)
    builder.scope.values[name] = renumbered(builder, value, Read(buffer.name, (), INT))


def _open_parts(builder: Building, name: str, slot: Slot, value: Tuple) -> None:
    slot.parts = part_slots(slot, len(value.items))
    for part, item in zip(slot.parts, value.items):
        title = part_name(name, part)
        if isinstance(item, Scalar) and part.key not in builder.emitter.decisions.missing:
            _open_scalar(builder, title, part, item)
        elif is_plain_text(item):
            builder._assign_slot(title, part, builder.data_text(item))
        elif not builder.open_maybe(title, part, item):
            builder.scope.values[title] = item
    builder.scope.values[name] = _assembled(builder, name, slot, value)


def assign_parts(builder: Building, name: str, slot: Slot, value: Tuple) -> None:
    if slot.parts is None:
        slot.parts = part_slots(slot, len(value.items))
    if len(slot.parts) != len(value.items):
        raise Unsupported(builder.emitter.span, f"{name} is a tuple of different lengths", "use two names")
    # All numbers are taken before one changes: p = (p[1], p[0]).
    taken = [_taken_part(builder, item) for item in value.items]
    for part, item in zip(slot.parts, taken):
        builder._assign_slot(part_name(name, part), part, item)
    builder.scope.values[name] = _assembled(builder, name, slot, value)


def _taken_part(builder: Building, item: Value) -> Value:
    if isinstance(item, Maybe):
        return builder.kept_maybe(item, "part")
    if is_plain_text(item):
        return builder.data_text(item)
    return Scalar(builder._kept(item.expr, "part")) if isinstance(item, Scalar) else item


def _assembled(builder: Building, name: str, slot: Slot, value: Tuple) -> Tuple:
    assert slot.parts is not None
    return replace(value, items=tuple(builder.scope.values[part_name(name, part)] for part in slot.parts))


def written_by(builder: Building, nodes: Iterable[Node]) -> set[str]:
    found: set[str] = set()
    for node in nodes:
        found |= walk.buffers_written(node)
    return found


def is_list(value: Value | None) -> bool:
    return isinstance(value, Records) or (isinstance(value, (Tuple, Array)) and value.is_list)


def part_slots(slot: Slot, count: int) -> list[Slot]:
    return [Slot((slot.key[0], f"{slot.key[1]}.{position}")) for position in range(count)]


def part_name(name: str, part: Slot) -> str:
    """The name of a part: no name of the user's has a dot in it."""
    return f"{name}.{part.key[1].rpartition('.')[2]}"


def _shows(array: Array, buffer: Buffer) -> bool:
    return buffer.name == (array.view.buffer if array.view is not None else array.origin)
