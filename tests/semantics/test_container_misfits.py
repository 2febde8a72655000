"""Lists of arrays as arguments, and containers that do not fit: arrays that share memory, mixed types, other uses,
random contents, memory that must not be lost.
"""

from __future__ import annotations

import copy
import gc
import resource

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import weft
from tests.semantics.test_container_arguments import (
    BACKENDS,
    EDGES,
    added,
    counted,
    grown,
    looked_up,
    outcome,
    removed,
    same,
    scaled,
    turned,
    value_of,
)
from weft.runtime import dispatch

# --- lists of arrays ------------------------------------------------------------------------------------------------


def layers(weights, x):
    for w in weights:
        x = np.maximum(w @ x, 0.0)
    return x


def norms(arrays):
    return [float((x * x).sum()) for x in arrays], len(arrays), arrays[-1].shape[0]


def doubled(arrays, k, factor):
    arrays[k] *= factor
    first = arrays[0]
    first[0] = -1.0


def item_of(arrays, i, j):
    return arrays[i][j]


def collected(arrays, out):
    for k in range(len(arrays)):
        out[k] += arrays[k][0]


def stacked(arrays):
    return np.array(arrays).sum(axis=0), arrays


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (layers, ([np.arange(9.0).reshape(3, 3), np.ones((3, 3)).T], np.ones(3))),
        (layers, ([np.asfortranarray(np.arange(9.0).reshape(3, 3))], np.ones(3))),
        (norms, ([np.ones(3), np.arange(4.0)],)),
        (norms, ([np.ones(4), np.arange(4.0)],)),
        (norms, ([np.ones(0), np.arange(4.0)[::-2]],)),
        (doubled, ([np.ones(3), np.arange(4.0)], 1, 3.0)),
        (doubled, ([np.ones(4)[::2], np.arange(8.0)[::-4]], 1, 3.0)),
        (doubled, ([np.ones(3), np.ones(3)], 7, 3.0)),
        (doubled, ([np.ones(3), np.ones(0)], 0, 3.0)),
        (doubled, ([np.ones(0), np.ones(3)], 1, 3.0)),
        (item_of, ([np.ones(3, np.float32), np.arange(4.0, dtype=np.float32)], -1, -2)),
        (item_of, ([np.ones(3), np.arange(4.0)], 1, 7)),
        (item_of, ([np.arange(3), np.arange(3)], 1, 7)),
        (item_of, ([np.arange(3), np.arange(3)], -3, 0)),
        (collected, ([np.ones(3)] * 3, np.zeros(3))),
        (stacked, ([np.ones((3, 2)), np.zeros((3, 2))],)),
    ],
)
def test_lists_of_arrays(function, arguments, backend):
    same(function, arguments, backend)


@pytest.mark.parametrize("backend", BACKENDS)
def test_arrays_that_share_memory_are_left_to_python(backend):
    compiled = weft.jit(backend=backend, fallback="silent")(collected)
    compiled([np.ones(3), np.ones(3)], np.zeros(3))
    for overlapping in (lambda a: [a, a, a[::-1]], lambda a: [a[1:], a[:2]], lambda a: [np.ones(2), a[2:]]):
        mine, plain = np.arange(3.0), np.arange(3.0)
        compiled(overlapping(mine), mine)
        collected(overlapping(plain), plain)
        assert np.array_equal(mine, plain)
    both = weft.jit(backend=backend, fallback="silent")(doubled)
    both([np.ones(3), np.ones(3)], 0, 2.0)
    one = np.ones(3)
    both([one, one], 0, 2.0)
    assert one.tolist() == [-1.0, 2.0, 2.0]
    fixed = np.ones(3)
    fixed.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        both([fixed, np.ones(3)], 0, 2.0)


def best_array(arrays):
    best = arrays[0]
    for x in arrays:
        if x[0] > best[0]:
            best = x
    return best


def best_row(rows):
    best = rows[0]
    for row in rows:
        if len(row) > len(best):
            best = row
    return best


def replaced_array(arrays):
    arrays[0] = arrays[0] + 1.0
    return arrays[0]


def appended_row(rows):
    rows[0].append(3)
    rows.append([1])


def replaced_row(rows):
    rows[0] = [1, 2, 3]
    return rows[0]


def joined(items, other):
    return items + other, items * 2, items == other


def sliced(edges):
    return edges[1:], edges[::-1]


def ordered(edges):
    edges.sort()
    return sorted(edges), min(edges), max(edges), edges.index(edges[0]), edges[0] in edges


def while_iterating(items):
    for x in items:
        if x < 5:
            items.append(x + 1)
    return len(items)


def while_iterating_a_dict(table):
    for key in table:
        table[key + 10] = 1.0


def other_type(items):
    items.append(2.5)


def other_type_in_a_dict(table):
    table[1] = 2
    table[2] = 2.5


def numpy_items(items, a):
    items.append(a[0])


def with_an_array(items, a, k):
    a[0] = 1.0
    items.append(2.0)
    return a[k]


def into_itself(items):
    items.append(items)


def factorial_into(items, n):
    items.append(n)
    if n > 1:
        factorial_into(items, n - 1)


def key_of_another_type(table):
    return 1.0 in table, True in table, table.get(2), len(table)


def copies(table, items):
    return dict(table), table.copy(), set(items), list(items), table == {1: 2.0}


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (best_array, ([np.ones(3), np.full(2, 2.0)],)),
        (best_array, ([np.ones(3), np.full(3, 2.0)],)),
        (best_row, ([[1], [2, 3], [4]],)),
        (replaced_array, ([np.ones(3), np.ones(2)],)),
        (appended_row, ([[1], [2, 3]],)),
        (appended_row, ([[1], [2]],)),
        (replaced_row, ([[1], [2, 3]],)),
        (joined, ([1], [2, 3])),
        (joined, ([(1, 2)], [(2, 3)])),
        (joined, ([[1], [2, 3]], [[4]])),
        (sliced, (EDGES,)),
        (ordered, (EDGES,)),
        (ordered, ([3, 1, 2],)),
        (ordered, ([[3], [1, 2]],)),
        (while_iterating, ([1, 2],)),
        (while_iterating_a_dict, ({1: 1.0, 2: 2.0},)),
        (other_type, ([],)),
        (other_type, ([1],)),
        (other_type, ([True],)),
        (other_type_in_a_dict, ({},)),
        (other_type_in_a_dict, ({5: 5},)),
        (numpy_items, ([], np.ones(2))),
        (numpy_items, ([1.0], np.ones(2))),
        (with_an_array, ([1.0], np.zeros(3), 1)),
        (with_an_array, ([1.0], np.zeros(3), 9)),
        (into_itself, ([1.0],)),
        (factorial_into, ([], 4)),
        (factorial_into, ([5], 4)),
        (key_of_another_type, ({1: 2.0, 2: 3.0},)),
        (copies, ({1: 2.0}, [1, 2])),
    ],
)
def test_other_uses_are_right_natively_or_not(function, arguments, backend):
    same(function, arguments, backend, fallback="silent")


# --- what does not fit ----------------------------------------------------------------------------------------------


def first_of_all(rows):
    return [row[0] for row in rows if len(row) > 0], len(rows)


ODD = [
    [[1], ["a", 2]],
    [[1], [2.0, 3]],
    [[1], [True, 2]],
    [[1], [2**70, 3]],
    [[1], (2, 3)],
    [[1], [[2], 3]],
    [(1, 2), (1, 2, 3)],
    [(1, 2), [1, 2]],
    [(1, 2), (1, 2.0)],
    [(1, 2), (1, None)],
    [[(1, 2)], [(1, 2, 3)]],
    [np.ones(3), np.ones(3, np.float32)],
    [np.ones(3), [1.0]],
    [np.ones(3), np.ones((3, 3))],
    [np.ones(3), np.ones(3, ">f8")],
    [np.ones((2, 2)), np.ones((3, 3))],
]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("value", ODD, ids=repr)
def test_containers_of_mixed_types_are_left_to_python(value, backend):
    compiled = weft.jit(fallback="silent", backend=backend)(first_of_all)
    for good in ([[1], [2, 3]], [(1, 2), (3, 4)], [np.ones(3), np.ones(2)], value):
        assert outcome(compiled, (good,)) == outcome(first_of_all, (copy.deepcopy(good),))


class Table(dict):
    pass


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    "value",
    [{1: 2.0, 2: 3}, {1: 2.0, "a": 1.0}, {1: 2.0, 2: None}, {1: 2.0, 2**70: 1.0}, Table({1: 2.0}), {1.5: 2.0}],
)
def test_dicts_of_mixed_types_are_left_to_python(value, backend):
    compiled = weft.jit(fallback="silent", backend=backend)(looked_up)
    for table in ({1: 2.0}, value):
        assert outcome(compiled, (table, 4)) == outcome(looked_up, (copy.deepcopy(table), 4))


def test_a_list_inside_itself_is_left_to_python():
    items = []
    items.append(items)
    assert weft.jit(fallback="silent")(len_of)(items) == 1
    assert weft.jit(fallback="silent")(len_of)([[1], items]) == 2


def len_of(items):
    return len(items)


def test_the_first_call_does_not_decide_for_the_others():
    compiled = weft.jit(fallback="silent")(value_of)
    for table, key in (({}, 1), ({1: 2.0}, 1), ({1: 2}, 1), ({(1, 2): 3.0}, (1, 2)), ({}, 1), ({1: 2.0}, 5)):
        assert outcome(compiled, (table, key)) == outcome(value_of, (table, key))


# --- random containers ----------------------------------------------------------------------------------------------

_NUMBERS = st.one_of(st.just(0.0), st.just(-0.0), st.floats(allow_nan=True, width=64))
_GROWN = weft.jit(fallback="silent")(grown)
_SCALED = weft.jit(fallback="silent")(scaled)
_COUNTED = weft.jit(fallback="silent")(counted)
_REMOVED = weft.jit(fallback="silent")(removed)
_ADDED = weft.jit(fallback="silent")(added)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(_NUMBERS, max_size=4), max_size=5))
def test_random_rows(rows):
    assert outcome(_SCALED, (copy.deepcopy(rows), -2.0)) == outcome(scaled, (rows, -2.0))


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(st.integers(-3, 9), st.integers()), st.lists(st.integers(-3, 9)))
def test_random_dicts(table, items):
    assert outcome(_COUNTED, (dict(table), items)) == outcome(counted, (table, items))


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(st.integers(0, 9), st.floats(allow_nan=False)), st.integers(0, 6))
def test_random_dicts_that_lose_entries(table, n):
    assert outcome(_REMOVED, (dict(table), n)) == outcome(removed, (table, n))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(-(2**64), 2**64)), st.integers(0, 40))
def test_random_lists_that_grow(items, n):
    assert outcome(_GROWN, (list(items), n)) == outcome(grown, (items, n))


@settings(max_examples=60, deadline=None)
@given(st.sets(st.integers(0, 100)), st.integers(0, 40))
def test_random_sets(items, n):
    assert outcome(_ADDED, (copy.copy(items), n)) == outcome(added, (copy.copy(items), n))


# --- a glance at a large container ----------------------------------------------------------------------------------


@pytest.mark.skipif(dispatch.load_core() is None, reason="the native core cannot be built here")
def test_a_glance_at_a_large_container_gives_the_same_whichever_way_it_goes():
    """Which way is faster is measured, so that no test can tell which one is taken; the answers are the same."""
    table = {i: float(i) for i in range(50_000)}
    glance = weft.jit(fallback="silent")(value_of)
    insisted = weft.jit(fallback="error")(value_of)
    for key in range(200):
        assert glance(table, key) == float(key)
    for key in range(20):
        assert insisted(table, key) == float(key)
    assert insisted.stats["python_calls"] == 0
    assert outcome(glance, ({1: 2}, 1)) == outcome(value_of, ({1: 2}, 1))  # another type, another version
    with pytest.raises(KeyError):
        glance(table, -1)


# --- memory ---------------------------------------------------------------------------------------------------------


def test_no_memory_is_lost():
    calls = [
        (weft.jit(fallback="error")(scaled), lambda: ([[1.0, 2.0], [3.0] * 40], 2.0)),
        (weft.jit(fallback="error")(turned), lambda: ([(1, 2), (3, 4)] * 20, 1)),
        (weft.jit(fallback="error")(grown), lambda: ([1, 2], 30)),
        (weft.jit(fallback="error")(counted), lambda: ({2: 5}, [1, 2, 3])),
        (weft.jit(fallback="error")(added), lambda: ({2, 3}, 10)),
        (weft.jit(fallback="error")(doubled), lambda: ([np.ones(30), np.ones(20)], 1, 2.0)),
        (weft.jit(fallback="silent")(first_of_all), lambda: ([[1], ["a"] * 30],)),
        (weft.jit(fallback="error")(value_of), lambda: ({3: 1.5}, 3)),
    ]

    def rounds(count):
        for compiled, make in calls:
            arguments = make()
            for _ in range(count):
                compiled(*copy.copy(arguments) if arguments[0] is not None else ())
                if len(arguments[0]) > 1000:
                    arguments = make()
        gc.collect()

    rounds(2000)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    rounds(12500)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 4000  # of 1 kB, in 100,000 calls
