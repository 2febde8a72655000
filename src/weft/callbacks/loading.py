"""From C text to addresses.  In: a translation unit of `shims`; out: the loaded library, its variables filled.

Every unit has `weft_runtime` (the table of weft's native core), `weft_bulk` (another kernel) and `weft_python` (the
Python function behind it).
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any

from weft.callbacks.scalar import chain
from weft.errors import CompileError
from weft.records import dataclass
from weft.runtime import dispatch, foreign, routines


@dataclass(frozen=True)
class Loaded:
    """A loaded unit; `keep` is what it refers to."""

    library: ctypes.CDLL
    keep: tuple[Any, ...]

    def address(self, symbol: str) -> int:
        found = ctypes.cast(getattr(self.library, symbol), ctypes.c_void_p).value
        assert found is not None
        return found


def load(text: str, flags: Sequence[str], name: str, python: Callable[..., Any], bulk: Sequence[int] = ()) -> Loaded:
    """Compile a unit and load it; a copy of its own, since its variables belong to one function."""
    core = dispatch.load_core()
    if core is None:
        raise CompileError(f"a C callback needs weft's native core: {dispatch.core_problem()}", "run `weft doctor`")
    # The number makes the file another one: the system loads one file once, and its variables with it.
    path = chain().build_shared(f"/* {_number(name)} */\n{text}", flags=flags, name=name)
    library = dispatch.load_library(path, ctypes.CDLL)
    routines.bind(library)
    foreign.bind(library)
    _set(library, "weft_runtime", core.runtime_table)
    _set(library, "weft_python", id(python))
    for number, address in enumerate(bulk):
        _set(library, "weft_bulk" if not number else f"weft_bulk_{number}", address)
    return Loaded(library, (python, core))


_numbers: dict[str, int] = {}


def _number(name: str) -> int:
    """How many units of this name the process has loaded."""
    _numbers[name] = _numbers.get(name, 0) + 1
    return _numbers[name]


def _set(library: ctypes.CDLL, name: str, value: int) -> None:
    ctypes.c_void_p.in_dll(library, name).value = value
