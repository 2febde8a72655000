"""Whole small programs: simulations, parsers, schedulers. Each case: a function and its arguments."""

import math
import random
from collections import defaultdict
from dataclasses import dataclass, field


def nqueens(n):
    def place(row, cols, d1, d2):
        if row == n:
            return 1
        total = 0
        for c in range(n):
            if c in cols or (row + c) in d1 or (row - c) in d2:
                continue
            total += place(row + 1, cols | {c}, d1 | {row + c}, d2 | {row - c})
        return total

    return place(0, set(), set(), set())


def nbody(steps):
    bodies = [
        ([0.0, 0.0, 0.0], [0.0, 0.0, 0.0], 39.47),
        ([4.84, -1.16, -0.10], [0.6, 2.8, -0.02], 0.037),
        ([8.34, 4.12, -4.03e-1], [-1.01, 1.82, 8.4e-3], 0.011),
    ]
    pairs = []
    for i in range(len(bodies) - 1):
        for j in range(i + 1, len(bodies)):
            pairs.append((bodies[i], bodies[j]))
    for _ in range(steps):
        for ([x1, y1, z1], v1, m1), ([x2, y2, z2], v2, m2) in pairs:
            dx = x1 - x2
            dy = y1 - y2
            dz = z1 - z2
            mag = 0.01 * ((dx * dx + dy * dy + dz * dz) ** (-1.5))
            b1m = m1 * mag
            b2m = m2 * mag
            v1[0] -= dx * b2m
            v1[1] -= dy * b2m
            v1[2] -= dz * b2m
            v2[0] += dx * b1m
            v2[1] += dy * b1m
            v2[2] += dz * b1m
        for r, [vx, vy, vz], m in bodies:
            r[0] += 0.01 * vx
            r[1] += 0.01 * vy
            r[2] += 0.01 * vz
    return bodies[0][0][0] + bodies[1][0][1]


class Vec:
    def __init__(self, x, y, z):
        self.x = x
        self.y = y
        self.z = z

    def __add__(self, o):
        return Vec(self.x + o.x, self.y + o.y, self.z + o.z)

    def __sub__(self, o):
        return Vec(self.x - o.x, self.y - o.y, self.z - o.z)

    def __mul__(self, k):
        return Vec(self.x * k, self.y * k, self.z * k)

    def dot(self, o):
        return self.x * o.x + self.y * o.y + self.z * o.z

    def norm(self):
        return self * (1.0 / math.sqrt(self.dot(self)))


class Sphere:
    def __init__(self, c, r, col):
        self.c = c
        self.r = r
        self.col = col

    def hit(self, o, d):
        oc = o - self.c
        b = oc.dot(d)
        c = oc.dot(oc) - self.r * self.r
        disc = b * b - c
        if disc < 0:
            return None
        t = -b - math.sqrt(disc)
        return t if t > 1e-4 else None


def raytrace(n):
    scene = [
        Sphere(Vec(0.0, 0.0, 5.0), 1.0, 0.5),
        Sphere(Vec(1.0, 1.0, 6.0), 1.5, 0.9),
        Sphere(Vec(-2.0, 0.0, 4.0), 0.5, 0.2),
    ]
    total = 0.0
    for i in range(n):
        for j in range(n):
            d = Vec((i - n / 2) / n, (j - n / 2) / n, 1.0).norm()
            best = None
            bt = 1e9
            for s in scene:
                t = s.hit(Vec(0.0, 0.0, 0.0), d)
                if t is not None and t < bt:
                    bt = t
                    best = s
            if best is not None:
                p = d * bt
                nn = (p - best.c).norm()
                total += best.col * max(0.0, nn.dot(Vec(0.0, 1.0, -1.0).norm()))
    return total


def fannkuch(n):
    perm1 = list(range(n))
    count = [0] * n
    maxf = 0
    checksum = 0
    nperm = 0
    r = n
    while True:
        while r != 1:
            count[r - 1] = r
            r -= 1
        perm = perm1[:]
        flips = 0
        k = perm[0]
        while k:
            perm[: k + 1] = reversed(perm[: k + 1])
            flips += 1
            k = perm[0]
        maxf = max(maxf, flips)
        checksum += flips if nperm % 2 == 0 else -flips
        while True:
            if r == n:
                return checksum, maxf
            p0 = perm1[0]
            for i in range(r):
                perm1[i] = perm1[i + 1]
            perm1[r] = p0
            count[r] -= 1
            if count[r] > 0:
                break
            r += 1
        nperm += 1


class Node:
    __slots__ = ("key", "left", "right")

    def __init__(self, key):
        self.key = key
        self.left = None
        self.right = None


def insert(root, key):
    if root is None:
        return Node(key)
    if key < root.key:
        root.left = insert(root.left, key)
    elif key > root.key:
        root.right = insert(root.right, key)
    return root


def walk(root):
    if root is not None:
        yield from walk(root.left)
        yield root.key
        yield from walk(root.right)


def tree(n):
    root = None
    x = 12345
    for _ in range(n):
        x = (x * 1103515245 + 12345) % 2147483648
        root = insert(root, x % 10000)
    return sum(walk(root)), root.key


def tokenise(text, merges):
    words = text.split()
    corpus = {}
    for w in words:
        key = tuple(w)
        corpus[key] = corpus.get(key, 0) + 1
    rules = []
    for _ in range(merges):
        pairs = defaultdict(int)
        for word, cnt in corpus.items():
            for a, b in zip(word, word[1:]):
                pairs[a, b] += cnt
        if not pairs:
            break
        best = max(pairs, key=lambda p: (pairs[p], p))
        rules.append(best)
        new = {}
        for word, cnt in corpus.items():
            out = []
            i = 0
            while i < len(word):
                if i + 1 < len(word) and (word[i], word[i + 1]) == best:
                    out.append(word[i] + word[i + 1])
                    i += 2
                else:
                    out.append(word[i])
                    i += 1
            new[tuple(out)] = new.get(tuple(out), 0) + cnt
        corpus = new
    return rules, corpus


class Task:
    def __init__(self, ident, pri, queue=None):
        self.ident = ident
        self.pri = pri
        self.queue = queue or []
        self.link = None
        self.state = "ready"

    def run(self, sched):
        raise NotImplementedError


class Idle(Task):
    def __init__(self, ident):
        super().__init__(ident, 0)
        self.count = 0

    def run(self, sched):
        self.count += 1
        if self.count % 2:
            sched.post(1, self.count)
        else:
            sched.post(2, -self.count)


class Worker(Task):
    def __init__(self, ident, pri):
        super().__init__(ident, pri)
        self.total = 0

    def run(self, sched):
        while self.queue:
            self.total += self.queue.pop(0)


class Scheduler:
    def __init__(self):
        self.tasks = {}
        self.order = []

    def add(self, t):
        self.tasks[t.ident] = t
        self.order.append(t)

    def post(self, ident, v):
        self.tasks[ident].queue.append(v)

    def go(self, n):
        for _ in range(n):
            for t in self.order:
                t.run(self)


def simulate(n):
    s = Scheduler()
    s.add(Idle(0))
    s.add(Worker(1, 10))
    s.add(Worker(2, 20))
    s.go(n)
    return [t.total for t in s.order if isinstance(t, Worker)]


def montecarlo(n):
    random.seed(7) if False else None
    inside = 0
    for _ in range(n):
        x = random.random()
        y = random.random()
        if x * x + y * y <= 1.0:
            inside += 1
    return 4.0 * inside / n


def dijkstra(graph, src):
    import heapq

    dist = {src: 0}
    pq = [(0, src)]
    while pq:
        d, u = heapq.heappop(pq)
        if d > dist.get(u, float("inf")):
            continue
        for v, w in graph[u]:
            nd = d + w
            if nd < dist.get(v, float("inf")):
                dist[v] = nd
                heapq.heappush(pq, (nd, v))
    return dist


def eval_A(i, j):
    return 1.0 / ((i + j) * (i + j + 1) / 2 + i + 1)


def times(v, u, f):
    return [sum(f(i, j) * uj for j, uj in enumerate(u)) for i in range(len(v))]


def spectral(n):
    u = [1] * n
    for _ in range(3):
        v = times(u, u, eval_A)
        u = times(v, v, lambda i, j: eval_A(j, i))
    return math.sqrt(sum(a * b for a, b in zip(u, v)) / sum(b * b for b in v))


@dataclass
class Item:
    name: str
    weight: int
    value: float = 1.0
    tags: list = field(default_factory=list)


def knap(n):
    items = [Item(f"i{k}", k % 7 + 1, k * 1.5) for k in range(n)]
    items[0].tags.append("x")
    best = {0: 0.0}
    for it in items:
        new = dict(best)
        for w, v in best.items():
            if w + it.weight <= 50:
                c = v + it.value
                if c > new.get(w + it.weight, -1.0):
                    new[w + it.weight] = c
        best = new
    return max(best.values()), sorted(items, key=lambda i: (-i.weight, i.name))[0].name


def parse(text):
    pos = 0

    def ws():
        nonlocal pos
        while pos < len(text) and text[pos] == " ":
            pos += 1

    def expr():
        nonlocal pos
        v = term()
        ws()
        while pos < len(text) and text[pos] in "+-":
            op = text[pos]
            pos += 1
            r = term()
            ws()
            v = v + r if op == "+" else v - r
        return v

    def term():
        nonlocal pos
        v = atom()
        ws()
        while pos < len(text) and text[pos] in "*/":
            op = text[pos]
            pos += 1
            r = atom()
            ws()
            if op == "*":
                v = v * r
            else:
                try:
                    v = v // r
                except ZeroDivisionError:
                    v = 0
        return v

    def atom():
        nonlocal pos
        ws()
        if text[pos] == "(":
            pos += 1
            v = expr()
            ws()
            if text[pos] != ")":
                raise ValueError(f"expected ) at {pos}")
            pos += 1
            return v
        s = pos
        while pos < len(text) and text[pos].isdigit():
            pos += 1
        return int(text[s:pos])

    return expr()


def graph_data(n):
    return {i: [((i * 7 + k * 3) % n, k + 1) for k in range(4)] for i in range(n)}


CASES = [
    (nqueens, (7,)),
    (nbody, (2000,)),
    (raytrace, (40,)),
    (fannkuch, (7,)),
    (tree, (3000,)),
    (tokenise, ("low lower newest widest low low newest " * 30, 10)),
    (simulate, (2000,)),
    (montecarlo, (20000,)),
    (dijkstra, (graph_data(2000), 0)),
    (spectral, (60,)),
    (knap, (60,)),
    (parse, ("(1+2)*3 - 4/(2-2) + 7*(3+5*(2-1))" * 1,)),
]
