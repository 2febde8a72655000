"""What classes, functions and files are.  In: one of them; out: the module or package where it comes from, or
the function that weft has decorated.
"""

from __future__ import annotations

import functools
import os
import sysconfig
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


@functools.lru_cache(maxsize=256)
def library_of(file: str) -> str | None:
    """The package that a file belongs to, if it is an installed one: None for the user's own."""
    path = os.path.abspath(file)
    parts = path.split(os.sep)
    for folder in ("site-packages", "dist-packages"):
        if folder in parts[:-1]:
            return parts[parts.index(folder) + 1].removesuffix(".py")
    standard = sysconfig.get_paths()["stdlib"] + os.sep
    return parts[standard.count(os.sep)].removesuffix(".py") if path.startswith(standard) else None
