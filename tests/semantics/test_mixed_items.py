"""Containers that get Python's numbers and NumPy's: every item keeps its own type, and computes as that does."""

from __future__ import annotations

import heapq
from collections import deque

import numpy as np
import pytest

import weft


def same(want, have):
    """Equal in value, type and order, all the way down."""
    if type(want) is not type(have):
        return False
    if isinstance(want, np.ndarray):
        return want.dtype == have.dtype and want.shape == have.shape and bool(np.all(want == have))
    if isinstance(want, dict):
        return same(list(want.items()), list(have.items()))
    if isinstance(want, set):
        return want == have and sorted(map(repr, want)) == sorted(map(repr, have))
    if isinstance(want, (list, tuple, deque)):
        return len(want) == len(have) and all(map(same, want, have))
    return want == have


def breadth_first(indptr, indices, start):
    queue = [start]
    parent = [-1] * (len(indptr) - 1)
    level = np.full(len(indptr) - 1, -1)
    level[start] = 0
    head = 0
    while head < len(queue):
        u = queue[head]
        head += 1
        for p in range(indptr[u], indptr[u + 1]):
            v = indices[p]
            if level[v] < 0:
                level[v] = level[u] + 1
                parent[v] = u
                queue.append(v)
    return level, queue, parent


def with_deque_and_set(indptr, indices, start):
    queue = deque([start])
    seen = {start}
    order = []
    while queue:
        u = queue.popleft()
        order.append(u)
        for p in range(indptr[u], indptr[u + 1]):
            v = indices[p]
            if v not in seen:
                seen.add(v)
                queue.append(v)
    return order, len(seen), queue


def shortest_paths(indptr, indices, weights, start):
    distance = np.full(len(indptr) - 1, np.inf)
    distance[start] = 0.0
    heap = [(0.0, start)]
    settled = []
    while heap:
        d, u = heapq.heappop(heap)
        if d > distance[u]:
            continue
        settled.append((d, u))
        for p in range(indptr[u], indptr[u + 1]):
            v = indices[p]
            new = d + weights[p]
            if new < distance[v]:
                distance[v] = new
                heapq.heappush(heap, (new, v))
    return distance, settled


INDPTR = np.array([0, 2, 4, 5, 7, 8, 8], dtype=np.int32)
INDICES = np.array([1, 2, 3, 4, 3, 4, 0, 2], dtype=np.int32)
WEIGHTS = np.array([1.5, 0.5, 1.0, 4.0, 0.25, 1.0, 2.0, 8.0])


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
@pytest.mark.parametrize("function", [breadth_first, with_deque_and_set, shortest_paths])
def test_graphs_in_compressed_rows(function, dtype):
    given = [INDPTR.astype(dtype), INDICES.astype(dtype), *([WEIGHTS] if function is shortest_paths else [])]
    compiled = weft.jit(fallback="error")(function)
    for start in (0, 3, 5):
        assert same(function(*given, start), compiled(*given, start))


def reading(a):
    q = [3]
    for v in a:
        q.append(v)
    computed = [x + 1 for x in q]
    signs = (-q[0], -q[-1], abs(q[-1]), q[0] * 2, q[-1] * 100 * 100, q[-1] - q[0], q[0] // 2, q[-1] % 2, q[0] / 2)
    choices = (q[0] or q[-1], q[0] if q[-1] > 4 else q[-1], min(q[0], q[-1]), max(q[0], q[-1]))
    whole = (sum(q), min(q), max(q), len(q), 3 in q, 99 in q, q.count(3), q.index(3), any(q), sum(x * 2 for x in q))
    plain = (int(q[-1]), float(q[0]), ~q[-1], q[-1] & 1, str(q[-1]), (q[0], q[-1]))
    return q, computed, signs, choices, whole, plain, list(reversed(q)), q[1:], [(i, x) for i, x in enumerate(q)]


def changing(a):
    q = [3, 5]
    for v in a:
        q.append(v)
    q.remove(a[0])
    q.insert(0, a[-1])
    q.extend(a)
    q.extend([1, 2])
    del q[1]
    q[0] = 9
    q[1] = a[0]
    q[2] += 1
    first = q.pop(0)
    copied = q.copy()
    q.reverse()
    ordered = sorted(q)
    q.sort()
    return q, copied, ordered, first, q.pop()


def carried(a):
    q = [3, a[0]]
    u = 0
    seen = []
    while q:
        seen.append(u)
        u = q.pop()
        if u > 5:
            u = 7
    return seen, u


def from_variables(a):
    largest = 0
    seen = []
    for v in a:
        seen.append(largest)
        if v > largest:
            largest = v
    return seen, [max(0, v) for v in a]


def stored(a):
    counts = [0] * 10
    for v in a:
        counts[v] += v
    given = [0, 0]
    given[1] = a[0]
    return counts, given, sum(counts)


def entries(a):
    table = {7: 0}
    for v in a:
        table[v] = v
    table[3] = 4
    again = {k: x + 1 for k, x in table.items()}
    members = {1}
    for v in a:
        members.add(v)
    total = {}
    for v in a:
        total[v] = total.get(v, 0) + v
    return table, again, 2 in table, a[0] in again, members, sorted(members), table[a[0]], total


def pairs(a):
    table = {(1, 2): 1}
    for v in a:
        table[(v, 2)] = 2
    return table, (a[0], 2) in table


INTEGERS = [np.array([5, 3, 7]), np.array([2, 2, 1, 9], dtype=np.int32), np.array([4, 3], dtype=np.uint8)]


@pytest.mark.parametrize("function", [reading, changing, carried, from_variables, stored, entries, pairs])
def test_integers(function):
    compiled = weft.jit(fallback="error")(function)
    for array in INTEGERS[: 2 if function in (changing, entries) else 3]:
        with np.errstate(over="ignore"):
            want = function(array)
        assert same(want, compiled(array))


def floats(w):
    seen = [0.0]
    for x in w:
        seen.append(x)
    heap = []
    for x in seen:
        heapq.heappush(heap, x)
    smallest = heapq.heappop(heap)
    return seen, heap, smallest, seen[0] / 2, seen[-1] + 1, sum(seen, 0.0), np.array(seen), np.sqrt(seen[0])


def test_floats():
    compiled = weft.jit(fallback="error")(floats)
    for array in (np.array([0.5, -0.25, 1.0]), np.array([2.0])):
        assert same(floats(array), compiled(array))


def divided(a):
    q = [0]
    for v in a:
        q.append(v)
    return 1 // q[0]


def looked_for(a):
    table = {7: 0}
    for v in a:
        table[v] = v
    return table[99]


def attribute(a):
    q = [3]
    for v in a:
        q.append(v)
    return q[-1].item(), q[-1].dtype


def with_less_precision(a):
    q = [3]
    for v in a:
        q.append(v)
    return a.astype(np.int16) + q[-1], a.astype(np.int16) + q[0], q[-1] ** 2, round(q[-1]), isinstance(q[-1], int)


def narrow_memory(a):
    q = [3]
    for v in a:
        q.append(v)
    out = np.zeros(2, dtype=np.int8)
    out[0] = q[-1]
    return out


def passed_on(a):
    def factorial(n):
        return 1 if n <= 1 else n * factorial(n - 1)

    q = [3]
    for v in a:
        q.append(v)
    return factorial(q[-1])


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "function", [divided, looked_for, attribute, with_less_precision, narrow_memory, passed_on]
)
def test_what_tells_the_types_apart_is_left_to_python(function):
    for array in (np.array([5, 3, 7]), np.array([5, 1, 300])[:2]):
        compiled = weft.jit(fallback="silent")(function)
        try:
            want = function(array)
        except Exception as problem:
            with pytest.raises(type(problem)) as caught:
                compiled(array)
            assert caught.value.args == problem.args
        else:
            assert same(want, compiled(array))
