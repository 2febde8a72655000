"""Loops of the program from their first sample to their native form.  In: the stack of the main thread; out: requests
to the compiler, and the main thread on its way into a native loop.
"""

from __future__ import annotations

import sys

from weft.heat import elsewhere, loops
from weft.heat.snapshot import Candidate, Snapshot
from weft.heat.standing import Place, Standing, line_of, loop_at

TYPE_CHECKING = False  # as typing has it, without loading typing: a script waits for these imports
if TYPE_CHECKING:
    import types
    from typing import Any

    from weft.heat.manager import Manager
    from weft.heat.remembered import HotLoop
    from weft.heat.spots import Spot

_HOT = 4  # samples in one loop
_MOST_STRANGE = 6
_MOST_WAITS = 3  # in vain, for a loop that is thought to have short iterations
_AGAIN = 10  # samples between two attempts to enter a loop


class UnderWay:
    """The loops of one program."""

    def __init__(self, manager: Manager, main: int) -> None:
        from weft.heat.manager import is_users

        self.found: dict[tuple[int, int], loops.Loop] = {}
        self._manager, self.main = manager, main
        self._standing = Standing(is_users)
        self._entry: loops.Entry | None = None
        self._pause = 0
        self._snapshot: Snapshot | None = None  # that the compiler is at work on
        self._wanted: dict[loops.Loop | Spot, Place] = {}  # that the main thread has been asked for
        self._candidates: list[Candidate] = []  # that it has found
        self._noted: dict[tuple[int, int], HotLoop] = {}

    @property
    def saved(self) -> float:
        """Seconds that native loops have saved the program."""
        return sum(loop.saved for loop in self.found.values())

    def look(self, thread: int, top: types.FrameType, interval: float) -> None:
        """One sample of a thread, so many seconds after the last one."""
        if thread != self.main or not loops.supported():
            return
        if any(loop.is_inside for loop in self.found.values()):
            return
        self._pause -= 1
        if self._candidates:
            self._begin_snapshot()
        places = self._standing.places(top)
        if self._look_at_loops(places, interval) and self._snapshot is None and not self._wanted:
            self._ask(places)

    def _look_at_loops(self, places: list[Place], interval: float) -> bool:
        """Whether something on the stack may be asked for: it is not in a loop that will be native."""
        for place in places:
            if place.key is None:
                continue
            loop = self.found.get(place.key) or self._known(place.key, place.frame)
            if loop is None or self._is_wrong(place.key, loop):
                continue
            loop.watched += interval
            if loop.is_unknown:
                return True
            if loop.state in ("ready", "native"):
                self._enter(loop)
            if loop.state != "left" and not loop.is_slow and loop.waits < _MOST_WAITS:
                return False
        return True

    def _new_loop(self, place: Place) -> loops.Loop | None:
        """The loop of a frame, if it is hot and nobody has asked for it."""
        frame = place.frame
        if place.key is None or place.count < _HOT or place.key in self.found or not line_of(frame):
            return None
        return loops.Loop(frame.f_code, frame.f_globals)

    def _new_function(self, place: Place) -> Spot | None:
        """The same of its function, if that may be called again."""
        if place.is_base or not self._manager.asks_for_stacks():
            return None
        return self._manager.hot_spot(place.frame.f_code)

    def _again(self, place: Place) -> loops.Loop | None:
        """A loop that was asked for in vain: the iteration that was under way may have been the first one, in which
        variables have no values as yet, or one that cannot be repeated. The next is another one."""
        loop = None if place.key is None else self.found.get(place.key)
        if loop is None or not loop.is_unknown or not line_of(place.frame):
            return None
        loop.samples += 1
        return loop if loop.samples >= _HOT else None

    def _ask(self, places: list[Place]) -> None:
        """Have all that is hot on a stack compiled."""
        found: dict[loops.Loop | Spot, Place] = {}
        for place in places:
            for owner in (self._new_function(place), self._new_loop(place), self._again(place)):
                if owner is not None:
                    found.setdefault(owner, place)
        if found and self._manager.can_ask() and elsewhere.possible() is None:
            self._wanted = found
            loops.on_main_thread(self._collect)

    def _collect(self) -> None:
        """On the main thread, whose frames stand still meanwhile."""
        wanted, self._wanted = self._wanted, {}
        stack = set()
        frame: types.FrameType | None = sys._getframe(1)
        while frame is not None:
            stack.add(frame)
            frame = frame.f_back
        here = [(owner, place) for owner, place in wanted.items() if place.frame in stack]
        self._candidates = [
            Candidate(place.frame, owner, place.key)
            for owner, place in here
            if place.key is None or loop_at(place.frame) == place.key[1]
        ]

    def _begin_snapshot(self) -> None:
        snapshot, self._candidates = Snapshot(self._candidates), []
        if self._manager.begin(snapshot.answers, snapshot, None, True):
            self._snapshot = snapshot
            for candidate in snapshot.candidates:
                candidate.owner.state = "asked"
                if isinstance(candidate.owner, loops.Loop):
                    self.found[candidate.key] = candidate.owner
                    candidate.owner.requests += bool(candidate.owner.samples)
                    candidate.owner.samples = 0
        snapshot.begun()

    def over(self, snapshot: Snapshot) -> None:
        """No further answer will come."""
        self._snapshot = None
        for candidate in snapshot.left_over():
            if isinstance(candidate.owner, loops.Loop):
                self.found.pop(candidate.key, None)
            else:
                candidate.owner.again()

    def _known(self, key: tuple[int, int], frame: types.FrameType) -> loops.Loop | None:
        """A loop that was native in the last run of the program: it has been compiled, and what it gains is known."""
        noted = self._manager.note.loop(frame.f_code, key[1])
        if noted is None:
            return None
        loop = loops.Loop(frame.f_code, frame.f_globals)
        loop.line, loop.gain, loop.each = noted.line, noted.gain, noted.each
        loop.wide = frozenset(noted.wide)
        loop.state = "ready"
        self.found[key], self._noted[key] = loop, noted
        return loop

    def _is_wrong(self, key: tuple[int, int], loop: loops.Loop) -> bool:
        """Whether a loop is not what was noted of it: it is watched like any other."""
        noted = self._noted.get(key)
        if noted is None or (loop.state != "left" and loop.strange <= _MOST_STRANGE):
            return False
        self._manager.note.forget(noted)
        del self.found[key], self._noted[key]
        return True

    def _begin(self, loop: loops.Loop, variables: dict[str, Any], line: int, is_locked: bool) -> bool:
        code, namespace, wide, can_wait = loop.code, loop.namespace, loop.wide, loop.can_wait
        work = lambda: loops.compiled(code, namespace, variables, line, wide, can_wait)  # noqa: E731
        return self._manager.begin(work, loop, None, is_locked)

    def _ask_again(self, loop: loops.Loop, variables: dict[str, Any], line: int) -> bool:
        """On the main thread, at the head of the loop."""
        return self._begin(loop, variables, line, False)

    def _enter(self, loop: loops.Loop) -> None:
        """Send the main thread to the head of a loop."""
        from weft.heat.manager import loading_time

        if (self._entry is not None and not self._entry.is_over) or self._pause > 0:
            return
        if loop.is_awaited:
            return
        saving = loop.watched * (1.0 - 1.0 / loop.gain) if loop.gain else 0.0  # if it goes on for as long again
        is_paid = loop.gain > 2.0 or saving > 2.0 * loading_time(True) or self._manager.affordable(loading_time(True))
        if not is_paid:
            return
        self._entry = loops.Entry(loop, self._ask_again)
        self._pause = _AGAIN
        loops.on_main_thread(self._entry.begin)
