"""Attributes of objects that get another array than the one they were made with, or None.  In: assignments to such an
attribute; out: memory that belongs to the attribute, as a variable's in a loop does (`weft.frontend.slots`).

    self.u = u0.copy()                    alloc u; u[i] = u0[i]
    self.u = self.u + dt * f(self.u)  --> u[i] = u[i] + dt * f(u[i])

That an attribute gets a second value is found while building, which then starts again.
"""

from __future__ import annotations

from collections.abc import Iterator

from weft.frontend.building import Building
from weft.frontend.emit import Restart
from weft.frontend.missing import assign_maybe, is_none, note_missing
from weft.frontend.mixed import slot_number
from weft.frontend.scope import Scope, Slot
from weft.frontend.slots import assign_array, held_now
from weft.frontend.values import Array, Maybe, Scalar, Struct, Value
from weft.ir.expr import Read
from weft.ir.types import BOOL


class Fields(Building):
    """Attributes that change."""

    def other_scopes(self) -> Iterator[Scope]:
        """All scopes whose names may denote what an object holds."""
        for start in (self.scope, *self.callers):
            scope: Scope | None = start
            while scope is not None:
                yield scope
                scope = scope.parent


def title_of(builder: Building, base: Struct, name: str) -> str:
    """What stands for an attribute among the names of variables: none of the user's has a dot in it."""
    return f"{base.kind.__name__.lower()}.{name}"


def start_field(builder: Building, base: Struct, name: str, value: Value) -> bool:
    """The first value of an attribute, in memory for others to come; False if none is known to come."""
    place = builder.emitter.span
    key = (hash((builder.scope.path, place.line, place.column)), title_of(builder, base, name))
    builder.first_set[id(base.fields), name] = key
    builder._objects.append(base.fields)
    if key not in builder.emitter.decisions.renewed:
        return False
    slot = Slot(key)
    base.fields[name] = slot
    _put_field(builder, base, name, slot, value, first=True)
    return True


def renew_field(builder: Building, base: Struct, name: str, value: Value) -> bool:
    """A further value of an attribute: True if it is done, False if this is of another kind."""
    held = base.fields[name]
    decisions = builder.emitter.decisions
    if isinstance(held, Slot) and held.key in decisions.renewed:
        _put_field(builder, base, name, held, value, first=False)
        return True
    if not isinstance(held, Slot) and is_none(held) and is_none(value):
        return True
    key = held.key if isinstance(held, Slot) else builder.first_set.get((id(base.fields), name))
    if key is None or key in decisions.renewed or base.instance is not None or not _may_renew(held, value):
        return False
    slot = Slot(key)
    if isinstance(held, Slot) and held.buffer is not None:
        note_missing(builder, slot, Scalar(Read(held.buffer.name, (), held.buffer.type)))
    elif is_none(held) or is_none(value):
        note_missing(builder, slot, value if is_none(held) else held)
    decisions.renewed.add(key)
    raise Restart


def _put_field(builder: Building, base: Struct, name: str, slot: Slot, value: Value, first: bool) -> None:
    title, values = title_of(builder, base, name), builder.scope.values
    before = values.pop(title, None)
    if slot.key in builder.emitter.decisions.missing:
        if not first:
            values[title] = field_now(builder, base, name, slot)
        assign_maybe(builder, title, slot, value)
    elif not isinstance(value, Array):
        note_missing(builder, slot, held_now(builder, title, slot))
        raise Restart
    elif first:
        builder.open_array(title, slot, value)
    else:
        values[title] = held_now(builder, title, slot)
        assign_array(builder, title, slot, value)
    values.pop(title, None)
    if before is not None:
        values[title] = before


def field_now(builder: Building, base: Struct, name: str, slot: Slot) -> Value:
    """What such an attribute holds."""
    held: Value
    if slot.buffer is not None and slot.buffer.rank:
        held = held_now(builder, title_of(builder, base, name), slot)
    else:
        held = slot_number(builder, slot)
    return held if slot.there is None else Maybe(Read(slot.there.name, (), BOOL), held)


def _may_renew(held: object, value: Value) -> bool:
    """Whether an attribute that holds one value may get another one, in the same memory."""
    if isinstance(held, Slot):
        return is_none(value) and held.buffer is not None and not held.buffer.rank
    old_array = isinstance(held, Array) and not held.is_list and held.rank > 0
    new_array = isinstance(value, Array) and not value.is_list and value.rank > 0
    missing = is_none(held)  # type: ignore[arg-type]
    return (old_array and (new_array or is_none(value))) or (missing and (new_array or isinstance(value, Scalar)))
