"""Variables that count the iterations of a loop, lists that grow by one item an iteration among them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weft
from tests.support import same_as_plain


def appended(x):
    out = []
    for i in range(len(x)):
        out.append(math.exp(x[i]))
    return out


def appended_to_some(x):
    out = [1.0, 2.0]
    for v in x:
        out.append(v * 2.0)
    out.append(-1.0)
    return out


def two_lists(x):
    a = []
    b = []
    for i in range(len(x)):
        a.append(x[i])
        b.append(math.sqrt(x[i]))
        a.append(0.0)
    return a, b


def nested(x):
    out = []
    for i in range(3):
        for j in range(len(x)):
            out.append(x[j] + i)
    return out


def only_some(x):
    out = []
    for v in x:
        if v > 1.0:
            out.append(v)
    return out


def reads_its_own(x):
    out = [0.0]
    for i in range(len(x)):
        out.append(out[i] + x[i])
    return out


def left_early(x):
    out = []
    for v in x:
        if v > 1.9:
            break
        out.append(math.log(v))
    return out


def counts_up(x):
    out = np.zeros(2 * len(x) + 3)
    k = 3
    for i in range(len(x)):
        out[k] = x[i]
        k += 2
    return out, k


def counts_down(x):
    out = np.zeros(len(x))
    k = len(x) - 1
    for i in range(len(x)):
        out[k] = x[i]
        k -= 1
    return out, k


def reads_after_the_step(x):
    total = 0.0
    k = -1
    for i in range(len(x) - 1, -1, -1):
        k += 1
        total += x[k] * i
    return total, k


def out_of_bounds(x):
    k = 0
    total = 0.0
    for i in range(len(x)):
        total += x[k]
        k += 2
    return total


def flattened(x):
    out = np.zeros(4 * len(x))
    k = 0
    for i in range(4):
        for j in range(len(x)):
            out[k] = x[j] * i
            k += 1
    return out


FUNCTIONS: list[Callable[..., Any]] = [
    appended,
    appended_to_some,
    two_lists,
    nested,
    only_some,
    reads_its_own,
    left_early,
    counts_up,
    counts_down,
    reads_after_the_step,
    out_of_bounds,
    flattened,
]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("as_list", [True, False], ids=["list", "array"])
def test_counters(function, as_list: bool) -> None:
    # A list of Python's and NumPy's floats is no native one.
    mixed = not as_list and function in (appended_to_some, two_lists, reads_its_own)
    compiled = weft.jit(fallback="silent" if mixed else "error")(function)
    for size in (5, 0, 1, 16, 17, 100):

        def make(size: int = size) -> tuple[Any, ...]:
            x = np.random.default_rng(size).uniform(0.5, 2.0, size)
            return (x.tolist() if as_list else x,)

        same_as_plain(compiled, function, make, 1e-13, calls=1)


@pytest.mark.parametrize("place", [0, 20, 39])
def test_an_exception_on_the_way(place: int) -> None:
    def make() -> tuple[Any, ...]:
        x = np.random.default_rng(1).uniform(0.5, 2.0, 40)
        x[place] = -1.0
        return (x.tolist(),)

    for function in (two_lists, left_early):
        same_as_plain(weft.jit(fallback="error")(function), function, make, 1e-13, calls=2)


@pytest.mark.parametrize("function", [appended, appended_to_some, counts_up, counts_down], ids=lambda f: f.__name__)
def test_these_loops_become_statements(function) -> None:
    from weft.ir.program import Loop
    from weft.ir.walk import walk
    from weft.pipeline import stages

    optimised = dict(stages(function, ([1.0] * 20,)))["tidy"]
    assert not any(isinstance(node, Loop) for node in walk(optimised.body))
