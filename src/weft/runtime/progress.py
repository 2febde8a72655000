"""A word to a person who waits.  In: the name of what is being compiled; out: after a second, and only on a terminal, a
line on stderr that disappears when the work is done.  Logs and pipes never see it, and short work starts no thread that
lives to say anything.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

PATIENCE = 1.0
_busy = threading.Lock()  # one line at a time: what runs inside, or beside, the work that is told about says nothing


class _Line:
    """The line: shown by a timer, erased by the one who waited, in whatever order these come."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.lock = threading.Lock()
        self.shown = self.finished = False

    def show(self) -> None:
        with self.lock:
            if not self.finished:
                self.shown = True
                print(f"weft: compiling {self.name} ...", end="", file=sys.stderr, flush=True)

    def erase(self) -> None:
        with self.lock:
            self.finished = True
            if self.shown:
                print("\r\x1b[K", end="", file=sys.stderr, flush=True)


@contextmanager
def telling(name: str) -> Iterator[None]:
    """Say that `name` is being compiled if that takes long."""
    if sys.stderr is None or not sys.stderr.isatty() or not _busy.acquire(blocking=False):
        yield
        return
    line = _Line(name)
    timer = threading.Timer(PATIENCE, line.show)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        line.erase()
        _busy.release()
