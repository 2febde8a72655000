"""The kernels that the slides on APPy measure, annotated: on the CPU and on a device what plain Python gives.  Those of
which the slides print the source are in `test_appy.py`; without annotations all of them are in benchmarks/kernels."""

from __future__ import annotations

import numpy as np
import pytest

import weft
from tests.support import opencl_device


def azimint_naive(data, radius, rings):
    outer = radius.max()
    result = np.zeros(rings)
    #pragma parallel for
    for i in range(rings):
        total, count = 0.0, 0.0
        #pragma simd
        for k in range(radius.shape[0]):
            inside = outer * i / rings <= radius[k] and radius[k] < outer * (i + 1) / rings
            total += data[k] if inside else 0.0
            count += 1.0 if inside else 0.0
        result[i] = total / count
    return result


def cholesky(a):
    n = a.shape[0]
    for j in range(n):
        a[j, j] = np.sqrt(a[j, j] - np.sum(a[j, :j] * a[j, :j]))
        #pragma parallel for
        for i in range(j + 1, n):
            s = a[i, j]
            #pragma simd
            for k in range(j):
                s -= a[i, k] * a[j, k]
            a[i, j] = s / a[j, j]
    return a


def fdtd_2d(ex, ey, hz, source):
    M, N = hz.shape
    for pulse in source:
        #pragma :N=>parallel,simd
        ey[0, :N] = pulse
        #pragma 1:M=>parallel :N=>parallel
        ey[1:M, :N] -= 0.5 * (hz[1:M, :N] - hz[:M - 1, :N])
        #pragma :M=>parallel 1:N=>parallel
        ex[:M, 1:N] -= 0.5 * (hz[:M, 1:N] - hz[:M, :N - 1])
        #pragma :M-1=>parallel :N-1=>parallel
        hz[:M - 1, :N - 1] -= 0.7 * (ex[:M - 1, 1:N] - ex[:M - 1, :N - 1] + ey[1:M, :N - 1] - ey[:M - 1, :N - 1])


def gemm(alpha, beta, C, A, B):
    M, N = C.shape
    #pragma parallel for
    for i in range(M):
        #pragma :N=>block(128)
        C[i, :N] *= beta
        for k in range(A.shape[1]):
            #pragma :N=>block(128), in_reg
            C[i, :N] += alpha * A[i, k] * B[k, :N]


def gemver(alpha, beta, A, u1, v1, u2, v2, w, x, y, z):
    M, N = A.shape
    #pragma :M=>parallel :N=>parallel
    A[:M, :N] += u1[:M, None] * v1[None, :N] + u2[:M, None] * v2[None, :N]
    #pragma :N=>parallel :M=>reduction(sum:x)
    x[:N] += beta * np.dot(A[:M, :N].T, y[:M])
    #pragma :N=>parallel
    x[:N] += z[:N]
    #pragma :M=>parallel :N=>reduction(sum:w)
    w[:M] += alpha * np.dot(A[:M, :N], x[:N])


def gesummv(alpha, beta, A, B, x):
    M, N = A.shape
    y = np.empty(M)
    #pragma parallel for
    for i in range(M):
        s, t = 0.0, 0.0
        #pragma simd
        for j in range(N):
            s += A[i, j] * x[j]
            t += B[i, j] * x[j]
        y[i] = alpha * s + beta * t
    return y


def gramschmidt(A):
    M, N = A.shape
    Q, R = np.zeros((M, N)), np.zeros((N, N))
    for k in range(N):
        R[k, k] = np.sqrt(np.sum(A[:M, k] * A[:M, k]))
        #pragma :M=>parallel
        Q[:M, k] = A[:M, k] / R[k, k]
        #pragma parallel for
        for j in range(k + 1, N):
            #pragma :M=>reduction(sum:R)
            R[k, j] = np.sum(Q[:M, k] * A[:M, j])
            #pragma :M=>le(2048)
            A[:M, j] -= Q[:M, k] * R[k, j]
    return Q, R


def jacobi_1d(TSTEPS, A, B):
    N = A.shape[0]
    for t in range(TSTEPS):
        #pragma 1:N-1=>parallel,simd
        B[1:N - 1] = (A[:N - 2] + A[1:N - 1] + A[2:N]) / 3.0
        #pragma 1:N-1=>parallel,simd
        A[1:N - 1] = (B[:N - 2] + B[1:N - 1] + B[2:N]) / 3.0


def jacobi_2d(TSTEPS, A, B):
    M, N = A.shape
    for t in range(TSTEPS):
        #pragma 1:M-1=>parallel 1:N-1=>parallel
        B[1:-1, 1:-1] = 0.2 * (A[1:-1, 1:-1] + A[1:-1, :-2] + A[1:-1, 2:] + A[2:, 1:-1] + A[:-2, 1:-1])
        #pragma parallel for
        for i in range(1, M - 1):
            #pragma simd
            for j in range(1, N - 1):
                A[i, j] = 0.2 * (B[i, j] + B[i, j - 1] + B[i, j + 1] + B[i + 1, j] + B[i - 1, j])


def symm(alpha, beta, C, A, B):
    M, N = C.shape
    for i in range(M):
        t = np.zeros(N)
        #pragma parallel for
        for j in range(N):
            s = 0.0
            for k in range(i):
                C[k, j] += alpha * B[i, j] * A[i, k]
                s += B[k, j] * A[i, k]
            t[j] = s
        #pragma :N=>parallel
        C[i, :N] = beta * C[i, :N] + alpha * B[i, :N] * A[i, i] + alpha * t[:N]


def syr2k(alpha, beta, C, A, B):
    N, M = A.shape
    #pragma parallel for
    for i in range(N):
        #pragma :i+1=>block(2048), single_block
        C[i, :i + 1] *= beta
        for k in range(M):
            #pragma :i+1=>block(2048), single_block
            C[i, :i + 1] += alpha * (A[:i + 1, k] * B[i, k] + B[:i + 1, k] * A[i, k])


def trisolv(L, b, x):
    for i in range(x.shape[0]):
        s = 0.0
        #pragma simd
        for j in range(i):
            s += L[i, j] * x[j]
        x[i] = (b[i] - s) / L[i, i]


def trmm(alpha, A, B):
    M, N = B.shape
    #pragma parallel for
    for j in range(N):
        for i in range(M):
            s = B[i, j]
            #pragma simd
            for k in range(i + 1, M):
                s += A[k, i] * B[k, j]
            B[i, j] = alpha * s


def _random(*shape):
    return np.random.default_rng(sum(shape)).random(shape)


def _definite(n):
    a = _random(n, n)
    return a @ a.T + n * np.eye(n)


KERNELS = [
    (azimint_naive, lambda: (_random(700), _random(701)[:700], 9)),
    (cholesky, lambda: (_definite(21),)),
    (fdtd_2d, lambda: (_random(13, 17), _random(13, 18)[:, :17], _random(14, 17)[:13], _random(5))),
    (gemm, lambda: (1.5, 1.2, _random(17, 19), _random(17, 23), _random(23, 19))),
    (gemver, lambda: (1.5, 1.2, _random(19, 19), *(_random(19) * n for n in range(1, 9)))),
    (gesummv, lambda: (1.5, 1.2, _random(17, 33), _random(33, 17).T, _random(33))),
    (gramschmidt, lambda: (_random(19, 11) + np.eye(19, 11),)),
    (jacobi_1d, lambda: (6, _random(97), _random(97) * 2)),
    (jacobi_2d, lambda: (5, _random(19, 33), _random(33, 19).T.copy())),
    (symm, lambda: (1.5, 1.2, _random(13, 17), np.tril(_random(13, 13)), _random(17, 13).T)),
    (syr2k, lambda: (1.5, 1.2, _random(17, 17), _random(17, 13), _random(13, 17).T)),
    (trisolv, lambda: (np.tril(_random(23, 23)) + np.eye(23), _random(23), np.zeros(23))),
    (trmm, lambda: (1.5, _random(17, 17), _random(17, 13))),
]


@pytest.mark.parametrize("target", ("cpu", "opencl"))
@pytest.mark.parametrize("function, make", KERNELS, ids=lambda value: getattr(value, "__name__", ""))
def test_an_annotated_kernel(function, make, target):
    if target == "opencl":
        opencl_device()
    ours, theirs = make(), make()
    compiled = weft.jit(function, target=target, fallback="error")
    result, expected = compiled(*ours), function(*theirs)
    for one, other in zip((result, *ours), (expected, *theirs)):
        pairs = zip(one, other) if isinstance(other, tuple) else [(one, other)]
        assert all(b is None or np.allclose(a, b) for a, b in pairs)
    if target == "opencl":
        assert any(version.last is not None for version in compiled.versions())
