"""A single number assigned to elements of an array of integers: NumPy makes a Python integer of it where the integers
are signed, or where it is a Python float, and raises if there is none or if it does not fit; numbers that come out of
arrays, and NumPy's own in unsigned arrays, are cast.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft
from tests.support import same_as_plain

NUMBERS = (
    np.int16(130), np.int64(2**40), np.int8(-1), np.uint64(2**63), np.uint8(200), np.float64(300.7), np.float64(1e10),
    np.float64(-1.5), np.float64("nan"), np.float32(12.5), 300.7, -1.5, 5.0, float("nan"), True, 7, 300,
)  # fmt: skip


def put(array: Any, number: Any) -> Any:
    array[1] = number
    return array


def put_later(array: Any, other: Any, number: Any) -> Any:
    """The first element is written when the number proves to be none."""
    other[0] = 1.0
    for i in range(len(array)):
        array[i] = other[i] * number
    return array


def spread(array: Any, number: Any) -> Any:
    array[1:] = number
    return array


def added(array: Any, other: Any) -> Any:
    for i in range(len(array)):
        array[i] += other[i]
    return array


@pytest.mark.parametrize("dtype", ["i1", "u1", "i4", "i8", "u8", "f4"])
def test_numbers_of_every_type(dtype: str) -> None:
    for function in (put, spread):
        compiled = weft.jit(fallback="silent")(function)
        for number in NUMBERS:
            same_as_plain(compiled, function, lambda n=number: (np.zeros(4, dtype), n), calls=1)  # type: ignore[misc]


def test_elements_of_other_arrays() -> None:
    compiled = weft.jit(fallback="error")(put_later)
    for values in ([0.0, 1.0, 2.0], [0.0, 1.0, np.nan], [0.0, 60.0, 2.0], [0.0, -65.0, 2.0]):
        same_as_plain(compiled, put_later, lambda v=values: (np.zeros(3, "i1"), np.array(v), 2), calls=1)  # type: ignore[misc]


@pytest.mark.parametrize(("mine", "other"), [("i1", "u1"), ("i1", "i8"), ("i4", "f8"), ("u1", "i8"), ("i8", "u8")])
def test_updates_of_elements(mine: str, other: str) -> None:
    compiled = weft.jit(fallback="error")(added)
    for top in (20, 100, 120):
        arguments = (np.array([1, 100, 3], mine), np.array([1, top, 2], other))
        same_as_plain(compiled, added, lambda a=arguments: (a[0].copy(), a[1].copy()), calls=1)  # type: ignore[misc]


def whole(x: Any, out: Any) -> Any:
    for i in range(len(x)):
        out[i] = int(x[i] * 2.0)
    return out


@pytest.mark.parametrize("last", [1.25, float("nan")])
def test_int_of_nan_is_no_overflow(last: float) -> None:
    compiled = weft.jit(fallback="error")(whole)
    same_as_plain(compiled, whole, lambda: (np.array([0.5, 2.0, last]), np.zeros(3, int)))
    same_as_plain(compiled, whole, lambda: (np.array([0.5, 200.0, last]), np.zeros(3, "i1")))
