"""Ufuncs of NumPy from loops in C.  In: addresses of loops and their types; out: an `np.ufunc`.

NumPy offers the constructor in the table of its C interface, whose order never changes.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np

from weft.ir.types import DType
from weft.records import dataclass

#: PyUFunc_FromFuncAndDataAndSignature in the table.
_CONSTRUCTOR = 31
IDENTITIES = {None: -1, 0: 0, 1: 1, "reorderable": -2}

_kept: list[Any] = []  # a ufunc refers to its tables by address


@dataclass(frozen=True)
class CLoop:
    """A loop in C; `keep` is what must live as long as it is called."""

    inputs: tuple[DType, ...]
    outputs: tuple[DType, ...]
    address: int
    keep: tuple[Any, ...]


def ufunc(
    loops: Sequence[CLoop], name: str, doc: str | None, identity: Any = None, signature: str | None = None
) -> Any:
    """The ufunc of these loops, which NumPy tries in this order; a generalised one with a `signature`."""
    first = loops[0]
    count = len(loops)
    functions = (ctypes.c_void_p * count)(*(loop.address for loop in loops))
    data = (ctypes.c_void_p * count)()
    numbers = [dtype.typenum for loop in loops for dtype in (*loop.inputs, *loop.outputs)]
    types = (ctypes.c_byte * len(numbers))(*numbers)
    texts = name.encode(), (doc or "").encode(), None if signature is None else signature.encode()
    _kept.append((functions, data, types, texts, loops))
    shape = count, len(first.inputs), len(first.outputs), IDENTITIES[identity]
    return _constructor()(functions, data, types, *shape, texts[0], texts[1], 0, texts[2])


def _constructor() -> Any:
    capsule = np._core._multiarray_umath._UFUNC_API  # type: ignore[attr-defined]
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    table = ctypes.cast(pointer(capsule, None), ctypes.POINTER(ctypes.c_void_p))
    numbers, text = [ctypes.c_int] * 4, ctypes.c_char_p
    kind = ctypes.PYFUNCTYPE(ctypes.py_object, *[ctypes.c_void_p] * 3, *numbers, text, text, ctypes.c_int, text)
    address = table[_CONSTRUCTOR]
    assert address is not None
    return kind(address)
