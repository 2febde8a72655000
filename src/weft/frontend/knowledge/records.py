"""Lists of tuples: sorting, and the methods that keep their length.  In: lists whose items are more than numbers; out:
their places in order, by merging, and the items taken from there.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"
from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from weft.errors import Unsupported
from weft.frontend import arith, growing
from weft.frontend.comprehensions import mapped
from weft.frontend.growing import EXTRA_ROOM, Cells
from weft.frontend.items import as_value, has_lists, types_in
from weft.frontend.sorted_lists import being_sorted
from weft.frontend.structs import numbers_in_object
from weft.frontend.values import Array, EitherType, Object, ObjectType, OptionOf, Records, Scalar, Struct, Value
from weft.frontend.writing import loop
from weft.ir import index as ix
from weft.ir.expr import ONE, ZERO, Const, Expr, Op, Reduce, integer
from weft.ir.types import BOOL, PYBOOL, ScalarType

if TYPE_CHECKING:
    from weft.frontend.builder import Builder


def places_in_order(keys, descending):
    """The places of keys in their order; equal ones stay as they are."""
    count = len(keys)
    order = list(range(count))
    other = [0] * count
    width = 1
    while width < count:
        low = 0
        while low < count:
            middle = low + width
            if middle > count:
                middle = count
            high = middle + width
            if high > count:
                high = count
            left = low
            right = middle
            for place in range(low, high):
                take = left < middle
                if take:
                    if right < high:
                        if descending:
                            take = not keys[order[left]] < keys[order[right]]
                        else:
                            take = not keys[order[right]] < keys[order[left]]
                if take:
                    other[place] = order[left]
                    left += 1
                else:
                    other[place] = order[right]
                    right += 1
            low = high
        for place in range(count):
            order[place] = other[place]
        width *= 2
    return order


def sorted_items(builder: Builder, items: Value, keys: Value, descending: bool) -> Value:
    """A new list of the items in the order of their keys."""
    emitter = builder.emitter
    keys = _present(builder, keys)
    _refuse_odd_keys(builder, keys)
    order = builder.expand(places_in_order, {"keys": keys, "descending": Scalar(Const(descending, PYBOOL))})
    assert isinstance(order, Array)
    assert isinstance(items, (Array, Records))
    layout = items.type if isinstance(items, Array) else items.item
    size = items.shape[0] if isinstance(items, Array) else items.growing.size
    count = emitter.snapshot(Op("add", (size, ZERO), ZERO.type), "count")
    made = growing.make(emitter, "sorted", types_in(layout), ix.add(count, integer(EXTRA_ROOM)))
    cells = Cells(emitter, made)
    with loop(emitter, ZERO, count) as at:
        place = emitter.snapshot(order.element((at,)), "place")
        read = Cells(emitter, items.growing).read if isinstance(items, Records) else lambda q: (items.element((q,)),)
        cells.write(at, read(place))
    cells.length.set(count)
    return as_value(made, layout, False)


def _present(builder: Builder, keys: Value) -> Value:
    """Keys without those that are None, which Python compares with nothing: `sorted(counts, key=counts.get)`."""
    if not (isinstance(keys, Records) and isinstance(keys.item, OptionOf) and keys.item.item is not None):
        return keys
    emitter, cells = builder.emitter, Cells(builder.emitter, keys.growing)
    dims, at = emitter.domain((cells.last(),))
    there = Reduce("and", dims, arith.cast(cells.read(at[0])[0], BOOL), emitter.span)
    emitter.hand_back(emitter.snapshot(there, "there"), "a list sorted by keys of which some are None")
    parts = ("data", "spare")
    held = replace(keys.growing, **{part: getattr(keys.growing, part)[1:] for part in parts})
    return as_value(held, keys.item.item, False)


def _refuse_odd_keys(builder: Builder, keys: Value) -> None:
    """Python's order depends on where a NaN stands: such a list is left to Python."""
    emitter = builder.emitter
    if isinstance(keys, Records) and has_lists(keys.item):
        raise Unsupported(emitter.span, "a list sorted by such items", "sort by numbers, strings or tuples of them")
    if isinstance(keys, Array):
        return
    assert isinstance(keys, Records)
    cells = Cells(emitter, keys.growing)
    count = cells.last()
    if isinstance(keys.item, ObjectType):
        _refuse_odd_objects(builder, keys)
    for column, name in enumerate(keys.growing.data):
        if not emitter.buffers[name].type.dtype.is_inexact:
            continue
        dims, at = emitter.domain((count,))
        number = cells.read(at[0])[column]
        good = Reduce("and", dims, Op("eq", (number, number), BOOL), emitter.span)
        emitter.hand_back(emitter.snapshot(good, "good"), "a list with NaN in it is sorted")


def _refuse_odd_objects(builder: Builder, keys: Records) -> None:
    """An order that a class defines must be one: no object is before itself, or has NaN among its numbers."""
    emitter, cells = builder.emitter, Cells(builder.emitter, keys.growing)
    with loop(emitter, ZERO, cells.last()) as at:
        item = builder.assembled(keys.item, iter(cells.taken(at)))
        assert isinstance(item, Struct)
        for number in numbers_in_object(builder, item):
            if number.type.dtype.is_inexact:
                emitter.hand_back(Op("eq", (number, number), BOOL), "objects with NaN in them are sorted")
        before = builder.expand(is_before, {"one": item, "other": item})
        truth = builder.truth(before, None)
        if isinstance(truth, Scalar):
            after = arith.negate(arith.condition(truth.expr))
            emitter.hand_back(after, "objects that are before themselves are sorted")
        elif truth:
            raise Unsupported(emitter.span, "objects sorted by a comparison that is always true")


def is_before(one, other):
    return one < other


def method(builder: Builder, items: Records, name: str, args: list[Value], kwargs: dict[str, Value]) -> Value | None:
    """A method of a list of tuples that keeps its length; None if it is another one."""
    emitter, cells = builder.emitter, Cells(builder.emitter, items.growing)
    numbers = isinstance(items.item, EitherType) and len(args) == 1 and isinstance(args[0], Scalar) and not kwargs
    if name in ("index", "count") and numbers and not items.is_deque:
        from weft.frontend.knowledge.sequences import first_place, occurrences

        return builder.expand(first_place if name == "index" else occurrences, {"items": items, "wanted": args[0]})
    if items.is_deque and name in ("index", "count") and len(args) == 1 and not kwargs:
        from weft.frontend.knowledge.sequences import occurrences, place_in_deque

        if isinstance(items.item, ScalarType) and isinstance(args[0], Scalar):
            return builder.expand(
                place_in_deque if name == "index" else occurrences, {"items": items, "wanted": args[0]}
            )
    if args or (items.is_deque and name != "reverse"):
        return None
    if name == "copy" and not kwargs:
        return builder.listed(items)
    if name == "sort" and set(kwargs) <= {"key", "reverse"}:
        builder.will_change(items)
        from weft.frontend.constants import constant_bool

        key = kwargs.get("key")
        with being_sorted(builder, items):
            keys: Value = items if key is None or key == Object(None) else mapped(builder, key, items)
        new = sorted_items(builder, items, keys, constant_bool(kwargs.get("reverse"), emitter, False))
        assert isinstance(new, Records)
        source = Cells(emitter, new.growing)
        with loop(emitter, ZERO, cells.last()) as at:
            cells.write(at, source.read(at))
        emitter.mutations += 1
        return Object(None)
    if name == "reverse" and not kwargs:
        builder.will_change(items)
        count = cells.last()
        with loop(emitter, ZERO, _half(builder, count)) as at:
            mirrored = ix.sub(ix.sub(count, ONE), at)
            first, last = cells.taken(at), cells.taken(mirrored)
            cells.write(at, last)
            cells.write(mirrored, first)
        emitter.mutations += 1
        return Object(None)
    return None


def _half(builder: Builder, count: Expr) -> Expr:
    return builder.emitter.snapshot(Op("floordiv", (count, integer(2)), count.type), "half")
