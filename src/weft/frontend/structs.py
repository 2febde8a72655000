"""Objects of simple classes and dataclasses that a function makes for itself.  In: constructors, attributes, methods;
out: a scalar of its own for each number in an object, and the bodies of methods in place of their calls.

    p = Point(1.0, y); p.x += p.y    -->    p_x = 1.0; p_y = y; p_x = p_x + p_y

Two names of one object share its scalars, so a change is seen through both.
"""

from __future__ import annotations

import ast
import dataclasses
import types
from typing import Any

from weft.frontend import arrays, reads, revisions
from weft.frontend.building import Building
from weft.frontend.core import assign_scalar_slot, is_list
from weft.frontend.expressions import constant_value
from weft.frontend.fields import field_now, renew_field, start_field
from weft.frontend.growing import Cells
from weft.frontend.items import merged, row_of, types_in
from weft.frontend.lists import growing_value
from weft.frontend.mixed import from_either, slot_number
from weft.frontend.nested import as_row, resolved
from weft.frontend.scope import Slot
from weft.frontend.values import Array, Growing, ItemType, Method, Object, ObjectType, Scalar, Struct, Tuple, Value
from weft.ir.expr import Read
from weft.ir.types import ScalarType
from weft.naming import undecorated

#: What Python calls for an operator, and for its mirror image.
OPERATORS = {name: name for name in ("add", "sub", "mul", "matmul", "truediv", "floordiv", "mod", "pow")} | {
    "bitand": "and", "bitor": "or", "bitxor": "xor", "shl": "lshift", "shr": "rshift",
}  # fmt: skip


def is_simple_class(thing: Any) -> bool:
    """Whether objects of a class are nothing but their attributes and methods."""
    if not isinstance(thing, type) or type(thing) is not type or thing.__module__ == "builtins":
        return False
    if any(type(base) is not type for base in thing.__mro__):
        return False
    special = {"__new__", "__getattr__", "__getattribute__", "__setattr__", "__delattr__", "__del__"}
    if is_frozen(thing):
        special -= {"__setattr__", "__delattr__"}  # they only refuse
    if not all(reads.lookup(thing, name) is vars(object).get(name, reads.ABSENT) for name in special):
        return False
    return all(_can_be_read(name, value) for base in thing.__mro__[:-1] for name, value in vars(base).items())


def _can_be_read(name: str, value: Any) -> bool:
    """Whether what Python calls by itself (`__eq__`, `__len__`, ...) is written in Python, if it is a method at all."""
    is_special = name.startswith("__") and name.endswith("__") and callable(value)
    return not is_special or isinstance(undecorated(value), types.FunctionType)


def is_frozen(kind: type) -> bool:
    """Whether objects of a class are those of a frozen dataclass."""
    return bool(getattr(reads.lookup(kind, "__dataclass_params__"), "frozen", False))


def slots_of(kind: type) -> frozenset[str] | None:
    """The only attributes that objects of a class with `__slots__` have; None if they may have any."""
    found: set[str] = set()
    for base in kind.__mro__[:-1]:
        slots = vars(base).get("__slots__")
        if slots is None or "__dict__" in slots:
            return None
        found |= {slots} if isinstance(slots, str) else set(slots)
    return frozenset(found)


def attributes_of(value: Any) -> dict[str, Any]:
    """What the attributes of an object hold that are its own."""
    names = slots_of(type(value))
    if names is None:
        return dict(getattr(value, "__dict__", {}))
    return {name: getattr(value, name) for name in names if hasattr(value, name)}


def is_named_tuple(thing: Any) -> bool:
    return isinstance(thing, type) and thing.__bases__ == (tuple,) and hasattr(thing, "_field_defaults")


def is_generated(function: types.FunctionType) -> bool:
    """Whether a decorator has made the method, out of text that nobody can read."""
    code = function.__code__
    made = str(getattr(code, "co_qualname", "__create_fn__")).startswith("__create_fn__")
    return (made and code.co_filename == "<string>") or function.__module__ in ("dataclasses", "functools")


class Structs(Building):
    """Objects made inside the function."""

    def construct(self, kind: type, args: list[Value], kwargs: dict[str, Value], node: ast.AST) -> Value:
        """kind(*args)"""
        made = Struct(kind, {}, self.emitter.blocks[-1])
        start = reads.lookup(kind, "__init__")
        if dataclasses.is_dataclass(kind) and "__init__" in vars(kind) and is_generated(start):
            self.fill(made, args, kwargs, node)
            after = reads.lookup(kind, "__post_init__")
            if after is not reads.ABSENT:
                self._inline_function(after, [made], {}, node)
        elif isinstance(start, types.FunctionType):
            self._inline_function(start, [made, *args], kwargs, node)
        elif start is not object.__init__:
            raise self.unsupported(node, f"the __init__ of {kind.__name__}, which is no function")
        elif args or kwargs:
            raise self.unsupported(node, f"arguments of {kind.__name__}()")
        return _pooled(self, dataclasses.replace(made, block=None, home=made.block), node)

    # --- objects in containers: one column for each number of an attribute, and one row for each object ---------------

    def object_type(self, value: Struct) -> ItemType | None:
        """The type of an object in a container: from then on all objects of its class are made side by side."""
        if value.row is not None:
            return ObjectType(value.kind)
        if value.instance is not None:
            return None
        if value.block is not None or value.kind in self.emitter.decisions.objects or not value.fields:
            return None
        attributes = {name: self.layout(self.field(value, name, ast.Pass())) for name in value.fields}
        known = {name: layout for name, layout in attributes.items() if layout is not None}
        if len(known) == len(attributes):
            revisions.has_attributes(self, value.kind, known)
        return None

    def fill(self, made: Struct, args: list[Value], kwargs: dict[str, Value], node: ast.AST) -> None:
        """What the generated __init__ of a dataclass does."""
        reads.lookup(made.kind, "__dataclass_fields__")
        wanted = [entry for entry in dataclasses.fields(made.kind) if entry.init]
        given = dict(zip([entry.name for entry in wanted if not getattr(entry, "kw_only", False)], args))
        if len(args) > len(given) or set(kwargs) & set(given) or set(kwargs) - {entry.name for entry in wanted}:
            raise self.unsupported(node, f"these arguments of {made.kind.__name__}()")
        given |= kwargs
        for entry in dataclasses.fields(made.kind):
            value = given.get(entry.name)
            if value is None and entry.default is not dataclasses.MISSING:
                value = constant_value(entry.default)
            if value is None and entry.default_factory in (list, dict):
                value = Tuple((), is_list=True) if entry.default_factory is list else self.new_dict(node)
            elif value is None and entry.default_factory is not dataclasses.MISSING:
                made_by = constant_value(entry.default_factory)
                value = None if made_by is None else self.call(made_by, [], {}, node)
            if value is None and not entry.init:
                continue  # __post_init__ sets it
            if value is None:
                raise self.unsupported(node, f"the field {entry.name} of {made.kind.__name__}()")
            self.store_attribute(made, entry.name, value, node)

    def store_attribute(self, base: Struct, name: str, value: Value, node: ast.AST) -> None:
        """base.name = value"""
        frozen = is_frozen(base.kind)
        described = reads.lookup(base.kind, name)
        if isinstance(described, property) and isinstance(described.fset, types.FunctionType) and not frozen:
            self._inline_function(described.fset, [base, value], {}, node)
            return
        if (frozen and base.block is None) or reads.takes_stores(described):
            raise self.unsupported(node, f"an assignment to {name} of {base.kind.__name__}")
        slots = slots_of(base.kind)
        if slots is not None and name not in slots:
            raise self.unsupported(node, f"AttributeError: {base.kind.__name__} has no attribute {name}")
        if base.row is not None:
            _store_column(self, base, name, value, node)
            return
        held = base.fields.get(name)
        block = self.emitter.blocks[-1]
        if held is None and block is not base.block and block is not base.home:
            raise self.unsupported(node, f"an attribute {name} that only some paths set", "set it in __init__")
        if frozen and isinstance(value, Scalar):  # it stays what it is
            base.fields[name] = Scalar(self._kept(value.expr, name))
            return
        if isinstance(value, Scalar) and from_either(self, value.expr):
            raise self.unsupported(node, f"an attribute {name} that is either Python's or NumPy's number", "use int()")
        renewed = isinstance(held, Slot) and held.key in self.emitter.decisions.renewed
        if isinstance(value, Scalar) and not renewed and (held is None or isinstance(held, Slot)):
            title = f"{base.kind.__name__.lower()}.{name}"
            if held is None:
                place = self.emitter.span
                held = Slot((hash((self.scope.path, place.line, place.column)), title))
                base.fields[name] = held
            before = self.scope.values.pop(title, None)
            assign_scalar_slot(self, title, held, value)
            self.scope.values.pop(title)
            if before is not None:
                self.scope.values[title] = before
            return
        if held is not None and renew_field(self, base, name, value):
            return
        if held is not None:
            raise self.unsupported(node, f"a new array or container as the attribute {name}", "assign to its items")
        if start_field(self, base, name, value):
            return
        if base.kind in self.emitter.decisions.objects and is_list(value) and row_of(value) is None:
            base.fields[name] = as_row(self, value)
            return
        if isinstance(value, Array) and value.view is None:
            value = settled_array(self, value, name)
        base.fields[name] = growing_value(self, name, value) if isinstance(value, Tuple) and value.is_list else value

    def field(self, base: Struct, name: str, node: ast.AST) -> Value:
        """base.name"""
        column = None if base.row is None else _attribute_columns(self, base, name, node)
        if column is not None:
            layout, parts = column
            plain = isinstance(layout, ScalarType)
            return self.assembled(layout, iter([r if plain else self.emitter.snapshot(r, name) for r in parts]))
        held = base.fields.get(name)
        if isinstance(held, Slot) and held.key in self.emitter.decisions.renewed:
            return field_now(self, base, name, held)
        if isinstance(held, Slot):
            return slot_number(self, held)
        if held is not None:
            return held  # type: ignore[no-any-return]
        found = reads.lookup(base.kind, name)
        if isinstance(found, property) and isinstance(found.fget, types.FunctionType):
            return self._inline_function(found.fget, [base], {}, node)
        if reads.is_descriptor(found):
            raise self.unsupported(node, f"the attribute {name} of {base.kind.__name__}, a descriptor")
        self.not_shadowed(base, name, node)
        if isinstance(found, types.FunctionType):
            return Method(base, name)
        if isinstance(found, staticmethod):
            return constant_value(found.__func__) or Object(found.__func__)
        constant = None if found is reads.ABSENT else constant_value(found)
        if constant is None or isinstance(found, classmethod):
            raise self.unsupported(node, f"the attribute {name} of {base.kind.__name__}")
        return constant

    def struct_method(
        self, base: Struct, name: str, args: list[Value], kwargs: dict[str, Value], node: ast.AST
    ) -> Value:
        found = undecorated(reads.lookup(base.kind, name))
        if not isinstance(found, types.FunctionType):
            raise self.unsupported(node, f"the method {name} of {base.kind.__name__}")
        return self._inline_function(found, [base, *args], kwargs, node)

    def struct_operator(self, op: str, left: Value, right: Value, node: ast.AST) -> Value:
        """left OP right, where one of them is an object."""
        for base, other, prefix in ((left, right, "__"), (right, left, "__r")):
            name = f"{prefix}{OPERATORS[op]}__" if op in OPERATORS else ""
            found = undecorated(reads.lookup(base.kind, name)) if isinstance(base, Struct) else None
            if isinstance(base, Struct) and isinstance(found, types.FunctionType):
                return self.struct_method(base, name, [other], {}, node)
        raise self.unsupported(node, "this operator on objects", left=left, right=right)

    def struct_sign(self, op: str, value: Struct, node: ast.AST) -> Value:
        """OP value, of an object."""
        name = f"__{op}__"
        if not isinstance(undecorated(reads.lookup(value.kind, name)), types.FunctionType):
            raise self.unsupported(node, "this operator on an object", value=value)
        return self.struct_method(value, name, [], {}, node)


def named_tuple(builder: Building, kind: Any, args: list[Value], kwargs: dict[str, Value], node: ast.AST) -> Value:
    """kind(*args) of a class of named tuples"""
    reads.lookup(kind, "_field_defaults")
    names: tuple[str, ...] = reads.lookup(kind, "_fields")
    given = dict(zip(names, args)) | kwargs
    for name, default in kind._field_defaults.items():
        if name not in given:
            known = constant_value(default)
            if known is not None:
                given[name] = known
    if len(args) > len(names) or set(kwargs) & set(names[: len(args)]) or set(given) != set(names):
        raise builder.unsupported(node, f"these arguments of {kind.__name__}()")
    return Tuple(tuple(given[name] for name in names), named=kind)


def _pooled(builder: Building, made: Struct, node: ast.AST) -> Struct:
    """A new object among those of its class, if containers hold some of them."""
    attributes = builder.emitter.decisions.objects.get(made.kind)
    if attributes is None:
        return made
    if set(attributes) != set(made.fields):
        raise builder.unsupported(node, f"objects of type {made.kind.__name__} with different attributes")
    numbers = []
    for name in attributes:
        value, layout = builder.field(made, name, node), _attribute_type(builder, made.kind, name)
        fits(builder, made.kind, name, layout, value, node)
        numbers += [builder.emitter.snapshot(number, name) for number in builder.numbers(layout, value)]
    cells = Cells(builder.emitter, _pool_of(builder, made.kind, node))
    row = cells.last()
    cells.push(numbers)
    builder.emitter.mutations += 1
    return Struct(made.kind, {}, row=row)


def _pool_of(builder: Building, kind: type, node: ast.AST) -> Growing:
    pool = builder.pools.get(kind)
    if pool is None:
        raise builder.unsupported(node, "objects inside containers in a recursive function", "use arrays")
    return pool


def _attribute_type(builder: Building, kind: type, name: str) -> ItemType:
    """The type of an attribute with what is known by now of lists that are empty at first."""
    layout = resolved(builder, builder.emitter.decisions.objects[kind][name])
    assert layout is not None
    return layout


def fits(builder: Building, kind: type, name: str, layout: ItemType, value: Value, node: ast.AST) -> None:
    """An attribute gets a value: of its type, or of one that the build starts again with."""
    if builder.accepts(layout, value):
        return
    both = merged(layout, builder.layout(value))
    if both is not None and both != layout:
        revisions.has_attributes(builder, kind, {name: both})
    reason = f"an attribute {name} of different types in objects that containers hold"
    raise builder.unsupported(node, reason, "give it one type", value=value)


def _attribute_columns(builder: Building, base: Struct, name: str, node: ast.AST) -> tuple[ItemType, list[Read]] | None:
    """The numbers of an attribute of an object among others; None if it has no such attribute."""
    assert base.row is not None
    data = list(_pool_of(builder, base.kind, node).data)
    for attribute in builder.emitter.decisions.objects[base.kind]:
        layout = _attribute_type(builder, base.kind, attribute)
        types = types_in(layout)
        if attribute == name:
            return layout, [Read(column, (base.row,), of) for column, of in zip(data, types)]
        data = data[len(types) :]
    return None


def numbers_in_object(builder: Building, base: Struct) -> list[Read]:
    """All numbers of an object in a container."""
    found = [
        _attribute_columns(builder, base, name, ast.Pass()) for name in builder.emitter.decisions.objects[base.kind]
    ]
    return [column for columns in found if columns is not None for column in columns[1]]


def _store_column(builder: Building, base: Struct, name: str, value: Value, node: ast.AST) -> None:
    builder.assigns(base.kind, name)
    found = _attribute_columns(builder, base, name, node)
    if found is None:
        raise builder.unsupported(node, f"a new attribute {name} of an object", "set it in __init__")
    layout, columns = found
    fits(builder, base.kind, name, layout, value, node)
    numbers = [builder.emitter.snapshot(number, name) for number in builder.numbers(layout, value)]
    for column, number in zip(columns, numbers):
        builder.emitter.assign((), column.buffer, column.index, number)
    builder.emitter.mutations += 1


def settled_array(builder: Building, value: Array, name: str) -> Array:
    arrays.keepable(value, builder.emitter)
    return arrays.materialise(value, builder.emitter, name)
