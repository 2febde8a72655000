"""Memory of this process. Out come the resident bytes now and the largest number since the last reset."""

from __future__ import annotations

import ctypes
import resource
import sys
from pathlib import Path

_STATUS = Path("/proc/self/status")
_CLEAR = Path("/proc/self/clear_refs")


def resident() -> int:
    return _status("VmRSS")


def reset_peak() -> bool:
    """Begin anew; False where the system keeps one peak for the life of a process."""
    _give_back()
    try:
        _CLEAR.write_text("5")
    except OSError:
        return False
    return True


def peak() -> int:
    return _status("VmHWM")


def _status(field: str) -> int:
    try:
        lines = _STATUS.read_text().splitlines()
    except OSError:
        scale = 1 if sys.platform == "darwin" else 1024
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * scale
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(field + ":"))


def _give_back() -> None:
    """Freed memory that the C library keeps would hide the next call's need of it."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
