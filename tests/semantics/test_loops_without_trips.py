"""A variable that only a loop sets: what Python makes of it behind a loop without a trip."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft


def asked_first(x: Any) -> Any:
    n = int(x[0])
    for i in range(n):
        v = i * 2.0
    if n > 0:
        return v
    return -1.0


def asked_in_an_expression(x: Any) -> Any:
    n = int(x[0])
    for i in range(n):
        v = i * 2.0
    return v if n > 0 else 7


def in_a_loop(x: Any) -> Any:
    t = 0.0
    for j in range(x.size):
        n = int(x[j])
        x[j] += 1
        for i in range(n):
            last = i
        if n > 0:
            t += last
    return t


def handled(x: Any) -> Any:
    for _ in range(int(x[0])):
        y = 1
    try:
        return y
    except UnboundLocalError as problem:
        return str(problem)


def stays_a_float(x: Any) -> Any:
    i = 0.5
    for i in range(int(x[0])):
        x[i] += 1
    return i


def stays_none(x: Any) -> Any:
    i = None
    for i in range(int(x[0])):
        x[i] += 1
    return -1 if i is None else i


def stays_what_it_was(x: Any) -> Any:
    i = None
    for n in x:
        for i in range(int(n)):
            x[0] += 0.25
    return i


def counter_asked_for(x: Any) -> Any:
    for i in range(int(x[0])):
        x[i] += 1
    if x[0] > 0:
        return i
    return -1


def set_by_else(x: Any) -> Any:
    for j in range(int(x[0])):
        x[j] += 1
    else:
        j = 7
    return j


def an_array(x: Any) -> Any:
    n = int(x[0])
    for j in range(n):
        y = x * j
    if n:
        x += y
    return x


def helper(n: int, x: Any) -> Any:
    for j in range(n):
        q = x[j] + 1
    if n > 1:
        return q
    return 0.5


def in_a_helper(x: Any) -> Any:
    t = 0.0
    for _ in range(3):
        t += helper(int(x[0]), x)
        x[0] += 1
    return t


def certainly_read(x: Any) -> Any:
    x[0] += 1
    for j in range(int(x[0]) - 1):
        y = x[j]
    return y


def written_in_between(x: Any) -> Any:
    for j in range(int(x[0])):
        y = x[j]
    x[0] = 9
    return y


def named_in_a_test(x: Any) -> Any:
    for v in x[3:]:
        if (n := int(v)) > 1 and n < 4:
            x[0] = 3
        n += 1
    return x


def named_in_a_constant_loop(x: Any) -> Any:
    for i in [0.25] * 0:
        if v := i:
            pass
        v += v
    return x


EXAMPLES = (
    asked_first, asked_in_an_expression, in_a_loop, handled, stays_a_float, stays_none, stays_what_it_was,
    counter_asked_for, set_by_else, an_array, in_a_helper, certainly_read, written_in_between, named_in_a_test,
    named_in_a_constant_loop,
)  # fmt: skip
VALUES = ((3.0, 2.0, 1.0), (0.0, 0.0, 2.0), (1.5, 0.0, -1.0), (0.0, 0.0), (), (1.0,))


def outcome(function: Any, given: tuple[float, ...]) -> Any:
    x = np.array(given)
    try:
        value = function(x)
        made: Any = (type(value), np.asarray(value).tolist())
    except Exception as problem:
        made = (type(problem), str(problem))
    return made, x.tolist()


@pytest.mark.parametrize(("backend", "first"), [("python", 0), ("python", 1), ("python", 2), ("c", 1)])
@pytest.mark.parametrize("function", EXAMPLES, ids=lambda function: function.__name__)
def test_what_python_makes_of_it(function: Any, backend: str, first: int) -> None:
    compiled = weft.jit(function, backend=backend, fallback="silent")
    for given in VALUES[first:] + VALUES[:first]:
        assert outcome(compiled, given) == outcome(function, given), given


@pytest.mark.parametrize("function", (asked_first, in_a_loop, stays_none, counter_asked_for, an_array))
def test_is_native(function: Any) -> None:
    compiled = weft.jit(function, fallback="error", backend="python")
    compiled(np.array([3.0, 2.0, 1.0]))
    compiled(np.array([0.0, 0.0, 2.0]))
    assert compiled.stats["misses"] == 1
