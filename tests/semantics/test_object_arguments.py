"""Objects as arguments, alone and in lists: attributes read and changed, methods, identity, what raises; containers
that are globals, closure variables or attributes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import pytest

import weft
from tests.semantics.wide import needs_compiler, outcome, same_by_python, same_natively

pytestmark = needs_compiler


@dataclass
class State:
    t: float
    n: int
    name: str = "a"
    on: bool = True
    tag: object = None

    def step(self, dt):
        self.t += dt
        self.n += 1
        return self.t

    @property
    def twice(self):
        return 2 * self.t


@dataclass
class Simulation:
    state: State
    dt: float
    data: np.ndarray
    history: list = field(default_factory=list)


class Slotted:
    __slots__ = ("x", "y")

    def __init__(self, x, y):
        self.x = x
        self.y = y


class Body:
    def __init__(self, x, v, m, k=0):
        self.x = x
        self.v = v
        self.m = m
        self.k = k

    def kick(self, a, dt):
        self.v += a * dt

    @property
    def energy(self):
        return 0.5 * self.m * self.v**2


class Point(NamedTuple):
    x: float
    y: float


def bodies():
    return [Body(float(i), 1.0 + i, 2.0) for i in range(4)]


def stepped(s, n):
    for _ in range(n):
        s.step(0.5)
    return s.twice


def raises_later(s, n):
    s.t = 9.0
    return 1 // n


def raises_itself(s, n):
    s.t = 9.0
    if n < 0:
        raise ValueError("negative")
    return s.t


def another_type(s, n):
    if n > 0:
        s.n = 2.5
    return s.n


def several_ways_out(s, n):
    s.on = False
    s.n += 0
    if n == 0:
        return s.t
    s.t += 1
    return None


def nested(sim, n):
    for i in range(n):
        sim.state.t += sim.dt
        sim.state.n += i
    return sim.state.t, sim.data.sum()


def with_an_array(sim, n):
    for i in range(n):
        sim.data[i % 3] += sim.dt
    sim.dt = 0.5
    return sim.data.sum()


def two_names(s):
    q = s
    q.t += 1
    return s.t


def by_a_closure(s, n):
    def bump(k):
        s.t += k

    for i in range(n):
        bump(i)
    return s.t


def two_read(a, b):
    return a.t + b.t, a.n * b.n, a.tag is None, a.name


def numpy_number(s):
    s.t = np.float64(3.0)
    return 1


def overflows(s):
    s.n += 2**62 * s.n
    return s.n


def slotted(v, n):
    for _ in range(n):
        v.x += 1.0
    return v.x


def local_of_two_types(n):
    s = State(1.0, 2)
    for _ in range(n):
        s.n = s.n / 2
    return s.n, s.t


def history_read(sim):
    return sum(sim.history) + len(sim.history)


def gravity(bodies, dt, n):
    for _ in range(n):
        for i in range(len(bodies)):
            for j in range(i + 1, len(bodies)):
                d = bodies[j].x - bodies[i].x
                f = bodies[i].m * bodies[j].m / (d * d + 0.5)
                bodies[i].kick(f / bodies[i].m, dt)
                bodies[j].kick(-f / bodies[j].m, dt)
        for b in bodies:
            b.x += b.v * dt
    return bodies[0].energy


def fails_in_a_list(bodies, n):
    bodies[0].x = 100.0
    return 1 // n


def some_of_them(bodies):
    good = [b for b in bodies if b.x > 1]
    for b in good:
        b.k += 1
    best = bodies[0]
    for b in bodies:
        if b.v > best.v:
            best = b
    best.k += 10
    return len(good), sum(1 for a in bodies for b in bodies if a is b)


def by_key(bodies):
    table = {}
    for b in bodies:
        table[int(b.x)] = b
    table[2].k = 5
    return table[2].x, max(bodies, key=lambda b: b.v).x, sorted(b.v for b in bodies)


def two_lists(a, b):
    return sum(p.x * q.v for p, q in zip(a, b))


def points(ps, i):
    x, y = ps[i]
    return ps[i].x, x * y, [Point(p.y, p.x) for p in ps], tuple(ps[0])


TWICE = State(1.0, 2)
BODY = Body(1.0, 2.0, 3.0)

NATIVE = [
    (stepped, [(State(1.0, 2), 3), (State(1.0, 2), 0), (State(0.0, -1, "b"), 1)]),
    (raises_later, [(State(1.0, 2), 1), (State(1.0, 2), 0)]),
    (raises_itself, [(State(1.0, 2), 1), (State(1.0, 2), -1)]),
    (another_type, [(State(1.0, 2), 1), (State(1.0, 2), 0)]),
    (several_ways_out, [(State(1.0, 2), 1), (State(1.0, 2), 0)]),
    (nested, [(Simulation(State(0.0, 0), 0.25, np.zeros(3)), 4)]),
    (with_an_array, [(Simulation(State(0.0, 0), 0.25, np.zeros(3)), 4)]),
    (two_names, [(State(1.0, 2),)]),
    (by_a_closure, [(State(1.0, 2), 3)]),
    (two_read, [(State(1.0, 2), State(2.0, 3)), (TWICE, TWICE)]),
    (numpy_number, [(State(1.0, 2),)]),
    (overflows, [(State(1.0, 1),), (State(1.0, 2),)]),
    (slotted, [(Slotted(1.0, 2.0), 3)]),
    (local_of_two_types, [(0,), (1,)]),
    (history_read, [(Simulation(State(0.0, 0), 0.25, np.zeros(3), [1, 2]),)]),
    (gravity, [(bodies(), 0.25, 2), (bodies()[:1], 0.25, 2)]),
    (fails_in_a_list, [(bodies(), 1), (bodies(), 0)]),
    (some_of_them, [(bodies(),), ([BODY, BODY],)]),
    (by_key, [(bodies(),), (bodies()[:2],)]),
    (two_lists, [(bodies(), bodies()), (bodies(), bodies()[:2])]),
    (points, [([Point(1.0, 2.0), Point(3.0, 4.0)], 1), ([Point(1.0, 2.0)], 5)]),
]


@pytest.mark.parametrize(("function", "calls"), NATIVE, ids=[function.__name__ for function, _ in NATIVE])
def test_as_python(function, calls):
    same_natively(function, *calls)


def one_of_two(a, b):
    a.t = 5.0
    return b.t


def new_attribute(s):
    s.extra = 5
    return s.t


def returned(s):
    s.t += 1
    return s


def exchanged(bodies):
    bodies[0], bodies[1] = bodies[1], bodies[0]
    return bodies[0].x


def one_more(bodies):
    bodies.append(Body(9.0, 1.0, 1.0))
    return len(bodies)


def given_back(bodies):
    bodies[1].k = 7
    return [b for b in bodies if b.x > 1]


def two_lists_changed(a, b):
    for p, q in zip(a, b):
        p.x += q.v
    return a[0].x


def history_written(sim):
    sim.history[0] = 5
    return sim.history[0]


def no_such_slot(v):
    v.z = 1
    return v.x


def stored_point(ps):
    ps[0] = Point(7.0, 8.0)
    return ps[0].x


@pytest.mark.parametrize(
    ("function", "calls"),
    [
        (one_of_two, [(State(1.0, 2), State(2.0, 2)), (TWICE, TWICE)]),
        (new_attribute, [(State(1.0, 2),)]),
        (returned, [(State(1.0, 2),)]),
        (exchanged, [(bodies(),)]),
        (one_more, [(bodies(),)]),
        (given_back, [(bodies(),)]),
        (two_lists_changed, [(bodies(), bodies())]),
        (history_written, [(Simulation(State(0.0, 0), 0.25, np.zeros(3), [1, 2]),)]),
        (no_such_slot, [(Slotted(1.0, 2.0),)]),
        (stored_point, [([Point(1.0, 2.0)],)]),
    ],
)
@pytest.mark.usefixtures("array_compiler_only")
def test_left_to_python(function, calls):
    same_by_python(function, *calls)


class Heavy(Body):
    pass


def test_other_lists_at_the_same_function():
    """What a version is not for: other classes, one object twice, none at all, an attribute that is missing."""
    compiled = weft.jit(fallback="silent")(moved)
    lacking = bodies()
    del lacking[1].x
    for given in [bodies(), [], [Heavy(1.0, 2.0, 3.0)], [BODY, Heavy(1.0, 2.0, 3.0)], [BODY, BODY], lacking, [1.0]]:
        assert outcome(compiled, (given,)) == outcome(moved, (given,))


def moved(bodies):
    total = 0.0
    for b in bodies:
        b.x += 1.0
        total += b.x
    return total


# --- containers from outside ----------------------------------------------------------------------------------------

TABLE = {1: 10, 2: 20}
PRIMES = [2, 3, 5, 7]
LETTERS = {"A": 1, "C": 2, "G": 3, "T": 4}
MATRIX = [[1, 2], [3, 4]]
WEIGHTS = (0.5, 0.25, 0.125, 1.0, 2.0, 4.0)
PAIR = (1.5, 2.5)


def factors(n):
    out = []
    for p in PRIMES:
        while n % p == 0:
            out.append(p)
            n //= p
    return out


def looked_up(k):
    return TABLE[k] + PRIMES[0]


def coded(s):
    code = 0
    for c in s:
        code = code * 5 + LETTERS[c]
    return code


def element(i, j):
    return MATRIX[i][j]


def weighted(n):
    total = 0.0
    for i in range(n):
        total = total * 2 + WEIGHTS[i % 6] + PAIR[-1 - i % 2]
    return total


def past_the_end(n):
    total = 0.0
    for i in range(n):
        total += WEIGHTS[i]
    return total


def beside_an_argument(xs):
    xs[0] = 50
    return PRIMES[0], xs[0]


@pytest.mark.parametrize(
    ("function", "calls"),
    [
        (factors, [(60,), (77,), (13,)]),
        (looked_up, [(1,), (2,), (3,)]),
        (coded, [("GATTACA",), ("",), ("GAX",)]),
        (element, [(0, 1), (1, 0), (2, 0)]),
        (weighted, [(0,), (13,)]),
        (past_the_end, [(6,), (7,)]),
        (beside_an_argument, [([1, 2],)]),
    ],
)
def test_globals(function, calls):
    same_natively(function, *calls)


def test_a_change_is_seen_at_the_next_call(monkeypatch):
    compiled = weft.jit(fallback="error")(looked_up)
    for table, primes in [({1: 10}, [2]), ({1: 99}, [2, 3]), ({1: 0.5}, [2]), ({1: 1}, [0.5]), ({1: 1}, (4, 5))]:
        monkeypatch.setitem(globals(), "TABLE", table)
        monkeypatch.setitem(globals(), "PRIMES", primes)
        assert outcome(compiled, (1,)) == outcome(looked_up, (1,))
        table[1] += 1
        assert outcome(compiled, (1,)) == outcome(looked_up, (1,))


def test_the_same_list_outside_and_as_an_argument(monkeypatch):
    compiled = weft.jit(fallback="silent")(beside_an_argument)
    for function in (beside_an_argument, compiled, compiled):
        shared = [1, 2]
        monkeypatch.setitem(globals(), "PRIMES", shared)
        assert function(shared) == (50, 50)


def appended(n):
    PRIMES.append(n)
    return len(PRIMES)


def stored(n):
    PRIMES[0] = n
    return PRIMES[0]


@pytest.mark.parametrize("function", [appended, stored])
@pytest.mark.usefixtures("array_compiler_only")
def test_changes_of_globals_are_made_by_python(function, monkeypatch):
    with pytest.raises(weft.errors.WeftError):
        weft.jit(fallback="error")(function)(3)
    compiled = weft.jit(fallback="silent")(function)
    found = []
    for each in (compiled, function):
        monkeypatch.setitem(globals(), "PRIMES", [2, 3])
        found.append((each(7), each(8), list(PRIMES)))
    assert found[0] == found[1]


def test_closure_variables():
    table, scale = [1, 2, 3], {1: 2.0}

    def scaled(i):
        return table[i] * scale[1]

    compiled = weft.jit(fallback="error")(scaled)
    assert outcome(compiled, (1,)) == outcome(scaled, (1,))
    table.append(9)
    scale[1] = 0.5
    for i in (3, -1, 4):
        assert outcome(compiled, (i,)) == outcome(scaled, (i,))
