"""`weft.bench`: a compiled function against the same function as plain Python.  In: the function and arguments; out: a
`Comparison`: the times of both, and whether the answers are equal.

Each run gets copies of arrays and containers among the arguments, so that a function that changes them starts from the
same ones every time.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from time import perf_counter
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Comparison:
    """Seconds of one call (the least of several): the first with weft, later ones, and as plain Python."""

    function: str
    first: float
    weft: float
    python: float
    equal: bool
    native: bool

    @property
    def ratio(self) -> float:
        """How many times faster than plain Python."""
        return self.python / self.weft if self.weft else float("inf")

    def __str__(self) -> str:
        rows = [f"{self.function}: {times(self.ratio)} times the speed of plain Python"]
        rows += [f"  {name:<24}{_duration(seconds):>10}" for name, seconds in self._rows()]
        return "\n".join([*rows, *(f"  {text}" for text in self._remarks())])

    def __repr__(self) -> str:
        return str(self)

    def _rows(self) -> list[tuple[str, float]]:
        return [("plain Python", self.python), ("weft", self.weft), ("weft, the first call", self.first)]

    def _remarks(self) -> list[str]:
        found = [] if self.equal else ["the answers differ"]
        return found if self.native else [*found, "it ran as plain Python: see explain()"]

    def _repr_html_(self) -> str:
        longest = max(self.python, self.weft) or 1.0
        rows = ""
        for name, seconds in self._rows():
            width = min(100.0, max(0.5, 100 * seconds / longest))
            colour = "#c0504d" if name.startswith("plain") else "#2e8b57" if name == "weft" else "#8a8f98"
            bar = f'<div style="height: 12px; border-radius: 2px; width: {width:.1f}%; background: {colour}"></div>'
            rows += f'<tr><td style="text-align: left">{name}</td><td>{_duration(seconds)}</td>'
            rows += f'<td style="width: 60%">{bar}</td></tr>'
        told = "".join(f"<p>{escape(text)}</p>" for text in self._remarks())
        head = f"{escape(self.function)}: {times(self.ratio)} times the speed of plain Python"
        return f'<table style="width: 100%"><caption>{head}</caption>{rows}</table>{told}'


def times(ratio: float) -> str:
    """Three digits, without an exponent: 1.38e4 --> 13,800."""
    return f"{float(f'{ratio:.3g}'):,.0f}" if 1000 <= ratio < math.inf else f"{ratio:.3g}"


def _duration(seconds: float) -> str:
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e9:.0f} ns"


def bench(function: Any, /, *args: Any, seconds: float = 1.0, **kwargs: Any) -> Comparison:
    """Time a compiled function (one that `weft.jit` has made, or will make now) against plain Python.

    About `seconds` go to each of the two, at least one call.  The arguments themselves are not changed.
    """
    from weft.api import jit

    made = function if hasattr(function, "py_func") else jit(function)
    plain = getattr(made, "py_func", made)
    first, answer = _once(made, args, kwargs)
    compiled = _least(made, args, kwargs, seconds)
    expected_time, expected = _once(plain, args, kwargs)
    rest = seconds - expected_time
    python = min(expected_time, _least(plain, args, kwargs, rest)) if rest > 0 else expected_time
    native = bool(getattr(made, "signatures", ())) or any(part.signatures for part in getattr(made, "_regions", ()))
    return Comparison(plain.__name__, first, compiled, python, _same(answer, expected), native)


def _once(function: Callable[..., Any], args: Any, kwargs: Any) -> tuple[float, Any]:
    args, kwargs = copy.deepcopy((args, kwargs))
    began = perf_counter()
    result = function(*args, **kwargs)
    return perf_counter() - began, (result, args, kwargs)


def _least(function: Callable[..., Any], args: Any, kwargs: Any, seconds: float) -> float:
    found, until = float("inf"), perf_counter() + seconds
    while found == float("inf") or perf_counter() < until:
        found = min(found, _once(function, args, kwargs)[0])
    return found


def _same(one: Any, other: Any) -> bool:
    """Whether two answers, with what became of the arguments, are equal but for rounding."""
    if type(one) is not type(other):
        return isinstance(one, (int, float, np.number)) and isinstance(other, (int, float, np.number)) and one == other
    if isinstance(one, (tuple, list)):
        return len(one) == len(other) and all(map(_same, one, other))
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
    if isinstance(one, (float, complex, np.ndarray, np.number)):
        a, b = np.asarray(one), np.asarray(other)
        if a.dtype.kind in "fc":
            return a.shape == b.shape and bool(np.allclose(a, b, rtol=1e-7, atol=0, equal_nan=True))
        return bool(np.array_equal(a, b))
    try:
        return bool(one == other)
    except Exception:
        return False
