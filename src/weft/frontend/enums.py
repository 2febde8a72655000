"""Members of enumerations.  In: `Color.RED`, and variables that hold such members; out: the number of a member in the
order of its class.

A member that is known at compile time stays a Python object; one that a variable of a loop or a container holds is its
number, and its value, where it is asked for, a choice by that number.
"""

from __future__ import annotations

import ast
import enum
from collections.abc import Iterable as Names
from dataclasses import replace
from typing import Any

from weft.frontend import arith, reads
from weft.frontend.building import Building
from weft.frontend.core import assign_parts, changes_kind, part_slots
from weft.frontend.emit import Restart
from weft.frontend.scope import Slot
from weft.frontend.slots import apart
from weft.frontend.values import Member, Object, Scalar, Tuple, Value
from weft.ir.expr import Const, Expr, Op, Read, integer
from weft.ir.types import BOOL, INT, PYBOOL, ScalarType, type_of_value

#: So many members are told apart by comparing one after the other.
_MOST = 64


def is_member(value: Value | None) -> bool:
    return isinstance(value, Member) or (isinstance(value, Object) and isinstance(value.value, enum.Enum))


def class_of(value: Value) -> Any:
    """The enumeration that a member is of."""
    if isinstance(value, Member):
        return value.kind
    assert isinstance(value, Object)
    return type(value.value)


def _plain(kind: Any) -> bool:
    """Whether members are compared, and are true, as the standard library says."""
    own = [base for base in kind.__mro__ if base.__module__ not in ("enum", "builtins")]
    special = ("__eq__", "__bool__", "__hash__", "__lt__")
    return not any(reads.own(base, name) is not reads.ABSENT for base in own for name in special)


class Enums(Building):
    """Members of enumerations as values."""

    def member(self, value: Value) -> Member:
        if isinstance(value, Member):
            return value
        assert isinstance(value, Object)
        kind = class_of(value)
        return Member(kind, integer(list(kind).index(value.value)))

    def member_comparison(self, name: str, left: Value, right: Value, node: ast.AST) -> Value:
        """left == right, where one of them is a member."""
        members = [value for value in (left, right) if is_member(value)]
        if not all(_plain(class_of(value)) for value in members):
            raise self.unsupported(node, "a comparison of members that their class defines")
        if isinstance(left, Object) and isinstance(right, Object) and name in ("eq", "ne"):
            return Scalar(Const(bool(left.value == right.value) == (name == "eq"), PYBOOL))
        if len(members) == 2 and class_of(left) is class_of(right) and name in ("eq", "ne"):
            return Scalar(same_member(self, left, right, name == "eq"))
        numbers = [as_number(self, value) for value in (left, right)]
        if all(isinstance(value, Scalar) for value in numbers):
            first, second = (value.expr for value in numbers if isinstance(value, Scalar))
            return Scalar(arith.cast(arith.compare(name, first, second, self.emitter.span), PYBOOL))
        if name not in ("eq", "ne") or any(issubclass(class_of(value), (int, str, float)) for value in members):
            raise self.unsupported(node, "this comparison of members", left=left, right=right)
        return Scalar(Const(name == "ne", PYBOOL))

    def truth(self, value: Value, node: ast.AST | None) -> Scalar | bool:
        if isinstance(value, Member):
            number = as_number(self, value)
            if isinstance(number, Scalar):
                return Scalar(arith.truth(number.expr))
            if not _plain(value.kind) or issubclass(value.kind, str):
                raise self.unsupported(node, "the truth value of a member")
            return True
        return super().truth(value, node)

    # --- names ------------------------------------------------------------------------------------------------------

    def bind(self, name: str, value: Value) -> None:
        if isinstance(value, Member) and name not in self.scope.slots:
            value = replace(value, code=self.emitter.snapshot(value.code, name))
        super().bind(name, value)

    def open_slots(self, names: Names[str], owner: ast.AST) -> list[str]:
        opened = super().open_slots(names, owner)
        for name in opened:
            slot, value = self.scope.slots[name], self.scope.values.get(name)
            if slot.key not in self.emitter.decisions.members or value is None:
                continue
            if not is_member(value):
                raise apart(self, slot.branch, changes_kind(self, name, value, Object("a member")))
            _assign_member(self, name, slot, value)
        return opened

    def _assign_slot(self, name: str, slot: Slot, value: Value) -> None:
        known = self.emitter.decisions.members
        if slot.key in known:
            _assign_member(self, name, slot, value)
            return
        current = self.scope.values.get(name)
        if isinstance(value, Member) and current is not None and not is_member(current):
            raise apart(self, slot.branch, changes_kind(self, name, current, value))
        if is_member(value) and (isinstance(value, Member) or (is_member(current) and current != value)):
            known[slot.key] = class_of(value)
            raise Restart
        super()._assign_slot(name, slot, value)


def member_value(builder: Building, member: Value) -> Scalar:
    """member.value, if all of them are numbers of one type."""
    kind = class_of(member)
    values = [one.value for one in kind]
    types = {type_of_value(value) for value in values}
    of = next(iter(types))
    if len(types) != 1 or not isinstance(of, ScalarType) or len(values) > _MOST:
        raise builder.unsupported(None, f"the value of a member of {kind.__name__}", "use values of one type")
    if isinstance(member, Object):
        return Scalar(Const(member.value.value, of))
    code = builder.emitter.snapshot(builder.member(member).code, "member")
    result: Expr = Const(values[-1], of)
    for place, value in reversed(list(enumerate(values[:-1]))):
        result = Op("select", (Op("eq", (code, integer(place)), BOOL), Const(value, of), result), of)
    return Scalar(result)


def member_of_value(builder: Building, kind: Any, value: Value, node: ast.AST) -> Value:
    """kind(value): the member with that value, or ValueError"""
    if is_member(value) and class_of(value) is kind:
        return value
    values = [one.value for one in kind]
    types = {type_of_value(one) for one in values}
    if types != {INT} or len(values) > _MOST or not isinstance(value, Scalar) or value.type != INT:
        raise builder.unsupported(node, f"{kind.__name__}() of this", "use values that are int", value=value)
    if issubclass(kind, enum.Flag) or reads.own(kind, "_missing_") is not reads.ABSENT:
        raise builder.unsupported(node, f"{kind.__name__}() of a value that it may have no member for")
    wanted = builder.emitter.snapshot(value.expr, "value")
    code: Expr = integer(-1)
    for place, one in enumerate(values):
        code = Op("select", (Op("eq", (wanted, Const(one, INT)), BOOL), integer(place), code), INT)
    found = builder.emitter.snapshot(code, "member")
    message = f"{{0}} is not a valid {kind.__qualname__}"
    builder.emitter.check(Op("ge", (found, integer(0)), BOOL), "ValueError", message, (wanted,))
    return Member(kind, found)


def as_number(builder: Building, value: Value) -> Value:
    """A member that is a number (of an IntEnum) as that number; anything else as it is."""
    if is_member(value) and issubclass(class_of(value), int) and _plain(class_of(value)):
        return member_value(builder, value)
    return value


def same_member(builder: Building, left: Value, right: Value, positive: bool) -> Expr:
    """left is right"""
    if class_of(left) is not class_of(right):
        return Const(not positive, PYBOOL)
    one, other = builder.member(left).code, builder.member(right).code
    if isinstance(one, Const) and isinstance(other, Const):
        return Const((one == other) == positive, PYBOOL)
    return Op("eq" if positive else "ne", (one, other), PYBOOL)


def _assign_member(builder: Building, name: str, slot: Slot, value: Value) -> None:
    kind = builder.emitter.decisions.members[slot.key]
    if not is_member(value) or class_of(value) is not kind:
        current = builder.scope.values.get(name)
        raise apart(builder, slot.branch, changes_kind(builder, name, current or Object(kind), value))
    if slot.parts is None:
        slot.parts = part_slots(slot, 1)
    assign_parts(builder, name, slot, Tuple((Scalar(builder.member(value).code),)))
    builder.scope.values[name] = slot_member(builder, slot)


def slot_member(builder: Building, slot: Slot) -> Member:
    """The member that a slot holds."""
    assert slot.parts is not None and slot.parts[0].buffer is not None
    kind = builder.emitter.decisions.members[slot.key]
    return Member(kind, Read(slot.parts[0].buffer.name, (), INT))


def chosen_member(builder: Building, test: Scalar, then: Value, orelse: Value, node: ast.AST) -> Value:
    """`a if test else b` without anything to be done before"""
    if class_of(then) is not class_of(orelse):
        raise builder.unsupported(node, "a choice between members of two enumerations")
    codes = (builder.member(then).code, builder.member(orelse).code)
    return Member(class_of(then), Op("select", (arith.condition(test.expr), *codes), INT))
