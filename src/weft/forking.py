"""What a fork must not take along.  In: weft's locks, and which threads are at work inside weft; out: a child process
that waits for no thread which it does not have.

A child has only the thread that forked. A lock that another thread held would stay taken for ever, so each is new in
the child. A module that another thread was loading would stay half loaded: a fork waits a moment for that, and where
that was not enough the child compiles nothing. Every layer may import this module.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterator

#: Seconds that a fork waits for modules that another thread is loading.
_PATIENCE = 5.0

_locks: weakref.WeakSet[Lock] = weakref.WeakSet()
_working: dict[int, int] = {}  # threads inside weft, and how deep
_in_children: list[Callable[[frozenset[int]], None]] = []
_half_loaded = False


class Lock:
    """A lock that its thread may take again, and that a child finds free unless the forking thread has it."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        _locks.add(self)

    def __enter__(self) -> Lock:
        self._lock.acquire()
        return self

    def __exit__(self, *_: object) -> None:
        self._lock.release()

    def renew(self) -> None:
        if not self._lock._is_owned():  # type: ignore[attr-defined]
            self._lock = threading.RLock()


@contextlib.contextmanager
def working() -> Iterator[None]:
    """This thread is inside weft, where it may load modules and hold what others wait for."""
    me = threading.get_ident()
    depth = _working.get(me, 0)
    _working[me] = depth + 1
    try:
        yield
    finally:
        if depth:
            _working[me] = depth
        else:
            _working.pop(me, None)


def is_working() -> bool:
    """Whether this thread is inside weft already: what asks is a signal handler or a finaliser."""
    return threading.get_ident() in _working


def can_load() -> bool:
    """Whether modules can be loaded: not while the interpreter ends, nor in a child that has half of one."""
    return not (_half_loaded or sys.is_finalizing() or sys.meta_path is None)


def in_child(action: Callable[[frozenset[int]], None]) -> None:
    """Have `action` called in every child process with the threads that were inside weft and are gone."""
    _in_children.append(action)


def _is_loading() -> bool:
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] == "weft" and getattr(getattr(module, "__spec__", None), "_initializing", False):
            return True
    return False


def _before() -> None:
    me, end = threading.get_ident(), time.monotonic() + _PATIENCE
    while any(thread != me for thread in list(_working)) and _is_loading() and time.monotonic() < end:
        time.sleep(0.002)


def _after() -> None:
    global _half_loaded
    gone = frozenset(_working) - {threading.get_ident()}
    for lock in list(_locks):
        lock.renew()
    if gone:
        _half_loaded = _half_loaded or _is_loading()
    for thread in gone:
        del _working[thread]
    for action in _in_children:
        action(gone)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before, after_in_child=_after)
