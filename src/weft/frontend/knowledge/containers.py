"""Containers of the standard library: deques, and the heap and bisection functions over lists, by their definitions.
In: calls of `collections`, `heapq` and `bisect`; out: statements over the memory of the list.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"
from __future__ import annotations

import bisect
import heapq
from collections import deque
from dataclasses import replace

import numpy as np

from weft.errors import Unsupported
from weft.frontend import growing
from weft.frontend.dicts import store_item
from weft.frontend.growing import Cells
from weft.frontend.knowledge import Bound, native
from weft.frontend.knowledge.compose import composed, sound
from weft.frontend.lists import started
from weft.frontend.values import (
    Array,
    Dict,
    Iterable,
    Object,
    Range,
    Records,
    Rows,
    Scalar,
    Tuple,
    Value,
    describe,
)
from weft.frontend.writing import loop
from weft.ir.expr import ZERO, Op
from weft.ir.types import BOOL, INT


@native(deque, parameters="iterable maxlen", name="deque")
def _deque(call: Bound) -> Value:
    made, most = _unbounded(call), call.get("maxlen")
    if most is None or most == Object(None):
        return made
    emitter = call.builder.emitter
    if not isinstance(most, Scalar) or most.type != INT:
        raise Unsupported(emitter.span, f"a deque of at most {describe(most)} items", "use an int")
    limit = emitter.snapshot(most.expr, "limit")
    emitter.check(Op("ge", (limit, ZERO), BOOL), "ValueError", "maxlen must be non-negative")
    if not isinstance(made, Records):
        return made  # nothing is known of its items yet
    held = replace(made.growing, limit=limit)
    Cells(emitter, held).keep_within(limit, at_front=False)
    return replace(made, growing=held)


def _unbounded(call: Bound) -> Value:
    value = call.get("iterable")
    builder, emitter = call.builder, call.builder.emitter
    if value is None or isinstance(value, Tuple):
        return started(builder, "deque", Tuple(() if value is None else value.items, is_list=True), is_deque=True)
    if isinstance(value, Array) and value.rank == 1:
        made = growing.make(emitter, "deque", [value.type], is_deque=True)
        with loop(emitter, ZERO, value.shape[0]) as at:
            Cells(emitter, made).push((emitter.snapshot(value.element((at,)), "item"),))
        return Records(made, value.type, is_deque=True)
    if isinstance(value, (Records, Rows, Range, Iterable)):
        queue = started(builder, "deque", Tuple((), is_list=True), is_deque=True)
        run = builder.iteration(value, builder.calling)
        with loop(emitter, ZERO, emitter.stable(run.trips)) as at:
            builder.list_method(queue, "append", [run.item(at)], builder.calling)
        return queue
    raise Unsupported(emitter.span, f"deque() of {describe(value)}", "append the items in a loop")


@native(dict, parameters="mapping")
def _dict(call: Bound) -> Value:
    builder, value = call.builder, call.get("mapping")
    if isinstance(value, Dict):
        raise builder.unsupported(builder.calling, "a copy of a dict", "fill a new one in a loop", mapping=value)
    made = builder.new_dict(builder.calling)

    def put(entry: Value) -> None:
        if not isinstance(entry, Tuple) or len(entry.items) != 2:
            raise Unsupported(builder.emitter.span, "a dict of items that are not pairs", "give it a list of pairs")
        store_item(builder, made, entry.items[0], entry.items[1], builder.calling)

    if isinstance(value, Tuple):
        for entry in value.items:
            put(entry)
    elif value is not None:
        run = builder.iteration(value, builder.calling)
        with loop(builder.emitter, ZERO, builder.emitter.stable(run.trips)) as at:
            put(run.item(at))
    return made


# --- heaps: item k is not larger than items 2k + 1 and 2k + 2 -------------------------------------------------------


# Places are NumPy's integers, which are not tested for overflow.


@sound
def _rise(heap, start, place):
    """The item at `place` goes up past larger ones, but not beyond `start`."""
    place = np.int64(place)
    item = heap[place]
    while place > start:
        above = (place - 1) >> 1
        parent = heap[above]
        if not item < parent:
            break
        heap[place] = parent
        place = above
    heap[place] = item


@sound
def _sink(heap, place):
    """The item at `place` goes down to a leaf past the smaller of its children, and from there up again."""
    end = np.int64(len(heap))
    place = np.int64(place)
    start = place
    item = heap[place]
    child = 2 * place + 1
    while child < end:
        if child + 1 < end and not heap[child] < heap[child + 1]:
            child += 1
        heap[place] = heap[child]
        place = child
        child = 2 * place + 1
    heap[place] = item
    _rise(heap, start, place)


@composed(heapq.heappush)
def heappush(heap, item):
    heap.append(item)
    _rise(heap, 0, len(heap) - 1)


@composed(heapq.heappop)
def heappop(heap):
    if len(heap) == 0:
        raise IndexError("index out of range")
    smallest = heap[0]
    last = heap.pop()
    if len(heap) > 0:
        heap[0] = last
        _sink(heap, 0)
    return smallest


@composed(heapq.heapify)
def heapify(x):
    for place in range(len(x) // 2 - 1, -1, -1):
        _sink(x, place)


@composed(heapq.heapreplace)
def heapreplace(heap, item):
    if len(heap) == 0:
        raise IndexError("index out of range")
    smallest = heap[0]
    heap[0] = item
    _sink(heap, 0)
    return smallest


@composed(heapq.heappushpop)
def heappushpop(heap, item):
    if len(heap) == 0 or not heap[0] < item:
        return item
    smallest = heap[0]
    heap[0] = item
    _sink(heap, 0)
    return smallest


@composed(heapq.nlargest)
def nlargest(n, iterable, key=None):
    return sorted(iterable, key=key, reverse=True)[: max(n, 0)]


@composed(heapq.nsmallest)
def nsmallest(n, iterable, key=None):
    return sorted(iterable, key=key)[: max(n, 0)]


# --- bisection ------------------------------------------------------------------------------------------------------


@composed(bisect.bisect_left)
@sound
def bisect_left(a, x):
    low = np.int64(0)
    high = np.int64(len(a))
    while low < high:
        middle = (low + high) >> 1
        if a[middle] < x:
            low = middle + 1
        else:
            high = middle
    return int(low)


@composed(bisect.bisect_right, bisect.bisect)
@sound
def bisect_right(a, x):
    low = np.int64(0)
    high = np.int64(len(a))
    while low < high:
        middle = (low + high) >> 1
        if x < a[middle]:
            high = middle
        else:
            low = middle + 1
    return int(low)


@composed(bisect.insort_right, bisect.insort)
def insort_right(a, x):
    a.insert(bisect_right(a, x), x)


@composed(bisect.insort_left)
def insort_left(a, x):
    a.insert(bisect_left(a, x), x)
