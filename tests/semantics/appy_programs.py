"""Programs in the style of APPy, each with a maker of arguments for a size: blocks by `vidx`, masks at the end of a
block, atomic updates, early exits, tensor expressions with named dimensions."""

from __future__ import annotations

import numpy as np

import weft
from weft import vidx

RNG = np.random.default_rng(12)


def saxpy(a, x, y, N, BN=128):
    #pragma parallel
    for i in range(0, N, BN):
        vi = vidx(i, BN, bound=N)
        y[vi] = a * x[vi] + y[vi]


def dot(x, y, out, N, BN=256):
    #pragma parallel for
    for i in range(0, N, BN):
        v = vidx(i, BN, N)
        #pragma atomic
        out[0] += np.sum(x[v] * y[v])


def rows_max(a, m, M, N, BN=32):
    #pragma parallel for
    for i in range(M):
        best = float("-inf")
        for j in range(0, N, BN):
            v = vidx(j, BN, N)
            best = max(best, np.max(a[i, v]))
        m[i] = best


def layer_norm(a, g, b, out, M, N):
    #pragma parallel for
    for i in range(M):
        mean = 0.0
        #pragma simd
        for j in range(N):
            mean += a[i, j]
        mean = mean / N
        var = 0.0
        #pragma simd
        for j in range(N):
            d = a[i, j] - mean
            var += d * d
        scale = 1.0 / np.sqrt(var / N + 1e-5)
        #pragma simd
        for j in range(N):
            out[i, j] = (a[i, j] - mean) * scale * g[j] + b[j]


def histogram(keys, counts, N):
    #pragma parallel for
    for i in range(N):
        k = keys[i]
        if k < 0:
            continue
        #pragma atomic
        counts[k] += 1


def first_over(a, limit, where, M, N):
    #pragma parallel for
    for i in range(M):
        where[i] = -1
        for j in range(N):
            if a[i, j] > limit:
                where[i] = j
                break


def relu_mask(x, y, N, BN=64):
    #pragma parallel
    for i in range(0, N, BN):
        v = vidx(i, BN, N)
        t = x[v]
        y[v] = np.where(t > 0.5, t, 0.01 * t)


def matmul_blocks(a, b, c, M, N, K, BK=16):
    #pragma parallel for
    for i in range(M):
        #pragma parallel for
        for j in range(N):
            s = 0.0
            for k in range(0, K, BK):
                v = vidx(k, BK, K)
                s += np.sum(a[i, v] * b[v, j])
            c[i, j] = s


def stencil_1d(a, b, T):
    N = a.shape[0]
    for t in range(T):
        #pragma 1:N-1=>parallel,block(64)
        b[1:N-1] = (a[:N-2] + a[1:N-1] + a[2:N]) / 3.0
        #pragma 1:N-1=>parallel,block(64)
        a[1:N-1] = b[1:N-1]


def outer_update(A, u, v):
    M, N = A.shape
    #pragma :M=>parallel,block(2) :N=>parallel,simd
    A[:M, :N] += u[:M, None] * v[None, :N]


def column_means(a, mean):
    M, N = a.shape
    #pragma :N=>parallel :M=>reduction(sum:mean),in_reg
    mean[:N] = np.sum(a[:M, :N], axis=0)
    #pragma :N=>parallel
    mean[:N] = mean[:N] / M


def distances(p, d):
    N, D = p.shape
    #pragma parallel for
    for i in range(N):
        #pragma :N=>simd :D=>le(8),reduction(sum:d)
        d[i, :N] = np.sum((p[:N, :D] - p[i, :D][None, :]) ** 2, axis=1)


def csr_scale(indptr, data, scale, Bj=32):
    N = indptr.shape[0] - 1
    #pragma parallel for
    for i in range(N):
        for j in range(indptr[i], indptr[i + 1], Bj):
            v = vidx(j, Bj, indptr[i + 1])
            data[v] = data[v] * scale[i]


def csr_column_sums(indptr, indices, data, out):
    N = indptr.shape[0] - 1
    #pragma parallel for
    for i in range(N):
        for j in range(indptr[i], indptr[i + 1]):
            #pragma atomic
            out[indices[j]] += data[j]


def collatz(start, steps, N):
    #pragma parallel for
    for i in range(N):
        n = start[i]
        count = 0
        while n != 1:
            if n % 2 == 0:
                n = n // 2
            else:
                n = 3 * n + 1
            count += 1
            if count > 500:
                break
        steps[i] = count


def gelu(x, y, N):
    #pragma parallel for simd
    for i in range(N):
        t = x[i]
        y[i] = 0.5 * t * (1.0 + np.tanh(0.7978845608 * (t + 0.044715 * t * t * t)))


def triangular(L, b, x):
    N = L.shape[0]
    for i in range(N):
        #pragma :i=>reduction(sum:x)
        x[i] = (b[i] - np.sum(L[i, :i] * x[:i])) / L[i, i]


def masked_mean(data, low, high, total, count, N, BN=100):
    #pragma parallel for
    for i in range(0, N, BN):
        v = weft.vidx(i, BN, N)
        inside = np.logical_and(data[v] >= low, data[v] < high).astype(np.float64)
        #pragma atomic
        total[0] += np.sum(data[v] * inside)
        #pragma atomic
        count[0] += np.sum(inside)


def shortest(path):
    M, N = path.shape
    for k in range(M):
        #pragma :M=>parallel,block(4) :N=>parallel
        path[:M, :N] = np.minimum(path[:M, :N], path[:M, k][:, None] + path[k, :N][None, :])


def single_precision(a, b, c, N):
    #pragma parallel for simd
    for i in range(N):
        c[i] = np.sqrt(a[i] * a[i] + b[i] * b[i])


def one_worker(a, out):
    N = a.shape[0]
    #pragma :N=>single_block
    out[:N] = np.cumsum(a[:N])


def vectors_in_a_vector(a, c, M, N):
    #pragma parallel for
    for i in range(0, M):
        v = vidx(0, weft.MVL, N)
        c[i, v] = a[i, v] + i


def blocks_of_two_loops(a, b, M, N, BM=8, BN=16):
    #pragma parallel for
    for i in range(0, M, BM):
        #pragma parallel for
        for j in range(0, N, BN):
            vi = vidx(i, BM, M)
            vj = vidx(j, BN, N)
            b[vi, vj] = a[vi, vj] * 2.0


def saturating(keys, N, hits):
    #pragma parallel for
    for i in range(N):
        if keys[i] > 3:
            #pragma atomic
            hits[keys[i] % 3] += keys[i]


def _csr(n):
    pointer = np.concatenate(([0], np.cumsum(RNG.integers(0, 70, n))))
    return pointer, RNG.integers(0, n, pointer[-1]), RNG.random(pointer[-1])


def _csr_scale(n):
    pointer, _, data = _csr(n)
    return pointer, data, RNG.random(n)


def _spd(n):
    return np.tril(RNG.random((n, n))) + n * np.eye(n), RNG.random(n), np.zeros(n)


PROGRAMS = [
    (saxpy, lambda n: (2.5, RNG.random(n), RNG.random(n), n)),
    (dot, lambda n: (RNG.random(n), RNG.random(n), np.zeros(1), n)),
    (rows_max, lambda n: (RNG.random((7, n)), np.zeros(7), 7, n)),
    (layer_norm, lambda n: (RNG.random((5, n)), RNG.random(n), RNG.random(n), np.zeros((5, n)), 5, n)),
    (histogram, lambda n: (RNG.integers(-2, 9, n), np.zeros(9, dtype=np.int64), n)),
    (first_over, lambda n: (RNG.random((9, n)), 0.97, np.zeros(9, dtype=np.int64), 9, n)),
    (relu_mask, lambda n: (RNG.random(n), np.zeros(n), n)),
    (matmul_blocks, lambda n: (RNG.random((9, n)), RNG.random((n, 8)), np.zeros((9, 8)), 9, 8, n)),
    (stencil_1d, lambda n: (RNG.random(n), np.zeros(n), 3)),
    (outer_update, lambda n: (RNG.random((n, 13)), RNG.random(n), RNG.random(13))),
    (column_means, lambda n: (RNG.random((n, 21)), np.zeros(21))),
    (distances, lambda n: (RNG.random((n, 3)), np.zeros((n, n)))),
    (csr_scale, _csr_scale),
    (csr_column_sums, lambda n: (*_csr(n), np.zeros(n))),
    (collatz, lambda n: (RNG.integers(1, 1000, n), np.zeros(n, dtype=np.int64), n)),
    (gelu, lambda n: (RNG.standard_normal(n), np.zeros(n), n)),
    (triangular, _spd),
    (masked_mean, lambda n: (RNG.random(n), 0.2, 0.7, np.zeros(1), np.zeros(1), n)),
    (shortest, lambda n: (RNG.random((n, n)),)),
    (single_precision, lambda n: (*(RNG.random(n, dtype=np.float32) for _ in "ab"), np.zeros(n, np.float32), n)),
    (one_worker, lambda n: (RNG.random(n), np.zeros(n))),
    (vectors_in_a_vector, lambda n: (RNG.random((6, n)), np.zeros((6, n)), 6, n)),
    (blocks_of_two_loops, lambda n: (RNG.random((n, n + 3)), np.zeros((n, n + 3)), n, n + 3)),
    (saturating, lambda n: (RNG.integers(0, 9, n), n, np.zeros(3, dtype=np.int64))),
]
