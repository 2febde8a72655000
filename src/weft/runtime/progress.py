"""A word to a person who waits.  In: the name of what is being compiled; out: after a second, on a terminal or in a
notebook, a line that disappears when the work is done.  Logs and pipes never see it, and short work starts no thread
that lives to say anything.  Long runs and searches write their bars to the same line of a notebook (`Below`).
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from time import perf_counter
from typing import Any

PATIENCE = 1.0
_BETWEEN = 0.2  # seconds between two states of a bar
_WIDTH = 30
_busy = threading.Lock()  # one line at a time: what runs inside, or beside, the work that is told about says nothing


class Below:
    """A line below a notebook's cell, written anew at each state and emptied at the end.

    Whatever a notebook's front end makes of it: the work goes on.
    """

    def __init__(self, display: Callable[..., Any]) -> None:
        self._display = display
        self._handle: Any = None
        self._last = 0.0

    def tell(self, text: str) -> None:
        with suppress(Exception):
            if self._handle is None:
                self._handle = self._display({"text/plain": text}, raw=True, display_id=True)
            else:
                self._handle.update({"text/plain": text}, raw=True)

    def bar(self, title: str, done: float, total: float, counted: str = "") -> None:
        """A bar of text; states that follow each other at once are left out."""
        now = perf_counter()
        if now - self._last >= _BETWEEN:
            self._last = now
            filled = min(_WIDTH, int(_WIDTH * done / total)) if total > 0 else 0
            self.tell(f"{title} |{'#' * filled}{' ' * (_WIDTH - filled)}| {counted}".rstrip())

    def erase(self) -> None:
        if self._handle is not None:
            self.tell("")


def below() -> Below | None:
    """A line below the cell that runs; None outside of notebooks."""
    display = _notebook()
    return None if display is None else Below(display)


class _Line:
    """The line: shown by a timer, erased by the one who waited, in whatever order these come."""

    def __init__(self, name: str, below: Below | None = None) -> None:
        self.name = name
        self.below = below
        self.lock = threading.Lock()
        self.shown = self.finished = False

    def show(self) -> None:
        with self.lock:
            if not self.finished:
                self.shown = True
                text = f"weft: compiling {self.name} ..."
                if self.below is None:
                    print(text, end="", file=sys.stderr, flush=True)
                else:
                    self.below.tell(text)

    def erase(self) -> None:
        with self.lock:
            self.finished = True
            if self.below is not None:
                self.below.erase()
            elif self.shown:
                print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def _notebook() -> Any:
    """The function that shows something below a notebook's cell; None elsewhere."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    if not hasattr(shell, "kernel"):
        return None
    return getattr(sys.modules.get("IPython.display"), "display", None)


@contextmanager
def telling(name: str) -> Iterator[None]:
    """Say that `name` is being compiled if that takes long."""
    cell = below()
    is_seen = cell is not None or (sys.stderr is not None and sys.stderr.isatty())
    if not is_seen or not _busy.acquire(blocking=False):
        yield
        return
    line = _Line(name, cell)
    timer = threading.Timer(PATIENCE, line.show)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        line.erase()
        _busy.release()
