"""Floats and booleans as keys: equality and order are CPython's."""

from __future__ import annotations

import math
from collections import Counter, defaultdict

import numpy as np
import pytest

from tests.semantics.agreement import agree

ODD = [1.0, 2.5, 1.0, 0.0, -0.0, 1e300, -1e300, math.inf, -math.inf, 5e-324, 1e16, 2.5, -2.5]
MANY = [k * 0.37 - 3 for k in range(200)]


def counted(xs):
    found = {}
    for x in xs:
        found[x] = found.get(x, 0) + 1
    distinct = set(xs)
    return found, Counter(xs), distinct, len(distinct), sorted(distinct), {x: k for k, x in enumerate(xs)}


def in_order(xs):
    return [x for x in set(xs)]


def pairs(xs):
    found = {}
    for k, x in enumerate(xs):
        found[k % 3, x] = k
    return found, [pair for pair in set([(k % 5, x) for k, x in enumerate(xs)])]


def looked_up(d, key):
    return d[1], d.get(0.5), key in d, [k * v for k, v in d.items()]


def missing(d, key):
    return d[key]


def changed(d, key):
    d[key] = 1.0
    del d[0.5]
    return len(d)


def of_sets(xs, ys):
    one, other = set(xs), set(ys)
    return one & other, one >= other


def booleans(xs):
    found = {}
    for x in xs:
        found[x] = found.get(x, 0) + 1
    return found, set(xs), [x for x in set(xs)]


def of_array(a):
    found = defaultdict(int)
    for k in range(len(a)):
        found[float(a[k])] += k
    return found


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (counted, (ODD,)),
        (counted, ([-0.0, 0.0],)),
        (counted, ([],)),
        (in_order, (MANY + ODD,)),
        (pairs, (MANY,)),
        (looked_up, ({1.0: 2.0, 0.5: 3.0}, 2)),
        (looked_up, ({1.0: 2.0, 0.5: 3.0}, 0.5)),
        (missing, ({1.0: 2.0}, 1.0)),
        (changed, ({1.0: 2.0, 0.5: 3.0}, 7.5)),
        (of_sets, ([1.5, 2.5], [2.5])),
        (booleans, ([True, False, True],)),
        (of_array, (np.array([1.5, 2.5, 1.5]),)),
    ],
)
def test_native(function, args):
    agree(function, *args)


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (counted, ([math.nan, 1.0, math.nan],)),
        (looked_up, ({1.0: 2.0, 0.5: 3.0}, 2**60)),
        (missing, ({1.0: 2.0}, 7.5)),
        (missing, ({1.0: 2.0}, math.nan)),
    ],
)
def test_left_to_python(function, args):
    agree(function, *args, native=False)
