"""Variables, results and values of dicts that are None or a number, as loops that look for something have them."""

from __future__ import annotations

import copy

import numpy as np
import pytest

import weft


def least(xs):
    best = None
    for x in xs:
        if best is None or x < best:
            best = x
    return best


def least_and_its_place(xs):
    best, place = None, None
    for i, x in enumerate(xs):
        if x > 4 and (best is None or x < best):
            best = x
            place = i
    return place, best


def least_by_choice(xs):
    best = None
    for x in xs:
        best = x if best is None else min(best, x)
    return best


def extremes(xs):
    low = high = None
    for x in xs:
        if low is None:
            low = high = x
        elif x < low:
            low = x
        elif x > high:
            high = x
    return low, high


def last_of_two_kinds(xs):
    last = None
    for x in xs:
        if last is None:
            last = 1
        elif x > 4:
            last = x
    return last


def set_and_unset(xs):
    current, made = None, []
    for x in xs:
        if current is not None and x > 2:
            made.append(current * x)
        current = x
        if x == 3:
            current = None
    return made, current


def instead_of_none(xs):
    found = None
    for x in xs:
        if x > 8:
            found = x
    return found or 0.5, found == None, found != None, not found  # noqa: E711


def rising(xs):
    previous = None
    for x in xs:
        if previous is None:
            previous = x
            continue
        if x < previous:
            return False
        previous = x
    return True


def by_an_earlier_return(xs):
    best = None
    i = 0
    while i < len(xs):
        if not best or xs[i] < best:
            best = xs[i]
        i += 1
    if best is None:
        return -1
    return best * 2


def until_none(xs):
    total, node = 0, 0
    while node is not None:
        total += node
        node = node + 1 if node < len(xs) else None
    return total


def _place(xs, wanted):
    for i in range(len(xs)):
        if xs[i] == wanted:
            return i
    return None


def places(xs):
    total = 0
    for wanted in range(10):
        at = _place(xs, wanted)
        if at is None:
            continue
        total += at * wanted
    return total, _place(xs, 4), _place(xs, 8)


def _place_and_half(xs, wanted):
    for i, x in enumerate(xs):
        if x == wanted:
            return i, x * 0.5
    return None, None


def pairs_of_none(xs):
    i, half = _place_and_half(xs, 8)
    j, other = _place_and_half(xs, 80)
    return i, half, j, other


def pair_or_none(xs):
    best = None
    for i, x in enumerate(xs):
        if best is None or x < best[1]:
            best = (i, x)
    return best


def handed_on(xs):
    def lesser(a, b):
        if a is None:
            return b
        if b is None:
            return a
        return a if a < b else b

    best = None
    for x in xs:
        best = lesser(best, x)
    return best


def kept_around(xs):
    best = None

    def put(x):
        nonlocal best
        if best is None or x > best:
            best = x

    for x in xs:
        put(x)
    return best


def past_an_exception(xs):
    found = None
    try:
        for x in xs:
            if x == 3:
                found = x
                raise ValueError("three")
    except ValueError:
        if found is not None:
            return found * 2
    return found


def counted(xs):
    counts = {}
    for x in xs:
        seen = counts.get(x)
        if seen is None:
            counts[x] = 1
        else:
            counts[x] = seen + 1
    return counts, counts.get(77), counts.get(3), counts.get(5, None)


def counted_in_the_test(xs):
    halves = {0: 0.5}
    total = 0.0
    for x in xs:
        if (half := halves.get(x)) is not None:
            total += half
        else:
            halves[x] = x * 0.5
    return total, halves


def found_pairs(xs):
    pairs = {x: (x + 1, x * 0.5) for x in xs}
    total = 0.0
    for i in range(10):
        pair = pairs.get(i)
        if pair is not None:
            total += pair[0] * pair[1]
    return total


FLOATS = [[3.5, 1.25, 9.0, -2.0, 7.0], [], [5.5, 4.5, 4.25]]
WHOLE = [[5, 3, 8, 1, 9, 3], [], [0, 2, 3, 4], [3]]


@pytest.mark.parametrize(
    "function",
    [least, least_and_its_place, least_by_choice, extremes, last_of_two_kinds, set_and_unset, instead_of_none, rising,
     by_an_earlier_return, until_none, places, pairs_of_none, pair_or_none, handed_on, kept_around, past_an_exception,
     counted, counted_in_the_test, found_pairs],
)  # fmt: skip
def test_of_lists(function):
    native = weft.jit(function, fallback="error")
    takes_floats = function not in (counted, counted_in_the_test, found_pairs)
    for values in [*WHOLE, *(FLOATS if takes_floats else [])]:
        if values:  # what an empty list would hold is not known: Python runs
            want, have = function(copy.copy(values)), native(copy.copy(values))
            assert repr(want) == repr(have)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, np.int32, np.bool_])
def test_of_arrays(dtype):
    for function in (least, least_and_its_place, pair_or_none):
        native = weft.jit(function, fallback="error")
        for values in ([3, 1, 9, 0, 7], [5], []):
            whole = np.array([*values, *values[::-1]]).astype(dtype)
            for array in (whole, whole[::-1], whole[::2]):
                want, have = function(array), native(array)
                assert repr(want) == repr(have)


def added_to_none(xs):
    found = None
    for x in xs:
        if x > 5:
            found = x
    return found + 1


def test_none_where_a_number_is_needed():
    native = weft.jit(added_to_none, fallback="error")
    assert native([1, 7, 2]) == 8
    with pytest.raises(TypeError, match="unsupported operand type.*NoneType"):
        native([1, 2])


def marked(xs, marks):
    best = None
    for i in range(len(xs)):
        if best is None or xs[i] > best:
            best = xs[i]
            marks[i] = 1.0
    return best


def test_beside_writes_to_an_argument():
    xs, marks, other = np.array([1.0, 3.0, 2.0, 5.0]), np.zeros(4), np.zeros(4)
    assert repr(weft.jit(marked, fallback="error")(xs, marks)) == repr(marked(xs, other))
    assert np.array_equal(marks, other)


def _first(xs, wanted):
    for i, x in enumerate(xs):
        if x == wanted:
            return i, x * 0.5
    return -1, 2


def first_of_two(xs):
    return _first(xs, 8), _first(xs, 80)


def test_tuple_from_inside_a_loop_of_a_function():
    want = first_of_two([5, 3, 8])
    assert repr(want) == repr(weft.jit(first_of_two, fallback="error")([5, 3, 8]))


def known(rows):
    total = 0
    for row in rows:
        for x in row:
            if x is not None:
                total += x
    return total


@pytest.mark.parametrize("rows", [[[1, 2], [None, 3]], [[1, 2.5], [3, 4]], [[True, 2], [3, 4]], [[1, 2], [3.0, None]]])
def test_a_list_of_numbers_that_are_not_alike_has_no_version_that_never_fits(rows):
    compiled = weft.jit(known)
    for _ in range(4):
        assert repr(compiled(copy.deepcopy(rows))) == repr(known(rows))
    assert compiled.signatures and all(" | " in signature for signature in compiled.signatures)
