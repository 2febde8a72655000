"""Everyday programs, plain and under `weft.jit(fallback="silent")`.  In: a function and the arguments of several calls;
out: an assertion that result, arguments afterwards, which objects are the same ones, printed text and exception agree.
"""

from __future__ import annotations

import contextlib
import copy
import io
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable
from typing import Any

import numpy as np

import weft

_SEQUENCES = (list, tuple, deque)
_DICTS = (dict, OrderedDict, defaultdict, Counter)


def graph(value: Any, seen: dict[int, int]) -> Any:
    """A value as nested tuples with exact types; a mutable object that was met before is its number."""
    kind = type(value)
    if not isinstance(value, (tuple, frozenset, str, bytes, int, float, complex, type(None))):
        if id(value) in seen:
            return ("again", seen[id(value)])
        seen[id(value)] = len(seen)
    if isinstance(value, _SEQUENCES):
        more = (value.maxlen,) if isinstance(value, deque) else ()
        return (kind, *more, *(graph(item, seen) for item in value))
    if isinstance(value, _DICTS):
        default = getattr(value, "default_factory", None)
        return (kind, default, *((graph(key, seen), graph(item, seen)) for key, item in value.items()))
    if isinstance(value, (set, frozenset)):
        return (kind, *(graph(item, seen) for item in value))
    if isinstance(value, np.ndarray):
        return (kind, value.dtype.str, value.shape, value.tobytes())
    if isinstance(value, (float, complex)):
        return (kind, repr(value))
    if hasattr(value, "__dict__") and not isinstance(value, type) and not callable(value):
        return (kind, graph(vars(value), seen))
    return (kind, value)


def outcome(function: Callable[..., Any], args: tuple[Any, ...]) -> tuple[Any, ...]:
    """What a call does, as far as its caller can see."""
    text, seen = io.StringIO(), dict[int, int]()
    with contextlib.redirect_stdout(text):
        try:
            done: Any = function(*args)
            error = None
        except Exception as problem:
            done, error = None, (type(problem), str(problem))
    return graph(args, seen), graph(done, seen), error, text.getvalue()


def same(function: Callable[..., Any], *calls: tuple[Any, ...], rounds: int = 2) -> Any:
    """Every call, several times over, does what plain Python does; gives the compiled function."""
    compiled = weft.jit(function, fallback="silent")
    for _ in range(rounds):
        for args in calls:
            wanted = outcome(function, copy.deepcopy(args))
            found = outcome(compiled, copy.deepcopy(args))
            assert found == wanted, f"{function.__name__}{args}:\n weft   {found}\n python {wanted}"
    return compiled
