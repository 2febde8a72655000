"""Lists, tuples and ranges: what they have in common."""

from __future__ import annotations

from typing import Any

from weft.plain import operators
from weft.plain.binding import Star
from weft.plain.frame import C_TYPES, Frame, Value
from weft.plain.types import representation
from weft.plain.values import as_int, exactly, register


def tuple_item(cx: Frame, owner: Value, place: int) -> Value:
    head = owner.head()
    at = operators.slots(cx, head)[place] if cx.emitting else 0
    return cx.load(head.part(place), f"&((wp_record *){owner.code})->value[{at}]")


def new_list(cx: Frame, tag: Any, capacity: str = "0", kind: str = "list") -> Value:
    head = cx.new_head(tag, (kind,), 1)
    return cx.heap(head, f"wp_list_new({cx.type_of(head)}, 0, {capacity})")


def append(cx: Frame, owner: Value, item: Value) -> None:
    part = owner.head().part()
    cx.flow(item, part)
    letter = representation(part)
    cx.write(f"wp_list_append_{letter}({owner.code}, {cx.as_node(item, part)});")


def item(cx: Frame, owner: Value, place: str) -> Value:
    """An item of a list or tuple of any length; the place is known to be in bounds."""
    part = owner.head().part()
    c_type = C_TYPES[representation(part)]
    return cx.make(part, f"(({c_type} *)((wp_list *){owner.code})->data)[{place}]")


def as_list(cx: Frame, owner: Value, tag: Any, kind: str = "list") -> Value:
    """A new list (or tuple of any length) of whatever can be run through."""
    from weft.plain import iteration

    made = new_list(cx, tag, kind=kind)
    plan = iteration.plan_value(cx, owner)
    return filled(cx, made, plan)


def filled(cx: Frame, made: Value, plan: Any) -> Value:
    from weft.plain import iteration

    held = cx.held("void *", made.code)
    with iteration.loop(cx, plan) as found:
        append(cx, Value(made.node, held), found)
    return Value(made.node, held)


def tuple_from(cx: Frame, extra: list[Any]) -> Value:
    """The tuple of arguments behind a star, some of them lists that are spread."""
    from weft.plain import iteration

    made = new_list(cx, "spread", kind="vtuple")
    for place, held in enumerate(extra):
        with cx.inside(place):
            if isinstance(held, Star):
                filled(cx, made, iteration.plan_value(cx, held.value))
            else:
                append(cx, made, held)
    return made


def with_items(cx: Frame, owner: Value, tag: Any) -> Value:
    """A tuple of fixed length as one of any length; a list or such a tuple as it is."""
    head = owner.head()
    if head.kind != "tuple":
        return owner
    return operators.make_list(cx, [tuple_item(cx, owner, place) for place in range(len(head.parts))], tag, "vtuple")


def binary(cx: Frame, op: str, a: Value, b: Value, in_place: bool) -> Value | None:
    x, y = a.head(), b.head()
    if op == "Add":
        if x.kind == "list" and in_place:
            return extend(cx, a, b)
        if x.kind == "deque" and in_place:
            from weft.plain.values import deques

            deques.extend(cx, a, [b], {})
            return a
        if x.kind == y.kind == "tuple":
            items = [tuple_item(cx, a, i) for i in range(len(x.parts))] + [
                tuple_item(cx, b, i) for i in range(len(y.parts))
            ]
            if _stays_fixed(cx, len(items)):
                return operators.make_tuple(cx, items, "joined")
        if x.kind in ("tuple", "vtuple") and y.kind in ("tuple", "vtuple"):
            a, b = with_items(cx, a, "left"), with_items(cx, b, "right")
            return _concat(cx, a, b, "vtuple")
        if x.kind == y.kind == "list":
            return _concat(cx, a, b, "list")
        return None
    if op == "Mult":
        for sequence, times in ((a, b), (b, a)):
            if sequence.head().kind in ("list", "tuple", "vtuple") and times.head().kind in ("int", "bool"):
                return _repeat(cx, sequence, times, in_place and sequence is a)
            if sequence.head().kind in ("str", "bytes") and times.head().kind in ("int", "bool"):
                return cx.scalar(sequence.head().kind, f"wp_str_repeat({sequence.code}, {times.code})")
            if sequence.head().kind == "deque" and times.head().kind in ("int", "bool"):
                raise cx.refuse("a deque times a number")
    return None


def _stays_fixed(cx: Frame, length: int) -> bool:
    """Whether a sum of tuples has a length that is part of its type: not where each one is longer than the last."""
    lengths = cx.unit.lengths.setdefault(id(cx.node), set())
    if length > 12 or (length not in lengths and len(lengths) >= 3):
        return False
    lengths.add(length)
    return True


def _concat(cx: Frame, a: Value, b: Value, kind: str) -> Value:
    head = cx.new_head("concat", (kind,), 1)
    cx.unify(head.part(), a.head().part())
    cx.unify(head.part(), b.head().part())
    return cx.heap(head, f"wp_list_concat({cx.type_of(head)}, {a.code}, {b.code})")


def _repeat(cx: Frame, sequence: Value, times: Value, in_place: bool) -> Value:
    kind = sequence.head().kind
    if in_place and kind == "list":
        cx.written(sequence.head())
        cx.write(f"wp_list_repeat_in_place({sequence.code}, {times.code});")
        return sequence
    source = with_items(cx, sequence, "items")
    head = cx.new_head("repeat", ("list" if kind == "list" else "vtuple",), 1)
    cx.unify(head.part(), source.head().part())
    return cx.heap(head, f"wp_list_repeat({cx.type_of(head)}, {source.code}, {times.code})")


def extend(cx: Frame, owner: Value, items: Value) -> Value:
    """owner.extend(items), for whatever can be run through."""
    from weft.plain import iteration

    cx.written(owner.head())
    only = items.node.only()
    if only is not None and only.kind in ("list", "vtuple"):
        cx.unify(owner.head().part(), only.part())
        cx.write(f"wp_list_extend({owner.code}, {items.code});")
    else:
        filled(cx, owner, iteration.plan_value(cx, items))
    return owner


def contains(cx: Frame, container: Value, item_wanted: Value) -> Value | None:
    """item in container, by looking at one after the other."""
    from weft.plain import calls, iteration
    from weft.plain.models import sequences as models

    head = container.head()
    if head.kind == "range" and item_wanted.kinds() <= {"int", "bool"} and len(item_wanted.node) == 1:
        r = f"((wp_range *){container.code})"
        return cx.scalar("bool", f"wp_range_has({r}->start, {r}->stop, {r}->step, {item_wanted.code})")
    if (
        head.kind in ("list", "vtuple")
        and not operators.holds_objects(head.part())
        and not operators.holds_objects(item_wanted.node)
    ):
        part = head.part()
        if part.kinds() == item_wanted.kinds() and part.kinds() in ({"int"}, {"str"}):
            return cx.scalar(
                "bool", f"wp_list_has_{'i' if 'int' in part.kinds() else 's'}({container.code}, {item_wanted.code})"
            )
        found = cx.scalar("int", f"wp_list_find({container.code}, {cx.tagged(item_wanted)}, 0, INT64_MAX)", check=True)
        return cx.scalar("bool", f"{found.code} >= 0")
    if head.kind in ("list", "vtuple", "tuple", "deque", "range", "generator", "view", "obj"):
        del iteration
        return calls.call_function(cx, models.contains, [container, item_wanted])
    return None


@register("tuple vtuple list", "index")
def index(cx: Frame, owner: Value, arguments: list[Any], keywords: dict[str, Value]) -> Value:
    from weft.plain import calls
    from weft.plain.models import sequences as models

    exactly(cx, "index", arguments, keywords, 1, 3)
    return calls.call_function(cx, models.index, [owner, *arguments])


@register("tuple vtuple list deque", "count")
def count(cx: Frame, owner: Value, arguments: list[Any], keywords: dict[str, Value]) -> Value:
    from weft.plain import calls
    from weft.plain.models import sequences as models

    exactly(cx, "count", arguments, keywords, 1)
    return calls.call_function(cx, models.count, [owner, *arguments])


@register("list tuple vtuple str dict defaultdict Counter OrderedDict", "__getitem__")
def get_item(cx: Frame, owner: Value, arguments: list[Any], keywords: dict[str, Value]) -> Value:
    from weft.plain import subscripts

    exactly(cx, "__getitem__", arguments, keywords, 1)
    return subscripts.get(cx, owner, arguments[0])


@register("list tuple vtuple str bytes set frozenset dict defaultdict Counter OrderedDict deque", "__len__")
def get_length(cx: Frame, owner: Value, arguments: list[Any], keywords: dict[str, Value]) -> Value | None:
    from weft.plain.values.lengths import length

    exactly(cx, "__len__", arguments, keywords, 0)
    return length(cx, owner)


@register("tuple", "_asdict")
def as_dict(cx: Frame, owner: Value, arguments: list[Any], keywords: dict[str, Value]) -> Value:
    from weft.plain.values import dicts

    cls = owner.head().key[2]
    if cls is None or arguments or keywords:
        raise cx.refuse("a call of `_asdict`")
    return dicts.from_names(cx, {name: tuple_item(cx, owner, place) for place, name in enumerate(cls._fields)})


@register("tuple", "_replace")
def replaced(cx: Frame, owner: Value, arguments: list[Any], keywords: dict[str, Value]) -> Value:
    head = owner.head()
    cls = head.key[2]
    if cls is None or arguments or set(keywords) - set(cls._fields):
        raise cx.refuse("a call of `_replace`")
    items = [
        keywords[name] if name in keywords else tuple_item(cx, owner, place) for place, name in enumerate(cls._fields)
    ]
    return operators.make_tuple(cx, items, "replaced", cls)


def slice_of(cx: Frame, owner: Value, bounds: tuple[Value, Value, Value]) -> Value | None:
    """owner[start:stop:step]"""
    head = owner.head()
    if head.kind == "tuple":
        whole = _constant_slice(bounds)
        if whole is not None:
            places = range(len(head.parts))[whole]
            return operators.make_tuple(cx, [tuple_item(cx, owner, place) for place in places], "slice")
        owner = with_items(cx, owner, "items")
        head = owner.head()
    b = slice_bounds(cx, bounds, f"((wp_list *){owner.code})->length")
    made = cx.new_head("slice", (head.kind,), 1)
    cx.unify(made.part(), head.part())
    return cx.heap(made, f"wp_list_slice({cx.type_of(made)}, {owner.code}, {b}[0], {b}[1], {b}[2])")


def _constant_slice(bounds: tuple[Value, Value, Value]) -> slice | None:
    found: list[int | None] = []
    for part in bounds:
        if part.kinds() == {"none"}:
            found.append(None)
        elif part.kinds() == {"int"} and part.code.startswith("(") and part.code.endswith("LL)"):
            found.append(int(part.code[1:-3]))
        else:
            return None
    return slice(*found)


def range_slice(cx: Frame, owner: Value, bounds: tuple[Value, Value, Value]) -> Value:
    """A slice of a range: a range."""
    r, line = f"((wp_range *){owner.code})", cx.line
    n = cx.temporary("i", f"wp_range_length({r}->start, {r}->stop, {r}->step)")
    b = slice_bounds(cx, bounds, n)
    first, last = (f"wp_add_ii({r}->start, wp_mul_ii({b}[{place}], {r}->step, {line}), {line})" for place in range(2))
    return cx.scalar("range", f"wp_range_new({first}, {last}, wp_mul_ii({b}[2], {r}->step, {line}))")


def slice_bounds(cx: Frame, bounds: tuple[Value, Value, Value], length: str) -> str:
    """The C array of start, stop and step for a length, as slice.indices gives them."""
    if not cx.emitting:
        return "0"
    name = cx.name()
    cx.write(f"int64_t {name}[3];")
    for part in bounds:
        if part.kinds() - {"int", "bool", "none", "big"}:
            raise cx.refuse(f"a slice bound of type {part.node!r}", "use an int")
        if "big" in part.kinds():
            with cx.block(f"if ({cx.tagged(part)}.tag == WP_PTR)"):
                cx.deoptimise("a slice bound beyond 64 bits")
    parts = ", ".join(cx.tagged(part) for part in bounds)
    cx.write(f"wp_slice_bounds({parts}, {length}, {name}, {cx.line});")
    cx.check()
    return name


def integer_index(cx: Frame, index: Value) -> Value:
    return as_int(cx, index, "an index")
