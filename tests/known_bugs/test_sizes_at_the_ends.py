"""Arrays beyond all memory fail as in Python, although the generated code would do without them; lists of integers that
turn out to be empty are arrays of floats to NumPy."""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np
import pytest

import weft
from tests.hunt.case import Case
from tests.hunt.modes import Mode, expected_of, judge
from tests.support import function_from_source
from weft.options import Stress

_HUGE = {
    "zeros": lambda n: np.zeros(n).sum(),
    "a square": lambda n: np.ones((n, n)).mean(),
    "arange": lambda n: np.arange(n).sum(),
    "a half": lambda n: (np.zeros(n // 2) + np.ones(n // 2)).max(),
    "linspace": lambda n: np.linspace(0, 1, n).max(),
    "full": lambda n: np.full(n, 2.5).min(),
}


@pytest.mark.parametrize("name", sorted(_HUGE))
def test_no_array_is_larger_than_memory(name: str) -> None:
    run = weft.jit(_HUGE[name], fallback="silent")
    assert run(4) == _HUGE[name](4)
    for size in (2**39, 2**45, 2**62 + 1):
        with pytest.raises(Exception) as plain:
            _HUGE[name](size)
        with pytest.raises(type(plain.value)) as ours:
            run(size)
        assert str(ours.value) == str(plain.value)
    assert run(4) == _HUGE[name](4)


def _odd(n: int) -> Any:
    found = [i for i in range(n) if i % 2]
    return np.sum(found), np.prod(found), np.cumsum(found), np.dot(found, found), np.unique(found), np.sort(found)


def _grown(n: int) -> Any:
    found = []
    for i in range(n):
        found.append(i)
    return np.sum(found), np.add(found, 1), np.any(found), np.array(found)


def _given(found: list[int]) -> Any:
    return np.sum(found), np.abs(found)


@pytest.mark.parametrize("function", [_odd, _grown, _given], ids=lambda f: f.__name__)
def test_an_empty_list_is_an_array_of_floats(function: Any) -> None:
    run = weft.jit(function, fallback="silent")
    cases: tuple[Any, ...] = ([3, 4], [], [5]) if function is _given else (5, 0, 3)
    for case in cases:
        assert repr(run(case)) == repr(function(case))


def test_rounding_to_very_many_digits() -> None:
    for digits in (400, -400, 2):
        run = weft.jit(lambda a, v: (np.round(a, digits), round(a[0], digits), round(v, digits)), fallback="silent")
        with np.errstate(all="ignore"):
            a = np.array([1.25, 3.5])
            expected = np.round(a, digits), round(a[0], digits), round(1.567, digits)
        assert repr(run(a, 1.567)) == repr(expected)


_JOINED = {
    "concatenate": lambda x, a: np.concatenate((x, a), axis=None),
    "union1d": lambda x, a: np.union1d(x, a),
    "append": lambda x, a: np.append(a, x),
    "setxor1d": lambda x, a: np.setxor1d(x, a),
}


@pytest.mark.parametrize("name", sorted(_JOINED))
def test_a_number_among_arrays_gives_way_as_in_numpy(name: str) -> None:
    run = weft.jit(_JOINED[name], fallback="silent")
    for x in (3.0, 3, np.float64(2.5)):
        for dtype in (np.float32, np.int8, np.float64):
            a = np.arange(6).astype(dtype).reshape(2, 3)
            assert repr(run(x, a)) == repr(_JOINED[name](x, a))
            assert repr(run(a, a[:1])) == repr(_JOINED[name](a, a[:1]))


@pytest.mark.parametrize("made", ["deque()", "deque([])", "deque([1, 2])", "deque(maxlen=3)"])
def test_a_deque_comes_back_as_one(made: str) -> None:
    function = function_from_source(f"def f(n):\n    q = {made}\n    return q, n\n", namespace={"deque": deque})
    assert repr(weft.jit(function, fallback="silent")(2)) == repr(function(2))


@pytest.mark.parametrize("split", (2, 5, 8, 11, 20, 23))
def test_an_empty_deque_passes_between_regions(split: int) -> None:
    source = "def f(a):\n    w = 0\n    while w != 4:\n        w += 1\n        q = deque()\n        q.appendleft\n"
    case = Case(source + "    a[1] += w\n    return w\n", ("return (np.arange(4.0),)",))
    verdict = judge(case, Mode(stress=Stress(split=split)), expected_of(case)[0])
    assert not verdict.kind, verdict.text
