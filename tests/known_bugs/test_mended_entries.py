"""Calls of library functions that once gave another answer than NumPy's: value, dtype, memory or exception."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft
from tests.support import compare, function_from_source, lines, made, outcome

ONES = np.ones((3, 1))
MATRIX = np.arange(6.0).reshape(2, 3)
INTEGERS = np.array([[3, 1, 2], [2, 3, 3]])
INDEX = np.array([0, 1, 1])


@pytest.mark.parametrize(
    ("call", "arguments"),
    [
        # An extent of one is no other extent in a product.
        ("a @ b", (ONES, np.ones(4))),
        ("a @ b", (np.ones((3, 4)), np.ones(1))),
        ("np.dot(a, b)", (np.ones(1), np.ones(4))),
        ("np.inner(a, b)", (ONES, np.ones((2, 4)))),
        ("np.vdot(a, b)", (np.ones(1), np.ones(4))),
        ("np.matmul(a, b)", (np.ones((2, 3, 1)), np.ones((2, 4, 2)))),
        # The result may not have another dtype than out=.
        ("np.dot(a, a.T, out=b)", (INTEGERS, np.zeros((2, 2)))),
        # All elements, not the first axis.
        ("np.concatenate((a, b), axis=None)", (MATRIX, INTEGERS)),
        ("np.hstack((a[0, 0], b[0]))", (MATRIX, INTEGERS)),
        ("np.transpose(a, (0, 0)), b", (MATRIX, INTEGERS)),
        # The dtype is NumPy's, whatever small integers come in.
        ("np.arange(a), np.arange(b)", (np.int32(3), np.float32(2.5))),
        ("np.hypot(a, b)", (np.array([3], np.int16), np.array([4], np.uint16))),
        ("np.hypot(a, b)", (np.array([3], np.int8), np.array([4], np.uint8))),
        ("np.conjugate(a), b", (np.array([True]), 1)),
        # Arguments that were ignored.
        ("a.astype(b.dtype, casting='safe')", (MATRIX, INTEGERS)),
        ("a.astype(np.float64, copy=False), b", (MATRIX, 1)),
        ("np.array(a, copy=False), b", (MATRIX, 1)),
        ("np.zeros((2, 3), order='K'), a, b", (1, 2)),
        ("np.sort(a, kind='stable', stable=True), b", (INTEGERS, 1)),
        ("np.indices((2, 3), dtype=bool), a, b", (1, 2)),
        ("np.hstack((a, b), axis=0)", (MATRIX, MATRIX)),
        ("np.count_nonzero(a, 0, True), b", (MATRIX, 1)),
        ("np.size(a, 0), b", (np.int16(9), 1)),
        # Dimensions of a result that is a view have names, too.
        ("np.argmax(a, keepdims=True), np.argmin(b, keepdims=True)", (np.ones((2, 2, 2)), np.ones((2, 2, 3)))),
        # The array itself, or not.
        ("a.conj(), np.squeeze(b)", (MATRIX, INTEGERS)),
    ],
)
@pytest.mark.parametrize("backend", ["python", "auto"])
def test_calls(call: str, arguments: tuple[Any, Any], backend: str) -> None:
    function = function_from_source(lines("a, b", f"return {call}"))
    compiled = weft.jit(fallback="silent", backend=backend)(function)
    make = made(*arguments)
    expected, actual = outcome(function, make()), outcome(compiled, make())
    if expected.error is not None:
        assert type(actual.error) is type(expected.error)
    else:
        assert compare(actual, expected) is None


@pytest.mark.parametrize("dtype", ["uint8", "int32", "uint64", "float32"])
@pytest.mark.parametrize("update", ["np.add.at(a, i, -2)", "np.multiply.at(a, i, 0.1)", "np.remainder.at(a, i, 3)"])
def test_python_numbers_have_their_own_type_in_updates(dtype: str, update: str) -> None:
    """They count as int64 and float64, and what comes out is stored whatever the dtype."""
    function = function_from_source(lines("a, i", update))
    make = made(np.arange(1, 5).astype(dtype), INDEX)
    expected = outcome(function, make())
    actual = outcome(weft.jit(fallback="silent", backend="python")(function), make())
    assert compare(actual, expected) is None
