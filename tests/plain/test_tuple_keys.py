"""Tuples as keys of dicts and members of sets in compiled plain Python."""

from __future__ import annotations

import pytest

from tests.plain.warm import settled
from weft.plain.function import Native
from weft.plain.runtime import load

pytestmark = pytest.mark.skipif(load() is None, reason="no C compiler")


def as_keys(keys, others):
    """Lookups, order of sets, equality and hashes of tuples, whatever is in them."""
    counts = {}
    for key in keys:
        counts[key] = counts.get(key, 0) + 1
    members = set(keys)
    found = [key in counts for key in others], [key in members for key in others]
    equal = [[a == b for b in others] for a in keys]
    return counts, list(members), found, equal, [hash(key) for key in keys], len(members & set(others))


def nested(key, depth):
    for _ in range(depth):
        key = (key, 1)
    return key


KEYS = {
    "ints": ([(k % 3, k // 3 - 2) for k in range(12)], [(0, -2), (1, 0), (-1, -1), (2**62, -(2**62))]),
    "bools": ([(True, 1), (False, 0), (True, 0)], [(False, 0), (True, 1)]),
    "floats": ([(0.0, 1.5), (-0.0, 1.5), (2.0, float("inf"))], [(0.0, 1.5), (2.0, float("-inf"))]),
    "strings": ([("ab", 1), ("a" + "b", 1), ("", 2)], [("ab", 1), ("ba", 1), ("", 2)]),
    "none": ([("a", None), ("b", None)], [("a", None)]),
    "nested": ([((1, 2), ("a", 3)), ((1, 2), ("a", 4))], [((1, 2), ("a", 4)), ((2, 1), ("a", 3))]),
    "several types": ([(1, "a"), ("a", 1), (1.0, "a"), (None, True)], [(1, "a"), (True, "a"), (None, 1)]),
    "several lengths": ([(1,), (1, 1), (), (1, 1, 1)], [(1,), (), (2,)]),
    "deep": ([nested(0, 30), nested(1, 30)], [nested(1, 30), nested(2, 30)]),
    "large": ([(2**63 - 1, -(2**63)), (-1, -2)], [(-1, -2), (-2, -1)]),
}


@pytest.mark.parametrize("name", list(KEYS))
def test_tuples_as_keys(name):
    settled(as_keys, KEYS[name])


def test_a_nan_in_a_key_is_as_in_python():
    keys = [(float("nan"), 1), (1.0, 1)]
    others = [(1.0, 1), keys[0], (float("nan"), 1)]
    native = Native(as_keys, lambda values: native.extend(values) is not None)
    assert repr(native(keys, others)) == repr(as_keys(keys, others))
