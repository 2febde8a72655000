"""len() of every kind that has one.  In: a value of one kind; out: its length, or None for kinds without."""

from __future__ import annotations

import enum
from typing import Any

from weft.plain.frame import Frame, Value
from weft.plain.types import DICTS


def own_length(cx: Frame, function: Any, owner: Value) -> Value:
    """What an object's own `__len__` gives."""
    from weft.plain import calls

    found = cx.settled(calls.call_special(cx, function, [owner], "int"), "int")
    with cx.block(f"if (WP_UNLIKELY({found.code} < 0))"):
        cx.raises("WP_VALUE_ERROR", "__len__() should return >= 0")
    return found


def length(cx: Frame, owner: Value) -> Value | None:
    """The number of items; None for kinds that have none."""
    head = owner.head()
    kind = head.kind
    if kind in ("list", "vtuple", "bytearray"):
        return cx.scalar("int", f"((wp_list *){owner.code})->length")
    if kind in ("str", "bytes"):
        return cx.scalar("int", f"((wp_str *){owner.code})->length")
    if kind == "ndarray":
        return cx.scalar("int", f"((wp_array *){owner.code})->extent[0]")
    if kind == "tuple":
        return cx.literal("int", f"{len(head.parts)}LL")
    if kind in DICTS:
        return cx.scalar("int", f"wp_dict_length({owner.code})")
    if kind in ("set", "frozenset"):
        return cx.scalar("int", f"wp_set_length({owner.code})")
    if kind == "deque":
        return cx.scalar("int", f"wp_deque_length({owner.code})")
    if kind == "range":
        r = f"((wp_range *){owner.code})"
        return cx.scalar("int", f"wp_range_length({r}->start, {r}->stop, {r}->step)")
    if kind == "view":
        inner = cx.load(head.part(), f"&((wp_record *){owner.code})->value[0]")
        return cx.cases([inner], lambda d: length(cx, d), "view")
    if kind == "const" and type(head.value) is enum.EnumMeta:
        return cx.literal("int", f"{len(head.value)}LL")
    return None
