"""Code objects that stand in for others.  In: code that passes its calls on (`heat/trampoline.py`); out: whose it is.

Whoever compares a function's code with its source, or with what it was, asks for the original.
"""

from __future__ import annotations

import types
from _weakref import ref  # weakref itself takes longer to load, and scripts wait for this module

_originals: dict[int, tuple[ref[types.CodeType], types.CodeType]] = {}


def note(standin: types.CodeType, code: types.CodeType) -> types.CodeType:
    """Remember whose calls a code object passes on, for as long as it lives; gives it back.

    It is not held: through what it calls it would hold the whole program, whose end would then take longer.
    """
    number = id(standin)

    def forget(_: object) -> None:
        _originals.pop(number, None)

    _originals[number] = (ref(standin, forget), original(code))
    return standin


def same_code(code: types.CodeType, known: types.CodeType) -> bool:
    """Whether a function with this code does what it did with the known one."""
    return original(code) is original(known)


def original(code: types.CodeType) -> types.CodeType:
    """The code that a function was defined with."""
    known = _originals.get(id(code))
    return code if known is None or known[0]() is not code else known[1]
