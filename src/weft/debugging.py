"""`weft.debug()`: a block in which compiled functions run as plain Python, watched line by line.  In: the program as it
is; out: the same answers, or an exception at the first line that makes a NaN or an infinity, with its values.

    with weft.debug():
        f(a, b)

Python itself checks every index.  Outside the block the functions are native again.
"""

from __future__ import annotations

import linecache
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import numpy as np

from weft import watched

_SHOWN = 60


@contextmanager
def debug() -> Iterator[None]:
    """Run compiled functions as plain Python, and stop at the first line that makes a NaN or an infinity.

    Raises FloatingPointError there: with the file, the line, the variable and its value.  Values that are not finite
    from the start, and lines that name `inf` or `nan` themselves, are no fault.  For the thread that enters the block.
    """
    watch = _Watch()
    before = sys.gettrace()
    with watched.interpreted():
        sys.settrace(watch.call)
        try:
            yield
        finally:
            sys.settrace(before)


class _Watch:
    """The trace function: of each watched frame the variables that are not finite, and the line that runs."""

    def __init__(self) -> None:
        self.codes = watched.codes()
        self.files = {code.co_filename for code in self.codes}
        self.known: dict[FrameType, dict[str, Any]] = {}
        self.line: dict[FrameType, int] = {}

    def call(self, frame: FrameType, event: str, _: Any) -> Any:
        if event != "call" or frame.f_code.co_filename not in self.files or frame.f_code.co_name == "<module>":
            return None
        self.known[frame] = _unfinished(frame.f_locals)
        self.line[frame] = frame.f_lineno
        return self.inside

    def inside(self, frame: FrameType, event: str, value: Any) -> Any:
        """After each line: what has become NaN or infinite since the one before."""
        now = _unfinished(frame.f_locals)
        before = self.known.get(frame, {})
        new = [name for name, found in now.items() if found > before.get(name, 0)]
        line = self.line.get(frame, frame.f_lineno)
        self.known[frame], self.line[frame] = now, frame.f_lineno
        if new and not _says_so(frame, line):
            raise FloatingPointError(_told(frame, line, new[0], frame.f_locals[new[0]]))
        if event == "return":
            if _count(value) and not now and not _says_so(frame, line):
                raise FloatingPointError(_told(frame, line, "the result", value))
            self.known.pop(frame, None)
            self.line.pop(frame, None)
        return self.inside


def _unfinished(variables: dict[str, Any]) -> dict[str, int]:
    """How many NaN and infinities each variable holds, of those that hold some."""
    found = {}
    for name, value in variables.items():
        count = _count(value)
        if count:
            found[name] = count
    return found


def _count(value: Any) -> int:
    if isinstance(value, (float, complex, np.floating, np.complexfloating)):
        return int(not np.isfinite(value))
    if isinstance(value, np.ndarray) and value.dtype.kind in "fc":
        return int(value.size - np.count_nonzero(np.isfinite(value)))
    return 0


def _says_so(frame: FrameType, line: int) -> bool:
    """Whether the line itself names a NaN or an infinity: then it is meant."""
    text = linecache.getline(frame.f_code.co_filename, line)
    return re.search(r"\b(inf|nan|Inf|NaN|isnan|isfinite)\b", text) is not None


def _told(frame: FrameType, line: int, name: str, value: Any) -> str:
    from weft.errors import Span, source_line

    file, where = frame.f_code.co_filename, ""
    shown = value
    if isinstance(value, np.ndarray) and value.ndim:
        first = tuple(int(place[0]) for place in np.nonzero(~np.isfinite(value)))
        where, shown = f"[{', '.join(map(str, first))}]", value[first]
    text = source_line(Span(file, line, 0, line, 0)).strip()
    others = ", ".join(
        f"{other} = {np.array2string(np.asarray(found), threshold=4, edgeitems=2)}"[:_SHOWN]
        for other, found in list(frame.f_locals.items())[:6]
        if other != name and isinstance(found, (int, float, complex, np.number, np.ndarray))
    )
    told = f"{file}:{line}: {name}{where} is {shown} after this line\n  {line} | {text}"
    return told + (f"\n  values: {others}" if others else "")
