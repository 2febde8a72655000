"""Objects of simple classes and dataclasses that a function makes: attributes, methods, operators, as CPython."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pytest

import weft
from tests.semantics.test_growing_lists import _same


@dataclass
class Pt:
    x: float
    y: float = 2.0

    def norm(self):
        return math.sqrt(self.x**2 + self.y**2)

    @property
    def s(self):
        return self.x + self.y


def shared(n):
    p = Pt(1.0)
    q = p
    for i in range(n):
        p.x += p.y
    return q.x, p.norm(), p.s


class Acc:
    scale = 2.0

    def __init__(self, start=0.0):
        self.t = start
        self.n = 0
        self.hist = np.zeros(10)
        self.items = []

    def add(self, v):
        self.t += v * self.scale
        self.hist[self.n] = self.t
        self.n += 1
        self.items.append(v)

    def mean(self):
        return self.t / self.n if self.n > 0 else 0.0


def accumulated(n):
    a = Acc()
    b = Acc(5.0)
    for i in range(n):
        a.add(i * 0.5)
        if i % 2:
            b.add(a.t)
    return a.t, b.t, a.mean(), b.n, a.hist, a.items


class V:
    def __init__(self, x, y):
        self.x = x
        self.y = y

    def __add__(self, o):
        return V(self.x + o.x, self.y + o.y)

    def __mul__(self, k):
        return V(self.x * k, self.y * k)

    def __rmul__(self, k):
        return self * k

    def dot(self, o):
        return self.x * o.x + self.y * o.y


def vectors(a):
    s = 0.0
    for i in range(len(a)):
        u = V(a[i], 1.0)
        w = 2.0 * (u + V(1.0, 2.0) * 3.0)
        s += w.dot(u)
    return s


class RNG:
    def __init__(self, seed):
        self.s = seed

    def next(self):
        self.s = (1103515245 * self.s + 12345) % 2147483648
        return self.s / 2147483648


def generator(n):
    r = RNG(42)
    c = 0
    for _ in range(n):
        x = r.next()
        y = r.next()
        if x * x + y * y < 1:
            c += 1
    return 4 * c / n


def returned(n):
    return Pt(float(n), 1.0)


@dataclass(frozen=True)
class Fixed:
    a: int
    b: float = 0.5


def frozen(n):
    f = Fixed(n)
    return f.a * f.b, f


def changed(n):
    f = Fixed(n)
    f.a = 3
    return f.a


def carried(n):
    p = V(0.0, 1.0)
    for i in range(n):
        p = p + V(1.0, float(i))
    return p.x, p.y


class Scaler:
    def __init__(self, times=1.0):
        self.times = times

    def fit(self, x):
        self.mean = x.mean(axis=0)
        self.count = len(x)
        return self

    def transform(self, x):
        return (x - self.mean) * self.times


def fitted(x):
    scaler = Scaler(2.0).fit(x)
    return scaler.transform(x), scaler.mean, scaler.count


def fitted_in_a_loop(x):
    total = 0.0
    for i in range(3):
        scaler = Scaler(i)
        scaler.fit(x + i)
        total += scaler.mean[0] * scaler.count
    return total


def fitted_on_some_paths(x):
    scaler = Scaler()
    if x[0, 0] > 0:
        scaler.fit(x)
    return scaler.count if x[0, 0] > 0 else -1


def fitted_until_an_error(x):
    scaler, n = Scaler(), len(x)
    try:
        scaler.first = 1
        scaler.second = 1 // (n - n)
        scaler.third = 3
    except ZeroDivisionError:
        scaler.second = -1
    return scaler.first, scaler.second, hasattr(scaler, "third")


def set_by_some_iterations(x):
    scaler = Scaler()
    for i in range(len(x)):
        scaler.last = x[i, 0]
    return scaler.last


MATRIX = np.arange(12.0).reshape(4, 3)


@pytest.mark.parametrize(
    ("function", "argument"),
    [
        (fitted, MATRIX**1.5),
        (fitted, np.ones((2, 2))),
        (fitted_in_a_loop, MATRIX),
        (shared, 4),
        (accumulated, 5),
        (vectors, np.random.default_rng(0).random(6)),
        (generator, 1000),
        (returned, 3),
        (frozen, 3),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_the_same_as_cpython(function, argument):
    _same(weft.jit(fallback="error")(function)(argument), function(argument))


def test_a_frozen_object_does_not_change():
    with pytest.raises(AttributeError):
        weft.jit(fallback="silent")(changed)(2)


def test_an_object_that_a_loop_replaces_is_left_to_python():
    assert weft.jit(fallback="silent")(carried)(5) == carried(5)


@pytest.mark.parametrize("function", [fitted_on_some_paths, fitted_until_an_error, set_by_some_iterations])
@pytest.mark.parametrize("argument", [MATRIX, MATRIX + 1.0])
def test_attributes_that_only_some_paths_set(function, argument):
    assert weft.jit(fallback="silent")(function)(argument) == function(argument)


def test_no_iteration_sets_an_attribute():
    with pytest.raises(AttributeError):
        weft.jit(fallback="silent")(set_by_some_iterations)(MATRIX[:0])
