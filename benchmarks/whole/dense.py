"""Lists of lists of floats: LU with pivots, a product, SOR on a grid, and a fast Fourier transform."""

import cmath
import math


def make(n):
    return [[1.0 / (1 + abs(i - j)) + (2.0 if i == j else 0.0) for j in range(n)] for i in range(n)]


def lu(matrix):
    n = len(matrix)
    a = [row[:] for row in matrix]
    order = list(range(n))
    for k in range(n):
        pivot = max(range(k, n), key=lambda i: abs(a[i][k]))
        a[k], a[pivot] = a[pivot], a[k]
        order[k], order[pivot] = order[pivot], order[k]
        for i in range(k + 1, n):
            factor = a[i][k] / a[k][k]
            a[i][k] = factor
            for j in range(k + 1, n):
                a[i][j] -= factor * a[k][j]
    return a, order


def product(a, b):
    columns = list(zip(*b))
    return [[sum(x * y for x, y in zip(row, column)) for column in columns] for row in a]


def sor(grid, omega, sweeps):
    n, m = len(grid), len(grid[0])
    for _ in range(sweeps):
        for i in range(1, n - 1):
            row, up, down = grid[i], grid[i - 1], grid[i + 1]
            for j in range(1, m - 1):
                row[j] = omega * 0.25 * (up[j] + down[j] + row[j - 1] + row[j + 1]) + (1.0 - omega) * row[j]


def fft(values):
    n = len(values)
    if n == 1:
        return values
    even, odd = fft(values[0::2]), fft(values[1::2])
    out = [0j] * n
    for k in range(n // 2):
        t = cmath.exp(-2j * math.pi * k / n) * odd[k]
        out[k] = even[k] + t
        out[k + n // 2] = even[k] - t
    return out


def main():
    a = make(170)
    total = 0.0
    for _ in range(9):
        factors, order = lu(a)
        total += sum(math.log(abs(factors[i][i])) for i in range(len(a)))
    print(f"{total:.10f}", order[:5])
    c = a
    for _ in range(6):
        c = product(a, c)
        top = max(max(row) for row in c)
        c = [[x / top for x in row] for row in c]
    print(f"{c[3][7]:.10f}")
    grid = [[float((i * j) % 7) for j in range(120)] for i in range(120)]
    sor(grid, 1.25, 400)
    print(f"{grid[60][60]:.10f}")
    wave = [complex(math.sin(0.1 * k), 0.0) for k in range(8192)]
    for _ in range(20):
        spectrum = fft(wave)
    print(f"{max(abs(v) for v in spectrum):.8f}")


main()
