"""Counters combined: only counts above 0 are kept, keys of the left one first."""

from __future__ import annotations

from collections import Counter

import weft


def combined(a, b):
    p, q = Counter(a), Counter(b)
    q[7] -= 5
    q[99] = -2
    return p + q, p - q, p | q, p & q, list(p.elements()), p.total()


def test_as_python() -> None:
    native = weft.jit(fallback="error")(combined)
    for a, b in (([1, 2, 2, 3, 7], [2, 3, 3, 9]), ([5, 5], []), ([], [1]), ([7, 7], [7, 99])):
        mine, theirs = native(a, b), combined(a, b)
        assert mine == theirs
        assert [list(one.items()) for one in mine[:4]] == [list(one.items()) for one in theirs[:4]]
