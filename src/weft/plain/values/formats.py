"""Texts with values in them: f-strings, `str.format` and `%`.  In: values and what a format asks of each; out: text.

Python itself formats numbers, texts and containers of these. What holds objects of the program is written natively
first, as their classes say, and then takes part as text.
"""

from __future__ import annotations

import re
import string
from typing import Any, Final

from weft.plain import operators
from weft.plain.binding import Star
from weft.plain.called import format_spread
from weft.plain.frame import Frame, Value
from weft.plain.types import scalar_node
from weft.plain.values import sequences, texts

_HIDDEN: Final = ("obj", "generator", "closure", "view", "method")
#: A field of a `%` format: flags, width, precision and kind.
_PERCENT: Final = re.compile(r"%([#0\- +]*\d*(?:\.\d+)?)([diouxXeEfFgGcrsa%])")


def _is_simple(held: Value) -> bool:
    """Whether Python can format a copy of a value."""
    return not any(head.kind in (*_HIDDEN, "const") for head in texts.inside(held))


def formatted(cx: Frame, held: Value, spec: Value | None, conversion: int) -> Value:
    """f"{held!c:spec}\""""
    if conversion in (ord("s"), ord("r")):
        held, conversion = texts.as_str(cx, held) if conversion == ord("s") else texts.as_repr(cx, held), 0
    elif conversion and not _is_simple(held):
        raise cx.refuse(f"the format of a value of type {held.node!r}")
    if conversion:
        return _by_python(cx, held, spec, conversion)
    return cx.cases([held], lambda x: _formatted(cx, x, spec), "format")


def _by_python(cx: Frame, held: Value, spec: Value | None, conversion: int = 0) -> Value:
    code = spec.code if spec is not None else "0"
    return cx.scalar("str", f"wp_format({cx.tagged(held)}, {code}, {conversion}, {cx.line})", check=True)


def _formatted(cx: Frame, held: Value, spec: Value | None) -> Value | None:
    from weft.plain import attributes, calls
    from weft.plain.expressions import python_value

    head = held.head()
    if head.kind == "obj":
        function = attributes.method_of(cx, head, "__format__")
        if function is not None:
            asked = spec if spec is not None else python_value(cx, "")
            return calls.call_special(cx, function, [held, asked], "str")
    if spec is None:
        return texts.as_str(cx, held)
    if head.kind == "const":  # of an enumeration: its members are formatted as their texts
        return _by_python(cx, texts.as_str(cx, held), spec)
    if head.kind in _HIDDEN:
        with cx.block(f"if (((wp_str *){spec.code})->length > 0)"):
            cx.raises("WP_TYPE_ERROR")  # object.__format__ takes no format
        return texts.as_str(cx, held)
    if not _is_simple(held):
        raise cx.refuse(f"the format of a value of type {held.node!r}")
    return _by_python(cx, held, spec)


def by_fields(cx: Frame, owner: Value, arguments: list[Any], keywords: dict[str, Value]) -> Value:
    """str.format"""
    from weft.plain.library import callbacks

    given = [*arguments, *keywords.values()]
    if any(isinstance(argument, Star) for argument in given):
        *first, last = arguments or [None]
        if keywords or not isinstance(last, Star) or any(isinstance(argument, Star) for argument in first):
            raise cx.refuse("a call of `format` with `*`")
        return callbacks.call(cx, format_spread, [owner, *first, last.value], {}, scalar_node("str"))
    if all(map(_is_simple, given)):
        return callbacks.call(cx, str.format, [owner, *arguments], keywords, scalar_node("str"))
    return _field_by_field(cx, owner, arguments, keywords)


def _field_by_field(cx: Frame, owner: Value, arguments: list[Any], keywords: dict[str, Value]) -> Value:
    from weft.plain.expressions import python_value

    try:
        fields = list(string.Formatter().parse(owner.text or "{!}"))
    except ValueError:
        raise cx.refuse("a call of `format` with objects, and a format that is not known while compiling") from None
    whole = python_value(cx, "")
    asked_for = [name for _, name, _, _ in fields if name is not None]
    by_number = {"" if not any(name.isdecimal() for name in asked_for) else None: iter(arguments)}
    for place, (literal, name, spec, conversion) in enumerate(fields):
        whole = _joined(cx, whole, python_value(cx, literal))
        if name is None:
            continue
        if name.isdecimal():
            held = arguments[int(name)] if int(name) < len(arguments) and "" not in asked_for else None
        else:
            held = next(by_number[name], None) if name in by_number else keywords.get(name)
        if held is None or (spec and "{" in spec) or conversion == "a":
            raise cx.refuse(f"a call of `format` with objects, and the field `{name}`")
        with cx.inside(place):
            asked = python_value(cx, spec) if spec else None
            whole = _joined(cx, whole, formatted(cx, held, asked, ord(conversion) if conversion else 0))
    return whole


def _joined(cx: Frame, whole: Value, part: Value) -> Value:
    return cx.scalar("str", f"wp_str_concat({whole.code}, {part.code})")


def by_percent(cx: Frame, owner: Value, held: Value) -> Value:
    """owner % held: objects come as their texts."""
    from weft.plain.expressions import python_value

    head = held.head()
    if _is_simple(held):
        return texts.by_python(cx, "__mod__", [owner, held], "str")
    fields = _PERCENT.findall(owner.text or "")
    is_record = head.kind == "tuple"
    values = [sequences.tuple_item(cx, held, k) for k in range(len(head.parts))] if is_record else [held]
    kinds = [kind for _, kind in fields if kind != "%"]
    if len(kinds) != len(values) or (owner.text or "").count("%") != sum(1 + (kind == "%") for _, kind in fields):
        raise cx.refuse(f"`%` of a string with a value of type {held.node!r}")
    for place, kind in enumerate(kinds):
        if not _is_simple(values[place]):
            if kind not in "rs":
                raise cx.refuse(f"`%{kind}` of a value of type {values[place].node!r}")
            with cx.inside(place):
                values[place] = (texts.as_str if kind == "s" else texts.as_repr)(cx, values[place])
            kinds[place] = "s"
    written = iter(kinds)
    text = _PERCENT.sub(lambda m: m[0] if m[2] == "%" else f"%{m[1]}{next(written)}", owner.text or "")
    with cx.inside("percent"):
        return texts.by_python(
            cx, "__mod__", [python_value(cx, text), operators.make_tuple(cx, values, "fields")], "str"
        )
