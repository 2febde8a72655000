"""Floats and integers put into arrays of integers that may not hold them: by element, slice, mask, index, function
and constructor.  Python's numbers become Python integers first, and raise; what is an array already is cast.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import weft
from tests.support import compare, function_from_source, lines, outcome

STATEMENTS = [
    "a[0] = v",
    "a[1:] = v",
    "a[a > 1] = v",
    "a[a > 100] = v",
    "a[np.array([0, 2])] = v",
    "a[a > 1] = [v, v]",
    "a[[0, 1]] = [v, 1]",
    "a[:2] = [v, 1]",
    "a.fill(v)",
    "a.flat[1] = v",
    "a.flat[:] = v",
    "a.real = v",
    "np.put(a, [0], v)",
    "np.put(a, [0, 1], [v, 1])",
    "np.putmask(a, a > 1, v)",
    "np.place(a, a > 1, [v])",
    "np.put_along_axis(a, np.array([0]), v, 0)",
    "np.fill_diagonal(a.reshape(2, 2), v)",
    "a = np.insert(a, 1, v)",
    "a = np.insert(a, [1, 2], [v, v])",
    "a = np.pad(a, 1, constant_values=v)",
    "a = np.full(3, v, dtype=DTYPE)",
    "a = np.full_like(a, v)",
    "a = np.array([v, 1], dtype=DTYPE)",
    "a = np.asarray([[v], [1]], dtype=DTYPE)",
    "a = DTYPE(v)",
]
FLOATS = (2.5, float("nan"), float("-inf"), 1e30, 300.0, -1.5, 1e19, -0.5)
INTEGERS = (3, 300, -1, 2**40)
DTYPES = ("int64", "uint8", "int32", "uint64")


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("statement", STATEMENTS)
def test_numbers(statement: str, dtype: str) -> None:
    function = function_from_source(lines("a, v", statement.replace("DTYPE", f"np.{dtype}"), "return a"))
    compiled = weft.jit(fallback="silent")(function)
    kinds: list[tuple[Any, tuple[Any, ...]]] = [(float, FLOATS), (np.float64, FLOATS), (np.float32, FLOATS)]
    kinds += [(int, INTEGERS), (np.int64, INTEGERS)]
    for kind, numbers in kinds:
        for number in numbers:
            expected, actual = (outcome(f, (np.arange(4).astype(dtype), kind(number))) for f in (function, compiled))
            why = compare(actual, expected)
            assert why is None, f"{statement} with {kind.__name__} {number}: {why}"
    assert not any("inside weft" in reason for reason in compiled.stats["fallbacks"])


#: Lists of the very shape of the place, and others; of some the first number fails, of some a later one.
LISTS = {
    "a[:2] = [1, v]": (4,),
    "a[:] = v, 7": (2,),
    "a[1] = [v, 2.5, 3]": (2, 3),
    "a[1] = [a[1, 2], a[1, 1], v]": (2, 3),
    "a[::-1][1:3] = (1, v)": (4,),
    "a[:, 0] = [1, v]": (2, 3),
    "a[[0, 2]] = [v, 2]": (4,),
    "for i in range(len(a)):\n        a[i] = [i, v, i * v]": (3, 3),
}


@pytest.mark.parametrize("dtype", ["int64", "uint8", "int8"])
@pytest.mark.parametrize("statement", LISTS)
def test_numbers_of_a_list_are_converted_in_turn(statement: str, dtype: str) -> None:
    """What was written before the number that does not fit stays written, where NumPy writes in turn."""
    function = function_from_source(lines("a, v", statement, "return a"))
    compiled = weft.jit(fallback="silent")(function)
    for number in (9, 2.5, np.float64(3), float("nan"), np.float64("nan"), 300, -200, np.float64("-inf")):
        made = np.arange(np.prod(LISTS[statement])).astype(dtype).reshape(LISTS[statement])
        expected, actual = (outcome(f, (made.copy(), number)) for f in (function, compiled))
        why = compare(actual, expected)
        assert why is None, f"{statement} with {number!r}: {why}"


@pytest.mark.parametrize("listed", [[5, 6], [5, 600], [-1, 5], [[5, 1], [2, 3]], [[1], [-300]], [[1, 2]]])
@pytest.mark.parametrize("dtype", ["int8", "uint16", "uint64"])
def test_lists_that_are_arguments(listed: list[Any], dtype: str) -> None:
    function = function_from_source(lines("a, v", "a[1:, :] = v", "a[[0, 1]] = v", "return a"))
    compiled = weft.jit(fallback="silent")(function)
    for given in ([[3, 4]], listed, listed):
        expected, actual = (outcome(f, (np.zeros((3, 2), dtype), given)) for f in (function, compiled))
        assert compare(actual, expected) is None


@pytest.mark.parametrize("constant", ["np.nan", "np.inf", "1e30", "-2.5", "300"])
@pytest.mark.parametrize("dtype", ["int64", "uint8"])
def test_constants(constant: str, dtype: str) -> None:
    source = lines("a, low", "for i in range(len(a)):", f"    if a[i] > low: a[i] = {constant}", "return a")
    function = function_from_source(source)
    compiled = weft.jit(fallback="silent")(function)
    for low in (1, 100):
        expected, actual = (outcome(f, (np.arange(4).astype(dtype), low)) for f in (function, compiled))
        assert compare(actual, expected) is None


@pytest.mark.parametrize(
    "statement", ["a[:] = v", "a[a >= 0] = v", "np.put(a, [0, 1, 2], v)", "a = np.array(v, dtype=DTYPE)"]
)
@pytest.mark.parametrize("dtype", DTYPES)
def test_lists(statement: str, dtype: str) -> None:
    function = function_from_source(lines("a, v", statement.replace("DTYPE", f"np.{dtype}"), "return a"))
    compiled = weft.jit(fallback="silent")(function)
    for numbers in itertools.product((1.5, float("nan"), 300.0), (-2.5, float("inf"), 0.0), (3.9,)):
        expected, actual = (outcome(f, (np.arange(3).astype(dtype), list(numbers))) for f in (function, compiled))
        why = compare(actual, expected)
        assert why is None, f"{statement} with {numbers}: {why}"
