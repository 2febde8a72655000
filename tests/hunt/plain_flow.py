"""Functions of plain Python with random parts, whole: generators that clean up, recursion with a table, classes that
hold each other, sorting by their own order, loops with else. In: a writer; out: a definition before f, and calls of it.

A recipe is text in which `«a|b|c»` stands for one of several parts, and `#` for a small number.
"""

from __future__ import annotations

import re

from tests.hunt.writer import Writer

#: The definition, and expressions that use it; NAME becomes a name of its own.
_RECIPES: tuple[tuple[str, tuple[str, ...]], ...] = (
    (
        """
def NAME(items, log):
    try:
        for item in items:
            if item == #:
                «continue|return|break|yield -1|log.append(item)»
            yield item «* 2|+ 1|- #|// 1»
    «finally|except ZeroDivisionError»:
        log.append(«'end'|'done'»)
    «yield 100|log.append('after')|pass»
""",
        (
            "[log := [], list(NAME([1, 2, 3], log))]",
            "[log := [], sum(NAME(range(#), log)), log]",
            "[log := [], next(NAME([#, 2], log), None)][1:]",
            "[log := [], [q for q in NAME((3, 1), log) if q > #], log]",
            "[log := [], list(zip(NAME([1, 2, 3], log), 'ab')), log][1]",
        ),
    ),
    (
        """
def NAME(n, «seen|seen=None»):
    if «seen is None|not seen»:
        seen = {}
    if n in seen:
        return seen[n]
    if n < 2:
        return «n|1|float(n)|True»
    seen[n] = NAME(n - 1, seen) «+|-|*» NAME(n - 2, «seen|dict(seen)|None»)
    return seen[n]
""",
        ("NAME(#, None)", "[NAME(q, {}) for q in range(6)]", "NAME(12, {3: 5})", "NAME(40, {})", "NAME(9, {1: 0.5})"),
    ),
    (
        """
class NAME:
    made = 0
    def __init__(self, value, «left=None, right=None|left=None, right=None, spare=()»):
        self.value, self.left, self.right = value, left, right
        «NAME.made|self.depth» = #
    def add(self, value):
        if value < self.value:
            if self.left is None:
                self.left = NAME(value)
            else:
                self.left.add(value)
        «elif value > self.value|else»:
            self.right = NAME(value) if self.right is None else self.right.add(value) or self.right
    def __iter__(self):
        if self.left:
            yield from self.left
        yield self.value
        if self.right:
            yield from «self.right|iter(self.right)»
    def height(self):
        return 1 + max((c.height() for c in (self.left, self.right) if c), default=0)
def NAME_of(values):
    root = NAME(values[0])
    for value in values[1:]:
        root.add(value)
    return root
""",
        (
            "list(NAME_of([5, 2, 8, #, 9]))",
            "NAME_of([3, 1, 2]).height()",
            "NAME_of(['b', 'a', 'c']).left.value",
            "sum(NAME_of([1.5, #, 0.5]))",
            "NAME_of([2, 1]).right is None",
            "NAME_of([4, 6, 5]).right.left.value",
        ),
    ),
    (
        """
class NAME:
    def __init__(self, key, name):
        self.key = key
        self.name = name
    def __lt__(self, other):
        return «self.key < other.key|(self.key, self.name) < (other.key, other.name)|self.name > other.name»
    def __eq__(self, other):
        return «self.key == other.key|isinstance(other, NAME) and self.name == other.name|NotImplemented»
    def __repr__(self):
        return f"{self.name}«{self.key}|{self.key!r}|»"
def NAME_all(n):
    return [NAME(q * 7 % 5, chr(97 + q)) for q in range(n)]
""",
        (
            "[q.name for q in sorted(NAME_all(6))]",
            "[repr(q) for q in sorted(NAME_all(5), reverse=True)]",
            "min(NAME_all(4)).name",
            "NAME_all(3)[0] == NAME_all(3)[0]",
            "NAME_all(2)[1] in NAME_all(3)",
            "[heap := NAME_all(5), heapq.heapify(heap), heapq.heappop(heap).name][2]",
            "NAME_all(3).index(NAME(7 % 5, 'b'))",
            "sorted(NAME_all(5), key=lambda q: q.key)[0].name",
            "max(NAME_all(5), key=lambda q: (q.key, q.name)).name",
        ),
    ),
    (
        """
def NAME(rows, wanted):
    for i, row in enumerate(rows):
        for j, cell in enumerate(row):
            if cell == wanted:
                «break|return i, j|continue»
            elif cell > #:
                row[j] = «cell - 1|wanted|rows[0][0]|len(row)»
        else:
            «continue|rows[i] = row[::-1]|row.append(i)»
        «break|return -1, i|rows.pop()|pass»
    else:
        return None, len(rows)
    return i, «j|row»
""",
        (
            "NAME([[1, 2], [3, 4]], 3)",
            "NAME([[1, 2], [3, 4]], 9)",
            "NAME([[]], 0)",
            "NAME([], 0)",
            "NAME([[#, #], [#]], 1)",
        ),
    ),
    (
        """
def NAME(n):
    kept = []
    def outer(step=«1|#|0.5»):
        total = «0|kept»
        def inner(x):
            nonlocal total
            «total = total + [x]|kept.append(x)|total += [x]|total = total * 2 if total else [x]»
            return «len(kept)|total|x»
        return inner
    «one, other = outer(), outer(2)|one = other = outer()»
    for q in range(n):
        «one(q)|other(q) if q % 2 else one(q)|kept.append(one(q))»
    return kept«[:6]|», «one(9)|other(7)|len(kept)»
""",
        ("NAME(0)", "NAME(3)", "NAME(#)"),
    ),
    (
        """
def NAME(text):
    «count = {}|count = Counter()|count = defaultdict(int)»
    for word in text.«split()|lower().split()|split('a')»:
        word = word.strip(«'.,'|»)
        if «not word|len(word) > 3|word in count»:
            «continue|count[word] = -1|pass»
        count[word] = count.get(word, 0) + «1|len(word)»
    best = sorted(count.items(), key=lambda item: («-item[1], item[0]|item[1], item[0]|item[0][::-1], item[1]»))
    return best[:#], «max(count.values(), default=0)|len(count)|list(count)|sum(count.values())»
""",
        ("NAME('a b a, c')", "NAME('')", "NAME('The the cat. sat')", "NAME('banana and ananas')"),
    ),
    (
        """
def NAME(first, *rest, sep=«'-'|', '|0», **options):
    «first = str(first)|pass»
    if options.get('up'«|, False»):
        return first, «sorted(options)|len(options)|list(options.values())»
    return (first, sep, «rest|rest[::-1]|len(rest)|sum(rest)»)
""",
        (
            "NAME(1)",
            "NAME('a', 1, 2)",
            "NAME(1, sep=2, up=True, z=3)",
            "NAME(*[1, 2, 3], **{'sep': 1})",
            "NAME(1, *(2, 3), q=1)",
        ),
    ),
    (
        """
def NAME(start, edges):
    seen, queue, order = «{start}|set([start])», «deque([start])|[start]», []
    while queue:
        node = queue.«pop()|pop()»
        order.append(node)
        for other in «edges.get(node, ())|sorted(edges.get(node, []))»:
            if other not in seen:
                seen.add(other)
                queue.«append(other)|append(other)|insert(0, other)»
        if len(order) > 20:
            raise «RuntimeError('long')|Problem(node)|KeyError(node)»
    return order, «len(seen)|sorted(seen)»
""",
        (
            "NAME(0, {0: [1, 2], 1: [2], 2: [0, 3]})",
            "NAME('a', {'a': ['b']})",
            "NAME((0, 0), {(0, 0): [(0, 1)], (0, 1): [(1, 1)]})",
        ),
    ),
    (
        """
def NAME(a, b):
    try:
        try:
            «a / b|[a][b]|{a: b}[b]|int(str(a) + 'x' * b)|None + a»
            return «'fine'|a»
        except «ZeroDivisionError|(KeyError, IndexError)|ValueError|LookupError|ArithmeticError» as problem:
            «raise Problem(a) from problem|raise|return str(problem)|b = a»
        finally:
            a = a + 1
            «if b == 2: return 'early'|pass|b = -1|LOG.append(a)»
    except «Problem|Exception|TypeError» as outer:
        return type(outer).__name__, «outer.__cause__ is not None|a|b»
    else:
        a = -a
    return a, b
""",
        ("NAME(1, 0)", "NAME(1, 1)", "NAME(2, 2)", "[NAME(q, 1 - q) for q in range(3)]"),
    ),
    (
        """
def NAME(n):
    bits = «n|n * 0x10001|(1 << 61) - n|n << 40»
    for _ in range(«#|9»):
        bits = (bits «^|+|*|<<» «13|7|3») & «0xFFFFFFFF|0xFFFFFFFFFFFF|(1 << 62) - 1»
        bits «^=|-=|+=» bits >> «5|17|1»
    return bits, bits % «97|1000003», «bin(bits).count('1')|bits.bit_length()|hex(bits)|-bits // 3»
""",
        ("NAME(1)", "NAME(12345)", "NAME(-3)", "[NAME(q)[1] for q in range(3)]"),
    ),
)


def define(w: Writer) -> None:
    """One or two of the recipes, filled in; their uses stand ready in the writer's scope of expressions."""
    for recipe, uses in w.random.sample(_RECIPES, w.number(1, 2)):
        name = w.name("made")
        for line in _filled(w, recipe.strip()).splitlines():
            w.emit(line.replace("NAME", name))
        w.ready += [use.replace("NAME", name) for use in uses]


def use(w: Writer) -> None:
    """A statement that keeps what a recipe gives."""
    if not w.ready:
        return
    kept = w.name("r")
    w.emit(f"{kept} = {_filled(w, w.pick(w.ready))}")
    w.scope[kept] = "result"


def _filled(w: Writer, text: str) -> str:
    text = re.sub("«([^«»]*)»", lambda found: w.pick(found[1].split("|")), text)
    return re.sub(r"#", lambda _: str(w.number(0, 5)), text)
