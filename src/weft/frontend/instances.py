"""Objects of simple classes that are arguments.  In: attributes read, assigned to, methods called; out: hidden
arguments for the attributes, variables for those that change, and results that put these back into the object.

    def step(p, dt): p.x += p.v * dt    -->    x = p.x; x = x + p.v * dt; return, with p.x = x

An attribute is asked for when something reads it.  That one changes is found while building, which then starts again:
it is a variable from the start then, whatever raises is left to Python, and the object gets its new value at the end.
No two names may denote one object that changes: with another object of such a class among the arguments, Python runs.
Objects in a list that is an argument are made among those of their class that containers hold, a list for each
attribute; the dispatcher makes these lists, and sees to it that all objects are different and of one class.
"""

from __future__ import annotations

import ast
import types
from collections.abc import Mapping
from typing import Any

from weft.frontend import growing, reads, revisions
from weft.frontend.arguments import fixed_columns
from weft.frontend.building import Building
from weft.frontend.core import assign_scalar_slot, written_by
from weft.frontend.emit import Restart
from weft.frontend.growing import Cells
from weft.frontend.items import as_value, types_in
from weft.frontend.reasons import left_to_plain
from weft.frontend.scope import Slot
from weft.frontend.specs import ListSpec, Spec, spec_of
from weft.frontend.structs import attributes_of, fits, is_frozen, is_named_tuple, is_simple_class, slots_of
from weft.frontend.values import (
    Array,
    Dict,
    Instance,
    ItemType,
    NamedParts,
    Object,
    ObjectType,
    Records,
    Scalar,
    Struct,
    Tuple,
    Value,
)
from weft.frontend.writing import loop
from weft.ir import index as ix
from weft.ir.expr import ONE, ZERO, Expr
from weft.ir.program import ArgumentOut, ConstOut, Out, TupleOut
from weft.ir.types import INT, ScalarType, type_of_value
from weft.naming import home_of
from weft.records import dataclass

_LIBRARIES = ("numpy", "scipy")
#: Part of a path: the attribute of all items of a list (`runtime.descriptor`).
EACH = "*"
#: Part of a path: whether no item of a list has this attribute of its own.
NOT_OWN = "~"
#: Part of a path: whether a dict does not have this key.
NOT_KEY = "!"
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
        if instance is None and base.row is None:
            return
        found = reads.lookup(base.kind, name)
        if instance is None:
            for argument, kind, _, _ in _all_lists_given(self):
                if kind is base.kind:
                    part = (f"{NOT_OWN}{name}",)
                    self.hidden[argument, part] = (Hidden(name, argument, Object(True), None, part), Object(True))
            return
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
        decisions = self.emitter.decisions
        return (bool(decisions.stored) or bool(decisions.assigned)) and self.entry is None

    # --- lists of objects -------------------------------------------------------------------------------------------

    def assigns(self, kind: type, name: str) -> None:
        decisions = self.emitter.decisions
        if any(kind is held for _, held, _, _ in _all_lists_given(self)) and (kind, name) not in decisions.assigned:
            if self.entry is not None:
                raise self.unsupported(None, f"an assignment to {name} of an argument, in a recursive function")
            decisions.assigned.add((kind, name))
            raise Restart

    def is_given_object(self, value: Value) -> bool:
        """Whether a value is an argument's object, or holds one."""
        if isinstance(value, Tuple):
            return any(map(self.is_given_object, value.items))
        return (isinstance(value, Struct) and value.instance is not None) or holds_given(self, value)


def entry_by_name(builder: Building, base: Value, key: Value, missing: Value, node: ast.AST) -> Value | None:
    """base[key] of a dict that is an argument, for a key that is written down; `missing` if the dict does not have it.

    A guard tells which of both it is. None for other dicts and keys, and for entries that are no numbers or arrays.
    """
    name = key.value if isinstance(key, Object) else None
    if not isinstance(base, Instance) or type(base.sample) is not dict:
        return None
    if type(name) is not str or not name.isidentifier():
        return None
    if name not in base.sample:
        path = (*base.path, f"{NOT_KEY}{name}")
        builder.hidden[base.argument, path] = (Hidden(name, base.argument, Object(True), None, path), Object(True))
        return missing
    found = builder.instance_attribute(base, f"@{name}", node)
    return found if isinstance(found, (Scalar, Array)) else None


def note_hidden(builder: Building, base: Instance, path: tuple[str, ...], spec: Any, param: Any, value: Value) -> None:
    builder.hidden[base.argument, path] = (Hidden(path[-1], base.argument, spec, param, path), value)


def with_objects(builder: Building, out: Out, node: ast.AST) -> Out:
    """A result that first puts into the arguments what their attributes are now."""
    if not builder.stores_objects():
        return out
    out = _with_lists(builder, out, node)
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


def _all_lists_given(builder: Building) -> list[tuple[int, type, Expr, str]]:
    """Those of the function that is compiled, also where a recursive one is built for it."""
    owner: Any = builder
    while owner.lender is not None:
        owner = owner.lender
    return owner.lists_given  # type: ignore[no-any-return]


def list_of_objects(builder: Building, base: Instance, node: ast.AST) -> Value | None:
    """A list of objects that is an argument: these are made among those of their class; None if it is another."""
    first = base.sample[0]
    kind = type(first)
    if base.path or builder.entry is not None or any(type(item) is not kind for item in base.sample):
        return None
    if is_named_tuple(kind):
        return _named_tuples(builder, base, kind)
    if not is_object(first):
        return None
    types = {name: type_of_value(held) for name, held in attributes_of(first).items()}
    known: dict[str, ItemType] = {name: of for name, of in types.items() if of is not None and of.weak}
    objects = builder.emitter.decisions.objects
    if kind not in objects and known:
        revisions.has_attributes(builder, kind, known)
    if not known:
        return None  # nothing of them is a number: they are left to Python
    if set(objects[kind]) != set(known):
        reason = f"objects of type {kind.__name__} with other attributes than numbers"
        raise left_to_plain(builder.unsupported(node, reason))
    columns = {name: _column_of(builder, base, name) for name in known}
    layouts = objects[kind]
    emitter, pool = builder.emitter, Cells(builder.emitter, builder.pools[kind])
    start, count = pool.last(), next(iter(columns.values())).shape[0]
    held = growing.make(emitter, "objects", [INT], ix.add(count, ONE))
    with loop(emitter, ZERO, count) as at:
        numbers: list[Expr] = []
        for name, column in columns.items():
            fits(builder, kind, name, layouts[name], Scalar(column.element((at,))), node)
            numbers += builder.numbers(layouts[name], Scalar(column.element((at,))))
        row = pool.last()
        pool.push([emitter.snapshot(number, "attribute") for number in numbers])
        Cells(emitter, held).push((row,))
    builder.lists_given.append((base.argument, kind, start, frozenset((held.data[0], held.length))))
    return as_value(held, ObjectType(kind), False)


def _named_tuples(builder: Building, base: Instance, kind: Any) -> Value | None:
    """A list of named tuples, which nobody changes."""
    held = [[getattr(item, name) for item in base.sample] for name in kind._fields]
    types = [type_of_value(column[0]) for column in held]
    if not types or any(of is None or not of.weak for of in types):
        return None
    columns = [_column_of(builder, base, name) for name in kind._fields]
    data = tuple(column.view.buffer for column in columns if column.view is not None)
    return Records(fixed_columns(builder, "tuples", data, columns[0].shape[0]), NamedParts(tuple(types), kind))


def _column_of(builder: Building, base: Instance, name: str) -> Array:
    """An attribute of all objects of a list: a hidden argument, as is their class."""
    kind, path = type(base.sample[0]), (f"{EACH}{name}",)
    place = ("0", "__class__")
    known = Object(kind)
    builder.hidden[base.argument, place] = (Hidden("__class__", base.argument, known, None, place), known)
    sample = [getattr(item, name) for item in base.sample]
    spec = spec_of(sample)
    if not isinstance(spec, ListSpec) or spec.rank != 1:
        reason = f"an attribute {name} of objects that is no number"
        raise left_to_plain(builder.unsupported(builder.scope.source.tree, reason))
    made, param = builder.parameter(f"each_{name}", spec, sample, -1)
    assert isinstance(made, Array) and made.view is not None
    for notes in (builder.own, builder.argument_of):
        notes.pop(made.view.buffer, None)  # the list itself is another
    builder.columns_given.add(made.view.buffer)
    builder.hidden[base.argument, path] = (Hidden(name, base.argument, spec, param, path), made)
    return made


def check_lists_given(builder: Building) -> None:
    """Refuse a program that puts other objects into the list that is an argument, or takes some out of it."""
    written = written_by(builder, builder.emitter.blocks[0][builder.loaded_until :]) if builder.lists_given else set()
    for _, kind, _, memory in builder.lists_given:
        if memory & written:
            reason = f"a list of objects of type {kind.__name__} that is an argument and changes"
            raise left_to_plain(builder.unsupported(builder.scope.source.tree, reason, "make a copy of it first"))


def _with_lists(builder: Building, out: Out, node: ast.AST) -> Out:
    for kind in dict.fromkeys(kind for kind, _ in sorted(builder.emitter.decisions.assigned, key=repr)):
        lists = [given for given in builder.lists_given if given[1] is kind]
        others = [struct.kind for struct in builder.objects_given.values()]
        others += [held for _, held, _, _ in builder.lists_given if held is not kind]
        if len(lists) > 1 or any(issubclass(kind, other) or issubclass(other, kind) for other in others):
            reason = f"a change of objects of type {kind.__name__} that may be in two arguments"
            raise left_to_plain(builder.unsupported(node, reason, "return the values instead"))
        argument, _, first, _ = lists[0]
        names = tuple(name for held, name in sorted(builder.emitter.decisions.assigned, key=repr) if held is kind)
        layouts = builder.emitter.decisions.objects[kind]
        if any(not isinstance(layouts[name], ScalarType) for name in names):
            reason = f"attributes of type {kind.__name__} of several types"
            raise left_to_plain(builder.unsupported(node, reason, "convert them"))
        pool = Cells(builder.emitter, builder.pools[kind])
        places = {name: place for place, name in enumerate(layout_columns(layouts))}
        columns = builder.columns(pool, len(pool.growing.data))
        held = [builder.plain_out(columns[places[name]], node) for name in names]
        start = builder.out(Scalar(first), node)
        told = (ArgumentOut(argument), start, ConstOut(repr(names)))
        out = TupleOut((out, *told, *held), named="weft.runtime.containers:changed_objects")
    return out


def holds_given(builder: Building, value: Value) -> bool:
    """Whether objects of an argument may be in a result, which would have to be these very objects."""
    kinds = [kind for _, kind, _, _ in builder.lists_given]
    if isinstance(value, Struct) and value.row is not None:
        return value.kind in kinds
    if isinstance(value, Dict):
        return value.table is not None and not builder.columns_given.isdisjoint(value.table.entries.data)
    if not isinstance(value, Records):
        return False
    of_objects = isinstance(value.item, ObjectType) and value.item.kind in kinds
    return of_objects or not builder.columns_given.isdisjoint(value.growing.data)


def layout_columns(layouts: Mapping[str, ItemType]) -> list[str]:
    """The attribute that each column of the objects of a class is of."""
    return [name for name, layout in layouts.items() for _ in types_in(layout)]
