"""Programs of Python's own types, compiled and plain.  In: a function and calls of it; out: an assertion that value,
type, order, the arguments afterwards and the exception are the same."""

from __future__ import annotations

import copy
import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

import weft


def alike(one: Any, other: Any) -> bool:
    """Equal, of the same types throughout, and in the same order."""
    if type(one) is not type(other):
        return False
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and one.shape == other.shape and bool(np.array_equal(one, other))
    if isinstance(one, float):
        return one == other and math.copysign(1, one) == math.copysign(1, other) or (one != one and other != other)
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(alike, one, other))
    if isinstance(one, dict):
        return alike(list(one.items()), list(other.items()))
    if isinstance(one, (set, frozenset)):
        return alike(list(one), list(other))
    return bool(one == other)


@functools.cache
def compiled(function: Callable[..., Any]) -> Any:
    return weft.jit(fallback="error")(function)


def _outcome(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
    try:
        return ("value", function(*args, **kwargs), args, kwargs)
    except Exception as error:
        return (type(error).__name__, error.args, args, kwargs)


def agree(function: Callable[..., Any], *args: Any, native: bool = True, **kwargs: Any) -> None:
    """The compiled function does what the plain one does; `native`: in a version of its own, not in Python."""
    wanted = _outcome(function, *copy.deepcopy((args, kwargs)))
    run = compiled(function)
    before = run.stats["python_calls"]
    found = _outcome(run, *copy.deepcopy((args, kwargs)))
    assert alike(found, wanted), (found, wanted)
    if native and wanted[0] == "value":
        assert run.stats["python_calls"] == before, "left to Python"
