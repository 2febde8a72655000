"""Sets and frozensets.  In: method calls and operators; out: calls of the run time, whose tables have CPython's
order."""

from __future__ import annotations

from typing import Any

from weft.plain.binding import Star
from weft.plain.frame import Frame, Value
from weft.plain.types import DICTS, representation
from weft.plain.values import exactly, register
from weft.plain.values.dicts import hashable


def _letter(owner: Value) -> str:
    return representation(owner.head().part())


def add(cx: Frame, owner: Value, item: Value) -> None:
    hashable(cx, item)
    part = owner.head().part()
    cx.flow(item, part)
    cx.write(f"wp_set_add_{_letter(owner)}({owner.code}, {cx.as_node(item, part)});")
    cx.check()


def contains(cx: Frame, owner: Value, item: Value) -> Value:
    hashable(cx, item)
    part = owner.head().part()
    cx.flow(item, part)
    return cx.scalar("bool", f"wp_set_has_{_letter(owner)}({owner.code}, {cx.as_node(item, part)})", check=True)


def new_set(cx: Frame, tag: Any, kind: str = "set") -> Value:
    head = cx.new_head(tag, (kind,), 1)
    return cx.heap(head, f"wp_set_new({cx.type_of(head)})")


def updated(cx: Frame, owner: Value, source: Value) -> Value:
    """owner.update(source) for whatever can be run through; sets and dicts are merged as CPython does, whose order it
    is."""
    from weft.plain import iteration

    def one(s: Value) -> Value:
        kind = s.head().kind
        if kind in ("set", "frozenset"):
            cx.unify(owner.head().part(), s.head().part())
            cx.write(f"wp_set_update({owner.code}, {s.code});")
        elif kind in DICTS:
            cx.unify(owner.head().part(), s.head().part(0))
            cx.write(f"wp_set_update_dict({owner.code}, {s.code});")
        else:
            with iteration.loop(cx, iteration.plan_value(cx, s)) as item:
                add(cx, owner, item)
        cx.check()
        return cx.none

    cx.cases([source], one, "update")
    return owner


def as_set(cx: Frame, source: Value, tag: Any) -> Value:
    """The operand of a method as a set."""
    only = source.node.only()
    if only is not None and only.kind in ("set", "frozenset"):
        return source
    return updated(cx, new_set(cx, tag), source)


_OPERATORS = {"BitOr": "union", "BitAnd": "intersection", "Sub": "difference", "BitXor": "symmetric"}
_IN_PLACE = {
    "BitOr": "update",
    "BitAnd": "intersection_update",
    "Sub": "difference_update",
    "BitXor": "symmetric_update",
}


def binary(cx: Frame, op: str, a: Value, b: Value, in_place: bool) -> Value | None:
    if op not in _OPERATORS:
        return None
    cx.unify(a.head().part(), b.head().part())
    if in_place and a.head().kind == "set":
        cx.written(a.head())
        cx.write(f"wp_set_{_IN_PLACE[op]}({a.code}, {b.code});")
        cx.check()
        return a
    head = cx.new_head("made", (a.head().kind,), 1)
    cx.unify(head.part(), a.head().part())
    return cx.heap(head, f"wp_set_{_OPERATORS[op]}({cx.type_of(head)}, {a.code}, {b.code})", check=True)


def ordered(cx: Frame, op: str, a: Value, b: Value) -> Value:
    cx.unify(a.head().part(), b.head().part())
    one, other = (a, b) if op in ("Lt", "LtE") else (b, a)
    test = f"wp_set_subset({one.code}, {other.code})"
    if op in ("Lt", "Gt"):
        test += f" && wp_set_length({one.code}) < wp_set_length({other.code})"
    return cx.scalar("bool", test)


@register("set", "add")
def add_method(cx: Frame, owner: Value, arguments: list[Any], keywords: dict[str, Value]) -> Value:
    exactly(cx, "set.add", arguments, keywords, 1)
    cx.written(owner.head())
    add(cx, owner, arguments[0])
    return cx.none


@register("set", "discard")
def discard(cx: Frame, owner: Value, arguments: list[Any], keywords: dict[str, Value]) -> Value:
    exactly(cx, "set.discard", arguments, keywords, 1)
    _removed(cx, owner, arguments[0])
    return cx.none


def _removed(cx: Frame, owner: Value, item: Value) -> str:
    hashable(cx, item)
    part = owner.head().part()
    cx.flow(item, part)
    cx.written(owner.head())
    there = cx.temporary("b", f"wp_set_discard_{_letter(owner)}({owner.code}, {cx.as_node(item, part)})")
    cx.check()
    return there


@register("set", "remove")
def remove(cx: Frame, owner: Value, arguments: list[Any], keywords: dict[str, Value]) -> Value:
    exactly(cx, "set.remove", arguments, keywords, 1)
    there = _removed(cx, owner, arguments[0])
    with cx.block(f"if (WP_UNLIKELY(!{there}))"):
        cx.write(f"wp_raise_key({cx.tagged(arguments[0])}, {cx.line});")
        cx.check()
    return cx.none


@register("set", "pop")
def pop(cx: Frame, owner: Value, arguments: list[Any], keywords: dict[str, Value]) -> Value:
    exactly(cx, "set.pop", arguments, keywords, 0)
    cx.written(owner.head())
    at = cx.temporary("i", f"wp_set_pop_place({owner.code})")
    with cx.block(f"if (WP_UNLIKELY({at} < 0))"):
        cx.raises("WP_KEY_ERROR", "pop from an empty set")
    item = cx.load(owner.head().part(), f"wp_set_key_at({owner.code}, {at})")
    cx.write(f"wp_set_remove_at({owner.code}, {at});")
    return item


@register("set", "clear")
def clear(cx: Frame, owner: Value, arguments: list[Any], keywords: dict[str, Value]) -> Value:
    exactly(cx, "set.clear", arguments, keywords, 0)
    cx.written(owner.head())
    cx.write(f"wp_set_clear({owner.code});")
    return cx.none


@register("set frozenset", "copy")
def copy(cx: Frame, owner: Value, arguments: list[Any], keywords: dict[str, Value]) -> Value:
    exactly(cx, "set.copy", arguments, keywords, 0)
    return owner if owner.head().kind == "frozenset" else _copied(cx, owner)


def _copied(cx: Frame, owner: Value) -> Value:
    head = cx.new_head("copy", ("set",), 1)
    cx.unify(head.part(), owner.head().part())
    return cx.heap(head, f"wp_set_copy({cx.type_of(head)}, {owner.code})")


@register("set", "update")
def update(cx: Frame, owner: Value, arguments: list[Any], keywords: dict[str, Value]) -> Value:
    exactly(cx, "set.update", [a for a in arguments if isinstance(a, Value)], keywords, 0, 8)
    cx.written(owner.head())
    for place, source in enumerate(arguments):
        with cx.inside(place):
            if isinstance(source, Star):
                _with_rows(cx, "BitOr", owner, source.value)
            else:
                updated(cx, owner, source)
    return cx.none


def _is_one(arguments: list[Any]) -> bool:
    return len(arguments) == 1 and isinstance(arguments[0], Value)


def _of_several(cx: Frame, op: str, owner: Value, arguments: list[Any]) -> Value:
    """owner.union(a, *rows), owner.intersection(a, *rows): one after the other."""
    found = _copied(cx, owner)
    for place, given in enumerate(arguments):
        with cx.inside(place):
            if isinstance(given, Star):
                found = _with_rows(cx, op, found, given.value)
            elif op == "BitOr":
                found = updated(cx, found, given)
            else:
                found = binary(cx, op, found, as_set(cx, given, "other"), False) or found
    return found


def _with_rows(cx: Frame, op: str, found: Value, rows: Value) -> Value:
    from weft.plain import calls
    from weft.plain.models import sequences as models
    from weft.plain.values import sequences

    listed = sequences.as_list(cx, rows, "rows")
    if op == "BitAnd" and any(head.kind not in ("set", "frozenset") for head in listed.head().part()):
        raise cx.refuse("a call of `set.intersection` with what is no set", "make sets of them")
    return calls.call_function(cx, models.united if op == "BitOr" else models.met, [found, listed])


def _register_operations() -> None:
    for name, op in (
        ("union", "BitOr"),
        ("intersection", "BitAnd"),
        ("difference", "Sub"),
        ("symmetric_difference", "BitXor"),
    ):

        def operation(
            cx: Frame, owner: Value, arguments: list[Any], keywords: dict[str, Value], op: str = op, name: str = name
        ) -> Value | None:
            if op in ("BitOr", "BitAnd") and owner.head().kind == "set" and not _is_one(arguments) and not keywords:
                return _of_several(cx, op, owner, arguments)
            exactly(cx, f"set.{name}", arguments, keywords, 1)
            only = arguments[0].node.only()
            if only is None or only.kind not in ("set", "frozenset"):
                # With another iterable CPython goes item by item, in another order of insertion.
                if op == "BitOr":
                    made = new_set(cx, "copy", owner.head().kind)
                    with cx.inside("copy"):
                        updated(cx, made, owner)
                    return updated(cx, made, arguments[0])
                raise cx.refuse(f"`set.{name}` with an argument of type {arguments[0].node!r}", "make it a set first")
            return binary(cx, op, owner, arguments[0], False)

        register("set frozenset", name)(operation)
    for name, op in (
        ("intersection_update", "BitAnd"),
        ("difference_update", "Sub"),
        ("symmetric_difference_update", "BitXor"),
    ):

        def in_place(
            cx: Frame, owner: Value, arguments: list[Any], keywords: dict[str, Value], op: str = op, name: str = name
        ) -> Value:
            exactly(cx, f"set.{name}", arguments, keywords, 1)
            only = arguments[0].node.only()
            if only is None or only.kind not in ("set", "frozenset"):
                raise cx.refuse(f"`set.{name}` with an argument of type {arguments[0].node!r}", "make it a set first")
            binary(cx, op, owner, arguments[0], True)
            return cx.none

        register("set", name)(in_place)
    for name, op in (("issubset", "LtE"), ("issuperset", "GtE")):

        def test(
            cx: Frame, owner: Value, arguments: list[Any], keywords: dict[str, Value], op: str = op, name: str = name
        ) -> Value:
            exactly(cx, f"set.{name}", arguments, keywords, 1)
            return ordered(cx, op, owner, as_set(cx, arguments[0], "other"))

        register("set frozenset", name)(test)


_register_operations()


@register("set frozenset", "isdisjoint")
def isdisjoint(cx: Frame, owner: Value, arguments: list[Any], keywords: dict[str, Value]) -> Value:
    exactly(cx, "set.isdisjoint", arguments, keywords, 1)
    other = as_set(cx, arguments[0], "other")
    cx.unify(owner.head().part(), other.head().part())
    return cx.scalar("bool", f"wp_set_disjoint({owner.code}, {other.code})")
