"""What models need beyond Python. The bodies say what is meant; the compiler has its own form of each (builtin.py)."""

from __future__ import annotations

import dataclasses
import random
from typing import Any


def same(a: Any, b: Any) -> Any:
    """Whether containers take two items for the same: identical or equal."""
    return a is b or a == b


def leave(reason: str) -> None:
    """Python runs the call."""
    raise NotImplementedError(reason)


def random_float(rng: Any) -> float:
    """random.random(), or that of a generator"""
    return (rng or random).random()  # type: ignore[no-any-return]


def random_bits(rng: Any, count: int) -> int:
    """getrandbits(count), for at most 63 bits"""
    return (rng or random).getrandbits(count)  # type: ignore[no-any-return]


def random_gauss() -> float:
    """random.gauss(0.0, 1.0)"""
    return random.gauss(0.0, 1.0)


def as_dict(value: Any) -> Any:
    """`dataclasses.asdict` of any value that a field may hold"""
    return dataclasses.asdict(value)


def as_tuple(value: Any) -> Any:
    """`dataclasses.astuple` of any value that a field may hold"""
    return dataclasses.astuple(value)
