"""A number that is Python's on one path and NumPy's on another comes back as what it is; integers keep all digits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft


def some(a: Any) -> Any:
    z = START  # noqa: F821
    for i in range(len(a)):
        if a[i] > 2:
            z += a[i]
    return z


def until(a: Any) -> Any:
    z, i = START, 0  # noqa: F821
    while i < len(a):
        if a[i] < 0:
            break
        z = z + a[i] * 2
        i += 1
    return z, i


def largest(a: Any) -> Any:
    z = START  # noqa: F821
    for x in a:
        if x > z:
            z = x
    return [z, z * 2, -z]


def two(a: Any) -> Any:
    low = high = START  # noqa: F821
    for x in a:
        if x < 2:
            low += x
        else:
            high += x
    return {"low": low, "high": high, "all": low + high}


def listed(a: Any) -> Any:
    found = []
    z = START  # noqa: F821
    for x in a:
        if x > 2:
            z += x
        found.append(z)
    return found


def kept(a: Any) -> Any:
    z = START  # noqa: F821
    for i in range(1, len(a) - 1):
        z += i
        for x in a:
            z += x
    shown = [z]
    return shown, len(a)


def asked(a: Any) -> Any:
    z = START  # noqa: F821
    for x in a:
        if x > 2:
            z += x
    return isinstance(z, np.floating), type(z) is float


_FORMS = [some, until, largest, two, listed, kept, asked]


def _described(value: Any) -> Any:
    if isinstance(value, dict):
        return [(key, _described(item)) for key, item in value.items()]
    if isinstance(value, list | tuple):
        return [type(value).__name__, *map(_described, value)]
    return type(value).__name__, repr(value)


@pytest.mark.parametrize(
    "start, dtype",
    [(0.0, np.float64), (1.5, np.float64), (0, np.float64), (0.0, np.float32), (0.0, np.int64), (0j, np.float64)],
    ids=str,
)
@pytest.mark.parametrize("form", _FORMS, ids=lambda form: form.__name__)
def test_totals_to_which_nothing_was_added(form: Any, start: Any, dtype: Any) -> None:
    if start == 0j and isinstance(start, complex) and form is largest:
        return  # complex numbers have no order
    scope = {"START": start, "np": np}
    function = type(form)(form.__code__, scope, form.__name__)
    run = weft.jit(function, backend="python", fallback="silent")
    for data in ([1, 5, 3], [1, 0, 1], [], [4, -4, 0]):
        given = np.array(data, dtype)
        assert _described(run(given)) == _described(function(given)), data


def test_totals_in_machine_code() -> None:
    scope = {"START": 0.0, "np": np}
    for form in (some, until):
        function = type(form)(form.__code__, scope, form.__name__)
        run = weft.jit(function)
        for data in ([1, 5, 3], [1, 0, 1], [], [4, -4]):
            given = np.array(data, float)
            assert _described(run(given)) == _described(function(given))
        assert run.stats["python_calls"] == 0


def chosen(n: Any, c: Any) -> Any:
    x = n if c else 0.5
    return x


def branched(n: Any, c: Any) -> Any:
    if c:
        x = n
    else:
        x = 0.5
    x = x + 1
    return x, x * 3, x == n + 1


def carried(n: Any, c: Any) -> Any:
    x: Any = 0
    for i in range(5):
        if i % 2 == c:
            x = n + i
        else:
            x = 0.5 * i
    return x


def counted(n: Any, c: Any) -> Any:
    x = 0.25
    for i in range(4):
        if i == 1:
            x = n
        if i > 1 and c:
            x = x * 3 % 1000
    return x


@pytest.mark.parametrize("function", [chosen, branched, carried, counted], ids=lambda form: form.__name__)
def test_integers_of_many_digits_in_variables_of_floats(function: Any) -> None:
    run = weft.jit(function, backend="python", fallback="silent")
    for n in (5, 2**53 - 1, 2**53, 2**53 + 1, -(2**53) - 1, 2**62 + 1, -(2**63) + 1, 2**70 + 1):
        for c in (True, False):
            assert _described(run(n, c)) == _described(function(n, c)), (n, c)
