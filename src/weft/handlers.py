"""Exceptions of signal handlers.  In: work that catches exceptions of its own; out: the same work, through which what
a handler of the user raises passes as it is.

A handler runs between any two steps of the main thread, also inside a `try` of weft, where its `TimeoutError` would
look like a file that cannot be read. Meanwhile what a handler raises is carried in a BaseException, as Python's own
KeyboardInterrupt is, which nobody catches on the way, and is taken out again at the end.
"""

from __future__ import annotations

import contextlib
import signal
import threading
import types
from collections.abc import Callable, Iterator
from typing import Any


class _Carrier(BaseException):
    """What a handler has raised, on its way to the caller."""

    def __init__(self, error: Exception) -> None:
        super().__init__(error)
        self.error = error


class _Carrying:
    """A handler in the place of the user's."""

    def __init__(self, handler: Callable[[int, types.FrameType | None], Any]) -> None:
        self.handler = handler

    def __call__(self, number: int, frame: types.FrameType | None) -> Any:
        try:
            return self.handler(number, frame)
        except Exception as error:
            raise _Carrier(error) from None


@contextlib.contextmanager
def passing() -> Iterator[None]:
    """Let what signal handlers raise pass through what runs inside."""
    if threading.current_thread() is not threading.main_thread():
        yield  # Python runs handlers in the main thread only
        return
    replaced: list[tuple[int, _Carrying]] = []
    try:
        try:
            for number in _handled():
                handler: Any = signal.getsignal(number)
                replaced.append((number, _Carrying(handler)))
                signal.signal(number, replaced[-1][1])
            yield
        finally:
            _restore(replaced)
    except _Carrier as carrier:
        raise carrier.error from None


def _restore(replaced: list[tuple[int, _Carrying]]) -> None:
    try:
        while replaced:
            number, carrying = replaced[-1]
            if signal.getsignal(number) is carrying:  # not if a handler has chosen another one
                signal.signal(number, carrying.handler)
            replaced.pop()
    except _Carrier:  # raised by a handler that was due when the next one was to be restored
        _restore(replaced)
        raise


def _handled() -> list[int]:
    """Signals with a handler of the user's."""
    found: list[int] = []
    for number in signal.valid_signals():
        handler = signal.getsignal(number)
        if callable(handler) and handler is not signal.default_int_handler and not isinstance(handler, _Carrying):
            if not isinstance(handler, signal.Handlers):
                found.append(number)
    return found
