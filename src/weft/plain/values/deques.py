"""Deques.  In: method calls on a deque; out: calls of the run time's ring buffer."""

from __future__ import annotations

from typing import Any

from weft.plain.frame import Frame, Value
from weft.plain.types import scalar_node
from weft.plain.values import as_int, exactly, register


def new_deque(cx: Frame, tag: Any, maxlen: str = "-1") -> Value:
    head = cx.new_head(tag, ("deque",), 1)
    return cx.heap(head, f"wp_deque_new({cx.type_of(head)}, {maxlen})")


def push(cx: Frame, owner: Value, item: Value, left: bool = False) -> None:
    part = owner.head().part()
    cx.flow(item, part)
    slot = cx.temporary("p", f"wp_deque_push{'_left' if left else ''}({owner.code})")
    with cx.block(f"if ({slot})"):
        cx.store(item, part, slot)


@register("deque", "append")
def append(cx: Frame, owner: Value, arguments: list[Any], keywords: dict[str, Value]) -> Value:
    exactly(cx, "deque.append", arguments, keywords, 1)
    cx.written(owner.head())
    push(cx, owner, arguments[0])
    return cx.none


@register("deque", "appendleft")
def appendleft(cx: Frame, owner: Value, arguments: list[Any], keywords: dict[str, Value]) -> Value:
    exactly(cx, "deque.appendleft", arguments, keywords, 1)
    cx.written(owner.head())
    push(cx, owner, arguments[0], left=True)
    return cx.none


def _popped(cx: Frame, owner: Value, code: str) -> Value:
    cx.written(owner.head())
    slot = cx.temporary("p", code)
    cx.check()
    return cx.load(owner.head().part(), slot)


@register("deque", "pop")
def pop(cx: Frame, owner: Value, arguments: list[Any], keywords: dict[str, Value]) -> Value:
    exactly(cx, "deque.pop", arguments, keywords, 0)
    return _popped(cx, owner, f"wp_deque_pop({owner.code}, {cx.line})")


@register("deque", "popleft")
def popleft(cx: Frame, owner: Value, arguments: list[Any], keywords: dict[str, Value]) -> Value:
    exactly(cx, "deque.popleft", arguments, keywords, 0)
    return _popped(cx, owner, f"wp_deque_pop_left({owner.code}, {cx.line})")


@register("deque", "extend")
def extend(cx: Frame, owner: Value, arguments: list[Any], keywords: dict[str, Value]) -> Value:
    from weft.plain import iteration

    exactly(cx, "deque.extend", arguments, keywords, 1)
    cx.written(owner.head())
    _no_part_of_itself(cx, owner, arguments[0])
    with iteration.loop(cx, iteration.plan_value(cx, arguments[0])) as item:
        push(cx, owner, item)
    return cx.none


def _no_part_of_itself(cx: Frame, owner: Value, items: Value) -> None:
    """A deque that gets its own items: Python copies them first."""
    if "deque" in items.kinds() and cx.emitting:
        with cx.block(f"if ({cx.tagged(items)}.u.p == (void *){owner.code})"):
            cx.deoptimise("a deque that is extended by itself")


@register("deque", "extendleft")
def extendleft(cx: Frame, owner: Value, arguments: list[Any], keywords: dict[str, Value]) -> Value:
    from weft.plain import iteration

    exactly(cx, "deque.extendleft", arguments, keywords, 1)
    cx.written(owner.head())
    _no_part_of_itself(cx, owner, arguments[0])
    with iteration.loop(cx, iteration.plan_value(cx, arguments[0])) as item:
        push(cx, owner, item, left=True)
    return cx.none


@register("deque", "clear")
def clear(cx: Frame, owner: Value, arguments: list[Any], keywords: dict[str, Value]) -> Value:
    exactly(cx, "deque.clear", arguments, keywords, 0)
    cx.written(owner.head())
    cx.write(f"wp_deque_clear({owner.code});")
    return cx.none


@register("deque", "rotate")
def rotate(cx: Frame, owner: Value, arguments: list[Any], keywords: dict[str, Value]) -> Value:
    exactly(cx, "deque.rotate", arguments, keywords, 0, 1)
    cx.written(owner.head())
    times = as_int(cx, arguments[0], "a number of places").code if arguments else "1"
    cx.write(f"wp_deque_rotate({owner.code}, {times});")
    return cx.none


@register("deque", "reverse")
def reverse(cx: Frame, owner: Value, arguments: list[Any], keywords: dict[str, Value]) -> Value:
    from weft.plain import calls
    from weft.plain.models import sequences as models

    exactly(cx, "deque.reverse", arguments, keywords, 0)
    calls.call_function(cx, models.reverse_in_place, [owner])
    return cx.none


@register("deque", "remove")
def remove(cx: Frame, owner: Value, arguments: list[Any], keywords: dict[str, Value]) -> Value:
    from weft.plain import calls
    from weft.plain.models import sequences as models

    exactly(cx, "deque.remove", arguments, keywords, 1)
    calls.call_function(cx, models.remove_from_deque, [owner, arguments[0]])
    return cx.none


@register("deque", "insert")
def insert(cx: Frame, owner: Value, arguments: list[Any], keywords: dict[str, Value]) -> Value:
    from weft.plain import calls
    from weft.plain.models import sequences as models

    exactly(cx, "deque.insert", arguments, keywords, 2)
    calls.call_function(cx, models.insert_in_deque, [owner, as_int(cx, arguments[0], "an index"), arguments[1]])
    return cx.none


def delete(cx: Frame, owner: Value, index: Value) -> None:
    """del owner[index]"""
    from weft.plain import calls
    from weft.plain.models import sequences as models

    calls.call_function(cx, models.delete_from_deque, [owner, as_int(cx, index, "an index")])


def maxlen(cx: Frame, owner: Value) -> Value:
    """owner.maxlen"""
    most = cx.temporary("i", f"wp_deque_maxlen({owner.code})")
    return cx.make(scalar_node("int", "none"), f"{most} < 0 ? wp_of_p(0) : wp_of_i({most})")


@register("deque", "copy")
def copy(cx: Frame, owner: Value, arguments: list[Any], keywords: dict[str, Value]) -> Value:
    exactly(cx, "deque.copy", arguments, keywords, 0)
    head = cx.new_head("copy", ("deque",), 1)
    cx.unify(head.part(), owner.head().part())
    return cx.heap(head, f"wp_deque_copy({cx.type_of(head)}, {owner.code})")
