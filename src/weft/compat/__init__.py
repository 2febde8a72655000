"""Code written for another compiler, run by weft.  In: a program that imports `numba`, unchanged; out: the same program
with `weft.compat.numba` in that place.

    python -m weft.compat script.py        the script, with weft where it asks for Numba
    weft.compat.install()                  the same from inside a program, before anything imports numba
"""

from __future__ import annotations

import importlib
import sys
from typing import Any

from weft.compat.notes import Note, clear, noted, notes

__all__ = ["Note", "clear", "install", "note_text", "noted", "notes", "uninstall"]

#: Names under which modules of Numba are imported, and what stands in for them.
_PLACES = {
    "numba": "",
    "numba.types": "types",
    "numba.typed": "typed",
    "numba.extending": "extending",
    "numba.errors": "core.errors",
    "numba.config": "core.config",
    "numba.core": "core",
    "numba.core.types": "types",
    "numba.core.errors": "core.errors",
    "numba.core.config": "core.config",
    "numba.core.extending": "extending",
    "numba.core.decorators": "decorators",
    "numba.core.dispatcher": "dispatcher",
    "numba.core.registry": "dispatcher",
    "numba.core.typing": "types",
    "numba.core.typing.typeof": "types",
    "numba.experimental": "experimental",
    "numba.experimental.jitclass": "experimental",
    "numba.experimental.structref": "experimental.structref",
    "numba.cuda": "cuda",
    "numba.typed.typedlist": "typed",
    "numba.typed.typeddict": "typed",
    "numba.misc.special": "special",
    "numba.misc": "special",
    "numba.np": "np",
    "numba.np.linalg": "np.linalg",
    "numba.np.numpy_support": "np.numpy_support",
    "numba.np.ufunc": "ufuncs",
    "numba.np.extensions": "extending",
}


#: What programs import of Numba that weft has no use for, and what to do.
_REMEDIES = {
    "numba.pycc": "`weft build file.py` compiles a module before it runs",
    "numba.core": "it is part of Numba's compiler",
    "numba.cuda": "weft makes kernels of plain loops: @weft.jit(target='cuda')",
}


class _Missing:
    """A finder that says of a module of Numba's why it is not there."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
        if name.startswith("numba."):
            known = [remedy for start, remedy in _REMEDIES.items() if name == start or name.startswith(f"{start}.")]
            remedy = known[0] if known else "docs/from_numba.md lists what there is"
            raise ModuleNotFoundError(f"{name} has no counterpart in weft: {remedy}", name=name)


_MISSING = _Missing()


def install() -> None:
    """Put `weft.compat.numba` in Numba's place for every import that follows.  Again: nothing happens."""
    home = "weft.compat.numba"
    mine = importlib.import_module(home)
    if sys.modules.get("numba") is mine:
        return
    if "numba" in sys.modules:
        raise RuntimeError("numba has been imported already: call weft.compat.install() before whatever imports it")
    for name, part in _PLACES.items():
        sys.modules[name] = importlib.import_module(f"{home}.{part}" if part else home)
    sys.meta_path.insert(0, _MISSING)


def uninstall() -> None:
    """Take `weft.compat.numba` out of Numba's place; modules that have imported it keep what they have."""
    mine = importlib.import_module("weft.compat.numba")
    if sys.modules.get("numba") is mine:
        for name in _PLACES:
            sys.modules.pop(name, None)
        sys.meta_path.remove(_MISSING)


def note_text() -> list[str]:
    """What was asked of Numba and does something else here: a line each."""
    return [f"{note.what}: {note.meaning}" + (f" ({note.count} times)" if note.count > 1 else "") for note in notes()]
