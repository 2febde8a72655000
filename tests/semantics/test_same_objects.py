"""Which objects are the same: results that share inner containers with arguments, arguments that share them."""

from __future__ import annotations

import enum
import itertools
from collections import deque, namedtuple
from collections.abc import Callable
from typing import Any

import pytest

from tests.semantics.everyday import same

Pair = namedtuple("Pair", "x y")
Renamed = namedtuple("NotItsName", "x y")


class Color(enum.Enum):
    RED = 1
    BLUE = 2


def one_twice(d):
    return d[1], d[1]


def list_of_inner(d):
    return [d[1], d[2]]


def inner_and_whole(d):
    x = d[1]
    return x, x, d


def dict_of_inner(d):
    out = {}
    for k in d:
        out[k] = d[k]
    return out


def longest(l):
    best = l[0]
    for r in l:
        if len(r) > len(best):
            best = r
    return best


def append_of_its_own(l):
    l.append(l[0])
    return l[-1]


def one_in_two_places(l):
    l[0] = l[1]
    l[0].append(5)
    return l


def backwards(l):
    return l[::-1]


def by_length(l):
    return sorted(l, key=len)


def chosen(l):
    return [r for r in l if len(r) > 1]


def first_and_last(l):
    a, b = l[0], l[-1]
    a.append(9)
    return a is b, b


def argument_into_argument(l, x):
    l.append(x)
    x.append(3)
    return l


def two_names(x, y):
    x.append(1)
    return x is y, len(y), y


def entry_under_two_keys(d):
    d[5] = d[1]
    d[5].append(4)
    return d[5]


def deep_copy(l):
    m = [list(r) for r in l]
    m[0][0] = 100
    return m


def shallow_copy(l):
    m = l[:]
    m[0].append(7)
    m.append([1])
    return m


def tuple_of_both(l):
    t = (l, l[0])
    return t


def sorted_dict(d):
    ks = sorted(d)
    return {k: d[k] for k in ks}


def row_three_times(n):
    row = [0] * n
    g = [row] * 3
    g[0][0] = 5
    return g


def list_with_its_own_row(n):
    g = [[0] * n for _ in range(3)]
    g[0][0] = 5
    h = g
    h.append(g[0])
    return g, h


def found_or_none(d):
    inner = d.get(1)
    if inner is None:
        return None
    inner[9] = 1
    return inner


def list_of_values(d):
    return list(d.values())


def popped_entry(d):
    return d.pop(1)


def popped_item(l):
    return l.pop()


def appended(l):
    out = []
    for r in l:
        if len(r) > 1:
            out.append(r)
    return out


def all_of_them(l):
    return [r for r in l]


def tail(l):
    return l[1:]


def as_list(l):
    return list(l)


def doubled(l):
    return l + l


def first(l):
    return l[0]


def copied(l):
    return l.copy()


def reversed_list(l):
    return list(reversed(l))


def swapped(l):
    return [l[1], l[0]]


def greatest_by_length(l):
    return max(l, key=len)


def in_order(l):
    return sorted(l)


def by_key(l):
    return {len(r): r for r in l}


def in_a_tuple(l):
    return (l[0], 1)


def repeated(l):
    return l * 2


def least(l):
    return min(l)


def starred(l):
    x, *y = l
    return y


def unpacked(l):
    x, y = l
    return x


def numbered(l):
    return [(i, r) for i, r in enumerate(l)]


def zipped(l):
    return list(zip(l, l))


def rotated(l):
    return l[-1:] + l[:-1]


def put_into_dict(l):
    d = {}
    d[3] = l[0]
    return d


def chained(l):
    return list(itertools.chain(l, l))


def replaced(l):
    q = [x for x in l]
    q[0] = l[1]
    return q


def one_of_two(l):
    return l if len(l) > 5 else [l[0]]


def next_of_generator(l):
    return next(r for r in l)


def filtered(l):
    return list(filter(lambda r: len(r), l))


def mapped(l):
    return list(map(lambda r: r, l))


def named_tuples_of_another_name(xs):
    xs.append(Renamed(1, 2))


def named_tuples(xs):
    xs.append(Pair(1, 2))
    xs.append(Pair(3, 4))
    return xs[0]


def named_inside_tuples(xs):
    xs.append((Pair(1, 2), 3))
    return xs


def named_inside_lists(xs):
    xs.append([Pair(1, 2)])
    return xs


def none_inside_lists(xs):
    xs.append([None, 2])
    return xs


def only_none_inside_lists(xs):
    xs.append([None])
    return xs


def truth_and_number(xs):
    xs.append(True)
    xs.append(2)
    return xs


def int_and_float(xs):
    xs.append(1)
    xs.append(2.5)
    return xs


def none_and_list(xs):
    xs.append(None)
    xs.append([])
    return xs


def an_empty_dict(xs):
    xs.append({})
    return xs


def none_inside_dicts(xs):
    xs.append({1: None})
    return xs


def an_empty_tuple(xs):
    xs.append(())
    return xs


def tuples_of_none(xs):
    xs.append((None, None))
    xs.append((1, None))
    return xs


def several_none(xs):
    xs.extend([None] * 3)
    xs[1] = 4
    return xs


def augmented_by_none(xs):
    xs += [None]
    return xs


def none_inserted(xs):
    xs.insert(0, None)
    return xs


def slice_of_none(xs):
    xs[:] = [None, None]
    return xs


def named_values(d):
    d[3] = Pair(1, 2)
    return d


def none_inside_value_lists(d):
    d[1] = [None, 2]
    d[2] = []
    return d


def default_of_none(d):
    d.setdefault(1, None)
    d.setdefault(2, []).append(3)
    return d


def none_replaced(d):
    d[1] = None
    if d[1] is None:
        d[1] = 5
    return d


def none_as_key(d):
    d[None] = 1
    return d


def deque_of_none(q):
    q.append(None)
    return q


def deque_of_pairs(q):
    q.append(Pair(1, 2))
    return q


def set_of_pairs(s):
    s.add(Pair(1, 2))
    return s


def made_pairs(n):
    return [Renamed(n, i) for i in range(n)], Renamed(1, 2), Pair(n, 2)


def made_members(n):
    return [Color.RED for _ in range(n)]


def none_in_region(xs):
    out = []
    print(end="")
    for _ in xs:
        out.append(None)
        out.append(None)
    return out


def pairs_in_region(xs):
    out = []
    print(end="")
    for x in xs:
        out.append(Pair(x, x * x))
    return out


def perhaps_in_region(xs):
    out = []
    print(end="")
    for x in xs:
        out.append((x, x if x > 0 else None))
    return out


_OF_DICTS: list[Callable[..., Any]] = [
    one_twice,
    list_of_inner,
    inner_and_whole,
    dict_of_inner,
    sorted_dict,
    found_or_none,
    list_of_values,
    popped_entry,
]

_OF_LISTS: list[Callable[..., Any]] = [
    longest,
    append_of_its_own,
    one_in_two_places,
    backwards,
    by_length,
    chosen,
    first_and_last,
    shallow_copy,
    tuple_of_both,
    popped_item,
    appended,
    all_of_them,
    tail,
    as_list,
    doubled,
    first,
    copied,
    reversed_list,
    swapped,
    greatest_by_length,
    in_order,
    by_key,
    in_a_tuple,
    repeated,
    least,
    starred,
    unpacked,
    numbered,
    zipped,
    rotated,
    put_into_dict,
    chained,
    replaced,
    one_of_two,
    next_of_generator,
    filtered,
    mapped,
]

_INTO_LISTS: list[Callable[..., Any]] = [
    named_tuples_of_another_name,
    named_tuples,
    named_inside_tuples,
    named_inside_lists,
    none_inside_lists,
    only_none_inside_lists,
    truth_and_number,
    int_and_float,
    none_and_list,
    an_empty_dict,
    none_inside_dicts,
    an_empty_tuple,
    tuples_of_none,
    several_none,
    augmented_by_none,
    none_inserted,
    slice_of_none,
]

_INTO_DICTS: list[Callable[..., Any]] = [
    named_values,
    none_inside_value_lists,
    default_of_none,
    none_replaced,
    none_as_key,
]
_INNER = [7, 8]


@pytest.mark.parametrize("function", _OF_DICTS, ids=lambda f: f.__name__)
def test_what_a_dict_holds(function: Callable[..., Any]) -> None:
    same(function, ({1: [2, 3], 2: [4]},), ({1: {2: 3}, 2: {}},), ({1: {2, 3}, 2: {5}},), rounds=1)


@pytest.mark.parametrize("function", _OF_LISTS, ids=lambda f: f.__name__)
def test_what_a_list_holds(function: Callable[..., Any]) -> None:
    same(function, ([[1, 2], [3, 4, 5]],), ([[1, 2], [3, 4]],), ([_INNER, _INNER],), rounds=1)
    same(function, ([{1: 2}, {3: 4, 5: 6}],), ([{1, 2}, {3, 4, 5}],), rounds=1)


@pytest.mark.parametrize("function", _INTO_LISTS, ids=lambda f: f.__name__)
def test_what_an_empty_list_gets(function: Callable[..., Any]) -> None:
    same(function, ([],), ([1],), ([None],), ([1.5, None],))


@pytest.mark.parametrize("function", _INTO_DICTS, ids=lambda f: f.__name__)
def test_what_an_empty_dict_gets(function: Callable[..., Any]) -> None:
    same(function, ({},), ({7: 8},))


def test_what_other_empty_containers_get() -> None:
    same(deque_of_none, (deque(),))
    same(deque_of_pairs, (deque(),))
    same(set_of_pairs, (set(),))


def test_what_regions_get() -> None:
    for function in (none_in_region, pairs_in_region, perhaps_in_region):
        same(function, ([1, 0, 2],), ([],), ([1.5],))


def test_classes_that_have_another_name() -> None:
    same(made_pairs, (2,))
    same(made_members, (2,))


def test_rows_and_arguments_that_share() -> None:
    same(row_three_times, (2,))
    same(list_with_its_own_row, (2,))
    same(entry_under_two_keys, ({1: [2, 3], 2: [4]},))
    same(deep_copy, ([[1, 2], [3]],), ([_INNER, _INNER],))
    same(argument_into_argument, ([[1]], [2]), ([], [2]), ([_INNER], _INNER))
    same(two_names, (_INNER, _INNER), ([1], [2]))
