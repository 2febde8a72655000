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


class Quiet:
    """A function of NumPy with arguments by position, the last ones of these names. Python repeats a call that NumPy
    warns of, or in which it raises: that may be about the views that it was given, which cannot be written."""

    def __init__(self, callee: Any, count: int, names: tuple[str, ...]) -> None:
        self.callee, self.count, self.names = callee, count, names

    def __call__(self, *values: Any) -> Any:
        import numpy as np

        try:
            with np.errstate(divide="raise", over="raise", invalid="raise"):
                found = self.callee(*values[: self.count], **dict(zip(self.names, values[self.count :])))
        except Exception as problem:
            raise LeftToPython from problem
        if is_shared(found, values):
            raise LeftToPython
        return found


quiet = functools.cache(Quiet)


def is_shared(found: Any, given: Iterable[Any]) -> bool:
    """Whether a result holds memory of an argument: a copy of it would be no alias any more."""
    import numpy as np

    results = found if isinstance(found, (tuple, list)) else (found,)
    arrays = [value for value in given if type(value) is np.ndarray]
    made = [result for result in results if type(result) is np.ndarray] if arrays else []
    return any(np.may_share_memory(result, value) for result in made for value in arrays)


def all_matches(pattern: Any, *given: Any) -> list[Any]:
    return list(re.finditer(pattern, *given))


def format_spread(text: str, *given: Any) -> str:
    """text.format(first, *rest)"""
    return text.format(*given[:-1], *given[-1])
