"""New objects made of others: `copy.copy`, and `asdict`, `astuple` and `replace` of data classes."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable
from typing import Any, Final

from weft.frontend import reads
from weft.plain import attributes, calls, operators, subscripts
from weft.plain.builtin import native
from weft.plain.expressions import python_value
from weft.plain.frame import Frame, Value
from weft.plain.types import DICTS
from weft.plain.unit import ClassInfo
from weft.plain.values import exactly

Keywords = dict[str, Value]
#: Kinds whose values never change: a copy is the value itself.
_UNCHANGING: Final = frozenset(
    ("int", "float", "bool", "none", "str", "bytes", "complex", "range", "const", "closure", "tuple", "vtuple")
)
_ATOMS: Final = frozenset(("int", "float", "bool", "none", "str", "bytes", "complex", "range"))
_COPIED: Final = frozenset(("list", "set", "deque", *DICTS))
#: What a class may define that `copy.copy` would ask.
_OWN_WAYS: Final = ("__copy__", "__reduce__", "__reduce_ex__", "__getstate__", "__setstate__", "__getnewargs__")


@native(copy.copy)
def _copy(cx: Frame, arguments: list[Any], keywords: Keywords) -> Value:
    exactly(cx, "copy.copy", arguments, keywords, 1)

    def one(x: Value) -> Value | None:
        kind = x.head().kind
        if kind in _UNCHANGING or kind == "frozenset":
            return x
        if kind == "bytearray":
            return subscripts.get(cx, x, (cx.none, cx.none, cx.none))
        if kind in _COPIED:
            return calls.call_method(cx, x, "copy", [], {})
        if kind == "obj":
            return _copied_object(cx, x)
        raise cx.refuse(f"`copy.copy` of a value of type {x.head()!r}")

    return cx.cases([arguments[0]], one, "copy")


def _copied_object(cx: Frame, x: Value) -> Value:
    info: ClassInfo = x.head().key[1]
    function = reads.lookup(info.cls, "__copy__")
    if function is not reads.ABSENT and not info.is_exception:
        method = attributes.method_of(cx, x.head(), "__copy__")
        if method is not None:
            return calls.call_function(cx, method, [x])
    for name in _OWN_WAYS:
        reads.lookup(info.cls, name)
    own = [base for base in info.cls.__mro__ if base.__flags__ & (1 << 9)]
    if info.is_exception or any(name in vars(base) for base in own for name in _OWN_WAYS):
        raise cx.refuse(f"`copy.copy` of an object of class `{info.cls.__name__}`, which has a way of its own")
    made = cx.heap(info.head, f"wp_new({cx.type_of(info.head)})")
    slots = "((wp_record *){})->value"
    size = f"({cx.type_of(info.head)})->size - sizeof(wp_object)"
    cx.write(f"__builtin_memcpy({slots.format(made.code)}, {slots.format(x.code)}, {size});")
    return made


# --- data classes ----------------------------------------


def _fields(cx: Frame, x: Value, what: str) -> list[Any]:
    """The fields of an object of a data class."""
    head = x.head()
    cls: Any = head.key[1].cls if head.kind == "obj" else None
    if cls is None or not dataclasses.is_dataclass(cls):
        raise cx.refuse(f"`dataclasses.{what}` of a value of type {head!r}")
    reads.lookup(head.key[1].cls, "__dataclass_fields__")
    return list(dataclasses.fields(cls))


def _converted(what: str, put: Callable[[Frame, ClassInfo, list[str], list[Value]], Value]) -> Any:
    """asdict and astuple: objects of data classes are taken apart, wherever they are in containers."""

    def inner(cx: Frame, x: Value) -> Value:
        return cx.cases([x], lambda o: one(cx, o), what)

    def one(cx: Frame, x: Value) -> Value | None:
        from weft.plain.models import records

        head = x.head()
        if head.kind in _ATOMS or head.kind == "const":
            return x
        if head.kind == "obj" and dataclasses.is_dataclass(head.key[1].cls):
            names = [field.name for field in _fields(cx, x, what)]
            held = []
            for name in names:
                with cx.inside(name):
                    held.append(calls.call_function(cx, getattr(records, what), [attributes.read(cx, x, name)]))
            return put(cx, head.key[1], names, held)
        if head.kind == "tuple":
            from weft.plain.values import sequences

            items = []
            for place in range(len(head.parts)):
                with cx.inside(place):
                    items.append(inner(cx, sequences.tuple_item(cx, x, place)))
            return operators.make_tuple(cx, items, what, head.key[2])
        model = {"list": "items", "vtuple": "tuple_items", "dict": "entries"}.get(head.kind)
        if model is None:
            raise cx.refuse(f"`dataclasses.{what}` where a value of type {head!r} is")
        return calls.call_function(cx, getattr(records, f"{what}_{model}"), [x])

    def run(cx: Frame, arguments: list[Any], keywords: Keywords) -> Value:
        exactly(cx, f"dataclasses.{what}", arguments, keywords, 1)

        def taken_apart(x: Value) -> Value | None:
            _fields(cx, x, what)
            return one(cx, x)

        return cx.cases([arguments[0]], taken_apart, what)

    def run_inside(cx: Frame, arguments: list[Any], keywords: Keywords) -> Value:
        return inner(cx, arguments[0])

    return run, run_inside


def _as_dict(cx: Frame, info: ClassInfo, names: list[str], held: list[Value]) -> Value:
    from weft.plain.values import dicts

    head = cx.new_head(("asdict", info.cls), ("dict",), 2)
    made = cx.heap(head, f"wp_dict_new({cx.type_of(head)})")
    for name, value in zip(names, held):
        with cx.inside(name):
            dicts.put(cx, made, python_value(cx, name), value)
    return made


def _as_tuple(cx: Frame, info: ClassInfo, names: list[str], held: list[Value]) -> Value:
    return operators.make_tuple(cx, held, ("astuple", info.cls))


def _register() -> None:
    from weft.plain.models import primitives

    for callee, inside, put in (
        (dataclasses.asdict, primitives.as_dict, _as_dict),
        (dataclasses.astuple, primitives.as_tuple, _as_tuple),
    ):
        run, run_inside = _converted(callee.__name__, put)
        native(callee)(run)
        native(inside)(run_inside)


_register()


@native(dataclasses.replace)
def _replace(cx: Frame, arguments: list[Any], keywords: Keywords) -> Value:
    exactly(cx, "dataclasses.replace", arguments, {}, 1)

    def one(x: Value) -> Value:
        given = dict(keywords)
        fields = _fields(cx, x, "replace")
        if any(name not in {field.name for field in fields if field.init} for name in given):
            raise cx.refuse("`dataclasses.replace` of what is no field")
        for field in fields:
            if field.init and field.name not in given:
                with cx.inside(field.name):
                    given[field.name] = attributes.read(cx, x, field.name)
        return calls.construct(cx, x.head().key[1].cls, [], given)

    return cx.cases([arguments[0]], one, "replace")
