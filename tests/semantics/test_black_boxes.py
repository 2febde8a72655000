"""Statements that have no native form, in the middle of those that have: random numbers, fits, special functions.  The
results are those of Python, and what stands around them is compiled.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from copy import deepcopy
from typing import Any

import numpy as np
import pytest

import weft
from tests.support import compare, difference, outcome

X = np.linspace(0.1, 2, 30)


def drawn_points(n):
    rng = np.random.default_rng(42)
    x = rng.random(n)
    y = rng.random(n)
    inside = 0
    for i in range(n):
        if x[i] * x[i] + y[i] * y[i] < 1.0:
            inside += 1
    return 4.0 * inside / n


def drawn_in_a_loop(n, m):
    rng = np.random.default_rng(1)
    total = 0.0
    for k in range(m):
        x = rng.normal(size=n)
        s = 0.0
        for i in range(n):
            s += x[i] * x[i] * 0.5 + k
        total += s
    return total


def drawn_from_the_module(n):
    np.random.seed(0)
    a = np.random.rand(n, n)
    b = a @ a.T + np.eye(n)
    return b.sum(axis=0)


def shuffled(n):
    a = np.arange(n) * 2
    rng = np.random.default_rng(0)
    rng.shuffle(a)
    s = 0
    for i in range(n):
        s += a[i] * i
    return s


def chosen(x, k):
    rng = np.random.default_rng(0)
    places = rng.choice(len(x), k, replace=False)
    part = x[places]
    return part.mean() + (part * part).sum() + np.sqrt(abs(part)).sum()


def fitted(x, y):
    z = x * 2 + 1
    for i in range(len(z)):
        z[i] = z[i] + i
    p = np.polyfit(z, y, 2)
    r = 0.0
    for i in range(len(z)):
        r += (p[0] * z[i] ** 2 + p[1] * z[i] + p[2] - y[i]) ** 2
    return r


def special_in_the_middle(x):
    a = np.exp(-x * x) + np.sin(x) * 2 + np.cos(x)
    b = np.i0(a)
    return (b * b + a).sum() / np.sqrt(len(x)) * 2


def special_in_a_loop(x, n):
    t = x.copy()
    for _ in range(n):
        t = t * 0.5 + np.sin(t) - np.cos(t) * 2
        t = np.i0(t)
        t = t * 2 + 1 - x * x * 0.1
    return t.sum()


CASES: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (drawn_points, (500,)),
    (drawn_in_a_loop, (50, 5)),
    (drawn_from_the_module, (6,)),
    (shuffled, (50,)),
    (chosen, (X, 7)),
    (fitted, (X, X**2)),
    (special_in_the_middle, (X,)),
    (special_in_a_loop, (X, 5)),
]


@pytest.mark.parametrize(("function", "arguments"), CASES, ids=[case[0].__name__ for case in CASES])
def test_native_around_a_black_box(function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    expected = function(*arguments)
    compiled = weft.jit(function)
    for _ in range(3):
        assert difference(compiled(*arguments), expected, 1e-12) is None
    text = str(compiled.explain())
    assert "left to Python" in text
    assert "native code" in text or "Python back end" in text  # the latter on a machine without a compiler


# --- output: in order, and once ------------------------------------------------------------------------------------


def printed_between(a):
    s = 0.0
    for i in range(len(a)):
        s += a[i] * 2
    print("sum", s)
    t = np.zeros(5)
    for i in range(5):
        t[i] = s * i
    print(f"t {t[2]:.2f}", end="|")
    return t


def printed_in_a_loop(a):
    s = 0.0
    for k in range(3):
        for i in range(len(a)):
            s += a[i] * 2
        print(f"{k}: {s}")
        LOG.warning("at %d of %s", k, s)
    return s


def printed_if_asked(a, verbose):
    s = 0.0
    for i in range(len(a)):
        s += a[i] * 2
        if verbose:
            print(i, s)
    return s


def printed_before_an_exception(a, n):
    a[0] = 9.0
    print("before", n)
    s = 0.0
    for i in range(n):
        s += a[i] * a[i]
    return s


def printed_by_a_handler(n):
    try:
        x = 10 // n
    except ZeroDivisionError as error:
        print(f"failed: {error}")
        x = -1
    s = 0
    for i in range(10):
        s += i * x
    return s


def printed_in_a_try(a, n):
    t = 0.0
    k = 0
    try:
        for i in range(n):
            t += a[i] * 2
            k = i
            a[i] = t
        print("done", t)
        for i in range(3):
            t += a[i] * 3
            k += 10
    except IndexError:
        for i in range(4):
            t += a[i] + k
        print("failed", t, k)
    return t, k


def printed_past_finally(a, n):
    k = 0
    s = 0.0
    try:
        print("start")
        for i in range(n):
            s += a[i]
            k += 1
    finally:
        a[0] = k
        print("end", k)
    return s


def printed_by_a_generator(a, n):
    def steps(n):
        for i in range(n):
            print("step", i)
            yield i

    s = 0.0
    for i in steps(n):
        s += a[i]
    return s


LOG = logging.getLogger("weft.tests.black_boxes")
WHOLE = np.arange(8.0)  # sums of these are exact in any order
SPEAKING: list[tuple[Callable[..., Any], list[tuple[Any, ...]]]] = [
    (printed_between, [(WHOLE,), (WHOLE[::2],)]),
    (printed_in_a_loop, [(WHOLE,)]),
    (printed_if_asked, [(WHOLE[:4], False), (WHOLE[:4], True)]),
    (printed_before_an_exception, [(WHOLE.copy(), 3), (WHOLE.copy(), 99)]),
    (printed_by_a_handler, [(3,), (0,)]),
    (printed_in_a_try, [(WHOLE.copy(), 3), (WHOLE.copy(), 99)]),
    (printed_past_finally, [(WHOLE.copy(), 3), (WHOLE.copy(), 99)]),
    (printed_by_a_generator, [(WHOLE, 3), (WHOLE, 99)]),
]


@pytest.mark.parametrize(("function", "calls"), SPEAKING, ids=[case[0].__name__ for case in SPEAKING])
def test_output_is_pythons(function: Callable[..., Any], calls: list[Any], capsys: Any, caplog: Any) -> None:
    compiled = weft.jit(fallback="silent")(function)
    for arguments in calls:
        said = []
        for each in (function, compiled):
            caplog.clear()
            done = outcome(each, deepcopy(arguments))
            said.append((done, capsys.readouterr(), caplog.messages[:]))
        assert said[0][1:] == said[1][1:]
        assert compare(said[1][0], said[0][0], 1e-12, memory=False) is None
