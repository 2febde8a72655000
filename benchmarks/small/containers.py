"""Lists, dicts, sets, graphs."""

from __future__ import annotations

import heapq
import random
from collections import Counter, defaultdict, deque


def largest(items):
    best = items[0]
    for item in items:
        if item > best:
            best = item
    return best


def first_even(items):
    for item in items:
        if item % 2 == 0:
            return item
    return None


def bubble_sort(items):
    items = list(items)
    for i in range(len(items)):
        for j in range(len(items) - 1 - i):
            if items[j] > items[j + 1]:
                items[j], items[j + 1] = items[j + 1], items[j]
    return items


def quicksort(items):
    if len(items) <= 1:
        return items
    pivot = items[0]
    less = [x for x in items[1:] if x < pivot]
    more = [x for x in items[1:] if x >= pivot]
    return quicksort(less) + [pivot] + quicksort(more)


def binary_search(items, wanted):
    low, high = 0, len(items) - 1
    while low <= high:
        middle = (low + high) // 2
        if items[middle] == wanted:
            return middle
        if items[middle] < wanted:
            low = middle + 1
        else:
            high = middle - 1
    return -1


def two_sum(items, target):
    seen = {}
    for i, item in enumerate(items):
        if target - item in seen:
            return seen[target - item], i
        seen[item] = i
    return None


def flatten(rows):
    out = []
    for row in rows:
        out.extend(row)
    return out


def transpose(rows):
    return [[row[j] for row in rows] for j in range(len(rows[0]))]


def product(a, b):
    return [[sum(x * y for x, y in zip(row, column)) for column in zip(*b)] for row in a]


def sieve(n):
    marks = [True] * (n + 1)
    for i in range(2, int(n**0.5) + 1):
        if marks[i]:
            for j in range(i * i, n + 1, i):
                marks[j] = False
    return [i for i in range(2, n + 1) if marks[i]]


def count(items):
    counts = {}
    for item in items:
        counts[item] = counts.get(item, 0) + 1
    return counts


def counter(items):
    return Counter(items).most_common(2)


def lookup(table, key):
    return table[key] + 1


def lookup_all(table, keys):
    return [table[key] for key in keys if key in table]


def invert(table):
    return {value: key for key, value in table.items()}


def group(pairs):
    groups = defaultdict(list)
    for key, value in pairs:
        groups[key].append(value)
    return dict(groups)


def unique(items):
    seen, out = set(), []
    for item in items:
        if item not in seen:
            seen.add(item)
            out.append(item)
    return out


def dijkstra(graph, start):
    distance = {start: 0}
    heap = [(0, start)]
    while heap:
        d, u = heapq.heappop(heap)
        if d > distance[u]:
            continue
        for v, w in graph[u]:
            if v not in distance or d + w < distance[v]:
                distance[v] = d + w
                heapq.heappush(heap, (d + w, v))
    return distance


def components(graph):
    seen, out = set(), []
    for start in graph:
        if start in seen:
            continue
        stack, part = [start], []
        seen.add(start)
        while stack:
            u = stack.pop()
            part.append(u)
            for v in graph[u]:
                if v not in seen:
                    seen.add(v)
                    stack.append(v)
        out.append(part)
    return out


def breadth_first(graph, start):
    depth = {start: 0}
    queue = deque([start])
    while queue:
        u = queue.popleft()
        for v in graph[u]:
            if v not in depth:
                depth[v] = depth[u] + 1
                queue.append(v)
    return depth


def knapsack(weights, values, room):
    best = [0] * (room + 1)
    for weight, value in zip(weights, values):
        for left in range(room, weight - 1, -1):
            best[left] = max(best[left], best[left - weight] + value)
    return best[room]


def permutations(items):
    if len(items) <= 1:
        return [list(items)]
    out = []
    for i in range(len(items)):
        for rest in permutations(items[:i] + items[i + 1 :]):
            out.append([items[i], *rest])
    return out


def append_to(items, value):
    items.append(value)
    items.pop()
    return len(items)


def rotate(items, k):
    return items[k:] + items[:k]


def pascal(n):
    rows = [[1]]
    for _ in range(n):
        row = rows[-1]
        rows.append([1, *(a + b for a, b in zip(row, row[1:])), 1])
    return rows


def queens(n, row=0, columns=0, left=0, right=0):
    if row == n:
        return 1
    found = 0
    for column in range(n):
        bit = 1 << column
        if not (columns & bit or left & (1 << (row + column)) or right & (1 << (row - column + n))):
            found += queens(n, row + 1, columns | bit, left | (1 << (row + column)), right | (1 << (row - column + n)))
    return found


def _numbers(n):
    return random.Random(0).sample(range(10 * n), n)


def _graph(n, weighted):
    draw = random.Random(1)
    return {
        i: [(draw.randrange(n), draw.randrange(1, 9)) if weighted else draw.randrange(n) for _ in range(4)]
        for i in range(n)
    }


def _named(n):
    draw = random.Random(2)
    return {f"n{i}": [f"n{draw.randrange(n)}" for _ in range(3)] for i in range(n)}


def cases():
    small, middle, large = _numbers(4), _numbers(60), _numbers(3000)
    table = {i: 2 * i for i in range(5000)}
    yield "lists", largest, [(small,), (middle,), (large,)]
    yield "lists", first_even, [(small,), (large,)]
    yield "lists", bubble_sort, [(small,), (middle,)]
    yield "lists", quicksort, [(small,), (middle,), (large,)]
    yield "lists", binary_search, [(sorted(small), 3), (sorted(large), 777)]
    yield "dicts", two_sum, [(small, -1), (middle, -1), (large, -1)]
    yield "lists", flatten, [([small, small],), ([middle] * 20,)]
    yield "lists", transpose, [([small, small],), ([middle] * 20,)]
    yield "lists", product, [([[1, 2], [3, 4]], [[1, 2], [3, 4]]), ([[1.5] * 12] * 12, [[2.5] * 12] * 12)]
    yield "lists", sieve, [(10,), (1000,), (20000,)]
    yield "dicts", count, [(small,), ([i % 7 for i in large],), ([f"w{i % 50}" for i in large],)]
    yield "dicts", counter, [(small,), ([i % 7 for i in large],)]
    yield "dicts", lookup, [({1: 2}, 1), (table, 77)]
    yield "dicts", lookup_all, [({1: 2}, [1, 2]), (table, middle), (table, large)]
    yield "dicts", invert, [({1: 2, 3: 4},), (table,)]
    yield "dicts", group, [([(i % 3, i) for i in small],), ([(i % 10, i) for i in large],)]
    yield "dicts", unique, [(small,), ([i % 100 for i in large],), ([f"w{i % 50}" for i in middle],)]
    yield "graphs", dijkstra, [(_graph(6, True), 0), (_graph(300, True), 0)]
    yield "graphs", components, [(_graph(6, False),), (_graph(300, False),), (_named(200),)]
    yield "graphs", breadth_first, [(_graph(6, False), 0), (_graph(300, False), 0), (_named(200), "n0")]
    yield "lists", knapsack, [([1, 2, 3], [4, 5, 6], 5), ([3, 5, 7, 9] * 5, [2, 4, 6, 9] * 5, 100)]
    yield "recursion", permutations, [([1, 2],), ([1, 2, 3, 4, 5],)]
    yield "lists", append_to, [(small, 5), (large, 5)]
    yield "lists", rotate, [(small, 2), (large, 100)]
    yield "lists", pascal, [(3,), (40,)]
    yield "recursion", queens, [(4,), (6,)]
