"""Lists of tuples, deques, heaps, bisection: graph kernels in plain Python, as CPython runs them."""

from __future__ import annotations

import bisect
import heapq
from collections import deque

import numpy as np
import pytest

import weft
from tests.semantics.test_growing_lists import _same


def label(mask):
    h, w = mask.shape
    labels = np.zeros((h, w), dtype=np.int32)
    current = 0
    for i in range(h):
        for j in range(w):
            if mask[i, j] and labels[i, j] == 0:
                current += 1
                stack = [(i, j)]
                while stack:
                    y, x = stack.pop()
                    if 0 <= y < h and 0 <= x < w and mask[y, x] and labels[y, x] == 0:
                        labels[y, x] = current
                        stack.append((y + 1, x))
                        stack.append((y - 1, x))
                        stack.append((y, x + 1))
                        stack.append((y, x - 1))
    return labels, current


def dijkstra(weights, source):
    n = weights.shape[0]
    distance = np.full(n, np.inf)
    distance[source] = 0.0
    done = np.zeros(n, dtype=bool)
    heap = [(0.0, source)]
    while heap:
        d, u = heapq.heappop(heap)
        if done[u]:
            continue
        done[u] = True
        for v in range(n):
            if weights[u, v] > 0 and not done[v]:
                further = d + float(weights[u, v])
                if further < distance[v]:
                    distance[v] = further
                    heapq.heappush(heap, (further, v))
    return distance


def breadth_first(weights, source):
    n = weights.shape[0]
    depth = np.full(n, -1)
    depth[source] = 0
    queue = deque([source])
    while queue:
        u = queue.popleft()
        for v in range(n):
            if weights[u, v] > 0 and depth[v] < 0:
                depth[v] = depth[u] + 1
                queue.append(v)
    return depth


def by_levels(weights, source):
    n = weights.shape[0]
    seen = np.zeros(n, dtype=bool)
    seen[source] = True
    frontier = [source]
    sizes = []
    while frontier:
        following = []
        for u in frontier:
            for v in range(n):
                if weights[u, v] > 0 and not seen[v]:
                    seen[v] = True
                    following.append(v)
        sizes.append(len(frontier))
        frontier = following
    return sizes


def both_ends(n):
    queue = deque()
    for i in range(n):
        queue.append(i)
        queue.appendleft(-i)
        if i % 3 == 0:
            queue.pop()
    total = 0
    factor = 1
    while len(queue) > 0:
        total += factor * queue.popleft() + (queue[0] if queue else 0)
        factor = (factor * 3) % 101
    return total


def heap_sort(items):
    heap = []
    for item in items:
        heapq.heappush(heap, item)
    out = []
    while heap:
        out.append(heapq.heappop(heap))
    return out


def heaps(values):
    heap = [int(v) for v in values]
    heapq.heapify(heap)
    first = [heapq.heappop(heap) for _ in range(5)]
    replaced = heapq.heapreplace(heap, 7)
    return heap, first, replaced


def bisections(items, x):
    mine = [v for v in items]
    left = bisect.bisect_left(items, x)
    right = bisect.bisect(items, x)
    bisect.insort(mine, x)
    return left, right, mine


def comparisons(n):
    return (1, 2.0) < (1, 3.0), (n, 2) >= (n, 1), (n, 1) < (n, 1), (1, n) <= (2, 0), (n, 1) > (n, 0)


def grows_while_it_runs(n):
    items = [1]
    for item in items:
        if len(items) < n:
            items.append(item + 1)
    return items


def edited_tuples(n):
    items = [(0, 0.5)]
    for k in range(1, n):
        items.append((k, k * 0.5))
    items[2] = (7, 1.5)
    del items[0]
    items.insert(1, (9, 9.5))
    total = 0.0
    for k, x in items:
        total += k * x
    last = items[-1]
    return total, last, len(items)


RANDOM = np.random.default_rng(1)
WEIGHTS = RANDOM.integers(1, 20, (14, 14)).astype(float) * (RANDOM.random((14, 14)) < 0.3)


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (label, (RANDOM.random((17, 13)) > 0.5,)),
        (dijkstra, (WEIGHTS, 0)),
        (breadth_first, (WEIGHTS, 0)),
        (by_levels, (WEIGHTS, 0)),
        (both_ends, (50,)),
        (heap_sort, ([5.0, 3.0, 8.0, 1.0, 9.0, 2.0, 3.0],)),
        (heaps, (RANDOM.integers(0, 50, 40),)),
        (bisections, ([1, 3, 5, 7], 5)),
        (comparisons, (5,)),
        (edited_tuples, (40,)),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_the_same_as_cpython(function, arguments):
    _same(weft.jit(fallback="error")(function)(*arguments), function(*arguments))


def test_a_loop_over_a_list_that_grows_is_left_to_python():
    assert weft.jit(fallback="silent")(grows_while_it_runs)(9) == grows_while_it_runs(9)


def test_taking_from_nothing_raises():
    def take(n):
        heap = [1.0]
        heapq.heappop(heap)
        return heapq.heappop(heap)

    def leave(n):
        queue = deque([n])
        queue.popleft()
        return queue.popleft()

    with pytest.raises(IndexError, match="index out of range"):
        weft.jit(fallback="error")(take)(3)
    with pytest.raises(IndexError, match="pop from an empty deque"):
        weft.jit(fallback="error")(leave)(3)


def least_pair(values):
    best = (10.0, -1)
    for i in range(len(values)):
        this = (float(values[i]), i)
        if this < best:
            best = this
    return best


def fibonacci(n):
    pair = (0, 1)
    for _ in range(n):
        pair = (pair[1], pair[0] + pair[1])
    return pair


def set_in_the_loop(n):
    for i in range(n):
        if i % 3 == 0:
            pair = (i, i * 2)
        else:
            pair = (i * 2, i)
    return pair


def becomes_a_float(n):
    pair = (0, 0)
    for i in range(n):
        pair = (pair[0] + i * 0.5, pair[1] + 1)
    return pair


def stays_a_shape(n):
    shape = (n, n)
    for _ in range(3):
        shape = (n, n)
        made = np.zeros(shape)
    return made


@pytest.mark.parametrize("function", [fibonacci, set_in_the_loop, becomes_a_float, stays_a_shape])
def test_tuples_that_a_loop_carries(function):
    _same(weft.jit(fallback="error")(function)(10), function(10))


def test_the_least_of_pairs():
    values = np.random.default_rng(7).random(30)
    _same(weft.jit(fallback="error")(least_pair)(values), least_pair(values))
