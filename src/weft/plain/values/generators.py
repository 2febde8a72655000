"""Generators.  In: method calls on a generator; out: calls of its `next` function."""

from __future__ import annotations

from typing import Any

from weft.plain.frame import Frame, Value
from weft.plain.values import exactly, register


@register("generator", "__next__")
def following(cx: Frame, owner: Value, arguments: list[Any], keywords: dict[str, Value]) -> Value:
    from weft.plain import builtin

    exactly(cx, "__next__", arguments, keywords, 0)
    return builtin.next_value(cx, owner, None)


@register("generator", "close")
def close(cx: Frame, owner: Value, arguments: list[Any], keywords: dict[str, Value]) -> Value:
    exactly(cx, "close", arguments, keywords, 0)
    with cx.block("if (wp_unfinished > 0)"):
        cx.deoptimise("a generator that is closed inside a try block")
    cx.write(f"((wp_frame *){owner.code})->state = -1;")
    return cx.none


@register("generator", "send")
def send(cx: Frame, owner: Value, arguments: list[Any], keywords: dict[str, Value]) -> Value:
    from weft.plain import iteration

    exactly(cx, "send", arguments, keywords, 1)
    if arguments[0].kinds() - {"none"}:
        test = f"((wp_frame *){owner.code})->state == 0"
        if "none" in arguments[0].kinds() and cx.emitting:
            test += f" && {cx.tagged(arguments[0])}.tag != WP_NONE"
        with cx.block(f"if (WP_UNLIKELY({test}))"):
            cx.raises("WP_TYPE_ERROR", "can't send non-None value to a just-started generator")
    done, past = cx.label("none_left"), cx.label("past")
    found = iteration.resumed(cx, owner, done, arguments[0])
    cx.write(f"goto {past};")
    cx.write(f"{done}:;")
    iteration.raise_stop(cx, owner)
    cx.write(f"{past}:;")
    return found
