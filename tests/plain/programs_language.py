"""Enumerations with methods, attributes by name, formats, views as sets, contexts, class attributes of objects."""

import math
from collections import defaultdict
from enum import Enum


class Operation(Enum):
    ADD = "+"
    SUB = "-"

    def apply(self, a, b):
        return a + b if self is Operation.ADD else a - b

    @property
    def shown(self):
        return "<" + self.value + ">"


def operations(values):
    total = 0
    for i, value in enumerate(values):
        operation = Operation.ADD if i % 2 == 0 else Operation.SUB
        total = operation.apply(total, value)
    return total, Operation("+").name, [each.value for each in Operation], Operation.SUB.shown


class Vector:
    __slots__ = ("x", "y")

    def __init__(self, x=0.0, y=0.0):
        self.x = x
        self.y = y

    def __add__(self, other):
        return Vector(self.x + other.x, self.y + other.y)

    def __mul__(self, k):
        return Vector(self.x * k, self.y * k)

    __rmul__ = __mul__

    def __iadd__(self, other):
        self.x += other.x
        self.y += other.y
        return self

    def __neg__(self):
        return Vector(-self.x, -self.y)

    def __abs__(self):
        return math.hypot(self.x, self.y)

    def __eq__(self, other):
        return (self.x, self.y) == (other.x, other.y)

    def __iter__(self):
        yield self.x
        yield self.y

    def __repr__(self):
        return "Vector({!r}, {!r})".format(self.x, self.y)

    def __getitem__(self, i):
        return (self.x, self.y)[i]


def vectors(k):
    a = Vector(1, k)
    b = 2 * a + Vector(0.5)
    b += a
    x, y = b
    return repr(b), abs(-b), a == Vector(1, 2), list(a), x + y, b[0], "{} and {v}".format(a, v=b), [*a, 9]


class Named:
    kind = "named"

    def __init__(self, name):
        self.given = name

    @property
    def name(self):
        return self.label

    @name.setter
    def name(self, text):
        self.label = text.strip().title()


def by_name(text):
    one = Named(text)
    before = hasattr(one, "label"), hasattr(one, "kind"), hasattr(one, "nothing"), getattr(one, "label", "none yet")
    one.name = text
    setattr(one, "extra", 3)
    return (
        before,
        one.name,
        getattr(one, "extra", 0),
        getattr(one, "given"),
        hasattr(one, "label"),
        getattr(5, "nothing", None),
    )


class Tracker:
    def __init__(self, log):
        self.log = log

    def __enter__(self):
        self.log.append("in")
        return self

    def __exit__(self, *problem):
        self.log.append("out")
        return False


def tracked(values):
    log = []
    with Tracker(log) as tracker:
        for value in values:
            tracker.log.append(value)
    with Tracker(log), Tracker(log):
        pass
    return log


def formats(name, table):
    first = "{name} is {age:d}".format(name=name, age=3), "%s=%05.1f%%" % (name, 2.5), "%(a)s-%(b)05.2f" % table
    second = (
        f"{name!r:>10}|{name:*^9}|{3:>{4}}|{1e6:,}|{7:b}",
        "{:>8.2f}|{:<5}|{:+d}|{:x}".format(3.14159, "ab", 5, 255),
    )
    return first, second, "{0[a]} {1}".format(table, name)


def views(table, wanted):
    common = table.keys() & wanted
    return common, table.keys() - {"a"}, table.keys() | {"q"}, {"a", "b", "z"} & table.keys(), max(table, key=table.get)


def counted(table, groups):
    for word in ["x", "y", "x"]:
        table[word] += 1
    groups["k"].append(5)
    return table, groups["none"], len(groups)


def library_functions(values):
    found = [math.exp(-0.5), math.log(10), math.log(8, 2), math.pow(2, 0.5)]
    for x in values:
        for function in (math.exp, math.log, math.log2, math.log10, math.log1p, math.expm1, math.sinh, math.asin):
            try:
                found.append(function(x))
            except ValueError:
                found.append("value")
            except OverflowError:
                found.append("overflow")
        for y in values:
            for combined in (math.atan2, math.pow, math.fmod):
                try:
                    found.append(combined(x, y))
                except (ValueError, OverflowError):
                    found.append("error")
    return found


SPECIAL = [0.0, -0.0, 1.5, -2.5, 0.3, 800.0, -1000.0, math.inf, -math.inf, math.nan, 1e-320, 3.0, -1.0]
CASES = [
    (counted, (defaultdict(int, {"x": 4}), defaultdict(list))),
    (library_functions, (SPECIAL,)),
    (operations, ([5, 3, 2],)),
    (vectors, (2,)),
    (by_name, (" bob smith ",)),
    (tracked, ([1, "x"],)),
    (formats, ("bo", {"a": 1, "b": 2.5})),
    (views, ({"a": 1, "b": 3}, {"b", "zz"})),
    (views, ({"a": 1, "b": 3, "c": 0}, {"b"})),
]
