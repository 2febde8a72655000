"""A loop over a tuple or list display: its items are computed before the first trip, whatever trips write."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft
from tests.support import differential


def elements(a: Any) -> Any:
    s = 0.0
    for v in (a[0], a[1]):
        a[1] += 5
        s += v
    return s


def computed_arrays(a: Any) -> Any:
    s = 0.0
    for v in [a + 1, a * 2]:
        a[0] += 9
        s += v.sum()
    return s


def numbered(a: Any) -> Any:
    for i, v in enumerate((a[0], a[1], a[2])):
        a[2 - i] = v
    return a


def pairs(a: Any) -> Any:
    for u, v in zip((a[0], a[1], a[2]), [a[2], a[1], a[0]]):
        a[0] = v
        a[2] = u + a[1]
    return a


def called(a: Any) -> Any:
    def g(x: Any) -> Any:
        a[0] += 9
        return x

    return [g(v) for v in (a[0], a[0])], sum(g(v) for v in [a[0], a[0]]), list(map(g, [a[0], a[0]]))


def called_with_arrays(a: Any) -> Any:
    def g(x: Any) -> Any:
        a[0] += 9
        return x

    return [g(v).sum() for v in (a + 1, a * 2)]


def outer_name(a: Any) -> Any:
    c = int(a[1])

    def g(p: int) -> int:
        nonlocal c
        c += 3
        return p

    made = [g(q) for q in [c, 7, c]]
    for q in [c, 7, c]:
        made.append(g(q))
    return made, sum(g(q) for q in (c, c)), list(map(g, [c, c])), c


def left_early(a: Any) -> Any:
    s = 0.0
    for v in (a[0], a[1], a[2]):
        a[2] = 100.0
        if v > 50:
            break
        s += v
    else:
        s = -s
    return s


def rest_of_a_tuple(a: Any) -> Any:
    x, *y = a[0], a[1], a[2]
    p, (q, r) = a[1], (a[2], a[0])
    a[:] = 0
    return x, y, p, q, r


def kept_generator(a: Any) -> Any:
    g = (v + a[0] for v in (a[0], a[1]))
    a[1] = 9
    return list(g)


PROGRAMS = [
    elements,
    computed_arrays,
    numbered,
    pairs,
    called,
    called_with_arrays,
    outer_name,
    left_early,
    rest_of_a_tuple,
    kept_generator,
]


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
def test_items_are_computed_before_the_first_trip(function: Any) -> None:
    differential(function, lambda: (np.array([1.0, 2.0, 3.0]),))


def rebound(k: int, e: dict[tuple[int, int], float]) -> int:
    n = 0
    for _ in range(k):
        for _key in e:
            n += 1
            e = {(2, n): 1.0}
    return n


def grown(k: int, e: dict[tuple[int, int], float]) -> int:
    n = 0
    for _ in range(k):
        for _key, value in e.items():
            n += int(value)
            e = {(2, i): value for i in range(k)}
    return n


@pytest.mark.parametrize("backend", ["auto", "python"])
@pytest.mark.parametrize("function", [rebound, grown], ids=lambda f: f.__name__)
def test_a_loop_goes_on_through_the_dict_that_its_name_had(function: Any, backend: str) -> None:
    compiled = weft.jit(function, backend=backend, fallback="silent")
    for k in (2, 3):
        given = {(-3, 4): 1.0, (-1, 7): 2.0}
        assert compiled(k, given) == function(k, dict(given))
