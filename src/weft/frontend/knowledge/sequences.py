"""Python's functions of sequences: sorted, list, map, filter, min and max with a key, reduce, itertools.  In: lists,
ranges and whatever else a loop runs over; out: lists in memory, or a composed iteration.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"
from __future__ import annotations

import functools
import itertools
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from weft.errors import Unsupported
from weft.frontend import arrays
from weft.frontend.comprehensions import mapped
from weft.frontend.constants import constant_bool, constant_int
from weft.frontend.core import kept_items
from weft.frontend.dicts import entries_of
from weft.frontend.emit import Emitter
from weft.frontend.knowledge import Bound, native, records
from weft.frontend.knowledge.compose import composed
from weft.frontend.knowledge.python import EMPTY_MAX, EMPTY_MIN, beside
from weft.frontend.knowledge.sorting import sorted_copy, sorting_order
from weft.frontend.lists import joined_lists, started
from weft.frontend.nested import share_rows
from weft.frontend.sorted_lists import being_sorted
from weft.frontend.values import Array, Dict, Iterable, Object, Records, Scalar, Tuple, Value, describe
from weft.ir import index as ix
from weft.ir.expr import ONE, Cast, Expr, Op, Reduce
from weft.ir.types import BOOL, INT

if TYPE_CHECKING:
    from weft.frontend.builder import Builder


def ordered(array: Array, keys: Array | None, reverse: bool, emitter: Emitter) -> Array:
    """A list in ascending order of its items, or of their keys; equal ones stay as they are."""
    by = array if keys is None else keys
    if by.type.dtype.is_inexact:
        # Python's order depends on where a NaN stands: such a list is left to Python.
        dims, at = emitter.domain(by.shape)
        number = by.element(at)
        good = Reduce("and", dims, Op("eq", (number, number), BOOL), emitter.span)
        emitter.check(emitter.snapshot(good, "good"), "RuntimeError", "a list with NaN in it was to be sorted")
    if keys is None:
        # Of the items only zeros are equal and differ: backwards from both sides, they keep their order.
        turned = reverse and array.type.dtype.is_inexact
        found = sorted_copy(arrays.flip(array, 0) if turned else array, 0, emitter, "stable")
        result = replace(found, is_list=True, type=array.type)
        return arrays.flip(result, 0) if reverse else result
    backwards = arrays.flip(keys, 0) if reverse else keys
    order = sorting_order(backwards, 0, emitter)
    count = array.shape[0]

    def item(at: tuple[Expr, ...]) -> Expr:
        if not reverse:
            return array.element((Cast(order.element(at), INT),))
        # The last of the reversed items: so equal ones keep their order.
        place = Cast(order.element((ix.sub(ix.sub(count, ONE), at[0]),)), INT)
        return array.element((Op("sub", (ix.sub(count, ONE), place), INT),))

    return Array(array.shape, array.type, item, is_list=True, cost=1)


def _in_memory(call: Bound, name: str) -> Value:
    """A sequence as a list in memory; a set in its order if equal keys of its items show it."""
    value = call.need(name)
    if isinstance(value, Dict):
        value = entries_of(call.builder, value, "keys")
    if isinstance(value, Tuple) and not (value.items and all(isinstance(item, Scalar) for item in value.items)):
        return started(call.builder, "list", replace(value, is_list=True, named=None), is_deque=False)
    return call.builder.listed(value)


def _numbers(call: Bound, name: str) -> Array:
    """A sequence of numbers as a list in memory."""
    builder = call.builder
    found = builder.as_run(_in_memory(call, name))
    if not isinstance(found, Array) or found.rank != 1:
        raise Unsupported(builder.emitter.span, f"{call.name}() of items that are not numbers")
    return found


@native(sorted, parameters="iterable key reverse")
def _sorted(call: Bound) -> Value:
    builder, emitter = call.builder, call.builder.emitter
    reverse = constant_bool(call.given.get("reverse"), emitter, False)
    found = builder.as_run(_in_memory(call, "iterable"))
    key = call.get("key")
    if isinstance(found, Tuple):
        return found  # nothing was ever put into it
    by = None if key is None else mapped(builder, key, found)
    if not isinstance(found, (Array, Records)) or isinstance(found, Records) or isinstance(by, Records):
        if not isinstance(found, (Array, Records)) or isinstance(by, Tuple):
            order = "" if by is None else f" by keys of type {describe(by)}"
            raise Unsupported(emitter.span, f"sorted() of {describe(found)}{order}")
        return records.sorted_items(builder, found, found if by is None else by, reverse)
    items, keys = found, by
    if items.rank != 1 or (keys is not None and not isinstance(keys, Array)):
        raise Unsupported(emitter.span, "sorted() of items that are not numbers")
    return arrays.materialise(ordered(items, keys, reverse, emitter), emitter, "sorted")


def list_method(builder: Builder, items: Array, name: str, args: list[Value], kwargs: dict[str, Value]) -> Value | None:
    """A method of a list of numbers that keeps its length; None if it is another one."""
    emitter = builder.emitter
    if name == "copy" and not args and not kwargs:
        share_rows(builder, items)
        return arrays.materialise(replace(items, growing=None), emitter, "list")
    if name in ("sort", "reverse") and items.rank == 1 and not args and set(kwargs) <= {"key", "reverse"}:
        call = Bound(builder, name, {"iterable": items, **kwargs})
        with being_sorted(builder, items):
            new = _sorted(call) if name == "sort" else arrays.materialise(arrays.flip(items, 0), emitter, "reversed")
        assert isinstance(new, Array)
        arrays.store(replace(items, growing=None), new, emitter)
        emitter.mutations += 1
        return Object(None)
    numbers = all(isinstance(arg, Scalar) and (not place or arg.type == INT) for place, arg in enumerate(args))
    if name == "index" and items.rank == 1 and len(args) in (2, 3) and numbers and not kwargs:
        given = dict(zip(("wanted", "low", "high"), args))
        given.setdefault("high", Scalar(items.shape[0]))
        return builder.expand(first_place_between, {"items": items, **given})
    if name in ("index", "count") and items.rank == 1 and len(args) == 1 and isinstance(args[0], Scalar) and not kwargs:
        return builder.expand(first_place if name == "index" else occurrences, {"items": items, "wanted": args[0]})
    return None


def best_or(items, default, greatest):
    if len(items) == 0:
        return default
    if greatest:
        return max(items)
    return min(items)


def best_by_or(items, key, default, greatest):
    if len(items) == 0:
        return default
    return best_by(items, key, greatest)


def first_place(items, wanted):
    place = 0
    while place < len(items):
        if items[place] == wanted:
            break
        place += 1
    if place == len(items):
        raise ValueError(f"{wanted} is not in list")
    return place


def first_place_between(items, wanted, low, high):
    count = len(items)
    if low < 0:
        low += count
        if low < 0:
            low = 0
    if high < 0:
        high += count
    if high > count:
        high = count
    place = low
    while place < high:
        if items[place] == wanted:
            break
        place += 1
    if place >= high:
        raise ValueError(f"{wanted} is not in list")
    return place


def place_in_deque(items, wanted):
    place = 0
    while place < len(items):
        if items[place] == wanted:
            break
        place += 1
    if place == len(items):
        raise ValueError(f"{wanted} is not in deque")
    return place


def occurrences(items, wanted):
    count = 0
    for item in items:
        if item == wanted:
            count += 1
    return count


@native(list, parameters="iterable")
def _list(call: Bound) -> Value:
    value = call.get("iterable")
    if value is None:
        return Tuple((), is_list=True)
    if isinstance(value, Dict):
        value = entries_of(call.builder, value, "keys")
    return call.builder.listed(value)


@native(map, parameters="function iterable")
def _map(call: Bound) -> Value:
    builder = call.builder
    function = call.need("function")
    value = kept_items(builder, call.need("iterable"))
    node = builder.calling
    if isinstance(value, Tuple):
        return Tuple(tuple(builder.call(function, [item], {}, node) for item in value.items), is_list=True)
    run = builder.iteration(value, node)
    return beside([run], run.trips, lambda q: builder.call(function, [run.item(q)], {}, node))


@native(itertools.product, parameters="*iterables repeat")
def _product(call: Bound) -> Value:
    builder, emitter = call.builder, call.builder.emitter
    repeat = constant_int(call.given["repeat"], emitter) if "repeat" in call.given else 1
    if repeat < 1 or not call.rest:
        raise Unsupported(emitter.span, "itertools.product() of nothing")
    parts = [builder.iteration(builder.as_run(value), builder.calling) for value in call.rest] * repeat
    counts = [emitter.stable(part.trips) for part in parts]
    total: Expr = ONE
    for count in counts:
        total = Op("mul", (total, count), INT)

    def item(q: Expr) -> Value:
        rest, digits = q, []
        for count in reversed(counts):
            # Where a part is empty there is no trip at all, and the divisor must still not be 0.
            divisor = Op("maximum", (count, ONE), INT)
            digits.append(emitter.snapshot(Op("mod", (rest, divisor), INT), "digit"))
            rest = emitter.snapshot(Op("floordiv", (rest, divisor), INT), "rest")
        return Tuple(tuple(part.item(digit) for part, digit in zip(parts, reversed(digits))))

    return Iterable(emitter.snapshot(total, "trips"), item)


@composed(functools.reduce)
def reduce(function, iterable, initial=None):
    if initial is None:
        items = list(iterable)
        if len(items) == 0:
            raise TypeError("reduce() of empty iterable with no initial value")
        total = items[0]
        for place in range(1, len(items)):
            total = function(total, items[place])
        return total
    result = initial
    for item in iterable:
        result = function(result, item)
    return result


def best_by(items, key, greatest):
    found = list(items)
    if len(found) == 0:
        if greatest:
            raise ValueError(EMPTY_MAX)
        raise ValueError(EMPTY_MIN)
    best = 0
    best_key = key(found[0])
    for place in range(1, len(found)):
        this = key(found[place])
        if (this > best_key) if greatest else (this < best_key):
            best = place
            best_key = this
    return found[best]


def best_of(items, greatest):
    if len(items) == 0:
        if greatest:
            raise ValueError(EMPTY_MAX)
        raise ValueError(EMPTY_MIN)
    best = 0
    for place in range(1, len(items)):
        if (items[place] > items[best]) if greatest else (items[place] < items[best]):
            best = place
    return items[best]


def better_of(one, other, greatest):
    if (other > one) if greatest else (other < one):
        return other
    return one


@composed(itertools.combinations)
def combinations(iterable, r):
    items = list(iterable)
    n = len(items)
    if r == 2:
        return [(items[i], items[j]) for i in range(n) for j in range(i + 1, n)]
    if r == 3:
        return [(items[i], items[j], items[k]) for i in range(n) for j in range(i + 1, n) for k in range(j + 1, n)]
    raise NotImplementedError


@native(itertools.chain, parameters="*iterables")
def _chain(call: Bound) -> Value:
    builder = call.builder
    result: Value = Tuple((), is_list=True)
    for value in call.rest:
        result = joined_lists(builder, result, builder.listed(value), builder.calling)
    return _taken_before(call, result, call.rest)


def _taken_before(call: Bound, result: Value, sources: Sequence[Value]) -> Value:
    """Items that are computed before they are asked for: a loop must not change what they come from."""
    if isinstance(result, Tuple):
        return result
    run = call.builder.iteration(result, call.builder.calling)
    watched: set[str] = set()
    for value in sources:
        if isinstance(value, Records):
            watched.update((*value.growing.data, value.growing.length))
        elif isinstance(value, Array) and value.view is not None:
            watched.add(value.view.buffer)
    return replace(run, watches=run.watches | frozenset(watched))


@native(itertools.accumulate, parameters="iterable func initial")
def _accumulate(call: Bound) -> Value:
    given = {**call.given, "iterable": call.builder.as_run(call.need("iterable"))}
    plain = not {"func", "initial"} & given.keys()
    result = call.builder.expand(running_totals if plain else running_results, given)
    return _taken_before(call, result, [given["iterable"]])


def running_totals(iterable):
    out = list(iterable)
    for place in range(1, len(out)):
        out[place] = out[place - 1] + out[place]
    return out


def running_results(iterable, func=None, initial=None):
    out = []
    if initial is not None:
        out.append(initial)
    for item in iterable:
        if len(out) == 0:
            out.append(item)
        else:
            out.append(out[-1] + item if func is None else func(out[-1], item))
    return out
