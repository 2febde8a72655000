"""Copies and delegation: `copy.copy`, `asdict`, `astuple` and `replace`, attributes by name, `yield from` with values that
go in and come out, `itertools.tee`, deques changed inside, `bisect` with a key."""

import bisect
import copy
import itertools
import operator
from collections import Counter, OrderedDict, defaultdict, deque
from dataclasses import asdict, astuple, dataclass, field, replace
from typing import NamedTuple


@dataclass
class Point:
    x: float
    y: float = 0.0


@dataclass
class Tree:
    name: str
    kids: list = field(default_factory=list)
    at: Point = None
    tags: dict = field(default_factory=dict)
    size: int = field(default=3, init=False)


class Pair(NamedTuple):
    point: Point
    n: int


@dataclass
class Mixed:
    parts: tuple
    pair: Pair


class Shape:
    def __init__(self, v):
        self.v = v
        self.items = [v]

    def __repr__(self):
        return f"{type(self).__name__}({self.v}, {self.items})"

    def area(self):
        return self.v

    @property
    def double(self):
        return self.v * 2


class Square(Shape):
    __slots__ = ("w",)
    sides = 4

    def __init__(self, v):
        super().__init__(v)
        self.w = 1


class Counted:
    def __init__(self):
        self.n = 1

    def __copy__(self):
        made = Counted()
        made.n = self.n + 1
        return made


def taken_apart(tree):
    found = asdict(tree)
    found["name"] += "!"
    return found, astuple(tree), tree.name


def taken_apart_in_tuples(mixed):
    return asdict(mixed), astuple(mixed)


def replaced(tree):
    made = replace(tree, name="new")
    made.kids.append(1)
    return [vars_of(made), vars_of(tree), made is tree, made.size]


def vars_of(tree):
    return tree.name, tree.kids, hasattr(tree, "at"), asdict(tree)


def copied_objects(v):
    a = Shape(v)
    b = copy.copy(a)
    b.items.append(5)
    b.v = 9
    c = Square(v)
    d = copy.copy(c)
    d.w = 4
    d.extra = 1
    return a.v, b.v, a.items is b.items, c.w, d.w, hasattr(c, "extra"), copy.copy(Counted()).n


def copied_argument(tree):
    made = copy.copy(tree)
    made.name += "2"
    return made.name, tree.name, made.kids is tree.kids


def copied_containers(a, b, c, d, e):
    made = copy.copy(a), copy.copy(b), copy.copy(c), copy.copy(d), copy.copy(e)
    made[0].append([1])
    made[1]["z"] = 2
    made[2].add(9)
    made[4].append(7)
    return made, a, b, c, d is made[3], e, made[0][1] is a[1]


def copied_tables(a, b, c, d):
    one, two, three, four = copy.copy(a), copy.copy(b), copy.copy(c), copy.copy(d)
    one["q"].append(1)
    two["a"] += 1
    three["b"] = 2
    four.append(5)
    return one, two, three, four, a, b, c, d


def by_name(shape, names):
    return [(name, getattr(shape, name), hasattr(shape, name) if name != "double" else None) for name in names]


def by_name_or(shape, names):
    found = []
    for name in names:
        try:
            found.append(getattr(shape, name) == 2)
        except AttributeError:
            found.append(None)
        found.append(getattr(shape, name, "none") != "none")
    return found


def set_by_name(shape, names, v):
    for name in names:
        setattr(shape, name, v)
    return shape.v, shape.items


class Machine:
    def __init__(self):
        self.stack = []

    def op_push(self, x):
        self.stack.append(x)

    def op_add(self, _):
        self.stack.append(self.stack.pop() + self.stack.pop())

    def run(self, code):
        for name, argument in code:
            step = getattr(self, "op_" + name, None)
            if step is None:
                self.stack.append(-1)
            else:
                step(argument)
        return self.stack


def machine(code):
    return Machine().run(code)


def inner(log):
    x = yield 1
    log.append(x)
    y = yield x
    log.append(y)


def sent_through(v):
    log = []

    def outer():
        yield from inner(log)

    steps = outer()
    first = next(steps)
    return first, steps.send(v), log


def averager():
    total, n, mean = 0, 0, None
    while True:
        x = yield mean
        if x is None:
            break
        total += x
        n += 1
        mean = total / n
    return total, n


def delegating(results):
    while True:
        found = yield from averager()
        results.append(found)


def averages(values):
    results = []
    steps = delegating(results)
    next(steps)
    return [steps.send(value) for value in values], results


def summed(n):
    total = 0
    for i in range(n):
        yield i
        total += i
    return total


def delegated(n):
    def outer():
        a = yield from summed(n)
        b = yield from summed(a % 5)
        c = yield from [7, 8]
        yield "done", a, b, c

    return list(outer())


def walked(tree):
    if isinstance(tree, tuple):
        left = yield from walked(tree[0])
        right = yield from walked(tree[1])
        return left + right
    yield tree
    return tree


def walked_sum(tree):
    def top():
        total = yield from walked(tree)
        yield "sum", total

    return list(top())


def maybe(k):
    if k > 1:
        return "big"
    yield k
    if k == 0:
        return
    return k


def returned_early(n):
    def outer():
        for i in range(n):
            found = yield from maybe(i)
            yield "found", found

    return list(outer()), sum(1 for _ in maybe(1))


def shared(values, n):
    parts = itertools.tee(values, n)
    a, b = itertools.tee(x for x in values)
    found = [next(a, None)]
    for x in b:
        found.append(x)
    found += list(a)
    return [list(part) for part in parts], found, len(parts)


def neighbours(values):
    a, b = itertools.tee(values)
    next(b, None)
    return [y - x for x, y in zip(a, b)]


def by_key(rows, x):
    i = bisect.bisect_left(rows, x, key=lambda row: row[0])
    j = bisect.bisect(rows, x, key=operator.itemgetter(0))
    bisect.insort(rows, (x, "new"), key=lambda row: row[0])
    return i, j, rows, bisect.bisect_right([1, 2, 2, 3], 2, lo=1, hi=3)


def inside(values, at, most):
    d = deque(values, most)
    found = []
    try:
        d.insert(at, 99)
    except IndexError as problem:
        found.append(str(problem))
    try:
        del d[at]
    except IndexError as problem:
        found.append(str(problem))
    if d:
        del d[-1]
    return d, found, d.maxlen


CASES = [
    (taken_apart, (Tree("r", [Tree("a"), Tree("b", [Tree("c", at=Point(1, 2))])], Point(3.5), {"k": Point(1, 1)}),)),
    (taken_apart_in_tuples, (Mixed((1, Point(2)), Pair(Point(5), 2)),)),
    (replaced, (Tree("x"),)),
    (copied_objects, (3,)),
    (copied_argument, (Tree("x"),)),
    (copied_containers, ([[3], [2]], {"a": [1]}, {1, 2}, (1, [2]), deque([1], 3))),
    (copied_tables, (defaultdict(list, a=[1]), Counter("aab"), OrderedDict(a=1), bytearray(b"ab"))),
    (by_name, (Square(2), ["v", "w", "double"])),
    (by_name, (Square(2), [])),
    (by_name_or, (Shape(2), ["v", "items", "other"])),
    (set_by_name, (Shape(2), ["v", "items"], [5])),
    (machine, ([("push", 2), ("push", 3), ("add", 0), ("jump", 1)],)),
    (sent_through, (5,)),
    (sent_through, ("a",)),
    (averages, ([1, 2, 3, None, 4, 5, None],)),
    (delegated, (4,)),
    (walked_sum, (((1, 2), (3, 4)),)),
    (returned_early, (3,)),
    (shared, ([1, 2, 3], 2)),
    (shared, ("abc", 0)),
    (neighbours, ([1, 5, 2],)),
    (neighbours, ([],)),
    (by_key, ([(1, "a"), (3, "b"), (5, "c")], 3)),
    (by_key, ([], 3)),
    (inside, ([1, 2, 3], -2, None)),
    (inside, ([1, 2, 3], 1, 3)),
    (inside, ([1], 9, 5)),
]
