"""Key functions that look at the list that is being sorted: Python shows them an empty one.  Both compilers."""

from __future__ import annotations

import copy

import pytest

import weft
from weft.plain.runtime import load

GIVEN = [3, 1, 2]


def by_name(xs):
    xs.sort(key=lambda v: -v if len(xs) else v)
    return xs


def by_item(xs):
    xs.sort(key=lambda v: xs[0] - v)
    return xs


def by_another_name(xs):
    ys = xs

    def key(v):
        return -v if ys else v

    xs.sort(key=key)
    return xs


def by_a_list_that_holds_it(xs):
    rows = [xs, [1]]
    xs.sort(key=lambda v: -v if len(rows[0]) else v)
    return xs, rows


def by_rows(xs):
    rows = [[v, v + 2, v + 1] for v in xs]
    for row in rows:
        row.sort(key=lambda v: -v * len(rows[0]) if len(rows[0]) else v)
    return rows


class Held:
    def __init__(self, xs):
        self.xs = xs

    def key(self, v):
        return -v if len(self.xs) else v


def by_attribute(xs):
    held = Held(xs)
    held.xs.sort(key=held.key)
    return held.xs


def by_global(xs):
    GIVEN[:] = xs
    GIVEN.sort(key=lambda v: -v if len(GIVEN) else v)
    return list(GIVEN)


def by_tuples(xs):
    pairs = [(v, -v) for v in xs]
    pairs.sort(key=lambda pair: pair[len(pairs) > 0])
    return pairs


def changed(xs):
    xs.sort(key=lambda v: xs.append(1) or v)
    return xs


def raises(xs):
    seen = -1
    try:
        xs.sort(key=lambda v: 1 // (v - 2))
    except ZeroDivisionError:
        seen = len(xs)
    return seen, xs


def counted(xs):
    sizes = []

    def key(v):
        sizes.append(len(xs))
        return -v

    xs.sort(key=key)
    return xs, sizes


def others_are_seen(xs):
    weights = [5, 2, 9, 1]
    xs.sort(key=lambda v: weights[v % len(weights)])
    return sorted(xs, key=lambda v: -v * len(xs)), xs


FUNCTIONS = [
    by_name,
    by_item,
    by_another_name,
    by_a_list_that_holds_it,
    by_rows,
    by_attribute,
    by_global,
    by_tuples,
    changed,
    raises,
    counted,
    others_are_seen,
]


def outcome(function, *args):
    try:
        return function(*args), args
    except Exception as problem:
        return type(problem), str(problem), args


@pytest.mark.parametrize("plain", ["0", "1"])
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_the_list_is_empty_to_its_key_function(function, plain, monkeypatch):
    monkeypatch.setenv("WEFT_PLAIN", plain)
    run = weft.jit(fallback="silent")(function)
    for given in ([3, 1, 2], [2, 1], []):
        assert outcome(run, copy.copy(given)) == outcome(function, copy.copy(given))


@pytest.mark.parametrize("plain", ["0", "1"])
def test_the_same_list_twice(plain, monkeypatch):
    def by_second(xs, ys):
        xs.sort(key=lambda v: -v if len(ys) else v)
        return xs

    monkeypatch.setenv("WEFT_PLAIN", plain)
    run = weft.jit(fallback="silent")(by_second)
    assert run([3, 1, 2], [1]) == [3, 2, 1]
    given = [3, 1, 2]
    assert run(given, given) == [1, 2, 3]


def test_key_functions_that_look_elsewhere_stay_native():
    run = weft.jit(fallback="error")(others_are_seen)
    assert run([3, 1, 2]) == others_are_seen([3, 1, 2])


@pytest.mark.skipif(load() is None, reason="no C compiler")
@pytest.mark.parametrize("function", [by_name, by_another_name, counted], ids=lambda function: function.__name__)
def test_the_plain_compiler_shows_an_empty_list(function):
    from weft.plain.function import Native

    native = Native(function)
    native.extend(([3, 1, 2],))
    assert native([3, 1, 2]) == function([3, 1, 2])
