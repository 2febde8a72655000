"""`numba.core`: the modules of it that programs import."""

from __future__ import annotations

from typing import Any

from weft.compat.numba import types
from weft.compat.numba.core import config, errors

__all__ = ["config", "errors", "types"]


def __getattr__(name: str) -> Any:
    """A part of Numba's compiler that is not here."""
    raise AttributeError(f"numba.core.{name} has no counterpart in weft: it is part of Numba's compiler")
