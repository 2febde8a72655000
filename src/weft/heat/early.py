"""The first moments of a program.  In: a program that begins; out: a thread that does nothing until the program has run
for a while, and then loads and becomes its manager; and the same in the program's children.

Most scripts end before anything in them is worth compiling: until then this module is all that they pay for.
"""

from __future__ import annotations

import _thread
import atexit
import os
from time import process_time, sleep

from weft.heat.remembered import Note

TYPE_CHECKING = False  # as typing has it, without loading typing: a script waits for these imports
if TYPE_CHECKING:
    from typing import Any

    from weft.heat.beforehand import First
    from weft.heat.manager import Manager
    from weft.heat.spots import Spot

_QUIET = 0.3  # seconds of the processor
_QUIET_AGAIN = 0.03  # of a program that was hot before
_SLOWEST = 0.5  # seconds between two looks at a program that waits for something


class Watch:
    """One program from `start` to `stop`; `manager` is there once it has run for a while."""

    def __init__(self, options: dict[str, Any], file: str = "") -> None:
        self.options = options
        self.note = Note(file)  # of the last run of this script
        self.manager: Manager | None = None
        self.spots: list[Spot] = []  # of functions compiled before their first call
        self.firsts: list[First] = []  # functions that have not been called
        self._lock = _thread.allocate_lock()  # held while modules are imported: no fork of the program in between
        self._holds = False  # the lock, for a fork
        self._running = False
        self._process = os.getpid()
        self._main = _thread.get_ident()

    def start(self) -> None:
        self._running = True
        atexit.register(self.release)  # the first to be told is the last to be called
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(
                before=self._before_fork, after_in_parent=self._after_fork, after_in_child=self._after_fork_in_child
            )
        _thread.start_new_thread(self._watch, (self._process,))

    def stop(self) -> None:
        """No more samples, and nothing half imported that the end of the program might wait for."""
        self._running = False
        with self._lock:
            if self.manager is not None:
                self.manager.stop()
                if os.getpid() == self._process:
                    self._remember(self.manager)

    def release(self) -> None:
        """Let go of the program, when all that it does at its exit is done.

        Code objects are unknown to the garbage collector: one that holds the program's namespace, through what it
        calls, would keep all its objects alive, and Python would go through all of them again and again as it ends.
        """
        with self._lock:
            for spot in self.spots:
                spot.release()
            for first in self.firsts:
                first.release()
            if self.manager is not None:
                self.manager.release()
            self.manager, self.firsts = None, []
            self.spots.clear()

    def _remember(self, manager: Manager) -> None:
        """Leave a note for the next run.  The program is over: a mistake of ours here is nothing to show its user."""
        try:
            self.note.write(manager)
        except Exception:
            if os.environ.get("WEFT_VERIFY", "0") not in ("", "0"):
                raise

    def _watch(self, process: int) -> None:
        interval = quiet = _QUIET_AGAIN if self.note else _QUIET
        while (left := quiet - process_time()) > 0.0:
            sleep(max(left, interval))
            interval = min(1.5 * interval, _SLOWEST)
        with self._lock:
            if not self._running or os.getpid() != process:
                return
            manager = self._managed()
        manager.watch()

    def _managed(self) -> Manager:
        if self.manager is None:
            from weft.heat.manager import Manager

            self.manager = Manager(self.options, self._lock, self._main, self.note)
            self.manager.spots = self.spots
        return self.manager

    def reported(self) -> Manager:
        """The manager, for a report, be it of a program that has ended before there was one."""
        return self._managed()

    # --- forks of the program ---------------------------------------------------------------------------------------

    def _is_ours(self) -> bool:
        """Whether this fork is the compiler's own."""
        from weft.heat import elsewhere

        return elsewhere.making

    def _before_fork(self) -> None:
        if self._running and not (self.manager is not None and self._is_ours()):
            self._lock.acquire()
            self._holds = True

    def _after_fork(self) -> None:
        if self._holds:
            self._holds = False
            self._lock.release()

    def _after_fork_in_child(self) -> None:
        if not self._holds:
            return
        self._after_fork()
        self._main = _thread.get_ident()
        if self.manager is not None:
            self.manager.forked(self._main)
        _thread.start_new_thread(self._watch, (os.getpid(),))
