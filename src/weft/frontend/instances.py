"""Objects of simple classes that are arguments.  In: attributes read, assigned to, methods called; out: hidden
arguments for the attributes, variables for those that change, and results that put these back into the object.

    def step(p, dt): p.x += p.v * dt    -->    x = p.x; x = x + p.v * dt; return, with p.x = x

An attribute is asked for when something reads it.  That one changes is found while building, which then starts again:
it is a variable from the start then, whatever raises is left to Python, and the object gets its new value at the end.
No two names may denote one object that changes: with another object of such a class among the arguments, Python runs.
"""

from __future__ import annotations

import ast
import types
from typing import Any

from weft.frontend import reads
from weft.frontend.building import Building
from weft.frontend.core import assign_scalar_slot
from weft.frontend.emit import Restart
from weft.frontend.scope import Slot
from weft.frontend.specs import Spec
from weft.frontend.structs import attributes_of, is_frozen, is_simple_class, slots_of
from weft.frontend.values import (
    Dict,
    Instance,
    Object,
    Records,
    Scalar,
    Struct,
    Tuple,
    Value,
)
from weft.ir.program import ArgumentOut, ConstOut, Out, TupleOut
from weft.naming import home_of
from weft.records import dataclass

_LIBRARIES = ("numpy", "scipy")
_MAKER = "weft.runtime.containers:changed_object"


@dataclass(frozen=True)
class Hidden:
    """A value that is not an argument: a global, a closure variable or an attribute, with the spec it was compiled for.

    `home` is the namespace (dict), the cell, or the index of the argument whose attribute `name` it is.
    """

    name: str
    home: Any
    spec: Spec | Object
    param: str | tuple[str, ...] | None  # the program's parameter; None for a constant that is only re-checked
    path: tuple[str, ...] = ()


def is_object(sample: Any) -> bool:
    """Whether an argument is nothing but attributes and methods of a class written in Python."""
    kind = type(sample)
    own = isinstance(getattr(sample, "__dict__", None), dict) or bool(slots_of(kind))
    return own and is_simple_class(kind) and not home_of(kind).startswith(_LIBRARIES)


class Instances(Building):
    """Arguments that are objects."""

    def field(self, base: Struct, name: str, node: ast.AST) -> Value:
        instance = base.instance
        if instance is None or name in base.fields or name not in attributes_of(instance.sample):
            return super().field(base, name, node)
        if reads.takes_stores(reads.lookup(base.kind, name)):
            return super().field(base, name, node)  # it comes before what the object itself holds
        return self.instance_attribute(instance, name, node)

    def not_shadowed(self, base: Struct, name: str, node: ast.AST) -> None:
        instance = base.instance
        if instance is None:
            return
        found = reads.lookup(base.kind, name)
        path = (*instance.path, name)
        if isinstance(found, (types.FunctionType, classmethod)):
            path, found = (*path, "__func__"), getattr(found, "__func__", found)
        elif isinstance(found, staticmethod):
            found = found.__func__
        if found is not reads.ABSENT and (instance.argument, path) not in self.hidden:
            known = Object(found)
            self.hidden[instance.argument, path] = (Hidden(name, instance.argument, known, None, path), known)

    def store_attribute(self, base: Struct, name: str, value: Value, node: ast.AST) -> None:
        instance = base.instance
        frozen = is_frozen(base.kind) or reads.takes_stores(reads.lookup(base.kind, name))
        if instance is None or frozen or isinstance(base.fields.get(name), Slot):
            super().store_attribute(base, name, value, node)
            return
        held = attributes_of(instance.sample).get(name)
        if self.entry is not None or not isinstance(value, Scalar) or type(held) not in (int, float, bool, complex):
            reason = f"an assignment to the attribute {name} of an argument, which is no number"
            raise self.unsupported(node, reason, "return the value instead", value=value)
        self.emitter.decisions.stored.add((instance.argument, instance.path, name))
        raise Restart

    def stores_objects(self) -> bool:
        return bool(self.emitter.decisions.stored) and self.entry is None

    def is_given_object(self, value: Value) -> bool:
        """Whether a value is an argument's object, or holds one."""
        if isinstance(value, Tuple):
            return any(map(self.is_given_object, value.items))
        return (isinstance(value, Struct) and value.instance is not None) or holds_given(self, value)


def note_hidden(builder: Building, base: Instance, path: tuple[str, ...], spec: Any, param: Any, value: Value) -> None:
    builder.hidden[base.argument, path] = (Hidden(path[-1], base.argument, spec, param, path), value)


def with_objects(builder: Building, out: Out, node: ast.AST) -> Out:
    """A result that first puts into the arguments what their attributes are now."""
    if not builder.stores_objects():
        return out
    stored = sorted(builder.emitter.decisions.stored)
    changed = {(argument, path) for argument, path, _ in stored}
    for place in changed:
        kind = builder.objects_given[place].kind
        for other, struct in builder.objects_given.items():
            if other != place and (issubclass(kind, struct.kind) or issubclass(struct.kind, kind)):
                reason = f"a change of one of two objects of type {kind.__name__}, which may be the same"
                raise builder.unsupported(node, reason, "return the value instead")
    for argument, path in sorted(changed):
        owner = builder.objects_given[argument, path]
        names = tuple(name for where, via, name in stored if (where, via) == (argument, path))
        values = [builder.out(builder.field(owner, name, node), node) for name in names]
        told = ConstOut(repr((path, names)))
        out = TupleOut((out, ArgumentOut(argument), told, *values), named=_MAKER)
    return out


def object_argument(builder: Building, base: Instance) -> Struct:
    key = (base.argument, base.path)
    if key not in builder.objects_given:
        builder.objects_given[key] = Struct(type(base.sample), {}, instance=base)
    return builder.objects_given[key]


def load_stored(builder: Building) -> None:
    """Variables for the attributes that the function assigns to."""
    tree = builder.scope.source.tree
    for argument, path, name in sorted(builder.emitter.decisions.stored):
        owner: Value = builder.scope.values[list(builder.scope.values)[argument]]
        for part in path:
            owner = builder.attribute(owner, part, tree)
        assert isinstance(owner, Struct) and owner.instance is not None
        value = builder.instance_attribute(owner.instance, name, tree)
        assert isinstance(value, Scalar)
        title = f"{owner.kind.__name__.lower()}.{name}"
        slot = Slot((hash((argument, path, name)), title))
        assign_scalar_slot(builder, title, slot, value)
        builder.scope.values.pop(title)
        owner.fields[name] = slot


def holds_given(builder: Building, value: Value) -> bool:
    """Whether objects of an argument may be in a result, which would have to be these very objects."""
    if isinstance(value, Dict):
        return value.table is not None and not builder.columns_given.isdisjoint(value.table.entries.data)
    return isinstance(value, Records) and not builder.columns_given.isdisjoint(value.growing.data)
