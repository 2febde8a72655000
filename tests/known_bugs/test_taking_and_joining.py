"""np.take of an axis without elements, and numbers that np.r_ has no room for, are NumPy's errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.support import differential


def take(a: Any, i: Any) -> Any:
    return np.take(a, i), np.take(a.reshape(-1, 1), i, axis=0)


def join(a: Any, x: Any) -> Any:
    return np.r_[a, x]


@pytest.mark.parametrize("index", [2, [0, 1], []], ids=str)
def test_taking(index: Any) -> None:
    for size in (0, 4):
        differential(take, lambda size=size: (np.arange(size), np.array(index, dtype=int)), native=False)


@pytest.mark.parametrize("number", [3, 300, -2, 3.5])
def test_joining(number: Any) -> None:
    differential(join, lambda: (np.arange(3, dtype=np.uint8), number), native=False)
