"""The programs by hand for Numba: loops over the arrays of the matrices, with `prange` over rows. Out comes, by the
name of a program, a function of the same arguments that gives what `measure.py` compares: a dense array, a number, the
values of the entries, or the arrays of a new matrix.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
import numpy as np

_parallel = numba.njit(parallel=True, fastmath=False, cache=True)
_alone = numba.njit(cache=True)


@_parallel
def _spmv(indptr, indices, data, x):
    out = np.empty(len(indptr) - 1)
    for i in numba.prange(len(out)):
        total = 0.0
        for p in range(indptr[i], indptr[i + 1]):
            total += data[p] * x[indices[p]]
        out[i] = total
    return out


@_alone
def _spmv_columns(indptr, indices, data, x, rows):
    out = np.zeros(rows)
    for j in range(len(indptr) - 1):
        for p in range(indptr[j], indptr[j + 1]):
            out[indices[p]] += data[p] * x[j]
    return out


@_alone
def _spmv_triplets(row, col, data, x, rows):
    out = np.zeros(rows)
    for p in range(len(data)):
        out[row[p]] += data[p] * x[col[p]]
    return out


@_parallel
def _spmm(indptr, indices, data, X):
    out = np.zeros((len(indptr) - 1, X.shape[1]))
    for i in numba.prange(len(out)):
        for p in range(indptr[i], indptr[i + 1]):
            for k in range(X.shape[1]):
                out[i, k] += data[p] * X[indices[p], k]
    return out


@_parallel
def _sddmm(indptr, indices, data, A, B):
    out = np.empty(len(data))
    for i in numba.prange(len(indptr) - 1):
        for p in range(indptr[i], indptr[i + 1]):
            total = 0.0
            for k in range(A.shape[1]):
                total += A[i, k] * B[indices[p], k]
            out[p] = data[p] * total
    return out


@_parallel
def _masked_product(A, B, indptr, indices, data):
    out = np.empty(len(indptr) - 1)
    for i in numba.prange(len(out)):
        whole = 0.0
        for p in range(indptr[i], indptr[i + 1]):
            total = 0.0
            for k in range(A.shape[1]):
                total += A[i, k] * B[indices[p], k]
            whole += data[p] * total
        out[i] = whole
    return out


@_parallel
def _softmax(indptr, indices, data):
    out = np.empty(len(data))
    row = np.empty(len(data), np.int32)
    for i in numba.prange(len(indptr) - 1):
        top = 0.0 if indptr[i] == indptr[i + 1] else data[indptr[i]]
        for p in range(indptr[i], indptr[i + 1]):
            top = max(top, data[p])
        total = 0.0
        for p in range(indptr[i], indptr[i + 1]):
            out[p] = np.exp(data[p] - top)
            total += out[p]
        for p in range(indptr[i], indptr[i + 1]):
            out[p] /= total
            row[p] = i
    return out, (row, indices.copy())


@_parallel
def _normalised(indptr, indices, data):
    out = np.empty(len(data))
    row = np.empty(len(data), np.int32)
    for i in numba.prange(len(indptr) - 1):
        total = 0.0
        for p in range(indptr[i], indptr[i + 1]):
            total += data[p]
        for p in range(indptr[i], indptr[i + 1]):
            out[p] = data[p] / total
            row[p] = i
    return out, (row, indices.copy())


@_parallel
def _sinkhorn(K, M, r, indptr, indices, data, x, most):
    """The documents are columns: entries are gone through by words, each with the documents it is in."""
    words, count = x.shape
    Kt = np.ascontiguousarray(K.T)
    u = np.empty((count, words))
    v = np.empty(len(data))
    result = np.zeros(count)
    x = np.ascontiguousarray(x.T)
    for it in range(most + 1):
        for d in numba.prange(count):
            for w in range(words):
                u[d, w] = 1.0 / x[d, w]
        for j in numba.prange(len(indptr) - 1):
            for p in range(indptr[j], indptr[j + 1]):
                total = 0.0
                for w in range(words):
                    total += Kt[j, w] * u[indices[p], w]
                v[p] = data[p] / total
        if it == most:
            break
        x[:] = 0.0
        for j in range(len(indptr) - 1):
            for p in range(indptr[j], indptr[j + 1]):
                for w in range(words):
                    x[indices[p], w] += Kt[j, w] * v[p] / r[w, 0]
    for j in range(len(indptr) - 1):
        for p in range(indptr[j], indptr[j + 1]):
            for w in range(words):
                result[indices[p]] += u[indices[p], w] * Kt[j, w] * M[w, j] * v[p]
    return result


@_parallel
def _convolution(indptr, indices, data, XW):
    rows = len(indptr) - 1
    scale = np.empty(rows)
    for i in numba.prange(rows):
        total = 0.0
        for p in range(indptr[i], indptr[i + 1]):
            total += data[p]
        scale[i] = 1.0 / np.sqrt(total)
    out = np.zeros((rows, XW.shape[1]))
    for i in numba.prange(rows):
        for p in range(indptr[i], indptr[i + 1]):
            weight = scale[i] * data[p] * scale[indices[p]]
            for k in range(XW.shape[1]):
                out[i, k] += weight * XW[indices[p], k]
        for k in range(XW.shape[1]):
            out[i, k] = max(out[i, k], 0.0)
    return out


@_alone
def _mttkrp(i, j, k, v, B, C, n):
    out = np.zeros((n, B.shape[1]))
    for p in range(len(v)):
        for r in range(B.shape[1]):
            out[i[p], r] += v[p] * B[j[p], r] * C[k[p], r]
    return out


@_alone
def _page_rank(indptr, indices, data, d, steps):
    n = len(indptr) - 1
    inverse = np.zeros(n)
    for i in range(n):
        total = 0.0
        for p in range(indptr[i], indptr[i + 1]):
            total += data[p]
        inverse[i] = 1.0 / total if total > 0 else 0.0
    x = np.full(n, 1.0 / n)
    for _ in range(steps):
        y = np.zeros(n)
        for i in range(n):
            for p in range(indptr[i], indptr[i + 1]):
                y[indices[p]] += inverse[i] * data[p] * x[i]
        x = (1 - d) / n + d * y
    return x


@_alone
def _conjugate_gradient(indptr, indices, data, b, small, most):
    x = np.zeros_like(b)
    r = b.copy()
    p = r.copy()
    rs = r @ r
    it = 0
    while it < most and rs > small:
        Ap = _spmv(indptr, indices, data, p)
        alpha = rs / (p @ Ap)
        x += alpha * p
        r -= alpha * Ap
        new = r @ r
        p = r + (new / rs) * p
        rs = new
        it += 1
    return x


@_parallel
def _label_propagation(indptr, indices, data, Y, alpha, steps):
    rows = len(indptr) - 1
    scale = np.empty(rows)
    for i in numba.prange(rows):
        total = 0.0
        for p in range(indptr[i], indptr[i + 1]):
            total += data[p]
        scale[i] = 1.0 / total
    F = Y.copy()
    G = np.empty_like(Y)
    for _ in range(steps):
        for i in numba.prange(rows):
            G[i] = 0.0
            for p in range(indptr[i], indptr[i + 1]):
                for k in range(Y.shape[1]):
                    G[i, k] += scale[i] * data[p] * F[indices[p], k]
            for k in range(Y.shape[1]):
                G[i, k] = alpha * G[i, k] + (1 - alpha) * Y[i, k]
        F, G = G, F
    return F


@_alone
def _triangles(indptr, indices, data):
    marks = np.full(len(indptr) - 1, -1)
    total = 0.0
    for i in range(len(indptr) - 1):
        for p in range(indptr[i], indptr[i + 1]):
            marks[indices[p]] = p
        for p in range(indptr[i], indptr[i + 1]):
            for q in range(indptr[indices[p]], indptr[indices[p] + 1]):
                at = marks[indices[q]]
                if at >= indptr[i]:
                    total += data[p] * data[q] * data[at]
    return total


@_alone
def _spgemm(indptr, indices, data, indptr2, indices2, data2, columns):
    rows = len(indptr) - 1
    seen = np.full(columns, -1)
    begin = np.zeros(rows + 1, np.int32)
    for i in range(rows):
        count = 0
        for p in range(indptr[i], indptr[i + 1]):
            for q in range(indptr2[indices[p]], indptr2[indices[p] + 1]):
                if seen[indices2[q]] != i:
                    seen[indices2[q]] = i
                    count += 1
        begin[i + 1] = begin[i] + count
    place = np.full(columns, -1)
    found = np.empty(begin[rows], np.int32)
    values = np.zeros(begin[rows])
    for i in range(rows):
        free = begin[i]
        for p in range(indptr[i], indptr[i + 1]):
            for q in range(indptr2[indices[p]], indptr2[indices[p] + 1]):
                at = place[indices2[q]]
                if at < begin[i]:
                    at = free
                    free += 1
                    place[indices2[q]] = at
                    found[at] = indices2[q]
                values[at] += data[p] * data2[q]
    return begin, found, values


def _arrays(matrix: Any) -> tuple[Any, Any, Any]:
    return matrix.indptr, matrix.indices, matrix.data


def _transposed(B: Any) -> Any:
    return np.ascontiguousarray(B.T)


PORTS: dict[str, Callable[..., Any]] = {
    "spmv csr": lambda S, x: _spmv(*_arrays(S), x),
    "spmv csc": lambda S, x: _spmv_columns(*_arrays(S), x, S.shape[0]),
    "spmv coo": lambda S, x: _spmv_triplets(S.row, S.col, S.data, x, S.shape[0]),
    "spmm": lambda S, X: _spmm(*_arrays(S), X),
    "sddmm": lambda S, A, B: _sddmm(*_arrays(S), A, _transposed(B)),
    "spmm-mm": lambda S, A, B: _spmm(*_arrays(S), A @ B),
    "masked product": lambda A, B, M: _masked_product(A, _transposed(B), *_arrays(M)),
    "softmax by rows": lambda S: _softmax(*_arrays(S)),
    "row normalisation": lambda S: _normalised(*_arrays(S)),
    "sinkhorn": lambda K, M, r, c, x, most: _sinkhorn(K, M, r, *_arrays(c), x, most),
    "graph convolution": lambda A, X, W: _convolution(*_arrays(A), X @ W),
    "mttkrp": _mttkrp,
    "page rank": lambda A, d, steps: _page_rank(*_arrays(A), d, steps),
    "conjugate gradient": lambda A, b, small, most: _conjugate_gradient(*_arrays(A), b, small, most),
    "label propagation": lambda A, Y, alpha, steps: _label_propagation(*_arrays(A), Y, alpha, steps),
    "triangles": lambda L: _triangles(*_arrays(L)),
    "spgemm": lambda A, B: _spgemm(*_arrays(A), *_arrays(B), B.shape[1]),
}
