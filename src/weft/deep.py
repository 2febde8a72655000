"""Room for deep recursion.  In: an action; out: its result, computed where expressions may nest as deep as Python's own
parser takes them.

The front end and the passes follow the nesting of a program by recursion, and Python's limit is meant for people's
mistakes.  An action that meets the limit is repeated once in a thread with a large stack and a higher limit.
"""

from __future__ import annotations

import contextlib
import contextvars
import sys
import threading
from collections.abc import Callable
from typing import TypeVar

from weft.forking import Lock, working

_T = TypeVar("_T")
_LIMIT = 20_000  # frames; each takes well under a kilobyte and a half of the stack
_STACK = 256 << 20  # bytes of address space: memory only as far as it is used
_lock = Lock()
_inside = threading.local()


def with_room(action: Callable[[], _T]) -> _T:
    """`action()`, if need be on a larger stack; RecursionError where that is not enough either."""
    if getattr(_inside, "roomy", False):
        return action()
    try:
        return action()
    except RecursionError:
        pass  # nothing is kept of the first attempt, and its frames are gone
    return _in_thread(action)


def _in_thread(action: Callable[[], _T]) -> _T:
    results: list[_T] = []
    problems: list[BaseException] = []

    def work() -> None:
        _inside.roomy = True
        try:
            with working():
                results.append(action())
        except BaseException as problem:  # handed to the caller, who waits for it
            problems.append(problem)

    context = contextvars.copy_context()  # NumPy's error state and the like are the caller's
    with _lock:  # the limit and the size of stacks belong to the process
        limit = sys.getrecursionlimit()
        sys.setrecursionlimit(max(limit, _LIMIT))
        try:
            thread = threading.Thread(target=context.run, args=(work,), name="weft-deep", daemon=True)
            _start(thread)
            thread.join()
        finally:
            sys.setrecursionlimit(limit)
    if problems:
        raise problems[0]
    return results[0]


def _start(thread: threading.Thread) -> None:
    before = threading.stack_size()
    with contextlib.suppress(ValueError, RuntimeError):  # a system without such stacks: the usual one must do
        threading.stack_size(_STACK)
    try:
        thread.start()
    finally:
        threading.stack_size(before)
