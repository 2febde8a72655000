"""collections.OrderedDict, made in a function."""

from __future__ import annotations

from collections import OrderedDict

import pytest

import weft
from tests.semantics.agreement import agree


def least_recently_used(keys, room):
    cache = OrderedDict()
    hits = 0
    for key in keys:
        if key in cache:
            hits += 1
            cache.move_to_end(key)
        else:
            cache[key] = key * 2
            if len(cache) > room:
                cache.popitem(last=False)
    return hits, list(cache.items()), cache


def both_ends(pairs):
    d = OrderedDict(pairs)
    first = d.popitem(last=False)
    last = d.popitem()
    d.move_to_end(2)
    return first, last, list(d), dict(d), len(d)


def empties(n):
    d = OrderedDict()
    d[1] = 2.0
    for _ in range(n):
        d.popitem()
    return d


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (least_recently_used, ([1, 2, 3, 1, 4, 2, 1, 5, 6, 7, 1, 2] * 20, 3)),
        (least_recently_used, ([], 3)),
        (both_ends, ([(1, 1.0), (2, 1.0), (3, 1.0), (4, 2.0)],)),
        (empties, (0,)),
        (empties, (1,)),
    ],
)
def test_native(function, args):
    agree(function, *args)


def test_what_is_missing():
    agree(empties, 2, native=False)
    agree(both_ends, [(1, 1.0), (3, 1.0), (4, 2.0)], native=False)


def test_left_to_python():
    def f(n):
        d = OrderedDict()
        for k in range(n):
            d[k] = k
        d.move_to_end(2, last=False)
        return d, d.copy() == d

    assert weft.jit(fallback="silent")(f)(4) == f(4)
