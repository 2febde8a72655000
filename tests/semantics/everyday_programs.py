"""Small programs on containers as people write them, with the arguments of several calls of each."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, var-annotated"
from __future__ import annotations

import heapq
from collections import Counter, OrderedDict, defaultdict, deque, namedtuple
from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from typing import Any

Point = namedtuple("Point", "x y")


@dataclass
class Account:
    number: int
    balance: float = 0.0


CASES: list[tuple[Callable[..., Any], tuple[tuple[Any, ...], ...]]] = []


def case(*calls: tuple[Any, ...]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A program and the arguments that it is called with in turn."""

    def note(function: Callable[..., Any]) -> Callable[..., Any]:
        CASES.append((function, calls))
        return function

    return note


# --- lists ----------------------------------------------------------------------------------------------------------


@case(([3, 1, 2],), ([],), ([2.5, -1.0],), ([True, False],))
def alias_grows(a):
    b = a
    b.append(4)
    return a, b, len(a)


@case((3, 2), (0, 2), (2, 0))
def one_row_many_times(n, m):
    grid = [[0] * n] * m
    if n and m:
        grid[0][0] = 1
    return grid


@case((3, 2), (0, 2))
def rows_apart(n, m):
    grid = [[0] * n for _ in range(m)]
    if n:
        grid[0][0] = 1
    return grid


@case(([1, 2, 3, 4, 5, 6],), ([1],), ([],))
def slices_as_targets(xs):
    xs[1:3] = [10, 20, 30]
    xs[::2] = [0] * len(xs[::2])
    del xs[1:2]
    xs[len(xs) :] = [7]
    return xs


@case(([1, 2, 3],), ([],), ([5],))
def deletes(xs):
    del xs[0]
    del xs[-1]
    return xs


@case(([[1, 2], [3, 4]],), ([[1.5]],), ([[1, 2, 3], [4, 5, 6]],), ([],))
def transposed(m):
    return [list(row) for row in zip(*m)], [[row[j] for row in m] for j in range(len(m[0]))]


@case(([[1, 2], [3, 4]], [[5, 6], [7, 8]]), ([[1.0]], [[2]]), ([[1, 2]], [[3], [4]]))
def product(a, b):
    out = [[0] * len(b[0]) for _ in a]
    for i in range(len(a)):
        for j in range(len(b[0])):
            for k in range(len(b)):
                out[i][j] += a[i][k] * b[k][j]
    return out


@case(([1, 2, 3, 4],), ([],), ([1.5, 2],))
def running(xs):
    total, out = 0, []
    for x in xs:
        total += x
        out.append(total)
    return out


@case(([3, 1, 3, 2, 1],), ([],), ([1.0, 1, True],))
def unique(xs):
    seen, out = set(), []
    for x in xs:
        if x not in seen:
            seen.add(x)
            out.append(x)
    return out


@case(([1, [2, 3], [[4]]],), ([],), ([[]],))
def flattened(xs):
    out = []
    for x in xs:
        if isinstance(x, list):
            out.extend(flattened(x))
        else:
            out.append(x)
    return out


@case(([5, 3, 8, 1],), ([],), ([2.5, 2.5],))
def bubble(xs):
    n = len(xs)
    for i in range(n):
        for j in range(n - 1 - i):
            if xs[j] > xs[j + 1]:
                xs[j], xs[j + 1] = xs[j + 1], xs[j]
    return xs


@case(([5, 3, 8, 1, 9, 2],), ([],), ([1],))
def quicksort(xs):
    if len(xs) <= 1:
        return xs
    p = xs[0]
    return quicksort([x for x in xs[1:] if x < p]) + [p] + quicksort([x for x in xs[1:] if x >= p])


@case(([1, 3, 5], [2, 4]), ([], [1]), ([1.5], [1]))
def merged(a, b):
    out, i, j = [], 0, 0
    while i < len(a) and j < len(b):
        if a[i] <= b[j]:
            out.append(a[i])
            i += 1
        else:
            out.append(b[j])
            j += 1
    return out + a[i:] + b[j:]


@case(([1, 2, 3, 4, 5], 2), ([1], 3), ([], 1), ([1, 2], 0))
def chunks(xs, n):
    return [xs[i : i + n] for i in range(0, len(xs), n)]


@case(([1, 2, 3], 5), ([1, 2, 3], 1), ([], 0))
def pop_until(xs, total):
    taken = []
    while sum(taken) < total:
        taken.append(xs.pop())
    return taken


@case(([4, -1, 3], 2), ([1], 7), ([], 0))
def exception_in_the_middle(xs, k):
    xs.append(k)
    xs[0] += 1
    return xs[k]


@case(([1, 2, 0, 4],), ([1, 2],), ([0],))
def partial_then_raises(xs):
    for i in range(len(xs)):
        xs[i] = 10 // xs[i]
    return xs


@case(([1, 2], [3]), ([], []), ([1.5], [2.5]))
def two_lists(a, b):
    a.extend(b)
    b.insert(0, len(a))
    a, b = b, a
    return a, b


@case(([1, 2, 3],), ([],), ([9],))
def empties(xs):
    ys = xs
    xs = []
    ys.clear()
    return xs, ys, xs is ys


@case(([1, 2, 3], 2), ([1], 5), ([], 0))
def rotated(xs, k):
    for _ in range(k):
        xs.append(xs.pop(0))
    return xs


@case(([3, 1, 2],), ([],), (["b", "a"],))
def sorts(xs):
    ys = sorted(xs)
    xs.sort(reverse=True)
    return ys, xs, xs[::-1] == ys


@case(([(1, "b"), (0, "a"), (1, "a")],), ([],), ([(2, "z")],))
def sorts_by_parts(xs):
    return sorted(xs), sorted(xs, key=lambda p: p[1]), sorted(xs, key=lambda p: (-p[0], p[1]))


@case(([1, 2, 3, 4],), ([],), ([1.5],))
def none_for_odd(xs):
    return [x if x % 2 == 0 else None for x in xs]


@case(([1, None, 3],), ([None],), ([],), ([1, 2],))
def sum_without_none(xs):
    return sum(x for x in xs if x is not None), [x for x in xs if x is None]


@case(([4, 8, 15], 15), ([4, 8, 15], 3), ([], 1))
def place_or_none(xs, x):
    for i, y in enumerate(xs):
        if y == x:
            return i
    return None


@case(([1, 2, 3],), ([],), ([2.0, 4],))
def mean_or_none(xs):
    return sum(xs) / len(xs) if xs else None


@case((5,), (0,), (1,))
def triangle(n):
    rows = []
    for i in range(n):
        row = [1] * (i + 1)
        for j in range(1, i):
            row[j] = rows[i - 1][j - 1] + rows[i - 1][j]
        rows.append(row)
    return rows


@case(([1, 2, 3],), ([],), ([7],))
def subsets(xs):
    out = [[]]
    for x in xs:
        out += [s + [x] for s in out]
    return out


@case(([1, 2, 3],), ([],), ([7, 8],))
def permutations(xs):
    if not xs:
        return [[]]
    return [[x, *rest] for i, x in enumerate(xs) for rest in permutations(xs[:i] + xs[i + 1 :])]


# --- dicts ----------------------------------------------------------------------------------------------------------


@case((["a", "b", "a"],), ([],), ([1, 1, 2],))
def counted(words):
    d = {}
    for w in words:
        d[w] = d.get(w, 0) + 1
    return d


@case(([("a", 1), ("b", 2), ("a", 3)],), ([],), ([(1, 2.5)],))
def grouped(pairs):
    d = {}
    for k, v in pairs:
        d.setdefault(k, []).append(v)
    return d


@case(([("a", 1), ("b", 2), ("a", 3)],), ([],), ([(1, 2)],))
def grouped_by_default(pairs):
    d = defaultdict(list)
    for k, v in pairs:
        d[k].append(v)
    return d


@case(([1, 2, 2, 3, 3, 3],), ([],), (["x", "y", "x"],))
def most_common(xs):
    c = Counter(xs)
    return c, c.most_common(1), c[99], sum(c.values())


@case(([1, 2, 2], [2, 3]), ([], []))
def counters_together(a, b):
    x, y = Counter(a), Counter(b)
    return x + y, x - y, x & y


@case(({1: 2, 3: 4},), ({},), ({1: 2.5},))
def inverted(d):
    return {v: k for k, v in d.items()}


@case(({1: [1, 2]},), ({},), ({2: []},))
def appends_inside(d):
    d.setdefault(1, []).append(5)
    for k in d:
        d[k].append(k)
    return d


@case(({"a": 1}, {"b": 2}), ({}, {}), ({"a": 1}, {"a": 5}))
def merged_dicts(a, b):
    c = {**a, **b}
    a.update(b)
    return c, a, a == c


@case((10, {}), (10, {0: 0, 1: 1}), (1, {}), (30, {}))
def memoised(n, memo):
    if n in memo:
        return memo[n]
    memo[n] = n if n < 2 else memoised(n - 1, memo) + memoised(n - 2, memo)
    return memo[n]


@case(({1: 2}, 1), ({1: 2}, 5), ({}, 0))
def takes_out(d, k):
    v = d.pop(k, None)
    d[k] = v
    return v, d


@case(({1: 2}, 1), ({1: 2}, 5), ({}, 0))
def missing_key(d, k):
    d[100] = 1
    x = d[k]
    del d[k]
    return x


@case(({"x": 1, "y": 2},), ({},), ({"z": 1.5},))
def dict_as_rows(d):
    return sorted(d.items()), list(d), list(d.values()), max(d.values(), default=None)


@case(({3: 1, 1: 2},), ({},), ({2: 2},))
def kept_order(d):
    o = OrderedDict(sorted(d.items()))
    o[0] = 5
    return o, list(o)


@case(([("a", 3), ("b", 1)],), ([],))
def best_entry(pairs):
    d = dict(pairs)
    return max(d, key=d.get) if d else None


@case((4,), (0,))
def nested_dicts(n):
    t = {}
    for i in range(n):
        t.setdefault(i % 2, {})[i] = i * i
    return t


@case((4,), (0,))
def dict_of_sets(n):
    g = defaultdict(set)
    for i in range(n):
        g[i].add(i + 1)
        g[i + 1].add(i)
    return dict(g)


@case(([3, 4, 3],), ([],))
def last_place(xs):
    return {x: i for i, x in enumerate(xs)}


# --- sets, deques, tuples -------------------------------------------------------------------------------------------


@case(({1, 2, 3}, {2, 3, 4}), (set(), {1}), ({1}, set()))
def set_algebra(a, b):
    return a | b, a & b, a - b, a ^ b, a <= b, a.isdisjoint(b)


@case(({1, 2}, [3, 1]), (set(), []), (set(), [5]))
def set_in_place(s, xs):
    for x in xs:
        s.add(x)
    s.discard(100)
    return len(s), 3 in s


@case(([1, 2, 3], 2), ([], 1), ([5], 3))
def queue_of_last(xs, n):
    q = deque(maxlen=n)
    out = []
    for x in xs:
        q.append(x)
        out.append(sum(q))
    return out


@case((deque([1, 2, 3]),), (deque(),))
def deque_turns(q):
    q.append(4)
    q.appendleft(0)
    q.rotate(1)
    return q.pop(), q.popleft(), q


@case(((1, 2), (3, 4)), ((1.5, 2), (0, 0)))
def tuples(a, b):
    x, y = a
    return (x + b[0], y + b[1]), a + b, a < b, (a, b)


@case((3,), (0,))
def points(n):
    ps = [Point(i, i * i) for i in range(n)]
    return ps, [p._replace(x=0) for p in ps], sum(p.y for p in ps)


@case((Point(1, 2),), (Point(1.5, 2),), ((1, 2),))
def point_argument(p):
    x, y = p
    return x * 2, y, p


@case(([Point(1, 2), Point(3, 4)],), ([],))
def point_list(ps):
    return [p.x for p in ps], max(ps, key=lambda p: p.y) if ps else None


@case((Account(1, 5.0), 3.0), (Account(2), -1.0), (Account(3, 1), 2))
def deposit(a, x):
    if x < 0:
        raise ValueError("negative")
    a.balance += x
    return a, a.balance


@case(([Account(1, 5.0), Account(2, 1.0)],), ([],))
def richest(accounts):
    best = None
    for a in accounts:
        if best is None or a.balance > best.balance:
            best = a
    return best


@case((3,), (0,))
def made_accounts(n):
    made = [Account(i, i * 1.5) for i in range(n)]
    for a in made:
        a.balance += 1
    return made


# --- graphs ---------------------------------------------------------------------------------------------------------


@case(({0: [1, 2], 1: [3], 2: [3], 3: []}, 0), ({0: []}, 0), ({0: [1], 1: [0]}, 1))
def breadth_first(graph, start):
    seen, queue, order = {start}, deque([start]), []
    while queue:
        u = queue.popleft()
        order.append(u)
        for v in graph[u]:
            if v not in seen:
                seen.add(v)
                queue.append(v)
    return order


@case(({0: [1, 2], 1: [3], 2: [3], 3: []}, 0), ({0: [0]}, 0))
def depth_first(graph, start):
    out, stack = [], [start]
    while stack:
        u = stack.pop()
        if u in out:
            continue
        out.append(u)
        stack.extend(reversed(graph[u]))
    return out


@case(({"a": {"b": 1, "c": 4}, "b": {"c": 2}, "c": {}}, "a"), ({"a": {}}, "a"))
def shortest(graph, start):
    dist = {v: float("inf") for v in graph}
    dist[start] = 0
    heap = [(0, start)]
    while heap:
        d, u = heapq.heappop(heap)
        if d > dist[u]:
            continue
        for v, w in graph[u].items():
            if d + w < dist[v]:
                dist[v] = d + w
                heapq.heappush(heap, (d + w, v))
    return dist


@case(({0: {1: 1, 2: 4}, 1: {2: 2}, 2: {}}, 0), ({0: {}}, 0))
def shortest_by_number(graph, start):
    dist, heap, before = {start: 0}, [(0, start)], {}
    while heap:
        d, u = heapq.heappop(heap)
        for v, w in graph[u].items():
            if v not in dist or d + w < dist[v]:
                dist[v] = d + w
                before[v] = u
                heapq.heappush(heap, (dist[v], v))
    return dist, before


@case((5, [(0, 1), (1, 2), (3, 4)]), (2, []), (3, [(0, 2)]))
def components(n, edges):
    parent = list(range(n))

    def find(x):
        while parent[x] != x:
            parent[x] = parent[parent[x]]
            x = parent[x]
        return x

    for a, b in edges:
        parent[find(a)] = find(b)
    groups = {}
    for x in range(n):
        groups.setdefault(find(x), []).append(x)
    return list(groups.values())


@case(({1: [2], 2: [3], 3: []},), ({1: [2], 2: [1]},), ({},))
def topological(graph):
    degree = dict.fromkeys(graph, 0)
    for u in graph:
        for v in graph[u]:
            degree[v] += 1
    ready, out = [u for u in graph if degree[u] == 0], []
    while ready:
        u = ready.pop()
        out.append(u)
        for v in graph[u]:
            degree[v] -= 1
            if degree[v] == 0:
                ready.append(v)
    if len(out) < len(graph):
        raise ValueError("a cycle")
    return out


@case(([[1, 1, 0], [0, 1, 0], [1, 0, 1]],), ([[0]],), ([[1]],))
def islands(grid):
    count = 0
    for i in range(len(grid)):
        for j in range(len(grid[0])):
            if grid[i][j] == 1:
                count += 1
                stack = [(i, j)]
                while stack:
                    a, b = stack.pop()
                    if 0 <= a < len(grid) and 0 <= b < len(grid[0]) and grid[a][b] == 1:
                        grid[a][b] = 2
                        stack += [(a + 1, b), (a - 1, b), (a, b + 1), (a, b - 1)]
    return count


# --- functions, closures, generators --------------------------------------------------------------------------------


@case((3,), (0,))
def closure_counts(n):
    count = 0

    def bump(by=1):
        nonlocal count
        count += by
        return count

    return [bump() for _ in range(n)], bump(by=5), count


@case(([1, 2, 3],), ([],))
def default_that_is_a_list(xs):
    def put(x, into=[]):  # noqa: B006
        into.append(x)
        return into

    for x in xs:
        put(x)
    return put(0)


@case((4,), (0,))
def generator(n):
    def squares(k):
        for i in range(k):
            yield i * i

    return list(squares(n)), sum(squares(n)), [x for x in squares(n) if x % 2]


@case((5,), (1,))
def generator_with_state(n):
    def fibonacci():
        a, b = 0, 1
        while True:
            yield a
            a, b = b, a + b

    out = []
    for x in fibonacci():
        if x > n:
            break
        out.append(x)
    return out


@case(([1, 2, 3],), ([],), ([2.5],))
def reduced(xs):
    return reduce(lambda a, b: a * b, xs, 1), list(map(lambda x: x + 1, xs)), any(x > 2 for x in xs)


@case(([1, 2, 3],), ([],))
def functions_in_a_dict(xs):
    table = {"sum": sum, "len": len}
    return {name: f(xs) for name, f in table.items()}


@case(([[1, 2], [3]],), ([],), ([[]],))
def changes_inner_while_running(rows):
    for row in rows:
        for x in list(row):
            if x > 1:
                row.remove(x)
        row.append(0)
    return rows


@case(([1, 2], [1, 2]), ([1.5], []))
def compares(a, b):
    return a == b, a is b, a < b, [a, b] == [b, a], (1, a) == (1, b)


# --- printed in the middle ------------------------------------------------------------------------------------------


@case(([1, 2, 3],), ([],), ([1.5],))
def prints_between(xs):
    out = []
    for x in xs:
        out.append(x * 2)
    print("half way", len(out))
    for x in out:
        xs.append(x)
    return out


@case(([1, 2, 3],), ([],))
def prints_rows(xs):
    rows = []
    for x in xs:
        rows.append([x])
    print(rows)
    for row in rows:
        row.append(len(rows))
    return rows


@case((3,), (0,))
def prints_dict(n):
    d = {}
    for i in range(n):
        d[i] = [i]
    print(sorted(d))
    for i in range(n):
        d[i].append(None)
    return d


@case(([3, 0, 1],), ([1],), ([],))
def prints_and_raises(xs):
    total = 0
    for x in xs:
        total += x
    print(total)
    for i in range(len(xs)):
        xs[i] = total // xs[i]
    return xs


@case((4,), (0,))
def prints_and_shares(n):
    row = [0] * n
    rows = [row, row]
    print(len(rows))
    for i in range(n):
        rows[0][i] += i
    return rows


@case(([1, 2, 3],), ([],))
def prints_none(xs):
    best = None
    for x in xs:
        if best is None or x > best:
            best = x
    print(best)
    out = [None] * len(xs)
    for i in range(len(xs)):
        if xs[i] != best:
            out[i] = xs[i]
    return best, out


@case(([1, 2, 3],), ([],))
def prints_counts(xs):
    counts = defaultdict(int)
    for x in xs:
        counts[x % 2] += 1
    print(dict(counts))
    for x in xs:
        counts[x] += x
    return counts


@case(([1, 2],), ([],))
def prints_set(xs):
    seen = set()
    for x in xs:
        seen.add(x)
    print(len(seen))
    for x in range(3):
        seen.add(x + 10)
    return sorted(seen)


@case((3,), (0,))
def two_names_of_an_empty_list(n):
    a = b = []
    a.append(n)
    return a, b


@case((3,), (0,))
def two_names_in_a_loop(n):
    total = 0
    for i in range(n):
        x = y = []
        x.append(i)
        y.append(2)
        total += len(x)
    return total


@case((3,), (0,))
def two_names_of_a_literal(n):
    a = b = [1, 2]
    a[0] = n
    return a, b


@case((3,), (0,))
def empty_list_several_times(n):
    a = [[]] * 3
    a[0].append(n)
    return a


@case((3,), (0,))
def literal_several_times(n):
    a = [[1, 2]] * 2
    a[0][0] = n
    return a, [[0, 1]] * n


@case((3,), (0,))
def name_and_entry(n):
    d = {}
    d[1] = x = []
    x.append(n)
    return d


@case((3,), (2.0,))
def repeated_by_a_float(n):
    return [0] * (n * 1)
