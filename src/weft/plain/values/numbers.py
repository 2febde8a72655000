"""Methods of int, float and bool.  In: method calls; out: inline code."""

from __future__ import annotations

from typing import Any

from weft.plain.builtin import called_back
from weft.plain.frame import Frame, Value
from weft.plain.types import scalar_node
from weft.plain.values import exactly, register


@register("int bool", "bit_length")
def bit_length(cx: Frame, owner: Value, arguments: list[Any], keywords: dict[str, Value]) -> Value:
    exactly(cx, "int.bit_length", arguments, keywords, 0)
    return cx.scalar("int", f"wp_bit_length({owner.code})")


@register("int bool", "bit_count")
def bit_count(cx: Frame, owner: Value, arguments: list[Any], keywords: dict[str, Value]) -> Value:
    exactly(cx, "int.bit_count", arguments, keywords, 0)
    return cx.scalar(
        "int", f"__builtin_popcountll({owner.code} < 0 ? 0 - (uint64_t){owner.code} : (uint64_t){owner.code})"
    )


@register("float", "is_integer")
def is_integer(cx: Frame, owner: Value, arguments: list[Any], keywords: dict[str, Value]) -> Value:
    exactly(cx, "float.is_integer", arguments, keywords, 0)
    return cx.scalar("bool", f"(__builtin_isfinite({owner.code}) && __builtin_floor({owner.code}) == {owner.code})")


@register("int bool", "conjugate")
def conjugate(cx: Frame, owner: Value, arguments: list[Any], keywords: dict[str, Value]) -> Value:
    exactly(cx, "int.conjugate", arguments, keywords, 0)
    return cx.scalar("int", owner.code)


@register("big", "bit_length")
def bit_length_of_big(cx: Frame, owner: Value, arguments: list[Any], keywords: dict[str, Value]) -> Value:
    exactly(cx, "int.bit_length", arguments, keywords, 0)
    return called_back(cx, int.bit_length, [owner], scalar_node("int"))


@register("big", "bit_count")
def bit_count_of_big(cx: Frame, owner: Value, arguments: list[Any], keywords: dict[str, Value]) -> Value:
    exactly(cx, "int.bit_count", arguments, keywords, 0)
    return called_back(cx, int.bit_count, [owner], scalar_node("int"))
