"""What is said of compiles and of lines that stay Python.  In: the event; out: a record of the logger "weft", and in a
run that has an end (`weft run`, `python -m weft.compat`) a few warnings and one summary instead of one for each line.
"""

from __future__ import annotations

import sys
import warnings

TYPE_CHECKING = False  # as typing has it: `weft run` loads this module before the program
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

#: Warnings that a run shows as they come; `summary` has the others.
SHOWN = 3
_WIDTH = 200
_limit: int | None = None
_told = False
_shown = 0
_kept: dict[tuple[str, int], str] = {}
_expected: set[tuple[str, int]] = set()


def log(level: str, text: str, *values: object) -> None:
    """A record of the logger "weft"; nothing where the program has not loaded `logging`: nobody would see it."""
    logging = sys.modules.get("logging")
    if logging is not None:
        logging.getLogger("weft").log(getattr(logging, level), text, *values)


def warn(text: str, file: str, line: int) -> None:
    """A warning at the user's line.  It has the line and a caret already: Python need not print the place twice."""
    from weft.errors import FallbackWarning

    if not isinstance(warnings.formatwarning, _Format):
        warnings.formatwarning = _Format(warnings.formatwarning)
    warnings.warn_explicit(text, FallbackWarning, file, max(line, 1))


class _Format:
    """`warnings.formatwarning`: weft's own warnings as they are, all others as before."""

    def __init__(self, others: Any) -> None:
        self.others = others

    def __call__(self, message: Any, category: Any, filename: str, lineno: int, line: str | None = None) -> str:
        if category.__name__ != "FallbackWarning" or not str(message).startswith(f"{filename}:"):
            return str(self.others(message, category, filename, lineno, line))
        place = f"{filename}:{lineno}: "
        return f"{place}{category.__name__}: {str(message).removeprefix(place)}\n"


def expect(file: str, lines: Iterable[int]) -> None:
    """No warning of these lines: the program itself gives them to the interpreter."""
    _expected.update((file, line) for line in lines)


def is_expected(place: tuple[str, int]) -> bool:
    """Whether a line was announced by `expect`."""
    return place in _expected


def lacks_compiler(refused: Any, place: Any) -> bool:
    """Whether a function would be native with a C compiler: that is then the one thing to tell of it."""
    from weft.errors import lacks_compiler as is_meant

    if refused is None or not is_meant(refused.reason):
        return False
    no_compiler(place.file, place.line)
    return True


def no_compiler(file: str, line: int) -> None:
    """Tell once in a process that there is no machine code because there is no C compiler."""
    global _told
    from weft.errors import INSTALL
    from weft.runtime import toolchain

    if _told or toolchain.find() is not None:
        return
    _told = True
    text = f"{file}:{line}: no C compiler works here: weft generates Python, which is slower\n"
    warn(f"{text}  try:   {INSTALL}", file, line)


def summarise(limit: int = SHOWN) -> None:
    """From now on only `limit` warnings are shown; `summary` has the others."""
    global _limit, _shown
    _limit, _shown = limit, 0
    _kept.clear()


def is_kept(place: tuple[str, int], reason: str, remedy: str = "") -> bool:
    """Whether a warning is kept for the summary."""
    global _shown
    _shown += 1
    if _limit is None or _shown <= _limit:
        return False
    _kept[place] = f"{reason}; try: {remedy}" if remedy else reason
    return True


def summary(most: int = 10) -> list[str]:
    """The lines that were not shown, at most `most` of them; they are forgotten."""
    if not _kept:
        return []
    lines = [f"{len(_kept)} more line{'s' * (len(_kept) != 1)} ran as plain Python:"]
    lines += [f"  {file}:{line}: {reason}"[:_WIDTH] for (file, line), reason in list(_kept.items())[:most]]
    if len(_kept) > most:
        lines.append(f"  and {len(_kept) - most} more")
    _kept.clear()
    return lines
