"""Arguments with strings inside other containers, tuples with strings in variables and as keys of sorting."""

from __future__ import annotations

import heapq
from collections import Counter, defaultdict

import pytest

import weft
from tests.semantics.agreement import agree

GRAPH = {"a": {"b": 1.5, "c": 2.5}, "b": {"a": 3.0, "d": 1.0}, "c": {"d": 0.5}, "d": {}}


def dijkstra(graph, start):
    distances = {start: 0.0}
    heap = [(0.0, start)]
    done = set()
    while heap:
        distance, node = heapq.heappop(heap)
        if node in done:
            continue
        done.add(node)
        for other, length in graph[node].items():
            longer = distance + length
            if other not in distances or longer < distances[other]:
                distances[other] = longer
                heapq.heappush(heap, (longer, other))
    return distances


def in_degrees(graph):
    found = {node: 0 for node in graph}
    for node in graph:
        for other in graph[node]:
            found[other] += 1
    return found


def grouped(rows):
    found = defaultdict(list)
    for name, k, w in rows:
        found[name].append(k * w)
    totals = {name: sum(values) for name, values in found.items()}
    return totals, sorted(rows), sorted(rows, key=lambda r: (-r[1], r[0])), max(rows), min(rows, key=lambda r: r[2])


def records(rows):
    total = 0.0
    for row in rows:
        total += row["x"] + row.get("y", 0.0)
        if "y" in row:
            total += 1
    return total


def texts_in_records(rows):
    return [row["name"] + row["tag"] for row in rows]


def ragged(words):
    return [len(w) for w in words], ["".join(w) for w in words], [x for w in words for x in w]


def of_tuples(d):
    return [key + value[0] for key, value in d.items()], {value[0]: key for key, value in d.items()}


def counter(c):
    return c["a"], c["zz"], c.most_common(2), sum(c.values())


def of_sets(d):
    return [x for s in d.values() for x in s], len(d["k"] & d["l"]), {k: len(s) for k, s in d.items()}


def one_set(s):
    return [x for x in s], len(s), "a" in s, sorted(s)


def tuple_keys(d):
    return d["a", "b"] + d["b", "c"], [first + second for first, second in d]


def number_keys(d):
    return {word: k for k, words in d.items() for word in words}


def two(rows, d):
    return [x + name for name, _ in rows for x in d[name]], [x for x, _ in rows]


def copied(rows):
    return rows[0], list(rows), rows[:1], rows + rows


def kinds(rows):
    return [name for name, _ in rows], [value for _, value in rows]


def longest(words):
    best = (0, "")
    for word in words:
        if len(word) > best[0]:
            best = (len(word), word)
    name, k = ("x", 1)
    for word in words:
        name, k = (word, k + 1)
    return best, max(words, key=lambda w: (len(w), w)), min((len(w), w) for w in words), name, k


def ranking(text):
    counts = {}
    for word in text.split():
        counts[word] = counts.get(word, 0) + 1
    by_count = sorted(counts.items(), key=lambda kv: (-kv[1], kv[0]))
    return by_count, sorted(counts, key=counts.get), max(counts, key=counts.get), sorted(Counter(text).items())


def counts_more(d, words):
    for word in words:
        d[word] = d.get(word, 0) + 1
    return len(d)


def replaces(d, key):
    del d[key]
    d["new"] = 7
    return d["c"]


def appends(words, word):
    words.append(word + word)
    words[0] = "zz"
    words.sort()
    return len(words)


def sorts_rows(rows):
    rows.append(("c", 3))
    rows.sort(key=lambda row: -row[1])
    return len(rows)


def adds_tuple(d):
    d["b"] = (2, 3.0)
    return len(d)


def two_dicts(d, e):
    d["q"] = 5
    return len(e), e["a"]


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (dijkstra, (GRAPH, "a")),
        (in_degrees, ({"x": ["y"], "y": ["z", "x"], "z": []},)),
        (grouped, ([("ann", 3, 1.5), ("bob", 1, 2.5), ("ann", 2, 0.5)],)),
        (texts_in_records, ([{"name": "a", "tag": "q"}, {"name": "bé€𝄞", "tag": "r"}],)),
        (ragged, ([["a", "b"], ["c"], []],)),
        (of_tuples, ({"a": ("p", 1), "b": ("q", 2)},)),
        (counter, (Counter("abracadabra"),)),
        (of_sets, ({"k": {"x", "y"}, "l": {"y"}},)),
        (one_set, ({"a", "b", "zz", "yy"},)),
        (tuple_keys, ({("a", "b"): 1.0, ("b", "c"): 2.0},)),
        (number_keys, ({1: ["a"], 2: ["b", "c"]},)),
        (two, ([("a", 1)], {"a": ["q"]})),
        (copied, ([("a", 1)],)),
        (kinds, ([("a", 1)],)),
        (kinds, ([("a", 1.5)],)),
        (longest, (["a", "ccc", "bb"],)),
        (ranking, ("the cat the dog a cat the",)),
        (counts_more, ({"a": 1}, ["a", "b", "a"])),
        (counts_more, ({}, ["a", "b", "a"])),
        (replaces, ({"a": 1, "c": 4}, "a")),
        (appends, (["b", "a"], "c")),
        (sorts_rows, ([("a", 1), ("b", 2)],)),
        (adds_tuple, ({"a": (1, 2.0)},)),
        (two_dicts, ({"a": 1}, {"a": 1})),
    ],
)
def test_native(function, args):
    agree(function, *args)


@pytest.mark.parametrize(
    ("function", "args"),
    [(replaces, ({"a": 1, "c": 4}, "x")), (texts_in_records, ([{"name": "a", "tag": "b"}, {"name": "b"}],))],
)
def test_left_to_python(function, args):
    agree(function, *args, native=False)


def test_one_dict_under_two_names():
    run = weft.jit(two_dicts)
    assert run({"a": 1}, {"a": 1}) == (1, 1)
    same = {"a": 1, "b": 2}
    assert run(same, same) == (3, 1)
    assert same == {"a": 1, "b": 2, "q": 5}


def inner_list(d):
    return d["a"]


def itself(d):
    return d


def inner_change(d):
    d["a"].append(5)
    return len(d)


def put(rows):
    rows[0] = rows[1]


def put_new(rows):
    rows[-1] = ("new", "x")
    return len(rows)


def bubbled(rows):
    for end in range(len(rows) - 1, 0, -1):
        for at in range(end):
            if rows[at + 1] < rows[at]:
                rows[at], rows[at + 1] = rows[at + 1], rows[at]


@pytest.mark.parametrize("function", [put, put_new, bubbled], ids=lambda function: function.__name__)
def test_tuples_of_strings_in_an_argument_are_replaced(function):
    """Numbers stand for the strings: what replaces them must reach the list itself."""
    agree(function, [[("b", "c"), ("a", "d"), ("a", "b")]], [[("b", "c"), ("a", "d")]])


@pytest.mark.parametrize("function", [inner_list, itself, inner_change])
def test_identity_is_pythons(function):
    given = {"a": [1], "b": [2, 3]}
    found = weft.jit(fallback="silent")(function)(given)
    assert found is given["a"] or found is given or given["a"] == [1, 5]


@pytest.mark.parametrize(
    "rows",
    [[("a", 1), ("b",)], [("a", 1), ("b", "c")], [("a", 1), (None, 1)], [("a", 1), ["b", 2]], [], [("a", 2**70)]],
)
def test_what_does_not_fit(rows):
    def names(rows):
        return [row[0] for row in rows]

    run = weft.jit(fallback="silent")(names)
    assert run([("a", 1), ("b", 2)]) == ["a", "b"]
    assert run(rows) == names(rows)
