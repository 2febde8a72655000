"""Lists.  In: method calls on a list; out: inline code on its items, or calls of the run time."""

from __future__ import annotations

from typing import Any

from weft.plain import operators
from weft.plain.frame import C_TYPES, Frame, Value
from weft.plain.types import representation
from weft.plain.values import as_int, exactly, given, register, sequences


def _address(cx: Frame, owner: Value, place: str) -> str:
    if not cx.emitting:
        return "0"
    c_type = C_TYPES[representation(owner.head().part())]
    return f"&(({c_type} *)((wp_list *){owner.code})->data)[{place}]"


@register("list", "append")
def append(cx: Frame, owner: Value, arguments: list[Any], keywords: dict[str, Value]) -> Value:
    exactly(cx, "list.append", arguments, keywords, 1)
    cx.written(owner.head())
    sequences.append(cx, owner, arguments[0])
    return cx.none


@register("list", "extend")
def extend(cx: Frame, owner: Value, arguments: list[Any], keywords: dict[str, Value]) -> Value:
    exactly(cx, "list.extend", arguments, keywords, 1)
    sequences.extend(cx, owner, arguments[0])
    return cx.none


@register("list", "insert")
def insert(cx: Frame, owner: Value, arguments: list[Any], keywords: dict[str, Value]) -> Value:
    exactly(cx, "list.insert", arguments, keywords, 2)
    place = as_int(cx, arguments[0], "an index")
    part = owner.head().part()
    cx.flow(arguments[1], part)
    cx.written(owner.head())
    at = cx.temporary("i", f"wp_list_clamp({owner.code}, {place.code})")
    cx.write(f"wp_list_insert_room({owner.code}, {at});")
    cx.store(arguments[1], part, _address(cx, owner, at))
    return cx.none


@register("list", "pop")
def pop(cx: Frame, owner: Value, arguments: list[Any], keywords: dict[str, Value]) -> Value:
    exactly(cx, "list.pop", arguments, keywords, 0, 1)
    cx.written(owner.head())
    place = as_int(cx, arguments[0], "an index").code if arguments else "-1"
    at = cx.temporary("i", f"wp_list_pop_index({owner.code}, {place}, {cx.line})")
    cx.check()
    item = cx.load(owner.head().part(), _address(cx, owner, at))
    if arguments:
        cx.write(f"wp_list_remove_at({owner.code}, {at}, {cx.line});")
    else:
        cx.write(f"((wp_list *){owner.code})->length--;")
    return item


@register("list", "remove")
def remove(cx: Frame, owner: Value, arguments: list[Any], keywords: dict[str, Value]) -> Value:
    from weft.plain import calls
    from weft.plain.models import sequences as models

    exactly(cx, "list.remove", arguments, keywords, 1)
    calls.call_function(cx, models.remove, [owner, arguments[0]])
    return cx.none


@register("list", "clear")
def clear(cx: Frame, owner: Value, arguments: list[Any], keywords: dict[str, Value]) -> Value:
    exactly(cx, "list.clear", arguments, keywords, 0)
    cx.written(owner.head())
    cx.write(f"((wp_list *){owner.code})->length = 0;")
    return cx.none


@register("list", "reverse")
def reverse(cx: Frame, owner: Value, arguments: list[Any], keywords: dict[str, Value]) -> Value:
    exactly(cx, "list.reverse", arguments, keywords, 0)
    cx.written(owner.head())
    cx.write(f"wp_list_reverse({owner.code});")
    return cx.none


@register("list", "copy")
def copy(cx: Frame, owner: Value, arguments: list[Any], keywords: dict[str, Value]) -> Value | None:
    exactly(cx, "list.copy", arguments, keywords, 0)
    return sequences.slice_of(cx, owner, (cx.none, cx.none, cx.none))


@register("list", "sort")
def sort(cx: Frame, owner: Value, arguments: list[Any], keywords: dict[str, Value]) -> Value:
    key, reverse_order = given(cx, "list.sort", [], keywords, "key reverse")
    if arguments:
        raise cx.refuse("a call of `list.sort` with positional arguments")
    sorted_in_place(cx, owner, key, reverse_order)
    return cx.none


def sorted_in_place(cx: Frame, owner: Value, key: Value | None, reverse_order: Value | None) -> None:
    """owner.sort(key=key, reverse=reverse)"""
    from weft.plain import calls, iteration
    from weft.plain.models import sequences as models

    cx.written(owner.head())
    backwards = operators.truth(cx, reverse_order) if reverse_order is not None else "0"
    if key is not None and key.kinds() == {"none"}:
        key = None
    part = owner.head().part()
    if key is None and not operators.holds_objects(part) and "obj" not in part.kinds():
        cx.write(f"wp_list_sort({owner.code}, {backwards}, {cx.line});")
        cx.check()
        return
    flag = cx.literal("bool", backwards)
    if key is None:
        keys = sequences.slice_of(cx, owner, (cx.none, cx.none, cx.none))
        assert keys is not None
    else:
        made = sequences.new_list(cx, "keys")
        keys = sequences.filled(cx, made, iteration.Mapped(key, [iteration.Items(owner)]))
    calls.call_function(cx, models.sort_by, [owner, keys, flag])
