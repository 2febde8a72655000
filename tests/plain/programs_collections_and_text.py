"""Programs over words, grids, graphs and sets."""

import functools
import itertools
from collections import Counter, OrderedDict, defaultdict, deque, namedtuple


def anagrams(words):
    g = defaultdict(list)
    for w in words:
        g["".join(sorted(w))].append(w)
    return {k: sorted(v) for k, v in g.items() if len(v) > 1}


def caesar(s, k):
    out = ""
    for ch in s:
        if ch.isupper():
            out += chr((ord(ch) - 65 + k) % 26 + 65)
        elif ch.islower():
            out += chr((ord(ch) - 97 + k) % 26 + 97)
        else:
            out += ch
    return out


def lru(cap, ops):
    d = OrderedDict()
    hits = 0
    for k in ops:
        if k in d:
            d.move_to_end(k)
            hits += 1
        else:
            d[k] = k * 2
            if len(d) > cap:
                d.popitem(last=False)
    return hits, list(d)


def bfs(grid):
    h, w = len(grid), len(grid[0])
    q = deque([(0, 0, 0)])
    seen = {(0, 0)}
    while q:
        r, c, d = q.popleft()
        if (r, c) == (h - 1, w - 1):
            return d
        for dr, dc in ((0, 1), (1, 0), (0, -1), (-1, 0)):
            nr, nc = r + dr, c + dc
            if 0 <= nr < h and 0 <= nc < w and grid[nr][nc] == "." and (nr, nc) not in seen:
                seen.add((nr, nc))
                q.append((nr, nc, d + 1))
    return -1


def csvsum(text):
    total = {}
    for line in text.strip().splitlines()[1:]:
        name, qty, price = line.split(",")
        total[name] = total.get(name, 0.0) + int(qty) * float(price)
    return [f"{k}: {v:.2f}" for k, v in sorted(total.items())]


def primes(n):
    sieve = [True] * (n + 1)
    sieve[0] = sieve[1] = False
    for i in range(2, int(n**0.5) + 1):
        if sieve[i]:
            for j in range(i * i, n + 1, i):
                sieve[j] = False
    return [i for i, p in enumerate(sieve) if p]


def topk(words, k):
    return Counter(words).most_common(k)


def edit(a, b):
    @functools.lru_cache(maxsize=None)
    def go(i, j):
        if i == 0:
            return j
        if j == 0:
            return i
        if a[i - 1] == b[j - 1]:
            return go(i - 1, j - 1)
        return 1 + min(go(i - 1, j), go(i, j - 1), go(i - 1, j - 1))

    return go(len(a), len(b))


def matmul(a, b):
    return [[sum(x * y for x, y in zip(r, c)) for c in zip(*b)] for r in a]


def flatten(x):
    out = []
    for e in x:
        if isinstance(e, list):
            out.extend(flatten(e))
        else:
            out.append(e)
    return out


def gen_primes():
    found = []
    n = 2
    while True:
        if all(n % p for p in found if p * p <= n):
            found.append(n)
            yield n
        n += 1


def first_primes(k):
    g = gen_primes()
    return [next(g) for _ in range(k)]


def collatz(n):
    best = (0, 0)
    cache = {1: 1}
    for s in range(1, n):
        path = []
        x = s
        while x not in cache:
            path.append(x)
            x = x // 2 if x % 2 == 0 else 3 * x + 1
        base = cache[x]
        for i, y in enumerate(reversed(path), 1):
            cache[y] = base + i
        if cache[s] > best[0]:
            best = (cache[s], s)
    return best


class Stack:
    def __init__(self):
        self._items = []

    def push(self, x):
        self._items.append(x)

    def pop(self):
        if not self._items:
            raise IndexError("empty")
        return self._items.pop()

    def __len__(self):
        return len(self._items)

    def __bool__(self):
        return len(self) > 0

    def __iter__(self):
        return iter(self._items)

    def __contains__(self, x):
        return x in self._items

    @property
    def top(self):
        return self._items[-1]

    @staticmethod
    def of(n):
        s = Stack()
        for i in range(n):
            s.push(i)
        return s

    @classmethod
    def empty(cls):
        return cls()


def rpn(tokens):
    st = Stack.empty()
    ops = {"+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b}
    for t in tokens:
        if t in ops:
            b = st.pop()
            a = st.pop()
            st.push(ops[t](a, b))
        else:
            st.push(int(t))
    try:
        st.pop()
        st.pop()
    except IndexError as e:
        return str(e), len(st), bool(st)
    return 0


Point = namedtuple("Point", "x y")


def hull(pts):
    pts = sorted(set(pts))

    def cross(o, a, b):
        return (a.x - o.x) * (b.y - o.y) - (a.y - o.y) * (b.x - o.x)

    lower = []
    for p in pts:
        while len(lower) >= 2 and cross(lower[-2], lower[-1], p) <= 0:
            lower.pop()
        lower.append(p)
    return lower


def mixed(n):
    out = []
    for i in range(n):
        if i % 3 == 0:
            out.append(i)
        elif i % 3 == 1:
            out.append(i / 2)
        else:
            out.append(None)
    return out, sum(x for x in out if x is not None)


def roman(n):
    vals = [
        (1000, "M"),
        (900, "CM"),
        (500, "D"),
        (400, "CD"),
        (100, "C"),
        (90, "XC"),
        (50, "L"),
        (40, "XL"),
        (10, "X"),
        (9, "IX"),
        (5, "V"),
        (4, "IV"),
        (1, "I"),
    ]
    r = []
    for v, s in vals:
        q, n = divmod(n, v)
        r.append(s * q)
    return "".join(r)


def perms(n):
    return sum(1 for p in itertools.permutations(range(n)) if all(p[i] != i for i in range(n)))


def subsets(xs):
    res = [[]]
    for x in xs:
        res += [r + [x] for r in res]
    return sorted(res, key=len)


def toposort(g):
    indeg = {u: 0 for u in g}
    for u in g:
        for v in g[u]:
            indeg[v] += 1
    q = deque(sorted(u for u in g if indeg[u] == 0))
    out = []
    while q:
        u = q.popleft()
        out.append(u)
        for v in g[u]:
            indeg[v] -= 1
            if indeg[v] == 0:
                q.append(v)
    return out


def unionfind(n, edges):
    parent = list(range(n))
    size = [1] * n

    def find(x):
        while parent[x] != x:
            parent[x] = parent[parent[x]]
            x = parent[x]
        return x

    for a, b in edges:
        ra, rb = find(a), find(b)
        if ra != rb:
            if size[ra] < size[rb]:
                ra, rb = rb, ra
            parent[rb] = ra
            size[ra] += size[rb]
    return len({find(i) for i in range(n)})


def trie(words, prefix):
    root = {}
    for w in words:
        node = root
        for ch in w:
            node = node.setdefault(ch, {})
        node["$"] = {}
    node = root
    for ch in prefix:
        if ch not in node:
            return 0
        node = node[ch]

    def count(n):
        return sum(1 if k == "$" else count(v) for k, v in n.items())

    return count(node)


def life(cells, steps):
    for _ in range(steps):
        cnt = Counter(
            (x + dx, y + dy) for x, y in cells for dx in (-1, 0, 1) for dy in (-1, 0, 1) if (dx, dy) != (0, 0)
        )
        cells = {c for c, k in cnt.items() if k == 3 or (k == 2 and c in cells)}
    return sorted(cells)


CASES = [
    (anagrams, (["eat", "tea", "tan", "ate", "nat", "bat"] * 50,)),
    (caesar, ("Hello, World! " * 200, 3)),
    (lru, (50, [i * i % 97 for i in range(3000)])),
    (bfs, (["." * 30] * 30,)),
    (csvsum, ("n,q,p\n" + "a,2,1.5\nb,3,2.25\n" * 200,)),
    (primes, (20000,)),
    (topk, (["a", "b", "a", "c"] * 500, 2)),
    (edit, ("kitten sitting" * 3, "sitting kitten" * 3)),
    (matmul, ([[1.5] * 20] * 20, [[2.0] * 20] * 20)),
    (flatten, ([1, [2, [3, [4]], 5], 6] * 20,)),
    (first_primes, (300,)),
    (collatz, (5000,)),
    (rpn, ("3 4 + 2 * 7 -".split(),)),
    (hull, ([Point(i * 7 % 31, i * 11 % 29) for i in range(100)],)),
    (mixed, (1000,)),
    (roman, (1994,)),
    (perms, (6,)),
    (subsets, (list(range(9)),)),
    (toposort, ({i: [j for j in (i + 1, i + 3) if j < 200] for i in range(200)},)),
    (unionfind, (2000, [(i, i * 7 % 2000) for i in range(1500)])),
    (trie, (["apple", "app", "apt", "bat"] * 40, "ap")),
    (life, ({(1, 0), (2, 1), (0, 2), (1, 2), (2, 2)}, 20)),
]
