"""Which way calls go where the dispatcher is Python.  In: calls, and how long they took; out: whether plain Python runs
the next one of their kind.

Without a C compiler versions are generated Python, which is far slower than the function itself where no loop became an
expression of whole arrays. So calls run by turns in a version and in the function (only where both give the same to the
last bit), and the faster way is kept. Nor is a question asked again at every call that was left to Python: `left.c` and
`trials.c` do the same for the native dispatcher, and say why.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable
from typing import Any

import numpy as np

_CALLS = 3
_BEARABLE = 0.025  # seconds of a generated call: plain Python may take a hundred times as long
_GAIN = 0.95
_ANSWERS = 3  # times that calls of a kind were left to Python, before that is taken for granted
_FIRST_AGAIN, _AGAIN = 64, 8  # calls after which the question is asked again, and how many times as many after that
_LONGER = 8  # times the typical call: then another way may be the faster one
_WORTH = 100e-6  # seconds of a call from which on a trial costs next to nothing
_MOST_KINDS = 64
_LOOKED_INTO = frozenset((np.ndarray, list, tuple))

#: Time of this thread alone; tests put another clock in its place.
clock: Callable[[], float] = time.thread_time
#: A quicker one, for calls that are only watched.
tick: Callable[[], float] = time.monotonic


class Way:
    """Calls of one kind."""

    def __init__(self) -> None:
        self.to_plain = False  # plain Python runs such calls, with no question asked
        self.calls, self.again = 0, _FIRST_AGAIN
        self._answers = 0
        self.is_timed = False  # it was the clock that chose plain Python
        self._generated: list[float] = []
        self._plain: list[float] = []
        self._is_over = False  # the trial, for now
        self._limit, self._worth = 0.0, _WORTH

    def ask_again(self) -> None:
        """There were many calls since the last question."""
        self.again *= _AGAIN
        self._begin()

    def _begin(self) -> None:
        self.to_plain = self.is_timed = self._is_over = False
        self._generated, self._plain = [], []

    def left(self) -> None:
        """No version is for such a call."""
        self._answers += 1
        self.to_plain = self._answers >= _ANSWERS

    def watched(self, plain: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A call that goes to plain Python; one far longer than those of the trial may be faster in another way."""
        began = tick()
        answer = plain(*args, **kwargs)
        if tick() - began > self._limit:
            self._begin()
        return answer

    # --- the trial --------------------------------------------------------------------------------------------------

    @property
    def is_plain_s_turn(self) -> bool:
        return not self._is_over and len(self._generated) > len(self._plain) + 1

    def generated(self, function: Callable[..., Any], values: list[Any]) -> Any:
        if self._is_over:
            return function(*values)
        began = clock()
        answer = function(*values)
        taken = clock() - began
        self._generated.append(taken)
        self._is_over = self._is_over or taken > _BEARABLE
        return answer

    def plain(self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        began = clock()
        answer = function(*args, **kwargs)
        self._plain.append(clock() - began)
        warm = self._generated[1:]  # the first one has brought its code and its memory into the caches
        if self._is_over or not warm:  # a call inside has ended the trial
            return answer
        if len(self._plain) > 1 and min(self._plain) > 2 * _median(warm):
            self._is_over = True
        elif len(self._plain) >= _CALLS:
            self._is_over = True
            self.to_plain = self.is_timed = _median(self._plain) < _GAIN * _median(warm)
            self._limit = max(_LONGER * _median(self._plain), self._worth)
            self._worth *= 2
        return answer

    @property
    def times(self) -> tuple[float, float]:
        """Seconds of a generated and of a plain call."""
        return _median(self._generated[1:] or self._generated), _median(self._plain)


class Ways:
    """The kinds of calls of one function."""

    def __init__(self) -> None:
        self._ways: dict[Hashable, Way] = {}
        #: By the types of arguments without names, where these are all that there is to their kind.
        self.by_types: dict[tuple[type, ...], Way] = {}

    def way(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Way:
        types = tuple(map(type, args))
        kind: Hashable = types
        is_plain = not kwargs and _LOOKED_INTO.isdisjoint(types)
        if not is_plain:
            kind = (*map(_kind, args), *((name, _kind(value)) for name, value in kwargs.items()))
        found = self._ways.get(kind)
        if found is None:
            if len(self._ways) >= _MOST_KINDS:
                self.clear()
            found = self._ways[kind] = Way()
            if is_plain:
                self.by_types[types] = found
        return found

    def clear(self) -> None:
        self._ways.clear()
        self.by_types.clear()


def _median(seconds: list[float]) -> float:
    ordered = sorted(seconds)
    return ordered[(len(ordered) - 1) // 2] if ordered else 0.0


def _kind(value: Any) -> Any:
    """The type of an argument, with that of the elements of an array, or of the first item of a list or tuple."""
    kind = type(value)
    if kind is np.ndarray:
        return kind, value.dtype, value.ndim, value.flags.forc
    return (kind, type(value[0])) if kind in _LOOKED_INTO and value else kind
