"""x[()]: the number in an array of rank 0, and a number of NumPy's itself."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft

A = np.array([1.0, 2.0, 3.0])


def _of_asarray(a: Any) -> Any:
    return np.asarray(a.sum())[()]


def _a_copy(a: Any) -> Any:
    x = np.asarray(a.sum())
    y = x[()]
    z = y
    z += 1
    return y, z, x + 0


def _of_array(a: Any) -> Any:
    x = np.array(a[0])
    return x[()], x.sum()


def _of_number(a: Any) -> Any:
    return a.sum()[()], a[1][()]


def _carried(a: Any) -> Any:
    s = np.array(0.0)
    for i in range(a.size):
        s = s + a[i]
    return s[()]


def _chosen(a: Any) -> Any:
    return np.where(a[0] > 0, 1.0, 2.0)[()]


@pytest.mark.parametrize("function", [_of_asarray, _a_copy, _of_array, _of_number, _carried, _chosen])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64])
def test_the_number_of_rank_0(function: Any, dtype: Any) -> None:
    found = weft.jit(function, backend="python", fallback="error")(A.astype(dtype))
    expected = function(A.astype(dtype))
    assert repr(found) == repr(expected)


def test_numbers_of_python_have_no_items() -> None:
    def taken(x: Any) -> Any:
        return x[()]

    with pytest.raises(TypeError, match="not subscriptable"):
        weft.jit(taken, fallback="silent")(2.0)
