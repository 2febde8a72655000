"""What was hot in the last run of a program.  In: a script and its arguments; out: the loops and functions that native
code has taken over, and at the end of a run a note of them for the next one.

A script that runs again in the same way is hot at the same places: there is nothing to sample, to compile or to try.  A
note is a hint.  What it names is compiled code of the disk cache, with all its tests; where the note turns out to be
wrong the program is watched like any other, and the note is dropped.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False  # as typing has it, without loading typing: a script waits for these imports
if TYPE_CHECKING:
    import types
    from typing import Any

    from weft.heat.loops import Loop
    from weft.heat.manager import Manager
    from weft.heat.spots import Spot

_FORMAT = 2
_GAIN = 2.0
_SAVED = 0.7  # seconds that native code must save: twice what it takes to load it


class HotLoop:
    """A loop that native code has taken over before."""

    def __init__(self, code: list[Any], start: int, line: int, gain: float, each: float, wide: list[int]) -> None:
        self.code = code  # the file, the name and the first line of the function
        self.start = start  # the first byte of the outermost loop around it
        self.line, self.gain, self.each, self.wide = line, gain, each, wide

    def is_in(self, code: types.CodeType, start: int) -> bool:
        return self.start == start and self.code == _named(code)


class HotFunction:
    """A function that was native before: seconds of a call in Python, and of a native one."""

    def __init__(self, code: list[Any], plain: float, native: float, wide: list[int]) -> None:
        self.code, self.plain, self.native, self.wide = code, plain, native, wide


class Note:
    """What is remembered of one program; nothing of most."""

    def __init__(self, file: str) -> None:
        self.loops: list[HotLoop] = []
        self.functions: list[HotFunction] = []  # of programs without such loops
        self._file = file
        self._place = ""
        if file:
            self._read()

    def __bool__(self) -> bool:
        return bool(self.loops or self.functions)

    def loop(self, code: types.CodeType, start: int) -> HotLoop | None:
        return next((loop for loop in self.loops if loop.is_in(code, start)), None)

    def function(self, code: types.CodeType) -> HotFunction | None:
        return next((one for one in self.functions if one.code == _named(code)), None) if self.functions else None

    def forget(self, loop: HotLoop) -> None:
        self.loops = [other for other in self.loops if other is not loop]

    def _read(self) -> None:
        from weft.runtime.place import STORE, directory

        path = os.path.realpath(self._file)
        name = "%" + path[-120:].replace(os.sep, "%")
        self._place = os.path.join(directory(), STORE, "auxiliary", "heat", name)
        try:
            with open(self._place, encoding="utf-8") as stream:
                text = stream.read()
        except (OSError, ValueError):
            return
        import json

        try:
            held = json.loads(text)
            if held["program"] == _program(path):
                self.functions = [HotFunction(**function) for function in held["functions"]]
                self.loops = [HotLoop(**loop) for loop in held["loops"]]
        except (OSError, ValueError, KeyError, TypeError):
            self.loops, self.functions = [], []

    def write(self, manager: Manager) -> None:
        """Note what the next run should know, or that there is nothing to know."""
        found = manager.loops.found.items()
        loops = [_noted(key, loop) for key, loop in found if _has_gained(loop)]
        functions = [] if loops else [_function(spot) for spot in manager.spots if _has_paid(spot)]
        if not loops and not functions:
            loops = [_noted(key, loop) for key, loop in found if _would_gain(loop)]
        if not self._place or not (loops or functions or os.path.exists(self._place)):
            return
        try:
            if not loops and not functions:
                os.unlink(self._place)
                return
            import json

            from weft.runtime.cache import default_cache

            folder = default_cache().auxiliary("heat")
            program = _program(os.path.realpath(self._file))
            text = json.dumps({"program": program, "loops": loops, "functions": functions})
            fresh = folder / f"{os.getpid()}"
            fresh.write_text(text, encoding="utf-8")
            os.replace(fresh, folder / os.path.basename(self._place))
        except (OSError, ValueError):
            return  # the next run finds out by itself


def _program(path: str) -> list[Any]:
    """What must be the same for a note to hold."""
    from weft import __version__

    status = os.stat(path)
    return [_FORMAT, __version__, sys.version, path, status.st_size, status.st_mtime_ns, sys.argv[1:]]


def _named(code: types.CodeType) -> list[Any]:
    return [code.co_filename, str(getattr(code, "co_qualname", code.co_name)), code.co_firstlineno]


def _has_gained(loop: Loop) -> bool:
    return loop.state == "native" and loop.gain > _GAIN and loop.seconds * (loop.gain - 1.0) > _SAVED


def _would_gain(loop: Loop) -> bool:
    """Whether a loop was over before its native code could be entered, and would have gained."""
    is_late = loop.state == "ready" and loop.gain > _GAIN and not loop.failures and not loop.waits
    return is_late and loop.watched * (1.0 - 1.0 / loop.gain) > _SAVED


def _noted(key: tuple[int, int], loop: Loop) -> dict[str, Any]:
    noted = {"code": _named(loop.code), "start": key[1], "line": loop.line}
    return {**noted, "gain": loop.gain, "each": loop.each, "wide": sorted(loop.wide)}


def _has_paid(spot: Spot) -> bool:
    """Whether a function of plain Python is native and has saved enough, or would have in another run like this.

    Functions over arrays are in the disk cache by their own key and need no note; only `HotPlain` has `wide`.
    """
    if spot.state not in ("trial", "native") or not hasattr(spot.native, "wide") or not spot.plain.calls:
        return False
    if spot.gain <= _GAIN:
        return False
    in_python = max(spot.seconds, spot.plain.mean * sum(spot.native.call_counts))  # of what is native now, too
    return bool(in_python * (1.0 - 1.0 / spot.gain) > _SAVED)


def _function(spot: Spot) -> dict[str, Any]:
    plain = spot.plain.mean
    return {"code": _named(spot.code), "plain": plain, "native": plain / spot.gain, "wide": sorted(spot.native.wide)}
