"""What builtin functions and formats ask of objects: `__format__`, `__getitem__`, `__contains__`, `__len__`."""

from __future__ import annotations

import enum
import math
from collections import Counter, OrderedDict, defaultdict, deque


class Length:
    def __init__(self, metres):
        self.metres = metres

    def __format__(self, spec):
        return f"{self.metres:.1f}m[{spec}]"

    def __str__(self):
        return f"L{self.metres}"


class Named:
    def __init__(self, name):
        self.name = name

    def __str__(self):
        return f"<{self.name}>"

    def __repr__(self):
        return f"Named({self.name!r})"


class Colour(enum.Enum):
    RED = 1
    GREEN = "g"


class Squares:
    def __init__(self, count):
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, place):
        if not -self.count <= place < self.count:
            raise IndexError("no such square")
        return (place % self.count) ** 2


class Bag:
    def __init__(self, items):
        self.items = items

    def __contains__(self, item):
        return self.items.get(item)

    def __len__(self):
        return self.items.get("length", 0)

    def __str__(self):
        return self.items.get("text")

def formats_of_an_object(n):
    x = Length(n)
    return f"{x}", f"{x!s}", f"{x:abc}", f"{x!s:>6}|", format(x), format(x, "k"), "{}-{:>4}-{!s}".format(x, x, x)


def formats_of_texts(name):
    x = Named(name)
    listed = [x, x]
    return (
        f"{x!s:>9}|{x!r:<14}|{x}|{listed}",
        "{0!r} {a} {0}".format(x, a=[x]),
        "%s is %r, %5s|%-8s|%d%%" % (x, x, x, name, len(name)),
        "%r" % x,
    )


def no_format(name):
    try:
        return f"{Named(name):>9}"
    except TypeError:
        return "TypeError"


def spread_format(values, n):
    return ("{:02x}" * n).format(*values), "{0}/{0}/{2}".format("a", *values)


def members_as_texts(key):
    c = Colour[key]
    return str(c), repr(c), f"{c}", f"{c:>14}", [str(member) for member in Colour], f"{c.name}={c.value!r}"


def items_by_number(n):
    s = Squares(n)
    total = 0
    for place, item in enumerate(s):
        total += place * item
    first, *_ = [*s, -1]
    return total, first, list(s), list(reversed(s)), 4 in s, 5 in s, sum(s), max(s, default=None), dict(zip("abc", s))


def answers_that_are_no_truth(held):
    bag = Bag(held)
    return "x" in bag, "y" not in bag, [1 if "x" in bag else 2]


def wrong_answers(held, which):
    bag = Bag(held)
    try:
        return str(bag) if which else len(bag)
    except (TypeError, ValueError):
        return "refused"


class Odd:
    def __init__(self, answer):
        self.answer = answer

    def __bool__(self):
        return self.answer

    def __float__(self):
        return self.answer


def a_truth_that_is_none(answer):
    try:
        return "yes" if Odd(answer) else "no"
    except TypeError:
        return "TypeError"


def a_float_that_is_none(answer):
    try:
        return float(Odd(answer))
    except TypeError:
        return "TypeError"


def a_place_of_none(rows, which):
    wanted = {"row": rows, "none": None, "word": "abc"}[which]
    place = 0 if which == "row" else wanted
    try:
        return rows[place]
    except TypeError:
        return "TypeError"


def operators_of_builtin_types(n):
    out = [n]
    try:
        out += Squares(n)
        text = "%s!" % Named(n)
    except TypeError:
        text = "TypeError"
    return out, text


class Two:
    def __index__(self):
        return 2

    def __float__(self):
        return 2.5

    def __floor__(self):
        return 7


def repeated_by(times, items):
    try:
        return items * times
    except TypeError:
        return "TypeError"


def repeated_by_an_object(items):
    return repeated_by(Two(), items), math.floor(Two())


def repeated_bytes(n):
    return n * b"ab", True * b"c", b"d" * n


def of_bytes(text):
    out = []
    for made in (int, float):
        try:
            out.append(made(text))
        except TypeError:
            out.append("TypeError")
        except ValueError:
            out.append("ValueError")
    return out


def a_sum_of_texts(text):
    try:
        return sum(text, text)
    except TypeError:
        return "TypeError"


def greatest(a, b):
    try:
        return math.gcd(a, b)
    except TypeError:
        return "TypeError"


def merged(a, b):
    found = a | b
    return type(found).__name__, list(found.items())


def in_order(a, b):
    try:
        return a < b, a >= b
    except TypeError:
        return "TypeError"


#: Programs of which a part is left to Python: each call deoptimises there, or nothing is compiled.
LEFT = [
    (repeated_by_an_object, ([1, 2],)),
    (repeated_by_an_object, ("ab",)),
    (of_bytes, (b"12",)),
    (of_bytes, (b"x",)),
    (a_sum_of_texts, ("ab",)),
    (in_order, (Counter("ab"), Counter("abb"))),
    (in_order, (deque([1, 2]), deque([1, 3]))),
    (in_order, (bytearray(b"a"), b"b")),
    (in_order, (Colour.RED, Colour.GREEN)),
    (merged, ({1: 2}, OrderedDict([(3, 4)]))),
    (merged, ({1: 2}, defaultdict(int, {3: 4}))),
]
CASES = [
    (repeated_bytes, (3,)),
    (greatest, (None, 4)),
    (greatest, (12, "a")),
    (merged, ({1: 2}, {3: 4})),
    (operators_of_builtin_types, (3,)),
    (formats_of_an_object, (2.25,)),
    (formats_of_texts, ("Ann",)),
    (no_format, ("Ann",)),
    (spread_format, ([1, 255, 16], 3)),
    (members_as_texts, ("RED",)),
    (members_as_texts, ("GREEN",)),
    (items_by_number, (4,)),
    (items_by_number, (0,)),
    (answers_that_are_no_truth, ({"x": 5, "y": 0},)),
    (wrong_answers, ({"length": -1}, 0)),
    (wrong_answers, ({"length": 3}, 0)),
    (wrong_answers, ({"text": None}, 1)),
    (wrong_answers, ({"text": "bag"}, 1)),
    (a_truth_that_is_none, (1,)),
    (a_truth_that_is_none, (True,)),
    (a_float_that_is_none, (1,)),
    (a_float_that_is_none, (1.5,)),
    (a_place_of_none, ([1, 2], "row")),
    (a_place_of_none, ([1, 2], "none")),
    (a_place_of_none, ([1, 2], "word")),
]
