"""Items and slices.  In: an owner and an index; out: the item, or its store or deletion."""

from __future__ import annotations

import enum

from weft.plain.frame import Frame, Value
from weft.plain.types import DICTS, Node, representation
from weft.plain.values import as_int

#: A value, the three parts of a slice, or None for an ellipsis.
Part = Value | tuple[Value, Value, Value] | None


class Several:
    """The parts of an index `i, j:k`: of an array one for each axis, of anything else a tuple."""

    def __init__(self, parts: list[Part]) -> None:
        self.parts = parts

    def as_tuple(self, cx: Frame) -> Value:
        from weft.plain.operators import make_tuple

        values = [part for part in self.parts if isinstance(part, Value)]
        if len(values) < len(self.parts):
            raise cx.refuse("a slice in an index of something that is no array")
        return make_tuple(cx, values, "index")


Index = Value | tuple[Value, Value, Value] | Several


def get(cx: Frame, owner: Value, index: Index) -> Value:
    return cx.cases([owner], lambda o: _get(cx, o, index), "item")


def _get(cx: Frame, owner: Value, index: Index) -> Value | None:
    from weft.plain import attributes, calls, classes
    from weft.plain.values import arrays, bytearrays, dicts, sequences

    head = owner.head()
    kind = head.kind
    if kind == "ndarray":
        return arrays.get_item(cx, owner, index)
    if isinstance(index, Several):
        index = index.as_tuple(cx)
    if isinstance(index, tuple):
        return _slice(cx, owner, index)
    if kind in DICTS:
        return dicts.get_item(cx, owner, index)
    if kind in ("list", "vtuple"):
        place = as_int(cx, index, "an index")
        if kind == "vtuple":
            letter = representation(head.part())
            length = f"((wp_list *){owner.code})->length"
            at = cx.temporary("i", f"wp_index({place.code}, {length})")
            with cx.block(f"if (WP_UNLIKELY((uint64_t){at} >= (uint64_t){length}))"):
                cx.raises("WP_INDEX_ERROR", "tuple index out of range")
            return cx.make(head.part(), f"wp_list_get_{letter}({owner.code}, {place.code}, {cx.line})", check=True)
        return cx.make(
            head.part(), f"wp_list_get_{representation(head.part())}({owner.code}, {place.code}, {cx.line})", check=True
        )
    if kind == "tuple":
        return _tuple_item(cx, owner, index)
    if kind == "str":
        place = as_int(cx, index, "an index")
        return cx.scalar("str", f"wp_str_item({owner.code}, {place.code}, {cx.line})", check=True)
    if kind == "bytes":
        place = as_int(cx, index, "an index")
        return cx.scalar("int", f"wp_bytes_item({owner.code}, {place.code}, {cx.line})", check=True)
    if kind == "deque":
        place = as_int(cx, index, "an index")
        at = cx.temporary("i", f"wp_index({place.code}, wp_deque_length({owner.code}))")
        slot = cx.temporary("p", f"wp_deque_at({owner.code}, {at}, {cx.line})")
        cx.check()
        return cx.load(head.part(), slot)
    if kind == "range":
        place = as_int(cx, index, "an index")
        r = f"((wp_range *){owner.code})"
        n = cx.temporary("i", f"wp_range_length({r}->start, {r}->stop, {r}->step)")
        at = cx.temporary("i", f"wp_index({place.code}, {n})")
        with cx.block(f"if (WP_UNLIKELY((uint64_t){at} >= (uint64_t){n}))"):
            cx.raises("WP_INDEX_ERROR", "range object index out of range")
        return cx.scalar("int", f"{r}->start + {at} * {r}->step")
    if kind == "obj":
        function = attributes.method_of(cx, head, "__getitem__")
        if function is not None:
            return calls.call_function(cx, function, [owner, index])
        return None
    if kind in ("none", "int", "float", "bool", "big"):
        return None
    if kind == "bytearray":
        return bytearrays.get(cx, owner, index)
    if kind == "py":
        from weft.plain.library import callbacks

        return callbacks.special_method(cx, owner, "__getitem__", [index])
    if kind == "const" and isinstance(head.value, enum.EnumMeta):
        member = classes.member_by_name(cx, head.value, index)
        if member is not None:
            return member
    del sequences
    raise cx.refuse(f"an item of a value of type {head!r}")


def _tuple_item(cx: Frame, owner: Value, index: Value) -> Value | None:
    from weft.plain.values import sequences

    head = owner.head()
    count = len(head.parts)
    code = index.code
    if index.kinds() == {"int"} and code.startswith("(") and code.endswith("LL)"):
        place = int(code[1:-3])
        if not -count <= place < count:
            cx.raises("WP_INDEX_ERROR", "tuple index out of range")
            return Value(Node(), "0")
        item = sequences.tuple_item(cx, owner, place % count)
        if head.value:  # a constant of strings
            item.text = head.value[place % count]
        return item
    place_value = as_int(cx, index, "an index")
    at = cx.temporary("i", f"wp_index({place_value.code}, {count})")
    result = cx.site("tuple item")
    name = cx.declared(representation(result)) if cx.emitting else "0"
    for place in range(count):
        with cx.block(f"{'else ' if place else ''}if ({at} == {place})"):
            item = sequences.tuple_item(cx, owner, place)
            cx.flow(item, result)
            cx.write(f"{name} = {cx.as_node(item, result)};")
    with cx.block("else" if count else "if (1)"):
        cx.raises("WP_INDEX_ERROR", "tuple index out of range")
    return Value(result, name)


def _slice(cx: Frame, owner: Value, bounds: tuple[Value, Value, Value]) -> Value | None:
    from weft.plain.values import sequences

    kind = owner.head().kind
    if kind == "bytearray":
        b = sequences.slice_bounds(cx, bounds, f"((wp_list *){owner.code})->length")
        return cx.heap(owner.head(), f"wp_list_slice(&wp_bytearray_type, {owner.code}, {b}[0], {b}[1], {b}[2])")
    if kind in ("list", "tuple", "vtuple"):
        return sequences.slice_of(cx, owner, bounds)
    if kind in ("str", "bytes"):
        b = sequences.slice_bounds(cx, bounds, f"((wp_str *){owner.code})->length")
        return cx.scalar(kind, f"wp_str_slice({owner.code}, {b}[0], {b}[1], {b}[2])")
    if kind == "range":
        return sequences.range_slice(cx, owner, bounds)
    if kind == "obj":
        raise cx.refuse("a slice of an object with `__getitem__`")
    if kind in ("none", "int", "float", "bool", "big", "complex"):
        return None
    raise cx.refuse(f"a slice of a value of type {owner.head()!r}")


def put(cx: Frame, owner: Value, index: Index, new: Value) -> None:
    cx.cases([owner], lambda o: _put(cx, o, index, new), "store")


def _put(cx: Frame, owner: Value, index: Index, new: Value) -> Value | None:
    from weft.plain import attributes, calls
    from weft.plain.values import arrays, bytearrays, dicts, sequences

    head = owner.head()
    kind = head.kind
    if kind == "ndarray":
        return arrays.put_item(cx, owner, index, new)
    if isinstance(index, Several):
        index = index.as_tuple(cx)
    if kind == "bytearray":
        if isinstance(index, tuple):
            bytearrays.put_slice(cx, owner, index, new)
        else:
            bytearrays.put(cx, owner, index, new)
        return cx.none
    if isinstance(index, tuple):
        if kind != "list":
            raise cx.refuse(f"a store into a slice of a value of type {head!r}")
        items = new
        only = new.node.only()
        if only is None or only.kind not in ("list", "vtuple"):
            items = sequences.as_list(cx, new, "stored")
        cx.unify(head.part(), items.head().part())
        cx.written(head)
        b = sequences.slice_bounds(cx, index, f"((wp_list *){owner.code})->length")
        if index[2].kinds() == {"none"}:
            cx.write(f"wp_list_set_slice({owner.code}, {b}[0], {b}[1], {items.code}, {cx.line});")
        else:
            cx.write(f"wp_list_set_extended({owner.code}, {b}[0], {b}[1], {b}[2], {items.code}, {cx.line});")
        cx.check()
        return cx.none
    if kind in DICTS:
        dicts.put(cx, owner, index, new)
        return cx.none
    if kind == "list":
        place = as_int(cx, index, "an index")
        cx.flow(new, head.part())
        cx.written(head)
        letter = representation(head.part())
        cx.write(f"wp_list_set_{letter}({owner.code}, {place.code}, {cx.as_node(new, head.part())}, {cx.line});")
        cx.check()
        return cx.none
    if kind == "deque":
        place = as_int(cx, index, "an index")
        cx.flow(new, head.part())
        cx.written(head)
        at = cx.temporary("i", f"wp_index({place.code}, wp_deque_length({owner.code}))")
        slot = cx.temporary("p", f"wp_deque_at({owner.code}, {at}, {cx.line})")
        cx.check()
        cx.store(new, head.part(), slot)
        return cx.none
    if kind == "obj":
        function = attributes.method_of(cx, head, "__setitem__")
        if function is not None:
            calls.call_function(cx, function, [owner, index, new])
            return cx.none
    if kind in ("tuple", "vtuple", "str", "bytes", "none", "range", "int", "float", "bool", "obj"):
        return None
    raise cx.refuse(f"a store into an item of a value of type {head!r}")


def delete(cx: Frame, owner: Value, index: Index) -> None:
    cx.cases([owner], lambda o: _delete(cx, o, index), "delete")


def _delete(cx: Frame, owner: Value, index: Index) -> Value | None:
    from weft.plain import attributes, calls
    from weft.plain.values import deques, dicts, sequences

    head = owner.head()
    if isinstance(index, Several):
        index = index.as_tuple(cx)
    if isinstance(index, tuple):
        if head.kind != "list":
            raise cx.refuse(f"`del` of a slice of a value of type {head!r}")
        cx.written(head)
        b = sequences.slice_bounds(cx, index, f"((wp_list *){owner.code})->length")
        cx.write(f"wp_list_delete_slice({owner.code}, {b}[0], {b}[1], {b}[2]);")
        return cx.none
    if head.kind in DICTS:
        dicts.delete(cx, owner, index)
        return cx.none
    if head.kind == "list":
        cx.written(head)
        place = as_int(cx, index, "an index")
        at = cx.temporary("i", f"wp_index({place.code}, ((wp_list *){owner.code})->length)")
        with cx.block(f"if (WP_UNLIKELY((uint64_t){at} >= (uint64_t)((wp_list *){owner.code})->length))"):
            cx.raises("WP_INDEX_ERROR", "list assignment index out of range")
        cx.write(f"wp_list_remove_at({owner.code}, {at}, {cx.line});")
        return cx.none
    if head.kind == "deque":
        deques.delete(cx, owner, index)
        return cx.none
    if head.kind == "obj":
        function = attributes.method_of(cx, head, "__delitem__")
        if function is not None:
            calls.call_function(cx, function, [owner, index])
            return cx.none
    raise cx.refuse(f"`del` of an item of a value of type {head!r}")


def unpacked(cx: Frame, owner: Value, count: int, star: int | None = None) -> list[Value]:
    """a, b = owner; `star`: the place of a starred name, which gets a list of the rest."""
    from weft.plain.values import sequences

    nodes = [cx.site(("unpack", place)) for place in range(count)]
    names = [cx.declared(representation(node)) if cx.emitting else "0" for node in nodes]

    def one(o: Value) -> Value | None:
        head = o.head()
        items: list[Value]
        if head.kind == "tuple" and star is None:
            if len(head.parts) != count:
                cx.raises("WP_VALUE_ERROR", _wrong_count(len(head.parts), count))
                return cx.none
            items = [sequences.tuple_item(cx, o, place) for place in range(count)]
        elif head.kind in ("none", "int", "float", "bool"):
            return None
        else:
            whole = o if head.kind in ("list", "vtuple") else sequences.as_list(cx, o, "unpacked")
            items = _from_list(cx, whole, count, star)
        for item, node, name in zip(items, nodes, names):
            cx.flow(item, node)
            cx.write(f"{name} = {cx.as_node(item, node)};")
        return cx.none

    cx.cases([owner], one, "unpack")
    return [Value(node, name) for node, name in zip(nodes, names)]


def _wrong_count(found: int, count: int) -> str:
    if found > count:
        return f"too many values to unpack (expected {count})"
    return f"not enough values to unpack (expected {count}, got {found})"


def _from_list(cx: Frame, whole: Value, count: int, star: int | None) -> list[Value]:
    from weft.plain.values import sequences

    length = f"((wp_list *){whole.code})->length"
    wrong = f"{length} != {count}" if star is None else f"{length} < {count - 1}"
    with cx.block(f"if (WP_UNLIKELY({wrong}))"):
        cx.raises("WP_VALUE_ERROR")
    items = []
    for place in range(count):
        if star is None or place < star:
            items.append(sequences.item(cx, whole, str(place)))
        elif place == star:
            head = cx.new_head("rest", ("list",), 1)
            cx.unify(head.part(), whole.head().part())
            items.append(
                cx.heap(
                    head, f"wp_list_slice({cx.type_of(head)}, {whole.code}, {place}, {length} - {count - 1 - star}, 1)"
                )
            )
        else:
            items.append(sequences.item(cx, whole, f"{length} - {count - place}"))
    return items
