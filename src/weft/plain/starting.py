"""The start of the run time of compiled plain Python.  In: its entry points, as ctypes sees them; out: they may be
called.

Modules that stand alone hold this text: nothing here needs a compiler.
"""

from __future__ import annotations

import collections
import ctypes
import random
import sys
from typing import Any, Final, NamedTuple

MISS: Final = object()
"""What a compiled version gives when Python must run the call: nothing visible has happened then."""


class Last(NamedTuple):
    """What `last` says of a callable: calls that did not fit, calls that deoptimised, the last reason and its line, and
    calls that were done."""

    misses: int
    deopts: int
    reason: str | None
    line: int
    calls: int


def start(library: Any) -> None:
    """Declare the entry points, and have the run time look at this interpreter; RuntimeError if it is another kind."""
    objects = ctypes.py_object
    library.wp_start.restype = objects
    library.wp_start.argtypes = [objects] * 8
    library.wp_make.restype = objects
    library.wp_make.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
    library.wp_watch.restype = None
    library.wp_watch.argtypes = [objects, objects]
    library.wp_last.restype = objects
    library.wp_last.argtypes = [objects]
    number = 1.5
    library.wp_written.restype = ctypes.c_int64
    from weft.plain.foreign import address_of, copy_state, give_state, same_state
    from weft.plain.output import write

    classes = collections.deque, collections.OrderedDict
    helpers = write, copy_state, give_state, address_of, same_state
    problem = library.wp_start(MISS, *classes, random, helpers, number, [number], (number,))
    if problem is not None:
        raise RuntimeError(problem)


def meet_numpy(library: Any) -> str | None:
    """Tell the run time of NumPy; why not, where it cannot be."""
    import numpy as np

    from weft.plain.types import DTYPES

    home = getattr(np, "_core", None) or np.core
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    dtypes = tuple(np.dtype(name) for name in DTYPES)
    if sys.byteorder != "little" or int(np.__version__.partition(".")[0]) < 2:
        return "arrays in compiled plain Python need NumPy 2 and a little-endian machine"
    objects = ctypes.py_object
    library.wp_start_arrays.restype = objects
    library.wp_start_arrays.argtypes = [ctypes.c_void_p, *[objects] * 6]
    problem: str | None = library.wp_start_arrays(
        get(home._multiarray_umath._ARRAY_API, None),
        np.ndarray,
        dtypes,
        tuple(dtype.type for dtype in dtypes),
        np.arange(6.0).reshape(2, 3).copy(),
        np.True_,
        np.False_,
    )
    return problem
