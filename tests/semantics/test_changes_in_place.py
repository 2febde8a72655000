"""What `+=` and methods do to a list, dict or set is seen through all its names, in all containers that hold it and by
the caller; and an argument that is returned is returned as itself, with what has become of it.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable
from typing import Any

import pytest

import weft


def two_names_of_tuples(n):
    xs = [(1, 2)]
    ys = xs
    xs += [(n, 4)]
    return ys


def two_names(n):
    xs = [1]
    ys = xs
    xs += [n] * 2
    ys += xs
    return xs


def repeated(n):
    xs = [1]
    ys = xs
    xs *= n
    return ys


def only_name(n):
    xs = [1, 2]
    xs *= n
    return xs


def argument(xs, n):
    ys = [n, n]
    xs += ys
    xs += (n, 5)
    return len(xs)


def argument_by_itself(xs, n):
    xs += xs
    return xs


def item_of_a_dict(n):
    d = {1: [0]}
    x = d[1]
    d[1] += [n]
    return x, d


def item_of_a_defaultdict(n):
    d = defaultdict(list)
    x = d[1]
    d[1] += [n]
    d[2] += [n, n]
    return x, d


def row(m):
    r = m[0]
    m[0] += [7]
    r += [8]
    return r


def row_of_a_copy(n):
    a = [[] for _ in range(n)]
    a[0].append(1)
    b = a[:]
    a[2] += [5, 6]
    return b


def by_tuples(n):
    pairs = [(i, i) for i in range(n)]
    xs = []
    xs.extend(pairs)
    ys = []
    ys += [(n, 2.5)]
    return xs, ys


def others(n):
    s = {1, 2}
    t = s
    s |= {n}
    q = deque([1])
    p = q
    q += [n]
    return t, p


def inside(xs, n):
    def grow(l):
        l += [n]
        return len(l)

    def replace(l):
        l = l + [n]
        return len(l)

    return grow(xs), replace(xs)


def rows_of_an_argument(m):
    m[0].append(1)
    return m


def lists_in_tuples(ps):
    for k, l in ps:
        l.append(k)
    return ps, len(ps)


def row_that_is_put_twice(m):
    m[0].append(1)
    m.append(m[0])
    return m, m[0]


def lists_of_lists(m):
    m[0][0].append(1)
    m[1].append([9])
    return m


def lists_of_a_dict(d):
    d[1].append(3)
    d[7] = d[1]
    return d, d[7]


def beside_a_plain_list(m, xs):
    m[0].append(1)
    return xs, m


PROGRAMS: dict[Callable[..., Any], Callable[[], tuple[Any, ...]]] = {
    **dict.fromkeys(
        (
            two_names_of_tuples,
            two_names,
            repeated,
            only_name,
            item_of_a_dict,
            item_of_a_defaultdict,
            row_of_a_copy,
            by_tuples,
            others,
        ),
        lambda: (3,),
    ),
    **dict.fromkeys((argument, argument_by_itself, inside), lambda: ([1, 2], 3)),
    **dict.fromkeys((row, rows_of_an_argument, row_that_is_put_twice), lambda: ([[1], [2]],)),
    lists_in_tuples: lambda: ([(1, [2, 3]), (4, [])],),
    lists_of_lists: lambda: ([[[1]], [[2], [3]]],),
    lists_of_a_dict: lambda: ({1: [2, 3], 2: []},),
    beside_a_plain_list: lambda: ([[1], [2]], [1.5]),
}


NATIVE = (
    two_names_of_tuples,
    two_names,
    by_tuples,
    argument,
    item_of_a_dict,
    row,
    lists_in_tuples,
    rows_of_an_argument,
)


def _places(value: Any, seen: list[int]) -> Any:
    """A value with a number for each container: the same where it is the same object."""
    if not isinstance(value, (list, dict, set, deque, tuple)):
        return value
    if isinstance(value, tuple):
        return tuple(_places(item, seen) for item in value)
    if id(value) in seen:
        return ("again", seen.index(id(value)))
    seen.append(id(value))
    items = list(value.items()) if isinstance(value, dict) else sorted(value) if isinstance(value, set) else list(value)
    return type(value).__name__, [_places(item, seen) for item in items]


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda function: function.__name__)
def test_seen_through_all_names(function: Callable[..., Any]) -> None:
    compiled = weft.jit(fallback="error" if function in NATIVE else "silent")(function)
    for _ in range(2):
        mine, plain = PROGRAMS[function](), PROGRAMS[function]()
        assert _places((compiled(*mine), mine), []) == _places((function(*plain), plain), [])
