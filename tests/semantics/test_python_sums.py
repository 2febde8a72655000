"""Sums and orders of Python's floats: the bits, the signs of zeros and the ties that CPython has, in every mode."""

from __future__ import annotations

import heapq
import math
import random
from typing import Any

import numpy as np
import pytest

import weft
from tests.semantics.agreement import agree, alike
from weft.frontend import comprehensions


def loop_over_items(xs):
    s = 0.0
    for x in xs:
        s += x
    return s


def loop_over_places(xs):
    s = 1.5
    for i in range(len(xs)):
        s = s - xs[i] * 0.1
    return s


def product(xs):
    p = 1.0
    for x in xs:
        p *= 1.0 + x
    return p


def two_lists(xs):
    s = 0.0
    for x, y in zip(xs, xs[::-1]):
        s += x * y
    return s


def mean_and_variance(xs):
    m = sum(xs) / len(xs)
    return m, sum([(x - m) ** 2 for x in xs]) / len(xs)


def of_a_generator(xs):
    return sum(x * 0.3 for x in xs)


def of_a_dict(xs):
    d = {i: x for i, x in enumerate(xs)}
    s = 0.0
    for v in d.values():
        s += v
    return s


def series(xs):
    s = 0.0
    for i in range(1, len(xs) + 1):
        s += 1.0 / (i * i)
    return s


def into_cells(xs):
    cells = [0.0, 0.0, 0.0]
    for i in range(len(xs)):
        cells[i % 3] += xs[i]
    return cells


SUMS = [
    loop_over_items,
    loop_over_places,
    product,
    two_lists,
    mean_and_variance,
    of_a_generator,
    of_a_dict,
    series,
    into_cells,
]


@pytest.mark.parametrize("function", SUMS, ids=lambda f: f.__name__)
def test_sums_keep_the_order_of_the_source(function: Any) -> None:
    draw = random.Random(0)
    agree(function, [0.1] * 10)
    for size in (1, 7, 64, 1000, 20000):
        agree(function, [draw.uniform(-1, 1) * 10 ** draw.randint(-5, 5) for _ in range(size)])


def test_sums_over_arrays_may_still_be_vectors() -> None:
    def total(xs: np.ndarray) -> float:
        s = 0.0
        for x in xs:
            s += x
        return s

    run = weft.jit(total, fallback="error")
    assert abs(run(np.full(1000, 0.1)) - 100.0) < 1e-9
    assert "vector" in str(run.explain()).lower()


def compensated(xs: list[float]) -> float:
    """sum() of Python 3.12 and later."""
    total, rest = 0.0, 0.0
    for x in xs:
        new = total + x
        rest += (total - new) + x if abs(total) >= abs(x) else (x - new) + total
        total = new
    return total + rest if rest and math.isfinite(rest) else total


def test_compensated_sums(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comprehensions, "is_compensated", lambda: True)

    def total(xs: list[float]) -> float:
        return sum(xs)

    run = weft.jit(total, fallback="error", cache=False)
    draw = random.Random(1)
    cases = [[draw.uniform(-1, 1) * 10 ** draw.randint(-9, 9) for _ in range(size)] for size in (1, 2, 3, 500)]
    cases += [[0.1] * 10, [1e308, 1e308, -1e308], [math.inf, 1.0], [1e100, 1.0, -1e100], [-0.0, -0.0]]
    for xs in cases:
        assert alike(run(xs), compensated(xs)), xs


ZEROS = [[0.0, -0.0], [-0.0, 0.0], [1.0, -0.0, 0.0], [-1.0, 0.0, -0.0, 0.0], [-0.0], [0.0, -0.0, 2.0, -2.0]]


def extremes(xs):
    return min(xs), max(xs)


def descending(xs):
    return sorted(xs, reverse=True)


def ascending(xs):
    return sorted(xs)


def in_place(xs):
    xs.sort(reverse=True)
    return xs


def by_key(xs):
    return sorted(xs, key=abs, reverse=True), min(xs, key=abs), max(xs, key=abs)


def of_heaps(xs):
    return heapq.nlargest(2, xs), heapq.nsmallest(2, xs)


def from_a_zero(xs):
    return sum(xs, -0.0)


def of_a_set(xs):
    d = {x: 1 for x in xs}
    return len(set(xs)), list(d)


def two_of_them(xs):
    return max(xs[0], 0.0), min(xs[0], -0.0), max(-0.0, xs[0]), min(0.0, xs[0])


@pytest.mark.parametrize(
    "function",
    [extremes, descending, ascending, in_place, by_key, of_heaps, from_a_zero, of_a_set, two_of_them],
    ids=lambda f: f.__name__,
)
def test_zeros_of_both_signs(function: Any) -> None:
    for xs in ZEROS:
        agree(function, xs, native=False)
    agree(function, [3.0, *[0.0] * 5000, -0.0, *[-0.0] * 5000, 1.0], native=False)


def test_an_empty_sum_is_its_start() -> None:
    agree(from_a_zero, [1.0])
    agree(from_a_zero, [], native=False)


def test_extremes_of_arrays_by_pythons_functions() -> None:
    for xs in ZEROS:
        array = np.array(xs)
        found, wanted = weft.jit(extremes, fallback="error")(array), extremes(array)
        assert [math.copysign(1, v) for v in found] == [math.copysign(1, v) for v in wanted]
        assert found == wanted and [type(v) for v in found] == [type(v) for v in wanted]
