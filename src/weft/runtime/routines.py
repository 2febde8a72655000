"""Library routines for native kernels.  In: a loaded kernel that names routines; out: their addresses in its table.

A kernel that calls routines exports two symbols: `weft_routine_names`, a text of `module:ufunc:types` separated by
semicolons, and `weft_routines`, a table of two pointers for each (the loop and its data).  Both are read out of NumPy's
generalised ufuncs, whose layout is public and stable; here it is proved all the same, against what Python says of the
ufunc and by one small call, before an address is handed out.  The sorts (`numpy:sort_stable:d->d`) are those that NumPy
keeps with each element type, behind loops of the native core that go from line to line.
"""

from __future__ import annotations

import ctypes
import importlib
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from weft.errors import CompileError

_Loop = ctypes.PYFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
#: Where the loops of messages between ranks are.
MESSAGES = "weft.cluster.comm_native"
_NAMES, _TABLE = "weft_routine_names", "weft_routines"

#: In NumPy's table of its C interface: what gives the functions that belong to an element type. Among these: where the
#: three sorts stand, and behind them the three that sort places.
_FUNCTIONS_OF_TYPE, _SORT, _SORTS = 365, 33, 3
_KINDS = {"quicksort": 0, "stable": 2}


class UFuncHead(ctypes.Structure):
    """The head of NumPy's PyUFuncObject."""

    _fields_ = [
        ("object", ctypes.c_char * object.__basicsize__),
        ("nin", ctypes.c_int),
        ("nout", ctypes.c_int),
        ("nargs", ctypes.c_int),
        ("identity", ctypes.c_int),
        ("functions", ctypes.POINTER(ctypes.c_void_p)),
        ("data", ctypes.POINTER(ctypes.c_void_p)),
        ("ntypes", ctypes.c_int),
        ("reserved1", ctypes.c_int),
        ("name", ctypes.c_char_p),
        ("types", ctypes.c_void_p),
    ]


class _Ordering(ctypes.Structure):
    """What the loops of native/routines.c are told of a sort."""

    _fields_ = [("function", ctypes.c_void_p), ("size", ctypes.c_ssize_t)]


_core: ctypes.CDLL | None = None


def attach(core: ctypes.CDLL) -> None:
    """The native core is there: what it has is what kernels sort with."""
    global _core
    _core = core
    address.cache_clear()


def bind(library: ctypes.CDLL) -> None:
    """Fill the table of a loaded kernel; CompileError if a routine it needs cannot be had."""
    fill_table(library, _NAMES, _TABLE, address)


def fill_table(
    library: ctypes.CDLL, names: str, table: str, address: Callable[[str], tuple[int, int | None] | None]
) -> None:
    """For each of the names that a kernel exports two pointers in its table; CompileError for one without address."""
    if not hasattr(library, names):
        return
    wanted = ctypes.string_at(ctypes.addressof(ctypes.c_char.in_dll(library, names))).decode().split(";")
    pointers = (ctypes.c_void_p * (2 * len(wanted))).in_dll(library, table)
    for position, name in enumerate(wanted):
        found = address(name)
        if found is None:
            raise CompileError(f"a kernel calls {name}, which no library in this process has")
        pointers[2 * position], pointers[2 * position + 1] = found


@cache
def address(name: str) -> tuple[int, int | None] | None:
    """The loop of `module:ufunc:types` and its data; None if it is not there, or not what it should be."""
    module, attribute, types = name.split(":")
    if module == "numpy":
        return _sort(attribute, types)
    if module == MESSAGES:
        return importlib.import_module(MESSAGES).loop(attribute, types), None
    try:
        ufunc = getattr(importlib.import_module(module), attribute, None)
    except ImportError:
        return None
    if not isinstance(ufunc, np.ufunc) or types not in ufunc.types:
        return None
    head = UFuncHead.from_address(id(ufunc))
    counts = (head.nin, head.nout, head.nargs, head.ntypes)
    if counts != (ufunc.nin, ufunc.nout, ufunc.nargs, ufunc.ntypes) or head.name != ufunc.__name__.encode():
        return None
    numbers = ctypes.string_at(head.types, head.ntypes * head.nargs)
    if [np.dtype(c).num for loop in ufunc.types for c in loop.replace("->", "")] != list(numbers):
        return None
    position = ufunc.types.index(types)
    found = head.functions[position], head.data[position] if head.data else None
    return found if found[0] and _answers(ufunc, types, found) else None


def _sort(name: str, types: str) -> tuple[int, int] | None:
    """The loop that sorts lines (or their places), and NumPy's own function for an element type as its data."""
    what, _, kind = name.partition("_")
    if _core is None or what not in ("sort", "argsort") or kind not in _KINDS:
        return None
    element = np.dtype(types[0])
    place = _SORT + _KINDS[kind] + (_SORTS if what == "argsort" else 0)
    function = _functions_of(element)[place]
    ordering = _Ordering(function, element.itemsize)
    _kept.append(ordering)
    loop = ctypes.cast(getattr(_core, f"weft_{what}_lines"), ctypes.c_void_p).value
    found = loop or 0, ctypes.addressof(ordering)
    return found if function and loop and _sorts(what, kind, types, found) else None


_kept: list[_Ordering] = []  # kernels hold their addresses


def _functions_of(element: Any) -> Any:
    """The functions that NumPy keeps with an element type."""
    capsule = np._core._multiarray_umath._ARRAY_API  # type: ignore[attr-defined]
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    table = ctypes.cast(pointer(capsule, None), ctypes.POINTER(ctypes.c_void_p))
    functions = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object)(table[_FUNCTIONS_OF_TYPE])
    return ctypes.cast(functions(element), ctypes.POINTER(ctypes.c_void_p))


def _sorts(what: str, kind: str, types: str, found: tuple[int, int]) -> bool:
    """Whether the loop, called on two lines with gaps, gives what NumPy gives."""
    items = (np.arange(2 * 40) * 7 % 31).astype(types[0]).reshape(2, 40)[:, ::2]
    made = np.zeros(items.shape, types[-1])
    sizes = (ctypes.c_ssize_t * 2)(*items.shape)
    steps = (ctypes.c_ssize_t * 4)(items.strides[0], made.strides[0], items.strides[1], made.strides[1])
    places = (ctypes.c_void_p * 2)(items.ctypes.data, made.ctypes.data)
    _Loop(found[0])(ctypes.addressof(places), ctypes.addressof(sizes), ctypes.addressof(steps), found[1])
    return bool(made.tobytes() == getattr(np, what)(items, axis=-1, kind=kind).tobytes())


def _answers(ufunc: Any, types: str, found: tuple[int, int | None]) -> bool:
    """Whether the loop, called by its address on a batch of two, gives what the ufunc gives."""
    given, made = (_cores(side) for side in ufunc.signature.replace(" ", "").split("->"))
    first, second = types.split("->")
    inputs = [_sample(core, letter) for core, letter in zip(given, first)]
    expected, outputs = ([np.zeros((2, *[2] * len(c)), t) for c, t in zip(made, second)] for _ in range(2))
    ufunc(*[array.copy() for array in inputs], out=tuple(expected), signature=types)
    arrays = [*inputs, *outputs]
    sizes = list(dict.fromkeys(name for core in (*given, *made) for name in core))
    extents = (ctypes.c_ssize_t * (1 + len(sizes)))(2, *[2] * len(sizes))
    inner = [stride for array in arrays for stride in array.strides[1:]]
    steps = (ctypes.c_ssize_t * (len(arrays) + len(inner)))(*[array.strides[0] for array in arrays], *inner)
    places = (ctypes.c_void_p * len(arrays))(*[array.ctypes.data for array in arrays])
    _Loop(found[0])(ctypes.addressof(places), ctypes.addressof(extents), ctypes.addressof(steps), found[1])
    return all(a.tobytes() == b.tobytes() for a, b in zip(expected, outputs))


def _cores(text: str) -> list[list[str]]:
    return [core.split(",") if core else [] for core in text[1:-1].split("),(")]


def _sample(core: list[str], letter: str) -> Any:
    """A batch of two operands, every core dimension 2: matrices are positive definite, so that no routine fails."""
    values = {0: 1.0, 1: [1.0, 2.0], 2: [[2.0, 1.0], [1.0, 3.0]]}[len(core)]
    return np.multiply.outer(np.array([1.0, 4.0]), np.array(values)).astype(letter)
