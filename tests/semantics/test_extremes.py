"""The best so far and where it was: argmin and argmax of long arrays, and loops that keep an extreme by comparison."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weft
from tests.support import same_as_plain

SIZES = (1, 2, 5, 64, 4095, 4097, 9000)
DTYPES = ("float64", "float32", "int64", "int32", "uint8", "bool")


def argmin(x):
    return np.argmin(x)


def argmax(x):
    return x.argmax()


def both_of_a_shifted(x):
    return np.argmin(x[1:]), int(np.argmax(x[::2]))


def smallest(x):
    best = x[0]
    k = 0
    for i in range(1, len(x)):
        if x[i] < best:
            best = x[i]
            k = i
    return best, k


def largest_below(x, limit):
    best = -1.0
    k = -1
    for i in range(len(x)):
        if x[i] < limit and x[i] > best:
            best = float(x[i])
            k = i
    return best, k


def mirrored(x):
    best = x[0]
    k = 0
    for i in range(len(x)):
        if best > x[i]:
            k = i
            best = x[i]
    return k


def downwards(x):
    best = x[len(x) - 1]
    k = len(x) - 1
    for i in range(len(x) - 2, -1, -1):
        if x[i] > best:
            best = x[i]
            k = i
    return best, k


def nearest(x, y):
    best = 1e300
    k = -1
    at = 0.0
    for i in range(len(x)):
        d = (x[i] - y[i]) ** 2
        if d < best:
            best = d
            k = i
            at = y[i]
    return best, k, at


def of_a_matrix(a):
    best = a[0, 0]
    row = 0
    column = 0
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            if a[i, j] > best:
                best = a[i, j]
                row = i
                column = j
    return best, row, column


def of_rows(a):
    out = np.zeros(a.shape[0], np.int64)
    for i in range(a.shape[0]):
        best = a[i, 0]
        k = 0
        for j in range(1, a.shape[1]):
            if a[i, j] < best:
                best = a[i, j]
                k = j
        out[i] = k
    return out


def last_of_equals(x):
    best = x[0]
    k = 0
    for i in range(1, len(x)):
        if x[i] <= best:
            best = x[i]
            k = i
    return best, k


def used_meanwhile(x):
    best = x[0]
    k = 0
    total = 0
    for i in range(1, len(x)):
        if x[i] < best:
            best = x[i]
            k = i
        total += k
    return best, total


def of_the_updated(x):
    best = x[0]
    k = 0
    for i in range(1, len(x)):
        x[i] = x[i] + x[i - 1]
        if x[i] < best:
            best = x[i]
            k = i
    return best, k


def last_of_the_largest_guarded(x):
    best = x[0]
    k = -1
    for i in range(len(x)):
        if x[i] < 15 and best <= x[i]:
            best = x[i]
            k = i
    return best, k


def both_ends(x):
    low = high = x[0]
    first = last = 0
    for i in range(1, len(x)):
        if x[i] < low:
            low = x[i]
            first = i
        if x[i] >= high:
            high = x[i]
            last = i
    return low, first, high, last


def flags(x):
    seen = False
    positive = True
    for i in range(len(x)):
        if x[i] > 20:
            seen = True
        if not x[i] > 0:
            positive = False
    return seen, positive, x[0]


def last_set(x):
    value = x[0]
    place = -1
    for i in range(len(x)):
        if x[i] > 10:
            place = i
            value = x[i] + x[0]
        elif x[i] == 3:
            place = -i
    return value, place


def last_set_downwards(x):
    place = count = 0
    for i in range(len(x) - 1, 0, -1):
        if x[i] > x[i - 1]:
            place = i
            count += 1
    return place, count, x[0]


def last_set_of_a_matrix(a):
    value = a[0, 0]
    row = column = -1
    for i in range(a.shape[0]):
        for j in range(i, a.shape[1]):
            if a[i, j] > 0:
                value = a[i, j]
                row = i
                column = j
    return value, row, column


def place_only(x):
    k = 0
    for i in range(1, len(x)):
        if x[i] > x[k]:
            k = i
    return k, x[0]


def last_place_only(x):
    k = 0
    for i in range(len(x)):
        if x[k] >= x[i] and x[i] > -10:
            k = i
    return k, x[0]


def place_from_the_end(x):
    k = -1
    for i in range(len(x)):
        if x[i] < x[k]:
            k = i
    return k, x[0]


def place_beyond(x):
    k = 3
    for i in range(len(x) - 1):
        if x[i] < x[k]:
            k = i + 1
    return k, x[0]


def sorted_by_selection(x):
    out = x.copy()
    for i in range(len(x) - 1):
        m = i
        for j in range(i + 1, len(x)):
            if out[j] < out[m]:
                m = j
        kept = out[i]
        out[i] = out[m]
        out[m] = kept
    return out, x[0]


def pivots(a):
    out = np.zeros(a.shape[0], np.int64)
    for k in range(a.shape[0]):
        p = k
        for i in range(k + 1, a.shape[0]):
            if abs(a[i, 0] - k) > abs(a[p, 0] - k):
                p = i
        out[k] = p
    return out


PLACES = [place_only, last_place_only]
LAST = [last_of_equals, last_of_the_largest_guarded, both_ends, flags, last_set, last_set_downwards]
VECTORS: list[Callable[..., Any]] = [argmin, argmax, both_of_a_shifted, smallest, mirrored, downwards, *LAST, *PLACES]
ODD_PLACES: list[Callable[..., Any]] = [place_from_the_end, place_beyond, sorted_by_selection]


def data(size: int, dtype: str = "float64", distinct: int = 50) -> np.ndarray:
    numbers = np.random.default_rng(size).integers(0, distinct, size)
    return (numbers - 20 if dtype[0] in "if" else numbers).astype(dtype)


@pytest.mark.parametrize("function", VECTORS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("dtype", DTYPES)
def test_vectors(function, dtype: str) -> None:
    compiled = weft.jit(fallback="error")(function)
    for size in SIZES:
        if not (function is both_of_a_shifted and size == 1):
            same_as_plain(compiled, function, lambda size=size: (data(size, dtype),), calls=1)


@pytest.mark.parametrize("function", [*VECTORS, used_meanwhile, of_the_updated], ids=lambda f: f.__name__)
def test_special_values(function) -> None:
    compiled = weft.jit(fallback="error")(function)
    for first in (1.0, np.nan, np.inf, -np.inf, -0.0):
        for second in (1.0, np.nan, np.inf, -np.inf, 0.0):
            for rest in (np.nan, np.inf, 0.0, -0.0, -np.inf):

                def make(values=(first, second, rest)) -> tuple[Any, ...]:
                    x = np.full(4200, values[2])
                    x[:3] = values[0], values[1], values[1]
                    x[4150] = values[0]
                    return (x,)

                same_as_plain(compiled, function, make, calls=1)


@pytest.mark.parametrize("function", VECTORS, ids=lambda f: f.__name__)
def test_empty_arrays_raise(function) -> None:
    same_as_plain(weft.jit(fallback="error")(function), function, lambda: (np.zeros(0),), calls=1)


def test_conditions_and_other_scalars() -> None:
    compiled = weft.jit(fallback="error")(largest_below)
    for limit in (100.0, 3.0, -50.0, np.nan):
        for size in (0, 1, 300):
            same_as_plain(compiled, largest_below, lambda s=size, li=limit: (data(s), li), calls=1)
    compiled = weft.jit(fallback="error")(nearest)
    for size in (1, 7, 5000):
        same_as_plain(compiled, nearest, lambda s=size: (data(s), data(s)[::-1].copy()), calls=1)


@pytest.mark.parametrize("function", ODD_PLACES, ids=lambda f: f.__name__)
@pytest.mark.parametrize("dtype", ["float64", "int32"])
def test_places_that_are_odd(function, dtype: str) -> None:
    compiled = weft.jit(fallback="error")(function)
    for size in (1, 2, 3, 4, 5, 60, 300):
        same_as_plain(compiled, function, lambda size=size: (data(size, dtype),), calls=1)


MATRICES = [of_a_matrix, of_rows, last_set_of_a_matrix, pivots]


@pytest.mark.parametrize("function", [*MATRICES, argmin, argmax], ids=lambda f: f.__name__)
@pytest.mark.parametrize("shape", [(1, 1), (3, 4), (1, 5000), (5000, 1), (70, 90)])
def test_matrices(function, shape: tuple[int, int]) -> None:
    compiled = weft.jit(fallback="error")(function)
    for order in "CF":

        def make(order: str = order) -> tuple[Any, ...]:
            a = data(shape[0] * shape[1], distinct=100_000).reshape(shape)
            return (np.asarray(a, order=order),)

        same_as_plain(compiled, function, make, calls=1)


REDUCED = [smallest, mirrored, downwards, *MATRICES, *LAST, *PLACES]


@pytest.mark.parametrize("function", REDUCED, ids=lambda f: f.__name__)
def test_these_loops_become_reductions(function) -> None:
    from weft.ir.expr import Reduce
    from weft.ir.program import Loop
    from weft.ir.walk import node_exprs, subexpressions, walk
    from weft.pipeline import stages

    argument = np.ones((4, 5)) if function in MATRICES else np.ones(7)
    optimised = dict(stages(function, (argument,)))["tidy"]
    nodes = list(walk(optimised.body))
    assert not any(isinstance(node, Loop) for node in nodes)
    parts = [part for node in nodes for expr in node_exprs(node) for part in subexpressions(expr)]
    assert any(isinstance(part, Reduce) for part in parts)
