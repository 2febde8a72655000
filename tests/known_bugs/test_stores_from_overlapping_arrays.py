"""Stores through index arrays read the right side, and the indices, first: also where arguments overlap."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft


def scattered(a: Any, i: Any, v: Any) -> Any:
    a[i] = v
    return a


def added(a: Any, i: Any, v: Any) -> Any:
    a[i] += v
    return a


def told_by_itself(a: Any, i: Any, v: Any) -> Any:
    a[a.astype(np.int64) % len(a)] = a
    return a


def placed(a: Any, i: Any, v: Any) -> Any:
    np.place(a, a > 1, v)
    return a


def _arguments(kind: str, dtype: Any, seed: int) -> Any:
    draw = np.random.default_rng(seed)
    base = draw.integers(0, 9, size=12).astype(dtype)
    a, i = base[:9], draw.integers(-9, 9, size=7)
    v = {"same": a[:7], "later": base[3:10], "reversed": a[::-1][:7], "apart": base[:7].copy(), "indices": a[:7]}[kind]
    if kind == "indices":
        a = base.astype(np.int64)[:9]
        i, v = a[1:8], np.arange(7)
    return a, i, v


@pytest.mark.parametrize("function", [scattered, added, told_by_itself, placed], ids=lambda f: f.__name__)
@pytest.mark.parametrize("dtype", ["float64", "int64"])
def test_the_right_side_is_read_first(function: Any, dtype: str) -> None:
    kinds = ("reversed", "same", "later", "apart", "indices")
    for first in (0, 3):
        run = weft.jit(function, fallback="silent")
        for kind in (*kinds[first:], *kinds[:first]):
            for seed in range(3):
                expected, given = _arguments(kind, dtype, seed), _arguments(kind, dtype, seed)
                assert repr(run(*given)) == repr(function(*expected)), (kind, seed)
                assert repr(given) == repr(expected), (kind, seed)
