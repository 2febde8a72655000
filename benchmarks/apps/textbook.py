"""Textbook C. In comes an application of Julia's set; out comes a call on its arguments.

Every file of `c/` has one function `kernel`, whose parameters are the arguments of the Python function: an array or a
list is a pointer to its elements and their number (of each axis); what is returned comes back by the return value, or
through pointers at the end if it is several numbers.
"""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

SOURCES = Path(__file__).resolve().parent / "c"
FLAGS = ("-O3", "-march=native", "-shared", "-fPIC", "-std=gnu11")
#: What each returns: an integer, a float, nothing, or a number of floats.
RESULTS: dict[str, Any] = {
    "fibonacci": int,
    "quicksort": None,
    "pi_sum": float,
    "mandelbrot": int,
    "parse_int": int,
    "matrix_statistics": 2,
}


def build(name: str, directory: Path) -> Callable[[tuple[Any, ...]], Any]:
    """Compile one file; the callable takes what `staged` makes."""
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        raise ModuleNotFoundError("no C compiler")
    made = directory / f"{name}.so"
    subprocess.run([compiler, *FLAGS, "-o", str(made), str(SOURCES / f"{name}.c"), "-lm"], check=True)
    kernel = ctypes.CDLL(str(made)).kernel
    kind = RESULTS[name]
    kernel.restype = {int: ctypes.c_int64, float: ctypes.c_double}.get(kind)

    def call(arguments: tuple[Any, ...]) -> Any:
        words = [word for value in arguments for word in _words(value)]
        if not isinstance(kind, int):
            return kernel(*words)
        places = [ctypes.c_double() for _ in range(kind)]
        kernel(*words, *(ctypes.byref(place) for place in places))
        return tuple(place.value for place in places)

    return call


def staged(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """Lists as arrays."""
    return tuple(np.array(value) if isinstance(value, list) else value for value in arguments)


def _words(value: Any) -> tuple[Any, ...]:
    if isinstance(value, np.ndarray):
        assert value.flags.c_contiguous and value.dtype in (np.float64, np.int64), "flat arrays of doubles or integers"
        return (ctypes.c_void_p(value.ctypes.data), *(ctypes.c_int64(extent) for extent in value.shape))
    return (ctypes.c_double(value) if isinstance(value, float) else ctypes.c_int64(value),)
