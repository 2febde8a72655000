"""Loops of the program from their first sample to their native form.  In: the stack of the main thread; out: requests
to the compiler, and the main thread on its way into a native loop.
"""

from __future__ import annotations

from weft.heat import elsewhere, loops
from weft.heat.standing import Standing, line_of

TYPE_CHECKING = False  # as typing has it, without loading typing: a script waits for these imports
if TYPE_CHECKING:
    import types
    from typing import Any

    from weft.heat.manager import Manager

_HOT = 6  # samples in one loop
_MOST_STRANGE = 6
_AGAIN = 10  # samples between two attempts to enter a loop


class UnderWay:
    """The loops of one program."""

    def __init__(self, manager: Manager, main: int) -> None:
        from weft.heat.manager import is_users

        self.found: dict[tuple[int, int], loops.Loop] = {}
        self._manager, self._main = manager, main
        self._standing = Standing(is_users)
        self._entry: loops.Entry | None = None
        self._pause = 0
        self._strange = 0  # samples of a loop that is known, at which it could not be entered

    def look(self, thread: int, top: types.FrameType, interval: float) -> None:
        """One sample of a thread, so many seconds after the last one."""
        if thread != self._main or not loops.supported():
            return
        if any(loop.is_inside for loop in self.found.values()):
            return
        self._pause -= 1
        for frame, key, count in self._standing.candidates(top):
            loop = self.found.get(key) or self._known(key, frame)
            if loop is not None:
                loop.watched += interval
            if loop is None:
                if count >= _HOT and line_of(frame) and self._manager.can_ask() and elsewhere.possible() is None:
                    self._ask_first(key, frame)
                return
            if loop.is_unknown and line_of(frame) and self._manager.can_ask():
                # The iteration that was under way may have been the first one, in which variables have no values as
                # yet, or one that cannot be repeated: the next is another one.
                self._ask_later(loop, frame)
            elif loop.state in ("ready", "native"):
                self._enter(loop, frame)
            if loop.state != "left":
                return

    def _ask_first(self, key: tuple[int, int], frame: types.FrameType) -> None:
        loop = loops.Loop(frame.f_code, frame.f_globals)
        if self._begin(loop, dict(frame.f_locals), line_of(frame), True):
            self.found[key] = loop

    def _ask_later(self, loop: loops.Loop, frame: types.FrameType) -> None:
        loop.samples += 1
        if loop.samples < _HOT:
            return
        loop.samples = 0
        loop.requests += 1
        if self._begin(loop, dict(frame.f_locals), line_of(frame), True):
            loop.state = "asked"

    def _known(self, key: tuple[int, int], frame: types.FrameType) -> loops.Loop | None:
        """A loop that was native in the last run of the program: it has been compiled, and what it gains is known."""
        noted = self._manager.note.loop(frame.f_code, key[1])
        if noted is None:
            return None
        loop = loops.Loop(frame.f_code, frame.f_globals)
        loop.line, loop.gain, loop.each = noted.line, noted.gain, noted.each
        loop.wide = frozenset(noted.wide)
        loop.state = "ready"
        if not loop.prepare(dict(frame.f_locals), line_of(frame)):
            self._strange += 1
            if loop.state == "left" or self._strange > _MOST_STRANGE:
                self._manager.note.forget(noted)  # it is watched like any other
            return None
        self.found[key] = loop
        return loop

    def _begin(self, loop: loops.Loop, variables: dict[str, Any], line: int, is_locked: bool) -> bool:
        code, namespace, wide, can_wait = loop.code, loop.namespace, loop.wide, loop.can_wait
        work = lambda: loops.compiled(code, namespace, variables, line, wide, can_wait)  # noqa: E731
        return self._manager.begin(work, loop, None, is_locked)

    def _ask_again(self, loop: loops.Loop, variables: dict[str, Any], line: int) -> bool:
        """On the main thread, at the head of the loop."""
        return self._begin(loop, variables, line, False)

    def _enter(self, loop: loops.Loop, frame: types.FrameType) -> None:
        """Send the main thread to the head of a loop."""
        from weft.heat.manager import loading_time

        if (self._entry is not None and not self._entry.is_over) or self._pause > 0:
            return
        saving = loop.watched * (1.0 - 1.0 / loop.gain) if loop.gain else 0.0  # if it goes on for as long again
        is_paid = loop.gain > 2.0 or saving > 2.0 * loading_time(True) or self._manager.affordable(loading_time(True))
        if not is_paid or (loop.outline is None and not loop.prepare(dict(frame.f_locals), line_of(frame))):
            return
        self._entry = loops.Entry(loop, self._ask_again)
        self._pause = _AGAIN
        loops.on_main_thread(self._entry.begin)
