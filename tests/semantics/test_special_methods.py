"""Classes that say what operators and built-in functions do with their objects."""

from __future__ import annotations

import enum
import heapq
import math
from collections import defaultdict, namedtuple
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import pytest

import weft
from tests.semantics.agreement import agree


class Vec:
    __slots__ = ("x", "y")

    def __init__(self, x, y):
        self.x = x
        self.y = y

    def __add__(self, other):
        return Vec(self.x + other.x, self.y + other.y)

    def __mul__(self, k):
        return Vec(self.x * k, self.y * k)

    __rmul__ = __mul__

    def __neg__(self):
        return Vec(-self.x, -self.y)

    def __eq__(self, other):
        return self.x == other.x and self.y == other.y

    def __lt__(self, other):
        return (self.x, self.y) < (other.x, other.y)

    def __iadd__(self, other):
        self.x += other.x
        self.y += other.y
        return self

    def __abs__(self):
        return math.hypot(self.x, self.y)

    def __bool__(self):
        return self.x != 0

    def __or__(self, other):
        return self.x + other.y


def operators(a, b):
    u = Vec(a, b)
    v = Vec(b, a)
    w = u + v * 2.0
    twice = 2.0 * u
    w += u
    tests = (u == v, u != v, u < v, u > v, bool(u), not u, 1 if v else 0, u | v)
    return w.x, w.y, (-w).x, abs(u), twice.y, tests


def ordered(xs):
    vs = [Vec(x, -x) for x in xs]
    vs.sort()
    heap = []
    for x in xs:
        heapq.heappush(heap, Vec(x, x - x))
    popped = [heapq.heappop(heap).x for _ in range(len(xs))]
    return [v.x for v in vs], min(vs).x, max(vs).x, [v.x for v in sorted(vs, reverse=True)], popped


def tie_breakers(xs):
    heap = []
    for place, x in enumerate(xs):
        heapq.heappush(heap, (x, place, Vec(x, -x)))
    found = []
    while heap:
        _, _, v = heapq.heappop(heap)
        found.append(v.y)
    return found


class Before:
    def __init__(self, x, n):
        self.x = x
        self.n = n

    def __lt__(self, other):
        return self.x <= other.x


def no_order(xs):
    items = [Before(x, place) for place, x in enumerate(xs)]
    items.sort()
    return [(item.x, item.n) for item in items]


@dataclass
class Bag:
    n: int = 0
    items: list = field(default_factory=list)
    total: float = field(init=False, default=0.0)

    def __post_init__(self):
        self.n = self.n * 2

    def add(self, x):
        self.items.append(x)
        self.total += x

    @property
    def mean(self):
        return self.total / len(self.items)

    @classmethod
    def of(cls, xs):
        made = cls(3)
        for x in xs:
            made.add(x)
        return made

    @staticmethod
    def twice(x):
        return 2 * x

    def __len__(self):
        return len(self.items)

    def __getitem__(self, k):
        return self.items[k]

    def __setitem__(self, k, x):
        self.items[k] = x

    def __iter__(self):
        return iter(self.items)

    def __contains__(self, x):
        return x in self.items

    def __call__(self, k):
        return k * self.total


def bag(xs):
    a = Bag.of(xs)
    a[0] = 7.5
    total = 0.0
    for x in a:
        total += x
    tests = (2.0 in a, 9.0 not in a, not a)
    return a.mean, a.n, Bag.twice(3), len(a), a[1], a(2.0), total, sum(a), list(a), [2 * x for x in a], max(a), tests


class Countdown:
    def __init__(self, n):
        self.n = n

    def __iter__(self):
        k = self.n
        while k > 0:
            yield k
            k -= 1


def countdown(n):
    total = 0
    for x in Countdown(n):
        total += x
    return total, sum(Countdown(n)), list(Countdown(n)), [x * x for x in Countdown(n)]


class Temperature:
    def __init__(self, celsius):
        self.celsius = celsius

    @property
    def doubled(self):
        return self.celsius * 2

    @doubled.setter
    def doubled(self, value):
        self.celsius = value / 2


def setter(c):
    t = Temperature(c)
    t.doubled = 10.0
    return t.celsius, t.doubled


@dataclass
class Made:
    scale: float = 1.0
    seen: set = field(default_factory=set)
    counts: Any = field(default_factory=lambda: defaultdict(int))
    values: Any = field(default_factory=lambda: np.zeros(3))


def factories(n):
    made = Made()
    for k in range(n):
        made.seen.add(k % 3)
        made.counts[k % 2] += 1
        made.values[k % 3] += 1
    return len(made.seen), made.counts[0], made.values.sum()


class Shape:
    def __init__(self, r):
        self.r = r

    def area(self):
        return 0.0

    def twice(self):
        return 2 * self.area()


class Circle(Shape):
    def area(self):
        return 3.0 * self.r**2


class Scaled(Circle):
    def __init__(self, r, k):
        super().__init__(r)
        self.k = k

    def area(self):
        return super().area() * self.k


def inherited(r):
    total = 0.0
    for shape in [Circle(r), Scaled(r, 3.0), Shape(r)]:
        total += shape.area() + shape.twice()
    return total


@dataclass
class First:
    x: float


@dataclass
class Second(First):
    y: float = 1.0

    def __post_init__(self):
        self.z = self.x * self.y


def dataclasses_compared(x):
    b = Second(x)
    c = Second(x, y=3.0)
    return b.z, c.z, b == c, b == Second(x), b != c, b == 1, b is b


@dataclass(order=True)
class Job:
    priority: int
    name: int = field(compare=False)


def jobs(xs):
    heap = []
    for x in xs:
        heapq.heappush(heap, Job(x, x * 10))
    first = heapq.heappop(heap)
    return first.name, [job.name for job in sorted(heap)], Job(1, 2) == Job(1, 3), Job(1, 2) <= Job(0, 5)


class Point(NamedTuple):
    x: float
    y: float = 0.0

    def norm(self):
        return math.sqrt(self.x**2 + self.y**2)

    @property
    def total(self):
        return self.x + self.y

    def __add__(self, other):
        return Point(self.x + other.x, self.y + other.y)


Pair = namedtuple("Pair", "a b")


def named(a, b):
    p = Point(a, b)
    q = p._replace(x=5.0)
    return p.norm(), q.total, q, p + q, p.x, Pair(a, b)._asdict(), Pair(a, b) + Pair(b, a)


def named_arguments(p, q):
    return p + q, p < q, p == q, p[0], len(p), p.x in p, list(p), sum(p), p.norm()


def named_list(ps):
    return sum(p.norm() for p in ps), max(p.x for p in ps)


class Color(enum.Enum):
    RED = 1
    GREEN = 2


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 5


def members(xs):
    counts = {color: 0 for color in Color}
    for x in xs:
        counts[Color(x)] += 1
    total = 0
    for level in Level:
        total += level.value * level
    return counts, len(Color), [color.value for color in Color], total, Level.HIGH > Level.LOW


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (operators, (1.0, 2.0)),
        (operators, (0.0, 2.0)),
        (ordered, ([3, 1, 2, 1],)),
        (ordered, ([3.5, 1.5, 2.5],)),
        (tie_breakers, ([3, 1, 2, 1],)),
        (bag, ([1.0, 2.0],)),
        (countdown, (5,)),
        (setter, (3.0,)),
        (factories, (7,)),
        (inherited, (2.0,)),
        (dataclasses_compared, (1.5,)),
        (jobs, ([3, 1, 2],)),
        (named, (1.0, 2.0)),
        (named_arguments, (Point(1.0, 2.0), Point(3.0, 1.0))),
        (named_list, ([Point(1.0, 2.0), Point(3.0, 4.0)],)),
    ],
)
def test_native(function, args):
    agree(function, *args)


@pytest.mark.parametrize("xs", [[1, 2, 2], [1, 3], []])
def test_members_that_only_the_run_time_knows_beside_members_that_are_numbers(xs):
    """Neither compiler takes both kinds: they are parts of the function."""
    run = weft.jit(members, fallback="silent")
    for _ in range(3):
        assert outcome(run, xs) == outcome(members, xs)


def outcome(function, xs):
    try:
        return function(list(xs))
    except ValueError as error:
        return str(error)


@pytest.mark.parametrize(
    ("function", "args"),
    [(no_order, ([3, 1, 2, 1, 1],)), (ordered, ([2.0, math.nan, 1.0],)), (bag, ([],))],
)
def test_left_to_python(function, args):
    agree(function, *args, native=False)
