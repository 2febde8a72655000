"""Functions over itertools, operator and functools, and tuples that grow."""

import functools
import itertools
import operator
from functools import partial
from operator import attrgetter, itemgetter, methodcaller

BY_NAME = itemgetter("n")
DOUBLE = partial(operator.mul, 2)


class Rec:
    def __init__(self, a, b):
        self.a = a
        self.b = b

    def scaled(self, k):
        return self.a * k


def getters(rows, pairs):
    recs = [Rec(3, "x"), Rec(1, "y")]
    i = len(pairs) - 1
    return (
        sorted(rows, key=BY_NAME),
        sorted(pairs, key=itemgetter(1, 0), reverse=True),
        [attrgetter("a", "b")(r) for r in sorted(recs, key=attrgetter("a"))],
        list(map(itemgetter(0), pairs)),
        list(map(methodcaller("scaled", 4), recs)),
        list(map(methodcaller("upper"), ["a", "b"])),
        max(pairs, key=itemgetter(1)),
        [itemgetter(i)(pairs)],
    )


def parts(x, xs):
    def f(a, b=1, *, c=0):
        return a * 100 + b * 10 + c

    p = partial(f, x)
    q = partial(f, b=7, c=2)
    r = partial(f, x, 3, c=9)
    fs = [DOUBLE, partial(pow, 2), lambda v: v + 1]
    return (
        p(),
        p(5),
        p(c=4),
        q(x),
        q(x, c=3),
        r(),
        functools.reduce(lambda acc, g: g(acc), fs, x),
        list(map(partial(max, 3), xs)),
        sorted(xs, key=partial(operator.sub, 0)),
    )


def groups(words, xs):
    out = {}
    for k, g in itertools.groupby(sorted(words, key=len), key=len):
        out[k] = list(g)
    late = [(k, g) for k, g in itertools.groupby(xs)]
    return (
        out,
        [(k, list(g)) for k, g in late],
        [(k, sum(1 for _ in g)) for k, g in itertools.groupby(xs, lambda v: v % 2 == 0)],
        ["".join(g) for _, g in itertools.groupby("aaabcc")],
    )


def zips(a, b):
    out = [
        list(zip(a, b, strict=False)),
        list(itertools.zip_longest(a, b)),
        list(itertools.zip_longest(a, b, fillvalue=0)),
        list(itertools.compress(a, [1, 0, 1])),
        list(itertools.filterfalse(lambda v: v > 1, a)),
        list(itertools.chain.from_iterable([a, a[:1]])),
    ]
    try:
        for p in zip(a, b, strict=True):
            out.append([p])
    except ValueError:
        out.append([])
    return (
        out,
        list(itertools.accumulate(a, initial=10)),
        list(itertools.accumulate(a, operator.mul)),
        list(enumerate(b, start=5)),
        [x for x in itertools.islice(itertools.count(start=3, step=2), 3)],
        max(*a),
        min(*a, 0),
    )


def paths(n):
    out = []

    def go(k, path):
        if k == 0:
            out.append(path)
            return
        for d in "LR":
            go(k - 1, path + (d,))

    go(n, ())
    acc = ()
    for i in range(6):
        acc = acc + (i,)
    return out, acc, len(acc), acc[2:], hash(acc) == hash(tuple(range(6))), acc == (0, 1, 2, 3, 4, 5), max((1, 2), acc)


def mixed(tree):
    node = {}
    for w in tree:
        cur = node
        for c in w:
            cur = cur.setdefault(c, {})
        cur["$"] = True
    return node


CASES = [
    (getters, ([{"n": "b"}, {"n": "a"}], [("a", 2), ("b", 1), ("c", 2)])),
    (parts, (5, [1, 9, 4])),
    (groups, (["ab", "c", "de", "f"], [1, 1, 2, 2, 2, 1])),
    (zips, ([1, 2, 3], [4, 5])),
    (zips, ([1, 2, 3], [4, 5, 6])),
    (zips, ([1, 2, 3], [4, 5, 6, 7])),
    (paths, (3,)),
    (mixed, (["ab", "ac"],)),
]
