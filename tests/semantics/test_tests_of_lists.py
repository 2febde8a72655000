"""Lists raise what CPython raises, and integers of any size stay exact, also where the work is done in vectors."""

from __future__ import annotations

import math
from collections import deque

import numpy as np
import pytest

import weft
from weft.ir.program import Check
from weft.ir.walk import walk
from weft.pipeline import stages


def deviations(data):
    n = len(data)
    m = len(data[0])
    mean = [0.0 for j in range(m)]
    found = [0.0 for j in range(m)]
    for j in range(m):
        for i in range(n):
            mean[j] += data[i][j]
        mean[j] /= n
    for j in range(m):
        for i in range(n):
            found[j] += (data[i][j] - mean[j]) * (data[i][j] - mean[j])
        found[j] = math.sqrt(found[j] / n)
    return found


def sums(data):
    n = len(data)
    found = [0.0 for j in range(n)]
    for j in range(n):
        for i in range(n):
            found[j] += data[i][j]
        found[j] = math.sqrt(found[j] / n)
    return found


def left_to_test(function, *arguments):
    return [node for node in walk(dict(stages(function, arguments))["checks"].body) if isinstance(node, Check)]


def test_an_array_of_squares_is_not_negative():
    data = np.random.default_rng(0).random((5, 4))
    assert not left_to_test(deviations, data.tolist())
    assert left_to_test(sums, data.tolist())
    compiled = weft.jit(fallback="error")(deviations)
    for values in (data, data * np.nan, np.full((3, 2), np.inf), np.zeros((1, 1))):
        np.testing.assert_allclose(compiled(values.tolist()), deviations(values.tolist()), rtol=1e-12)


def test_a_negative_sum_raises():
    compiled = weft.jit(fallback="error")(sums)
    np.testing.assert_allclose(compiled([[1.0, 4.0], [1.0, 4.0]]), [1.0, 2.0])
    with pytest.raises(ValueError, match="math domain error|expected a nonnegative input"):
        compiled([[1.0, -4.0], [1.0, 4.0 - 2**-40]])


def plus(a, b):
    for i in range(len(a)):
        a[i] = a[i] + b[i]


def minus(a, b):
    for i in range(len(a)):
        a[i] = a[i] - b[i]


def opposite(a, b):
    for i in range(len(a)):
        a[i] = -a[i]


def products(a, b):
    for i in range(len(a)):
        a[i] = a[i] * b[i] + b[i]


def best(a, b):
    most = a[0] + b[0]
    for i in range(len(a)):
        if a[i] + b[i] > most:
            most = a[i] + b[i]
    a[0] = most


def shortest(a, b):
    for k in range(len(a)):
        for i in range(len(a)):
            if a[k] + b[i] < b[i]:
                b[i] = a[k] + b[i]


LARGEST = 2**63 - 1


@pytest.mark.parametrize("function", [plus, minus, opposite, products, best, shortest])
@pytest.mark.parametrize("size", [1, 7, 40])
@pytest.mark.parametrize(
    ("one", "two"),
    [
        (1, 2),
        (LARGEST, 0),
        (LARGEST, 1),
        (-LARGEST, -1),
        (-LARGEST, -2),
        (-LARGEST - 1, 0),
        (-LARGEST - 1, 1),
        (-LARGEST - 1, -1),
        (0, -LARGEST - 1),
        (-1, -LARGEST - 1),
        (2**62, 2**62),
        (-(2**62), -(2**62)),
    ],
)
def test_integers_of_any_size(function, size, one, two):
    compiled = weft.jit(fallback="error")(function)
    for place in {0, size // 2, size - 1}:
        a = [3 * i - 5 for i in range(size)]
        b = [i % 4 - 1 for i in range(size)]
        a[place], b[place] = one, two
        ours, theirs = (a.copy(), b.copy()), (a.copy(), b.copy())
        compiled(*ours)
        function(*theirs)
        assert ours == theirs


def served(arrivals, places):
    waiting = deque()
    stack = []
    seen = set()
    log = []
    for k in range(len(arrivals)):
        waiting.append(arrivals[k])
        if len(waiting) > places and waiting and not seen:
            seen.add(waiting.popleft())
        if k % 3 == 0 or stack:
            stack.append(k)
        while waiting and (stack and seen):
            log.append(waiting.popleft() * 100 + stack.pop())
            if not stack and waiting:
                seen.clear()
    return log, len(waiting), len(stack)


def test_containers_among_conditions() -> None:
    compiled = weft.jit(fallback="error")(served)
    for arrivals in ([3, 1, 4, 1, 5, 9, 2, 6], [7], []):
        for places in (0, 2):
            assert compiled(arrivals, places) == served(arrivals, places)
