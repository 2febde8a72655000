"""What Numba calls its special functions, and the threads.  Each does in plain Python what it does in Numba's compiled
code, as far as that can be seen in a result.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from weft.compat.notes import noted
from weft.compat.numba.core import config
from weft.compat.numba.types import typeof
from weft.parallel import prange
from weft.runtime import threads

__all__ = [
    "carray",
    "farray",
    "gdb",
    "get_num_threads",
    "get_parallel_chunksize",
    "get_thread_id",
    "literal_unroll",
    "literally",
    "objmode",
    "parallel_chunksize",
    "pndindex",
    "prange",
    "set_num_threads",
    "set_parallel_chunksize",
    "threading_layer",
    "typeof",
]


def literal_unroll(container: Any) -> Any:
    """A tuple of values of several types, run through: as it is."""
    return container


def literally(value: Any) -> Any:
    """A value that must be known to compile: as it is."""
    return value


def pndindex(*shape: int) -> Iterator[tuple[int, ...]]:
    """np.ndindex"""
    return iter(np.ndindex(*shape))


class objmode:
    """`with objmode(y="float64[:]"):` a block for the interpreter.  weft leaves what it cannot compile there anyway."""

    def __init__(self, *_: Any, **types: Any) -> None:
        self.types = types

    def __enter__(self) -> None:
        return None

    def __exit__(self, *_: object) -> None:
        return None


def set_num_threads(count: int) -> None:
    """As weft.set_num_threads, within Numba's bounds."""
    if not 1 <= count <= config.NUMBA_NUM_THREADS:
        raise ValueError(f"The number of threads must be between 1 and {config.NUMBA_NUM_THREADS}")
    threads.set_num_threads(count)


def get_num_threads() -> int:
    """As weft.get_num_threads, within Numba's bounds: arrays are often made one row a thread."""
    return min(threads.get_num_threads(), config.NUMBA_NUM_THREADS)


def get_thread_id() -> int:
    """Always 0: Python has one thread here, and weft leaves a loop that asks for it to Python."""
    noted("get_thread_id", "is 0, and the loop around it is not compiled")
    return 0


def threading_layer() -> str:
    """The name of what runs the threads."""
    return "weft"


def set_parallel_chunksize(size: int) -> int:
    """weft chooses how many iterations a thread takes; the value before is returned, as in Numba."""
    noted("set_parallel_chunksize", "weft chooses how many iterations a thread takes")
    return 0


@contextlib.contextmanager
def parallel_chunksize(size: int) -> Iterator[None]:
    """As `set_parallel_chunksize`, inside a block."""
    set_parallel_chunksize(size)
    yield


def get_parallel_chunksize() -> int:
    """0: weft chooses."""
    return 0


def carray(pointer: Any, shape: int | Iterable[int], dtype: Any = None) -> Any:
    """An array over memory that a ctypes pointer leads to, in C order."""
    sizes = (shape,) if isinstance(shape, int) else tuple(shape)
    found = np.ctypeslib.as_array(pointer, sizes)
    return found if dtype is None else found.view(np.dtype(dtype))


def farray(pointer: Any, shape: int | Iterable[int], dtype: Any = None) -> Any:
    """An array over memory that a ctypes pointer leads to, in Fortran order."""
    sizes = (shape,) if isinstance(shape, int) else tuple(shape)
    return carray(pointer, tuple(reversed(sizes)), dtype).T


def gdb(*_: Any) -> None:
    """Nothing is done."""
    noted("gdb", "no debugger is started; see docs/howto/debug.md")
