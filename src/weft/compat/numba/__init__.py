"""What stands in for `numba`.  In: programs that say `from numba import njit`; out: their functions compiled by weft.

The names and arguments are Numba's, the answers are Python's: integers do not wrap, an index outside of an array is an
IndexError, and what cannot be compiled runs as plain Python.  docs/from_numba.md lists the differences.
"""

from __future__ import annotations

from typing import Any

from weft.compat.numba import core, cuda, experimental, extending, typed, types
from weft.compat.numba.core import config, errors
from weft.compat.numba.core.errors import (
    NumbaDeprecationWarning,
    NumbaPendingDeprecationWarning,
    NumbaPerformanceWarning,
    NumbaWarning,
    TypingError,
)
from weft.compat.numba.decorators import cfunc, generated_jit, jit, jit_module, njit
from weft.compat.numba.special import (
    carray,
    farray,
    gdb,
    get_num_threads,
    get_parallel_chunksize,
    get_thread_id,
    literal_unroll,
    literally,
    objmode,
    parallel_chunksize,
    pndindex,
    prange,
    set_num_threads,
    set_parallel_chunksize,
    threading_layer,
    typeof,
)
from weft.compat.numba.stencils import stencil
from weft.compat.numba.types import *  # noqa: F403 (numba.float64 and so on)
from weft.compat.numba.types import __all__ as _type_names
from weft.compat.numba.types import from_dtype
from weft.compat.numba.ufuncs import guvectorize, vectorize

#: The version of Numba whose names are here.
__version__ = "0.61.0"
version_info = (0, 61, 0)

__all__ = [  # noqa: PLE0604 (the names are strings, spelt once)
    "NumbaDeprecationWarning",
    "NumbaPendingDeprecationWarning",
    "NumbaPerformanceWarning",
    "NumbaWarning",
    "TypingError",
    "carray",
    "cfunc",
    "config",
    "core",
    "cuda",
    "errors",
    "experimental",
    "extending",
    "farray",
    "from_dtype",
    "gdb",
    "generated_jit",
    "get_num_threads",
    "get_parallel_chunksize",
    "get_thread_id",
    "guvectorize",
    "jit",
    "jit_module",
    "literal_unroll",
    "literally",
    "njit",
    "objmode",
    "parallel_chunksize",
    "pndindex",
    "prange",
    "set_num_threads",
    "set_parallel_chunksize",
    "stencil",
    "threading_layer",
    "typed",
    "typeof",
    "types",
    "vectorize",
    *_type_names,
]


def __getattr__(name: str) -> Any:
    """A name of Numba's that is not here."""
    raise AttributeError(f"numba.{name} has no counterpart in weft: docs/from_numba.md lists what there is")
