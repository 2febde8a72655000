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
    columns = B.T.new()  # the masked product takes one dot product for each entry then
    product(S.S) << semiring.plus_times(A @ columns.T)
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


def _softmax(S: Any) -> Any:
    greatest = S.reduce_rowwise(monoid.max).new()
    return _normalised(unary.exp(semiring.any_rminus(greatest.diag() @ S).new()).new())


def _sinkhorn(K: Any, M: Any, r: Any, c: Any, x: Any, most: int) -> Any:
    scale = unary.minv(Vector.from_dense(r.to_dense().ravel())).new().diag()
    scaled, turned = semiring.any_times(scale @ K).new(), K.T.new()

    def weights(u: Any) -> Any:
        product = Matrix(float, c.nrows, c.ncols)
        product(c.S) << semiring.plus_times(turned @ u.T.new().T)
        return binary.truediv(c & product).new()

    for _ in range(most):
        x = semiring.plus_times(scaled @ weights(unary.minv(x).new())).new()
    u = unary.minv(x).new()
    distances = semiring.plus_times(binary.times(K & M).new() @ weights(u)).new()
    return binary.times(u & distances).new().reduce_columnwise(monoid.plus).new()


def _convolution(A: Any, X: Any, W: Any) -> Any:
    scale = unary.minv(unary.sqrt(A.reduce_rowwise(monoid.plus).new()).new()).new().diag()
    balanced = semiring.any_times(semiring.any_times(scale @ A).new() @ scale).new()
    out = semiring.plus_times(balanced @ semiring.plus_times(X @ W).new()).new()
    return out.apply(binary.max, right=0.0).new()


def _conjugate_gradient(A: Any, b: Any, small: float, most: int) -> Any:
    x, r, p = Vector.from_scalar(0.0, b.size), b.dup(), b.dup()
    rs = semiring.plus_times(r @ r).new().value
    for _ in range(most):
        if rs <= small:
            break
        Ap = semiring.plus_times(A @ p).new()
        alpha = rs / semiring.plus_times(p @ Ap).new().value
        x(binary.plus) << p.apply(binary.times, right=alpha)
        r(binary.plus) << Ap.apply(binary.times, right=-alpha)
        new = semiring.plus_times(r @ r).new().value
        p = binary.plus(r & p.apply(binary.times, right=new / rs).new()).new()
        rs = new
    return x


def _label_propagation(A: Any, Y: Any, alpha: float, steps: int) -> Any:
    P = semiring.any_times(unary.minv(A.reduce_rowwise(monoid.plus).new()).new().diag() @ A).new()
    rest, F = Y.apply(binary.times, right=1 - alpha).new(), Y
    for _ in range(steps):
        new = rest.dup()
        new(binary.plus) << semiring.plus_times(P @ F).new().apply(binary.times, right=alpha)
        F = new
    return F


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
    "spmv coo": lambda S, x: semiring.plus_times(S @ x).new(),
    "spmm": lambda S, X: semiring.plus_times(S @ X).new(),
    "sddmm": _sddmm,
    "spmm-mm": lambda S, A, B: semiring.plus_times(S @ semiring.plus_times(A @ B).new()).new(),
    "masked product": _masked,
    "row normalisation": _normalised,
    "softmax by rows": _softmax,
    "sinkhorn": _sinkhorn,
    "graph convolution": _convolution,
    "conjugate gradient": _conjugate_gradient,
    "label propagation": _label_propagation,
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
