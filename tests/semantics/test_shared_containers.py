"""Names that share a list, dict, object or array, and conditions that change what they look at: as CPython, natively or
left to Python, never on copies that drift apart.
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np
import pytest

import weft
from tests.semantics.test_growing_lists import _same

Pair = namedtuple("Pair", "x y", defaults=[2.0])


class Holder:
    def __init__(self, array):
        self.array = array
        self.items = []


def a_condition_that_pops(n):
    todo = [1, 2, 3, 4]
    return [i for i in range(n) if len(todo) > 0 and todo.pop() > 1], todo


def without_repeats(items):
    seen = set()
    return [v for v in items if not (v in seen or seen.add(v))]


def keys_with_a_name(n):
    d = {1: 2, 2: 3, 3: 4}
    keys = d.keys()
    del d[2]
    total = n
    for k in keys:
        total += k
    return total


def held_by_an_object(n):
    a = np.zeros(3)
    holder = Holder(a)
    for _ in range(n):
        a = a + 1.0
    return holder.array, a


def held_and_written(n):
    a = np.zeros(3)
    holder = Holder(a)
    for _ in range(n):
        b = holder.array
        a = a + 1.0
        b[0] += 1.0
    return holder.array, a


def given_and_still_growing(n):
    frontier = [n]
    total = 0
    for _ in range(4):
        following = []
        for u in frontier:
            following.append(u + 1)
        frontier = following
        following.append(5)
        total += len(frontier)
    return frontier, total


def second_name_grows(n):
    a = [1, 2]
    b = a
    b.append(n)
    b[0] = 7
    return a, len(b)


def through_an_attribute(n):
    holder = Holder(np.zeros(1))
    items = holder.items
    for i in range(n):
        holder.items.append(i)
    return items


def replaced_in_a_branch(n):
    a = [1]
    b = a
    for i in range(n):
        if i == 3:
            a = [9]
        a.append(i)
    return a, b


def pairs_in_a_loop(n):
    p = Pair(1.0)
    for _ in range(n):
        p = Pair(p.x + p.y, y=p.y)
    return p.x, p


FUNCTIONS = [
    a_condition_that_pops,
    keys_with_a_name,
    held_by_an_object,
    held_and_written,
    given_and_still_growing,
    second_name_grows,
    through_an_attribute,
    replaced_in_a_branch,
    pairs_in_a_loop,
]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_the_same_as_cpython(function):
    _same(weft.jit(fallback="silent")(function)(5), function(5))


def test_a_set_as_the_memory_of_a_condition():
    items = [3, 1, 3, 2, 1]
    assert weft.jit(fallback="silent")(without_repeats)(items) == without_repeats(items)


@pytest.mark.parametrize("function", [a_condition_that_pops, second_name_grows, pairs_in_a_loop])
def test_these_are_native(function):
    _same(weft.jit(fallback="error")(function)(5), function(5))


def test_one_list_in_two_places_stays_one():
    def twice(n):
        a = [float(i) for i in range(n)]
        b = a
        return a, b

    first, second = weft.jit(fallback="silent")(twice)(4)
    assert first is second
