"""Containers made of iterables, and what runs through them: list(), dict(), sum(), min(), sorted() and their like."""

from __future__ import annotations

import collections
from typing import Any

from weft.frontend import reads
from weft.plain import iteration, operators
from weft.plain.binding import NAMES
from weft.plain.builtin import CLASS_METHODS, DIRECT, WITHOUT_ITERABLE, consumer, native
from weft.plain.frame import Frame, Value
from weft.plain.types import DICTS, representation
from weft.plain.values import as_int, exactly, given, left_out

# --- containers from iterables ----------------------------------------


def _empty_list(cx: Frame, arguments: list[Any], keywords: dict[str, Value]) -> Value:
    exactly(cx, "list", arguments, keywords, 0)
    return operators.make_list(cx, [], "list()")


@consumer(list)
def _list(cx: Frame, plan: iteration.Plan, rest: list[Value], keywords: dict[str, Value]) -> Value:
    from weft.plain.values import sequences

    return sequences.filled(cx, sequences.new_list(cx, "list()"), plan)


def _empty_tuple(cx: Frame, arguments: list[Any], keywords: dict[str, Value]) -> Value:
    exactly(cx, "tuple", arguments, keywords, 0)
    return operators.make_tuple(cx, [], "tuple()")


@consumer(tuple)
def _tuple(cx: Frame, plan: iteration.Plan, rest: list[Value], keywords: dict[str, Value]) -> Value:
    from weft.plain.values import sequences

    return sequences.filled(cx, sequences.new_list(cx, "tuple()", kind="vtuple"), plan)


def _set_kind(kind: str) -> tuple[Any, Any]:
    def empty(cx: Frame, arguments: list[Any], keywords: dict[str, Value]) -> Value:
        from weft.plain.values import sets

        exactly(cx, kind, arguments, keywords, 0)
        return sets.new_set(cx, kind, kind)

    def filled(cx: Frame, plan: iteration.Plan, rest: list[Value], keywords: dict[str, Value]) -> Value:
        from weft.plain.values import sets

        made = sets.new_set(cx, kind, kind)
        held = Value(made.node, cx.held("void *", made.code))
        with iteration.loop(cx, plan) as item:
            sets.add(cx, held, item)
        return held

    return empty, filled


_empty_set, _set_filled = _set_kind("set")
_empty_frozenset, _frozenset_filled = _set_kind("frozenset")
consumer(set)(_set_filled)
consumer(frozenset)(_frozenset_filled)


def _keep_sets(kind: str) -> Any:
    def direct(cx: Frame, x: Value, keywords: dict[str, Value]) -> Value | None:
        if keywords:
            return None
        from weft.plain.values import sets

        if x.head().kind in ("set", "frozenset", *DICTS):
            if kind == "frozenset" and x.head().kind == "frozenset":
                return x
            return sets.updated(cx, sets.new_set(cx, kind, kind), x)
        return None

    return direct


def _direct_list(kind: str) -> Any:
    def direct(cx: Frame, x: Value, keywords: dict[str, Value]) -> Value | None:
        if keywords:
            return None
        from weft.plain.values import sequences

        source = x.head()
        if kind == "vtuple" and source.kind in ("tuple", "vtuple") and not (source.kind == "tuple" and source.key[2]):
            return x
        if source.kind in ("list", "vtuple"):
            head = cx.new_head("copied", (kind,), 1)
            cx.unify(head.part(), source.part())
            return cx.heap(head, f"wp_list_slice({cx.type_of(head)}, {x.code}, 0, ((wp_list *){x.code})->length, 1)")
        del sequences
        return None

    return direct


def _new_dict(cx: Frame, arguments: list[Any], keywords: dict[str, Value]) -> Value:
    from weft.plain.values import dicts

    exactly(cx, "dict", arguments, {}, 0, 1)
    made = dicts.new_dict(cx, "dict()")
    if arguments:
        dicts.update_from(cx, made, arguments[0])
    _with_names(cx, made, keywords)
    return made


@consumer(dict)
def _dict(cx: Frame, plan: iteration.Plan, rest: list[Value], keywords: dict[str, Value]) -> Value:
    from weft.plain.subscripts import unpacked
    from weft.plain.values import dicts

    made = dicts.new_dict(cx, "dict()")
    held = Value(made.node, cx.held("void *", made.code))
    with iteration.loop(cx, plan) as pair:
        k, v = unpacked(cx, pair, 2)
        dicts.put(cx, held, k, v)
    _with_names(cx, held, keywords)
    return held


def _with_names(cx: Frame, made: Value, keywords: dict[str, Value]) -> None:
    """dict(..., name=value, **rest)"""
    from weft.plain.expressions import python_value
    from weft.plain.values import dicts

    for name, held in keywords.items():
        with cx.inside(name):
            if name == NAMES:
                dicts.update_from(cx, made, held)
            else:
                dicts.put(cx, made, python_value(cx, name), held)


def _direct_dict(cx: Frame, x: Value, keywords: dict[str, Value]) -> Value | None:
    return _new_dict(cx, [x], keywords) if x.head().kind in DICTS else None


@native(collections.defaultdict)
def _defaultdict(cx: Frame, arguments: list[Any], keywords: dict[str, Value]) -> Value:
    from weft.plain.values import dicts

    exactly(cx, "defaultdict", arguments, keywords, 0, 2)
    made = dicts.new_dict(cx, "defaultdict", "defaultdict", arguments[0] if arguments else None)
    if len(arguments) > 1:
        dicts.update_from(cx, made, arguments[1])
    return made


@native(collections.OrderedDict)
def _ordered(cx: Frame, arguments: list[Any], keywords: dict[str, Value]) -> Value:
    from weft.plain.values import dicts

    exactly(cx, "OrderedDict", arguments, keywords, 0, 1)
    made = dicts.new_dict(cx, "OrderedDict", "OrderedDict")
    return dicts.update_from(cx, made, arguments[0]) if arguments else made


@native(collections.Counter)
def _counter(cx: Frame, arguments: list[Any], keywords: dict[str, Value]) -> Value:
    from weft.plain.values import dicts

    exactly(cx, "Counter", arguments, keywords, 0, 1)
    made = dicts.new_dict(cx, "Counter", "Counter")
    if arguments:
        dicts.counted(cx, made, arguments[0], 1)
    return made


@native(collections.deque)
def _deque(cx: Frame, arguments: list[Any], keywords: dict[str, Value]) -> Value:
    from weft.plain.values import deques

    source, bound = given(cx, "deque", arguments, keywords, "iterable maxlen")
    maxlen = "-1" if bound is None or left_out(cx, bound, "maxlen") else as_int(cx, bound, "maxlen").code
    if maxlen != "-1":
        with cx.block(f"if (WP_UNLIKELY({maxlen} < 0))"):
            cx.raises("WP_VALUE_ERROR", "maxlen must be non-negative")
    made = deques.new_deque(cx, "deque", maxlen)
    if source is not None:
        with iteration.loop(cx, iteration.plan_value(cx, source)) as item:
            deques.push(cx, made, item)
    return made


WITHOUT_ITERABLE.update(
    {list: _empty_list, tuple: _empty_tuple, set: _empty_set, frozenset: _empty_frozenset, dict: _new_dict}
)
DIRECT.update(
    {
        list: _direct_list("list"),
        tuple: _direct_list("vtuple"),
        set: _keep_sets("set"),
        frozenset: _keep_sets("frozenset"),
        dict: _direct_dict,
    }
)


def fromkeys(cx: Frame, arguments: list[Any], keywords: dict[str, Value]) -> Value:
    from weft.plain.values import dicts

    exactly(cx, "dict.fromkeys", arguments, keywords, 1, 2)
    made = dicts.new_dict(cx, "fromkeys")
    held = Value(made.node, cx.held("void *", made.code))
    filler = arguments[1] if len(arguments) > 1 else cx.none
    with iteration.loop(cx, iteration.plan_value(cx, arguments[0])) as key:
        dicts.put(cx, held, key, filler)
    return held


# --- sums, extremes, tests, sorting ----------------------------------------


@consumer(sum)
def _sum(cx: Frame, plan: iteration.Plan, rest: list[Value], keywords: dict[str, Value]) -> Value:
    start = rest[0] if rest else keywords.get("start", cx.literal("int", "0LL"))
    if start.kinds() & {"str", "bytes", "bytearray"}:
        raise cx.refuse(f"`sum` that starts with a value of type {start.node!r}", "use `join`")
    total = cx.site("total")
    cx.flow(start, total)
    held = cx.held(_c_type(cx, total), cx.as_node(start, total))
    with iteration.loop(cx, plan) as item:
        if "float" in item.kinds() and reads.is_python(3, 12):
            raise cx.refuse("`sum` of floats, which this Python adds with compensation", "add them in a loop")
        new = operators.binary(cx, "Add", Value(total, held), item)
        cx.flow(new, total)
        cx.write(f"{held} = {cx.as_node(new, total)};")
    return Value(total, held)


def _c_type(cx: Frame, node: Any) -> str:
    from weft.plain.frame import C_TYPES

    return C_TYPES[representation(node)] if cx.emitting else ""


@consumer(any)
def _any(cx: Frame, plan: iteration.Plan, rest: list[Value], keywords: dict[str, Value]) -> Value:
    return _test(cx, plan, stop=True)


@consumer(all)
def _all(cx: Frame, plan: iteration.Plan, rest: list[Value], keywords: dict[str, Value]) -> Value:
    return _test(cx, plan, stop=False)


def _test(cx: Frame, plan: iteration.Plan, stop: bool) -> Value:
    found = cx.held("int64_t", "0" if stop else "1")
    with iteration.loop(cx, plan) as item:
        test = operators.truth(cx, item)
        cx.write(f"if ({'' if stop else '!'}({test})) {{ {found} = {int(stop)}; break; }}")
    return cx.literal("bool", found)


def _extreme(least: bool) -> None:
    op = "Lt" if least else "Gt"
    callee = min if least else max

    def several(cx: Frame, arguments: list[Any], keywords: dict[str, Value]) -> Value:
        if len(arguments) < 2 or not all(isinstance(a, Value) for a in arguments):
            raise cx.refuse(f"a call of `{callee.__name__}` with these arguments")
        key = keywords.get("key")
        if set(keywords) - {"key"}:
            raise cx.refuse(f"a call of `{callee.__name__}` with these arguments")
        listed = operators.make_tuple(cx, list(arguments), "operands") if key is not None else None
        if listed is not None:
            return extreme(cx, iteration.Fixed(listed), [], keywords)
        result = cx.site("best")
        for a in arguments:
            cx.flow(a, result)
        name = cx.declared(representation(result)) if cx.emitting else "0"
        cx.write(f"{name} = {cx.as_node(arguments[0], result)};")
        for place, a in enumerate(arguments[1:]):
            with cx.inside(place):
                test = operators.truth(cx, operators.compare(cx, op, a, Value(result, name)))
                cx.write(f"if ({test}) {name} = {cx.as_node(a, result)};")
        return Value(result, name)

    def extreme(cx: Frame, plan: iteration.Plan, rest: list[Value], keywords: dict[str, Value]) -> Value:
        from weft.plain import calls

        key = keywords.get("key")
        if left_out(cx, key, "a key"):
            key = None
        result, weights = cx.site("best"), cx.site("weight")
        found = cx.held("int64_t", "0")
        best = cx.held(_c_type(cx, result), _zero(cx, result))
        weight = cx.held(_c_type(cx, weights), _zero(cx, weights))
        with iteration.loop(cx, plan) as item:
            cx.flow(item, result)
            mine = item if key is None else calls.call_value(cx, key, [item], {})
            cx.flow(mine, weights)
            better = cx.held("int64_t", f"!{found}")
            with cx.block(f"if ({found})"):
                test = operators.compare(cx, op, mine, Value(weights, weight))
                cx.write(f"{better} = {operators.truth(cx, test)};")
            with cx.block(f"if ({better})"):
                cx.write(f"{best} = {cx.as_node(item, result)};")
                cx.write(f"{weight} = {cx.as_node(mine, weights)};")
                cx.write(f"{found} = 1;")
        default = keywords.get("default")
        with cx.block(f"if (!{found})"):
            if default is None:
                cx.raises("WP_VALUE_ERROR")
            else:
                cx.flow(default, result)
                cx.write(f"{best} = {cx.as_node(default, result)};")
        return Value(result, best)

    consumer(callee)(extreme)
    WITHOUT_ITERABLE[callee] = several


def _zero(cx: Frame, node: Any) -> str:
    from weft.plain.frame import ZEROS

    return ZEROS[representation(node)] if cx.emitting else "0"


_extreme(True)
_extreme(False)


@consumer(sorted)
def _sorted(cx: Frame, plan: iteration.Plan, rest: list[Value], keywords: dict[str, Value]) -> Value:
    from weft.plain.values import lists, sequences

    if rest or set(keywords) - {"key", "reverse"}:
        raise cx.refuse("a call of `sorted` with these arguments")
    made = sequences.filled(cx, sequences.new_list(cx, "sorted"), plan)
    lists.sorted_in_place(cx, made, keywords.get("key"), keywords.get("reverse"), is_new=True)
    return made


CLASS_METHODS[dict, "fromkeys"] = fromkeys
