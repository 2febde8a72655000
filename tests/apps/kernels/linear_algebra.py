"""Matrix and vector products and their combinations, as operators, as loops and over nested lists."""

from __future__ import annotations

import numpy as np

from tests.apps.kernels.registry import Kernel


def matmul_numpy(a, b):
    return a @ b


def matmul_loops(a, b):
    n, inner = a.shape
    m = b.shape[1]
    c = np.zeros((n, m))
    for i in range(n):
        for j in range(m):
            for k in range(inner):
                c[i, j] += a[i, k] * b[k, j]
    return c


def matmul_lists(a, b):
    n = len(a)
    inner = len(b)
    m = len(b[0])
    c = [[0.0] * m for _ in range(n)]
    for i in range(n):
        for j in range(m):
            for k in range(inner):
                c[i][j] += a[i][k] * b[k][j]
    return c


def gemm_numpy(alpha, beta, c, a, b):
    c[:] = alpha * a @ b + beta * c


def gemm_loops(alpha, beta, c, a, b):
    n, m = c.shape
    inner = a.shape[1]
    for i in range(n):
        for j in range(m):
            c[i, j] *= beta
        for k in range(inner):
            for j in range(m):
                c[i, j] += alpha * a[i, k] * b[k, j]


def gemm_lists(alpha, beta, c, a, b):
    n = len(c)
    m = len(c[0])
    inner = len(b)
    for i in range(n):
        for j in range(m):
            c[i][j] *= beta
            for k in range(inner):
                c[i][j] += alpha * a[i][k] * b[k][j]


def gesummv_numpy(alpha, beta, a, b, x):
    return alpha * a @ x + beta * b @ x


def gesummv_loops(alpha, beta, a, b, x):
    n = a.shape[0]
    y = np.zeros(n)
    for i in range(n):
        first = 0.0
        second = 0.0
        for j in range(n):
            first += a[i, j] * x[j]
            second += b[i, j] * x[j]
        y[i] = alpha * first + beta * second
    return y


def atax_numpy(a, x):
    return (a @ x) @ a


def atax_loops(a, x):
    m, n = a.shape
    y = np.zeros(n)
    for i in range(m):
        product = 0.0
        for j in range(n):
            product += a[i, j] * x[j]
        for j in range(n):
            y[j] += a[i, j] * product
    return y


def bicg_numpy(a, p, r):
    return r @ a, a @ p


def bicg_loops(a, p, r):
    n, m = a.shape
    s = np.zeros(m)
    q = np.zeros(n)
    for i in range(n):
        for j in range(m):
            s[j] += r[i] * a[i, j]
            q[i] += a[i, j] * p[j]
    return s, q


def mvt_numpy(x1, x2, y1, y2, a):
    x1 += a @ y1
    x2 += y2 @ a


def mvt_loops(x1, x2, y1, y2, a):
    n = a.shape[0]
    for i in range(n):
        for j in range(n):
            x1[i] += a[i, j] * y1[j]
    for i in range(n):
        for j in range(n):
            x2[i] += a[j, i] * y2[j]


def syrk_numpy(alpha, beta, c, a):
    n = a.shape[0]
    for i in range(n):
        c[i, : i + 1] *= beta
        for k in range(a.shape[1]):
            c[i, : i + 1] += alpha * a[i, k] * a[: i + 1, k]


def syrk_loops(alpha, beta, c, a):
    n, m = a.shape
    for i in range(n):
        for j in range(i + 1):
            c[i, j] *= beta
            for k in range(m):
                c[i, j] += alpha * a[i, k] * a[j, k]


def trmm_numpy(alpha, a, b):
    n, m = b.shape
    for i in range(n):
        for j in range(m):
            b[i, j] += np.dot(a[i + 1 :, i], b[i + 1 :, j])
    b *= alpha


def trmm_loops(alpha, a, b):
    n, m = b.shape
    for i in range(n):
        for j in range(m):
            for k in range(i + 1, n):
                b[i, j] += a[k, i] * b[k, j]
            b[i, j] = alpha * b[i, j]


def doitgen_numpy(a, c4):
    for r in range(a.shape[0]):
        a[r, :, :] = a[r, :, :] @ c4


def doitgen_loops(a, c4):
    nr, nq, np_ = a.shape
    row = np.zeros(np_)
    for r in range(nr):
        for q in range(nq):
            for p in range(np_):
                row[p] = 0.0
                for s in range(np_):
                    row[p] += a[r, q, s] * c4[s, p]
            for p in range(np_):
                a[r, q, p] = row[p]


def axpy_numpy(alpha, x, y):
    y += alpha * x


def axpy_loops(alpha, x, y):
    for i in range(len(x)):
        y[i] += alpha * x[i]


def outer_update_numpy(a, u1, v1, u2, v2):
    return a + np.outer(u1, v1) + u2[:, None] * v2[None, :]


def outer_update_loops(a, u1, v1, u2, v2):
    n, m = a.shape
    out = np.empty((n, m))
    for i in range(n):
        for j in range(m):
            out[i, j] = a[i, j] + u1[i] * v1[j] + u2[i] * v2[j]
    return out


def matrix_power_numpy(a, exponent):
    result = np.eye(a.shape[0])
    base = a.copy()
    while exponent > 0:
        if exponent % 2 == 1:
            result = result @ base
        base = base @ base
        exponent //= 2
    return result


def matrix_power_loops(a, exponent):
    n = a.shape[0]
    result = np.zeros((n, n))
    for i in range(n):
        result[i, i] = 1.0
    base = np.empty((n, n))
    for i in range(n):
        for j in range(n):
            base[i, j] = a[i, j]
    work = np.empty((n, n))
    while exponent > 0:
        if exponent & 1:
            for i in range(n):
                for j in range(n):
                    total = 0.0
                    for k in range(n):
                        total += result[i, k] * base[k, j]
                    work[i, j] = total
            for i in range(n):
                for j in range(n):
                    result[i, j] = work[i, j]
        for i in range(n):
            for j in range(n):
                total = 0.0
                for k in range(n):
                    total += base[i, k] * base[k, j]
                work[i, j] = total
        for i in range(n):
            for j in range(n):
                base[i, j] = work[i, j]
        exponent >>= 1
    return result


def transposed_copy_numpy(a):
    return a.T.copy()


def transposed_copy_loops(a):
    n, m = a.shape
    out = np.empty((m, n))
    for i in range(m):
        for j in range(n):
            out[i, j] = a[j, i]
    return out


def row_sums_numpy(a):
    return a.sum(axis=1)


def row_sums_loops(a):
    out = np.zeros(a.shape[0])
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            out[i] += a[i, j]
    return out


def row_sums_lists(a):
    out = [0.0] * len(a)
    for i, row in enumerate(a):
        for value in row:
            out[i] += value
    return out


KERNELS = (
    Kernel(
        "matmul",
        {"numpy": matmul_numpy, "loops": matmul_loops, "lists": matmul_lists},
        lambda n, rng: (rng.random((n, n + 1)), rng.random((n + 1, n + 2))),
        small=(1, 2, 7, 16),
        medium=40,
        tolerance=1e-12,
    ),
    Kernel(
        "gemm",
        {"numpy": gemm_numpy, "loops": gemm_loops, "lists": gemm_lists},
        lambda n, rng: (1.5, 1.2, rng.random((n, n + 2)), rng.random((n, n + 1)), rng.random((n + 1, n + 2))),
        medium=40,
        tolerance=1e-12,
    ),
    Kernel(
        "gesummv",
        {"numpy": gesummv_numpy, "loops": gesummv_loops},
        lambda n, rng: (1.5, 1.2, rng.random((n, n)), rng.random((n, n)), rng.random(n)),
        small=(0, 1, 2, 9),
        medium=100,
        tolerance=1e-12,
    ),
    Kernel(
        "atax",
        {"numpy": atax_numpy, "loops": atax_loops},
        lambda n, rng: (rng.random((n, n + 3)), rng.random(n + 3)),
        small=(0, 1, 2, 9),
        medium=100,
        tolerance=1e-12,
    ),
    Kernel(
        "bicg",
        {"numpy": bicg_numpy, "loops": bicg_loops},
        lambda n, rng: (rng.random((n, n + 3)), rng.random(n + 3), rng.random(n)),
        small=(0, 1, 2, 9),
        medium=100,
        tolerance=1e-12,
    ),
    Kernel(
        "mvt",
        {"numpy": mvt_numpy, "loops": mvt_loops},
        lambda n, rng: (rng.random(n), rng.random(n), rng.random(n), rng.random(n), rng.random((n, n))),
        small=(0, 1, 2, 9),
        medium=100,
        tolerance=1e-12,
    ),
    Kernel(
        "syrk",
        {"numpy": syrk_numpy, "loops": syrk_loops},
        lambda n, rng: (1.5, 1.2, rng.random((n, n)), rng.random((n, n + 1))),
        small=(0, 1, 2, 9),
        medium=30,
        tolerance=1e-12,
    ),
    Kernel(
        "trmm",
        {"numpy": trmm_numpy, "loops": trmm_loops},
        lambda n, rng: (1.5, rng.random((n, n)), rng.random((n, n + 1))),
        small=(1, 2, 9),
        medium=30,
        tolerance=1e-12,
    ),
    Kernel(
        "doitgen",
        {"numpy": doitgen_numpy, "loops": doitgen_loops},
        lambda n, rng: (rng.random((n, n + 1, n + 2)), rng.random((n + 2, n + 2))),
        small=(1, 2, 7),
        medium=14,
        tolerance=1e-12,
    ),
    Kernel(
        "axpy",
        {"numpy": axpy_numpy, "loops": axpy_loops, "lists": axpy_loops},
        lambda n, rng: (1.5, rng.random(n), rng.random(n)),
        small=(1, 2, 33),
        medium=1000,
    ),
    Kernel(
        "outer_update",
        {"numpy": outer_update_numpy, "loops": outer_update_loops},
        lambda n, rng: (rng.random((n, n + 1)), rng.random(n), rng.random(n + 1), rng.random(n), rng.random(n + 1)),
        small=(0, 1, 2, 9),
    ),
    Kernel(
        "matrix_power",
        {"numpy": matrix_power_numpy, "loops": matrix_power_loops},
        lambda n, rng: (rng.random((n, n)) / n, 13),
        small=(1, 2, 7),
        medium=20,
        tolerance=1e-12,
    ),
    Kernel(
        "transposed_copy",
        {"numpy": transposed_copy_numpy, "loops": transposed_copy_loops},
        lambda n, rng: (rng.random((n, n + 3)),),
        small=(0, 1, 2, 9),
    ),
    Kernel(
        "row_sums",
        {"numpy": row_sums_numpy, "loops": row_sums_loops, "lists": row_sums_lists},
        lambda n, rng: (rng.random((n, n + 3)),),
        small=(1, 2, 9),
        tolerance=1e-12,
    ),
)
