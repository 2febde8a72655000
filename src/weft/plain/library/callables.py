"""Callables that library functions make: `operator.itemgetter` and its like, `functools.partial`.  In: a call that
makes one, or a call of one; out: its value."""

from __future__ import annotations

import functools
import operator
import re
from typing import Any, Final

from weft.plain.builtin import native
from weft.plain.frame import Frame, Value

Keywords = dict[str, Value]
_INTEGER: Final = re.compile(r"\((-?\d+)LL\)")
GETTERS: Final = (operator.itemgetter, operator.attrgetter, operator.methodcaller)


def literal_of(value: Value) -> Any:
    """The string or integer that stands in the source; None if it is none."""
    if value.text is not None:
        return value.text
    found = _INTEGER.fullmatch(value.code) if value.kinds() == {"int"} else None
    return int(found[1]) if found else None


def _getter(callee: Any) -> Any:
    def make(cx: Frame, arguments: list[Any], keywords: Keywords) -> Value:
        known = [literal_of(a) if isinstance(a, Value) else None for a in arguments]
        if keywords or not known or None in known:
            if callee is operator.itemgetter and len(arguments) == 1 and isinstance(arguments[0], Value):
                return _item_of(cx, arguments[0])
            raise cx.refuse(f"a call of `operator.{callee.__name__}` with these arguments", "write a lambda")
        return constant_at(cx, (callee, *known), lambda: callee(*known))

    return make


def _item_of(cx: Frame, key: Value) -> Value:
    from weft.plain import calls
    from weft.plain.models import sequences

    return calls.call_function(cx, sequences.item_of, [key])


def constant_at(cx: Frame, key: Any, make: Any) -> Value:
    """A Python object that is made once, while compiling."""
    from weft.plain.expressions import python_value

    held = cx.unit.made.get(key)
    if held is None:
        held = cx.unit.made[key] = make()
    return python_value(cx, held)


for _callee in GETTERS:
    native(_callee)(_getter(_callee))


def called(cx: Frame, held: Any, arguments: list[Any], keywords: Keywords) -> Value | None:
    """A call of a getter or a partial function that is known while compiling."""
    from weft.plain import calls
    from weft.plain.expressions import python_value

    if isinstance(held, functools.partial):
        given = [python_value(cx, argument) for argument in held.args]
        named = {name: python_value(cx, argument) for name, argument in held.keywords.items()}
        return calls.call_constant(cx, held.func, [*given, *arguments], {**named, **keywords})
    if keywords or len(arguments) != 1 or not isinstance(arguments[0], Value):
        raise cx.refuse(f"a call of `{held!r}` with these arguments")
    return _taken(cx, held, arguments[0])


def _taken(cx: Frame, getter: Any, owner: Value) -> Value:
    from weft.plain import attributes, calls, operators, subscripts
    from weft.plain.expressions import python_value

    kind, names = getter.__reduce__()[:2]
    if isinstance(getter, operator.methodcaller):
        if not isinstance(kind, type):
            raise cx.refuse("`operator.methodcaller` with keywords", "write a lambda")
        name, given = names[0], [python_value(cx, argument) for argument in names[1:]]
        return cx.cases([owner], lambda o: calls.call_method(cx, o, name, given, {}), ("method", name))
    found = []
    for place, name in enumerate(names):
        with cx.inside(place):
            value = owner
            if isinstance(getter, operator.itemgetter):
                value = subscripts.get(cx, owner, python_value(cx, name))
            else:
                for step, part in enumerate(name.split(".")):
                    with cx.inside(step):
                        value = attributes.read(cx, value, part)
            found.append(value)
    return found[0] if len(found) == 1 else operators.make_tuple(cx, found, "got")


# --- partial ----------------------------------------


@native(functools.partial)
def _partial(cx: Frame, arguments: list[Any], keywords: Keywords) -> Value:
    """A record of the function, its arguments and its keywords."""
    from weft.plain.operators import slots

    if not arguments or any(not isinstance(a, Value) for a in arguments):
        raise cx.refuse("a call of `functools.partial` with these arguments")
    values = [*arguments, *keywords.values()]
    head = cx.new_head("partial", ("partial", len(arguments), tuple(keywords)), len(values))
    made = cx.heap(head, f"wp_new({cx.type_of(head)})")
    for held, part, place in zip(values, head.parts, slots(cx, head)):
        cx.flow(held, part)
        cx.store(held, part, f"&((wp_record *){made.code})->value[{place}]")
    return made


def call_partial(cx: Frame, callee: Value, arguments: list[Any], keywords: Keywords) -> Value:
    from weft.plain import calls
    from weft.plain.operators import slots

    head = callee.head()
    _, count, names = head.key
    held = [
        cx.load(part, f"&((wp_record *){callee.code})->value[{place}]")
        for part, place in zip(head.root().parts, slots(cx, head))
    ]
    named = dict(zip(names, held[count:]))
    return calls.call_value(cx, held[0], [*held[1:count], *arguments], {**named, **keywords})


@native(issubclass)
def _issubclass(cx: Frame, arguments: list[Any], keywords: Keywords) -> Value:
    from weft.plain.values import exactly, sequences

    exactly(cx, "issubclass", arguments, keywords, 2)
    head = arguments[1].node.only()
    if head is not None and head.kind == "tuple":
        wanted = [sequences.tuple_item(cx, arguments[1], place).constant() for place in range(len(head.parts))]
    else:
        wanted = [arguments[1].constant()]
    classes = [cls for cls in wanted if isinstance(cls, type)]
    if len(classes) < len(wanted):
        raise cx.refuse("`issubclass` with a class that is not known while compiling")

    def one(x: Value) -> Value:
        if x.head().kind != "const" or not isinstance(x.head().value, type):
            raise cx.refuse(f"`issubclass` of a value of type {x.head()!r}")
        return cx.literal("bool", "1" if issubclass(x.head().value, tuple(classes)) else "0")

    return cx.cases([arguments[0]], one, "issubclass")
