"""print: each text it writes goes to the run time, which writes it when the call has returned (native/effects.c)."""

from __future__ import annotations

from typing import Any

from weft.plain import iteration, operators
from weft.plain.binding import Star
from weft.plain.builtin import native
from weft.plain.frame import Frame, Value


@native(print)
def _print(cx: Frame, arguments: list[Any], keywords: dict[str, Value]) -> Value:
    from weft.plain.values import texts

    if keywords.keys() - {"sep", "end", "flush", "file"}:
        raise cx.refuse("a call of `print` with these arguments")
    if "file" in keywords and keywords["file"].kinds() != {"none"}:
        raise cx.refuse("`print` into a file", "print to the standard output, or return the text")
    separator = _mark(cx, keywords.get("sep"), "sep", " ")
    end = _mark(cx, keywords.get("end"), "end", "\n")
    starred = any(isinstance(a, Star) for a in arguments)
    begun = cx.held("int64_t", "0") if starred else "1"

    def put(item: Value) -> None:
        cx.write(f"if ({begun}) wp_print({separator.code});")
        if starred:
            cx.write(f"{begun} = 1;")
        cx.write(f"wp_print({texts.as_str(cx, item).code});")

    for place, argument in enumerate(arguments):
        with cx.inside(place):
            if isinstance(argument, Star):
                with iteration.loop(cx, iteration.plan_value(cx, argument.value)) as item:
                    put(item)
            elif place == 0:
                cx.write(f"wp_print({texts.as_str(cx, argument).code});")
                cx.write(f"{begun} = 1;" if starred else "")
            else:
                put(argument)
    cx.write(f"wp_print({end.code});")
    if "flush" in keywords:
        cx.write(f"if ({operators.truth(cx, keywords['flush'])}) wp_flush();")
    return cx.none


def _mark(cx: Frame, given: Value | None, name: str, default: str) -> Value:
    """What stands between the values, or behind them."""
    from weft.plain.expressions import python_value

    usual = python_value(cx, default)
    if given is None:
        return usual

    def one(x: Value) -> Value | None:
        return usual if x.head().kind == "none" else x if x.head().kind == "str" else None

    return cx.cases([given], one, name)
