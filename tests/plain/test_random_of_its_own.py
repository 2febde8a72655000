"""A generator whose methods were replaced on the object: these are called, not those of its class."""

from __future__ import annotations

import random
from typing import Any

import pytest

import weft


def drawn(rng: random.Random, count: int) -> list[float]:
    return [rng.random() for _ in range(count)]


def spread(rng: random.Random, count: int) -> list[float]:
    return [rng.uniform(1.0, 10.0) for _ in range(count)]


def whole(rng: random.Random, count: int) -> list[int]:
    return [rng.randint(1, 6) for _ in range(count)]


@pytest.mark.parametrize("function", [drawn, spread, whole])
def test_methods_of_the_object_itself_count(function: Any) -> None:
    compiled = weft.jit(fallback="silent", cache=False)(function)
    compiled(random.Random(1), 5)
    results = []
    for used in (function, compiled):
        rng = random.Random(7)
        rng.gauss(0.0, 1.0)  # leaves a number in `gauss_next`, which hides nothing
        fixed = iter([0.25, 0.5, 0.75] * 20)
        rng.random = lambda fixed=fixed: next(fixed)  # type: ignore[method-assign]
        results.append([used(rng, 4) for _ in range(3)])
    assert results[0] == results[1]
