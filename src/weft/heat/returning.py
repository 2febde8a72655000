"""The end of a call that takes long.  In: a function that a frame of the main thread is in the middle of calling; out:
something done when the next such call returns to that code.

Tracing a frame until it comes to the head of its loop makes every call in between several times slower.  Where an
iteration is one long call, the function that is called tells its end: its next call passes through here.
"""

from __future__ import annotations

import _thread
import sys

from weft.heat import trampoline
from weft.standins import original

TYPE_CHECKING = False  # as typing has it, without loading typing: a script waits for these imports
if TYPE_CHECKING:
    import types
    from collections.abc import Callable
    from typing import Any


def called_from(frame: types.FrameType, top: types.FrameType) -> types.FrameType | None:
    """The frame of the call that a frame waits for, in the stack of `top`; None if it waits for none."""
    above: types.FrameType | None = None
    at: types.FrameType | None = top
    while at is not None and at is not frame:
        above, at = at, at.f_back
    return above if at is frame else None


class Returning:
    """A function whose next call from certain code, on the main thread, does something at its end.

    `skipped`: of such calls, how many come before.
    """

    def __init__(
        self,
        function: types.FunctionType,
        caller: types.CodeType,
        main: int,
        work: Callable[[], None],
        skipped: int = 0,
    ) -> None:
        self._function, self._caller, self._main, self._work = function, caller, main, work
        self._left = skipped
        self._own = self._passing = function.__code__
        self._is_over = self._is_under_way = False
        self._put()

    @property
    def is_waiting(self) -> bool:
        """Whether its next call comes here: other code may have been put behind the function meanwhile."""
        return not self._is_over and (self._is_under_way or self._function.__code__ is self._passing)

    def give_up(self) -> None:
        self._is_over = True
        self._remove()

    def _put(self) -> None:
        self._own = self._function.__code__
        self._passing = trampoline.passing_on(self._own, self._called)
        self._function.__code__ = self._passing

    def _remove(self) -> None:
        if self._function.__code__ is self._passing:
            self._function.__code__ = self._own

    def _called(self, *args: Any, **kwargs: Any) -> Any:
        caller = sys._getframe(1).f_back  # the first one only passes the call on
        is_it = caller is not None and caller.f_code is self._caller and _thread.get_ident() == self._main
        if is_it and self._left:
            self._left -= 1
            is_it = False
        self._remove()  # a call inside this one runs as it would
        own = self._function.__code__
        self._is_under_way = True
        try:
            return self._function(*args, **kwargs)
        finally:
            self._is_under_way = False
            if not self._is_over and is_it:
                self._is_over = True
                self._work()
            elif not self._is_over and self._function.__code__ is own:
                self._put()


def function_of(frame: types.FrameType) -> types.FunctionType | None:
    """The function that a frame runs, if its calls can be passed on."""
    code = original(frame.f_code)
    return trampoline.find_function(code, frame.f_globals) if trampoline.unfit(code) is None else None
