"""Lists.  In: method calls on a list; out: inline code on its items, or calls of the run time."""

from __future__ import annotations

import ast
import types
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any, Final

from weft.plain import operators
from weft.plain.frame import C_TYPES, Frame, Value
from weft.plain.types import Head, Node, representation
from weft.plain.values import as_int, exactly, given, left_out, register, sequences


def _address(cx: Frame, owner: Value, place: str) -> str:
    if not cx.emitting:
        return "0"
    c_type = C_TYPES[representation(owner.head().part())]
    return f"&(({c_type} *)((wp_list *){owner.code})->data)[{place}]"


@register("list", "append")
def append(cx: Frame, owner: Value, arguments: list[Any], keywords: dict[str, Value]) -> Value:
    exactly(cx, "list.append", arguments, keywords, 1)
    cx.written(owner.head())
    sequences.append(cx, owner, arguments[0])
    return cx.none


@register("list", "extend")
def extend(cx: Frame, owner: Value, arguments: list[Any], keywords: dict[str, Value]) -> Value:
    exactly(cx, "list.extend", arguments, keywords, 1)
    sequences.extend(cx, owner, arguments[0])
    return cx.none


@register("list", "insert")
def insert(cx: Frame, owner: Value, arguments: list[Any], keywords: dict[str, Value]) -> Value:
    exactly(cx, "list.insert", arguments, keywords, 2)
    place = as_int(cx, arguments[0], "an index")
    part = owner.head().part()
    cx.flow(arguments[1], part)
    cx.written(owner.head())
    at = cx.temporary("i", f"wp_list_clamp({owner.code}, {place.code})")
    cx.write(f"wp_list_insert_room({owner.code}, {at});")
    cx.store(arguments[1], part, _address(cx, owner, at))
    return cx.none


@register("list", "pop")
def pop(cx: Frame, owner: Value, arguments: list[Any], keywords: dict[str, Value]) -> Value:
    exactly(cx, "list.pop", arguments, keywords, 0, 1)
    cx.written(owner.head())
    place = as_int(cx, arguments[0], "an index").code if arguments else "-1"
    at = cx.temporary("i", f"wp_list_pop_index({owner.code}, {place}, {cx.line})")
    cx.check()
    item = cx.load(owner.head().part(), _address(cx, owner, at))
    if arguments:
        cx.write(f"wp_list_remove_at({owner.code}, {at}, {cx.line});")
    else:
        cx.write(f"((wp_list *){owner.code})->length--;")
    return item


@register("list", "remove")
def remove(cx: Frame, owner: Value, arguments: list[Any], keywords: dict[str, Value]) -> Value:
    from weft.plain import calls
    from weft.plain.models import sequences as models

    exactly(cx, "list.remove", arguments, keywords, 1)
    calls.call_function(cx, models.remove, [owner, arguments[0]])
    return cx.none


@register("list", "clear")
def clear(cx: Frame, owner: Value, arguments: list[Any], keywords: dict[str, Value]) -> Value:
    exactly(cx, "list.clear", arguments, keywords, 0)
    cx.written(owner.head())
    cx.write(f"((wp_list *){owner.code})->length = 0;")
    return cx.none


@register("list", "reverse")
def reverse(cx: Frame, owner: Value, arguments: list[Any], keywords: dict[str, Value]) -> Value:
    exactly(cx, "list.reverse", arguments, keywords, 0)
    cx.written(owner.head())
    cx.write(f"wp_list_reverse({owner.code});")
    return cx.none


@register("list", "copy")
def copy(cx: Frame, owner: Value, arguments: list[Any], keywords: dict[str, Value]) -> Value | None:
    exactly(cx, "list.copy", arguments, keywords, 0)
    return sequences.slice_of(cx, owner, (cx.none, cx.none, cx.none))


@register("list", "sort")
def sort(cx: Frame, owner: Value, arguments: list[Any], keywords: dict[str, Value]) -> Value:
    key, reverse_order = given(cx, "list.sort", [], keywords, "key reverse")
    if arguments:
        raise cx.refuse("a call of `list.sort` with positional arguments")
    sorted_in_place(cx, owner, key, reverse_order)
    return cx.none


def sorted_in_place(
    cx: Frame, owner: Value, key: Value | None, reverse_order: Value | None, is_new: bool = False
) -> None:
    """owner.sort(key=key, reverse=reverse); of a new list nobody sees that it is being sorted."""
    from weft.plain import calls, iteration
    from weft.plain.models import sequences as models

    cx.written(owner.head())
    if reverse_order is not None and not reverse_order.kinds() <= {"int", "bool"}:
        raise cx.refuse(f"`reverse` of type {reverse_order.node!r}", "use a bool")
    backwards = operators.truth(cx, reverse_order) if reverse_order is not None else "0"
    if left_out(cx, key, "a key"):
        key = None
    part = owner.head().part()
    if key is None and not operators.holds_objects(part) and "obj" not in part.kinds():
        cx.write(f"wp_list_sort({owner.code}, {backwards}, {cx.line});")
        cx.check()
        return
    flag = cx.literal("bool", backwards)
    if key is None:
        keys = sequences.slice_of(cx, owner, (cx.none, cx.none, cx.none))
        assert keys is not None
    else:
        made = sequences.new_list(cx, "keys")
        with nullcontext(owner) if is_new else _shown_empty(cx, owner) as items:
            keys = sequences.filled(cx, made, iteration.Mapped(key, [iteration.Items(items)]))
    compared = keys.head().part()
    if not operators.holds_objects(compared) and "obj" not in compared.kinds():
        calls.call_function(cx, models.sort_by, [owner, keys, flag])
        return
    seen = cx.literal("bool", "1" if _comparison_is_seen(cx, compared) else "0")
    calls.call_function(cx, models.sort_objects_by, [owner, keys, flag, seen])


@contextmanager
def _shown_empty(cx: Frame, owner: Value) -> Iterator[Value]:
    """The items of a list that is empty meanwhile, as Python shows it to the function that finds the keys.

    Where the function fills the list, or raises, Python runs the call: it puts the items back."""
    items = sequences.slice_of(cx, owner, (cx.none, cx.none, cx.none))
    assert items is not None
    length = f"((wp_list *){cx.held('void *', owner.code)})->length"
    count = cx.held("int64_t", length)
    handlers = cx.held("int64_t", "wp_handlers")
    cx.write(f"{length} = 0; wp_handlers = 0;")
    yield items
    cx.write(f'if ({length} != 0) wp_deopt("a list changed while it is sorted", {cx.line});')
    cx.write(f"{length} = {count}; wp_handlers = {handlers};")


#: Functions without an effect that methods of comparison call.
_LOOKS: Final = {"isinstance", "len", "abs", "type", "str", "int", "float", "min", "max"}
_EFFECTS: Final = (ast.Nonlocal, ast.Global, ast.Yield, ast.YieldFrom, ast.Import, ast.ImportFrom)


def _comparison_is_seen(cx: Frame, node: Node, known: frozenset[int] = frozenset()) -> bool:
    """Whether `<` of values of a type may do more than compare: somebody may count comparisons."""
    from weft.plain import generated

    for head in node:
        fields = generated.fields_of(head.key[1].cls, "__lt__") if head.kind == "obj" else None
        if fields is not None and id(head) not in known:
            parts = [head.key[1].attribute(cx.unit.lattice, name) for name in fields]
            if any(_comparison_is_seen(cx, part, known | {id(head)}) for part in parts):
                return True
        elif fields is None and head.kind == "obj":
            if not all(tree is not None and _only_looks(tree) for tree in _comparisons(cx, head)):
                return True
        elif head.parts and id(head) not in known:
            if any(_comparison_is_seen(cx, part, known | {id(head)}) for part in head.parts):
                return True
    return False


def _comparisons(cx: Frame, head: Head) -> list[ast.FunctionDef | None]:
    """The functions that compare objects of a class; None for one that cannot be read."""
    from weft.plain import attributes
    from weft.plain.models.sequences import Compared
    from weft.plain.unit import function_info

    info = head.key[1]
    if info.cls is not Compared:
        function = attributes.method_of(cx, head, "__lt__")
        return [] if function is None else [function_info(cx.unit, function, cx.span()).tree]
    found: list[ast.FunctionDef | None] = []
    for given_head in info.attribute(cx.unit.lattice, "compare"):
        if given_head.kind == "closure":
            found.append(given_head.value[0].tree)
        elif isinstance(given_head.value, types.FunctionType):
            found.append(function_info(cx.unit, given_head.value, cx.span()).tree)
        else:
            found.append(None)
    return found


def _only_looks(tree: ast.FunctionDef) -> bool:
    for node in ast.walk(tree):
        if isinstance(node, _EFFECTS):
            return False
        if isinstance(node, (ast.Attribute, ast.Subscript)) and not isinstance(node.ctx, ast.Load):
            return False
        if isinstance(node, ast.Call) and not (isinstance(node.func, ast.Name) and node.func.id in _LOOKS):
            return False
    return True
