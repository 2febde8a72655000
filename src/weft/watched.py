"""All compiled functions that there are, and a switch that makes them plain Python.  In: each `Jitted` as it is made;
out: what `weft.debug` needs: their code objects, and a block in which none of them runs natively.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from types import CodeType
from typing import Any

_functions: list[weakref.ref[Any]] = []
_off = 0


def note(function: Any) -> None:
    """A compiled function was made."""
    if len(_functions) % 256 == 255:
        _functions[:] = [known for known in _functions if known() is not None]
    _functions.append(weakref.ref(function))


def is_off() -> bool:
    """Whether calls are left to Python for now."""
    return _off > 0


def _alive() -> list[Any]:
    return [function for known in _functions if (function := known()) is not None]


def codes() -> set[CodeType]:
    """The code of every function that was compiled or may be."""
    return {function.py_func.__code__ for function in _alive()}


@contextmanager
def interpreted() -> Iterator[None]:
    """A block in which every call of a compiled function runs as plain Python; versions are made again afterwards."""
    global _off
    for function in _alive():
        function._renew()
    _off += 1
    try:
        yield
    finally:
        _off -= 1
        for function in _alive():
            function._renew()
