"""A variable that holds a float on one way and an integer on the other: what is computed from it beside arrays, or put
into one, has the type that Python and NumPy give it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft
from tests.support import function_from_source

BEFORE = {
    "branch": "if c:\n        x = 1",
    "loop": "for i in range(c):\n        x = 1",
    "certain loop": "for i in range(2):\n        x = 1",
    "while": "i = 0\n    while i < c:\n        x, i = 1, i + 1",
    "over an array": "for v in a[:c]:\n        x = True",
}
RESULTS = (
    "a - x",
    "x * a",
    "a // x",
    "a > x",
    "np.subtract(a, x)",
    "np.where(a > 2, a, x)",
    "np.where(a > 2, x, 2)",
    "np.full(3, x)",
    "np.array([x, 2])",
    "np.array([[x], [3]])",
    "np.append(a, x)",
    "np.clip(a, x, 4)",
    "np.add.outer(a, x)",
    "np.arange(x)",
    "np.arange(0, x, 1)",
    "np.linspace(x, 3, 4)",
    "np.dot(a, x)",
    "a @ np.array([x] * 6)",
    "[x * v for v in a]",
    "np.concatenate((a, [x]))",
    "np.polyval([x, 2], a)",
    "np.select([a > 3, a < 1], [a, x], x)",
    "np.outer(a, x)",
    "a + (x * 2 + 1)",
    "np.square(x), np.add(x, 1), np.maximum(x, 2)",
    "np.sqrt(x), np.sin(x) + a",
    "x ** 2, x & 1 if c else x",
    "[x] * 3",
    "[x] * c",
    "x + 1, x * x, max(x, 2), -x, round(x), abs(x)",
    "int(x), float(x), round(x), +x, x",
)


@pytest.mark.parametrize("result", RESULTS)
def test_the_type_is_that_of_python(result: str) -> None:
    for before in BEFORE.values():
        plain = function_from_source(f"def f(a, x, c):\n    {before}\n    return {result}\n")
        compiled = weft.jit(plain, backend="python", fallback="silent")
        for x, c in ((3.5, 1), (3.0, 0), (3, 1), (2, 0)):
            a = np.arange(6)
            expected = plain(a, x, c)
            assert repr(compiled(a.copy(), x, c)) == repr(expected), (before, x, c)


def test_what_has_one_type_either_way_stays_native() -> None:
    def f(a: Any, x: Any, c: int) -> Any:
        for _ in range(c):
            x = 1
        return np.sqrt(x) * a, a + 0.5 * x, a > x

    compiled = weft.jit(f, backend="python", fallback="error")
    got = compiled(np.arange(4.0), 2.5, 1)
    assert all(np.array_equal(one, other) for one, other in zip(got, f(np.arange(4.0), 2.5, 1)))
