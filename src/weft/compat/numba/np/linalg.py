"""`numba.np.linalg`: LAPACK by its Fortran names, on addresses, as Numba's own functions call it. SciPy does it."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np

from weft.compat.numba.core.errors import UnsupportedError


def _matrix(pointer: Any, rows: int, columns: int, dtype: np.dtype[Any]) -> Any:
    """The matrix in Fortran order at an address."""
    size = rows * columns * dtype.itemsize
    memory = memoryview((ctypes.c_char * size).from_address(pointer.data)).cast("B")
    return np.frombuffer(memory, dtype).reshape((rows, columns), order="F")


class _LAPACK:
    """`_LAPACK().numba_xgesv(dtype)`: solve a x = b in place; 0 if that was possible."""

    def numba_xgesv(self, dtype: Any) -> Callable[..., int]:
        element = np.dtype(dtype)

        def gesv(kind: int, n: int, nrhs: int, a: Any, lda: int, ipiv: Any, b: Any, ldb: int) -> int:
            from scipy.linalg.lapack import get_lapack_funcs

            if lda != n or ldb != n:
                raise UnsupportedError("numba_xgesv of a part of a matrix")
            matrix, right = _matrix(a, n, n, element), _matrix(b, n, nrhs, element)
            (solve,) = get_lapack_funcs(("gesv",), (matrix,))
            factors, pivots, solution, info = solve(matrix, right)
            matrix[...], right[...] = factors, solution
            places = (ctypes.c_int32 * n).from_address(ipiv.data)
            places[:] = [int(place) + 1 for place in pivots]
            return int(info)

        return gesv

    def __getattr__(self, name: str) -> Any:
        raise UnsupportedError(f"numba.np.linalg._LAPACK().{name}: call np.linalg or scipy.linalg instead")
