"""Refusals of a compiled function that outlive the process.  In: the function and a call; out: the refusal that another
process has met, raised; or one that is kept for others.  An error on the way is a warning: nothing here is needed.
"""

from __future__ import annotations

import warnings
from typing import Any

from weft import net, steps
from weft.errors import CacheWarning, Unsupported
from weft.runtime import refusals


def recall(function: Any, stored: str | None, values: tuple[Any, ...]) -> None:
    """Raise the refusal that another process has met for a function and such arguments."""
    problem = None
    if stored is not None:
        try:
            steps.enter("recall")
            problem = refusals.restore(stored, function.py_func, values)
        except steps.OutOfTime:
            raise
        except Exception as trouble:
            without_cache(function, trouble)
    if problem is not None:
        function._load()  # what is around the statement may still be compiled
        raise problem


def remember(function: Any, stored: str | None, values: tuple[Any, ...], problem: Unsupported) -> None:
    """Keep a refusal for other processes."""
    if stored is not None:
        try:
            steps.enter("remember")
            refusals.keep(stored, function.py_func, values, problem)
        except Exception as trouble:
            without_cache(function, trouble)


def without_cache(function: Any, trouble: Exception) -> None:
    """An error inside weft while it used the disk cache, which is not needed."""
    if net.is_meant(trouble, function.options):
        raise trouble
    place = function._place()
    reason = net.refusal(trouble, place, function.options).reason
    text = f"{place}: the disk cache is not used for {function.py_func.__name__}: {reason}"
    warnings.warn_explicit(text, CacheWarning, place.file, max(place.line, 1))
