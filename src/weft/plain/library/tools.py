"""functools, heapq, bisect and operator, mostly as models in plain Python, and the primitives that models use."""

from __future__ import annotations

import bisect
import functools
import heapq
import math
import operator
from typing import Any

from weft.plain import operators
from weft.plain.builtin import MODEL_TAKES, MODELS, native
from weft.plain.frame import Frame, Value
from weft.plain.values import exactly, given


@native(functools.reduce)
def _reduce(cx: Frame, arguments: list[Any], keywords: dict[str, Value]) -> Value:
    from weft.plain import calls
    from weft.plain.models import sequences as models

    exactly(cx, "reduce", arguments, keywords, 2, 3)
    return calls.call_function(cx, models.reduce if len(arguments) == 2 else models.reduce_from, arguments)


@native(functools.cache)
def _cache(cx: Frame, arguments: list[Any], keywords: dict[str, Value]) -> Value:
    from weft.plain import calls
    from weft.plain.models import caches

    exactly(cx, "functools.cache", arguments, keywords, 1)
    return calls.call_function(cx, caches.unlimited, arguments)


@native(functools.lru_cache)
def _lru_cache(cx: Frame, arguments: list[Any], keywords: dict[str, Value]) -> Value | None:
    from weft.plain import calls
    from weft.plain.expressions import python_value
    from weft.plain.models import caches

    most, typed = given(cx, "functools.lru_cache", arguments, keywords, "maxsize typed")
    if typed is not None:
        raise cx.refuse("`lru_cache` with `typed`")
    if most is not None and most.kinds() == {"none"}:
        return python_value(cx, caches.unlimited)
    if most is not None and most.kinds() & {"closure", "const"}:
        around = calls.call_function(cx, caches.limited, [cx.literal("int", "128LL")])
        return calls.call_value(cx, around, [most], {})
    return calls.call_function(cx, caches.limited, [cx.literal("int", "128LL") if most is None else most])


# --- models of library functions ----------------------------------------

#: Sequences, and objects that may be one.
_INDEXED = ("list", "tuple", "vtuple", "str", "bytes", "bytearray", "range", "deque", "obj")
#: What the functions of these modules work on; of anything else Python says what is wrong.
MODEL_TAKES.update(
    {
        heapq.heappush: ("list",),
        heapq.heappop: ("list",),
        heapq.heapify: ("list",),
        heapq.heapreplace: ("list",),
        heapq.heappushpop: ("list",),
        **dict.fromkeys((bisect.bisect_left, bisect.bisect_right, bisect.insort_left, bisect.insort_right), _INDEXED),
    }
)


MODELS.update(
    {
        heapq.heappush: "heappush",
        heapq.heappop: "heappop",
        heapq.heapify: "heapify",
        heapq.heapreplace: "heapreplace",
        heapq.heappushpop: "heappushpop",
        bisect.bisect_left: "bisect_left",
        bisect.bisect_right: "bisect_right",
        bisect.bisect: "bisect_right",
        heapq.nlargest: "nlargest",
        heapq.nsmallest: "nsmallest",
        heapq.merge: "merge",
        math.prod: "prod",
        functools.cmp_to_key: "comparing",
        bisect.insort: "insort_right",
        bisect.insort_right: "insort_right",
        bisect.insort_left: "insort_left",
    }
)


def _register_operators() -> None:
    binary = {
        "add": "Add",
        "sub": "Sub",
        "mul": "Mult",
        "truediv": "Div",
        "floordiv": "FloorDiv",
        "mod": "Mod",
        "pow": "Pow",
        "and_": "BitAnd",
        "or_": "BitOr",
        "xor": "BitXor",
        "lshift": "LShift",
        "rshift": "RShift",
    }
    comparisons = {"eq": "Eq", "ne": "NotEq", "lt": "Lt", "le": "LtE", "gt": "Gt", "ge": "GtE"}
    for table, rule in ((binary, operators.binary), (comparisons, operators.compare)):
        for name, op in table.items():

            def run(
                cx: Frame,
                arguments: list[Any],
                keywords: dict[str, Value],
                op: str = op,
                rule: Any = rule,
                name: str = name,
            ) -> Value:
                exactly(cx, f"operator.{name}", arguments, keywords, 2)
                return rule(cx, op, *arguments)  # type: ignore[no-any-return]

            native(getattr(operator, name))(run)

    def negate(cx: Frame, arguments: list[Any], keywords: dict[str, Value]) -> Value:
        exactly(cx, "operator.neg", arguments, keywords, 1)
        return operators.unary(cx, "USub", arguments[0])

    native(operator.neg)(negate)


_register_operators()


def _register_primitives() -> None:
    from weft.plain.models import primitives

    def same(cx: Frame, arguments: list[Any], keywords: dict[str, Value]) -> Value:
        a, b = arguments
        if operators.holds_objects(a.node) or operators.holds_objects(b.node):
            return operators.compare(cx, "Eq", a, b)
        kinds = a.kinds() | b.kinds()
        if kinds in ({"int"}, {"str"}, {"bool"}):
            return operators.compare(cx, "Eq", a, b)
        return cx.scalar("bool", f"wp_same({cx.tagged(a)}, {cx.tagged(b)})", check=True)

    def leave(cx: Frame, arguments: list[Any], keywords: dict[str, Value]) -> Value:
        cx.deoptimise("a case that only Python has")
        return cx.none

    native(primitives.same)(same)
    native(primitives.leave)(leave)


_register_primitives()
