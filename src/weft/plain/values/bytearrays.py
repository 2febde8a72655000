"""Bytearrays.  In: method calls, items, slices and operators; out: calls of the run time's lists of ints."""

from __future__ import annotations

from typing import Any

from weft.plain.builtin import called_back, native
from weft.plain.frame import Frame, Value
from weft.plain.types import BYTEARRAY, scalar_node
from weft.plain.values import as_int, exactly, register, sequences

Keywords = dict[str, Value]


def _length(owner: Value) -> str:
    return f"((wp_list *){owner.code})->length"


def _place(cx: Frame, owner: Value, index: Value) -> str:
    place = as_int(cx, index, "an index")
    at = cx.temporary("i", f"wp_index({place.code}, {_length(owner)})")
    with cx.block(f"if (WP_UNLIKELY((uint64_t){at} >= (uint64_t){_length(owner)}))"):
        cx.raises("WP_INDEX_ERROR", "bytearray index out of range")
    return at


def _byte(cx: Frame, value: Value) -> str:
    byte = as_int(cx, value, "a byte")
    with cx.block(f"if (WP_UNLIKELY((uint64_t){byte.code} > 255))"):
        cx.raises("WP_VALUE_ERROR", "byte must be in range(0, 256)")
    return byte.code


def get(cx: Frame, owner: Value, index: Value) -> Value:
    at = _place(cx, owner, index)
    return cx.scalar("int", f"((int64_t *)((wp_list *){owner.code})->data)[{at}]")


def put(cx: Frame, owner: Value, index: Value, new: Value) -> None:
    place, byte = as_int(cx, index, "an index"), as_int(cx, new, "a byte")
    outside = f"(uint64_t)wp_index({place.code}, {_length(owner)}) >= (uint64_t){_length(owner)}"
    with cx.block(f"if (WP_UNLIKELY((uint64_t){byte.code} > 255 && {outside}))"):
        cx.deoptimise("a byte and an index out of range")  # versions of Python differ in what they look at first
    at = _place(cx, owner, place)
    cx.write(f"((int64_t *)((wp_list *){owner.code})->data)[{at}] = {_byte(cx, byte)};")


def put_slice(cx: Frame, owner: Value, bounds: tuple[Value, Value, Value], new: Value) -> None:
    items = as_bytearray(cx, new)
    b = sequences.slice_bounds(cx, bounds, _length(owner))
    if bounds[2].kinds() == {"none"}:
        cx.write(f"wp_list_set_slice({owner.code}, {b}[0], {b}[1], {items.code}, {cx.line});")
    else:
        size = f"wp_range_length({b}[0], {b}[1], {b}[2]) != {_length(items)}"
        with cx.block(f"if ({b}[2] == 1 || {size})"):
            cx.deoptimise("a slice of bytes of another size")
        cx.write(f"wp_list_set_extended({owner.code}, {b}[0], {b}[1], {b}[2], {items.code}, {cx.line});")
    cx.check()


def as_bytearray(cx: Frame, held: Value) -> Value:
    """A new bytearray of bytes, of another one, or of numbers that are run through."""
    from weft.plain import iteration

    def one(x: Value) -> Value | None:
        kind = x.head().kind
        if kind == "bytes":
            return cx.heap(BYTEARRAY, f"wp_bytearray_of({x.code})")
        if kind == "bytearray":
            return cx.heap(BYTEARRAY, f"wp_list_slice(&wp_bytearray_type, {x.code}, 0, {_length(x)}, 1)")
        if kind in ("int", "float", "bool", "none", "str"):
            return None
        made = cx.held("void *", "wp_list_new(&wp_bytearray_type, 0, 0)")
        with iteration.loop(cx, iteration.plan_value(cx, x)) as item:
            cx.write(f"wp_list_append_i({made}, {_byte(cx, item)});")
        return Value(cx.single(BYTEARRAY), made)

    return cx.cases([held], one, "bytearray")


def binary(cx: Frame, op: str, a: Value, b: Value, in_place: bool) -> Value | None:
    x, y = a.head().kind, b.head().kind
    if op == "Add" and x == "bytearray" and in_place and y in ("bytes", "bytearray"):
        cx.write(f"wp_list_extend({a.code}, {as_bytearray(cx, b).code});")
        return a
    if op == "Add" and {x, y} <= {"bytes", "bytearray"}:
        left, right = as_bytearray(cx, a), as_bytearray(cx, b)
        joined = f"wp_list_concat(&wp_bytearray_type, {left.code}, {right.code})"
        if x == "bytes":
            return cx.scalar("bytes", f"wp_bytes_of({joined})")
        return cx.heap(BYTEARRAY, joined)
    if op == "Mult" and {x, y} <= {"bytearray", "int", "bool"} and not in_place:
        array, times = (a, b) if x == "bytearray" else (b, a)
        return cx.heap(BYTEARRAY, f"wp_list_repeat(&wp_bytearray_type, {array.code}, {times.code})")
    raise cx.refuse(f"an operation on {a.head()!r} and {b.head()!r}")


@native(bytearray)
def _bytearray(cx: Frame, arguments: list[Any], keywords: Keywords) -> Value:
    exactly(cx, "bytearray", arguments, keywords, 0, 2)
    if not arguments:
        return cx.heap(BYTEARRAY, "wp_list_new(&wp_bytearray_type, 0, 0)")
    if len(arguments) == 2:
        return called_back(cx, bytearray, arguments, cx.single(BYTEARRAY))

    def one(x: Value) -> Value | None:
        if x.head().kind in ("int", "bool"):
            with cx.block(f"if ({x.code} < 0)"):
                cx.raises("WP_VALUE_ERROR", "negative count")
            return cx.heap(BYTEARRAY, f"wp_list_new(&wp_bytearray_type, {x.code}, {x.code})")
        return as_bytearray(cx, x)

    return cx.cases([arguments[0]], one, "new bytearray")


@native(bytes)
def _bytes(cx: Frame, arguments: list[Any], keywords: Keywords) -> Value:
    exactly(cx, "bytes", arguments, keywords, 0, 2)
    if not arguments or len(arguments) == 2 or arguments[0].kinds() <= {"int", "bool", "str"}:
        return called_back(cx, bytes, arguments, scalar_node("bytes"))

    def one(x: Value) -> Value | None:
        if x.head().kind in ("int", "bool", "str"):
            return called_back(cx, bytes, [x], scalar_node("bytes"))
        return x if x.head().kind == "bytes" else cx.scalar("bytes", f"wp_bytes_of({as_bytearray(cx, x).code})")

    return cx.cases(arguments, one, "new bytes")


# --- methods ----------------------------------------


@register("bytearray", "append")
def append(cx: Frame, owner: Value, arguments: list[Any], keywords: Keywords) -> Value:
    exactly(cx, "bytearray.append", arguments, keywords, 1)
    cx.write(f"wp_list_append_i({owner.code}, {_byte(cx, arguments[0])});")
    return cx.none


@register("bytearray", "extend")
def extend(cx: Frame, owner: Value, arguments: list[Any], keywords: Keywords) -> Value:
    exactly(cx, "bytearray.extend", arguments, keywords, 1)
    cx.write(f"wp_list_extend({owner.code}, {as_bytearray(cx, arguments[0]).code});")
    return cx.none


@register("bytearray", "clear")
def clear(cx: Frame, owner: Value, arguments: list[Any], keywords: Keywords) -> Value:
    exactly(cx, "bytearray.clear", arguments, keywords, 0)
    cx.write(f"{_length(owner)} = 0;")
    return cx.none


@register("bytearray", "pop")
def pop(cx: Frame, owner: Value, arguments: list[Any], keywords: Keywords) -> Value:
    exactly(cx, "bytearray.pop", arguments, keywords, 0, 1)
    with cx.block(f"if (WP_UNLIKELY({_length(owner)} == 0))"):
        cx.raises("WP_INDEX_ERROR", "pop from empty bytearray")
    place = as_int(cx, arguments[0], "an index").code if arguments else "(-1LL)"
    at = cx.temporary("i", f"wp_index({place}, {_length(owner)})")
    with cx.block(f"if (WP_UNLIKELY((uint64_t){at} >= (uint64_t){_length(owner)}))"):
        cx.raises("WP_INDEX_ERROR", "pop index out of range")
    found = cx.scalar("int", f"((int64_t *)((wp_list *){owner.code})->data)[{at}]")
    cx.write(f"wp_list_remove_at({owner.code}, {at}, {cx.line});")
    return found
