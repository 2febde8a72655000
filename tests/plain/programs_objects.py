"""Objects whose classes define, or have generated, how they compare, hash and print."""

import heapq
from collections import Counter, defaultdict, namedtuple
from dataclasses import dataclass, field

Pair = namedtuple("Pair", "left right")


@dataclass(order=True)
class Task:
    priority: int
    name: str = field(compare=False)
    after: list = field(default_factory=list, compare=False, repr=False)


@dataclass(frozen=True)
class Cell:
    x: int
    y: int

    def __add__(self, other):
        return Cell(self.x + other.x, self.y + other.y)


@dataclass
class Link:
    value: float
    following: "Link | None" = None


@dataclass(unsafe_hash=True)
class Tag:
    name: str
    weight: float = field(default=1.0, hash=False)


class Angle:
    def __init__(self, degrees):
        self.degrees = degrees

    def __eq__(self, other):
        if not isinstance(other, Angle):
            return NotImplemented
        return self.degrees % 360 == other.degrees % 360

    def __hash__(self):
        return hash(self.degrees % 360)

    def __lt__(self, other):
        return self.degrees % 360 < other.degrees % 360

    def __repr__(self):
        return f"Angle({self.degrees})"


def schedule(names):
    heap = []
    for i, name in enumerate(names):
        heapq.heappush(heap, Task((i * 7) % 5, name))
    order = []
    while heap:
        task = heapq.heappop(heap)
        order.append((task.priority, task.name))
    tasks = [Task(2, "b"), Task(1, "c"), Task(2, "a")]
    return (
        order,
        sorted(tasks),
        max(tasks),
        Task(1, "x") == Task(1, "y"),
        Task(1, "x") < Task(2, "a"),
        Task(3, "") >= tasks[0],
    )


def texts():
    chain = Link(1.5, Link(2.0))
    shown = [repr(chain), str(Cell(1, 2)), f"{Cell(3, 4)} {Tag('t')!r}", repr([Cell(0, 1)]), str((Cell(0, 1), 2))]
    shown += [repr({Cell(1, 1): [Task(1, "a")]}), str(Pair(Cell(0, 0), None)), repr((Cell(5, 5),)), repr([Angle(3)])]
    print(chain, [chain], Cell(9, 9))
    return shown


def equality(n):
    a = [Cell(i, i * i) for i in range(n)]
    b = [Cell(i, i * i) for i in range(n)]
    link = Link(1.0, Link(2.0, None))
    tests = [
        a == b,
        a != b,
        Cell(1, 1) in a,
        Cell(9, 9) in a,
        a.index(Cell(2, 4)),
        a.count(Cell(0, 0)),
        (a[0], 1) == (b[0], 1),
    ]
    tests += [
        link == Link(1.0, Link(2.0)),
        link == Link(1.0),
        link != link,
        Cell(1, 2) == (1, 2),
        {Cell(1, 1): 2} == {Cell(1, 1): 2},
    ]
    return tests, Angle(10) == Angle(370), Angle(10) != Angle(11), Angle(1) in [Angle(721)]


def life(cells, steps):
    live = {Cell(x, y) for x, y in cells}
    around = [Cell(dx, dy) for dx in (-1, 0, 1) for dy in (-1, 0, 1) if dx or dy]
    for _ in range(steps):
        counts = Counter(cell + step for cell in live for step in around)
        live = {cell for cell, n in counts.items() if n == 3 or (n == 2 and cell in live)}
    return live, sorted((cell.x, cell.y) for cell in live)


def as_keys(values):
    seen = {}
    groups = defaultdict(list)
    for value in values:
        angle = Angle(value)
        seen[angle] = seen.get(angle, 0) + 1
        groups[Tag(str(value % 3), value)].append(value)
    seen.pop(Angle(0), None)
    return (
        seen,
        len(groups),
        Angle(370) in seen,
        sorted(seen),
        hash(Cell(3, 4)) == hash((3, 4)),
        set(seen) - {Angle(20)},
    )


class Expression:
    pass


@dataclass
class Number(Expression):
    value: float


@dataclass
class Binary(Expression):
    operator: str
    left: Expression
    right: Expression


def evaluate(expression):
    match expression:
        case Number(value):
            return value
        case Binary("+", left, right):
            return evaluate(left) + evaluate(right)
        case Binary(operator="*", left=left, right=right):
            return evaluate(left) * evaluate(right)
        case _:
            return None


def evaluated(x):
    return evaluate(Binary("+", Number(1), Binary("*", Number(x), Number(3.5)))), issubclass(Number, Expression)


CASES = [
    (evaluated, (2,)),
    (schedule, (["a", "b", "c", "d", "e", "f"],)),
    (texts, ()),
    (equality, (5,)),
    (life, ([(0, 1), (1, 1), (2, 1)], 3)),
    (as_keys, ([10.0, 20.0, 370.0, 0.0],)),
]
