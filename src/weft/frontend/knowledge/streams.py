"""Python's functions of iterables where one of these is a generator, which can only be run through once, in order.
In: a function and which of its arguments are generators; out: its definition as Python over `for` and `yield`.

The definitions take their items in the order and at the moment that Python's functions take them: a generator is not
asked for an item that nobody wants.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, var-annotated, has-type"
from __future__ import annotations

import collections
import collections.abc
import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from weft.errors import Unsupported
from weft.frontend.knowledge import Bound, native
from weft.frontend.knowledge.compose import at_least, mostly
from weft.frontend.knowledge.python import EMPTY_MAX, EMPTY_MIN
from weft.frontend.values import Object, Scalar, Value


def length_of(sequence):
    return len(sequence)


def item_of(sequence, place):
    return sequence[place]


def whole(number):
    assert isinstance(number, int)


@native(whole, parameters="number")
def _whole(call: Bound) -> Value:
    """Covers integers only: of anything else Python says what is wrong with it."""
    number = call.need("number")
    if not (isinstance(number, Scalar) and number.expr.type.dtype.kind in "iub"):
        raise Unsupported(call.builder.emitter.span, "a bound that is no integer", "give an integer")
    return Object(None)


@native(length_of, parameters="sequence")
def _length_of(call: Bound) -> Value:
    """The number of items of anything that a loop counts its way through."""
    run = call.builder.iteration(call.need("sequence"), None)
    return Scalar(call.builder.emitter.stable(run.trips))


@native(item_of, parameters="sequence place")
def _item_of(call: Bound) -> Value:
    place = call.need("place")
    assert isinstance(place, Scalar)
    return call.builder.iteration(call.need("sequence"), None).item(place.expr)


def total(iterable, start=0):
    result = start
    for item in iterable:
        result = result + item
    return result


def any_of(iterable):
    return any(item for item in iterable)


def all_of(iterable):
    return all(item for item in iterable)


def as_list(iterable):
    result = []
    for item in iterable:
        result.append(item)
    return result


def as_deque(iterable):
    result = collections.deque()
    for item in iterable:
        result.append(item)
    return result


def as_dict(iterable):
    result = {}
    for key, value in iterable:
        result[key] = value
    return result


def in_order(iterable, *, key=None, reverse=False):
    return sorted(as_list(iterable), key=key, reverse=reverse)


def least(iterable, *, key=None, default=None):
    items = as_list(iterable)
    if len(items) == 0:
        if default is None:
            raise ValueError(EMPTY_MIN)
        return default
    if key is None:
        return min(items)
    return min(items, key=key)


def greatest(iterable, *, key=None, default=None):
    items = as_list(iterable)
    if len(items) == 0:
        if default is None:
            raise ValueError(EMPTY_MAX)
        return default
    if key is None:
        return max(items)
    return max(items, key=key)


def first_item(iterable):
    for item in iterable:
        return item
    raise StopIteration


def first_item_or(iterable, default):
    for item in iterable:
        return item
    return default


def from_iterator(iterable, dtype):
    return np.array(as_list(iterable), dtype=dtype)


# --- generators of generators -------------------------------------------------------------------------------------


def numbered(iterable, start=0):
    number = start
    for item in iterable:
        yield number, item
        number += 1


def beside(iterable, sequence):
    count = length_of(sequence)
    for place, item in enumerate(iterable):
        if place >= count:
            break
        yield item, item_of(sequence, place)


def behind(sequence, iterable):
    place = 0
    count = length_of(sequence)
    if count > 0:
        for item in iterable:
            yield item_of(sequence, place), item
            place += 1
            if place >= count:
                break


def mapped(function, iterable):
    for item in iterable:
        yield function(item)


def chosen(function, iterable):
    for item in iterable:
        if function(item):
            yield item


def refused(predicate, iterable):
    for item in iterable:
        if predicate is None:
            if not item:
                yield item
        elif not predicate(item):
            yield item


def selected(data, selectors):
    for item, wanted in zip(data, selectors):
        if wanted:
            yield item


def flattened(iterable):
    for part in iterable:
        yield from part


def with_replacement(iterable, r):
    at_least(r, 1)
    at_least(3, r)
    items = list(iterable)
    if r == 1:
        for item in items:
            yield (item,)
    elif r == 2:
        for first in range(len(items)):
            for second in range(first, len(items)):
                yield items[first], items[second]
    else:
        for first in range(len(items)):
            for second in range(first, len(items)):
                for third in range(second, len(items)):
                    yield items[first], items[second], items[third]


def arranged(iterable, r):
    at_least(r, 1)
    at_least(3, r)
    items = list(iterable)
    if r == 1:
        for item in items:
            yield (item,)
    elif r == 2:
        for first in range(len(items)):
            for second in range(len(items)):
                if first != second:
                    yield items[first], items[second]
    else:
        for first in range(len(items)):
            for second in range(len(items)):
                for third in range(len(items)):
                    if first != second and first != third and second != third:
                        yield items[first], items[second], items[third]


def filled_up(first, second, *, fillvalue):
    one, other = length_of(first), length_of(second)
    for place in range(max(one, other)):
        left = item_of(first, place) if place < one else fillvalue
        yield left, item_of(second, place) if place < other else fillvalue


def mapped_pairs(function, first, second):
    for one, other in zip(first, second):
        yield function(one, other)


def mapped_triples(function, first, second, third):
    for one, other, last in zip(first, second, third):
        yield function(one, other, last)


def taken_while(predicate, iterable):
    for item in iterable:
        if not predicate(item):
            break
        yield item


def dropped_while(predicate, iterable):
    dropping = True
    for item in iterable:
        if dropping and not predicate(item):
            dropping = False
        if not dropping:
            yield item


def counted(start=0, step=1):
    number = start
    while True:
        yield number
        number += step


def repeated(object, times=None):
    if times is None:
        while True:
            yield object
    else:
        for _ in range(times):
            yield object


def cycled(iterable):
    items = list(iterable)
    if len(items) > 0:
        while True:
            yield from items


def spread(function, iterable):
    for arguments in iterable:
        yield function(*arguments)


def neighbours(iterable):
    items = list(iterable)
    for place in range(1, len(items)):
        yield items[place - 1], items[place]


def streamed_neighbours(iterable):
    some = False
    for item in iterable:
        if some:
            yield last, item  # noqa: F821
        last = item  # noqa: F841
        some = True


def grouped(iterable, key=None):
    items = list(iterable)
    start = 0
    while start < len(items):
        this = items[start] if key is None else key(items[start])
        stop = start + 1
        while stop < len(items) and (items[stop] if key is None else key(items[stop])) == this:
            stop += 1
        yield this, (item for item in items[start:stop])
        start = stop


def sliced(iterable, *bounds):
    start, stop, step = 0, None, 1
    if len(bounds) == 1:
        stop = bounds[0]
    else:
        start = 0 if bounds[0] is None else bounds[0]
        stop = bounds[1]
        if len(bounds) == 3:
            step = 1 if bounds[2] is None else bounds[2]
    whole(start)
    whole(step)
    mostly(start >= 0, "a bound of islice() that is negative")
    mostly(step >= 1, "islice() by steps of 0")
    if stop is None:
        for place, item in enumerate(iterable):
            if place >= start and (place - start) % step == 0:
                yield item
    else:
        whole(stop)
        mostly(stop >= 0, "a bound of islice() that is negative")
        last = max(start, stop)
        if last > 0:
            for place, item in enumerate(iterable):
                if place >= start and (place - start) % step == 0 and place < stop:
                    yield item
                if place + 1 >= last:
                    break


def running(iterable):
    some = False
    result = 0
    for item in iterable:
        if some:
            result = result + item
        else:
            result = item
            some = True
        yield result


def chained(*iterables):
    for iterable in iterables:
        yield from iterable


#: Where one argument, or any, is a generator.
_CONSUMERS: dict[Any, Callable[..., Any]] = {
    sum: total,
    any: any_of,
    all: all_of,
    list: as_list,
    dict: as_dict,
    collections.deque: as_deque,
    sorted: in_order,
    min: least,
    max: greatest,
    np.fromiter: from_iterator,
    enumerate: numbered,
    map: mapped,
    filter: chosen,
    itertools.takewhile: taken_while,
    itertools.dropwhile: dropped_while,
    itertools.starmap: spread,
    itertools.islice: sliced,
    itertools.cycle: cycled,
    itertools.accumulate: running,
    itertools.chain: chained,
    itertools.groupby: grouped,
    itertools.pairwise: streamed_neighbours,
    itertools.filterfalse: refused,
    itertools.compress: selected,
    itertools.chain.from_iterable: flattened,
}
#: Where no argument need be a generator.
_SOURCES: dict[Any, Callable[..., Any]] = {
    itertools.count: counted,
    itertools.repeat: repeated,
    itertools.cycle: cycled,
    itertools.takewhile: taken_while,
    itertools.dropwhile: dropped_while,
    itertools.starmap: spread,
    itertools.groupby: grouped,
    itertools.pairwise: neighbours,
    itertools.filterfalse: refused,
    itertools.compress: selected,
    itertools.chain.from_iterable: flattened,
    itertools.zip_longest: filled_up,
    itertools.islice: sliced,
    filter: chosen,
    itertools.combinations_with_replacement: with_replacement,
    itertools.permutations: arranged,
}


def source(thing: Any, count: int = 1) -> Callable[..., Any] | None:
    """What a call with so many arguments means that makes a generator of no other generator; None if it does not."""
    if thing is map and count in (3, 4):
        return mapped_pairs if count == 3 else mapped_triples
    return _SOURCES.get(thing) if isinstance(thing, collections.abc.Hashable) else None


def definition(thing: Any, lazy: Sequence[bool], kwargs: Mapping[str, Any]) -> Callable[..., Any] | None:
    """What a call means if those of its positional arguments are generators that `lazy` says; None if it is unknown."""
    if thing is zip and not kwargs and len(lazy) == 2 and sum(lazy) == 1:
        return beside if lazy[0] else behind
    if thing is map and len(lazy) in (3, 4):
        return mapped_pairs if len(lazy) == 3 else mapped_triples
    if thing is next and not kwargs and len(lazy) in (1, 2) and lazy[0]:
        return first_item if len(lazy) == 1 else first_item_or
    return _CONSUMERS.get(thing) if isinstance(thing, collections.abc.Hashable) else None
