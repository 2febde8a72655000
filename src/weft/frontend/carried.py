"""Sparse matrices that a loop carries or that branches merge.  In: objects assigned to such a name; out: a slot for
each of the arrays they are made of.

    S = S @ S    -->    S.indptr = ...; S.indices = ...; S.data = ...

Only the entries may change: the format, the interface, the types and the size stay what they are before the loop.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from weft.errors import Unsupported
from weft.frontend.building import Building
from weft.frontend.emit import Restart
from weft.frontend.models.sparse import Sparse
from weft.frontend.scope import Slot
from weft.frontend.slots import apart, shared_memory
from weft.frontend.values import Array, Object, Scalar, Struct, Value, describe
from weft.ir import index as ix
from weft.ir.expr import ONE, boolean

#: The arrays that a format is made of, with SciPy's names for them.
PARTS = {"csr": ("indptr", "indices", "data"), "csc": ("indptr", "indices", "data"), "coo": ("row", "col", "data")}


def parts_of(value: Value | None) -> tuple[str, ...]:
    """The names of the arrays of a sparse matrix in one of the formats that loops can carry."""
    if not isinstance(value, Struct) or not issubclass(value.kind, Sparse) or value.row is not None:
        return ()
    return PARTS.get(value.kind.format, ())


class CarriedMatrices(Building):
    """Slots of sparse matrices: opened, assigned, merged."""

    def open_slots(self, names: Iterable[str], owner: ast.AST) -> list[str]:
        wanted = list(names)
        carried: list[str] = []
        for name in wanted:
            value = self.scope.values.get(name)
            parts = () if name in self.scope.slots else parts_of(value)
            for part in parts:
                assert isinstance(value, Struct)
                self.scope.values[f"{name}.{part}"] = _own_places(self, value.fields[part], part)
            carried += [name] if parts else []
        more = [f"{name}.{part}" for name in carried for part in parts_of(self.scope.values[name])]
        opened = super().open_slots([*wanted, *more], owner)
        for name in more:
            buffer = self.scope.slots[name].buffer
            if buffer is not None and self.emitter.kept.pop(buffer.name, None) is not None and name.endswith(".data"):
                self.borrowed.add(buffer.name)
        for name in carried:
            _assemble(self, name)
        return opened

    def _assign_slot(self, name: str, slot: Slot, value: Value) -> None:
        current = self.scope.values.get(name)
        parts = parts_of(current)
        if parts_of(value) and current is None:
            reason = f"{name} is a sparse matrix first made in a loop or branch and used after it"
            raise apart(self, slot.branch, Unsupported(self.emitter.span, reason, "give it a value before"))
        if not parts or f"{name}.{parts[-1]}" not in self.scope.slots:
            super()._assign_slot(name, slot, value)
            return
        assert isinstance(current, Struct)
        if not isinstance(value, Struct) or not _same_kind(self, current, value):
            error = Unsupported(
                self.emitter.span,
                f"{name} is {describe(current)} first and {describe(value)} of another kind or size later",
                "use two names",
            )
            raise apart(self, slot.branch, error)
        if _order(value) is None and slot.key not in self.emitter.decisions.shuffled:
            self.emitter.decisions.shuffled.add(slot.key)
            raise Restart
        del self.scope.values[name]  # or it would be another name of the memory that is written now
        for part in parts:
            array, held = value.fields[part], current.fields[part]
            if array.view is not None and array.view.whole and array.view.buffer == held.view.buffer:
                continue
            super()._assign_slot(f"{name}.{part}", self.scope.slots[f"{name}.{part}"], _own_places(self, array, part))
        self.scope.values[name] = current
        _assemble(self, name)
        self.scope.stale.discard(name)

    def is_carried(self, value: Struct) -> bool:
        return any(value.fields is fields for fields in self.made_objects)

    def refresh(self) -> None:
        super().refresh()
        for name in list(self.scope.slots):
            parts = parts_of(self.scope.values.get(name))
            if parts and f"{name}.{parts[-1]}" in self.scope.slots:
                _assemble(self, name)

    def close_slots(self, names: Iterable[str]) -> None:
        closed = list(names)
        done = [value.fields for value in map(self.scope.values.get, closed) if isinstance(value, Struct)]
        self.made_objects = [fields for fields in self.made_objects if not any(fields is other for other in done)]
        super().close_slots(closed)
        for name in closed:
            if parts_of(self.scope.values.get(name.partition(".")[0])) and "." in name:
                del self.scope.values[name]


def _own_places(builder: Building, array: Array, part: str) -> Array:
    """An array of places that others have as well is copied: nobody can tell, as nobody writes to it."""
    if part == "data" or shared_memory(builder, array) is None:
        return array
    return replace(array, view=None, origin=None)


def _same_kind(builder: Building, current: Struct, value: Struct) -> bool:
    """Whether a matrix is of the kind and size of another one, by guards if need be."""
    if current.kind is not value.kind or current.fields["is_array"] != value.fields["is_array"]:
        return False
    emitter = builder.emitter
    pairs = [(current.fields[size].expr, value.fields[size].expr) for size in ("rows", "columns")]
    if not all(emitter.likely_equal(one, other) for one, other in pairs):
        return False
    for one, other in pairs:
        emitter.same_size(one, other, "RuntimeError", "")
    return True


def _assemble(builder: Building, name: str) -> None:
    """The matrix whose arrays are in the slots now."""
    value, slot = builder.scope.values[name], builder.scope.slots[name]
    assert isinstance(value, Struct)
    first, second, data = parts_of(value)
    fields = dict(value.fields)
    for part in (first, second, data):
        fields[part] = builder.scope.values[f"{name}.{part}"]
    count = fields[second].shape
    fields[data] = replace(fields[data], shape=count)
    major = {"csr": "rows", "csc": "columns"}.get(value.kind.format)  # type: ignore[attr-defined]
    shape = count if major is None else (ix.add(fields[major].expr, ONE),)
    fields[first] = replace(fields[first], shape=shape)
    shuffled = slot.key in builder.emitter.decisions.shuffled
    fields["in_order"] = Object(None) if shuffled else Scalar(boolean(False))
    made = Struct(value.kind, fields, builder.emitter.blocks[-1])
    builder.known_places(made)
    builder.made_objects.append(made.fields)
    builder.scope.values[name] = made


def carrier(builder: Building, value: Struct) -> str | None:
    """The name whose slots hold a matrix now."""
    for name in builder.scope.slots:
        held = builder.scope.values.get(name)
        if isinstance(held, Struct) and held.fields is value.fields and parts_of(held):
            return name
    return None


def change_carried(builder: Building, base: Struct, changed: dict[str, Any], node: ast.AST) -> None:
    """Other arrays for a matrix that a loop carries."""
    name = carrier(builder, base)
    if name is None:
        raise builder.unsupported(node, "a change of a sparse matrix that a loop outside of here carries")
    builder._assign_slot(name, builder.scope.slots[name], Struct(base.kind, base.fields | changed, base.block))


def _order(value: Struct) -> object:
    """Whether entries are in order: None if they are not."""
    order = value.fields.get("in_order")
    return order.value if isinstance(order, Object) else True
