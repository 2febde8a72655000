"""Plain Python in a module that stands alone, in the place of weft.plain.runtime.  In: the addresses of entry points
and of kernels; out: versions that run the calls of compiled functions.

This text is part of such modules (`extension.py`); what it imports of weft are texts that it is kept with.
"""

from __future__ import annotations

import ctypes
import os
import types
from typing import Any

from weft.plain import starting
from weft.plain.starting import MISS as MISS
from weft.plain.starting import Last

#: As in plain_parts.py.
ENTRIES = ("wp_start", "wp_start_arrays", "wp_make", "wp_watch", "wp_last", "wp_written")

#: Functions of native/extension.c, put here by embedded.py.
helpers: dict[str, Any] = {}

_library: Any = None
_arrays: str | None = ""  # "": not asked yet
#: What code names by address.
_kept: list[Any] = []


def load() -> Any:
    """The run time, started at the first need; RuntimeError where this interpreter is of another kind."""
    global _library
    if _library is None:
        found = types.SimpleNamespace()
        for name, address in zip(ENTRIES, helpers["plain_addresses"]()):
            setattr(found, name, ctypes.PYFUNCTYPE(None)(address))
        starting.start(found)
        _library = found
    return _library


def start_arrays() -> str | None:
    global _arrays
    if _arrays == "":
        _arrays = starting.meet_numpy(load())
    return _arrays


def last(call: Any) -> Last:
    return Last(*load().wp_last(call))


def watch(call: Any, still: Any) -> None:
    load().wp_watch(call, still)


compile_kernel = load_kernel = make = None  # nothing is compiled here


class Owner:
    """A compiled function as `weft.trial` sees it: calls run natively and in Python by turns, and the faster way is
    kept until they are of another size."""

    questions = 0

    def __init__(self, compiled: Any, versions: tuple[Any, ...]) -> None:
        self._compiled, self._versions = compiled, versions
        self._most = 0
        self._way: Any = None
        self._trial: Any = None

    def start(self, entry: Any, plain: Any, timed: bool) -> None:
        helpers["set_entry"](self._compiled, entry, self.native_calls, self.asked)
        if timed and os.environ.get("WEFT_TIMED", "1") not in ("", "0"):
            from weft.trial import Regions

            self._trial = Regions(self, entry, plain)

    def native_calls(self) -> int:
        return sum(version.calls for version in self._versions)

    def asked(self, has_grown: int) -> None:
        """After a call that took far longer than others, and after many: has anything changed?"""
        if has_grown:
            self._trial.grown()
        else:
            self._trial.asked()
        self._tell()

    @property
    def _plain_calls(self) -> int:
        return int(helpers["entry_calls"](self._compiled))

    @property
    def _longest(self) -> int:
        return self._most

    @_longest.setter
    def _longest(self, longest: int) -> None:
        self._most = longest
        self._tell()

    @property
    def _plain(self) -> Any:
        return self._way

    @_plain.setter
    def _plain(self, way: Any) -> None:
        self._way = way
        self._tell()

    def _parts(self) -> tuple[Any, ...]:
        return (self,)

    def _tell(self) -> None:
        next_time = self._trial._next if self._trial is not None else 0
        helpers["set_way"](self._compiled, self._way, self._most, next_time)


def install(compiled: Any, versions: tuple[Any, ...], timed: bool) -> None:
    """Have these versions run the calls of a compiled function; RuntimeError if none can be used here. `timed`: as long
    as they are faster than Python."""
    from weft.plain.function import Native, PlainVersion

    library, function = load(), compiled.__wrapped__
    native = Native(function)
    addresses = helpers["plain_addresses"]()
    for number, signature, objects, hidden, facts, uses_numpy, is_wide in versions:
        if uses_numpy and start_arrays() is not None:
            continue
        version_address, setup_address = addresses[len(ENTRIES) + 2 * number : len(ENTRIES) + 2 * number + 2]
        pointers = (ctypes.c_void_p * max(len(objects), 1))(*map(id, objects))
        ctypes.PYFUNCTYPE(None, ctypes.c_void_p)(setup_address)(ctypes.addressof(pointers))
        call = library.wp_make(version_address, function.__name__.encode())
        version = PlainVersion(call, hidden, facts, {"signature": signature})
        version.is_wide = is_wide
        watch(call, version.is_current)
        native.versions.append(version)
        _kept.append((pointers, objects))
    if not native.versions:
        raise RuntimeError("no version")
    Owner(compiled, tuple(native.versions)).start(native.entry(), function, timed)
