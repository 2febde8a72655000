"""Arrays that loops and branches carry, given to several names at once: all names show what one of them writes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft


def one_of_a_pair(c: Any, n: int) -> Any:
    for _ in range(n):
        c = c * 2
        a, _b = c, 1.0
        a[0] = 5
    return c


def chained(c: Any, n: int) -> Any:
    for _ in range(n):
        c = c * 2
        a = b = c
        a[0] = 5
        b[1] += 1
    return c


def twice(c: Any, n: int) -> Any:
    for _ in range(n):
        c = c * 2
        a, b = c, c
        a[0] = 5
        b[1] = 6
    return c


def exchanged(c: Any, n: int) -> Any:
    d = c.copy()
    for _ in range(n):
        d, c = c, d
        d[0] += 5
    return c, d


def exchanged_through_a_third(c: Any, n: int) -> Any:
    d = c.copy()
    for _ in range(n):
        d, e = c, d
        d[0] += 5
        c = e
    return c, d


def out_of_a_tuple(c: Any, n: int) -> Any:
    d = c * 1
    for i in range(n):
        d = d + 1
        x, _y = (d, i)
        x[1] = 4
    return d


def itself(c: Any, n: int) -> Any:
    for _ in range(n):
        c = _v = c
    c[1] = 1.0
    return c


def itself_in_a_branch(c: Any, n: int) -> Any:
    if n:
        c = _v = c
    c[1] = 1.0


def growing(a: Any, n: int) -> Any:
    b = a + 1
    for _ in range(n):
        a, b = b, a + b
    a[0] = -1
    return a, b


EXAMPLES = (
    one_of_a_pair, chained, twice, exchanged, exchanged_through_a_third, out_of_a_tuple, itself, itself_in_a_branch,
    growing,
)  # fmt: skip


def seen(function: Any, c: Any, n: int) -> Any:
    try:
        value = function(c, n)
    except ValueError as problem:
        return str(problem), c.tolist()
    parts = list(value) if isinstance(value, tuple) else [value]
    parts = [part for part in parts if part is not None]
    shared = [np.shares_memory(one, other) for one in (c, *parts) for other in parts]
    return [part.tolist() for part in parts], [part is c for part in parts], shared, c.tolist()


@pytest.mark.parametrize("backend", ["c", "python"])
@pytest.mark.parametrize("function", EXAMPLES, ids=lambda function: function.__name__)
def test_all_names_see_it(function: Any, backend: str) -> None:
    compiled = weft.jit(function, backend=backend, fallback="silent")
    for n in (2, 0, 1, 3):
        for make in (lambda: np.arange(3.0), lambda: np.broadcast_to(0.0, 3), lambda: np.arange(6)[::2]):
            assert seen(compiled, make(), n) == seen(function, make(), n), n


@pytest.mark.parametrize("function", [exchanged, chained], ids=lambda function: function.__name__)
def test_what_needs_no_copies_is_native(function: Any) -> None:
    compiled = weft.jit(function, backend="python", fallback="error")
    assert seen(compiled, np.arange(3.0), 2) == seen(function, np.arange(3.0), 2)
