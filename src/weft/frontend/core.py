"""What the parts of the builder share: the emitter, the scope, assignment to names, merging of branches.

The builder is one class in four files: `statements`, `expressions`, `calls` and this one, which they stand on.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass, replace

from weft.errors import Span, Unsupported
from weft.frontend import arith, arrays, masks
from weft.frontend.emit import Emitter, Restart
from weft.frontend.scope import Scope, Slot
from weft.frontend.slots import ArraySlots, arrays_in
from weft.frontend.values import Array, Dict, Flat, Object, Records, Rows, Scalar, Slice, Struct, Tuple, Value, describe
from weft.ir import walk
from weft.ir.expr import Const, Expr, Read, Var
from weft.ir.index import affine
from weft.ir.program import Buffer, Node
from weft.ir.types import BOOL, INT, ScalarType, join

SYNTHETIC = "__weft"


@dataclass(frozen=True)
class Mixed:
    """A choice between values of different types, which Python would keep: `then` if `test` holds, else `orelse`."""

    test: Expr
    then: Expr
    orelse: Expr


def benign(of: ScalarType, joined: ScalarType) -> bool:
    """Whether a value of type `of` may be shown to the user as a `joined`: NumPy's float64 is a Python float."""
    return of == joined or (of.weak and of.dtype is joined.dtype and of.dtype.is_inexact)


class Core(ArraySlots):
    """State and helpers of a build."""

    emitter: Emitter
    scope: Scope
    undecided: set[str]  # scalar buffers that hold a Python float or, as soon as something was added, a NumPy one
    # Scalar buffers that may hold a value whose own Python type is another than theirs, and the slots they are of.
    widened: dict[str, tuple[int, str]]
    mixed_exprs: dict[int, Mixed]
    _keep: list[Expr]

    def note_mixed(self, expr: Expr, choice: Mixed) -> None:
        """Remember that `expr` is a choice between types: if it is returned, each side is returned as what it is."""
        self.mixed_exprs[id(expr)] = choice
        self._keep.append(expr)  # its id must stay its own

    # --- places -----------------------------------------------------------------------------------------------------

    def at(self, node: ast.AST | None) -> Span:
        """Remember where we are: errors, checks and statements emitted next carry this place; None keeps the last."""
        if node is not None and hasattr(node, "lineno"):
            self.emitter.span = self.scope.source.span(node)
        return self.emitter.span

    def unsupported(self, node: ast.AST | None, reason: str, remedy: str = "", **values: Value) -> Unsupported:
        types = {name: describe(value) for name, value in values.items()}
        return Unsupported(self.at(node), reason, remedy, types)

    # --- names ------------------------------------------------------------------------------------------------------

    def bind(self, name: str, value: Value) -> None:
        """name = value"""
        value = value if isinstance(value, Flat) else masks.settled(value, self.emitter)
        self.scope.unbound.discard(name)
        self.scope.stale.discard(name)
        self.scope.bound_in[name] = self.emitter.blocks[-1]
        slot = self.scope.slots.get(name)
        if slot is not None:
            self._assign_slot(name, slot, value)
        elif isinstance(value, Scalar):
            self.scope.values[name] = Scalar(self._kept(value.expr, name))
        elif isinstance(value, Array) and value.view is None and value.origin is None:
            arrays.keepable(value, self.emitter)
            self.scope.values[name] = arrays.materialise(value, self.emitter, name)
        else:
            self.scope.values[name] = value

    def _kept(self, expr: Expr, name: str) -> Expr:
        """The value in a scalar of its own; a choice between types stays one."""
        kept = self.emitter.snapshot(expr, name)
        choice = self.mixed_exprs.get(id(expr))
        if isinstance(kept, Read) and choice is not None:
            test = self.emitter.snapshot(choice.test, "test")
            kept = replace(kept)
            sides = (arith.cast(replace(kept), side.type) for side in (choice.then, choice.orelse))
            self.note_mixed(kept, Mixed(test, *sides))
        elif isinstance(kept, Read) and isinstance(expr, Read) and expr.buffer in self.widened:
            self.widened[kept.buffer] = self.widened[expr.buffer]
        if isinstance(kept, Read) and self.may_be_python(expr):
            self.undecided.add(kept.buffer)
        return kept

    def may_be_python(self, expr: Expr) -> bool:
        """Whether a NumPy number may, at run time, be one of Python's own: 0.0 to which nothing has been added yet."""
        if expr.type.weak:
            return False
        leaves = [part for part in walk.subexpressions(expr) if isinstance(part, (Read, Var))]
        unsure = [part for part in leaves if isinstance(part, Read) and part.buffer in self.undecided]
        return bool(unsure) and all(part.type.weak or part in unsure for part in leaves)

    def changes_type(self, slot: Slot) -> bool:
        """Whether an earlier attempt found that a slot holds values of different types."""
        known = self.emitter.decisions.slot_types.get(slot.key)
        return known is not None and (slot.entry is None or slot.entry != known)

    def _type_may_differ(self, expr: Expr, of: ScalarType) -> bool:
        """Whether a value, kept as an `of`, may be of another Python type, one that the user could tell from it."""
        choice = self.mixed_exprs.get(id(expr))
        if choice is not None:
            return not (benign(choice.then.type, of) and benign(choice.orelse.type, of))
        return isinstance(expr, Read) and expr.buffer in self.widened

    def _assign_slot(self, name: str, slot: Slot, value: Value) -> None:
        if isinstance(value, Scalar):
            self._assign_scalar_slot(name, slot, value)
        elif isinstance(value, Array):
            self._assign_array_slot(name, slot, value)
        else:
            current = self.scope.values.get(name)
            numbers = isinstance(value, Tuple) and not value.is_list and _all_scalars(value)
            if numbers and isinstance(value, Tuple) and slot.key in self.emitter.decisions.tupled:
                self._assign_parts(name, slot, value)
                return
            if slot.buffer is None and (current is None or current == value):
                if not self._lasting(value):
                    if numbers:
                        self.emitter.decisions.tupled.add(slot.key)
                        raise Restart
                    raise Unsupported(
                        self.emitter.span,
                        f"{name} is a {type(value).__name__.lower()} made in a loop or branch and used after it",
                        "use a name of its own for each number in it",
                    )
                self.scope.values[name] = value
                return
            if current != value:
                fits = isinstance(current, Tuple) and isinstance(value, Tuple) and _all_scalars(current)
                if numbers and fits and len(current.items) == len(value.items):  # type: ignore[union-attr]
                    self.emitter.decisions.tupled.add(slot.key)
                    raise Restart
                first = describe(current) if current else "unset"
                error = Unsupported(
                    self.emitter.span,
                    f"{name} is {first} on one path and {describe(value)} on another",
                    "use a variable of its own for each type",
                )
                raise self.apart(slot.branch, error)

    def _lasting(self, value: Value) -> bool:
        """Whether a tuple or slice holds only what means the same outside the loop or branch that made it."""
        if isinstance(value, (Tuple, Slice)):
            parts = value.items if isinstance(value, Tuple) else (value.lo, value.hi, value.step)
            return all(part is None or self._lasting(part) for part in parts)
        if not isinstance(value, Scalar) or isinstance(value.expr, Const):
            return True
        form = affine(value.expr)
        return form is not None and all(symbol in self.emitter.symbols for symbol, _ in form.terms)

    def slot_type(self, slot: Slot, of: ScalarType) -> ScalarType:
        """The type of a slot that also holds an `of`; a wider type than before starts the build again."""
        known = self.emitter.decisions.slot_types.get(slot.key)
        joined = of if known is None else join(known, of)
        if (known is not None and joined != known) or (slot.buffer is not None and joined != slot.buffer.type):
            self.emitter.decisions.slot_types[slot.key] = joined
            raise Restart
        self.emitter.decisions.slot_types[slot.key] = joined
        return joined

    def _assign_scalar_slot(self, name: str, slot: Slot, value: Scalar) -> None:
        current = self.scope.values.get(name)
        if current is not None and not isinstance(current, Scalar):
            raise self.apart(slot.branch, self._changes_kind(name, current, value))
        of = self.slot_type(slot, value.type)
        if slot.buffer is None:
            slot.buffer = self.emitter.declare(name, of)
        slot.history.append(value.type)
        if value.type.weak and not of.weak:
            self.undecided.add(slot.buffer.name)
        self._write_number(name, slot, slot.buffer, value.expr)

    def _write_number(self, name: str, slot: Slot, buffer: Buffer, value: Expr) -> None:
        """A number written to its slot, and what its Python type was."""
        held = Read(buffer.name, (), buffer.type)
        if slot.key in self.emitter.decisions.tagged:
            self._tag(slot, value, held)
        elif not benign(value.type, buffer.type) or self._type_may_differ(value, buffer.type):
            self.widened[buffer.name] = slot.key
        self.emitter.assign((), buffer.name, (), arith.cast(value, buffer.type))
        self.scope.values[name] = Scalar(held)

    def _tag(self, slot: Slot, value: Expr, held: Read) -> None:
        """Write down whether a number is of the slot's type or of the other one that the slot holds.

        `held` becomes a choice by that tag, so that a return gives each as what it is.
        """
        if isinstance(value, Read) and value.buffer in self.widened:
            self.tell_type(value.buffer)
        choice = self.mixed_exprs.get(id(value))
        parts = (value,) if choice is None else (choice.then, choice.orelse)
        tagged = self.emitter.decisions.tagged
        for part in parts:
            if benign(part.type, held.type):
                continue
            if tagged[slot.key] is None:
                tagged[slot.key] = part.type
                raise Restart
            if tagged[slot.key] != part.type:
                raise Unsupported(
                    self.emitter.span, f"{slot.key[1]} holds numbers of more than two types", "convert them to one"
                )
        other = tagged[slot.key]
        if other is None:
            return
        if slot.tag is None:
            slot.tag = self.emitter.declare(f"{slot.key[1]}_type", BOOL)
        is_other: list[Expr] = [Const(not benign(part.type, held.type), BOOL) for part in parts]
        test = is_other[0] if choice is None else arith.select(choice.test, is_other[0], is_other[1])
        self.emitter.assign((), slot.tag.name, (), test)
        told = Read(slot.tag.name, (), BOOL)
        self.note_mixed(held, Mixed(told, arith.cast(replace(held), other), replace(held)))

    def tell_type(self, buffer: str) -> None:
        """Build again with a tag that tells of which type the number in a buffer is."""
        self.emitter.decisions.tagged.setdefault(self.widened[buffer], None)
        raise Restart

    def _assign_array_slot(self, name: str, slot: Slot, value: Array) -> None:
        current = self.scope.values.get(name)
        if slot.buffer is None and current is not None and not isinstance(current, Array):
            raise self.apart(slot.branch, self._changes_kind(name, current, value))
        self.assign_array(name, slot, value)

    def _part_from(self, name: str, buffer: Buffer) -> None:
        """Other names of a slot's memory keep its contents, in memory of their own, when `name` gets a new array."""
        scope: Scope | None = self.scope
        while scope is not None:
            for other, value in list(scope.values.items()):
                if other == name and scope is self.scope:
                    continue
                if not any(_shows(array, buffer) for array in arrays_in(value)):
                    continue
                if scope.bound_in.get(other) is self.emitter.blocks[-1] and not isinstance(value, Struct):
                    scope.values[other] = self._parted(value, buffer, other)
                else:
                    scope.stale.add(other)  # a copy made here would exist on one path only, or not be the object's
            scope = scope.parent

    def _parted(self, value: Value, buffer: Buffer, name: str) -> Value:
        if isinstance(value, Tuple):
            return replace(value, items=tuple(self._parted(item, buffer, name) for item in value.items))
        if isinstance(value, Array) and _shows(value, buffer):
            return arrays.materialise(value, self.emitter, name)
        return value

    def _changes_kind(self, name: str, old: Value, new: Value) -> Unsupported:
        return Unsupported(
            self.emitter.span,
            f"{name} is {describe(old)} first and {describe(new)} later, in one loop or branch",
            "use two names",
        )

    def open_slots(self, names: Iterable[str], owner: ast.AST) -> list[str]:
        """Make `names` slots until `close_slots`; values they have now are the slots' first contents."""
        opened = []
        for name in sorted(names):
            if name in self.scope.slots:
                continue
            slot = Slot((hash((self.scope.path, id(owner))), name))
            slot.branch = (self.scope.path, id(owner)) if id(owner) in self.scope.followed else None
            value = self.scope.values.get(name)
            if isinstance(value, Scalar):
                self._open_scalar(name, slot, value)
            elif isinstance(value, Array):
                self.open_array(name, slot, value)
            elif isinstance(value, Tuple) and slot.key in self.emitter.decisions.tupled:
                self._open_parts(name, slot, value)
            elif value is None:
                self.open_late(name, slot)
            self.scope.slots[name] = slot
            opened.append(name)
        return opened

    def _open_scalar(self, name: str, slot: Slot, value: Scalar) -> None:
        of = self.slot_type(slot, value.type)
        slot.buffer = self.emitter.declare(name, of)
        slot.entry = value.type
        if value.type.weak and not of.weak:
            self.undecided.add(slot.buffer.name)
        self._write_number(name, slot, slot.buffer, value.expr)

    # A tuple of numbers that a loop carries: each number is a slot of its own.

    def _open_parts(self, name: str, slot: Slot, value: Tuple) -> None:
        slot.parts = _part_slots(slot, len(value.items))
        for part, item in zip(slot.parts, value.items):
            assert isinstance(item, Scalar)
            self._open_scalar(_part_name(name, part), part, item)
        self.scope.values[name] = self._assembled(name, slot, value)

    def _assign_parts(self, name: str, slot: Slot, value: Tuple) -> None:
        if slot.parts is None:
            slot.parts = _part_slots(slot, len(value.items))
        if len(slot.parts) != len(value.items):
            raise Unsupported(self.emitter.span, f"{name} is a tuple of different lengths", "use two names")
        # All numbers are taken before one changes: p = (p[1], p[0]).
        taken = [self.emitter.snapshot(item.expr, "part") for item in value.items if isinstance(item, Scalar)]
        for part, expr in zip(slot.parts, taken):
            self._assign_scalar_slot(_part_name(name, part), part, Scalar(expr))
        self.scope.values[name] = self._assembled(name, slot, value)

    def _assembled(self, name: str, slot: Slot, value: Tuple) -> Tuple:
        assert slot.parts is not None
        return replace(value, items=tuple(self.scope.values[_part_name(name, part)] for part in slot.parts))

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
            return Scalar(arith.truth(Read(value.growing.length, (), INT)))
        if isinstance(value, Rows):
            return Scalar(arith.truth(value.count))
        raise self.unsupported(node, "the truth value of an array", "use .any() or .all()", value=value)

    #: What stands for an argument that is a list, dict or set: its parameter, and the argument's name.
    own: dict[str, str]
    argument_of: dict[str, str]
    #: Arguments that results change: the parameter and the value that tells what they hold then.
    changed: dict[str, tuple[str, Value]]

    def identity(self, value: Value) -> str | None:
        """What two names of one container have in common."""
        if isinstance(value, Array) and value.is_list and value.view is not None:
            return value.view.buffer if value.view.whole or value.growing is not None else None
        if isinstance(value, Records):
            return value.growing.data[0] if value.growing.head is None else None
        if isinstance(value, Rows):
            return value.starts
        if isinstance(value, Dict):
            return repr(value.place) if value.table is None else value.table.index
        return repr(value.key) if isinstance(value, Tuple) and value.key is not None else None

    def will_change(self, value: Value) -> None:
        """A container gets or loses items: if it is an argument, the build starts again with memory of its own for it."""
        name = self.argument_of.get(self.identity(value) or "")
        if name is not None and name not in self.emitter.decisions.changing:
            self.emitter.decisions.changing.add(name)
            raise Restart

    def written_by(self, nodes: Iterable[Node]) -> set[str]:
        found: set[str] = set()
        for node in nodes:
            found |= walk.buffers_written(node)
        return found


def _all_scalars(value: Tuple) -> bool:
    return bool(value.items) and all(isinstance(item, Scalar) for item in value.items)


def _part_slots(slot: Slot, count: int) -> list[Slot]:
    return [Slot((slot.key[0], f"{slot.key[1]}.{position}")) for position in range(count)]


def _part_name(name: str, part: Slot) -> str:
    """The name of a part: no name of the user's has a dot in it."""
    return f"{name}.{part.key[1].rpartition('.')[2]}"


def _shows(array: Array, buffer: Buffer) -> bool:
    return buffer.name == (array.view.buffer if array.view is not None else array.origin)
