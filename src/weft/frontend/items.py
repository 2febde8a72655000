"""What containers hold.  In: values; out: the type of an item, and the numbers it consists of.

A list inside another container is one number: which of the lists of its kind it is (`weft.frontend.nested`).
"""

from __future__ import annotations

import functools
from collections.abc import Iterator

from weft.frontend.values import (
    Array,
    ArrayOf,
    EitherType,
    Growing,
    ItemType,
    ListOf,
    Maybe,
    NamedParts,
    Object,
    ObjectType,
    OptionOf,
    Records,
    Scalar,
    Struct,
    Text,
    TextType,
    Tuple,
    Value,
    View,
)
from weft.ir.expr import Expr, Op, Read
from weft.ir.types import BOOL, FLOAT, INT, DType, ScalarType


def layout_of(value: Value) -> ItemType | None:
    """The type of an item of a list; None if a list of such items has no native form."""
    if isinstance(value, Scalar):
        return value.type
    if isinstance(value, Array) and value.is_list:
        return _list_layout(value.type, value.rank)
    if isinstance(value, Array):
        return value.type if value.rank == 0 else ArrayOf(value.type, value.rank)
    if isinstance(value, Records):
        return None if value.is_deque else ListOf(value.item)
    if isinstance(value, Tuple) and value.is_list:
        return _literal_layout(value)
    if isinstance(value, Tuple):
        parts = tuple(layout_of(item) for item in value.items)
        return None if None in parts or not parts else with_name(parts, value.named)
    if isinstance(value, Struct):
        return None if value.row is None else ObjectType(value.kind)
    if isinstance(value, Text):
        return TextType(value.kind)
    if isinstance(value, Object) and type(value.value) in (str, bytes):
        return TextType(type(value.value).__name__)
    if isinstance(value, Object) and value.value is None:
        return OptionOf(None)
    if isinstance(value, Maybe):
        held = layout_of(value.held)
        return None if held is None else OptionOf(held)
    return None


def with_name(parts: tuple[ItemType | None, ...], named: type | None) -> ItemType:
    """The type of a tuple, of a class of named ones perhaps."""
    return parts if named is None else NamedParts(parts, named)  # type: ignore[return-value]


def name_of(layout: ItemType | None) -> type | None:
    """The class of a named tuple."""
    return layout.named if isinstance(layout, NamedParts) else None


def _list_layout(of: ItemType, rank: int) -> ItemType:
    return of if rank == 0 else ListOf(_list_layout(of, rank - 1))


def _literal_layout(value: Tuple) -> ItemType | None:
    if not value.items:
        site = value.key or value.site
        return None if site is None or value.is_deque else ListOf(None, site)
    parts = [layout_of(item) for item in value.items]
    if any(isinstance(part, OptionOf) for part in parts):
        whole = functools.reduce(merged, parts)
        if isinstance(whole, OptionOf) and whole.item is None:
            whole = OptionOf(None, value.site)
        return None if whole is None else ListOf(whole)
    known = next((part for part in parts if part is not None and not has_gaps(part)), parts[0])
    return None if known is None or any(not agree(known, part) for part in parts) else ListOf(known)


def has_gaps(layout: ItemType | None) -> bool:
    """Whether it is not known of some list what it holds."""
    if isinstance(layout, tuple):
        return any(map(has_gaps, layout))
    if isinstance(layout, OptionOf):
        return layout.item is None or has_gaps(layout.item)
    return isinstance(layout, ListOf) and (layout.item is None or has_gaps(layout.item))


def gaps_in(layout: ItemType | None) -> list[tuple[int, str]]:
    """Where the lists are made of which it is not known what they hold."""
    if isinstance(layout, tuple):
        return [site for part in layout for site in gaps_in(part)]
    if isinstance(layout, (ListOf, OptionOf)) and layout.item is None:
        return [] if layout.site is None else [layout.site]
    return gaps_in(layout.item) if isinstance(layout, (ListOf, OptionOf)) else []


def told_by(layout: ItemType | None, known: ItemType | None) -> dict[tuple[int, str], ItemType]:
    """What lists hold of which a type does not tell, as another type of the same form does."""
    if isinstance(layout, tuple) and isinstance(known, tuple):
        return {site: item for pair in zip(layout, known) for site, item in told_by(*pair).items()}
    if not isinstance(layout, (ListOf, OptionOf)) or type(layout) is not type(known) or known.item is None:
        return {}
    if layout.item is None:
        return {} if layout.site is None else {layout.site: known.item}
    return told_by(layout.item, known.item)


def has_lists(layout: ItemType | None) -> bool:
    """Whether there are lists, arrays or None in it: more than numbers that can be compared."""
    if isinstance(layout, tuple):
        return any(map(has_lists, layout))
    return isinstance(layout, (ListOf, ArrayOf, OptionOf))


def has_objects(layout: ItemType | None) -> bool:
    if isinstance(layout, (ListOf, OptionOf)):
        return has_objects(layout.item)
    return any(map(has_objects, layout)) if isinstance(layout, tuple) else isinstance(layout, ObjectType)


def has_names(layout: ItemType | None) -> bool:
    """Whether there are named tuples in it."""
    if isinstance(layout, (ListOf, OptionOf)):
        return has_names(layout.item)
    return isinstance(layout, tuple) and (name_of(layout) is not None or any(map(has_names, layout)))


def has_texts(layout: ItemType | None) -> bool:
    """Whether there is something in it that a message cannot show."""
    if isinstance(layout, OptionOf):
        return has_texts(layout.item)
    return any(map(has_texts, layout)) if isinstance(layout, tuple) else isinstance(layout, TextType)


def agree(one: ItemType | None, other: ItemType | None) -> bool:
    """Whether two types are equal, as far as both are known."""
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and name_of(one) is name_of(other) and all(map(agree, one, other))
    if isinstance(one, OptionOf) and isinstance(other, OptionOf):
        return one.item is None or other.item is None or agree(one.item, other.item)
    if isinstance(one, ListOf) and isinstance(other, ListOf):
        return one.item is None or other.item is None or agree(one.item, other.item)
    return one is not None and one == other


def merged(one: ItemType | None, other: ItemType | None) -> ItemType | None:
    """The type of items that are of either type; None if there is none."""
    if one == other:
        return one
    if isinstance(one, ArrayOf) and isinstance(other, ArrayOf):
        return ArrayOf(one.type, one.rank, True) if (one.type, one.rank) == (other.type, other.rank) else None
    if isinstance(one, OptionOf) or isinstance(other, OptionOf):
        return _merged_options(one, other)
    if isinstance(one, tuple) and isinstance(other, tuple) and len(one) == len(other):
        parts = tuple(map(merged, one, other))
        return None if None in parts or name_of(one) is not name_of(other) else with_name(parts, name_of(one))
    kinds = _kinds(one) | _kinds(other)
    return either(kinds) if len(kinds) == 2 else None


def _merged_options(one: ItemType | None, other: ItemType | None) -> OptionOf | None:
    """The type of items that may be None and are of either type otherwise."""
    if one is None or other is None:
        return None
    inner = [layout.item if isinstance(layout, OptionOf) else layout for layout in (one, other)]
    known = [layout for layout in inner if layout is not None]
    found = known[0] if len(known) == 1 else merged(*known)
    return None if found is None else OptionOf(found)


def either(kinds: set[ScalarType | None]) -> EitherType | None:
    """The type of numbers of two types; None if no number has room for the values of both."""
    for room in (INT, FLOAT):
        if len(kinds) == 2 and all(_has_room(room, kind) for kind in kinds):
            known = [kind for kind in kinds if kind is not None]
            return EitherType(*sorted(known, key=lambda kind: (not kind.weak, kind.dtype.value)))
    return None


def _has_room(room: ScalarType, kind: ScalarType | None) -> bool:
    if kind is None or kind.dtype.is_complex:
        return False
    # A number of less precision compares with Python's in its own, so what has it must not be lost sight of.
    return kind.dtype is DType.F64 if room.dtype.is_inexact else kind.dtype.is_integer and kind.dtype is not DType.U64


def _kinds(layout: ItemType | None) -> set[ScalarType | None]:
    """The types of numbers that an item may have; {None} for what is no number."""
    if isinstance(layout, EitherType):
        return {layout.one, layout.other}
    return {layout} if isinstance(layout, ScalarType) else {None}


def takes(layout: ItemType | None, other: ItemType | None) -> bool:
    """Whether an item of the second type is one of the first, too, as far as both are known."""
    if isinstance(layout, OptionOf):
        inner = other.item if isinstance(other, OptionOf) else other
        return other is not None and (inner is None or (layout.item is not None and takes(layout.item, inner)))
    if isinstance(layout, ArrayOf) and isinstance(other, ArrayOf) and layout.lent:
        return (layout.type, layout.rank) == (other.type, other.rank)
    if isinstance(layout, tuple) and isinstance(other, tuple):
        return len(layout) == len(other) and name_of(layout) is name_of(other) and all(map(takes, layout, other))
    return agree(layout, other) or (isinstance(layout, EitherType) and _kinds(other) <= _kinds(layout))


def has_either(layout: ItemType | None) -> bool:
    """Whether there is a number in it whose type only the run time knows."""
    if isinstance(layout, (ListOf, OptionOf)):
        return has_either(layout.item)
    return any(map(has_either, layout)) if isinstance(layout, tuple) else isinstance(layout, EitherType)


def compared(layout: ItemType) -> list[bool]:
    """Of each number of an item whether it counts when items are compared."""
    if isinstance(layout, tuple):
        return [counts for part in layout for counts in compared(part)]
    if isinstance(layout, OptionOf):
        return [True, *(() if layout.item is None else compared(layout.item))]
    return [True, False] if isinstance(layout, EitherType) else [True] * len(types_in(layout))


def types_in(layout: ItemType | None) -> list[ScalarType]:
    """The types of the numbers of an item."""
    if layout is None:
        return []
    if isinstance(layout, (ListOf, ArrayOf)):
        return [INT]
    if isinstance(layout, OptionOf):
        return [BOOL, *types_in(layout.item)]
    if isinstance(layout, TextType):
        return [INT, INT]
    if isinstance(layout, ObjectType):
        return [INT]
    if isinstance(layout, EitherType):
        return [layout.held, BOOL]
    return [of for part in layout for of in types_in(part)] if isinstance(layout, tuple) else [layout]


def numbers_of(value: Value) -> Iterator[Expr]:
    """The numbers of an item without lists in it, from left to right."""
    if isinstance(value, Tuple):
        for part in value.items:
            yield from numbers_of(part)
    elif isinstance(value, Array):
        yield value.element(())
    else:
        assert isinstance(value, Scalar)
        yield value.expr


def template_of(layout: ItemType) -> str:
    """How an item is made of numbers, as weft.runtime.containers reads it."""
    if isinstance(layout, tuple):
        named = name_of(layout)
        mark = "" if named is None else repr(f"={named.__module__}|{named.__qualname__}") + ", "
        return "(" + mark + "".join(f"{template_of(part)}, " for part in layout) + ")"
    if isinstance(layout, TextType):
        return repr(layout.kind)
    if isinstance(layout, EitherType):
        return "-1"
    return "0"


def classes_in(layout: ItemType | None) -> Iterator[type]:
    """The classes of the user's that items are made by: named tuples."""
    if isinstance(layout, tuple):
        named = name_of(layout)
        yield from () if named is None else (named,)
        for part in layout:
            yield from classes_in(part)


def as_value(held: Growing, layout: ItemType, is_deque: bool) -> Value:
    """The list that lies in some memory."""
    if not isinstance(layout, ScalarType) or is_deque:
        return Records(held, layout, is_deque)
    of, data = layout, held.data[0]

    def place(at: tuple[Expr, ...]) -> tuple[Expr, ...]:
        if held.row is None or held.head is None:
            return at
        return (Op("add", (Read(held.head, (held.row,), INT), at[0]), INT),)

    return Array(
        (held.size,), of, lambda at: Read(data, place(at), of), View(data, place), is_list=True, growing=held
    )


def row_of(value: Value | None) -> Expr | None:
    """Which of the lists, arrays or objects of its kind one is that is an item of some container; None for anything
    else."""
    if isinstance(value, Array) and not value.is_list:
        return None if value.view is None else value.view.number
    if isinstance(value, Struct):
        return value.row
    held = value.growing if isinstance(value, (Array, Records)) else None
    return None if held is None else held.row


def is_plain(item: ItemType) -> bool:
    """Whether items are numbers, strings or tuples of such: no code of the user's compares them."""
    if isinstance(item, tuple):
        return all(is_plain(part) for part in item)
    return isinstance(item, (ScalarType, TextType))


def all_numbers(value: Tuple) -> bool:
    """Whether each item of a tuple can be a slot of its own: a number, or None."""
    return bool(value.items) and all(
        isinstance(item, Scalar)
        or (isinstance(item, Object) and item.value is None)
        or (isinstance(item, Maybe) and isinstance(item.held, Scalar))
        for item in value.items
    )


def is_plain_text(value: Value) -> bool:
    return isinstance(value, Text) or (isinstance(value, Object) and type(value.value) in (str, bytes))


def all_parts(value: Tuple) -> bool:
    """Whether each item of a tuple is a number, None or a string."""
    return bool(value.items) and all(is_plain_text(item) or all_numbers(Tuple((item,))) for item in value.items)
