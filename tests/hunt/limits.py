"""Limits of time and memory of what a worker runs."""

from __future__ import annotations

import contextlib
import resource
import signal
from collections.abc import Iterator
from types import FrameType

#: Address space of a worker: a program that asks for more gets a MemoryError, and is dropped.
_MEMORY = 6 * 2**30


class OutOfTime(BaseException):
    """Not an Exception: no handler of a program may take it."""


def limit_memory() -> None:
    _, most = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, most))


@contextlib.contextmanager
def seconds(limit: float) -> Iterator[None]:
    """OutOfTime after this many seconds, again and again until somebody lets it through."""

    def ring(number: int, frame: FrameType | None) -> None:
        raise OutOfTime

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, limit, 0.5)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
