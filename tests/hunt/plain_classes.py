"""What the programs of `plain.py` stand on: module variables, exceptions, helpers, and classes with inheritance,
operators and protocols. In: a writer; out: definitions, and statements that use them."""

from __future__ import annotations

from tests.hunt.expressions import expression, literal
from tests.hunt.writer import Writer

HEAD = """\
LIMIT = 3
LOG = []
TABLE = {'a': 1}
WORDS = ('x', 'yy')
Spot = namedtuple('Spot', 'x y')
class Problem(Exception):
    pass
class Worse(Problem):
    def __init__(self, first, second):
        super().__init__(first)
        self.second = second
def bump(by):
    global LIMIT
    LIMIT = LIMIT + by
    return LIMIT
def stumble(n):
    if n > 1:
        raise Problem(n, 'deep')
    if n < 0:
        raise Worse('low', n)
    return n + 1
def counting(n):
    while n > 0:
        yield n
        n -= 1
def doubled(items):
    for item in items:
        yield item * 2
    yield from (0, 1)
def consume(items, n):
    return [next(items, None) for _ in range(n)]
"""

_OPERATORS = {
    "add": "return type(self)(self.x + (other.x if isinstance(other, Base) else other))",
    "radd": "return other + self.x",
    "iadd": "self.x += other; return self",
    "mul": "return Base(self.x * other)",
    "neg": "return Base(-self.x)",
    "eq": "return isinstance(other, Base) and self.x == other.x",
    "hash": "return hash(self.x)",
    "lt": "return self.x < other.x",
    "le": "return self.x <= other.x",
    "len": "return len(self.items)",
    "getitem": "return self.items[key]",
    "setitem": "self.items[key] = value",
    "contains": "return key in self.items",
    "iter": "return iter(self.items)",
    "call": "return self.x + key",
    "bool": "return self.x > 0",
    "repr": "return f'<{type(self).__name__} {self.x}>'",
    "str": "return 'B' + str(self.x)",
    "enter": "self.items.append(1); return self",
    "exit": "self.items.append(len(rest)); return False",
    "int": "return int(self.x)",
}
_GIVEN = {"getitem": ", key", "contains": ", key", "call": ", key", "setitem": ", key, value", "exit": ", *rest"}
_BINARY = ("add", "radd", "iadd", "mul", "eq", "lt", "le")


def define(w: Writer) -> None:
    """Module variables, helpers and two classes, with some of the operators."""
    for line in HEAD.splitlines():
        w.emit(line)
    chosen = w.random.sample(sorted(_OPERATORS), w.number(4, len(_OPERATORS)))
    if "hash" in chosen and "eq" not in chosen:
        chosen.append("eq")
    if w.chance(20):
        w.emit("@functools.total_ordering" if {"eq", "lt"} <= set(chosen) and w.chance(0) else "# plain class")
    w.emit("class Base:")
    w.emit(f"    count = {w.pick(('0', '10', '0.5'))}")
    if w.chance(15):
        w.emit("    __slots__ = ('x', 'items', 'spare')")
    w.emit("    def __init__(self, x, items=None):")
    w.emit("        self.x = x")
    w.emit(f"        self.items = {w.pick(('[] if items is None else items', 'list(items or ())', 'items or [x]'))}")
    w.emit("    def grow(self, by=1):")
    w.emit(f"        {w.pick(('self.x += by', 'self.x = self.x + by', 'self.items.append(by)', 'Base.count += by'))}")
    w.emit(f"        return {w.pick(('self', 'self.x', 'self.size()', 'len(self.items)'))}")
    w.emit("    def size(self):")
    w.emit(f"        return {w.pick(('len(self.items)', 'self.x * 2', 'self.count', 'self.kind()'))}")
    w.emit("    def kind(self):")
    w.emit(f"        return {w.pick((repr('base'), '1', 'self.x'))}")
    w.emit("    @property")
    w.emit("    def half(self):")
    w.emit("        return self.x / 2")
    w.emit("    @half.setter")
    w.emit("    def half(self, value):")
    w.emit("        self.x = value * 2")
    w.emit("    @classmethod")
    w.emit("    def make(cls, x):")
    w.emit("        return cls(x)")
    w.emit("    @staticmethod")
    w.emit("    def twice(x):")
    w.emit("        return x * 2")
    for name in chosen:
        given = _GIVEN.get(name, ", other" if name in _BINARY else "")
        w.emit(f"    def __{name}__(self{given}):")
        for part in _OPERATORS[name].split("; "):
            w.emit(f"        {part}")
    w.emit("class Derived(Base):")
    w.emit(f"    count = {w.pick(('1', '2.5', 'True'))}")
    if w.chance(70):
        w.emit("    def __init__(self, x, extra=0):")
        w.emit(f"        super().__init__({w.pick(('x', 'x, [extra]', 'x + 1'))})")
        w.emit(
            "        self.extra = extra"
            if "    __slots__ = ('x', 'items', 'spare')" not in w.lines
            else "        self.spare = extra"
        )
    w.emit("    def kind(self):")
    w.emit(f"        return {w.pick((repr('derived'), 'super().kind()', 'self.count'))}")
    if w.chance(50):
        w.emit("    def grow(self, by=2):")
        w.emit(f"        {w.pick(('super().grow(by)', 'Base.grow(self, by)', 'self.x -= by'))}")
        w.emit(f"        return {w.pick(('self.x', 'super().grow()', 'self.twice(by)'))}")


_USES = (
    "{0}.grow()",
    "{0}.grow(2)",
    "{0}.size()",
    "{0}.half",
    "{0}.kind()",
    "{0} + 1",
    "{0} + {1}",
    "1 + {0}",
    "{0} == {1}",
    "{0} != {1}",
    "{0} is {1}",
    "{0} < {1}",
    "len({0})",
    "{0}[0]",
    "2 in {0}",
    "list({0})",
    "[q for q in {0}]",
    "{0}(3)",
    "str({0})",
    "repr([{0}])",
    "f'{{{0}}}'",
    "bool({0})",
    "not {0}",
    "1 if {0} else 2",
    "-{0}",
    "{0} * 2",
    "int({0})",
    "isinstance({0}, Derived)",
    "type({0}) is Base",
    "type({0}).__name__",
    "Base.make(4).x",
    "Derived.make({0}.x).x",
    "{0}.twice(3)",
    "Base.count, Derived.count, {0}.count",
    "{{{0}: 1}}.get({1}, 2)",
    "len({{{0}, {1}}})",
    "sorted([{0}, {1}])[0] is {0}",
    "max([{0}, {1}], key=lambda q: q.x).x",
    "min({0}, {1}) is {1}",
    "[{0}, {1}].index({1})",
    "{0} in [{1}]",
    "sum([{0}.x, {1}.x])",
    "getattr({0}, 'x'), hasattr({0}, 'missing'), getattr({0}, 'missing', 5)",
    "{0}.missing",
    "[q.kind() for q in ({0}, {1})]",
    "sum(q.x for q in [{0}, {1}, {0}])",
)
_CHANGES = (
    "{0}.x += 1",
    "{0}.x = 0.5",
    "{0}.items.append({1}.x)",
    "{0}.items = {1}.items",
    "{0} += 1",
    "{0}[0] = 7",
    "{0}.half = 3",
    "{0}.count = 5",
    "Base.count += 1",
    "{0}.fresh = 1",
    "del {0}.x",
    "{0} = {1}",
    "{0}, {1} = {1}, {0}",
    "with {0} as {1}: {1}.x = 4",
)


def uses(w: Writer) -> None:
    names = [name for name, _ in w.holding("base")]
    while len(names) < 2:
        name = w.name("o")
        value = expression(w, w.pick(("int", "int", "float")), 0)
        made = w.pick(("Base({})", "Base({}, [1, 2])", "Derived({})", "Derived({}, 4)", "Base.make({})"))
        w.emit(f"{name} = {w.pick((names[0], made.format(value))) if names and w.chance(15) else made.format(value)}")
        w.scope[name] = ("base",)
        w.fixed.add(name)
        names.append(name)
    for _ in range(w.number(1, 4)):
        one, other = w.pick(names), w.pick(names)
        if w.chance(35):
            w.emit(w.pick(_CHANGES).format(one, other))
            continue
        kept = w.name("r")
        w.emit(f"{kept} = {w.pick(_USES).format(one, other)}")
        w.scope[kept] = "result"


__all__ = ["HEAD", "define", "literal", "uses"]
