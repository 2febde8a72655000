"""Indices of type uint64: an array of them is converted to signed integers, a single one is a Python integer."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft


def read(a: Any, i: Any) -> Any:
    return a[i]


def write(a: Any, i: Any) -> Any:
    a[i] = 7.0
    return a


def update(a: Any, i: Any) -> Any:
    a[i] += 2.0
    np.add.at(a, i, 1.0)
    return a


def in_a_plane(a: Any, i: Any) -> Any:
    b = a.reshape(1, -1)
    b[0, i] = 9.0
    return b[:, i], b


def one_by_one(a: Any, i: Any) -> Any:
    for k in range(len(i)):
        a[i[k]] += 1.0
    return a


def remainders(a: Any, i: Any) -> Any:
    out = np.zeros(3)
    for k in range(len(i)):
        out[i[k] % 3] += a[k]
    return out, a[: i[0]]


def slices(a: Any, i: Any) -> Any:
    a[i[0] :] = 3.0
    return a, a[: i[-1]], a[:: i[0]], a[i[-1] :: -1]


def _outcome(function: Any, a: Any, i: Any) -> str:
    try:
        return repr((function(a, i), a))
    except Exception as error:
        return f"{type(error).__name__}: {error}, {a}"


@pytest.mark.parametrize(
    "function", [read, write, update, in_a_plane, one_by_one, remainders, slices], ids=lambda f: f.__name__
)
def test_unsigned_indices(function: Any) -> None:
    run = weft.jit(function, fallback="error")
    for numbers in ([1, 3], [4, 4, 0], [5], [2**64 - 1], [2**64 - 9], [2**63], []):
        i = np.array(numbers, np.uint64)
        if function in (remainders, slices) and not numbers:
            continue
        assert _outcome(run, np.arange(5.0), i) == _outcome(function, np.arange(5.0), i)


def scaled(b: Any, n: int) -> Any:
    for i in range(len(b)):
        b[i] *= i
    b[0] += n
    return b


def replaced(b: Any, n: int) -> Any:
    for i in range(len(b)):
        b[i] = n - i
    return b


@pytest.mark.parametrize("function", [scaled, replaced], ids=lambda form: form.__name__)
@pytest.mark.parametrize("dtype", [np.uint64, np.int64])
def test_python_integers_beside_elements_of_64_bits(function: Any, dtype: Any) -> None:
    run = weft.jit(function)
    high = np.iinfo(dtype).max
    for n in (5, 3, 1):
        outcomes = []
        for call in (run, function):
            given = np.array([5, high, 1, 3], dtype)
            with np.errstate(all="ignore"):
                try:
                    outcomes.append((call(given, n).tolist(), given.tolist()))
                except OverflowError as error:
                    outcomes.append((str(error), given.tolist()))
        assert outcomes[0] == outcomes[1], n
