"""The programs, in one-line operator form where there is one. In comes a matrix of `patterns.py`; out come the function
that SciPy and weft run, its arguments, and what it must move at least (bytes) for programs that memory limits.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

FEATURES = 32
STEPS = 10


@dataclass(frozen=True)
class Program:
    """`small`: SciPy forms a dense matrix of all rows and columns, so that it is measured with fewer rows."""

    function: Callable[..., Any]
    arguments: Callable[[Any], tuple[Any, ...]]
    small: bool = False
    moved: Callable[[tuple[Any, ...], Any], int] | None = None


def sddmm(S, A, B):
    return S.multiply(A @ B)


def spmm_mm(S, A, B):
    return S @ A @ B


def masked_product(A, B, M):
    return M.multiply(A @ B).sum(axis=1)


def row_softmax(S):
    E = S.copy()
    E.data = np.exp(S.data - np.repeat(S.max(axis=1).toarray().ravel(), np.diff(S.indptr)))
    return E.multiply(1 / E.sum(axis=1)[:, None])


def row_normalisation(S):
    return S / S.sum(axis=1)[:, None]


def sinkhorn(K, M, r, c, x, most):
    it = 0
    while it < most:
        u = 1.0 / x
        v = c.multiply(1 / (K.T @ u))
        x = (1 / r) * K @ v.tocsc()
        it += 1
    u = 1.0 / x
    v = c.multiply(1 / (K.T @ u))
    return (u * ((K * M) @ v)).sum(axis=0)


def graph_convolution(A, X, W):
    D = sp.diags_array(1.0 / np.sqrt(A.sum(axis=1)))
    return np.maximum((D @ A @ D) @ (X @ W), 0.0)


def mttkrp(i, j, k, v, B, C, n):
    out = np.zeros((n, B.shape[1]))
    np.add.at(out, i, v[:, None] * B[j] * C[k])
    return out


def page_rank(A, d, steps):
    n = A.shape[0]
    degree = A.sum(axis=1)
    inverse = np.where(degree > 0, 1.0 / np.maximum(degree, 1e-300), 0.0)
    P = sp.diags_array(inverse) @ A
    x = np.ones(n) / n
    for _ in range(steps):
        x = (1 - d) / n + d * (P.T @ x)
    return x


def conjugate_gradient(A, b, small, most):
    x = np.zeros_like(b)
    r = b - A @ x
    p = r.copy()
    rs = r @ r
    it = 0
    while it < most and rs > small:
        Ap = A @ p
        alpha = rs / (p @ Ap)
        x += alpha * p
        r -= alpha * Ap
        new = r @ r
        p = r + (new / rs) * p
        rs = new
        it += 1
    return x


def label_propagation(A, Y, alpha, steps):
    P = A.multiply(1.0 / A.sum(axis=1)[:, None]).tocsr()
    F = Y.copy()
    for _ in range(steps):
        F = alpha * (P @ F) + (1 - alpha) * Y
    return F


def triangles(L):
    return (L @ L).multiply(L).sum()


def spgemm(A, B):
    return A @ B


def spmv(S, x):
    return S @ x


def spmm(S, X):
    return S @ X


def _random(*shape: int) -> Any:
    return np.random.default_rng(7).random(shape)


def _both_ways(matrix: Any) -> Any:
    both = sp.csr_array(matrix + matrix.T)
    both.data[:] = 1.0
    return both


def _with_loops(matrix: Any) -> Any:
    return sp.csr_array(matrix + sp.eye_array(matrix.shape[0]))


def _definite(matrix: Any) -> Any:
    both = sp.csr_array(matrix + matrix.T)
    return sp.csr_array(both + sp.diags_array(both.sum(axis=1) + 1.0))


def _documents(matrix: Any) -> tuple[Any, ...]:
    """Words of one document to all words, and a document for each fiftieth column."""
    words, rows = 24, matrix.shape[0]
    count = max(1, rows // 50)
    random = np.random.default_rng(3)
    place = random.integers(0, rows, 30 * count), np.repeat(np.arange(count), 30)
    c = sp.coo_array((random.random(30 * count) + 0.1, place), shape=(rows, count)).tocsr()
    M = random.random((words, rows)) + 0.1
    return np.exp(-2.0 * M), M, np.full((words, 1), 1.0 / words), c, np.full((words, count), 1.0 / words), STEPS


def _tensor(matrix: Any) -> tuple[Any, ...]:
    rows, count = matrix.shape[0], matrix.nnz
    i, j = (part.astype(np.int64) for part in matrix.tocoo().coords)
    k = np.random.default_rng(5).integers(0, rows, count)
    return i, j, k, matrix.data, _random(rows, FEATURES), _random(rows, FEATURES), rows


def _entries(matrix: Any) -> int:
    places = matrix.coords if matrix.format == "coo" else (matrix.indptr, matrix.indices)
    return int(sum(part.nbytes for part in (*places, matrix.data)))


def _streamed(arguments: tuple[Any, ...], result: Any) -> int:
    """The matrix once, the dense operand once, the result once."""
    return _entries(arguments[0]) + int(arguments[1].nbytes) + int(result.nbytes)


PROGRAMS: dict[str, Program] = {
    "spmv csr": Program(spmv, lambda S: (S, _random(S.shape[1])), moved=_streamed),
    "spmv csc": Program(spmv, lambda S: (S.tocsc(), _random(S.shape[1])), moved=_streamed),
    "spmv coo": Program(spmv, lambda S: (S.tocoo(), _random(S.shape[1])), moved=_streamed),
    "spmm": Program(spmm, lambda S: (S, _random(S.shape[1], FEATURES)), moved=_streamed),
    "sddmm": Program(
        sddmm, lambda S: (S, _random(S.shape[0], FEATURES), _random(FEATURES, S.shape[1])), small=True
    ),
    "spmm-mm": Program(spmm_mm, lambda S: (S, _random(S.shape[1], 4 * FEATURES), _random(4 * FEATURES, FEATURES))),
    "masked product": Program(
        masked_product, lambda S: (_random(S.shape[0], FEATURES), _random(FEATURES, S.shape[1]), S), small=True
    ),
    "softmax by rows": Program(row_softmax, lambda S: (S,)),
    "row normalisation": Program(row_normalisation, lambda S: (S,)),
    "sinkhorn": Program(sinkhorn, _documents, small=True),
    "graph convolution": Program(
        graph_convolution, lambda S: (_with_loops(S), _random(S.shape[0], FEATURES), _random(FEATURES, FEATURES))
    ),
    "mttkrp": Program(mttkrp, _tensor),
    "page rank": Program(page_rank, lambda S: (S, 0.85, STEPS)),
    "conjugate gradient": Program(
        conjugate_gradient, lambda S: (_definite(S), _random(S.shape[0]), 0.0, STEPS)
    ),
    "label propagation": Program(
        label_propagation, lambda S: (_with_loops(S), _random(S.shape[0], 8), 0.9, STEPS)
    ),
    "triangles": Program(triangles, lambda S: (sp.csr_array(sp.tril(_both_ways(S), -1)),)),
    "spgemm": Program(spgemm, lambda S: (S, S)),
}  # fmt: skip
