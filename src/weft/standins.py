"""Code objects that stand in for others.  In: code that passes its calls on (`heat/trampoline.py`); out: whose it is.

Whoever compares a function's code with its source, or with what it was, asks for the original.
"""

from __future__ import annotations

import types

_originals: dict[int, tuple[types.CodeType, types.CodeType]] = {}


def note(standin: types.CodeType, code: types.CodeType) -> types.CodeType:
    """Remember whose calls a code object passes on; gives it back."""
    _originals[id(standin)] = (standin, original(code))  # both are held, so that no other object gets the number
    return standin


def same_code(code: types.CodeType, known: types.CodeType) -> bool:
    """Whether a function with this code does what it did with the known one."""
    return original(code) is original(known)


def original(code: types.CodeType) -> types.CodeType:
    """The code that a function was defined with."""
    known = _originals.get(id(code))
    return code if known is None else known[1]
