"""Small things of everyday programs: products, heaps by key, views as sets, classes as values, slices of ranges, members
of an enumeration by value, named tuples with methods, orders by `total_ordering`."""

import functools
import heapq
import itertools
import math
import operator
from collections import namedtuple
from dataclasses import FrozenInstanceError, dataclass
from enum import Enum
from typing import NamedTuple


def products(values):
    return math.prod(values), math.prod(values, start=2), math.prod(range(1, 6)), math.prod([])


def heaps(values):
    least = heapq.nsmallest(2, values, key=lambda x: -x)
    return least, heapq.nlargest(2, values, key=abs), heapq.nlargest(0, values), heapq.nsmallest(3, values)


def merged(a, b):
    rows = [reversed(x) for x in [a[::-1], b[::-1]]]
    return list(heapq.merge(a, b)), list(heapq.merge(*[a, b, a])), list(heapq.merge()), list(heapq.merge(*rows))


def views(a, b):
    return a.keys() & b.keys(), list(a.keys() ^ b.keys()), list(a.keys() | b.keys()), list(a.keys() - b.keys())


def classes(x):
    return x.__class__, x.__class__.__name__, f"{type(x)}", str(type(x)) + "!", x.__class__ is int


def ranges(n):
    return range(n)[::-1], list(range(n)[1:3]), range(2, 20, 3)[n:], list(range(10, 0, -2)[::2]), range(n)[5:1:-1]


class Suit(Enum):
    CLUBS = 1
    HEARTS = 2

    @property
    def red(self):
        return self is Suit.HEARTS

    def following(self):
        return Suit(self.value % len(Suit) + 1)


class Tag(Enum):
    A = "a"
    B = "b"


def members(n, word):
    suit = Suit(n)
    try:
        tags = [Tag(c).name for c in word]
    except ValueError:
        tags = ["bad"]
    return suit, suit.name, suit.value, suit.red, suit.following(), {suit: 1}, suit is Suit.CLUBS, tags


class Employee(NamedTuple):
    name: str
    salary: float = 0.0

    def raised(self, by):
        return self._replace(salary=self.salary * (1 + by))

    @property
    def short(self):
        return self.name[:1]

    @classmethod
    def make(cls, name):
        return cls(name, 1.5)


def employees(salary):
    found = Employee("bob", salary).raised(0.5)
    return found, found.name, found.short, Employee("z"), found.count(salary), Employee.make("q"), len(found)


@functools.total_ordering
class Version:
    def __init__(self, text):
        self.parts = tuple([int(x) for x in text.split(".")])

    def __eq__(self, other):
        return self.parts == other.parts

    def __lt__(self, other):
        return self.parts < other.parts


def versions(texts):
    found = [Version(text) for text in texts]
    first, last = found[0], found[-1]
    return first >= last, first > last, first <= last, max(found).parts, [x.parts for x in sorted(found)]


class Length:
    def __init__(self, x):
        self.x = x

    def __add__(self, other):
        if isinstance(other, int):
            return Length(self.x + other)
        if isinstance(other, Length):
            return Length(self.x + other.x)
        return NotImplemented


def sums(x):
    return (Length(x) + 1).x, (Length(x) + Length(2)).x


def mapped(values):
    pairs = itertools.starmap(pow, [(2, 3), (3, 2)])
    return (
        list(itertools.starmap(operator.mul, zip(values, values))),
        list(pairs),
        functools.reduce(operator.mul, values),
    )


class Vector:
    def __init__(self, x, y):
        self.x, self.y = x, y

    def __round__(self, n=0):
        return Vector(round(self.x, n), round(self.y, n))

    def __floordiv__(self, k):
        return Vector(self.x // k, self.y // k)

    def __mod__(self, k):
        return Vector(self.x % k, self.y % k)


class Split(Vector):
    def __divmod__(self, k):
        return "its own", k


def rounded(x):
    one, other = round(Vector(x, 2.25), 1), round(Vector(x, 2.5))
    try:
        parts = divmod(one, 2)
    except TypeError:
        parts = "none"
    return one.x, one.y, other.x, other.y, divmod(Split(x, 1), 3), parts


class Temperature:
    def __init__(self, degrees):
        self._degrees = degrees

    @property
    def far(self):
        return self._degrees * 9 / 5 + 32

    @far.setter
    def far(self, value):
        self._degrees = (value - 32) * 5 / 9

    @far.deleter
    def far(self):
        self._degrees = None


def temperatures(degrees):
    held = Temperature(degrees)
    first = held.far
    held.far = 212
    second = held._degrees
    del held.far
    return first, second, held._degrees


Triple = namedtuple("Triple", "x y z", defaults=[0])


def triples(a, b):
    found = Triple(a, b)
    listed = list(found._asdict().items())
    return found._asdict(), found._fields, listed, Triple(**found._asdict()), Triple._make([a, b, a])


def by_zero(a, b):
    try:
        return str(divmod(a, b))
    except ZeroDivisionError as problem:
        return str(problem)


@dataclass(frozen=True)
class Card:
    rank: int


def frozen(rank, deletes):
    card = Card(rank)
    try:
        if deletes:
            del card.rank
        else:
            card.rank = 5
    except FrozenInstanceError:
        return "frozen"
    except AttributeError:
        return "another"
    return card.rank


def remainders(a, b):
    try:
        return divmod(a, b)
    except ZeroDivisionError:
        return "zero"


def tables(rows, headers):
    columns = [list(map(str, column)) for column in zip(headers, *rows)]
    return columns, [list(row) for row in zip(*rows, headers)], list(zip("ab", *[[1, 2], [3, 4]], range(5)))


def joined(sets):
    return set.union(*sets), set.intersection(*sets), list(set.union(*[{1, 9, 17}, {8, 16}]))


def least(weights, names):
    order = sorted(range(len(weights)), key=weights.__getitem__)
    return order, min(names, key=names.__getitem__), max(names, key=names.get), weights.__len__()


def checked(record):
    problems = []
    for key, kind in (("name", str), ("age", int), ("size", float)):
        if key in record and not isinstance(record[key], kind):
            problems.append(f"{key} must be {kind.__name__}")
    return problems


def permuted(items):
    if len(items) < 2:
        return [items]
    return [[x, *rest] for i, x in enumerate(items) for rest in permuted(items[:i] + items[i + 1 :])]


def determinant(m):
    def of(rows):
        if len(rows) == 1:
            return rows[0][0]
        signs = [1, -1] * len(rows)
        return sum(signs[c] * rows[0][c] * of([r[:c] + r[c + 1 :] for r in rows[1:]]) for c in range(len(rows)))

    return of(m), permuted([1, 2])


CASES = [
    (determinant, ([[1.5, 2], [3, 4]],)),
    (tables, ([(1, 2), (22, 33)], ["n", "s"])),
    (tables, ([], ["n", "s"])),
    (joined, ([{1, 2, 3}, {2, 3}, {3, 4}],)),
    (joined, ([{"a"}],)),
    (least, ([3.5, 1, 2], {"a": 3, "b": 1})),
    (checked, ({"name": 1, "age": 2.5},)),
    (checked, ({"name": "x", "size": 1.5, "age": None},)),
    (rounded, (1.55,)),
    (rounded, (3,)),
    (temperatures, (20,)),
    (triples, (1, 2)),
    (remainders, (-7.5, 2)),
    (remainders, (1.0, 0)),
    (products, ([1, 2, 3],)),
    (products, ([1.5, 2],)),
    (heaps, ([5, -7, 2],)),
    (heaps, ([],)),
    (merged, ([1, 3, 5], [2, 3])),
    (merged, (["a"], [])),
    (views, ({"a": 1, "b": 2}, {"b": 3, "c": 4})),
    (views, ({"a": 1, "b": 1, "z": 5, "q": 3}, {"q": 1, "b": 2})),
    (classes, (5,)),
    (classes, ("s",)),
    (ranges, (5,)),
    (ranges, (0,)),
    (members, (1, "ab")),
    (members, (2, "ax")),
    (employees, (10,)),
    (employees, (2.5,)),
    (versions, (["1.2", "1.10"],)),
    (sums, (1,)),
    (mapped, ([1, 2],)),
]
