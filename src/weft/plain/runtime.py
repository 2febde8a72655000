"""The run time of compiled plain Python. In comes nothing but C text (the run time's own, and generated kernels); out
come the loaded run time, callables for compiled versions, and paths of compiled kernels, all by way of weft's compiler
and cache.

    library = load()                     # None where it cannot be: why_not() says why
    path = compile_kernel(source)        # source has `#include "plain.h"`
    call = make(load_kernel(path), "version_0", "f")
    call(1, [2.0])                       # the result, or MISS
"""

from __future__ import annotations

import ctypes
import os
import re
import sys
import sysconfig
from collections.abc import Callable
from pathlib import Path
from threading import Lock
from typing import Any, Final

from weft.errors import CompileError
from weft.options import LINE_FLAGS, wants_lines
from weft.plain import starting
from weft.plain.starting import MISS as MISS
from weft.plain.starting import Last as Last
from weft.runtime import cache, toolchain

_HERE: Final = Path(__file__).parent / "native"
_SHARED: Final = Path(__file__).parent.parent / "runtime" / "native"
_INCLUDE: Final = re.compile(r'^#include "([^"]+)"$', flags=re.MULTILINE)
# Kernels are small and called through: what -O2 does beyond this costs time of the compiler and gains nothing there.
_KERNEL_FLAGS: Final = ("-O2", "-w")
_RUNTIME_FLAGS: Final = ("-O2",)


class _Global(ctypes.PyDLL):
    """A library whose symbols the libraries loaded after it can use."""

    def __init__(self, name: str) -> None:
        super().__init__(name, mode=ctypes.RTLD_GLOBAL)


_lock = Lock()
_loaded: list[Path] = []
_library: ctypes.PyDLL | None = None
_problem: str | None = None


def load() -> ctypes.PyDLL | None:
    """The run time, built at the first need on a machine and loaded once a process; None where it cannot be."""
    global _library, _problem
    with _lock:
        if _library is None and _problem is None:
            _problem = _unfit()
            if _problem is None:
                try:
                    _library = _start()
                except (CompileError, OSError, RuntimeError, AttributeError) as problem:
                    _problem = f"the run time of plain Python cannot be used: {problem}"
    return _library


def is_built() -> bool:
    """Whether some process of this machine has built the run time before, or nothing can build it."""
    chain = toolchain.find()
    return chain is None or chain.built_shared(runtime_source(), flags=_runtime_flags(), name="weft_plain") is not None


def why_not() -> str | None:
    """Why `load` gives None, in one sentence."""
    return None if load() is not None else _problem


def compile_kernel(source: str) -> Path:
    """The shared object of generated C, in which `#include "plain.h"` stands for the header's text."""
    chain = _chain()
    return chain.build_shared(expanded(source), flags=_kernel_flags(chain), name="plain")


def compiled_kernel(source: str) -> Path:
    """What `compile_kernel` would give, if some process has compiled it before; NotCompiled if none has."""
    chain = _chain()
    found = chain.built_shared(expanded(source), flags=_kernel_flags(chain), name="plain")
    if found is None:
        raise NotCompiled("no process has compiled this yet")
    return found


class NotCompiled(Exception):
    """A kernel is not in the disk cache."""


def _chain() -> toolchain.Toolchain:
    chain = toolchain.find()
    if chain is None:
        raise CompileError("no C compiler was found", "run `weft doctor`")
    return chain


def _kernel_flags(chain: toolchain.Toolchain) -> tuple[str, ...]:
    return (*_KERNEL_FLAGS, *chain.lean(straight=False), *(LINE_FLAGS if wants_lines() else ()))


def load_kernel(path: Path) -> ctypes.PyDLL:
    """The shared object of a kernel, with variables of its own; the run time must have been loaded.

    Equal C may be meant for other objects: the loader would give what it has loaded before, so it gets a copy.
    """
    with _lock:
        before = _loaded.count(path)
        _loaded.append(path)
    if before:
        copies = cache.process_cache()
        path = copies.put(cache.digest("copy", path, before), {path.name: path}) / path.name
    return cache.library(path, ctypes.PyDLL)


def make(kernel: ctypes.PyDLL, symbol: str, name: str) -> Callable[..., Any]:
    """A callable for the `wp_version` that a kernel defines under this name. It keeps the kernel loaded."""
    library = load()
    if library is None:
        raise CompileError(why_not() or "there is no run time")
    version = ctypes.c_char.in_dll(kernel, symbol)
    callable_: Callable[..., Any] = library.wp_make(ctypes.addressof(version), name.encode())
    _kept.append(kernel)
    return callable_


def watch(call: Callable[..., Any], still: Callable[[], bool]) -> None:
    """While a call runs and other threads do so too, `still` tells whether its code is still right."""
    library = load()
    assert library is not None, "a callable is made by the run time"
    library.wp_watch(call, still)


def last(call: Callable[..., Any]) -> Last:
    """How often a callable missed, and why it did so last."""
    library = load()
    assert library is not None, "a callable is made by the run time"
    return Last(*library.wp_last(call))


def collect_every(count: int) -> None:
    """For tests: collect memory at every allocation of this number, as WEFT_PLAIN_GC does; 0 ends it."""
    library = load()
    if library is not None:
        library.wp_collect_every(ctypes.c_int64(count))


def own_attributes(value: Any) -> dict[str, Any]:
    """The attributes in an object's dict, without one being made for it: the object would be slower for good."""
    library = load() if type(value).__dictoffset__ else None
    if library is None:
        return dict(getattr(value, "__dict__", {}))
    found: dict[str, Any] = library.wp_attributes(value)
    return found


# Libraries are never unloaded: types of a kernel may be known to the run time.
_kept: list[ctypes.PyDLL] = []


_arrays: str | None = ""  # "": not asked yet


def start_arrays() -> str | None:
    """Tell the run time of NumPy, once; why not, where it cannot be."""
    global _arrays
    with _lock:
        if _arrays == "" and _library is not None:
            _arrays = starting.meet_numpy(_library)
    return _arrays


def runtime_source() -> str:
    """The run time as one text."""
    return expanded((_HERE / "runtime.c").read_text(encoding="utf-8"))


def expanded(text: str) -> str:
    """C with files put in the place of their `#include`, each once."""
    done: set[str] = set()

    def put(found: re.Match[str]) -> str:
        name = found[1]
        if name in done:
            return ""
        done.add(name)
        path = _HERE / name
        if not path.exists():
            path = _SHARED / name
        return _INCLUDE.sub(put, path.read_text(encoding="utf-8"))

    return _INCLUDE.sub(put, text)


def _unfit() -> str | None:
    if os.name != "posix" or ctypes.sizeof(ctypes.c_void_p) != 8:
        return "compiled plain Python needs a 64-bit POSIX system"
    if (
        sys.implementation.name != "cpython"
        or sysconfig.get_config_var("Py_GIL_DISABLED")
        or hasattr(sys, "getobjects")
    ):
        return "compiled plain Python needs a regular build of CPython with its global lock"
    if toolchain.find() is None:
        return "no C compiler was found"
    return None


def _runtime_flags() -> tuple[str, ...]:
    return (*_RUNTIME_FLAGS, *(LINE_FLAGS if wants_lines() else ()))


def _start() -> ctypes.PyDLL:
    chain = toolchain.find()
    assert chain is not None, "asked before"
    path = chain.build_shared(runtime_source(), flags=_runtime_flags(), name="weft_plain")
    library = cache.library(path, _Global)
    starting.start(library)
    library.wp_attributes.restype, library.wp_attributes.argtypes = ctypes.py_object, [ctypes.py_object]
    return library
