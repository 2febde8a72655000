"""What a loop carries along: values kept for each iteration, so that the rest of the loop leaves it; and loops whose
rest is too little to pay for that."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weft
from weft.ir.program import Loop, LoopKind, Stmt
from weft.ir.walk import walk
from weft.options import Options
from weft.pipeline import stages


def running_sum(a, b, c):
    s = 0.0
    for i in range(len(a)):
        x = np.exp(a[i]) * 0.5
        s += x
        b[i] = s
        c[i] = np.sqrt(s) + x
    return s, x


def filtered(a, b, c):
    s = c[0]
    for i in range(1, len(a)):
        s = 0.5 * s + np.sin(a[i]) * a[i - 1]
        b[i] = s
    return s


def largest_so_far(a, b, c):
    m = a[0]
    for i in range(len(a)):
        m = max(m, np.log(a[i] + 2.0))
        b[i] = m
        c[i] = np.cos(m)
    return m


def counted(a, b, c):
    n = 0
    for i in range(len(a)):
        n += int(a[i] * 8.0)
        b[i] = np.exp(n * 0.01) + np.sin(c[i])
    return n


SCANS = [running_sum, filtered, largest_so_far]


def plain_sum(a, b, c):
    s = 0.0
    for i in range(len(a)):
        s += a[i]
        b[i] = s
    return s


def read_before(a, b, c):
    s = 0.0
    for i in range(len(a)):
        b[i] = np.exp(-s)
        s += a[i]
    return s


def left_early(a, b, c):
    s = 0.0
    for i in range(len(a)):
        s += np.exp(a[i])
        b[i] = np.sin(s)
        if s > 4.0:
            break
    return s


def back_into_it(a, b, c):
    s = 0.0
    for i in range(1, len(a)):
        s += np.exp(b[i - 1])
        b[i] = np.sin(s)
    return s


def rows(a, b, c):
    s = 0.0
    for i in range(len(a)):
        for j in range(3):
            s += np.exp(a[i])
            b[i] = np.sin(s)
    return s


OTHERS = [counted, plain_sum, read_before, left_early, back_into_it, rows]


def arguments(n: int) -> tuple[Any, ...]:
    rng = np.random.default_rng(n)
    return rng.random(n), rng.random(n), rng.random(n)


def in_order(function: Callable[..., Any], **options: Any) -> list[int]:
    """The number of statements in each loop that runs in order."""
    lowered = stages(function, arguments(9), Options(**options))[-1][1]
    loops = [node for node in walk(lowered.body) if isinstance(node, Loop) and node.kind is LoopKind.SEQUENTIAL]
    return [sum(isinstance(node, Stmt) for node in loop.body) for loop in loops]


def vectors(function: Callable[..., Any]) -> int:
    lowered = stages(function, arguments(9))[-1][1]
    return sum(isinstance(node, Loop) and node.kind is LoopKind.VECTOR for node in walk(lowered.body))


@pytest.mark.parametrize("function", SCANS)
def test_only_the_recurrence_stays_in_order(function: Callable[..., Any]) -> None:
    assert in_order(function) == [2]
    assert vectors(function)


def test_also_in_strict_mode() -> None:
    assert in_order(running_sum, fp="strict") == [2]


@pytest.mark.parametrize("function", OTHERS)
def test_loops_that_stay_as_they_are(function: Callable[..., Any]) -> None:
    lowered = stages(function, arguments(9))[-1][1]
    assert not any("kept" in buffer.name or "made" in buffer.name for buffer in lowered.buffers)


@pytest.mark.parametrize("function", [*SCANS, *OTHERS])
def test_results(function: Callable[..., Any]) -> None:
    compiled = weft.jit(function)
    for n in (1, 2, 9, 5000):
        ours, theirs = arguments(n), arguments(n)
        expected = function(*theirs)
        np.testing.assert_allclose(compiled(*ours), expected, rtol=1e-13)
        for one, other in zip(ours, theirs):
            np.testing.assert_allclose(one, other, rtol=1e-13)


def test_an_empty_loop_leaves_the_variable() -> None:
    compiled = weft.jit(fallback="error")(filtered)
    one = (np.ones(1), np.zeros(1), np.full(1, 3.5))
    assert compiled(*one) == 3.5
    assert one[1][0] == 0.0
