"""Objects of simple classes, dataclasses and named tuples as items of lists, deques and dicts."""

from __future__ import annotations

import heapq
import math
from collections import defaultdict, deque
from dataclasses import dataclass
from typing import NamedTuple

import pytest

import weft


@dataclass
class Particle:
    x: float
    y: float
    vx: float = 0.0
    vy: float = 0.0

    def step(self, dt):
        self.x += self.vx * dt
        self.y += self.vy * dt

    @property
    def square(self):
        return self.x**2 + self.y**2


@dataclass(frozen=True)
class Pair:
    a: int
    b: float


class Node:
    def __init__(self, key):
        self.key = key
        self.edges = []
        self.seen = False
        self.dist = 0.0


class Event(NamedTuple):
    time: float
    kind: int
    who: int


def moved(n):
    particles = [Particle(float(i), i * 0.5, 1.0, -0.5) for i in range(n)]
    for _ in range(4):
        for p in particles:
            p.step(0.1)
        for i in range(len(particles)):
            p = particles[i]
            if p.x > 3:
                p.vx = -p.vx
    return [p.x for p in particles], sum(p.square for p in particles), max(p.y for p in particles)


def pulled(n):
    particles = [Particle(i * 1.0, i * 0.5) for i in range(n)]
    for p in particles:
        for q in particles:
            if p is not q:
                p.vx += 1 / ((p.x - q.x) ** 2 + (p.y - q.y) ** 2)
    return particles


def searched(n):
    nodes = [Node(i) for i in range(n)]
    for i in range(n):
        nodes[i].edges.append((i + 1) % n)
        nodes[i].edges.append((i * 2) % n)
    waiting, count = [0], 0
    while waiting:
        u = nodes[waiting.pop()]
        if u.seen:
            continue
        u.seen = True
        count += 1
        for v in u.edges:
            if not nodes[v].seen:
                waiting.append(v)
    return count, [v.dist for v in nodes], [len(v.edges) for v in nodes]


def simulated(n):
    waiting = []
    for i in range(n):
        heapq.heappush(waiting, Event((i * 7 % 5) * 1.0, i % 2, i))
    done = []
    while waiting:
        event = heapq.heappop(waiting)
        done.append((event.time, event.who))
        if event.kind == 1 and event.time < 10:
            heapq.heappush(waiting, Event(event.time + 7.5, 0, event.who))
    return done


def two_names(n):
    p = Particle(1.0, 2.0)
    particles = [p]
    p.x = 5.0
    particles.append(Particle(float(n), 4.0))
    particles[0].y = 9.0
    q = particles[1]
    q.x += 7.0
    return p.x, p.y, particles[1].x, q is particles[1], p is q


def best_or_none(n):
    particles = [Particle(math.sin(i) * 3, float(i)) for i in range(n)]
    best = None
    for p in particles:
        if p.x > 0 and (best is None or p.x < best.x):
            best = p
    return -1.0 if best is None else best.y


def best_of_new_ones(n):
    best = Particle(1e9, 0.0)
    for i in range(n):
        other = Particle(math.cos(i), float(i))
        if other.x < best.x:
            best = other
    return best


def carried(n):
    particles = [Particle(float(i), 0.0) for i in range(n)]
    current, total = particles[0], 0.0
    for i in range(n):
        before = current
        current = particles[i]
        before.x += 1.0
        total += before.x * 10 + current.x
    first, second = particles[0], particles[-1]
    first, second = second, first
    return total, first.x, second.x


def carried_lists(n):
    rows = [[i] for i in range(n)]
    rows[0].append(3)
    current, total = rows[0], 0
    for i in range(n):
        before = current
        current = rows[i]
        before.append(i)
        total += len(before) * 10 + before[0]
    return total


def in_a_dict(n):
    held = {i: Particle(float(i), 1.0) for i in range(n)}
    for key in held:
        held[key].x *= 2
    for key, p in held.items():
        p.y += key
    return [p.x + p.y for p in held.values()]


def sorted_ones(n):
    particles = [Particle(float(n - i), 1.0) for i in range(n)]
    particles.sort(key=lambda p: p.x)
    falling = sorted(particles, key=lambda p: -p.x)
    return particles[0].x, falling[0].x, min(particles, key=lambda p: p.y - p.x).x


def frozen_ones(n):
    return sum(pair.a * pair.b for pair in [Pair(i, i * 0.5) for i in range(n)] if pair.a % 2)


def in_a_deque(n):
    waiting, total = deque([Particle(1.0, 2.0)]), 0.0
    waiting.append(Particle(2.0, 3.0))
    while waiting:
        p = waiting.popleft()
        total += p.x
        if p.x < n:
            waiting.append(Particle(p.x * 3, 0.0))
    return total


def in_groups(n):
    groups = defaultdict(list)
    for i in range(n):
        groups[i % 2].append(Particle(float(i), 0.0))
    return sum(p.x for key in groups for p in groups[key]), len(groups)


def parts_and_order(n):
    particles = [Particle(float(i), 0.0) for i in range(n)]
    total = 0.0
    for p in particles[1:3]:
        total += p.x
    for p in reversed(particles):
        total = total * 2 + p.x
    for p, q in zip(particles, particles[1:]):
        total += p.x * q.x
    particles.pop()
    particles[0], particles[1] = particles[1], particles[0]
    kept = [p for p in particles if p.x > 0]
    return total, particles[0].x, len(kept), particles


def one_of_them(n):
    particles = [Particle(float(i), 0.0) for i in range(n)]
    return particles[2], n


def same_one_twice(n):
    p = Particle(float(n), 0.0)
    particles = [Particle(1.0, 2.0)]
    particles.append(p)
    particles.append(Particle(1.0, 2.0))
    particles.append(p)
    return particles


def named_in_a_list(n):
    events = [Event(1.5, i, 2) for i in range(n)]
    total = 0.0
    for time, kind, who in events:
        total += time * kind + who
    return events, total, events[1].kind


def named_in_a_dict(n):
    held = {}
    for i in range(n):
        held[i] = Event(i * 0.5, i, 0)
    held[1] = held[0]._replace(kind=7) if n < 0 else held[2]
    return held, held[1].time, held.get(99)


ALL = [moved, pulled, searched, simulated, two_names, best_or_none, best_of_new_ones, carried, carried_lists, in_a_dict,
       sorted_ones, frozen_ones, in_a_deque, in_groups, parts_and_order, one_of_them, same_one_twice,
       named_in_a_list]  # fmt: skip


@pytest.mark.parametrize("function", ALL)
def test_as_python_does(function):
    native = weft.jit(function, fallback="error")
    for n in (6, 17, 40):
        assert repr(native(n)) == repr(function(n))


def test_each_object_is_made_once():
    _, first, _, third = weft.jit(same_one_twice, fallback="error")(4)
    assert first is third
    assert list(vars(first)) == list(vars(Particle(1.0, 2.0)))


@pytest.mark.parametrize("function", [named_in_a_dict])
def test_in_python_where_there_is_no_native_form(function):
    native = weft.jit(function, fallback="silent")
    assert repr(native(5)) == repr(function(5))


def past_the_end(n):
    particles = [Particle(1.0, 2.0)]
    particles.append(Particle(3.0, 4.0))
    return particles[n].x


def test_bad_places():
    native = weft.jit(past_the_end, fallback="error")
    assert native(-2) == 1.0
    for place in (2, -3):
        with pytest.raises(IndexError, match="list index out of range"):
            native(place)
