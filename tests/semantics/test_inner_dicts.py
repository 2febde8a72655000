"""Dicts and sets inside lists, dicts and tuples: results, arguments, orders and the identity of every one as in
CPython, natively.  What only CPython knows (the places of a set that an argument holds) and bad input are Python's.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, var-annotated, type-arg"
# ruff: noqa: SIM118
from __future__ import annotations

import copy
import heapq
import random
from collections import Counter, defaultdict, deque
from typing import Any

import pytest

import weft
from tests.fuzz.test_containers import outcome

GRAPH = {0: [1, 2], 1: [3], 2: [3, 4], 3: [5], 4: [5], 5: []}
SETS = [{1, 2}, {0, 3}, {0, 3}, {1, 2}, set()]
NEIGHBOURS = {0: {1, 2}, 1: {0}, 2: {0, 3}, 3: {2}, 9: set()}
WEIGHTS = {0: {1: 4.0, 2: 1.0}, 1: {3: 1.0}, 2: {1: 2.0, 3: 5.0}, 3: {}}
DOCUMENTS = [[1, 2, 3], [2, 3], [3, 5, 3], []]
EDGES = [(0, 1), (1, 2), (3, 4), (2, 0), (7, 5)]


def components(edges, n):
    adjacent = [set() for _ in range(n)]
    for u, v in edges:
        adjacent[u].add(v)
        adjacent[v].add(u)
    label, count, order = [-1] * n, 0, []
    for start in range(n):
        if label[start] >= 0:
            continue
        stack = [start]
        label[start] = count
        while stack:
            u = stack.pop()
            order.append(u)
            for v in adjacent[u]:
                if label[v] < 0:
                    label[v] = count
                    stack.append(v)
        count += 1
    return label, order, adjacent


def inverted(documents):
    index = defaultdict(set)
    for number, words in enumerate(documents):
        for word in words:
            index[word].add(number)
    return index, {word: len(where) for word, where in index.items()}


def together(documents):
    counts = defaultdict(lambda: defaultdict(int))
    for words in documents:
        for a in words:
            for b in words:
                if a != b:
                    counts[a][b] += 1
    return [(a, b, count) for a, row in counts.items() for b, count in row.items()]


def together_in_plain_dicts(documents):
    counts = {}
    for words in documents:
        for a in words:
            row = counts.setdefault(a, {})
            for b in words:
                row[b] = row.get(b, 0) + 1
    return counts


def shortest(graph, start):
    distance, waiting, done = {start: 0.0}, [(0.0, start)], set()
    while waiting:
        length, u = heapq.heappop(waiting)
        if u in done:
            continue
        done.add(u)
        for v, weight in graph[u].items():
            if v not in distance or length + weight < distance[v]:
                distance[v] = length + weight
                heapq.heappush(waiting, (length + weight, v))
    return distance


def breadth_first(adjacent, start):
    seen, order, waiting = {start}, [], deque([start])
    while waiting:
        u = waiting.popleft()
        order.append(u)
        for v in adjacent[u]:
            if v not in seen:
                seen.add(v)
                waiting.append(v)
    return order


def triangles(adjacent):
    found = []
    for u in adjacent:
        for v in adjacent[u]:
            if u < v:
                found.append((u, v, len(adjacent[u] & adjacent[v]), len(adjacent[u] | adjacent[v])))
    return found


def core(adjacent, k):
    """The argument itself loses items, and is run through in between."""
    changed, order = True, []
    while changed:
        changed = False
        for u in list(adjacent):
            if 0 < len(adjacent[u]) < k:
                for v in adjacent[u]:
                    adjacent[v].discard(u)
                    order.append((u, v))
                adjacent[u] = set()
                changed = True
    return order


def core_of_a_list(adjacent, k):
    alive, order = [True] * len(adjacent), []
    for _ in range(3):
        for u in range(len(adjacent)):
            if alive[u] and len(adjacent[u]) < k:
                alive[u] = False
                for v in adjacent[u]:
                    if v != u:
                        adjacent[v].discard(u)
                        order.append(v)
    return order


def scaled(graph):
    for u in graph:
        for v in graph[u]:
            graph[u][v] *= 2.0
    graph[0][9] = 1.0
    graph[11] = {1: 0.5}
    return len(graph)


def grown(adjacent):
    for u in range(len(adjacent)):
        adjacent[u].add(100 - u)
    adjacent.append({5, 6})
    return adjacent[0]


def shared(n):
    one = {n}
    held = {0: one, 1: one, 2: {n}}
    held[1].add(7)
    return held, len(one)


def deep(n):
    levels = []
    for k in range(n):
        levels.append({k: [{k, k + 1}], k + 1: []})
    levels[0][0].append({9})
    levels[-1][n] = [set()]
    return levels


def in_tuples(edges):
    held = {}
    for u, v in edges:
        held.setdefault(u, ([], set()))[1].add(v)
        held[u][0].append(v * 2)
    return held


def chosen(n):
    small, large = {1}, {2}
    for k in range(n):
        which = small if k % 2 else large
        which.add(k * 10)
    current = small
    for k in range(n):
        current = {k} if k % 3 else current
    return sorted(small), sorted(large), sorted(current)


def one_after_the_other(n):
    """A variable that denotes another dict in every round, each of which stays."""
    history, current = [], {}
    for k in range(n):
        current = {key + 1: value for key, value in current.items()}
        current[k] = k * k
        history.append(current)
    return history


def orders(edges, n):
    """What happens to sets decides in which order they are run through."""
    sets = [set() for _ in range(n)]
    for u, v in edges:
        sets[u % n].add(v)
        sets[v % n].add(u * 8)
        if (u + v) % 3 == 0:
            sets[u % n].discard(v - 1)
    found = []
    for held in sets:
        for item in held:
            found.append(item)
    return found, sets


def defaults(n):
    fixed, rows, lists = defaultdict(lambda: 5), defaultdict(dict), defaultdict(lambda: [0, 0])
    for i in range(n):
        fixed[i % 2] += i
        rows[i % 3][i] = i * 0.5
        lists[i % 2][1] += i
    return fixed[0], fixed[1], rows, lists[0], lists[1][1], len(fixed)


def following(words):
    after, counts = {}, {}
    for place in range(len(words) - 1):
        after.setdefault(words[place], set()).add(words[place + 1])
        if words[place] not in counts:
            counts[words[place]] = Counter()
        counts[words[place]][words[place + 1]] += 1
    return {word: len(held) for word, held in after.items()}, counts


def cleared(n):
    rows, sets, dicts = [], [], []
    for k in range(3):
        rows.append([k, 2, 3])
        sets.append({k, 5})
        dicts.append({k: 1})
    rows[1].clear()
    rows[1].append(n)
    sets[0].clear()
    sets[0].add(n)
    dicts[0].clear()
    dicts[0][n] = n
    return rows, sets, dicts


def neither(n):
    return [{} for _ in range(n)], {n: set()}, [set() for _ in range(n)]


WORDS = "a b a c b a".split()
RANDOM = random.Random(5)
MANY = [(RANDOM.randrange(60), RANDOM.randrange(60)) for _ in range(300)]

CASES: list[tuple[Any, tuple[Any, ...]]] = [
    (components, (EDGES, 9)), (components, (MANY, 60)), (components, ([(0, 0)], 1)),
    (inverted, (DOCUMENTS,)), (together, (DOCUMENTS,)), (together_in_plain_dicts, (DOCUMENTS,)),
    (shortest, (WEIGHTS, 0)), (shortest, (WEIGHTS, 77)), (breadth_first, (SETS, 0)), (breadth_first, (NEIGHBOURS, 2)),
    (breadth_first, (GRAPH, 0)), (breadth_first, (NEIGHBOURS, 5)), (triangles, (NEIGHBOURS,)),
    (core, (NEIGHBOURS, 2)), (core_of_a_list, (SETS, 3)), (scaled, (WEIGHTS,)), (grown, (SETS,)),
    (shared, (4,)), (deep, (3,)), (in_tuples, (EDGES,)), (chosen, (6,)), (one_after_the_other, (5,)),
    (orders, (EDGES, 3)), (orders, (MANY, 7)), (defaults, (7,)), (following, (WORDS,)), (cleared, (8,)),
    (neither, (2,)),
]  # fmt: skip

_COMPILED: dict[Any, Any] = {}


def _native(function):
    if function not in _COMPILED:
        _COMPILED[function] = weft.jit(fallback="error")(function)
    return _COMPILED[function]


@pytest.mark.parametrize(("function", "arguments"), CASES, ids=[f"{f.__name__}-{k}" for k, (f, _) in enumerate(CASES)])
def test_programs(function, arguments):
    expected = outcome(function, copy.deepcopy(arguments))
    for _ in range(2):
        assert outcome(_native(function), copy.deepcopy(arguments)) == expected


def _runs(value):
    """The order in which sets are run through, wherever they are."""
    if isinstance(value, dict):
        return [(key, _runs(held)) for key, held in value.items()]
    return [_runs(item) for item in value] if isinstance(value, (list, tuple, set)) else value


@pytest.mark.parametrize(("function", "arguments"), [(orders, (MANY, 7)), (components, (MANY, 60)), (deep, (4,))])
def test_sets_come_back_in_their_order(function, arguments):
    assert _runs(_native(function)(*copy.deepcopy(arguments))) == _runs(function(*copy.deepcopy(arguments)))


def test_what_arguments_hold_stays_what_it_is():
    graph = copy.deepcopy(NEIGHBOURS)
    before = {u: held for u, held in graph.items()}
    _native(core)(graph, 2)
    assert graph[2] is before[2] and graph[9] is before[9] and graph[1] is not before[1]
    rows = copy.deepcopy(SETS)
    assert _native(grown)(rows) is rows[0]


@pytest.mark.parametrize("adjacent", [
    [{1, 2.5}], [{1}, [2]], [{1}, frozenset({2})], [{2**70}], [{1}, None], [],
], ids=repr)  # fmt: skip
def test_other_contents_are_left_to_python(adjacent):
    compiled = weft.jit(grown)
    assert outcome(compiled, (copy.deepcopy(adjacent),)) == outcome(grown, (copy.deepcopy(adjacent),))
    assert outcome(compiled, (copy.deepcopy(SETS),)) == outcome(grown, (copy.deepcopy(SETS),))


def test_one_set_in_two_places():
    one = {1, 2}
    arguments = ([one, one, {3}],)
    assert outcome(weft.jit(grown), copy.deepcopy(arguments)) == outcome(grown, copy.deepcopy(arguments))
    assert outcome(_native(breadth_first), ([one, one, set()], 0)) == outcome(breadth_first, ([one, one, set()], 0))


def test_items_that_come_and_go():
    def turns(adjacent, steps):
        seen = []
        for k in range(steps):
            held = adjacent[k % len(adjacent)]
            held.add(k * 3)
            held.discard(k)
            for item in held:
                seen.append(item)
        return seen

    compiled = weft.jit(turns)
    for steps in (0, 1, 40):
        arguments = (copy.deepcopy(SETS), steps)
        assert outcome(compiled, copy.deepcopy(arguments)) == outcome(turns, copy.deepcopy(arguments))


def test_changes_while_a_loop_runs_through():
    def grows(adjacent, u, w):
        for v in adjacent[u]:
            adjacent[w].add(v + 50)
        return len(adjacent[w])

    compiled = weft.jit(grows)
    for pair in ((0, 1), (1, 1), (4, 4)):
        expected = outcome(grows, (copy.deepcopy(SETS), *pair))
        assert outcome(compiled, (copy.deepcopy(SETS), *pair)) == expected


def test_missing_keys_and_places():
    def found(graph, u, v):
        return graph[u][v]

    compiled = _native(found)
    for pair in ((0, 1), (0, 7), (8, 1)):
        assert outcome(compiled, (WEIGHTS, *pair)) == outcome(found, (WEIGHTS, *pair))


def test_memory_is_given_back():
    resource = pytest.importorskip("resource")
    compiled = _native(inverted)
    for _ in range(500):
        compiled(DOCUMENTS)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(20000):
        compiled(DOCUMENTS)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 20000
