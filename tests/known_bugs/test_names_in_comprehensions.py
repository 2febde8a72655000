"""`:=` in comprehensions: what it assigns is seen by the next items and after the comprehension."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft
from tests.support import function_from_source

_PROGRAMS = {
    "returned": "s = 0.0\n    return [s := s + x for x in xs]",
    "kept": "s = 0.0\n    r = [s := s + x for x in xs]\n    return r, s",
    "condition": "s = 0.0\n    return [x for x in xs if (s := s + x) > 2], s",
    "two loops": "s = 1.0\n    r = [s := s * x + y for x in xs for y in xs if y > 1]\n    return r, s",
    "own variable": "x = 5.0\n    s = 0.0\n    r = [s := s + x for x in xs]\n    return r, s, x",
    "branch": "if len(xs) > 1:\n        s = 0.0\n        return [s := s + x for x in xs]\n    return None",
    "sum": "s = 0.0\n    return sum((s := s + x) for x in xs), s",
    "max": "s = 1.0\n    return max(s := s * x for x in xs)",
    "any": "s = 0\n    return any((s := s + x) > 5 for x in xs), s",
    "set": "s = 0.0\n    return sorted({s := s + x for x in xs}), s",
    "dict": "s = 0.0\n    return {i: (s := s + x) for i, x in enumerate(xs)}, s",
    "array": "s = 0.0\n    return np.array([s := s * 0.5 + x for x in xs])",
    "choice": "return [s := s + x for x in xs] if (s := 1.0) > 0 else []",
    "read first": "return [y if x > 1 and i else (y := x) for i, x in enumerate(xs)]",
    "one item": "return [y for x in xs if (y := x * 2) > 2], [y + z for x in xs if (y := x) > 1 and (z := x) > 0]",
}


@pytest.mark.parametrize("name", sorted(_PROGRAMS))
def test_a_name_assigned_in_a_comprehension_lasts(name: str) -> None:
    function = function_from_source(f"def f(xs):\n    {_PROGRAMS[name]}\n")
    run = weft.jit(function, fallback="silent")
    for xs in ([1.0, 2.0, 3.0, 4.0], np.array([1.0, 2.0, 3.0])):
        assert repr(run(xs)) == repr(function(xs))


def test_running_values_are_native() -> None:
    def totals(xs: Any) -> Any:
        s = 0.0
        return [s := 0.5 * s + x for x in xs]

    run = weft.jit(totals, fallback="error")
    assert run([1.0, 2.0, 3.0]) == [1.0, 2.5, 4.25]
