"""Iterators of `itertools` that are made in one place and used in another: what happens when they are made."""

from __future__ import annotations

import itertools

import pytest

import weft
from weft.plain.function import Native
from weft.plain.runtime import last, load

pytestmark = pytest.mark.skipif(load() is None, reason="no C compiler")


def outcome(function, arguments):
    try:
        return function(*arguments)
    except (TypeError, ValueError) as problem:
        return type(problem), str(problem)


def changed_after(items):
    pairs, triples = itertools.combinations(items, 2), itertools.product(items, items, items)
    orders, multisets = itertools.permutations(items), itertools.combinations_with_replacement(items, 2)
    squares, powers = itertools.product(items, items), itertools.product(items, repeat=2)
    items.append("late")
    return [list(found) for found in (pairs, triples, orders, multisets, squares, powers)]


def taken_from(items):
    source = iter(items)
    pairs = itertools.combinations(source, 2)
    return list(source), list(pairs)


@pytest.mark.parametrize("items", [["a", "b"], [], ["c"]], ids=["two", "none", "one"])
@pytest.mark.parametrize("function", [changed_after, taken_from], ids=["changed", "taken"])
def test_items_are_taken_when_the_iterator_is_made(function, items):
    native = Native(function)
    version = native.extend((list(items),))
    assert native(list(items)) == function(list(items))
    assert last(version.call).deopts == 0


def unused(items, length):
    made = [itertools.combinations(items, length), itertools.product(items, repeat=length)]
    made_too = itertools.combinations_with_replacement(items, length), itertools.permutations(items, length)
    return len(made) + len(made_too)


def bounded(text, start, stop, step):
    return list(itertools.islice(text, start, stop, step))


def first(text, stop):
    return len([letter for letter in itertools.islice(text, stop)])


def bounded_numbers(numbers, stop):
    return sum([number * 2.0 for number in itertools.islice(numbers, stop)])


@pytest.mark.parametrize(
    "function, good, bad",
    [
        (unused, (["a"], 1), [(["a"], -1)]),
        (bounded, ("abc", 0, 3, 1), [("abc", -1, 3, 1), ("abc", 0, -1, 1), ("abc", 0, 3, 0), ("abc", 0, 3, -2)]),
        (first, ("abc", 2), [("abc", -1), ("abc", 1.5), ("abc", "b")]),
        (bounded_numbers, ([1, 2, 3], 2), [([1, 2, 3], -1), ([1, 2, 3], 1.5)]),
    ],
    ids=["lengths", "bounds", "stop", "numbers"],
)
def test_bad_arguments_raise_when_the_iterator_is_made(function, good, bad):
    compiled = weft.jit(function, fallback="silent")
    assert outcome(compiled, good) == function(*good)
    for arguments in bad:
        assert outcome(compiled, arguments) == outcome(function, arguments)


def rest(n, start, stop, step):
    source = iter(range(n))
    taken = [str(item) for item in itertools.islice(source, start, stop, step)]
    return taken, list(source)


@pytest.mark.parametrize(
    "arguments",
    [(10, 4, 2, 1), (10, 4, 6, 5), (10, 1, 5, 3), (10, 0, 5, 3), (3, 4, 9, 1), (10, 5, 5, 2), (10, 0, 0, 1)],
)
def test_islice_takes_what_lies_before_its_end(arguments):
    native = Native(rest)
    version = native.extend(arguments)
    assert native(*arguments) == rest(*arguments)
    assert last(version.call).deopts == 0


def test_islice_takes_no_bound_for_none():
    native = Native(bounded)
    version = native.extend(("abcdef", None, None, None))
    for bounds in ((None, None, None), (1, None, 2), (None, 3, None)):
        if bounds != (None, None, None):
            version = native.extend(("abcdef", *bounds))
        assert native("abcdef", *bounds) == bounded("abcdef", *bounds)
        assert last(version.call).deopts == 0
