"""Some of the programs for python-graphblas (SuiteSparse), where it is installed. Out come, by the name of a program, a
function that makes its objects of the arguments (not on the clock) and the function that is measured.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import graphblas as gb
import numpy as np
from graphblas import Matrix, Vector, binary, monoid, semiring, unary


def _matrix(value: Any) -> Any:
    return gb.io.from_scipy_sparse(value)


def _sddmm(S: Any, A: Any, B: Any) -> Any:
    product = Matrix(float, S.nrows, S.ncols)
    product(S.S) << semiring.plus_times(A @ B)
    return binary.times(product & S).new()


def _masked(A: Any, B: Any, M: Any) -> Any:
    return _sddmm(M, A, B).reduce_rowwise(monoid.plus).new()


def _normalised(S: Any) -> Any:
    inverse = unary.minv(S.reduce_rowwise(monoid.plus).new()).new()
    return semiring.any_times(inverse.diag() @ S).new()


def _page_rank(A: Any, d: float, steps: int) -> Any:
    n = A.nrows
    inverse = unary.minv(A.reduce_rowwise(monoid.plus).new()).new()
    P = semiring.any_times(inverse.diag() @ A).new()
    x = Vector.from_scalar(1.0 / n, n)
    for _ in range(steps):
        y = Vector.from_scalar((1 - d) / n, n)
        y(binary.plus) << semiring.plus_times(P.T @ x).new().apply(binary.times, right=d)
        x = y
    return x


def _triangles(L: Any) -> Any:
    product = Matrix(float, L.nrows, L.ncols)
    product(L.S) << semiring.plus_times(L @ L)
    return binary.times(product & L).new().reduce_scalar(monoid.plus).new().value


def _wait(value: Any) -> Any:
    """Lazy results are computed."""
    if hasattr(value, "wait"):
        value.wait()
    return value


def _dense(value: Any) -> Any:
    return Vector.from_dense(value) if value.ndim == 1 else Matrix.from_dense(value)


def _made(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return _dense(value)
    return _matrix(value) if hasattr(value, "nnz") else value


def _plain(value: Any) -> Any:
    if isinstance(value, Vector):
        return value.to_dense(0.0)
    if isinstance(value, Matrix):
        return gb.io.to_scipy_sparse(value, "csr")
    return value


_PROGRAMS: dict[str, Callable[..., Any]] = {
    "spmv csr": lambda S, x: semiring.plus_times(S @ x).new(),
    "spmv csc": lambda S, x: semiring.plus_times(S @ x).new(),
    "spmm": lambda S, X: semiring.plus_times(S @ X).new(),
    "sddmm": _sddmm,
    "spmm-mm": lambda S, A, B: semiring.plus_times(S @ semiring.plus_times(A @ B).new()).new(),
    "masked product": _masked,
    "row normalisation": _normalised,
    "page rank": _page_rank,
    "triangles": _triangles,
    "spgemm": lambda A, B: semiring.plus_times(A @ B).new(),
}


def port(name: str, arguments: tuple[Any, ...], threads: int) -> tuple[Callable[[], Any], Callable[[Any], Any]] | None:
    """The measured call, and what turns its result into SciPy's and NumPy's."""
    if name not in _PROGRAMS:
        return None
    gb.ss.config["nthreads"] = threads
    made = tuple(_made(value) for value in arguments)
    return (lambda: _wait(_PROGRAMS[name](*made))), _plain
