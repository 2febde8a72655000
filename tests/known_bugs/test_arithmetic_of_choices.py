"""What is computed from a choice between a Python float and one of NumPy's is of the type that Python gives it, and
divides as that type does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.support import differential


def difference(a: Any, x: Any) -> Any:
    return x - min(a[2], x)


def several(a: Any, x: Any) -> Any:
    y = min(a[2], x)
    return y - x, -y, y * y, abs(y), y / 2, y // 2, y**2, max(x, a[2]) - x


def by_functions(a: Any, x: Any) -> Any:
    y = max(a[2], x) - x
    return divmod(y, 2), pow(y, 2), sum([y, x])


def by_a_branch(a: Any, x: Any) -> Any:
    y = a[2] if a[2] < x else x
    x -= y
    return x, y * 2.0


def listed(a: Any, x: Any) -> Any:
    return [max(v, x) - x for v in a]


def total(a: Any, x: Any) -> Any:
    s = 0.0
    for v in a:
        s += max(0.0, v - x)
    return s * 2


@pytest.mark.parametrize("dtype", ["int64", "float64", "float32"])
@pytest.mark.parametrize(
    "function", [difference, several, by_functions, by_a_branch, listed, total], ids=lambda f: f.__name__
)
def test_types(function: Any, dtype: str) -> None:
    for x in (1.5, 3.0):
        if dtype != "float32" or function is total:
            differential(function, lambda x=x: (np.arange(5).astype(dtype), x))


def divided(a: Any, b: Any, x: Any) -> None:
    for i in range(len(a)):
        b[i] = 1.0 / max(x, a[i])


def dividing(a: Any, b: Any, x: Any) -> None:
    for i in range(len(a)):
        b[i] = max(0.0, a[i]) / x


def of_itself(a: Any, b: Any, x: Any) -> None:
    for i in range(len(a)):
        t = a[i] if a[i] > 0 else 0.0
        b[i] = t / (t + x)


@pytest.mark.parametrize("x", [0.0, 2.0])
@pytest.mark.parametrize("function", [divided, dividing, of_itself], ids=lambda f: f.__name__)
def test_divisions_by_zero(function: Any, x: float) -> None:
    """Python's 0.0 as a divisor of Python's numbers is an error; elements before it are written."""
    with np.errstate(all="ignore"):
        for values in ([1.0, -1.0, 0.0], [1.0, 2.0, 0.5], [0.0, -0.0, 5.0]):
            differential(function, lambda values=values: (np.array(values), np.zeros(3), x))


def compared(a: Any, x: Any) -> Any:
    y = x if x > 1 else a[1]
    return y > 1, y == x, (y < 5) + 1, [y != 3]


def of_class(a: Any, x: Any) -> Any:
    return x.__class__ is float, x.__class__ is int, x.__class__.__name__, x.__class__ is not bool


@pytest.mark.parametrize("x", [0.5, 1.5, 3])
@pytest.mark.parametrize("function", [compared, of_class], ids=lambda f: f.__name__)
def test_comparisons(function: Any, x: float) -> None:
    differential(function, lambda: (np.arange(5.0), x))


def rounded(a: Any, x: Any) -> Any:
    return round(max(a[1], x), 1)


def test_rounding_is_that_of_the_type() -> None:
    for x in (0.25, 1.25, 2.675):
        differential(rounded, lambda x=x: (np.array([0.0, 1.15]), x), native=False)


def power(a: Any, x: Any) -> Any:
    return a**x, a[1] ** x


@pytest.mark.parametrize("x", [True, False, np.True_])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_powers_by_a_boolean(x: Any, dtype: str) -> None:
    differential(power, lambda: (np.array([1.0, 2.5, -3.0], dtype=dtype), x))


def kept_in_nested_loops(a: Any, x: Any) -> Any:
    best = last = 0.0
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            h = max(0.0, a[i, j])
            last = h
            if h > best:
                best = h
    return best, last


@pytest.mark.parametrize("cell", [0.0, -1.0, 2.0])
def test_what_nested_loops_keep(cell: float) -> None:
    """Where no tag tells and the value is the constant, Python has the last word."""
    for shape in ((2, 3), (0, 3), (3, 0)):
        differential(kept_in_nested_loops, lambda shape=shape: (np.full(shape, cell), 1.5))
