"""Look-ups that share a search, and library loops without tests: a key that was looked for on the way is not looked for
again, unless what it is looked for in, or the key itself, has changed in between.
"""

from __future__ import annotations

import bisect
import heapq
import random
from collections import defaultdict

import numpy as np
import pytest

import weft
from tests.fuzz.test_containers import outcome


def counted(keys):
    counts = {}
    for key in keys:
        if key in counts:
            counts[key] += 1
        else:
            counts[key] = 1
    return counts


def counted_shortly(keys):
    counts = {}
    for key in keys:
        counts[key] = counts.get(key, 0) + 1
    return counts


def visited(keys):
    seen = set()
    order = []
    for key in keys:
        if key not in seen:
            seen.add(key)
            order.append(key)
    return order, len(seen)


def found_before(keys):
    """What a test has found stays what it was when the key is added behind it."""
    seen = {}
    late = 0
    for key in keys:
        known = key in seen
        number = seen.setdefault(key, len(seen))
        if known:
            late += number
    return late, seen


def other_key(keys):
    """The variable of the key changes between two searches."""
    seen = {0: 1}
    total = 0
    for key in keys:
        if key in seen:
            total += seen[key]
        key = key % 3
        if key in seen:
            total += 10 * seen[key]
        else:
            seen[key] = total
    return total, seen


def taken_out(keys):
    """The key leaves the dict between two searches, and comes back."""
    seen = {}
    gone = 0
    for key in keys:
        if key in seen:
            del seen[key]
            if key not in seen:
                gone += 1
            seen[key] = gone
            if gone % 3 == 0:
                seen.pop(key)
        else:
            seen[key] = -1
    return gone, seen


def grown_between(keys):
    """Other keys are added between the test and the use, so that the index is made anew."""
    seen = {}
    for key in keys:
        if key not in seen:
            for other in range(key * 40, key * 40 + 37):
                seen[other + 1000] = key
            seen[key] = len(seen)
    return seen


def in_an_inner_loop(keys):
    """What was found before a loop does not hold in its second iteration."""
    seen = set()
    total = 0
    for key in keys:
        if key in seen:
            total += 1
        for step in range(3):
            if key in seen:
                total += 10
            seen.add(key)
            if step == 1:
                seen.discard(key)
    return total, len(seen)


def by_default(keys):
    counts = defaultdict(int)
    for key in keys:
        counts[key] += 1
        so_far = counts[key]
        counts[key + 1] += so_far
    return dict(counts)


def two_tables(keys):
    one, other = {}, {}
    for key in keys:
        if key in one:
            other[key] = one[key]
        elif key in other:
            one[key] = other[key] + 1
        else:
            one[key] = 0
    return one, other


def inner_sets(keys):
    groups = [set(), set(), set()]
    fresh = 0
    for key in keys:
        if key not in groups[key % 3]:
            groups[key % 3].add(key)
            fresh += 1
        if key in groups[(key + 1) % 3]:
            fresh += 100
    return fresh, [len(group) for group in groups]


SEARCHES = [
    counted, counted_shortly, visited, found_before, other_key, taken_out, grown_between, in_an_inner_loop, by_default,
    two_tables, inner_sets,
]  # fmt: skip


@pytest.mark.parametrize("function", SEARCHES, ids=lambda function: function.__name__)
def test_searches(function):
    generator = random.Random(3)
    compiled = weft.jit(fallback="error")(function)
    for size, most in ((1, 1), (40, 5), (300, 60), (300, 2000)):
        keys = [generator.randrange(most) for _ in range(size)]
        assert outcome(compiled, (keys,)) == outcome(function, (keys,))


def by_heap(values):
    heap = []
    out = []
    for value in values:
        heapq.heappush(heap, value)
        if len(heap) > 9:
            out.append(heapq.heappop(heap))
    while heap:
        out.append(heapq.heappop(heap))
    return out


def through_heap(values):
    heap = list(values)
    heapq.heapify(heap)
    out = [heapq.heappushpop(heap, value) for value in values]
    for value in values:
        out.append(heapq.heapreplace(heap, value))
    return out, heap


def of_pairs(values):
    heap = [(value, number) for number, value in enumerate(values)]
    heapq.heapify(heap)
    out = []
    while len(heap) > 0:
        value, number = heapq.heappop(heap)
        out.append(number)
        if number % 5 == 0:
            heapq.heappush(heap, (value + 3, number + 1))
    return out


def bisected(values):
    ordered = []
    places = []
    for value in values:
        places.append(bisect.bisect_left(ordered, value))
        places.append(bisect.bisect(ordered, value))
        bisect.insort(ordered, value)
    return places, ordered


def popped_from_nothing(values):
    heap = [value for value in values if value < 0]
    return heapq.heappop(heap)


@pytest.mark.parametrize("function", [by_heap, through_heap, of_pairs, bisected, popped_from_nothing])
def test_heaps_and_bisection(function):
    generator = random.Random(4)
    compiled = weft.jit(fallback="error")(function)
    for size in (1, 2, 3, 50, 257):
        for values in (
            [generator.randrange(20) for _ in range(size)],
            [generator.randrange(-(2**62), 2**62) for _ in range(size)],
            [generator.uniform(-1.0, 1.0) for _ in range(size)],
        ):
            if function is of_pairs and max(abs(value) for value in values) > 2**60:
                continue
            assert outcome(compiled, (list(values),)) == outcome(function, (list(values),))


def test_bisection_in_an_array():
    @weft.jit(fallback="error")
    def place(values, value):
        return bisect.bisect_left(values, value), bisect.bisect_right(values, value)

    values = np.sort(np.random.default_rng(5).integers(0, 50, 101))
    for part in (values, values[::2], values[:0]):
        for value in (-1, 0, 17, 49, 60):
            expected = bisect.bisect_left(part, value), bisect.bisect_right(part, value)
            assert place(part, value) == expected


class Task:
    """A comparison of the user's own may change the list that is a heap: its indices stay tested."""

    def __init__(self, rank, name):
        self.rank = rank
        self.name = name

    def __lt__(self, other):
        return self.rank > other.rank


def of_objects(ranks):
    heap = []
    for name in range(len(ranks)):
        heapq.heappush(heap, Task(ranks[name], name))
    out = []
    while heap:
        out.append(heapq.heappop(heap).name)
    return out


def test_heap_of_objects():
    ranks = [5, 3, 9, 9, 1, 7]
    assert weft.jit(of_objects)(ranks) == of_objects(ranks)


def counter_near_the_end(start, steps):
    """A counter that begins where 64 bits end is tested: the call is repeated in Python."""
    number = start
    while steps > 0:
        number += 1
        steps -= 1
    return number


def test_counters_keep_their_test():
    compiled = weft.jit(fallback="error")(counter_near_the_end)
    for start in (0, 2**57, 2**62, 2**63 - 3):
        assert compiled(start, 10) == counter_near_the_end(start, 10)
