"""Attributes by name: `getattr`, `hasattr`, `setattr`.  In: an object and a name; out: what the attribute has.

A name that is not known while compiling is compared with all that an object of the class may have.
"""

from __future__ import annotations

import ast
import inspect
import types
from collections.abc import Callable
from typing import Any, Final

from weft.plain import attributes
from weft.plain.builtin import called_back, native
from weft.plain.frame import Frame, Value
from weft.plain.types import representation
from weft.plain.unit import ClassInfo

Keywords = dict[str, Value]
#: Names that one look-up compares with.
_MAX_NAMES: Final = 32


def _has(cx: Frame, owner: Value, name: str) -> Value | None:
    """hasattr(owner, name) of one kind: decided by the class, or by what the object has been given."""
    from weft.frontend import reads
    from weft.plain.builtin import class_of

    head = owner.head()
    cls = class_of(head)
    if head.kind == "const" and isinstance(head.value, (type, types.ModuleType)):
        return cx.literal("bool", "0" if reads.attribute(head.value, name) is reads.ABSENT else "1")
    if head.kind == "const" or cls is None:
        raise cx.refuse(f"`hasattr` of a value of type {head!r}")
    found = reads.lookup(cls, name)
    is_slot = head.kind == "obj" and isinstance(found, types.MemberDescriptorType)
    if not is_slot and (isinstance(found, property) or (head.kind == "obj" and hasattr(type(found), "__set__"))):
        raise cx.refuse(f"`hasattr` of `{cls.__name__}.{name}`, which is a property or slot")
    if not is_slot and (found is not reads.ABSENT or head.kind != "obj"):
        return cx.literal("bool", "1" if found is not reads.ABSENT else "0")
    info = head.key[1]
    if name not in info.attributes:
        return cx.literal("bool", "0")
    return cx.scalar("bool", f"!!(((wp_record *){owner.code})->value[0] & {1 << info.slot(name)}LL)")


def _may_have(owner: Value, name: str) -> bool:
    from weft.plain.builtin import class_of

    head = owner.head()
    if head.kind == "const":
        return hasattr(head.value, name)
    return hasattr(class_of(head), name) or (head.kind == "obj" and name in head.key[1].attributes)


def _candidates(cx: Frame, owner: Value) -> list[str]:
    """The names that an object may have, without those of all objects."""
    from weft.frontend import reads

    head = owner.head()
    if head.kind != "obj":
        raise cx.refuse(f"an attribute by a name that is not known while compiling, of a value of type {head!r}")
    info: ClassInfo = head.key[1]
    names = dict.fromkeys(info.attributes)
    for base in info.cls.__mro__:
        if base.__flags__ & (1 << 9):
            names |= dict.fromkeys(vars(base))
    found = [name for name in names if not (name.startswith("__") and name.endswith("__"))]
    for name in found:
        reads.lookup(info.cls, name)
    if len(found) > _MAX_NAMES:
        raise cx.refuse(f"an attribute by name, of class `{info.cls.__name__}`, which has {len(found)} names")
    return found


def _by_name(
    cx: Frame,
    owner: Value,
    name: Value,
    each: Callable[[str], Value | None],
    otherwise: Callable[[], Value | None],
    tells_absence: bool = False,
) -> Value:
    """What `each` gives for the one of `names` that the name is."""
    from weft.plain import operators
    from weft.plain.expressions import python_value

    if name.kinds() - {"str"}:
        raise cx.refuse(f"an attribute by a name of type {name.node!r}")
    result = cx.site("by name")
    made = cx.declared(representation(result)) if cx.emitting else "0"
    found = cx.temporary("i", "0")

    calls_variables = _calls_variables(cx)

    def put(held: Value | None) -> None:
        if held is not None:
            cx.flow(held, result)
            cx.write(f"{made} = {cx.as_node(held, result)};")

    for candidate in _candidates(cx, owner):
        with cx.inside(candidate), cx.block(f"if (!{found})"):
            test = operators.compare(cx, "Eq", name, python_value(cx, candidate))
            with cx.block(f"if ({operators.truth(cx, test)})"):
                if _is_left(owner, candidate, calls_variables, tells_absence):
                    cx.deoptimise(f"the attribute {candidate} by a name")
                else:
                    put(each(candidate))
                cx.write(f"{found} = 1;")
    with cx.block(f"if (!{found})"):
        # Names of all objects, and what the class was given since the function was compiled.
        cls = python_value(cx, owner.head().key[1].cls)
        known = called_back(cx, hasattr, [cls, name], cx.literal("bool", "0").node)
        with cx.block(f"if ({known.code})"):
            cx.deoptimise("an attribute of a class by a name")
        put(otherwise())
    return Value(result, made)


def _calls_variables(cx: Frame) -> bool:
    """Whether the function calls what a variable or another call has given: it may be a method that it looks for."""
    called = (node.func for node in ast.walk(cx.info.tree) if isinstance(node, ast.Call))
    return any(
        cx.instance.variable(f.id) is not None if isinstance(f, ast.Name) else not isinstance(f, ast.Attribute)
        for f in called
    )


def _is_left(owner: Value, name: str, calls_variables: bool, tells_absence: bool) -> bool:
    """Whether Python looks for this attribute: for methods where none is called, for descriptors, and for properties
    where an AttributeError of theirs would be an answer."""
    found = inspect.getattr_static(owner.head().key[1].cls, name, None)
    if isinstance(found, property):
        return tells_absence
    if isinstance(found, (types.FunctionType, classmethod, staticmethod)):
        return not calls_variables
    return attributes.is_descriptor(found) and not isinstance(found, types.MemberDescriptorType)


@native(hasattr)
def _hasattr(cx: Frame, arguments: list[Any], keywords: Keywords) -> Value:
    from weft.plain.values import exactly

    exactly(cx, "hasattr", arguments, keywords, 2)
    name = arguments[1]
    if name.text is not None:
        return cx.cases([arguments[0]], lambda o: _has(cx, o, name.text), ("hasattr", name.text))

    def one(owner: Value) -> Value:
        no = cx.literal("bool", "0")
        return _by_name(cx, owner, name, lambda n: _has(cx, owner, n), lambda: no, tells_absence=True)

    return cx.cases([arguments[0]], one, "hasattr")


@native(getattr)
def _getattr(cx: Frame, arguments: list[Any], keywords: Keywords) -> Value:
    from weft.plain import attributes
    from weft.plain.values import exactly

    exactly(cx, "getattr", arguments, keywords, 2, 3)
    name = arguments[1]
    default = arguments[2] if len(arguments) == 3 else None
    if name.text is not None and default is None:
        return attributes.read(cx, arguments[0], name.text)

    def absent() -> Value | None:
        if default is None:
            cx.raises("WP_ATTRIBUTE_ERROR")
        return default

    def each(owner: Value, known: str) -> Value | None:
        return attributes.read(cx, owner, known) if default is None else _with_default(cx, owner, known, default)

    def one(owner: Value) -> Value | None:
        if name.text is not None:
            return each(owner, name.text)
        return _by_name(cx, owner, name, lambda n: each(owner, n), absent, tells_absence=default is not None)

    return cx.cases([arguments[0]], one, ("getattr", name.text))


def _with_default(cx: Frame, owner: Value, name: str, default: Value) -> Value | None:
    """getattr(owner, name, default) of one kind."""
    from weft.plain import attributes

    there = _has(cx, owner, name)
    assert there is not None
    if owner.head().kind == "const":  # known while compiling
        return attributes.read(cx, owner, name) if there.code == "1" else default
    result = cx.site("getattr")
    found = cx.declared(representation(result)) if cx.emitting else "0"
    if there.code != "0" or not cx.emitting:
        with cx.block(f"if ({there.code})"):
            held = attributes.read(cx, owner, name) if _may_have(owner, name) else None
            if held is not None:
                cx.flow(held, result)
                cx.write(f"{found} = {cx.as_node(held, result)};")
    with cx.block(f"if (!({there.code}))"):
        cx.flow(default, result)
        cx.write(f"{found} = {cx.as_node(default, result)};")
    return Value(result, found)


@native(setattr)
def _setattr(cx: Frame, arguments: list[Any], keywords: Keywords) -> Value:
    from weft.plain import attributes
    from weft.plain.values import exactly

    exactly(cx, "setattr", arguments, keywords, 3)
    owner, name, new = arguments
    if name.text is not None:
        attributes.assign(cx, owner, name.text, new)
        return cx.none

    def one(o: Value) -> Value:
        def put(known: str) -> None:
            attributes.assign(cx, o, known, new)

        return _by_name(cx, o, name, put, lambda: cx.deoptimise("a new attribute by name"))

    cx.cases([owner], one, "setattr")
    return cx.none
