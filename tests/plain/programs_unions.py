"""Values of several types: what one of them cannot do, operators that decline, and identity of numbers and text."""


class Read:
    """A reader of nested lists, dicts, numbers and text."""

    def __init__(self, text):
        self.text, self.at = text, 0

    def value(self):
        c = self.text[self.at]
        if c == "{":
            return self.entries()
        if c == "[":
            return self.items()
        return self.word()

    def word(self):
        begin = self.at
        while self.at < len(self.text) and self.text[self.at] not in ":,]}":
            self.at += 1
        found = self.text[begin : self.at]
        return int(found) if found.isdigit() else found

    def items(self):
        out = []
        self.at += 1
        while self.text[self.at] != "]":
            out.append(self.value())
            self.at += self.text[self.at] == ","
        self.at += 1
        return out

    def entries(self):
        out = {}
        self.at += 1
        while self.text[self.at] != "}":
            key = self.value()
            self.at += 1
            out[key] = self.value()
            self.at += self.text[self.at] == ","
        self.at += 1
        return out


def read(text):
    found = Read(text).value()
    total = sum(person["age"] * found["weights"][0] for person in found["people"])
    return total, found["people"][1]["name"].upper(), len(found["people"]), found["weights"][1] - 1


def wrong_type(text):
    try:
        return Read(text).value()["people"][0]["name"] + 1
    except TypeError:
        return "no sum"


class Metre:
    def __init__(self, x):
        self.x = x

    def __eq__(self, other):
        if not isinstance(other, Metre):
            return NotImplemented
        return self.x == other.x

    def __hash__(self):
        return hash(self.x)

    def __lt__(self, other):
        if isinstance(other, (int, float)):
            return self.x < other
        return self.x < other.x if isinstance(other, Metre) else NotImplemented

    def __add__(self, other):
        if isinstance(other, int):
            return Metre(self.x + other)
        return NotImplemented

    def __mul__(self, other):
        return Metre(self.x * other.x) if isinstance(other, Metre) else NotImplemented


class Foot:
    def __init__(self, y):
        self.y = y

    def __radd__(self, other):
        return Foot(self.y + other.x)

    def __eq__(self, other):
        return True if isinstance(other, Metre) else NotImplemented

    __hash__ = None


def declined(n):
    m, f = Metre(n), Foot(2)
    found = [m == m, m == f, f == m, m != f, f == f, f != f, m == None, m != 3, m == Metre(n), m < 5, m < Metre(9)]  # noqa: E711
    found += [(m + f).y, (m + 4).x, (m * m).x]
    for operation in (lambda: m < f, lambda: m + "a", lambda: m * 3):
        try:
            operation()
        except TypeError:
            found.append("no")
    return found


def compared(values):
    return [Metre(1) == value for value in values], Metre(2) in [Metre(3), Metre(2)]


def same_numbers(a, b):
    return a is b, a is not b, b is a


def counted(values, wanted):
    found = 0
    for value in values:
        if value is wanted:
            found += 1
        elif value is not None and value is not wanted:
            found += 10
    return found


def spread_sets(rows, other):
    found = set().union(*rows), other.union(*rows), other.union([7], *rows), other.union(), other.union({9}, {8})
    also = other.intersection(*rows), other.intersection(other, *rows[:1]), set(other).intersection()
    grown = set(other)
    grown.update(*rows)
    return [sorted(s) for s in (*found, *also, grown)], sorted(other)


def with_names(d, pairs):
    return dict(d, z=3), dict(pairs, z=4), dict(d, **d), dict(z=1, **d), dict(pairs), dict(**d), d


CASES = [
    (spread_sets, ([{1, 2}, {2, 3}], {2, 5})),
    (spread_sets, ([], {2, 5})),
    (with_names, ({"a": 1, "b": 2}, [("a", 5)])),
    (read, ("{people:[{name:ann,age:3},{name:bob,age:4}],weights:[2,3]}",)),
    (wrong_type, ("{people:[{name:ann}]}",)),
    (declined, (3,)),
    (compared, ([1, None, "a", 2.5],)),
    (same_numbers, (1, 1)),
    (same_numbers, (1000, 2000)),
    (same_numbers, (1.5, 2.5)),
    (same_numbers, ("a", "b")),
    (same_numbers, (1, True)),
    (counted, ([None, 3, 4, 3], 3)),
    (counted, (["a", None, "c"], None)),
    (counted, ([1.5, None, 2.5], 3.5)),
]
