"""What a caller can see of a call, and whether two calls differ.  In: a function and its arguments; out: an `Outcome`,
plain data all through: types, values, which objects are one object, which arrays share memory, the exception, what
was printed.
"""

from __future__ import annotations

import contextlib
import io
import math
import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

#: Sums may be reassociated without fp="strict" (docs/same_answer.md); data are chosen so that this seldom shows.
TOLERANCE = 1e-9
TOLERANCE_32 = 2e-4
_DEEPEST = 12


@dataclass
class Outcome:
    """`seen`: the arguments afterwards and the result, described; `error`: type and text; `printed`: output."""

    seen: Any
    error: tuple[str, str] | None
    printed: str
    sharing: list[tuple[int, int]]


class _Describer:
    """Values as nested tuples; an object met again is named by the number of its first meeting."""

    def __init__(self) -> None:
        self.met: dict[int, int] = {}
        self.kept: list[Any] = []
        self.arrays: list[np.ndarray] = []

    def again(self, value: Any) -> tuple[str, int] | None:
        if id(value) in self.met:
            return ("again", self.met[id(value)])
        self.met[id(value)] = len(self.met)
        self.kept.append(value)
        return None

    def __call__(self, value: Any, depth: int = 0) -> Any:
        kind = type(value).__name__
        if depth > _DEEPEST:
            return ("deep", kind)
        if isinstance(value, np.ndarray):
            return self._array(value, depth)
        if isinstance(value, str):
            return (kind, _placeless(value))
        if isinstance(value, np.generic | int | float | complex | bytes | bool | type(None)):
            return (kind, value)
        if isinstance(value, tuple):
            return (kind, [self(item, depth + 1) for item in value])
        seen = self.again(value)
        if seen is not None:
            return seen
        if isinstance(value, dict):
            return (kind, [(self(k, depth + 1), self(v, depth + 1)) for k, v in value.items()])
        if isinstance(value, set | frozenset):
            # The order of strings depends on how the set has grown; that of small integers does not.
            items = list(value) if all(type(item) is int for item in value) else sorted(value, key=repr)
            return (kind, [self(item, depth + 1) for item in items])
        if isinstance(value, list) or hasattr(value, "popleft"):
            return (kind, [self(item, depth + 1) for item in value])
        if isinstance(value, range | slice | np.dtype | type):
            return (kind, repr(value))
        if hasattr(value, "__dict__") and not callable(value):
            return (kind, [(name, self(item, depth + 1)) for name, item in vars(value).items()])
        return ("opaque", kind)

    def _array(self, value: np.ndarray, depth: int) -> Any:
        seen = self.again(value)
        if seen is not None:
            return seen
        self.arrays.append(value)
        if value.dtype == object:
            return ("objects", [self(item, depth + 1) for item in value.ravel().tolist()], value.shape)
        return ("ndarray", str(value.dtype), value.shape, value.flags.writeable or not value.size, value.copy())

    def sharing(self) -> list[tuple[int, int]]:
        """Pairs of arrays that share memory."""
        found = []
        for number, one in enumerate(self.arrays):
            for other in range(number):
                if np.may_share_memory(one, self.arrays[other]) and _share(one, self.arrays[other]):
                    found.append((other, number))
        return found


def _share(one: np.ndarray, other: np.ndarray) -> bool:
    try:
        return bool(np.shares_memory(one, other, max_work=10**5))
    except np.exceptions.TooHardError:
        return True


def _placeless(text: str) -> str:
    """A text without addresses."""
    return re.sub(r"\b0x[0-9a-f]{6,}\b", "0x", text) if "0x" in text else text


def outcome(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Outcome:
    """Call a function and describe what it did."""
    printed = io.StringIO()
    error = None
    value = None
    with np.errstate(all="ignore"), warnings.catch_warnings(), contextlib.redirect_stdout(printed):
        warnings.simplefilter("ignore")
        try:
            value = function(*arguments)
            if hasattr(value, "send"):
                value = ("generated", list(value))
        except Exception as problem:
            error = (type(problem).__name__, _placeless(str(problem)))
            del problem
    describe = _Describer()
    seen = describe((arguments, value))
    return Outcome(seen, error, _placeless(printed.getvalue()), describe.sharing())


def difference(actual: Outcome, expected: Outcome, strict: bool) -> tuple[str, str] | None:
    """The class of a difference and its text; None if a caller cannot tell the two apart."""
    if actual.error != expected.error:
        kind = "exception" if actual.error and expected.error else "raised" if actual.error else "not raised"
        return (kind, f"raised {actual.error}, expected {expected.error}")
    why = _differs(actual.seen, expected.seen, strict, "")
    if why is not None:
        return why
    if actual.printed != expected.printed:
        return ("printed", f"printed {actual.printed[:200]!r}, expected {expected.printed[:200]!r}")
    if actual.sharing != expected.sharing:
        return ("memory", f"arrays that share memory: {actual.sharing}, expected {expected.sharing}")
    return None


def _differs(one: Any, other: Any, strict: bool, where: str) -> tuple[str, str] | None:
    if type(one) is not type(other):
        return ("type", f"{where}: {_short(one)}, expected {_short(other)}")
    if isinstance(one, np.ndarray):
        return (
            None if _same_array(one, other, strict) else ("value", f"{where}: {_short(one)}, expected {_short(other)}")
        )
    if isinstance(one, float | complex | np.inexact):
        same = _same_array(np.asarray(one), np.asarray(other), strict)
        return None if same else ("value", f"{where}: {one!r}, expected {other!r}")
    if isinstance(one, tuple | list):
        if len(one) != len(other):
            return ("length", f"{where}: {_short(one)}, expected {_short(other)}")
        if len(one) > 1 and isinstance(one[0], str) and isinstance(other[0], str) and one[0] != other[0]:
            kind = "alias" if "again" in (one[0], other[0]) else "type"
            return (kind, f"{where}: {_short(one)}, expected {_short(other)}")
        for place, (left, right) in enumerate(zip(one, other)):
            why = _differs(left, right, strict, f"{where}.{place}")
            if why is not None:
                return why
        return None
    if isinstance(one, np.generic) and one.dtype.kind in "mM" and np.isnat(one) and np.isnat(other):
        return None
    return None if one == other else ("value", f"{where}: {_short(one)}, expected {_short(other)}")


def _short(value: Any) -> str:
    text = repr(value).replace("\n", " ")
    return text if len(text) <= 160 else text[:160] + "..."


def _same_array(one: np.ndarray, other: np.ndarray, strict: bool) -> bool:
    if one.dtype != other.dtype or one.shape != other.shape:
        return False
    if one.dtype.kind == "c":
        return _same_array(one.real, other.real, strict) and _same_array(one.imag, other.imag, strict)
    if one.dtype.kind in "mM":
        return bool(np.array_equal(one, other, equal_nan=True))
    if one.dtype.kind != "f":
        return bool(np.array_equal(one, other))
    if np.array_equal(one, other, equal_nan=True):
        return not strict or bool(np.array_equal(np.signbit(one[one == 0]), np.signbit(other[other == 0])))
    if strict:
        return False
    tolerance = TOLERANCE_32 if one.dtype.itemsize <= 4 else TOLERANCE
    finite = other[np.isfinite(other)]
    scale = max(1.0, float(np.max(np.abs(finite)))) if finite.size else 1.0
    if not math.isfinite(scale):
        scale = 1.0
    with np.errstate(all="ignore"):
        return bool(np.allclose(one, other, rtol=tolerance, atol=tolerance * scale, equal_nan=True))
