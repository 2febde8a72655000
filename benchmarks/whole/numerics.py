"""FFT, LU, successive over-relaxation, a sparse product and Monte Carlo over lists and a small class of arrays."""

import math
import sys


class Grid:
    def __init__(self, width, height, data=None):
        self.width, self.height = width, height
        self.data = [0.0] * (width * height) if data is None else data

    def __getitem__(self, at):
        return self.data[at[1] * self.width + at[0]]

    def __setitem__(self, at, value):
        self.data[at[1] * self.width + at[0]] = value


class Chance:
    def __init__(self, seed):
        self.state = seed

    def next(self):
        self.state = (self.state * 1103515245 + 12345) & 0x7FFFFFFF
        return self.state / 2147483648.0


def relaxed(grid, omega, sweeps):
    for _ in range(sweeps):
        for y in range(1, grid.height - 1):
            for x in range(1, grid.width - 1):
                around = grid[x, y - 1] + grid[x, y + 1] + grid[x - 1, y] + grid[x + 1, y]
                grid[x, y] = omega * 0.25 * around + (1.0 - omega) * grid[x, y]


def transformed(data, sign):
    n = len(data)
    if n == 1:
        return data
    even, odd = transformed(data[0::2], sign), transformed(data[1::2], sign)
    half = n // 2
    out = [0j] * n
    for k in range(half):
        angle = sign * 2.0 * math.pi * k / n
        t = complex(math.cos(angle), math.sin(angle)) * odd[k]
        out[k] = even[k] + t
        out[k + half] = even[k] - t
    return out


def factored(a):
    n = len(a)
    pivots = []
    for j in range(n):
        p = max(range(j, n), key=lambda i: abs(a[i][j]))
        pivots.append(p)
        a[j], a[p] = a[p], a[j]
        for i in range(j + 1, n):
            f = a[i][j] = a[i][j] / a[j][j]
            row, pivot = a[i], a[j]
            for k in range(j + 1, n):
                row[k] -= f * pivot[k]
    return pivots


def multiplied(rows, columns, values, x):
    y = [0.0] * (len(rows) - 1)
    for r in range(len(y)):
        total = 0.0
        for k in range(rows[r], rows[r + 1]):
            total += values[k] * x[columns[k]]
        y[r] = total
    return y


def circle(count, chance):
    inside = 0
    for _ in range(count):
        x, y = chance.next(), chance.next()
        if x * x + y * y <= 1.0:
            inside += 1
    return 4.0 * inside / count


def main(rounds):
    chance = Chance(113)
    grid = Grid(60, 60)
    for k in range(60):
        grid[k, 0] = 1.0
    signal = [complex(chance.next(), 0.0) for _ in range(512)]
    n = 1500
    rows = [5 * r for r in range(n + 1)]
    columns = [(7 * k + k * k % 11) % n for k in range(5 * n)]
    values = [0.19 * chance.next() for _ in columns]
    x = [1.0] * n
    pi = 0.0
    for _ in range(rounds):
        relaxed(grid, 1.25, 4)
        signal = transformed(transformed(signal, 1.0), -1.0)
        signal = [z / 512.0 for z in signal]
        matrix = [[chance.next() for _ in range(40)] for _ in range(40)]
        pivots = factored(matrix)
        x = multiplied(rows, columns, values, x)
        pi += circle(8000, chance)
    print(f"{grid[30, 30]:.9f} {signal[3].real:.9f} {matrix[39][39]:.9f} {pivots[:3]} {sum(x):.3e} {pi / rounds:.6f}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 180)
