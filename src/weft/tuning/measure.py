"""Calls for a search.  In: the arguments that the user gave; out: results to compare, and seconds of a call.

Every call gets copies of the arguments, made before the clock starts: a function may change them.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np

#: Calls of a candidate: at least, at most, and seconds after which no more are begun.
_LEAST, _MOST, _ENOUGH = 3, 25, 0.3
#: A candidate that is so much slower than the best at its first call is not called again.
_HOPELESS = 1.5
#: Relative differences that regrouped sums may have, by the size of a real number.
_ROUNDING = {2: 1e-2, 4: 1e-4, 8: 1e-9, 16: 1e-9}


class Calls:
    """Calls with copies of the same arguments."""

    def __init__(self, args: tuple[Any, ...]) -> None:
        self.args = args

    def fresh(self) -> tuple[Any, ...]:
        copied: tuple[Any, ...] = copy.deepcopy(self.args)
        return copied

    def result(self, function: Callable[..., Any]) -> tuple[Any, tuple[Any, ...]]:
        """What a call returns, and what it leaves in its arguments."""
        args = self.fresh()
        return function(*args), args

    def _once(self, function: Callable[..., Any]) -> float:
        args = self.fresh()
        start = perf_counter()
        function(*args)
        return perf_counter() - start

    def seconds(self, function: Callable[..., Any], end: float, best: float | None = None) -> float:
        """The shortest of several calls of a function that has been called before."""
        taken = [self._once(function)]
        if best is not None and taken[0] > _HOPELESS * best:
            return taken[0]
        until = min(perf_counter() + _ENOUGH, end)
        while len(taken) < _MOST and (len(taken) < _LEAST or perf_counter() < until):
            taken.append(self._once(function))
        return min(taken)

    def compared(self, one: Callable[..., Any], other: Callable[..., Any]) -> tuple[float, float]:
        """The shortest calls of two functions, taken in turn, so that both see the same noise."""
        self.result(one), self.result(other)
        pairs = [(self._once(one), self._once(other)) for _ in range(7)]
        return min(first for first, _ in pairs), min(second for _, second in pairs)


def agree(one: Any, other: Any, exact: bool) -> bool:
    """Whether two results are the same, `exact`: to the last bit; else but for the rounding of regrouped sums."""
    if type(one) is not type(other):
        return False
    if isinstance(one, (tuple, list)):
        return len(one) == len(other) and all(agree(a, b, exact) for a, b in zip(one, other))
    if isinstance(one, dict):
        return list(one) == list(other) and all(agree(one[key], other[key], exact) for key in one)
    if isinstance(one, (np.ndarray, np.generic, float, complex)):
        return _numbers_agree(np.asarray(one), np.asarray(other), exact)
    try:
        return bool(one == other)
    except Exception:
        return False  # an object that cannot be compared: nobody could say that nothing has changed


def _numbers_agree(one: Any, other: Any, exact: bool) -> bool:
    if one.dtype != other.dtype or one.shape != other.shape:
        return False
    if one.dtype.kind not in "fc" or exact:
        return bool(one.tobytes() == other.tobytes())
    size = one.dtype.itemsize // (2 if one.dtype.kind == "c" else 1)
    largest = np.max(np.abs(other), where=np.isfinite(other), initial=0.0)
    tolerance = _ROUNDING.get(size, 1e-9)
    return bool(np.allclose(one, other, rtol=tolerance, atol=tolerance * 1e-3 * float(largest), equal_nan=True))
