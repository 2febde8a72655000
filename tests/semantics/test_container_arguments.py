"""Lists of lists and of tuples, lists that grow, dicts and sets as arguments: as CPython, natively, in what is
returned, in what the containers hold afterwards and in which objects they are.
"""

from __future__ import annotations

import copy
import heapq

import numpy as np
import pytest

import weft

BACKENDS = ["auto", "python"]


def observed(value, known):
    """Everything a caller can see of a value: types, bits, order, and which containers are the same object."""
    if isinstance(value, list | dict | set | np.ndarray):
        if id(value) in known:
            return ("again", known[id(value)])
        known[id(value)] = len(known)
    if isinstance(value, list | tuple):
        return (type(value).__name__, [observed(item, known) for item in value])
    if isinstance(value, dict):
        return ("dict", [(observed(key, known), observed(item, known)) for key, item in value.items()])
    if isinstance(value, set):
        return ("set", list(value))
    if isinstance(value, np.ndarray):
        return ("array", value.dtype.str, value.shape, value.tobytes())
    if isinstance(value, float):
        return ("float", float(value).hex())
    return (type(value).__name__, value)


def outcome(function, arguments):
    try:
        result = ("result", function(*arguments))
    except Exception as error:
        result = ("raised", type(error).__name__, str(error))
    return observed((list(arguments), result), {})


def same(function, arguments, backend="auto", fallback="error", calls=2):
    compiled = weft.jit(fallback=fallback, backend=backend)(function)
    expected = outcome(function, copy.deepcopy(arguments))
    for _ in range(calls):
        assert outcome(compiled, copy.deepcopy(arguments)) == expected
    return compiled


# --- lists of lists of any lengths ----------------------------------------------------------------------------------


def breadth_first(adjacent, start):
    distance = [-1] * len(adjacent)
    distance[start] = 0
    queue = [start]
    head = 0
    while head < len(queue):
        u = queue[head]
        head += 1
        for v in adjacent[u]:
            if distance[v] < 0:
                distance[v] = distance[u] + 1
                queue.append(v)
    return distance


def scaled(rows, factor):
    for i in range(len(rows)):
        for j in range(len(rows[i])):
            rows[i][j] = rows[i][j] * factor


def shapes(rows):
    return len(rows), [len(row) for row in rows], [sum(row) for row in rows], max(len(row) for row in rows)


def numbered(rows):
    total = 0
    for i, row in enumerate(rows):
        for x in row:
            total += i * x
        if row:
            total += row[0] - row[-1]
    return total


def element(rows, i, j):
    return rows[i][j]


def through_a_name(rows, k):
    row = rows[k]
    rows[k][0] = 7
    return row[0], len(row)


def written_then_raises(rows, k):
    for i in range(len(rows)):
        rows[i][0] = -rows[i][0]
    return rows[k][0]


def returned_itself(rows):
    rows[0][0] = rows[0][0] + 1
    return rows, rows


GRAPH = [[1, 2], [3], [], [0, 1, 2], [4]]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (breadth_first, (GRAPH, 0)),
        (breadth_first, ([[1], [9]], 0)),
        (breadth_first, ([[1], [-1], [0, 1]], 0)),
        (scaled, ([[1.0, 2.0], [], [-0.0, float("nan"), 3.0]], 2.0)),
        (scaled, ([[], [3]], 2)),
        (shapes, (GRAPH,)),
        (numbered, (GRAPH,)),
        (element, (GRAPH, -2, -1)),
        (element, (GRAPH, 2, 0)),
        (element, (GRAPH, 5, 0)),
        (element, (GRAPH, -6, 0)),
        (element, ([[True], [False, True]], 1, 1)),
        (through_a_name, ([[1], [2, 3]], 1)),
        (written_then_raises, ([[1], [2, 3]], 5)),
        (written_then_raises, ([[1], [2, 3], []], 0)),
        (returned_itself, ([[1], [2, 3]],)),
    ],
)
def test_lists_of_lists(function, arguments, backend):
    same(function, arguments, backend)


def shortest_paths(adjacent, start):
    distance = [1e18] * len(adjacent)
    distance[start] = 0.0
    heap = [(0.0, start)]
    while heap:
        d, u = heapq.heappop(heap)
        if d > distance[u]:
            continue
        for v, w in adjacent[u]:
            if d + w < distance[v]:
                distance[v] = d + w
                heapq.heappush(heap, (d + w, v))
    return distance


def swapped_pairs(rows):
    for i in range(len(rows)):
        for j in range(len(rows[i])):
            a, b = rows[i][j]
            rows[i][j] = (b, a)


@pytest.mark.parametrize("backend", BACKENDS)
def test_rows_of_tuples(backend):
    same(shortest_paths, ([[(1, 2.0), (2, 1.0)], [(3, 1.0)], [(1, 0.5)], []], 0), backend)
    same(shortest_paths, ([[(1, 2.0)], [(3, 1.0)]], 0), backend)
    same(swapped_pairs, ([[(1, 2), (3, 4)], [], [(5, 6)]],), backend)


# --- lists of tuples ------------------------------------------------------------------------------------------------


def weight(edges):
    total = 0.0
    for u, v, w in edges:
        total += w * (u + v)
    return total, edges[0], len(edges), edges[-1][2]


def nested_parts(items):
    total = 0
    for (a, b), c in items:
        total += a * b if c else b
    return total


def turned(edges, k):
    edges[k] = (edges[k][1], edges[k][0])
    return len(edges)


def spanning_forest(edges, n):
    parent = [i for i in range(n)]
    total = 0.0
    for u, v, w in edges:
        a = u
        while parent[a] != a:
            a = parent[a]
        b = v
        while parent[b] != b:
            b = parent[b]
        if a != b:
            parent[a] = b
            total += w
    return total


def as_array(points):
    return np.array(points).sum(axis=0)


def heap_of_pairs(heap, limit):
    taken = []
    while heap and heap[0][0] < limit:
        cost, node = heapq.heappop(heap)
        taken.append(node)
        if node > 1:
            heapq.heappush(heap, (cost + 1.5, node // 2))
    return taken


EDGES = [(0, 1, 3.0), (1, 2, -0.5), (2, 0, 4.0)]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (weight, (EDGES,)),
        (weight, ([(1, 2, 3.0)],)),
        (nested_parts, ([((1, 2), True), ((3, 4), False)],)),
        (turned, ([(1, 2), (3, 4)], 1)),
        (turned, ([(1, 2), (3, 4)], -2)),
        (turned, ([(1, 2), (3, 4)], 2)),
        (spanning_forest, (EDGES, 3)),
        (as_array, ([(1.0, 2), (3.0, 4)],)),
        (heap_of_pairs, ([(0.5, 9), (1.0, 4), (3.0, 1)], 4.0)),
    ],
)
def test_lists_of_tuples(function, arguments, backend):
    same(function, arguments, backend)


# --- lists that grow and shrink -------------------------------------------------------------------------------------


def grown(items, n):
    for i in range(n):
        items.append(i * 2)
    return items


def drained(items):
    total = 0
    while len(items) > 1:
        total += items.pop()
    return total


def helper(items, value):
    items.append(value)


def through_a_function(items, n):
    for i in range(n):
        helper(items, i)
    other = items
    other.append(-1)
    return other


def raises_half_way(items, n):
    for i in range(n):
        items.append(10 // (3 - i))


def edited(items):
    items.insert(0, 9)
    items[1] = 4
    del items[2]
    items.extend([1, 2])
    items.sort()
    return items[0]


def grown_records(items, n):
    for i in range(n):
        items.append((i, 0.5 * i))
    items.pop(0)


def two_lists(first, second):
    first.append(second.pop())
    return first, second


def never_changed_after_all(items, n):
    if n > 100:
        items.append(1)
    return len(items)


def maybe_empty(items):
    return items


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (grown, ([], 5)),
        (grown, ([], 0)),
        (grown, ([7, 8], 50)),
        (drained, ([7, 8, 9],)),
        (drained, ([],)),
        (through_a_function, ([1], 4)),
        (raises_half_way, ([1], 5)),
        (raises_half_way, ([], 5)),
        (raises_half_way, ([], 2)),
        (edited, ([5, 6, 7],)),
        (grown_records, ([(1, 1.0)], 3)),
        (grown_records, ([], 3)),
        (two_lists, ([1.0], [2.0, 3.0])),
        (two_lists, ([1.0], [])),
        (never_changed_after_all, ([], 3)),
        (never_changed_after_all, ([], 300)),
        (never_changed_after_all, ([2], 300)),
        (maybe_empty, ([],)),
    ],
)
def test_lists_that_change_their_length(function, arguments, backend):
    same(function, arguments, backend)


@pytest.mark.parametrize("backend", BACKENDS)
def test_one_function_for_lists_of_all_sizes(backend):
    compiled = weft.jit(backend=backend, fallback="silent")(grown)
    for size in (0, 3, 0, 1, 100, 0):
        expected, got = grown([*range(size)], 20), compiled([*range(size)], 20)
        assert got == expected and all(type(item) is int for item in got)


@pytest.mark.parametrize("backend", BACKENDS)
def test_the_same_list_twice_is_one_list(backend):
    compiled = weft.jit(backend=backend, fallback="silent")(two_lists)
    for distinct in (True, False, True):
        first = [1.0, 2.0]
        second = [3.0] if distinct else first
        mine = copy.deepcopy([first, second])
        got, expected = compiled(*mine), two_lists(first, second)
        assert got[0] is mine[0] and got[1] is mine[1] and mine == [first, second] and got == expected


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_row_that_is_in_two_places(backend):
    def one_element(rows):
        rows[0][0] = 5
        return rows

    compiled = weft.jit(backend=backend, fallback="silent")(one_element)
    assert compiled([[1], [2, 3]]) == [[5], [2, 3]]
    row = [0, 1]
    assert compiled([row, row, [1]]) == [[5, 1], [5, 1], [1]]
    assert weft.jit(backend=backend, fallback="error")(shapes)([row, row, [1]]) == shapes([row, row, [1]])


# --- dicts and sets -------------------------------------------------------------------------------------------------


def looked_up(table, n):
    total = 0.0
    for i in range(n):
        if i in table:
            total += table[i]
    for key in table:
        total += key
    return total, len(table)


def counted(table, items):
    for x in items:
        if x in table:
            table[x] += 1
        else:
            table[x] = 1
    return table


def by_get(table, items):
    for x in items:
        table[x] = table.get(x, 0) + 1


def removed(table, n):
    for i in range(n):
        table[i] = table.get(i, 0.0) + 1.0
    del table[1]
    table[1] = 5.0
    return table.pop(2)


def emptied(table):
    table.clear()
    table[3] = 1.5


def value_of(table, key):
    return table[key]


def pairs_of(table):
    total = 0
    for key, (a, b) in table.items():
        total += key * a
    return total, [key for key in table], sum(b for a, b in table.values())


def put_then_raises(table, n):
    for i in range(n):
        table[i] = 12 // (2 - i)


def largest(table):
    return max(table.values()), sorted(table)


def moved(grid, place):
    i, j = place
    if (i, j + 1) in grid:
        grid[(i, j)] = grid[(i, j + 1)] + 1
    return grid


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (looked_up, ({3: 1.5, 1: 2.5, -4: 0.25}, 5)),
        (looked_up, ({}, 5)),
        (counted, ({}, [1, 2, 1, 3])),
        (counted, ({2: 5, 1: 0}, [1, 2, 1, 3])),
        (by_get, ({}, [1, 2, 1, 3])),
        (by_get, ({7: 2}, [*range(200), 5])),
        (removed, ({3: 1.5, 1: 2.5}, 5)),
        (removed, ({}, 5)),
        (removed, ({}, 1)),
        (emptied, ({2: 2.0, 1: 1.0},)),
        (value_of, ({3: 1.5}, 3)),
        (value_of, ({3: 1.5}, 4)),
        (value_of, ({}, 4)),
        (value_of, ({(3, 1): 1.5}, (3, 1))),
        (value_of, ({(3, 1): 1.5}, (1, 3))),
        (pairs_of, ({1: (2, 3.0), 4: (5, 6.0)},)),
        (put_then_raises, ({5: 1, 0: 2}, 4)),
        (put_then_raises, ({}, 4)),
        (largest, ({5: 1.0, 2: 7.5},)),
        (moved, ({(1, 2): 3, (0, 0): 4}, (1, 1))),
    ],
)
def test_dicts(function, arguments, backend):
    same(function, arguments, backend)


def members(items, n):
    count = 0
    for i in range(n):
        if i in items:
            count += 1
    return count, len(items)


def added(seen, n):
    new = 0
    for i in range(n):
        if i * i % 91 not in seen:
            seen.add(i * i % 91)
            new += 1
    return new


@pytest.mark.parametrize("backend", [backend for backend in BACKENDS if backend != "python"])
@pytest.mark.parametrize("items", [{3, 1}, set(), {*range(0, 500, 3)}, {-1, 2**62}])
def test_sets_keep_their_order(items, backend):
    same(members, (items, 40), backend)
    same(added, (items, 200), backend)
    same(added, (items, 2), backend)


def in_order(items):
    total = 0
    for item in items:
        total = 10 * total + item
    return total


def taken_out(items):
    items.discard(3)
    items.add(3)
    return len(items)


@pytest.mark.usefixtures("array_compiler_only")
def test_what_only_cpython_knows_of_sets_is_left_to_it():
    with pytest.raises(weft.Unsupported):
        weft.jit(fallback="error")(taken_out)({1, 2, 3})
    same(taken_out, ({100, 3, 20, 7},), fallback="silent")


@pytest.mark.parametrize("backend", BACKENDS)
def test_sets_are_run_through_in_order(backend):
    same(in_order, ({100, 3, 20, 7},), backend, fallback="silent")


@weft.jit(fallback="error")
def ends(items):
    return items[0], items[len(items) - 1], len(items)


@pytest.mark.parametrize("bits", [0, 1, 15, 29, 30, 31, 59, 60, 61, 62, 63])
def test_numbers_of_all_lengths(bits):
    """How an int lies in memory depends on its length and on its sign."""
    for number in {1 << bits, (1 << bits) - 1, (1 << bits) + 1} - {1 << 63, (1 << 63) + 1}:
        items = [number, 7, -number]
        found = [ends(items), ends(items[::-1]), ends([number] * 30)]
        assert found == [(number, -number, 3), (-number, number, 3), (number, number, 30)]


@pytest.mark.parametrize("count", [1, 2])
def test_long_lists(count):
    """From some length on all threads read a list; what does not fit is found wherever it is."""
    length = (1 << 16) + 5
    before = weft.get_num_threads()
    weft.set_num_threads(count)
    try:
        for items in ([float(k) for k in range(length)], list(range(length)), [1 << 40] * length):
            assert ends(items) == (items[0], items[-1], length)
            for place, other in ((0, None), (length // 2, "a"), (length - 1, 1 << 70)):
                spoilt = items[:]
                spoilt[place] = other
                compiled = weft.jit(ends.__wrapped__)
                assert compiled(items) == (items[0], items[-1], length)
                assert compiled(spoilt) == (spoilt[0], spoilt[-1], length)
    finally:
        weft.set_num_threads(before)
