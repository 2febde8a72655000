"""Iterators are lazy, give their items once, and see what becomes of the container that they run through."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable
from typing import Any

import pytest

from tests.semantics.everyday import same


def filter_of_a_changed_list(xs):
    it = filter(lambda x: x > 1, xs)
    xs[0] = 5
    return list(it)


def zip_before_an_append(xs):
    it = zip(xs, xs[1:])
    xs.append(9)
    return list(it)


def map_used_twice(xs):
    it = map(lambda x: x * 2, xs)
    a = list(it)
    b = list(it)
    return a, b


def enumerate_taken_up_again(xs):
    it = enumerate(xs)
    for i, x in it:
        if x > 2:
            break
    return [p for p in it]


def reversed_before_an_append(xs):
    it = reversed(xs)
    xs.append(100)
    return list(it)


def reversed_before_a_pop(xs):
    it = reversed(xs)
    xs.pop()
    return list(it)


def map_of_constants_used_twice(xs):
    m = map(abs, (1, -2, 3))
    return list(m), list(m)


def zip_of_constants_used_twice(xs):
    z = zip((1, 2), (3, 4))
    return len(list(z)), sum(a for a, b in z)


def views_of_a_growing_dict(d):
    ks = d.keys()
    vs = d.values()
    its = d.items()
    d[100] = 1
    return list(ks), list(vs), list(its), len(ks)


def next_then_append(xs):
    it = iter(xs)
    a = next(it)
    xs.append(7)
    return a, list(it)


def chain_before_an_append(xs):
    it = itertools.chain(xs, xs)
    xs.append(3)
    return list(it)


def accumulate_before_a_store(xs):
    it = itertools.accumulate(xs)
    xs[0] = 50
    return list(it)


def total(it):
    return sum(it) + len(list(it))


def iterator_handed_to_a_function(xs):
    return total(map(abs, xs))


def reversed_while_the_front_goes(xs):
    out = []
    for x in reversed(xs):
        out.append(x)
        xs.pop(0)
    return out


def reversed_with_remove(xs):
    for x in reversed(xs):
        if x % 2:
            xs.remove(x)
    return xs


def reversed_that_grows(xs):
    for x in reversed(xs):
        xs.append(x * 2)
    return xs


def reversed_that_grows_inside(xs):
    n = 0
    for x in reversed(xs):
        xs.append(x)
        for y in reversed(xs):
            n += 1
            if n < 5:
                xs.insert(0, y)
    return xs, n


def zip_and_map_of_reversed_that_grow(xs):
    for x, y in zip(map(abs, reversed(xs)), reversed(xs)):
        xs.append(x + y)
    return xs


def enumerate_of_reversed(xs):
    out = []
    for i, x in enumerate(reversed(xs)):
        out.append((i, x))
        xs.pop()
    return out


def zip_with_reversed(xs):
    out = []
    for x, y in zip(xs, reversed(xs)):
        out.append((x, y))
        xs.pop()
    return out


def zip_of_growing_lists(xs, ys):
    n = 0
    for x, y in zip(xs, ys):
        n += x * y
        if len(xs) < 8:
            xs.append(y)
        if len(ys) < 6:
            ys.append(x)
    return n


def remove_while_running(xs):
    for x in xs:
        if x % 2 == 0:
            xs.remove(x)
    return xs


def delete_while_running(xs):
    for i, x in enumerate(xs):
        if x > 2:
            del xs[i]
    return xs


def dict_grows_while_running(d):
    for k in d:
        if k > 1:
            d[k + 100] = 0
    return d


def delete_from_a_list_of_keys(d):
    for k in list(d):
        if k > 1:
            del d[k]
    return d


def values_change_while_running(d):
    for k, v in d.items():
        d[k] = v + 1
    return d


def dict_shrinks_while_running(d):
    for k in d.keys():
        del d[k]
    return d


def set_grows_while_running(s):
    for x in s:
        s.add(x + 10)
    return len(s)


def deque_grows_while_running(q):
    for x in q:
        q.append(x)
    return q


def deque_as_a_queue(q):
    n = 0
    while q:
        x = q.popleft()
        n += x
        if x > 2:
            q.append(x - 2)
    return n


def same_size_other_entries(d):
    for k in d:
        v = d.pop(k)
        d[k] = v
    return d


def comprehension_pops(xs):
    return [xs.pop(0) for _ in xs]


def dict_comprehension_pops(d):
    return {k: d.pop(k) for k in d}


def sum_of_popped(d):
    return sum(d.pop(k) for k in list(d))


def comprehension_adds_to_dict(d):
    return [d.setdefault(k + 50, 1) for k in d]


def mapped_function_appends(xs):
    def f(x):
        xs.append(x) if len(xs) < 10 else None
        return x * 2

    return list(map(f, xs))


def key_function_appends(xs):
    def key(x):
        xs.append(x)
        return -x

    return sorted(xs, key=key)


def extended_by_itself(xs):
    xs.extend(xs)
    xs += xs
    return xs


def slices_of_itself(xs):
    xs[1:1] = xs
    xs[::2] = [0] * len(xs[::2])
    return xs


def filter_function_pops(xs):
    def f(x):
        if len(xs) > 2:
            xs.pop()
        return x > 0

    return list(filter(f, xs))


def any_pops(xs):
    return any(xs.pop() > 3 for _ in xs), len(xs)


def generator_used_twice(xs):
    it = (x * 2 for x in xs)
    xs.append(4)
    a = sum(it)
    return a, sum(it)


def next_of_reversed(xs):
    ys = reversed(xs)
    a = next(ys)
    return a, list(ys)


def subscript_of_zip(xs):
    z = zip(xs, xs)
    return z[0]


def length_of_map(xs):
    return len(map(abs, xs))


def enumerate_in_pieces(xs):
    e = enumerate(xs)
    for i in range(2):
        for j, x in e:
            if j % 2 == 1:
                break
    return list(e)


def pop_of_sorted_keys(d):
    for k in sorted(d):
        d.pop(k)
    return d


def other_name_of_the_dict(d, e):
    e = d
    for k in d:
        e[k + 1000] = 1
    return d


def inner_dict_grows(dd):
    for k in dd:
        for j in dd[k]:
            dd[k][j + 10] = 1
    return dd


def inner_dicts_change(dd):
    for k, inner in dd.items():
        inner[99] = k
    return dd


def inner_dicts_are_emptied(dd):
    for inner in dd.values():
        for j in list(inner):
            del inner[j]
    return dd


def comprehension_pops_from_inner(dd):
    for k in list(dd):
        [dd[k].pop(j) for j in dd[k]]
    return dd


def comprehension_adds_to_inner(dd):
    for k in dd:
        {j: dd[k].setdefault(j + 1, 0) for j, v in dd[k].items()}
    return dd


def comprehension_of_inner(dd):
    return [[j + v for j, v in dd[k].items()] for k in dd]


def function_makes_like_lists(rows):
    def tail(r):
        out = []
        for x in r:
            out.append(x + 1)
        return out

    return [len(tail(r)) + sum(tail(r)) for r in rows]


def conditions_make_like_lists(rows):
    out = []
    for r in rows:
        t = [x * 2 for x in r if len([y for y in r if y < x]) > 0]
        out.append(t)
    return out


def filter_by_truth(xs):
    ys = filter(None, xs)
    return list(ys)


def filter_of_a_growing_list(xs):
    n = 0
    for x in filter(lambda v: v > 1, xs):
        n += x
        if len(xs) < 9:
            xs.append(x + 1)
    return n


def filter_consumed_at_once(xs):
    odd = sorted(filter(lambda v: v % 2, xs))
    return odd, sum(filter(lambda v: v > 2, xs)), len(list(filter(lambda v: v > 2, xs)))


def chain_of_a_growing_list(xs):
    for x in itertools.chain(xs, [9]):
        if len(xs) < 9:
            xs.append(x)
    return xs


def named_zip_of_a_growing_list(xs):
    it = zip(xs, xs[1:])
    for a, b in it:
        xs.append(a + b) if len(xs) < 12 else None
    return xs


def named_enumerate(xs):
    pairs = enumerate(xs)
    return dict(pairs)


_LISTS: list[Callable[..., Any]] = [
    filter_of_a_changed_list,
    zip_before_an_append,
    map_used_twice,
    enumerate_taken_up_again,
    reversed_before_an_append,
    reversed_before_a_pop,
    map_of_constants_used_twice,
    zip_of_constants_used_twice,
    next_then_append,
    chain_before_an_append,
    accumulate_before_a_store,
    iterator_handed_to_a_function,
    reversed_while_the_front_goes,
    reversed_with_remove,
    reversed_that_grows,
    reversed_that_grows_inside,
    zip_and_map_of_reversed_that_grow,
    enumerate_of_reversed,
    zip_with_reversed,
    remove_while_running,
    delete_while_running,
    comprehension_pops,
    mapped_function_appends,
    key_function_appends,
    extended_by_itself,
    slices_of_itself,
    filter_function_pops,
    any_pops,
    generator_used_twice,
    next_of_reversed,
    subscript_of_zip,
    length_of_map,
    enumerate_in_pieces,
    filter_by_truth,
    filter_of_a_growing_list,
    filter_consumed_at_once,
    chain_of_a_growing_list,
    named_zip_of_a_growing_list,
    named_enumerate,
]

_DICTS: list[Callable[..., Any]] = [
    views_of_a_growing_dict,
    dict_grows_while_running,
    delete_from_a_list_of_keys,
    values_change_while_running,
    dict_shrinks_while_running,
    same_size_other_entries,
    dict_comprehension_pops,
    sum_of_popped,
    comprehension_adds_to_dict,
    pop_of_sorted_keys,
]

_NESTED: list[Callable[..., Any]] = [
    inner_dict_grows,
    inner_dicts_change,
    inner_dicts_are_emptied,
    comprehension_pops_from_inner,
    comprehension_adds_to_inner,
    comprehension_of_inner,
]


@pytest.mark.parametrize("function", _LISTS, ids=lambda f: f.__name__)
def test_lists(function: Callable[..., Any]) -> None:
    same(function, ([1, 2, 3, 4, 5],), ([3],), ([],), ([2, 2, 1, 4, 4, 6],), rounds=1)


@pytest.mark.parametrize("function", _DICTS, ids=lambda f: f.__name__)
def test_dicts(function: Callable[..., Any]) -> None:
    same(function, ({1: 2, 3: 4},), ({},), ({0: 1},), rounds=1)


@pytest.mark.parametrize("function", _NESTED, ids=lambda f: f.__name__)
def test_dicts_of_dicts(function: Callable[..., Any]) -> None:
    same(function, ({1: {2: 3}, 4: {}},), ({1: {2: 3, 5: 6}},), rounds=1)


def test_several_containers() -> None:
    same(zip_of_growing_lists, ([1, 2], [3, 4, 5]), ([1, 2, 3], [3]), ([], [1]))
    same(other_name_of_the_dict, ({1: 2}, {2: 3}))


def test_sets_and_deques() -> None:
    same(set_grows_while_running, ({1, 2},), (set(),))
    same(deque_grows_while_running, (deque([1, 2]),), (deque(),))
    same(deque_as_a_queue, (deque([1, 5, 4]),))


def test_lists_of_lists_of_one_kind() -> None:
    same(function_makes_like_lists, ([[1, 2], [3]],), ([[]],), ([],))
    same(conditions_make_like_lists, ([[1, 2], [3]],), ([[]],), ([],))


def test_what_is_consumed_at_once_stays_native() -> None:
    for function in (filter_consumed_at_once, reversed_with_remove, named_enumerate, zip_of_growing_lists):
        arguments = ([1, 2, 3],) if function is not zip_of_growing_lists else ([1, 2], [3, 4, 5])
        assert same(function, arguments).stats["fallbacks"] == [], function.__name__
