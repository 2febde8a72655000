"""Loops of the program from their first sample to their native form.  In: the stack of the main thread; out: requests
to the compiler, and the main thread on its way into a native loop.
"""

from __future__ import annotations

from time import process_time

from weft.heat import elsewhere, loops
from weft.heat.snapshot import Candidate, Snapshot
from weft.heat.standing import Place, Standing, line_of

TYPE_CHECKING = False  # as typing has it, without loading typing: a script waits for these imports
if TYPE_CHECKING:
    import types
    from typing import Any

    from weft.heat.manager import Manager
    from weft.heat.spots import Spot

_HOT = 4  # samples in one loop
_WAITING = 0.03  # of the time of the program: what may be spent on the way to the heads of loops
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
        self._strange = 0  # samples of a loop that is known, at which it could not be entered

    def look(self, thread: int, top: types.FrameType, interval: float) -> None:
        """One sample of a thread, so many seconds after the last one."""
        if thread != self.main or not loops.supported():
            return
        if any(loop.is_inside for loop in self.found.values()):
            return
        self._pause -= 1
        places = self._standing.places(top)
        if self._look_at_loops(places, interval) and self._snapshot is None:
            self._ask(places)

    def _look_at_loops(self, places: list[Place], interval: float) -> bool:
        """Whether something on the stack may be asked for: it is not in a loop that will be native."""
        for place in places:
            if place.key is None:
                continue
            loop = self.found.get(place.key) or self._known(place.key, place.frame)
            if loop is None:
                continue
            loop.watched += interval
            if loop.is_unknown and line_of(place.frame) and self._manager.can_ask():
                # The iteration that was under way may have been the first one, in which variables have no values as
                # yet, or one that cannot be repeated: the next is another one.
                self._ask_later(loop, place.frame)
            elif loop.state in ("ready", "native"):
                self._enter(loop, place.frame)
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

    def _ask(self, places: list[Place]) -> None:
        """Have all that is hot on a stack compiled."""
        found: dict[loops.Loop | Spot, Place] = {}
        for place in places:
            for owner in (self._new_function(place), self._new_loop(place)):
                if owner is not None:
                    found.setdefault(owner, place)
        if not found or not self._manager.can_ask() or elsewhere.possible() is not None:
            return
        snapshot = Snapshot([Candidate(place.frame, owner, place.key) for owner, place in found.items()])
        if not self._manager.begin(snapshot.answers, snapshot, None, True):
            return
        snapshot.begun()
        self._snapshot = snapshot
        for candidate in snapshot.candidates:
            candidate.owner.state = "asked"
            if isinstance(candidate.owner, loops.Loop):
                self.found[candidate.key] = candidate.owner

    def over(self, snapshot: Snapshot) -> None:
        """No further answer will come."""
        self._snapshot = None
        for candidate in snapshot.left_over():
            if isinstance(candidate.owner, loops.Loop):
                self.found.pop(candidate.key, None)
            else:
                candidate.owner.again()

    def _ask_later(self, loop: loops.Loop, frame: types.FrameType) -> None:
        loop.samples += 1
        if loop.samples < _HOT:
            return
        loop.samples = 0
        loop.requests += 1
        if self._begin(loop, loops.variables_of(frame), line_of(frame), True):
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
        if not loop.prepare(loops.variables_of(frame), line_of(frame)):
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
        if loop.waited > _WAITING * process_time():
            return
        saving = loop.watched * (1.0 - 1.0 / loop.gain) if loop.gain else 0.0  # if it goes on for as long again
        is_paid = loop.gain > 2.0 or saving > 2.0 * loading_time(True) or self._manager.affordable(loading_time(True))
        if not is_paid or (loop.outline is None and not loop.prepare(loops.variables_of(frame), line_of(frame))):
            return
        self._entry = loops.Entry(loop, self._ask_again)
        self._pause = _AGAIN
        loops.on_main_thread(self._entry.begin)
