"""Compiling without the search for cycles.  In: work that makes many objects and leaves none in a cycle; out: the same
work, during which Python's collector does not go through all of the caller's lists again and again.
"""

from __future__ import annotations

import contextlib
import gc
import threading
from collections.abc import Iterator

from weft import forking

_without: set[int] = set()  # threads that have switched the collector off


@contextlib.contextmanager
def switched_off() -> Iterator[None]:
    """Without the collector, if it was on."""
    me, was_on = threading.get_ident(), gc.isenabled()
    if was_on:
        _without.add(me)
        gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
            _without.discard(me)


def _in_child(gone: frozenset[int]) -> None:
    """Switch it on again where threads that a child process does not have would have done so."""
    if _without & gone:
        gc.enable()
    _without.difference_update(gone)


forking.in_child(_in_child)
