"""Programs of graph and data analytics over containers: lists inside lists and dicts, deques, counters, heaps, sorted
tuples.  Each is plain Python; the tests run it compiled and as it is.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, var-annotated"
# ruff: noqa: B007
from __future__ import annotations

from collections import Counter, defaultdict, deque
from heapq import heappop, heappush

import numpy as np


def build(n, e0, e1):
    adj = [[] for _ in range(n)]
    for k in range(len(e0)):
        adj[e0[k]].append(e1[k])
        adj[e1[k]].append(e0[k])
    total = 0
    for u in range(n):
        for v in adj[u]:
            total += u * v
    return total


def bfs(n, e0, e1, s):
    adj = [[] for _ in range(n)]
    for k in range(len(e0)):
        adj[e0[k]].append(e1[k])
        adj[e1[k]].append(e0[k])
    dist = [-1] * n
    dist[s] = 0
    q = deque([s])
    while q:
        u = q.popleft()
        for v in adj[u]:
            if dist[v] < 0:
                dist[v] = dist[u] + 1
                q.append(v)
    return dist


def set_defaults(xs):
    g = {}
    for i, x in enumerate(xs):
        g.setdefault(x % 3, []).append(i)
    t = 0
    for k in g:
        for j in g[k]:
            t += k * j
    return t


def alias(n):
    a = [0] * 3
    rows = [a, a, [1, 2, 3]]
    rows.append(a)
    rows[0][1] = 5
    a.append(9)
    t = 0
    for r in rows:
        for x in r:
            t = t * 3 + x
    return t


def weighted(n, e0, e1, w):
    adj = [[] for _ in range(n)]
    for k in range(len(e0)):
        adj[e0[k]].append((e1[k], w[k]))
    t = 0.0
    for u in range(n):
        for v, c in adj[u]:
            t += c * (v + u)
    return t


def grow_while(n):
    xs = [1]
    for x in xs:
        if len(xs) < n:
            xs.append(x + 1)
    return len(xs) + xs[-1]


def nested(n):
    out = []
    for i in range(n):
        out.append(list(range(i)))
    return out


def groups(xs):
    g = defaultdict(list)
    for x in xs:
        g[x % 3].append(x)
    return g


def groups2(xs):
    g = {}
    for i, x in enumerate(xs):
        g.setdefault(x % 3, []).append((i, x * 0.5))
    return g


def runs(xs):
    out = []
    cur = []
    for x in xs:
        if cur and x < cur[-1]:
            out.append(cur)
            cur = []
        cur.append(x)
    if cur:
        out.append(cur)
    return out


def numpy_rows(x):
    g = [[], []]
    for i in range(len(x)):
        g[i % 2].append(x[i])
    return g


def one_row(n):
    rows = [[] for _ in range(n)]
    for i in range(n):
        rows[i % 2].append(i * 0.5)
    return rows[1]


def deep(n):
    out = []
    for i in range(n):
        plane = []
        for j in range(i):
            plane.append([j] * i)
        out.append(plane)
    return out


def empties(n):
    return [[] for _ in range(n)]


def dijkstra(graph, s):
    dist = {s: 0.0}
    heap = [(0.0, s)]
    while heap:
        d, u = heappop(heap)
        if d > dist[u]:
            continue
        for v, w in graph[u]:
            nd = d + w
            if v not in dist or nd < dist[v]:
                dist[v] = nd
                heappush(heap, (nd, v))
    return dist


def total(rows):
    t = 0
    for plane in rows:
        for r in plane:
            for x in r:
                t += x
    return t


def add_edge(adj, u, v):
    adj[u].append(v)
    adj[v].append(u)
    return len(adj)


def add_to_dict(graph, u, v):
    graph.setdefault(u, []).append(v)
    graph.setdefault(v, []).append(u)


def add_to_defaultdict(graph, n):
    for i in range(n):
        graph[i].append(i * 2)
    graph[n + 5] = [1, 2]
    return sum(len(r) for r in graph.values())


def fold_queue(q):
    t = 0
    while len(q) > 1:
        a = q.popleft()
        b = q.popleft()
        q.append(a + b)
        t += a
    return t


def count_into(c, xs):
    for x in xs:
        c[x] += 1
    return c[99]


def count_defaults(d, xs):
    for x in xs:
        d[x] += 1
    return d[5]


def components(graph):
    seen = set()
    out = []
    for s in graph:
        if s in seen:
            continue
        comp = []
        stack = [s]
        seen.add(s)
        while stack:
            u = stack.pop()
            comp.append(u)
            for v in graph[u]:
                if v not in seen:
                    seen.add(v)
                    stack.append(v)
        out.append(comp)
    return out


def row_of_argument(graph, u):
    return graph[u]


def sortrows(rows):
    for r in rows:
        r.sort()


def rows_grow(rows):
    for i, r in enumerate(rows):
        r.append(i)
    rows.append([7, 8])


def rows_shared(rows):
    rows[0] = rows[1]
    rows[1].append(5)


def raises_midway(graph, u):
    graph[u].append(1)
    return graph[u + 100]


def tuple_values(d):
    s = 0.0
    for k, (a, b) in d.items():
        s += a * b + k
    d[77] = (1, 2.5)
    return s


def tuple_keys(d):
    s = 0
    for (i, j), v in d.items():
        s += i * j * v
    d[5, 6] = 3
    return s


def lists_in_tuples(xs):
    s = 0
    for k, row in xs:
        s += k * len(row)
        row.append(k)
    return s


def topological(n, edges):
    adj = [[] for _ in range(n)]
    indeg = [0] * n
    for u, v in edges:
        adj[u].append(v)
        indeg[v] += 1
    order = []
    stack = [u for u in range(n) if indeg[u] == 0]
    while stack:
        u = stack.pop()
        order.append(u)
        for v in adj[u]:
            indeg[v] -= 1
            if indeg[v] == 0:
                stack.append(v)
    return order


def kruskal(n, edges):
    parent = list(range(n))
    total = 0.0
    used = []
    for w, u, v in sorted(edges):
        ru, rv = find(parent, u), find(parent, v)
        if ru != rv:
            parent[ru] = rv
            total += w
            used.append((u, v))
    return total, used


def find(parent, x):
    while parent[x] != x:
        parent[x] = parent[parent[x]]
        x = parent[x]
    return x


def pagerank(graph, n, iters):
    rank = {u: 1.0 / n for u in graph}
    for _ in range(iters):
        new = {u: 0.15 / n for u in graph}
        for u in graph:
            out = graph[u]
            if out:
                share = 0.85 * rank[u] / len(out)
                for v in out:
                    new[v] += share
        rank = new
    return rank


def counts(xs):
    c = Counter()
    for x in xs:
        c[x] += 1
    return c


def counter_of(xs):
    return Counter(xs)


def mostcommon(xs):
    c = Counter(xs)
    return c.most_common(2)


def sparse_add(a, b):
    out = dict(a)
    for k, v in b.items():
        out[k] = out.get(k, 0.0) + v
    return out


def life(cells, steps):
    for _ in range(steps):
        counts = {}
        for (x, y) in sorted(cells):
            for dx in (-1, 0, 1):
                for dy in (-1, 0, 1):
                    if dx != 0 or dy != 0:
                        key = (x + dx, y + dy)
                        counts[key] = counts.get(key, 0) + 1
        new = set()
        for key, c in counts.items():
            if c == 3 or (c == 2 and key in cells):
                new.add(key)
        cells = new
    return len(cells)


def merge_intervals(xs):
    out = []
    for a, b in sorted(xs):
        if out and a <= out[-1][1]:
            if b > out[-1][1]:
                out[-1] = (out[-1][0], b)
        else:
            out.append((a, b))
    return out


def merge_lists(xs):
    xs = sorted(xs)
    out = []
    for a, b in xs:
        if out and a <= out[-1][1]:
            out[-1][1] = max(out[-1][1], b)
        else:
            out.append([a, b])
    return out


def knn(points, q, k):
    heap = []
    for i, (x, y) in enumerate(points):
        d = (x - q[0]) ** 2 + (y - q[1]) ** 2
        heappush(heap, (-d, i))
        if len(heap) > k:
            heappop(heap)
    return sorted([(-d, i) for d, i in heap])


def inverted(docs):
    index = {}
    for d, words in enumerate(docs):
        for w in words:
            if w not in index:
                index[w] = []
            if not index[w] or index[w][-1] != d:
                index[w].append(d)
    return index


def subsets(xs):
    out = [[]]
    for x in xs:
        out = out + [s + [x] for s in out]
    return out


def pascal(n):
    rows = [[1]]
    for i in range(1, n):
        prev = rows[-1]
        row = [1]
        for j in range(1, i):
            row.append(prev[j - 1] + prev[j])
        row.append(1)
        rows.append(row)
    return rows


def histogram(xs, k):
    bins = [[] for _ in range(k)]
    for x in xs:
        bins[int(x * k) % k].append(x)
    return [len(b) for b in bins], bins


def bucket_sort(xs, k):
    bins = [[] for _ in range(k)]
    for x in xs:
        bins[int(x * k)].append(x)
    out = []
    for b in bins:
        b.sort()
        out.extend(b)
    return out


def transpose(rows):
    out = []
    for j in range(len(rows[0])):
        out.append([r[j] for r in rows])
    return out


def dictlists_sum(d):
    return {k: sum(v) for k, v in d.items()}


def invert(d):
    out = {}
    for k, vs in d.items():
        for v in vs:
            out.setdefault(v, []).append(k)
    return out


def setops(a, b):
    return len(a & b), len(a | b), len(a - b), sorted(a & b)


def jaccard(a, b):
    sa = set(a)
    sb = set(b)
    return len(sa & sb) / len(sa | sb)


def maxitem(d):
    k, v = max(d.items(), key=lambda kv: kv[1])
    return k


def sortitems(d):
    return sorted(d.items(), key=lambda kv: (-kv[1], kv[0]))


def zipdict(ks, vs):
    return dict(zip(ks, vs))


def listzip(a, b):
    return list(zip(a, b))


def scc(graph):
    n = len(graph)
    rev = [[] for _ in range(n)]
    for u in range(n):
        for v in graph[u]:
            rev[v].append(u)
    seen = [False] * n
    order = []
    for s in range(n):
        if seen[s]:
            continue
        stack = [(s, 0)]
        seen[s] = True
        while stack:
            u, i = stack.pop()
            if i < len(graph[u]):
                stack.append((u, i + 1))
                v = graph[u][i]
                if not seen[v]:
                    seen[v] = True
                    stack.append((v, 0))
            else:
                order.append(u)
    comp = [-1] * n
    c = 0
    for s in reversed(order):
        if comp[s] >= 0:
            continue
        stack2 = [s]
        comp[s] = c
        while stack2:
            u = stack2.pop()
            for v in rev[u]:
                if comp[v] < 0:
                    comp[v] = c
                    stack2.append(v)
        c += 1
    return comp


def paths(graph, s, t):
    out = []
    stack = [[s]]
    while stack:
        path = stack.pop()
        u = path[-1]
        if u == t:
            out.append(path)
            continue
        for v in graph[u]:
            if v not in path:
                stack.append(path + [v])
    return out


def levels(graph, s):
    seen = {s}
    frontier = [s]
    out = []
    while frontier:
        out.append(frontier)
        nxt = []
        for u in frontier:
            for v in graph[u]:
                if v not in seen:
                    seen.add(v)
                    nxt.append(v)
        frontier = nxt
    return out


def longest(rows):
    return max(rows, key=len)


def heaprow(n):
    hs = [[] for _ in range(3)]
    for i in range(n):
        heappush(hs[i % 3], (i * 7) % 11)
    return [heappop(h) for h in hs]


def rowalias(rows):
    rows[0][0] = 9
    return rows[1][0]


GRAPH = {0: [1, 2], 1: [0, 3], 2: [0], 3: [1], 4: []}
ACYCLIC = {0: [1, 2], 1: [3], 2: [3], 3: [4], 4: []}
EDGES = [(0, 1), (0, 2), (1, 3), (2, 3), (3, 4)]
STARTS, ENDS = [0, 1, 2, 3], [1, 2, 3, 4]

#: Each program with its arguments.
CASES = [
    (build, (5, STARTS, ENDS)),
    (set_defaults, ([1, 2, 3, 4, 5, 6, 7],)),
    (alias, (3,)),
    (weighted, (5, STARTS, ENDS, [0.5, 1.5, 2.0, 3.0])),
    (grow_while, (20,)),
    (nested, (4,)),
    (groups, ([1, 2, 3, 4, 5, 6, 7],)),
    (groups2, ([1, 2, 3, 4, 5, 6, 7],)),
    (runs, ([1, 2, 0, 5, 6, 1, 1, 2],)),
    (runs, ([],)),
    (numpy_rows, (np.arange(5.0),)),
    (one_row, (5,)),
    (deep, (4,)),
    (empties, (3,)),
    (bfs, (6, STARTS, ENDS, 0)),
    (dijkstra, ({0: [(1, 1.5), (2, 4.0)], 1: [(2, 1.0)], 2: []}, 0)),
    (total, ([[[1, 2], [3]], [], [[4]]],)),
    (add_edge, ([[1], [0, 2], []], 0, 2)),
    (add_edge, ([[1], [0], [2]], 0, 2)),
    (add_to_dict, (GRAPH, 0, 9)),
    (add_to_dict, ({}, 0, 9)),
    (add_to_defaultdict, (defaultdict(list, {0: [1]}), 4)),
    (add_to_defaultdict, (defaultdict(list), 4)),
    (fold_queue, (deque([1, 2, 3, 4, 5]),)),
    (count_into, (Counter([1, 2, 2]), [1, 5])),
    (count_into, (Counter(), [1, 5])),
    (count_defaults, (defaultdict(int, {1: 2}), [1, 5, 5])),
    (components, (GRAPH,)),
    (row_of_argument, (GRAPH, 1)),
    (row_of_argument, (GRAPH, 7)),
    (sortrows, ([[3, 1], [2, 5, 1]],)),
    (rows_grow, ([[3, 1], [2, 5, 1]],)),
    (rows_grow, ([[3, 1], [2, 5]],)),
    (rows_shared, ([[3, 1], [2, 5, 1]],)),
    (rows_shared, ([[3, 1], [2, 5]],)),
    (raises_midway, (GRAPH, 0)),
    (tuple_values, ({1: (1, 0.5), 2: (3, 0.25)},)),
    (tuple_keys, ({(1, 2): 3, (4, 5): 6},)),
    (lists_in_tuples, ([(1, [2, 3]), (4, [])],)),
    (topological, (5, EDGES)),
    (kruskal, (4, [(1.0, 0, 1), (2.5, 1, 2), (0.5, 0, 2), (3.0, 2, 3)])),
    (pagerank, (GRAPH, 5, 5)),
    (counts, ([1, 2, 2, 5],)),
    (counter_of, ([1, 2, 2, 5],)),
    (mostcommon, ([1, 2, 2, 5, 5, 5],)),
    (sparse_add, ({1: 0.5, 3: 2.0}, {3: 4.0, 9: 1.0})),
    (life, ({(0, 0), (0, 1), (0, 2)}, 3)),
    (merge_intervals, ([(1, 3), (2, 6), (8, 10)],)),
    (merge_lists, ([(1, 3), (2, 6), (8, 10)],)),
    (knn, ([(0.0, 0.0), (1.0, 1.0), (2.0, 2.0), (0.5, 0.1)], (0.2, 0.2), 2)),
    (inverted, ([[1, 2], [2, 3, 3], [1]],)),
    (subsets, ([1, 2, 3],)),
    (pascal, (6,)),
    (histogram, ([0.1, 0.5, 0.9, 0.45], 4)),
    (bucket_sort, ([0.1, 0.5, 0.9, 0.45], 4)),
    (transpose, ([[1, 2, 3], [4, 5, 6]],)),
    (dictlists_sum, (GRAPH,)),
    (invert, (GRAPH,)),
    (setops, ({1, 2, 3}, {2, 3, 4})),
    (jaccard, ([1, 2, 3], [2, 3, 4])),
    (maxitem, ({1: 5, 2: 9, 3: 1},)),
    (sortitems, ({1: 5, 2: 9, 3: 5},)),
    (zipdict, ([1, 2], [0.5, 0.6])),
    (listzip, ([1, 2], [0.5, 0.6])),
    (scc, ([[1], [2], [0, 3], []],)),
    (paths, (ACYCLIC, 0, 4)),
    (levels, (ACYCLIC, 0)),
    (longest, ([[1], [2, 3]],)),
    (heaprow, (9,)),
]
