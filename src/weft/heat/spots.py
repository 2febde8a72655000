"""One function of the program, from its first sample to its native form.  In: samples, calls, the answer of the
compiler; out: the code that stands behind the function.

    seen --samples--> armed --calls--> ready --a call--> asked --answer--> trial --clock--> native
                                                           \\------------------\\----------> left, with the reason

A call that is long is asked for at once, without the choice among those that are ready.  Where the compiler's process
has timed a native call the trial needs no further plain ones.  Only armed functions and those on trial cost anything:
the others run their own code, or the compiled one.
"""

from __future__ import annotations

import sys
from time import perf_counter, thread_time

from weft.heat import trampoline

TYPE_CHECKING = False  # as typing has it, without loading typing: a script waits for these imports
if TYPE_CHECKING:
    import types
    from collections.abc import Callable
    from typing import Any

    from weft.heat.elsewhere import Answer
    from weft.heat.hot import Counted

_SHARE = 0.1  # of the time since it was armed: what is measured without samples must take so much of it
_SHORTEST_CALL = 2e-6  # a native call costs a few tenths of this
_LONG_ENOUGH = 1e-3  # a call that may be worth cutting into parts
_ENOUGH_CALLS = 12
_ENOUGH_SECONDS = 0.01
_LONG_SAMPLES = 2
_GAIN = 1.05
_SURE_GAIN = 1.5  # by a native call that was timed elsewhere: the calls here need not be compared
_MOST_NESTED = 2000  # calls inside a call of the same function, before the wait for an outer one ends
_STRANGERS = 50  # calls without a version before it is asked whether they are the rule


class Clock:
    """Calls and the time they took of their thread: what other processes do meanwhile is none of it."""

    def __init__(self) -> None:
        self.calls = 0
        self.seconds = 0.0

    def run(self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        began = thread_time()
        try:
            return function(*args, **kwargs)
        finally:
            self.seconds += thread_time() - began
            self.calls += 1

    @property
    def enough(self) -> bool:
        return self.calls >= _ENOUGH_CALLS or self.seconds >= _ENOUGH_SECONDS

    @property
    def mean(self) -> float:
        return self.seconds / max(self.calls, 1)


class Spot:
    """A function that was seen at work."""

    def __init__(self, code: types.CodeType, namespace: dict[str, Any]) -> None:
        self.code = code
        self.namespace = namespace
        self.function: types.FunctionType | None = None
        self.twin: types.FunctionType | None = None
        self.native: Any = None  # a Counted, or what was compiled before its first call
        self.state = "seen"
        self.reason = self.remedy = ""
        self.signature = ""
        self.samples = 0  # since it was last decided about
        self.total = 0
        self.own = 0
        self.is_long = False
        self.is_recursive = False  # it was seen inside itself
        self.is_chosen = False  # of those that were measured
        self.since = 0.0  # when it was measured
        self.seconds = 0.0  # at work, by the samples
        self.has_parts = False  # a statement of it has no native form; others may have one
        self.plain, self.fast = Clock(), Clock()
        self._armed_at = 0  # samples until then
        self._inside = False
        self._warm = 0
        self._since = 0.0  # when it was armed, if not because of samples
        self._began = 0.0  # when the call began that is compiled for
        self._nested = 0
        self._timed = 0.0  # seconds of a native call elsewhere
        self.wide: frozenset[int] = frozenset()  # lines on which integers need more than 64 bits
        self.is_bound = False  # its versions cannot be restored without the compiler

    @property
    def _twin(self) -> types.FunctionType:
        assert self.twin is not None
        return self.twin

    @property
    def name(self) -> str:
        return str(getattr(self.code, "co_qualname", self.code.co_name))

    def sampled(self, is_leaf: bool, interval: float) -> None:
        """One more sample."""
        self.samples += 1
        self.seconds += interval
        self.total += 1
        self.own += is_leaf

    # --- what stands behind the function ----------------------------------------------------------------------------

    def _put(self, target: Callable[..., Any] | None) -> None:
        assert self.function is not None
        self.function.__code__ = self.code if target is None else trampoline.passing_on(self.code, target)

    def arm(
        self, function: types.FunctionType, request: Callable[[Spot, tuple[Any, ...]], bool | None], since: float = 0.0
    ) -> None:
        """Have the next calls measured, and one of them compiled for; given the time, only if they take much of it."""
        self._since = since
        self.function, self.twin = function, trampoline.twin(function, self.code)
        self.plain = Clock()
        self._request = request
        self.rearm()

    def adopt(self, function: types.FunctionType, answer: Answer, make: Callable[[Spot], Counted]) -> None:
        """What was found at work on a stack, compiled and timed as it was."""
        self.function, self.twin = function, trampoline.twin(function, self.code)
        self.plain = Clock()
        self.plain.calls, self.plain.seconds = 1, answer.each
        self.answered(answer, make)

    def rearm(self) -> None:
        """Have the next call compiled for, if enough are measured."""
        self.state, self._nested, self._armed_at = "armed", 0, self.total
        self._put(self._armed)

    def leave(self, reason: str, remedy: str = "") -> None:
        """Plain Python for good."""
        self.state, self.reason, self.remedy = "left", reason, remedy
        if self.function is not None:
            self._put(None)

    def release(self) -> None:
        """The program is over: its own code again."""
        self.leave(self.reason, self.remedy)

    def again(self) -> None:
        """As if it had just been seen."""
        self.state, self.samples, self.is_chosen = "seen", 0, False
        if self.function is not None:
            self._put(None)

    def taken_over(self, function: types.FunctionType, native: Any) -> None:
        """Compiled without samples, at its first call."""
        self.function, self.native, self.state = function, native, "native"
        self.twin = native.py_func
        self._put(native)

    # --- calls ------------------------------------------------------------------------------------------------------

    def _armed(self, *args: Any, **kwargs: Any) -> Any:
        if self._inside or self.state != "armed":
            return self._twin(*args, **kwargs)
        if self.is_recursive and self._is_within(sys._getframe(1)):
            self._nested += 1
            if self._nested > _MOST_NESTED:
                self.again()
            return self._twin(*args, **kwargs)
        if not self.plain.calls and self.total >= self._armed_at + _LONG_SAMPLES:
            self.is_long = True  # all of them were of one call, that which was under way when this was armed
        if self.is_long or self.plain.enough:
            if not self.is_long and self.plain.mean < _SHORTEST_CALL:
                self.leave("its calls are too short to gain anything")
                return self._twin(*args, **kwargs)
            if self._since and self.plain.seconds < _SHARE * (perf_counter() - self._since):
                self.again()
                return self._twin(*args, **kwargs)
            begun = self._request(self, (*args, *kwargs.values()))
            if begun is None:
                self.state, self.since = "ready", perf_counter()
                self._put(None)
                return self._twin(*args, **kwargs)
            if not begun:
                self.again()
                return self._twin(*args, **kwargs)
            self._began = perf_counter()
            if self.state == "armed":
                self.state = "asked"
                self._put(None)
        return self._watched(lambda: self.plain.run(self._twin, args, kwargs))

    def _is_within(self, frame: types.FrameType | None) -> bool:
        """Whether a call of this function is under way already; the first frame only passes the call on."""
        frame = None if frame is None else frame.f_back
        while frame is not None:
            if frame.f_code is self.code:
                return True
            frame = frame.f_back
        return False

    def _watched(self, run: Callable[[], Any]) -> Any:
        """One call, during which the function has its own code: recursion must not become deeper than it is."""
        assert self.function is not None
        own, state = self.function.__code__, self.state
        self._inside = True
        self.function.__code__ = self.code
        try:
            return run()
        finally:
            self._inside = False
            if self.state == state and self.function.__code__ is self.code:
                self.function.__code__ = own

    def answered(self, answer: Answer, make: Callable[[Spot], Counted]) -> None:
        """The compiler's answer to the first request."""
        if not answer.good:
            self.leave(answer.reason + (f" (line {answer.line})" if answer.line else ""), answer.remedy)
            self.has_parts = bool(answer.line) and self.plain.mean > _LONG_ENOUGH
            return
        self.signature, self._timed, self.wide = answer.signature, answer.call, frozenset(answer.wide)
        self.is_bound = answer.bound
        if answer.call and self.expected_gain < _GAIN:
            self.leave(f"compiled it is not faster ({self.expected_gain:.2f}x)")
            return
        self._try(make)

    @property
    def _knows_plain(self) -> bool:
        return self.plain.enough or (self.plain.calls > 0 and self.expected_gain > _SURE_GAIN)

    @property
    def is_being_measured(self) -> bool:
        return self.state == "armed" and self.plain.calls > 0

    @property
    def saved(self) -> float:
        """Seconds that native calls have saved the program, by the mean of those that were timed."""
        if self.state != "native" or not self.plain.calls or not self.fast.calls:
            return 0.0
        return float(max(0.0, self.plain.mean - self.fast.mean) * sum(self.native.call_counts))

    def is_worth(self, native_call: float) -> bool:
        """Whether a native call that takes so many seconds (0: nobody knows) would make the function faster."""
        self._timed = native_call
        return not native_call or self.expected_gain >= _GAIN

    @property
    def expected_gain(self) -> float:
        """By a native call that was timed elsewhere; 0 if there was none. A plain call under way counts so far."""
        if not self._timed:
            return 0.0
        plain = self.plain.mean if self.plain.calls else perf_counter() - self._began
        return plain / self._timed

    def in_parts(self, make: Callable[[Spot], Counted]) -> None:
        """Have what can be compiled of it compiled at the next call, which waits."""
        self.has_parts = False
        self._try(make)

    def _try(self, make: Callable[[Spot], Counted]) -> None:
        self.native = make(self)
        self.state = "trial"
        self._put(self._trial)

    def _trial(self, *args: Any, **kwargs: Any) -> Any:
        """Native and plain calls side by side, until it is clear which is faster."""
        if self._inside or self.state != "trial":
            return self._twin(*args, **kwargs)
        if not self._knows_plain and self.plain.calls <= self.fast.calls:
            return self._watched(lambda: self.plain.run(self._twin, args, kwargs))
        before, known, clock = self.native.native_calls, len(self.native.signatures), Clock()
        try:
            return self._watched(lambda: clock.run(self.native, args, kwargs))
        finally:
            self._weigh(clock, self.native.native_calls - before, len(self.native.signatures) == known)

    def _weigh(self, clock: Clock, native_calls: int, is_known: bool) -> None:
        self._warm += 1
        if native_calls and is_known and self._warm > 1:  # the first call of a version has read it from the disk
            self.fast.calls += 1
            self.fast.seconds += clock.seconds
        if self._warm >= _STRANGERS and self.fast.calls * 2 < self._warm:
            self.leave("most of its calls have arguments of other types")
        elif self.fast.enough and self._knows_plain:
            if self.gain > _GAIN:
                self.state = "native"
                self._put(self.native.entry() if hasattr(self.native, "entry") else self.native)
            else:
                self.leave(f"compiled it is not faster ({self.gain:.2f}x)")

    @property
    def gain(self) -> float:
        """How many times faster a native call is than a plain one."""
        return self.plain.mean / self.fast.mean if self.fast.mean and self.plain.calls else self.expected_gain

    def review(self) -> None:
        """A native function whose calls mostly find no version is better left alone."""
        if self.state == "native" and isinstance(getattr(self.native, "plain_calls", None), int):
            plain, native = self.native.plain_calls, self.native.native_calls
            if plain > _STRANGERS and plain > native:
                self.leave("most of its calls have arguments of other types")
