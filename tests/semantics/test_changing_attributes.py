"""Attributes of objects made in a function that get another array, a number after None, or None again."""

from __future__ import annotations

import numpy as np
import pytest

from tests.semantics.wide import needs_compiler, same_by_python, same_natively

pytestmark = needs_compiler


def vector(n=5):
    return np.arange(float(n)) + 0.5


class Simulation:
    def __init__(self, u):
        self.u = u.copy()
        self.t = 0.0
        self.frames = []
        self.before = None

    def step(self, dt):
        self.before = self.u
        self.u = self.u + dt * (1 - self.u)
        self.t += dt
        self.frames.append(self.u.copy())


def simulated(u, n):
    run = Simulation(u)
    for _ in range(n):
        run.step(0.25)
    if run.before is None:
        return np.zeros(1), run.t, run.u
    return np.array(run.frames), run.t, run.u, run.before


class Best:
    def __init__(self):
        self.x = None
        self.f = None
        self.seen = 0

    def see(self, x, f):
        self.seen += 1
        if self.f is None or f < self.f:
            self.f = f
            self.x = x.copy()


def best_of(rows):
    best = Best()
    for i in range(rows.shape[0]):
        best.see(rows[i], float(rows[i].sum()))
    if best.x is None:
        return best.seen
    return best.x, best.seen, best.f


class State:
    def __init__(self, u):
        self.u = u

    def step(self):
        self.u = self.u * 2


def names_of_before(u, n):
    state = State(u.copy())
    x = state.u
    state.step()
    y = state.u
    y[0] = 7
    change = 0.0
    for _ in range(n):
        old = state.u
        state.step()
        change += np.abs(state.u - old).max()
    return x, state.u.sum(), change


def two_objects(u, n):
    one, other = State(u.copy()), State(u * 3)
    for _ in range(n):
        one.step()
        other.u = one.u + other.u
        one.u[0] = 1
    return one.u, other.u


class Growing:
    def __init__(self):
        self.x = np.zeros(0)

    def add(self, value):
        self.x = np.append(self.x, value)


def grown(u):
    made = Growing()
    for value in u:
        made.add(value)
    return made.x, len(made.x)


class Last:
    def __init__(self):
        self.value = None


def numbers_and_none(xs):
    last = Last()
    resets = 0
    for x in xs:
        if x < 0:
            last.value = None
            resets += 1
        else:
            last.value = x
    return last.value, resets


@pytest.mark.parametrize(
    ("function", "calls"),
    [
        (simulated, [(vector(), 3), (vector(), 0)]),
        (best_of, [(np.array([[3.0, 1.0], [1.0, 1.0], [2.0, 5.0]]),), (np.zeros((0, 2)),)]),
        (names_of_before, [(vector(), 3), (vector(), 0)]),
        (two_objects, [(vector(), 3), (vector(), 0)]),
        (grown, [(vector(),), (vector(0),)]),
        (numbers_and_none, [([1.5, -1.0, 2.5],), ([1.5, -1.0],), ([],)]),
    ],
)
def test_attributes(function, calls):
    same_natively(function, *calls)


def shared_between_two(u, n):
    one, other = State(u.copy()), State(u * 3)
    for _ in range(n):
        other.u = one.u
        other.u[0] += 1
    return one.u.sum()


def kept_from_before_a_loop(u, n):
    state = State(u.copy())
    x = state.u
    for _ in range(n):
        state.step()
    return x.sum(), state.u


@pytest.mark.usefixtures("array_compiler_only")
@pytest.mark.parametrize("function", [shared_between_two, kept_from_before_a_loop])
def test_what_could_be_told_apart_is_left_to_python(function):
    same_by_python(function, (vector(), 3))
