"""Loops with `prange` as a user of Numba writes them by hand, by the name of the kernel: what Numba's threads need."""

import numpy as np

try:
    from numba import prange
except ImportError:
    prange = range


def jacobi_1d(steps, a, b):
    n = a.shape[0]
    for _ in range(steps):
        for i in prange(1, n - 1):
            b[i] = (a[i - 1] + a[i] + a[i + 1]) / 3.0
        for i in prange(1, n - 1):
            a[i] = (b[i - 1] + b[i] + b[i + 1]) / 3.0


def jacobi_2d(steps, a, b):
    rows, columns = a.shape
    for _ in range(steps):
        for i in prange(1, rows - 1):
            for j in range(1, columns - 1):
                b[i, j] = 0.2 * (a[i, j] + a[i, j - 1] + a[i, j + 1] + a[i + 1, j] + a[i - 1, j])
        for i in prange(1, rows - 1):
            for j in range(1, columns - 1):
                a[i, j] = 0.2 * (b[i, j] + b[i, j - 1] + b[i, j + 1] + b[i + 1, j] + b[i - 1, j])


def heat_3d(steps, a, b):
    n, m, l = a.shape
    for _ in range(steps):
        for i in prange(1, n - 1):
            for j in range(1, m - 1):
                for k in range(1, l - 1):
                    b[i, j, k] = (
                        0.125 * (a[i + 1, j, k] - 2.0 * a[i, j, k] + a[i - 1, j, k])
                        + 0.125 * (a[i, j + 1, k] - 2.0 * a[i, j, k] + a[i, j - 1, k])
                        + 0.125 * (a[i, j, k + 1] - 2.0 * a[i, j, k] + a[i, j, k - 1])
                        + a[i, j, k]
                    )
        for i in prange(1, n - 1):
            for j in range(1, m - 1):
                for k in range(1, l - 1):
                    a[i, j, k] = (
                        0.125 * (b[i + 1, j, k] - 2.0 * b[i, j, k] + b[i - 1, j, k])
                        + 0.125 * (b[i, j + 1, k] - 2.0 * b[i, j, k] + b[i, j - 1, k])
                        + 0.125 * (b[i, j, k + 1] - 2.0 * b[i, j, k] + b[i, j, k - 1])
                        + b[i, j, k]
                    )


def fdtd_2d(ex, ey, hz, source):
    nx, ny = hz.shape
    for t in range(len(source)):
        for j in range(ny):
            ey[0, j] = source[t]
        for i in prange(1, nx):
            for j in range(ny):
                ey[i, j] -= 0.5 * (hz[i, j] - hz[i - 1, j])
        for i in prange(nx):
            for j in range(1, ny):
                ex[i, j] -= 0.5 * (hz[i, j] - hz[i, j - 1])
        for i in prange(nx - 1):
            for j in range(ny - 1):
                hz[i, j] -= 0.7 * (ex[i, j + 1] - ex[i, j] + ey[i + 1, j] - ey[i, j])


def hdiff(field, out, coeff):
    ni, nj, nk = out.shape
    for i in prange(ni):
        for j in range(nj):
            for k in range(nk):
                x = i + 2
                y = j + 2
                centre = 4.0 * field[x, y, k] - (
                    field[x + 1, y, k] + field[x - 1, y, k] + field[x, y + 1, k] + field[x, y - 1, k]
                )
                east = 4.0 * field[x + 1, y, k] - (
                    field[x + 2, y, k] + field[x, y, k] + field[x + 1, y + 1, k] + field[x + 1, y - 1, k]
                )
                west = 4.0 * field[x - 1, y, k] - (
                    field[x, y, k] + field[x - 2, y, k] + field[x - 1, y + 1, k] + field[x - 1, y - 1, k]
                )
                north = 4.0 * field[x, y + 1, k] - (
                    field[x + 1, y + 1, k] + field[x - 1, y + 1, k] + field[x, y + 2, k] + field[x, y, k]
                )
                south = 4.0 * field[x, y - 1, k] - (
                    field[x + 1, y - 1, k] + field[x - 1, y - 1, k] + field[x, y, k] + field[x, y - 2, k]
                )
                fx1 = east - centre
                fx1 = 0.0 if fx1 * (field[x + 1, y, k] - field[x, y, k]) > 0 else fx1
                fx0 = centre - west
                fx0 = 0.0 if fx0 * (field[x, y, k] - field[x - 1, y, k]) > 0 else fx0
                fy1 = north - centre
                fy1 = 0.0 if fy1 * (field[x, y + 1, k] - field[x, y, k]) > 0 else fy1
                fy0 = centre - south
                fy0 = 0.0 if fy0 * (field[x, y, k] - field[x, y - 1, k]) > 0 else fy0
                out[i, j, k] = field[x, y, k] - coeff[i, j, k] * (fx1 - fx0 + fy1 - fy0)


def gesummv(alpha, beta, a, b, x):
    n = a.shape[0]
    y = np.zeros(n)
    for i in prange(n):
        first = 0.0
        second = 0.0
        for j in range(n):
            first += a[i, j] * x[j]
            second += b[i, j] * x[j]
        y[i] = alpha * first + beta * second
    return y


def floyd_warshall(paths):
    n = paths.shape[0]
    for k in range(n):
        for i in prange(n):
            for j in range(n):
                paths[i, j] = min(paths[i, j], paths[i, k] + paths[k, j])


def spmv(starts, columns, values, x):
    n = len(starts) - 1
    y = np.zeros(n)
    for i in prange(n):
        total = 0.0
        for k in range(starts[i], starts[i + 1]):
            total += values[k] * x[columns[k]]
        y[i] = total
    return y


def arc_distance(theta_1, phi_1, theta_2, phi_2):
    n = len(theta_1)
    angle = np.empty(n)
    for i in prange(n):
        half = (
            np.sin((theta_2[i] - theta_1[i]) / 2) ** 2
            + np.cos(theta_1[i]) * np.cos(theta_2[i]) * np.sin((phi_2[i] - phi_1[i]) / 2) ** 2
        )
        angle[i] = 2 * np.arctan2(np.sqrt(half), np.sqrt(1 - half))
    return angle


def compute(x, y, a, b, c):
    n, m = x.shape
    result = np.empty((n, m), dtype=np.int64)
    for i in prange(n):
        for j in range(m):
            result[i, j] = min(max(x[i, j], 2), 10) * a + y[i, j] * b + c
    return result


def go_fast(a):
    n, m = a.shape
    trace = 0.0
    for i in range(n):
        trace += np.tanh(a[i, i])
    result = np.empty((n, m))
    for i in prange(n):
        for j in range(m):
            result[i, j] = a[i, j] + trace
    return result


def softmax(x):
    batch, heads, rows, columns = x.shape
    out = np.empty_like(x)
    for n in prange(batch * heads):
        b = n // heads
        h = n % heads
        for i in range(rows):
            peak = x[b, h, i, 0]
            for j in range(1, columns):
                peak = max(peak, x[b, h, i, j])
            total = np.float32(0.0)
            for j in range(columns):
                out[b, h, i, j] = np.exp(x[b, h, i, j] - peak)
                total += out[b, h, i, j]
            for j in range(columns):
                out[b, h, i, j] /= total
    return out


def conv2d_bias(images, weights, bias):
    batch, height, width, inputs = images.shape
    kernel = weights.shape[0]
    outputs = weights.shape[3]
    result = np.empty((batch, height - kernel + 1, width - kernel + 1, outputs), dtype=np.float32)
    for n in prange(batch):
        for i in range(height - kernel + 1):
            for j in range(width - kernel + 1):
                result[n, i, j, :] = bias
                for di in range(kernel):
                    for dj in range(kernel):
                        for c in range(inputs):
                            for f in range(outputs):
                                result[n, i, j, f] += images[n, i + di, j + dj, c] * weights[di, dj, c, f]
    return result


def mandelbrot2(x_min, x_max, nx, y_min, y_max, ny, iterations):
    x = np.linspace(x_min, x_max, nx)
    y = np.linspace(y_min, y_max, ny)
    steps = np.zeros((ny, nx), dtype=np.int64)
    for i in prange(ny):
        for j in range(nx):
            c = x[j] + 1j * y[i]
            z = c
            for n in range(iterations):
                z = z * z + c
                if abs(z) > 2.0:
                    steps[i, j] = n + 1
                    break
    return steps


def syrk(alpha, beta, c, a):
    n, m = a.shape
    for i in prange(n):
        for j in range(i + 1):
            total = 0.0
            for k in range(m):
                total += a[i, k] * a[j, k]
            c[i, j] = beta * c[i, j] + alpha * total


def syr2k(alpha, beta, c, a, b):
    n, m = a.shape
    for i in prange(n):
        for j in range(i + 1):
            total = 0.0
            for k in range(m):
                total += a[j, k] * b[i, k] + b[j, k] * a[i, k]
            c[i, j] = beta * c[i, j] + alpha * total
