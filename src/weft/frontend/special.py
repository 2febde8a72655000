"""What classes say about operators and built-in functions.  In: objects of simple classes and named tuples where Python
would call one of their special methods; out: the body of that method in place.

    a < b, len(a), a[k], x in a, a(x), a += b, bool(a), for x in a    -->    __lt__, __len__, __getitem__, ...

Also `super()`, class methods, and what a dataclass or an enumeration has without being written down.
"""

from __future__ import annotations

import ast
import dataclasses
import enum
import types
from typing import Any

import numpy as np

from weft.errors import Span
from weft.frontend import arith, reads
from weft.frontend.building import Building
from weft.frontend.calls import inline
from weft.frontend.comparisons import same_object
from weft.frontend.dicts import dict_display
from weft.frontend.enums import member_of
from weft.frontend.folding import BINARY
from weft.frontend.items import layout_of
from weft.frontend.keyed import keyed_method
from weft.frontend.lists import part_order, parts_of
from weft.frontend.reasons import left_to_plain, title_of
from weft.frontend.source import Source, load
from weft.frontend.structs import OPERATORS, is_generated
from weft.frontend.values import Keyed, Keywords, Method, Object, Rows, Scalar, Struct, Super, TextType, Tuple, Value
from weft.ir.expr import Const, Expr, Op
from weft.ir.types import PYBOOL
from weft.naming import undecorated

_MIRRORED = {"lt": "gt", "gt": "lt", "le": "ge", "ge": "le", "eq": "eq", "ne": "ne"}
_ORDERS = {ast.Eq: "eq", ast.NotEq: "ne", ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge"}
#: What every member of an enumeration has.
_OF_MEMBERS = ("name", "value")
#: Functions that run through what they are given.
_RUN_THROUGH = (list, tuple, set, frozenset, sum, sorted, min, max, any, all, enumerate, zip, map, filter, reversed)


def class_with(value: Value) -> type | None:
    """The class of an object whose special methods count."""
    if isinstance(value, Struct):
        return value.kind
    return value.named if isinstance(value, Tuple) else None


def written(kind: type | None, name: str) -> types.FunctionType | None:
    """The method of a class that somebody has written in Python."""
    found = None if kind is None else undecorated(reads.lookup(kind, name))
    return found if isinstance(found, types.FunctionType) and not is_generated(found) else None


def _compared_fields(kind: type, name: str) -> tuple[str, ...] | None:
    """The attributes that a dataclass compares for an operator of its own making; None if it makes none."""
    found = reads.lookup(kind, f"__{'eq' if name == 'ne' else name}__")
    reads.lookup(kind, "__dataclass_fields__")
    if not isinstance(found, types.FunctionType) or not is_generated(found) or not dataclasses.is_dataclass(kind):
        return None
    return tuple(entry.name for entry in dataclasses.fields(kind) if entry.compare)


class SpecialMethods(Building):
    """Operators and built-in functions on objects."""

    def special(self, value: Value, name: str, args: list[Value], node: ast.AST) -> Value | None:
        """value.name(*args) as Python calls it by itself; None if its class has no such method."""
        found = written(class_with(value), name)
        if found is None:
            return None
        if isinstance(value, Struct):
            return self.struct_method(value, name, args, {}, node)
        return self._inline_function(found, [value, *args], {}, node)

    def binary(self, op: str, left: Value, right: Value, node: ast.AST, span: Span) -> Value:
        for base, other, prefix in ((left, right, "__"), (right, left, "__r")):
            if isinstance(base, Tuple) and base.named is not None and op in OPERATORS:
                found = self.special(base, f"{prefix}{OPERATORS[op]}__", [other], node)
                if found is not None:
                    return found
        return super().binary(op, left, right, node, span)

    # --- comparisons ------------------------------------------------------------------------------------------------

    def _comparison(self, op: ast.cmpop, left: Value, right: Value, node: ast.Compare) -> Value:
        if type(op) in _ORDERS and (class_with(left) is not None or class_with(right) is not None):
            found = self._object_comparison(_ORDERS[type(op)], left, right, node)
            if found is not None:
                return found
        return super()._comparison(op, left, right, node)

    def _object_comparison(self, name: str, left: Value, right: Value, node: ast.Compare) -> Value | None:
        for base, other, method in ((left, right, name), (right, left, _MIRRORED[name])):
            found = self.special(base, f"__{method}__", [other], node)
            if found is not None:
                return found
            if name == "ne":  # unless the class says otherwise it is the opposite of ==
                same = self.special(base, "__eq__", [other], node)
                if same is not None:
                    return _truth_or_not(self, False, same, node)
            if not isinstance(base, Struct) or not isinstance(other, Struct) or base.kind is not other.kind:
                continue
            fields = _compared_fields(base.kind, method)
            if fields is not None:
                mine = Tuple(tuple(self.field(base, field, node) for field in fields))
                theirs = Tuple(tuple(self.field(other, field, node) for field in fields))
                (symbol,) = (kind for kind, title in _ORDERS.items() if title == method)
                return super()._comparison(symbol(), mine, theirs, node)
        if name not in ("eq", "ne"):
            return None
        if isinstance(left, Struct) and isinstance(right, Struct):
            return Scalar(same_object(self, left, right, name == "eq", node))
        other = right if isinstance(left, Struct) else left
        if not isinstance(left, Struct) and not isinstance(right, Struct):
            return None
        if not isinstance(other, (Scalar, Tuple, Object)):
            return None
        return Scalar(Const(name == "ne", PYBOOL))

    def tuple_order(self, name: str, left: Tuple, right: Tuple, node: ast.AST) -> Value:
        """left < right where objects are among the parts: those of a class without an order must never decide."""
        pairs = list(zip(parts_of(left), parts_of(right)))
        alike = layout_of(left) is not None and layout_of(left) == layout_of(right)
        if not alike or not any(isinstance(mine, Struct) for mine, _ in pairs):
            return super().tuple_order(name, left, right, node)
        strict = {"le": "lt", "ge": "gt"}.get(name, name)
        decided: Expr = Const(False, PYBOOL)
        open_yet: Expr = Const(True, PYBOOL)
        for mine, other in pairs:
            before, same = (_order_of_parts(self, kind, mine, other, node) for kind in (strict, "eq"))
            assert same is not None
            if before is None:
                tie = Op("or", (arith.negate(open_yet), same), PYBOOL)
                self.emitter.hand_back(arith.condition(tie), "an order of objects whose class has none")
            else:
                first = Op("and", (open_yet, before), PYBOOL)
                decided = self.emitter.snapshot(Op("or", (decided, first), PYBOOL), "before")
            open_yet = self.emitter.snapshot(Op("and", (open_yet, same), PYBOOL), "same")
        return Scalar(decided if name == strict else Op("or", (decided, open_yet), PYBOOL))

    def _membership(self, positive: bool, left: Value, right: Value, node: ast.AST) -> Value:
        found = self.special(right, "__contains__", [left], node)
        if found is None:
            return super()._membership(positive, left, right, node)
        return _truth_or_not(self, positive, found, node)

    def truth(self, value: Value, node: ast.AST | None) -> Scalar | bool:
        if class_with(value) is None:
            return super().truth(value, node)
        place = node or ast.Pass()
        found = self.special(value, "__bool__", [], place)
        if found is None:
            found = self.special(value, "__len__", [], place)
        if found is not None:
            return super().truth(found, node)
        return True if isinstance(value, Struct) and value.instance is None else super().truth(value, node)

    # --- items, iteration, calls ------------------------------------------------------------------------------------

    def subscript(self, base: Value, key: Value, node: ast.AST | None, store: bool = False) -> Value:
        found = None if store or node is None else self.special(base, "__getitem__", [key], node)
        return super().subscript(base, key, node, store) if found is None else found

    def store_special(self, base: Value, key: Value, value: Value, node: ast.AST) -> bool:
        """base[key] = value by the class of base; False if it has no such method."""
        return self.special(base, "__setitem__", [key, value], node) is not None

    def _augment_name(self, node: ast.AugAssign, target: ast.Name) -> None:
        current = self.evaluate(ast.copy_location(ast.Name(id=target.id, ctx=ast.Load()), target))
        name = f"__i{OPERATORS[BINARY[type(node.op)]]}__" if type(node.op) in BINARY else ""
        if written(class_with(current), name) is None:
            super()._augment_name(node, target)
            return
        changed = self.special(current, name, [self.evaluate(node.value)], node)
        assert changed is not None
        self.bind(target.id, changed)

    def run_of(self, value: Value, node: ast.AST) -> Value:
        """What a loop over a value runs through."""
        if isinstance(value, (Keyed, Keywords)):
            return keyed_method(self, value, "keys", [], node)
        if isinstance(value, Object) and isinstance(value.value, type) and issubclass(value.value, enum.Enum):
            return Tuple(tuple(map(Object, value.value)))
        function = written(class_with(value), "__iter__")
        if function is None:
            return value
        source = self.sources.get((function, iter))
        if source is None:
            source = self.sources[function, iter] = _returning_sequence(function)
        return inline(self, source.tree, [value], {}, node, source, None, {})

    def call(self, function: Value, args: list[Value], kwargs: dict[str, Value], node: ast.AST) -> Value:
        method = written(class_with(function), "__call__")
        if method is not None:
            return self._inline_function(method, [function, *args], kwargs, node)
        if isinstance(function, Method) and isinstance(function.receiver, Super):
            return _call_super(self, function.receiver, function.name, args, kwargs, node)
        return super().call(function, args, kwargs, node)

    def _call_object(self, thing: Any, args: list[Value], kwargs: dict[str, Value], node: ast.AST) -> Value:
        if thing is super and not args and not kwargs:
            return _super(self, node)
        if isinstance(thing, types.MethodType) and isinstance(thing.__self__, type):
            function = thing.__func__
            if isinstance(function, types.FunctionType):
                return self._inline_function(function, [Object(thing.__self__), *args], kwargs, node)
        if thing in _RUN_THROUGH:
            args = [self.run_of(value, node) for value in args]
        if isinstance(thing, type) and issubclass(thing, enum.Enum) and len(args) == 1 and not kwargs:
            member = member_of(thing, args[0])
            if member is not None:
                return member
            reason = f"{thing.__name__}() of a value that only the run time knows"
            raise left_to_plain(self.unsupported(node, reason, value=args[0]), apart=True)
        return super()._call_object(thing, args, kwargs, node)

    def _call_method(self, function: Method, args: list[Value], kwargs: dict[str, Value], node: ast.AST) -> Value:
        receiver = function.receiver
        if isinstance(receiver, Rows) and isinstance(receiver.item, TextType) and function.name in ("sort", "reverse"):
            self.will_change(receiver)
        if isinstance(receiver, Tuple) and receiver.named is not None:
            method = written(receiver.named, function.name)
            if function.name == "_asdict" and not args and not kwargs:
                return _as_dict(self, receiver, node)
            if method is not None and not function.name.startswith("_"):
                return self._inline_function(method, [receiver, *args], kwargs, node)
        return super()._call_method(function, args, kwargs, node)

    def attribute(self, base: Value, name: str, node: ast.AST) -> Value:
        if isinstance(base, Super):
            return _super_attribute(self, base, name, node)
        if isinstance(base, Tuple) and base.named is not None and name not in base.named._fields:  # type: ignore[attr-defined]
            found = reads.lookup(base.named, name)
            if isinstance(found, property) and isinstance(found.fget, types.FunctionType):
                return self._inline_function(found.fget, [base], {}, node)
            if isinstance(found, (staticmethod, classmethod)):
                return super().attribute(Object(base.named), name, node)
        if isinstance(base, Struct) and isinstance(reads.lookup(base.kind, name), classmethod):
            self.not_shadowed(base, name, node)
            return Object(getattr(base.kind, name))
        return super().attribute(base, name, node)

    def object_attribute(self, owner: Any, name: str, node: ast.AST) -> Any:
        """owner.name of a module, class or other constant; refused where looking it up runs code of the user's."""
        kind = type(owner)
        of_member = isinstance(owner, enum.Enum) and name in _OF_MEMBERS
        own = of_member or isinstance(owner, (types.ModuleType, enum.EnumMeta))
        for special in ("__getattribute__", "__getattr__"):
            found = reads.ABSENT if own else reads.lookup(kind, special)
            if isinstance(found, types.FunctionType):
                raise self.unsupported(node, f"the attribute {name} of {title_of(owner)}, whose class has {special}")
        looked_up = reads.lookup(owner, name) if isinstance(owner, type) else reads.lookup(kind, name)
        if not own and reads.is_descriptor(looked_up) and not isinstance(owner, (np.finfo, np.iinfo)):
            raise self.unsupported(node, f"the attribute {name} of {title_of(owner)}, a descriptor")
        value = reads.attribute(owner, name)
        if value is reads.ABSENT:
            raise self.unsupported(node, f"AttributeError: {title_of(owner)} has no attribute {name!r}")
        if isinstance(value, types.MethodType) and not isinstance(owner, type):
            raise self.unsupported(node, f"the method {name} of {title_of(owner)}", "make it a function")
        return value


def _order_of_parts(builder: Building, name: str, mine: Value, other: Value, node: ast.AST) -> Expr | None:
    """mine < other as a number; None if they are objects of a class without an order."""
    if not isinstance(mine, Struct):
        return part_order(builder, name, mine, other, node)
    place = ast.copy_location(ast.Compare(left=ast.Constant(0), ops=[], comparators=[]), node)
    found = builder._object_comparison(name, mine, other, place)
    truth = None if found is None else builder.truth(found, node)
    if truth is None:
        return None
    return Const(truth, PYBOOL) if isinstance(truth, bool) else arith.cast(truth.expr, PYBOOL)


def _truth_or_not(builder: Building, positive: bool, value: Value, node: ast.AST) -> Scalar:
    """Whether a value is true, or (if not `positive`) is not."""
    truth = builder.truth(value, node)
    if isinstance(truth, bool):
        return Scalar(Const(truth == positive, PYBOOL))
    return Scalar(arith.cast(truth.expr if positive else arith.negate(truth.expr), PYBOOL))


def _as_dict(builder: Building, value: Tuple, node: ast.AST) -> Value:
    """value._asdict()"""
    keys: list[Value] = [Object(name) for name in value.named._fields]  # type: ignore[union-attr]
    return dict_display(builder, keys, list(value.items), node)


def _super(builder: Building, node: ast.AST) -> Value:
    """super() in a method: the object, and the class that the method is of."""
    cell = builder.scope.source.cells.get("__class__")
    parameters = builder.scope.source.tree.args
    first = [*parameters.posonlyargs, *parameters.args][:1]
    base = builder.scope.values.get(first[0].arg) if first else None
    if cell is None or not isinstance(base, Struct):
        raise builder.unsupported(node, "super() here", "name the class")
    return Super(base, cell.cell_contents)


def _super_attribute(builder: Building, base: Super, name: str, node: ast.AST) -> Value:
    order = reads.attribute(base.base.kind, "__mro__")
    for kind in order[order.index(base.kind) + 1 :]:
        found = reads.own(kind, name)
        if isinstance(found, property) and isinstance(found.fget, types.FunctionType):
            return builder._inline_function(found.fget, [base.base], {}, node)
        if found is not reads.ABSENT:
            return Method(base, name)
    raise builder.unsupported(node, f"the attribute {name} of super()")


def _call_super(
    builder: Building, base: Super, name: str, args: list[Value], kwargs: dict[str, Value], node: ast.AST
) -> Value:
    order = reads.attribute(base.base.kind, "__mro__")
    for kind in order[order.index(base.kind) + 1 :]:
        found = reads.own(kind, name)
        if isinstance(found, types.FunctionType) and not is_generated(found):
            return builder._inline_function(found, [base.base, *args], kwargs, node)
        if found is not reads.ABSENT and kind is object and name == "__init__" and not args and not kwargs:
            return Object(None)
        if found is not reads.ABSENT and name == "__init__" and dataclasses.is_dataclass(kind):
            builder.fill(dataclasses.replace(base.base, kind=kind), args, kwargs, node)  # type: ignore[arg-type]
            return Object(None)
        if found is not reads.ABSENT:
            break
    raise builder.unsupported(node, f"super().{name}()")


def _returning_sequence(function: types.FunctionType) -> Source:
    """An `__iter__` whose body is nothing but `return iter(items)`, as what gives these items."""
    source = load(function)
    plain = [part for part in source.tree.body if not isinstance(part, ast.Expr)]
    texts = [part for part in source.tree.body if isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant)]
    body = plain if len(plain) + len(texts) == len(source.tree.body) else []
    last = body[0] if len(body) == 1 else None
    value = last.value if isinstance(last, ast.Return) else None
    if not (isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "iter"):
        return source
    if len(value.args) != 1 or value.keywords or "iter" in source.namespace or isinstance(value.args[0], ast.Starred):
        return source
    assert last is not None
    given = ast.copy_location(ast.Return(value=value.args[0]), last)
    tree = ast.FunctionDef(name=source.tree.name, args=source.tree.args, body=[given], decorator_list=[])
    return dataclasses.replace(source, tree=ast.copy_location(tree, source.tree))
