"""A word to a person who waits.  In: the name of what is being compiled; out: after a second, on a terminal or in a
notebook, a line that disappears when the work is done.  Logs and pipes never see it, and short work starts no thread
that lives to say anything.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

PATIENCE = 1.0
_busy = threading.Lock()  # one line at a time: what runs inside, or beside, the work that is told about says nothing


class _Line:
    """The line: shown by a timer, erased by the one who waited, in whatever order these come."""

    def __init__(self, name: str, display: Any = None) -> None:
        self.name = name
        self.display = display  # of a notebook
        self.handle: Any = None
        self.lock = threading.Lock()
        self.shown = self.finished = False

    def show(self) -> None:
        with self.lock:
            if not self.finished:
                self.shown = True
                text = f"weft: compiling {self.name} ..."
                if self.display is None:
                    print(text, end="", file=sys.stderr, flush=True)
                else:
                    with suppress(Exception):  # whatever a notebook's front end makes of it: the work goes on
                        self.handle = self.display({"text/plain": text}, raw=True, display_id=True)

    def erase(self) -> None:
        with self.lock:
            self.finished = True
            if self.shown and self.display is None:
                print("\r\x1b[K", end="", file=sys.stderr, flush=True)
            elif self.handle is not None:
                with suppress(Exception):
                    self.handle.update({"text/plain": ""}, raw=True)


def _notebook() -> Any:
    """The function that shows something below a notebook's cell; None elsewhere."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    if not hasattr(shell, "kernel"):
        return None
    return getattr(sys.modules.get("IPython.display"), "display", None)


@contextmanager
def telling(name: str) -> Iterator[None]:
    """Say that `name` is being compiled if that takes long."""
    display = _notebook()
    is_seen = display is not None or (sys.stderr is not None and sys.stderr.isatty())
    if not is_seen or not _busy.acquire(blocking=False):
        yield
        return
    line = _Line(name, display)
    timer = threading.Timer(PATIENCE, line.show)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        line.erase()
        _busy.release()
