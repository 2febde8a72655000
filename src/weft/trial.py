"""A function in regions against the plain one.  In: both, and calls; out: the faster one, in the place of both.

Calls go to the two by turns, so that none runs twice, and only where both give the same to the last bit.  Calls in
which something was compiled do not count.  A plain call that takes twice as long ends the trial, and none is tried
where it might take very long: native code can be a hundred times as fast.

What was found for short calls need not hold for long ones: the trial begins anew after a call that takes many times as
long as those of the trial (the dispatcher looks), and when there were eight times as many calls.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from threading import get_ident
from typing import Any

from weft.errors import hide_own_frames

_CALLS = 3
_MOST_DISTURBED = 8
_BEARABLE = 0.025  # seconds of a call in regions
_GAIN = 0.95
_LONGER = 8  # times the typical call: then another way may be the faster one
_WORTH = 100e-6  # seconds of a call from which on a trial costs next to nothing
_FIRST_AGAIN, _AGAIN = 64, 8  # calls after which the trial begins anew, and how many times as many after that
_CHEAP = 0.01  # seconds of a plain call: one that was disturbed, by the garbage collector perhaps, decides nothing

#: Time of this thread alone; tests put another clock in its place.
clock: Callable[[], float] = time.thread_time


def median(seconds: list[float]) -> float:
    """The middle one; of an even number the mean of two. The module `statistics` takes milliseconds to load."""
    ordered = sorted(seconds)
    return (ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2]) / 2


def median_low(seconds: list[float]) -> float:
    """The middle one; of an even number the lower of two."""
    return sorted(seconds)[(len(seconds) - 1) // 2]


class Regions:
    """What runs where a function was split, until one of the two ways is found to be the faster."""

    def __init__(
        self,
        owner: Any,
        split: Callable[..., Any],
        plain: Callable[..., Any],
        other: Callable[[tuple[Any, ...], dict[str, Any]], object] | None = None,
    ) -> None:
        """`other` is asked once, with the arguments of a call, where regions gain little."""
        self._owner = owner
        self._other, self._gains_little = other, False
        self._split, self._plain_function = split, plain
        self._times: dict[Any, list[float]] = {}
        self._disturbed = 0
        self._next = _FIRST_AGAIN
        self._chosen: Callable[..., Any] | None = None
        #: The way of the call under way, and its thread: calls inside it, of a recursive function, are part of it.
        self._running: tuple[Callable[..., Any], int] | None = None
        self._worth = _WORTH
        #: Seconds of a call above which regions need no trial: plain calls took more than twice as long before.
        self._wins_above = self._won_above = math.inf
        self.again()

    def again(self) -> None:
        """Begin anew: the arguments may have changed since."""
        if self._owner._plain is not self:
            self._times = {self._split: [], self._plain_function: []}
            self._disturbed = 0
            self._owner._longest = 0
            self._owner._plain = self

    def asked(self) -> None:
        """The dispatcher asks about a call that may be known: begin anew if there were many since."""
        if self._owner._plain is not self and self._owner._plain_calls >= self._next:
            self._next = self._owner._plain_calls * _AGAIN
            self._wins_above = self._won_above
            self.again()

    def grown(self) -> None:
        """A call took far longer than those of the trial: begin anew."""
        self._wins_above = math.inf
        self.again()

    def _choose(self, way: Any) -> None:
        """Let calls go this way, until they take much longer."""
        split, plain = self._times[self._split], self._times[self._plain_function]
        self._worth = 2 * self._worth if way is self._chosen else _WORTH
        self._chosen = way
        self._owner._plain = way
        if plain:
            wins = way is self._split and median(plain) > 2 * median(split)
            self._won_above = median(split) / _LONGER if wins else math.inf
        typical = median(self._times[way] or split or [0.0])
        self._owner._longest = int(1e9 * max(_LONGER * typical, self._worth))

    @property
    def slower(self) -> tuple[float, float] | None:
        """Seconds of a call in regions and of a plain one, if that has taken their place."""
        if self._owner._plain is not self._plain_function:
            return None
        return median(self._times[self._split]), median(self._times[self._plain_function])

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self._running is not None and self._running[1] == get_ident():
            return self._inside(self._running[0], args, kwargs)
        split, plain = self._times[self._split], self._times[self._plain_function]
        way = self._split if len(split) <= len(plain) + 1 else self._plain_function
        before, self._running = self._running, (way, get_ident())
        asked, began = self._asked(), clock()
        try:
            return way(*args, **kwargs)
        except BaseException as error:
            hide_own_frames(error)
            raise
        finally:
            self._running = before
            self._note(way, clock() - began, self._asked() != asked)
            if self._gains_little and self._other is not None:
                other, self._other = self._other, None
                other(args, kwargs)

    def _inside(self, way: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        try:
            return way(*args, **kwargs)
        except BaseException as error:
            hide_own_frames(error)
            raise

    def _asked(self) -> int:
        return sum(part.questions for part in self._owner._parts())

    def _note(self, way: Any, seconds: float, disturbed: bool) -> None:
        if self._owner._plain is not self:  # a call inside has ended the trial
            return
        split, plain = self._times[self._split], self._times[self._plain_function]
        if disturbed:
            self._disturbed += 1
            if self._disturbed == _MOST_DISTURBED:
                self._owner._plain = self._split
            return
        self._times[way].append(seconds)
        if way is self._split:
            if not self._same_bits():
                self._owner._plain = self._split
            elif seconds > _BEARABLE or seconds > self._wins_above:
                self._choose(self._split)
            return
        warm = split[1:] or split  # the first one has brought its code and its memory into the caches
        if median_low(plain) > 2 * median(warm) and (len(plain) > 1 or seconds > _CHEAP):
            self._choose(self._split)
        elif len(plain) == _CALLS:
            self._gains_little = True
            is_faster = median(plain) < _GAIN * median(warm)
            self._choose(self._plain_function if is_faster else self._split)

    def _same_bits(self) -> bool:
        """Whether no region rounds in another way than Python does."""
        parts = [part for part in self._owner._parts() if part is not self._owner]
        return all(version.exact for part in parts for version in part.versions)


@contextmanager
def suspended(parts: Sequence[Any]) -> Iterator[None]:
    """No call of these functions runs as plain Python for a comparison while this lasts."""
    before = [(part, part.may_run_plain, part._plain) for part in parts]
    for part, _, plain in before:
        part.may_run_plain = 0
        if isinstance(plain, Regions):
            part._plain = plain._split
    try:
        yield
    finally:
        for part, may_run_plain, plain in before:
            part.may_run_plain = may_run_plain
            if isinstance(plain, Regions) and part._plain is plain._split:
                part._plain = plain
