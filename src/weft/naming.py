"""What objects are, whatever they say of themselves.  In: a class, or a function; out: the name of the module where the
class comes from, or the function that weft has decorated.
"""

from __future__ import annotations

import types
from typing import Any


def home_of(kind: type) -> str:
    """The module of a class; empty if it tells only of its objects where they come from, as Cython's functions do."""
    home = kind.__module__
    return home if isinstance(home, str) else ""


def is_jitted(value: Any) -> bool:
    """Whether an object is a function that weft has decorated: a call of it is one of the function in it."""
    cls = type(value)
    return home_of(cls).startswith("weft.") and hasattr(cls, "_miss") and isinstance(value.py_func, types.FunctionType)


def undecorated(value: Any) -> Any:
    """The function that weft has decorated; anything else as it is."""
    return value.py_func if is_jitted(value) else value
