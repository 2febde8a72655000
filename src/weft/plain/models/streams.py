"""Iterators of builtins and `itertools`, as generators."""

from __future__ import annotations

import sys
from collections import deque
from typing import Any

from weft.plain.models.primitives import leave, same

_FAR = sys.maxsize


def _bound(value: Any, otherwise: Any) -> Any:
    """A bound of islice, tested when the iterator is made; Python raises what is to be raised."""
    if value is None:
        return otherwise
    if not isinstance(value, int) or value < 0:
        leave("a bound of islice() that is negative or no integer")
    return value


def _length(value: Any) -> Any:
    """How many items the tuples have that an iterator gives, tested when it is made."""
    if not isinstance(value, int) or value < 0:
        leave("a number of items that is negative or no integer")
    return value


def iterate(values: Any) -> Any:
    for item in values:
        yield item


def iterate_sized(values: Any, size: Any) -> Any:
    """An iterator over a dict or set that was made when it had this many items."""
    if len(values) != size:
        leave("a container that has changed since an iterator over it was made")
    for item in values:
        yield item


def iterate_backwards(values: Any, size: Any) -> Any:
    """reversed(values), made when there were this many items."""
    at = size - 1
    while at >= 0 and at < len(values):
        yield values[at]
        at -= 1


def indexed(values: Any) -> Any:
    """An iterator over an object that has items by number, and no other way to give them."""
    at = 0
    while True:
        try:
            item = values[at]
        except (IndexError, StopIteration):
            return
        yield item
        at += 1


def indexed_backwards(values: Any) -> Any:
    at = len(values) - 1
    while at >= 0:
        try:
            item = values[at]
        except (IndexError, StopIteration):
            return
        yield item
        at -= 1


def iterate_dict_backwards(values: Any, size: Any) -> Any:
    if len(values) != size:
        leave("a container that has changed since an iterator over it was made")
    for item in reversed(values):
        yield item


def enumerated(values: Any, start: Any = 0) -> Any:
    for item in values:
        yield start, item
        start += 1


def zipped(first: Any, second: Any) -> Any:
    for pair in zip(first, second):
        yield pair


def zipped_one(first: Any) -> Any:
    for item in first:
        yield (item,)


def zipped_three(first: Any, second: Any, third: Any) -> Any:
    for triple in zip(first, second, third):
        yield triple


def mapped(function: Any, values: Any) -> Any:
    for item in values:
        yield function(item)


def mapped_two(function: Any, first: Any, second: Any) -> Any:
    for a, b in zip(first, second):
        yield function(a, b)


def filtered(function: Any, values: Any) -> Any:
    for item in values:
        if function(item):
            yield item


def filtered_true(function: Any, values: Any) -> Any:
    for item in values:
        if item:
            yield item


def count(start: Any = 0, step: Any = 1) -> Any:
    while True:
        yield start
        start += step


def cycle(values: Any) -> Any:
    saved = []
    for item in values:
        yield item
        saved.append(item)
    while saved:
        for item in saved:
            yield item


def repeat(item: Any, times: Any = -1) -> Any:
    if times < 0:
        while True:
            yield item
    for _ in range(times):
        yield item


def repeat_times(item: Any, times: Any) -> Any:
    for _ in range(times):
        yield item


def chain_two(first: Any, second: Any) -> Any:
    for item in first:
        yield item
    for item in second:
        yield item


def chain_three(first: Any, second: Any, third: Any) -> Any:
    for item in first:
        yield item
    for item in second:
        yield item
    for item in third:
        yield item


def islice_stop(values: Any, stop: Any) -> Any:
    return first_items(values, _bound(stop, _FAR))


def first_items(values: Any, stop: Any) -> Any:
    if stop > 0:
        taken = 0
        for item in values:
            yield item
            taken += 1
            if taken >= stop:
                break


def islice_range(values: Any, start: Any, stop: Any, step: Any = 1) -> Any:
    by = _bound(step, 1)
    if by == 0:
        leave("islice() by steps of 0")
    return items_between(values, _bound(start, 0), _bound(stop, _FAR), by)


def items_between(values: Any, start: Any, stop: Any, step: Any) -> Any:
    at = 0
    wanted = start
    if wanted < stop:
        for item in values:
            if at == wanted:
                yield item
                wanted += step
            at += 1
            if at >= stop:
                break
    elif start > 0:  # those before are taken all the same
        for _ in values:
            at += 1
            if at >= start:
                break


def takewhile(function: Any, values: Any) -> Any:
    for item in values:
        if not function(item):
            break
        yield item


def dropwhile(function: Any, values: Any) -> Any:
    dropping = True
    for item in values:
        if dropping and function(item):
            continue
        dropping = False
        yield item


def accumulate(values: Any) -> Any:
    first = True
    total = None
    for item in values:
        if first:
            total = item
            first = False
        else:
            total = total + item
        yield total


def accumulate_by(values: Any, function: Any) -> Any:
    first = True
    total = None
    for item in values:
        if first:
            total = item
            first = False
        else:
            total = function(total, item)
        yield total


def pairwise(values: Any) -> Any:
    first = True
    before = None
    for item in values:
        if first:
            first = False
        else:
            yield before, item
        before = item


def starmap(function: Any, values: Any) -> Any:
    for item in values:
        yield function(*item)


def product_two(first: Any, second: Any) -> Any:
    return pairs_of(list(first), list(second))


def pairs_of(one: Any, two: Any) -> Any:
    for a in one:
        for b in two:
            yield a, b


def product_three(first: Any, second: Any, third: Any) -> Any:
    return triples_of(list(first), list(second), list(third))


def triples_of(one: Any, two: Any, three: Any) -> Any:
    for a in one:
        for b in two:
            for c in three:
                yield a, b, c


def product_repeat(values: Any, repeat: Any) -> Any:
    return repeated_product(list(values), _length(repeat))


def repeated_product(pool: Any, repeat: Any) -> Any:
    count = len(pool)
    if repeat == 0 or count > 0:
        places = [0] * repeat
        while True:
            yield tuple([pool[i] for i in places])
            at = repeat - 1
            while at >= 0:
                places[at] += 1
                if places[at] < count:
                    break
                places[at] = 0
                at -= 1
            if at < 0:
                break


def permutations(values: Any, length: Any = None) -> Any:
    pool = list(values)
    return permutations_of(pool, len(pool) if length is None else _length(length))


def permutations_of(pool: Any, r: Any) -> Any:
    n = len(pool)
    if r <= n:
        places = list(range(n))
        cycles = list(range(n, n - r, -1))
        yield tuple([pool[i] for i in places[:r]])
        going = n > 0
        while going:
            going = False
            for i in range(r - 1, -1, -1):
                cycles[i] -= 1
                if cycles[i] == 0:
                    places[i:] = places[i + 1 :] + places[i : i + 1]
                    cycles[i] = n - i
                else:
                    j = cycles[i]
                    swapped = places[i]
                    places[i] = places[n - j]
                    places[n - j] = swapped
                    yield tuple([pool[k] for k in places[:r]])
                    going = True
                    break


def combinations(values: Any, r: Any) -> Any:
    return combinations_of(list(values), _length(r))


def combinations_of(pool: Any, r: Any) -> Any:
    n = len(pool)
    if r <= n:
        places = list(range(r))
        yield tuple([pool[i] for i in places])
        going = True
        while going:
            going = False
            i = r - 1
            while i >= 0:
                if places[i] != i + n - r:
                    going = True
                    break
                i -= 1
            if going:
                places[i] += 1
                for j in range(i + 1, r):
                    places[j] = places[j - 1] + 1
                yield tuple([pool[k] for k in places])


def combinations_with_replacement(values: Any, r: Any) -> Any:
    return multisets_of(list(values), _length(r))


def multisets_of(pool: Any, r: Any) -> Any:
    n = len(pool)
    if n > 0 or r == 0:
        places = [0] * r
        yield tuple([pool[i] for i in places])
        going = True
        while going:
            going = False
            i = r - 1
            while i >= 0:
                if places[i] != n - 1:
                    going = True
                    break
                i -= 1
            if going:
                place = places[i] + 1
                for j in range(i, r):
                    places[j] = place
                yield tuple([pool[k] for k in places])


def zipped_lists(rows: Any) -> Any:
    """zip(*rows) of lists, each read when its turn comes"""
    lists = list(rows)
    at = 0
    while lists:
        found = []
        for row in lists:
            if at >= len(row):
                return
            found.append(row[at])
        yield tuple(found)
        at += 1


def zipped_fixed(rows: Any) -> Any:
    """zip(*rows) of tuples, strings and ranges, which do not change"""
    return zipped_lists([list(row) for row in rows])


def zipped_rows(rows: Any) -> Any:
    """zip(*rows) of what there are iterators of; two rows may be one iterator"""
    return zipped_iterators([iter(row) for row in rows])


def zipped_iterators(sources: Any) -> Any:
    while sources:
        found: list[Any] = []
        for source in sources:
            before = len(found)
            for item in source:
                found.append(item)
                break
            if len(found) == before:
                return
        yield tuple(found)


def grouped(values: Any, key: Any) -> Any:
    """itertools.groupby: a group ends when the next one is asked for."""
    source = iter(values)
    waiting = []  # type: ignore[var-annotated]
    keys = []  # type: ignore[var-annotated]
    turn = [0]

    def step() -> Any:
        for item in source:
            waiting.clear()
            waiting.append(item)
            found = key(item)
            keys.clear()
            keys.append(found)
            return True
        return False

    def members(mine: Any, wanted: Any) -> Any:
        while turn[0] == mine:
            if not waiting and not step():
                return
            if not same(keys[0], wanted):
                return
            item = waiting[0]
            waiting.clear()
            yield item

    if not step():
        return
    while True:
        target = keys[0]
        yield target, members(turn[0], target)
        turn[0] += 1
        while same(keys[0], target):
            if not step():
                return


def itself(item: Any) -> Any:
    return item


def grouped_equal(values: Any) -> Any:
    return grouped(values, itself)


def zipped_strict(first: Any, second: Any) -> Any:
    one = iter(first)
    other = iter(second)
    for item in one:
        found = False
        for partner in other:
            found = True
            yield item, partner
            break
        if not found:
            raise ValueError("zip() argument 2 is shorter than argument 1")
    for _ in other:
        raise ValueError("zip() argument 2 is longer than argument 1")


def zipped_longest(first: Any, second: Any, fill: Any) -> Any:
    other = iter(second)
    for item in first:
        found = False
        for partner in other:
            found = True
            yield item, partner
            break
        if not found:
            yield item, fill
    for partner in other:
        yield fill, partner


def filtered_false(function: Any, values: Any) -> Any:
    for item in values:
        if not function(item):
            yield item


def filtered_false_plain(function: Any, values: Any) -> Any:
    for item in values:
        if not item:
            yield item


def compressed(values: Any, chosen: Any) -> Any:
    for item, keep in zip(values, chosen):
        if keep:
            yield item


def chained(rows: Any) -> Any:
    for row in rows:
        for item in row:
            yield item


def accumulate_from(values: Any, function: Any, start: Any) -> Any:
    total = start
    yield total
    for item in values:
        total = function(total, item)
        yield total


def batched(values: Any, n: Any) -> Any:
    if n < 1:
        raise ValueError("n must be at least one")
    batch = []
    for item in values:
        batch.append(item)
        if len(batch) == n:
            yield tuple(batch)
            batch = []
    if batch:
        yield tuple(batch)


def tee(values: Any, n: Any = 2) -> Any:
    source = iter(values)
    if not isinstance(n, int) or n < 0:
        leave("a number of iterators that is negative or no integer")
    waiting: list[Any] = [deque() for _ in range(n)]
    return tuple([_teed(source, mine, waiting) for mine in waiting])


def _teed(source: Any, mine: Any, waiting: Any) -> Any:
    """One of the iterators that share a source: what one of them takes, waits for the others."""
    while True:
        if not mine:
            for item in source:
                for queue in waiting:
                    queue.append(item)
                break
            else:
                return
        yield mine.popleft()


def call_until(function: Any, sentinel: Any) -> Any:
    while True:
        item = function()
        if item == sentinel:
            return
        yield item
