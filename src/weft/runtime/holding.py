"""Whether what a version was made from is still so.  In: a fact; out: what its owner has now, and whether that is it.

Loaded with every kind of version: nothing here needs NumPy.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

from weft.standins import original

if TYPE_CHECKING:
    from weft.runtime.descriptor import Fact

ABSENT = object()
_FUNCTION_PARTS = {"code": "__code__", "defaults": "__defaults__", "keywords": "__kwdefaults__"}


def holds(fact: Fact) -> bool:
    """Whether what a version was made from is still so."""
    found = now(fact)
    if fact.kind == "code":
        return original(found) is fact.value
    return same_constant(found, fact.value) if fact.present else found is ABSENT


def now(fact: Fact) -> Any:
    """What the owner of a fact has under its name now."""
    try:
        if fact.kind == "entry":
            return fact.owner.get(fact.name, ABSENT)
        if fact.kind == "lookup":
            return next((vars(base)[fact.name] for base in fact.owner.__mro__ if fact.name in vars(base)), ABSENT)
        if fact.kind == "cell":
            return fact.owner.cell_contents
        return getattr(fact.owner, _FUNCTION_PARTS.get(fact.kind, fact.name), ABSENT)
    except Exception:  # as where hidden values are fetched
        return ABSENT


def same_constant(value: object, expected: object) -> bool:
    """The very object, or an equal plain value of one exact type; floats by their bits."""
    if value is expected:
        return True
    if type(value) is not type(expected):
        return False
    if isinstance(value, tuple) and isinstance(expected, tuple) and type(value) is tuple:
        return len(value) == len(expected) and all(map(same_constant, value, expected))
    if type(value) is float:
        return struct.pack("d", value) == struct.pack("d", expected)
    if type(value) is complex and isinstance(expected, complex):
        return same_constant((value.real, value.imag), (expected.real, expected.imag))
    return type(value) in (int, str, bytes) and value == expected
