"""What Python runs for compiled plain Python.  In: arguments, as views and copies of a call's own; out: results.

Modules that stand alone hold this text: nothing here needs a compiler.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable
from typing import Any


class LeftToPython(Exception):
    """An exception without a native form: the call deoptimises, even where a handler is near."""


class _Strict:
    """np.errstate(divide="raise", over="raise", invalid="raise"), which costs more than a small function of NumPy."""

    def __init__(self) -> None:
        from numpy._core.umath import _extobj_contextvar, _make_extobj

        self.variable, self.made_of = _extobj_contextvar, _make_extobj
        self.pair: tuple[Any, Any] = (None, None)  # what the program has set, and that with these three

    def enter(self) -> Any:
        theirs, ours = self.pair
        current = self.variable.get()
        if current is not theirs:
            ours = self.made_of(divide="raise", over="raise", invalid="raise")
            self.pair = current, ours
        return self.variable.set(ours)

    def leave(self, token: Any) -> None:
        self.variable.reset(token)


class _Errstate:
    """The same where NumPy keeps this otherwise."""

    def enter(self) -> Any:
        import numpy as np

        entered = np.errstate(divide="raise", over="raise", invalid="raise")
        entered.__enter__()
        return entered

    def leave(self, token: Any) -> None:
        token.__exit__(None, None, None)


@functools.cache
def _strict() -> _Strict | _Errstate:
    try:
        return _Strict()
    except ImportError:
        return _Errstate()


#: Functions that warn of arrays without elements: Python repeats such calls, and the warning is to come once.
_WARN_OF_NOTHING = frozenset(
    ("mean", "std", "var", "median", "average", "quantile", "percentile", "cov", "corrcoef")
    + ("nanmean", "nanstd", "nanvar", "nanmedian", "nanmin", "nanmax", "nanquantile", "nanpercentile")
)


class Quiet:
    """A function of NumPy with arguments by position, the last ones of these names. Python repeats a call that NumPy
    warns of, or in which it raises: that may be about the views that it was given, which cannot be written."""

    def __init__(self, callee: Any, count: int, names: tuple[str, ...]) -> None:
        self.callee, self.count, self.names = callee, count, names
        self.warns_of_nothing = getattr(callee, "__name__", "") in _WARN_OF_NOTHING

    def __call__(self, *values: Any) -> Any:
        if self.warns_of_nothing and any(getattr(value, "size", 1) == 0 for value in values):
            raise LeftToPython
        strict = _strict()
        token = strict.enter()
        try:
            if self.names:
                found = self.callee(*values[: self.count], **dict(zip(self.names, values[self.count :])))
            else:
                found = self.callee(*values)
        except Exception as problem:
            raise LeftToPython from problem
        finally:
            strict.leave(token)
        if is_shared(found, values):
            raise LeftToPython
        return found


quiet = functools.cache(Quiet)


def is_shared(found: Any, given: Iterable[Any]) -> bool:
    """Whether a result holds memory of an argument: a copy of it would be no alias any more."""
    if isinstance(found, (tuple, list)):
        return any(_shares(result, given) for result in found)
    return _shares(found, given)


def _shares(result: Any, given: Iterable[Any]) -> bool:
    import numpy as np

    if type(result) is not np.ndarray:
        return False
    if result.base is None:  # its memory is new, if it is none of them
        return any(result is value for value in given)
    return any(type(value) is np.ndarray and np.may_share_memory(result, value) for value in given)


def all_matches(pattern: Any, *given: Any) -> list[Any]:
    return list(re.finditer(pattern, *given))


def format_spread(text: str, *given: Any) -> str:
    """text.format(first, *rest)"""
    return text.format(*given[:-1], *given[-1])
