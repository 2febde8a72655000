"""Lists inside lists, dicts and tuples, deques, counters: results, arguments and the identity of every list as in
CPython, natively.  Bad input, aliases and lists that are one object are Python's.
"""

from __future__ import annotations

import copy
from collections import Counter, defaultdict, deque
from typing import Any

import pytest

import weft
from tests.fuzz.test_containers import outcome
from tests.semantics.container_programs import CASES, GRAPH, add_edge, build, fold_queue, rows_grow, total
from weft.runtime import templates

_COMPILED: dict[Any, Any] = {}


def _native(function):
    if function not in _COMPILED:
        _COMPILED[function] = weft.jit(fallback="error")(function)
    return _COMPILED[function]


def _copied(value):
    """A copy that keeps which lists are one object."""
    return copy.deepcopy(value)


@pytest.mark.parametrize(("function", "arguments"), CASES, ids=[f"{f.__name__}-{k}" for k, (f, _) in enumerate(CASES)])
def test_programs(function, arguments):
    expected = outcome(function, _copied(arguments))
    for _ in range(2):
        assert outcome(_native(function), _copied(arguments)) == expected


@pytest.mark.parametrize("function, arguments", [(add_edge, ([[1], [0], [2]], 0, 2)), (rows_grow, ([[3], [2, 5]],))])
def test_the_python_back_end(function, arguments):
    compiled = weft.jit(fallback="error", backend="python")(function)
    assert outcome(compiled, _copied(arguments)) == outcome(function, _copied(arguments))


def _shared_rows():
    row = [0, 1]
    return [row, row, [2, 3]]


def test_rows_that_are_one_object_are_left_to_python():
    compiled = weft.jit(rows_grow)
    for rows in (_shared_rows(), [[0] * 3] * 3, [[1], [2]]):
        assert outcome(compiled, (_copied(rows),)) == outcome(rows_grow, (_copied(rows),))


def test_the_same_container_twice():
    def both(one, other):
        one[0].append(1)
        return len(other[0])

    compiled = weft.jit(both)
    rows = [[1], [2, 3]]
    assert outcome(compiled, (rows, rows)) == outcome(both, (_rows := [[1], [2, 3]], _rows))


@pytest.mark.parametrize(
    "other",
    [[[1], [0.5]], [[1], 2], [[1], [2, "x"]], [[], []], [], [[True], [1, 2]], [[1, 2**70], [3]], [(1,), [2]]],
)
def test_other_contents_after_the_first_call(other):
    compiled = weft.jit(rows_grow)
    compiled([[1], [2, 3]])
    assert outcome(compiled, (_copied(other),)) == outcome(rows_grow, (_copied(other),))


@pytest.mark.parametrize(
    "queue", [deque([1, 2], maxlen=3), deque([0.5, 1.5]), deque([1, 0.5]), deque(), [1, 2, 3], deque(["a", "b"])]
)
def test_other_queues(queue):
    compiled = weft.jit(fold_queue)
    compiled(deque([1, 2, 3]))
    assert outcome(compiled, (_copied(queue),)) == outcome(fold_queue, (_copied(queue),))


def test_defaultdicts_of_other_factories():
    def counted(table, key):
        table[key] += 1
        return len(table)

    compiled = weft.jit(counted)
    others = [defaultdict(lambda: 5), defaultdict(None, {1: 1}), Counter(), {1: 2}]
    for table in [defaultdict(int), defaultdict(float), *others]:
        for key in (1, 2):
            assert outcome(compiled, (_copied(table), key)) == outcome(counted, (_copied(table), key))


def test_places_are_tested_before_they_are_used():
    """An index out of range, in a function whose arguments change, touches no memory: Python raises."""

    def appended(groups, keys):
        for key in keys:
            groups[key].append(key)
        return len(groups)

    compiled = _native(appended)
    for keys in ([0, 1], [0, 99], [5], list(range(5)) * 50 + [-1]):
        expected = outcome(appended, (_copied(GRAPH), keys))
        assert outcome(compiled, (_copied(GRAPH), keys)) == expected


def test_a_list_in_itself():
    rows: list[Any] = [[1]]
    rows.append(rows)
    compiled = weft.jit(total)
    with pytest.raises((TypeError, RecursionError)):
        compiled(rows)


def test_large_rows_keep_their_order():
    count = 5000
    arguments = (50, [k % 50 for k in range(count)], [(k * 7) % 50 for k in range(count)])
    assert _native(build)(*arguments) == build(*arguments)


@pytest.mark.parametrize(
    ("template", "value"),
    [
        ("[[i]]", [[1], [], [2, 3]]),
        ("{i:[(if)]}", {1: [(2, 0.5)], 3: []}),
        ("Dl{i:[i]}", defaultdict(list, {1: [2]})),
        ("C{i:i}", Counter([1, 1])),
        ("d[(if)]", deque([(1, 0.5)])),
        ("[[[f]]]", [[[0.5]], [], [[], [1.5]]]),
        ("[(i[f])]", [(1, [0.5]), (2, [])]),
    ],
)
def test_templates(template, value):
    assert templates.fits(template, value, [])
    columns = templates.columns_of(template, value)
    assert len(columns) == len(templates.parsed(template).columns)
    assert not templates.fits(template, None, [])


@pytest.mark.parametrize("text", ["", "[]", "[i", "i", "{i:}", "d{i}", "[i:i]", "X[i]", "{}", "[()]", "D{i:i}", "[ii]"])
def test_what_is_no_template(text):
    with pytest.raises(ValueError, match="template"):
        templates.parsed(text)
