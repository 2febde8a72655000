"""Textbook C. In come a kernel, and whether its OpenMP pragmas count; out comes a call on the kernel's arguments.

Every file of `c/` has one function: `void kernel(const int64_t *size, <the arguments of the Python forms>, <what those
return>)`, arrays flat and row-major.
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


def build(name: str, directory: Path, parallel: bool) -> Callable[..., None]:
    """Compile one kernel; the callable takes the sizes, then all arguments."""
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        raise ModuleNotFoundError("no C compiler")
    made = directory / f"{name}-{'openmp' if parallel else 'serial'}.so"
    flags = (*FLAGS, "-fopenmp") if parallel else FLAGS
    subprocess.run([compiler, *flags, "-o", str(made), str(SOURCES / f"{name}.c"), "-lm"], check=True)
    kernel = ctypes.CDLL(str(made)).kernel
    kernel.restype = None

    def call(size: tuple[int, ...], *arguments: Any) -> None:
        extents = (ctypes.c_int64 * len(size))(*size)
        kernel(extents, *(_word(argument) for argument in arguments))

    return call


def _word(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        assert value.flags.c_contiguous and value.dtype in (np.float64, np.int64), "flat arrays of doubles or integers"
        return ctypes.c_void_p(value.ctypes.data)
    return ctypes.c_double(value) if isinstance(value, float) else ctypes.c_int64(value)


def results(shapes: tuple[tuple[int, ...], ...], arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """Arrays for what a kernel returns, untouched memory of the arguments' dtype."""
    arrays = [value for value in arguments if isinstance(value, np.ndarray)]
    return tuple(np.empty(shape, arrays[0].dtype) for shape in shapes)
