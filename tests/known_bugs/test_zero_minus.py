"""0.0 - x is 0.0 where x is an integer 0 or an absolute value 0.0 (gcc takes it, written like that, for -x)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft
from tests.support import differential


def in_a_loop(n: int) -> Any:
    r = np.empty(n)
    for i in range(n):
        r[i] = 0.0 - i
    return r


def of_arrays(n: int) -> Any:
    a = np.arange(n, dtype=np.int32)
    return 0.0 - a, 0.0 - a[0], 0.0 - np.abs(a * 0.5), 0.0 - np.float32(1) * np.abs(a)


@pytest.mark.parametrize("function", [in_a_loop, of_arrays], ids=lambda f: f.__name__)
def test_by_the_compiler_of_arrays(function: Any) -> None:
    differential(function, lambda: (3,), zero_signs=True)


def of_a_list(v: list[int]) -> list[float]:
    return [0.0 - x for x in v]


def test_by_the_compiler_of_plain_python() -> None:
    compiled = weft.jit(of_a_list, fallback="error")
    assert repr(compiled([0, 1, -2])) == "[0.0, -1.0, 2.0]"
