"""What tells one code object from another, in every process: instructions, constants, names and lines, and the comments
that direct its loops.
"""

from __future__ import annotations

import functools
import linecache
import re
import types
from typing import Any

from weft.runtime import cache
from weft.standins import original

_DIRECTING = re.compile(r"\s*#\s?pragma\b(.*)")


@functools.lru_cache(maxsize=1024)
def _digest(holder: _Same) -> str:
    return cache.digest(_described(holder.code), _pragmas(holder.code))


class _Same:
    """A code object as a key, by identity: equal ones may stand on other lines."""

    def __init__(self, code: types.CodeType) -> None:
        self.code = code

    def __hash__(self) -> int:
        return id(self.code)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.code is other.code


def fingerprint(code: types.CodeType) -> str:
    """A digest of everything that a code object does, and of the lines it does it on."""
    return _digest(_Same(original(code)))


def _pragmas(code: types.CodeType) -> list[tuple[int, str]]:
    """The comments that direct loops between the lines of a code object: Python sees nothing of them."""
    if not code.co_filename or code.co_filename.startswith("<string"):
        return []
    first, last = code.co_firstlineno, max((line or 0 for _, _, line in code.co_lines()), default=0)
    lines = linecache.getlines(code.co_filename)[first - 1 : last]
    found = [(number, _DIRECTING.match(line)) for number, line in enumerate(lines)]
    return [(number, match[1].strip()) for number, match in found if match is not None]


def _described(value: Any) -> Any:
    if isinstance(value, types.CodeType):
        plain = (value.co_name, value.co_argcount, value.co_posonlyargcount, value.co_kwonlyargcount, value.co_flags)
        names = (value.co_names, value.co_varnames, value.co_freevars, value.co_cellvars)
        handlers = getattr(value, "co_exceptiontable", b"").hex()
        places = repr((value.co_firstlineno, list(value.co_lines())))  # numbers and None: one text is digested fast
        return (*plain, *names, value.co_code.hex(), handlers, places, _described(value.co_consts))
    if isinstance(value, tuple):
        return ["tuple", *map(_described, value)]
    if isinstance(value, frozenset):
        return ["frozenset", *sorted(repr(_described(item)) for item in value)]
    return [type(value).__name__, repr(value)]
