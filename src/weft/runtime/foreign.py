"""Functions of other libraries for native kernels.  In: a loaded kernel that names some; out: their addresses in its
table, two pointers for each (the function, and the data of a ufunc's loop).

    ufunc|scipy.special|erf|d->d    the loop of a ufunc of a module
    c|libm.so.6|erf                 a symbol of a shared library
    offered|module:name             an address that was registered in this process
"""

from __future__ import annotations

import ctypes
import functools
import importlib
import os
from typing import Any

import numpy as np

from weft.runtime.routines import UFuncHead, fill_table

NAMES, TABLE = "weft_foreign_names", "weft_foreign"
#: Dimensions of `matmul`, the only function of whole matrices here.
_PRODUCT = "(n?,k),(k,m?)->(n?,m?)"

_offered: dict[str, int] = {}
_kept: list[Any] = []
_stamps: list[str] = []


def offer(name: str, address: int, keep: Any) -> str:
    """Make an address known; its key."""
    _offered[name] = address
    _kept.append(keep)
    return f"offered|{name}"


def note(text: str) -> None:
    """Something was registered: versions in the disk cache that were made without it are others."""
    _stamps.append(text)


def stamp() -> str:
    """All that was registered, in any order."""
    return "; ".join((*sorted(set(_stamps)), os.environ.get("WEFT_PASSES", "")))


def bind(library: ctypes.CDLL) -> None:
    """Fill the table of a loaded kernel; CompileError if a function it needs is not there."""
    fill_table(library, NAMES, TABLE, address)


def address(key: str) -> tuple[int, int | None] | None:
    """The address that a key stands for, and the data that goes with it; None if there is none."""
    kind, *parts = key.split("|")
    if kind == "offered":
        found = _offered.get(parts[0])
        return None if found is None else (found, None)
    if kind == "c":
        return _symbol(*parts)
    return ufunc_loop(*parts) if kind == "ufunc" else None


@functools.cache
def _symbol(library: str, name: str) -> tuple[int, None] | None:
    opened = open_library(library)
    try:
        found = ctypes.cast(getattr(opened, name), ctypes.c_void_p).value if opened is not None else None
    except AttributeError:
        return None
    return None if not found else (found, None)


def open_library(name: str) -> ctypes.CDLL | None:
    """A shared library by its path or name ("libm", "m"); None if there is none."""
    import ctypes.util  # it loads much, and few programs name libraries

    short = name.removeprefix("lib").partition(".so")[0]
    for candidate in (name, ctypes.util.find_library(short)):
        if candidate is None:
            continue
        try:
            return ctypes.CDLL(candidate)
        except OSError:
            continue
    return None


@functools.cache
def ufunc_loop(module: str, name: str, types: str) -> tuple[int, int | None] | None:
    """The loop of a ufunc for these types; None if it has none, or its layout is not the known one."""
    try:
        ufunc = getattr(importlib.import_module(module), name, None)
    except ImportError:
        return None
    if not isinstance(ufunc, np.ufunc) or types not in ufunc.types or ufunc.signature not in (None, _PRODUCT):
        return None
    head = UFuncHead.from_address(id(ufunc))
    counts = (head.nin, head.nout, head.nargs, head.ntypes)
    if counts != (ufunc.nin, ufunc.nout, ufunc.nargs, ufunc.ntypes) or head.name != ufunc.__name__.encode():
        return None
    position = ufunc.types.index(types)
    found = head.functions[position], head.data[position] if head.data else None
    return found if found[0] and _answers(ufunc, types, found) else None


def _answers(ufunc: Any, types: str, found: tuple[int, int | None]) -> bool:
    """Whether the loop, called by its address, gives what the ufunc gives: on two numbers, or on matrices of 2 x 2."""
    first, second = types.split("->")
    core = ufunc.signature is not None
    shape = (2, 2) if core else (2,)
    inputs = [np.array([0.5, 1.25, 3.0, 0.75][: 4 if core else 2]).astype(letter).reshape(shape) for letter in first]
    outputs = [np.zeros(shape, letter) for letter in second]
    with np.errstate(all="ignore"):
        expected = ufunc(*inputs, signature=types)
    arrays = [*inputs, *outputs]
    places = (ctypes.c_void_p * len(arrays))(*[array.ctypes.data for array in arrays])
    steps = [0 if core else array.itemsize for array in arrays]
    steps += [step for array in arrays for step in array.strides if core]
    sizes = [1, 2, 2, 2] if core else [2]
    loop = ctypes.PYFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)(found[0])
    counts, strides = (ctypes.c_ssize_t * len(sizes))(*sizes), (ctypes.c_ssize_t * len(steps))(*steps)
    loop(ctypes.addressof(places), ctypes.addressof(counts), ctypes.addressof(strides), found[1])
    results = expected if isinstance(expected, tuple) else (expected,)
    return all(a.tobytes() == b.tobytes() for a, b in zip(results, outputs))
