"""Methods of objects that no source is there for, or that containers call: equality, order, hash, text.

In: objects of a class; out: for a data class, what its generated methods do; for containers, C functions that compare
and hash objects as the class says (`wp_type.equal`, `wp_type.hash`).

Each is a function of its own (models/objects.py), so that objects may hold objects of their own class.
"""

from __future__ import annotations

import dataclasses
from typing import Any, Final

from weft.frontend import reads
from weft.plain import attributes, calls, operators
from weft.plain.frame import Frame, Value
from weft.plain.types import Head, Node
from weft.plain.unit import ClassInfo, Instance, function_info

_MODELS: Final = {"Eq": "equal", "Lt": "less", "LtE": "less_equal", "Gt": "greater", "GtE": "greater_equal"}


def owner_of(cls: type, name: str) -> type | None:
    return next((base for base in cls.__mro__ if name in vars(base)), None)


def fields_of(cls: type, name: str) -> list[str] | None:
    """The fields that a generated method of a data class works on; None if the class has another one."""
    owner = owner_of(cls, name)
    found = reads.lookup(cls, name)
    code = getattr(getattr(found, "__wrapped__", found), "__code__", None)
    if owner is None or "__dataclass_fields__" not in vars(owner) or code is None or code.co_filename != "<string>":
        return None
    if found.__qualname__ != f"{owner.__qualname__}.{name}" and name != "__repr__":
        return None
    fields = dataclasses.fields(owner)
    if name == "__repr__":
        return [field.name for field in fields if field.repr]
    if name == "__hash__":
        return [field.name for field in fields if (field.compare if field.hash is None else field.hash)]
    return [field.name for field in fields if field.compare]


def compare(cx: Frame, op: str, a: Value, b: Value) -> Value | None:
    """a op b by a generated method of `a`'s class; None if that has none, or it is for another class."""
    cls = a.head().key[1].cls
    name = operators.COMPARE_METHODS[op]
    if b.head() is not a.head():
        return None
    fields = fields_of(cls, name)
    if fields is None:
        return None
    if not _is_inside(cx, _MODELS[op]):
        return calls.call_function(cx, _model(_MODELS[op]), [a, b])
    with cx.inside("generated"):
        left, right = _fields(cx, a, fields, "left"), _fields(cx, b, fields, "right")
        if op == "Eq" and reads.is_python(3, 13):
            return _all_equal(cx, a, b, fields)
        return operators.compare(cx, op, left, right)


def _all_equal(cx: Frame, a: Value, b: Value, fields: list[str]) -> Value:
    """From Python 3.13 on: each field by itself, and an object is equal to itself."""
    found = cx.declared("b")
    cx.write(f"{found} = {a.code} == {b.code};")
    done = cx.label("compared")
    cx.write(f"if ({found}) goto {done};")
    for name in fields:
        with cx.inside(name):
            test = operators.compare(cx, "Eq", attributes.read(cx, a, name), attributes.read(cx, b, name))
            cx.write(f"{found} = {operators.truth(cx, test)};")
            cx.write(f"if (!{found}) goto {done};")
    cx.write(f"{found} = 1;")
    cx.write(f"{done}:;")
    return cx.literal("bool", found)


def _fields(cx: Frame, owner: Value, fields: list[str], tag: str) -> Value:
    with cx.inside(tag):
        return operators.make_tuple(cx, [attributes.read(cx, owner, name) for name in fields], tag)


def _model(name: str) -> Any:
    from weft.plain.models import objects

    return getattr(objects, name)


def _is_inside(cx: Frame, name: str) -> bool:
    """Whether the place is in the function that does this, for its own arguments."""
    return cx.info.function is _model(name) and "generated" not in cx.path


def text(cx: Frame, held: Value) -> Value | None:
    """repr() by the generated method; None if the class has another one."""
    from weft.plain.expressions import python_value
    from weft.plain.values import texts

    fields = fields_of(held.head().key[1].cls, "__repr__")
    if fields is None:
        return None
    if not _is_inside(cx, "text"):
        return calls.call_function(cx, _model("text"), [held])
    with cx.inside("generated"):
        whole = python_value(cx, held.head().key[1].cls.__qualname__ + "(")
        for place, name in enumerate(fields):
            with cx.inside(name):
                label = python_value(cx, ("" if place == 0 else ", ") + name + "=")
                part = texts.as_repr(cx, attributes.read(cx, held, name))
                whole = cx.scalar("str", f"wp_str_concat(wp_str_concat({whole.code}, {label.code}), {part.code})")
        return cx.scalar("str", f"wp_str_concat({whole.code}, {python_value(cx, ')').code})")


def hashed(cx: Frame, held: Value) -> Value | None:
    """hash() of an object whose class defines it; None if it is TypeError."""
    head = held.head()
    cls = head.key[1].cls
    if reads.lookup(cls, "__hash__") is None:
        return None
    fields = fields_of(cls, "__hash__")
    if not _is_inside(cx, "hashed"):
        return calls.call_function(cx, _model("hashed"), [held])
    with cx.inside("generated"):
        if fields is not None:
            record = _fields(cx, held, fields, "hashed")
            prepare(cx, record.node)
            return cx.scalar("int", f"wp_hash({cx.tagged(record)})", check=True)
        function = attributes.method_of(cx, head, "__hash__")
        if function is None:
            raise cx.refuse(f"`hash` of an object of class `{cls.__name__}`, which is its address")
        found = calls.call_function(cx, function, [held])
        if found.kinds() - {"int", "bool"}:
            raise cx.refuse(f"`{cls.__name__}.__hash__`, which gives {found.node!r}")
        return cx.scalar("int", f"{found.code} == -1 ? -2 : {found.code}")


# --- for containers ----------------------------------------


def _has_own(cls: Any, name: str) -> bool:
    return getattr(cls, name) is not getattr(object, name)


def defines_equality(cls: type) -> bool:
    return _has_own(cls, "__hash__") or _has_own(cls, "__eq__")


def prepare(cx: Frame, *nodes: Node) -> None:
    """Containers may compare or hash what these nodes hold: classes that define that get functions for it."""
    seen: set[int] = set()
    work = list(nodes)
    while work:
        for head in work.pop():
            if id(head) in seen:
                continue
            seen.add(id(head))
            work.extend(head.parts)
            if head.kind == "obj" and not head.key[1].is_exception and defines_equality(head.key[1].cls):
                _operations(cx, head)


def _operations(cx: Frame, head: Head) -> None:
    info: ClassInfo = head.key[1]
    cls = info.cls
    node = cx.single(head)
    names = ["equal"] if _has_own(cls, "__eq__") else []
    names += ["hashed"] if cls.__hash__ is not None and _has_own(cls, "__hash__") else []
    for name in names:
        instance = _instance(cx, name, [node] * (2 if name == "equal" else 1))
        cx.instance.calls.add(instance)
        if not instance.guarded:
            cx.unit.lattice.note()
            instance.guarded = True
        info.operations[name] = instance


def _instance(cx: Frame, name: str, nodes: list[Node]) -> Instance:
    info = function_info(cx.unit, _model(name), cx.span())
    instance = cx.unit.instance(info, None, nodes)
    for parameter, node in zip(info.parameters, nodes):
        cx.flow(node, instance.locals[parameter])
    return instance
